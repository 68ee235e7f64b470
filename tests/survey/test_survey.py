"""The checked-in table of real descriptions still holds."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

# Small and large, refused and geared, each for something that the others do not have.
QUICK = (
    "ur5_robot", "panda.urdf", "kinova.urdf", "so101", "allegro_left", "finger_edu", "double_pendulum_cont", "baxter.urdf",
    "ur3.urdf", "iris", "romeo_laas", "psyonic", "tiago_no_hand",
)  # fmt: skip


@pytest.fixture(scope="module")
def survey(root: Path) -> ModuleType:
    try:
        importlib.metadata.files("example-robot-data")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("example-robot-data is not installed (pip install example-robot-data)")
    spec = importlib.util.spec_from_file_location("survey_of_descriptions", root / "benchmarks" / "survey.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def compare(survey: ModuleType, words: tuple[str, ...]) -> int:
    known = survey.recorded()
    found = {name: survey.outcome(survey.survey(name, file)) for name, file in survey.descriptions(words)}
    changed = [f"{known.get(name)} is now {row}" for name, row in found.items() if known.get(name) != row]
    told = "\n  ".join([f"columns {survey.OUTCOME}", *changed])
    assert not changed, f"accept with `python -m benchmarks.survey --update`:\n  {told}"
    return len(found)


@pytest.mark.soak
def test_some_of_them(survey: ModuleType) -> None:
    assert compare(survey, QUICK) >= len(QUICK)


@pytest.mark.soak
def test_every_description_ends_as_recorded(survey: ModuleType) -> None:
    assert compare(survey, ()) == len(survey.recorded())


def test_the_table_names_every_file_and_no_disagreement(survey: ModuleType) -> None:
    table = survey.recorded()
    assert list(table) == [name for name, _ in survey.descriptions()]
    agrees, reason, outcome = (survey.OUTCOME.index(key) for key in ("agrees", "reason", "outcome"))
    for row in table.values():
        assert (row[agrees] == "yes") if row[outcome] == "generated" else row[reason], row
