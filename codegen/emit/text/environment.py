"""Reads `templates/`; only this file uses Jinja. Undefined names are errors, nothing is escaped."""

from __future__ import annotations

from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final

import jinja2


def render(template: str, **values: Any) -> str:
    """Text of `<template>.jinja` in a room of `templates/`."""
    return _ENVIRONMENT.get_template(f"{template}.jinja").render(**values)


def plain(name: str) -> str:
    """Text of the file `name` in a room of `templates/`, which is C as it stands."""
    text = _load(name)
    if text is None:
        raise FileNotFoundError(f"templates/*/{name}")
    return text


@cache
def _files() -> dict[str, Path]:
    """The files of all rooms by their names."""
    return {file.name: file for file in Path(str(resources.files("diffpbd.templates"))).glob("*/*")}


def _load(name: str) -> str | None:
    file = _files().get(name)
    return None if file is None else file.read_text(encoding="utf-8")


LARGE_ANGLE: Final = 1e5
"""[rad] Largest angle of the emitted sine and cosine; see templates/base/sine_cosine.h."""

_ENVIRONMENT = jinja2.Environment(
    loader=jinja2.FunctionLoader(_load),
    undefined=jinja2.StrictUndefined,
    autoescape=False,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
_ENVIRONMENT.globals["large_angle"] = repr(LARGE_ANGLE)
