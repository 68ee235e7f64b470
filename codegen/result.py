"""Results of `generate`, and the versions that it was made with."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from diffpbd.runtime.folder.manifest import Manifest

PACKAGES = ("diffpbd", "casadi", "sympy")


@dataclass(frozen=True)
class Row:
    """One generated function: operations of its C, seconds to derive and emit it, bytes of C text."""

    name: str
    operations: int
    seconds: float
    bytes: int


@dataclass(frozen=True)
class GenerateResult:
    """Result of `generate`. Seconds are wall time, `compile_seconds` those of the compilers, at work beside the derivation."""

    manifest: Manifest
    folder: Path
    rows: tuple[Row, ...]
    unchanged: bool
    seconds: float
    compile_seconds: float


def versions() -> dict[str, str]:
    """Versions of what decides the emitted bytes."""
    return {name: metadata.version(name) for name in PACKAGES}
