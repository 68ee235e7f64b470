"""Where parameters come from: hashes of robot and logs, versions, and the command."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.base.files import hash_of
from diffpbd.runtime.model.robot import Robot

__all__ = ["provenance", "repeated"]

PACKAGES = ("diffpbd", "casadi", "numpy", "scipy")


def provenance(robot: Robot, logs: Sequence[str], validate: Sequence[str], words: Sequence[str]) -> dict[str, Any]:
    """As it stands in params.json: sha256 of the manifest's content (which holds those of the generated files) and of every
    log as it was read, versions of the packages (None: run from its folder), and the words of the command."""
    return {
        "command": ["diffpbd", "identify", *words],
        "robot": {"name": robot.name, "content_hash": robot.manifest.content_hash},
        "logs": {path: hash_of(path) for path in logs},
        "validate": {path: hash_of(path) for path in validate},
        "versions": {name: _version(name) for name in PACKAGES},
    }


def repeated(source: Mapping[str, Any], logs: Sequence[str], validate: Sequence[str]) -> Iterator[str]:
    """Sentences on duplicate recordings (by content) and their effect; `source` is their provenance."""
    fitted = [source["logs"][log] for log in logs]
    for k, log in enumerate(logs):
        if fitted[k] in fitted[:k]:
            first = logs[fitted.index(fitted[k])]
            yield f"LOG {log} is LOG {first} again: standard deviations and what is left out in turn mislead"
    for log in validate:
        if source["validate"][log] in fitted:
            yield f"{arg.validate} {log} is a LOG of the fit as well: it tells nothing of other motions"


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
