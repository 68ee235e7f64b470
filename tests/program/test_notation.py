"""The legend: each letter once, shapes that are those of the flat vectors, and the table of the documentation."""

from __future__ import annotations

from pathlib import Path

from diffpbd.codegen.program import notation
from diffpbd.codegen.program.notation import LEGEND, table

BLOCKS = {
    "xi": notation.STATE,
    "pose": notation.POSE,
    "body": notation.BODY,
    "joint": notation.JOINT,
    "friction": notation.FRICTION,
    "spring": notation.SPRING,
    "limit": notation.LIMIT,
    "c": notation.ROWS,
}


def test_every_letter_stands_once() -> None:
    letters = [name.strip() for line in LEGEND for name in line.letter.split(",")]
    assert len(letters) == len(set(letters))
    assert all(line.meaning and line.frame and line.unit and line.shape for line in LEGEND)


def test_shapes_are_those_of_the_flat_vectors() -> None:
    shape = {line.letter: line.shape for line in LEGEND}
    assert {name: shape[name].split()[0] for name in BLOCKS} == {name: str(size) for name, size in BLOCKS.items()}


def test_the_documentation_has_the_legend(root: Path) -> None:
    assert table() in (root / "docs" / "method.md").read_text(encoding="utf-8")
