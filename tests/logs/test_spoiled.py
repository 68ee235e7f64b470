"""Recordings spoiled in all known ways: read right, or named with a cure that is carried out and brings the truth back."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from support.robots import generated
from support.spoiled import KINDS
from support.spoiled.arm import URDF
from support.spoiled.judge import judged
from support.spoiled.kind import Kind
from support.spoiled.page import UNTRIED, page

from diffpbd.runtime.causes.catalogue import MISSING, SEEN, UNSTEADY
from diffpbd.runtime.causes.cause import Cause, Finding
from diffpbd.runtime.causes.missing import Candidate

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


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Names of causes that findings and sentences tell of."""
    names: set[str] = set()

    def heard(owner: type, method: str, name: Callable[[Any], str]) -> None:
        plain = getattr(owner, method)

        def spy(self: Any, *args: Any) -> Any:
            names.add(name(self))
            return plain(self, *args)

        monkeypatch.setattr(owner, method, spy)

    heard(Finding, "text", lambda finding: finding.kind)
    heard(Candidate, "at", lambda candidate: candidate.cause.kind)
    for cause in UNSTEADY:
        plain = type(cause).told
        monkeypatch.setattr(type(cause), "told", lambda self, runs, plain=plain: _noted(names, self, plain(self, runs)))
    return names


def _noted(names: set[str], cause: Cause, found: Iterable[Any]) -> list[Any]:
    every = list(found)
    names.update([cause.kind] if every else [])
    return every


@pytest.mark.parametrize("kind", cases())
def test_it_is_read_right_or_cured(arm: Path, tmp_path: Path, kind: Kind, told: set[str]) -> None:
    verdict = judged(kind, arm, tmp_path)
    assert not verdict.wrong, f"{verdict.wrong}\n{verdict.said}\n{verdict.cured}"
    assert not kind.cause or kind.cause in told, f"{kind.cause} is not told, {told} are"


def test_every_cause_is_tried() -> None:
    every = {own.kind for own in (*SEEN, *UNSTEADY, *(own for own in MISSING if own.told))}
    tried = {kind.cause for kind in KINDS if kind.cause}
    assert tried <= every and every - tried == set(UNTRIED)


def test_the_page_is_this_table(root: Path, update_golden: bool) -> None:
    assert len(KINDS) >= 98 and len({kind.name for kind in KINDS}) == len(KINDS)
    assert sum(bool(kind.unseen) for kind in KINDS) <= 2
    path = root / "docs" / "spoiled.md"
    if update_golden:
        path.write_text(page(), encoding="utf-8")
    assert path.read_text(encoding="utf-8") == page(), "pytest --update-golden writes it again"
