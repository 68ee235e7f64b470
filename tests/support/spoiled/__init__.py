"""Recordings of a small arm spoiled in all known ways, each with what is to be said of it and the cure that is said."""

from __future__ import annotations

from support.spoiled import clock, files, formats, physics, quality, signs, units
from support.spoiled.kind import Kind

__all__ = ["KINDS"]

KINDS: tuple[Kind, ...] = tuple(
    kind for part in (clock, units, signs, quality, physics, files, formats) for kind in part.KINDS
)  # fmt: skip
