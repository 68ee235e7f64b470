"""Recordings spoiled in all known ways: read right, or named with a cure that is carried out and brings the truth back."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.robots import generated
from support.spoiled import KINDS
from support.spoiled.arm import URDF
from support.spoiled.judge import judged
from support.spoiled.kind import Kind
from support.spoiled.page import page

EACH = 4
"""Of so many kinds one is judged in every check of a commit."""


def cases() -> list[object]:
    """The cheap ones always, some in thorough runs, all in long ones."""
    found: list[object] = []
    for k, kind in enumerate(KINDS):
        marks = [] if kind.cheap else [pytest.mark.soak if k % EACH else pytest.mark.thorough]
        found.append(pytest.param(kind, id=kind.name, marks=marks))
    return found


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    urdf = tmp_path_factory.mktemp("arm") / "spoiled_arm.urdf"
    urdf.write_text(URDF)
    return generated(str(urdf), functions=("inverse_dynamics", "torque_terms"))


@pytest.mark.parametrize("kind", cases())
def test_it_is_read_right_or_cured(arm: Path, tmp_path: Path, kind: Kind) -> None:
    verdict = judged(kind, arm, tmp_path)
    assert not verdict.wrong, f"{verdict.wrong}\n{verdict.said}\n{verdict.cured}"


def test_the_page_is_this_table(root: Path, update_golden: bool) -> None:
    assert len(KINDS) >= 98 and len({kind.name for kind in KINDS}) == len(KINDS)
    assert sum(bool(kind.unseen) for kind in KINDS) <= 2
    path = root / "docs" / "spoiled.md"
    if update_golden:
        path.write_text(page(), encoding="utf-8")
    assert path.read_text(encoding="utf-8") == page(), "pytest --update-golden writes it again"
