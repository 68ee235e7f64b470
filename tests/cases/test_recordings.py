"""Q12 and Q16: stamps of arrival with jitter, a motion too quick for its samples."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.robots import generated

import diffpbd
from diffpbd.runtime import Robot, load
from diffpbd.runtime.base.errors import InputError


@pytest.fixture(scope="module")
def arm(shared: Path) -> Robot:
    path = next((shared / "cases").glob("Q10-*")) / "arm.urdf"
    return load(generated(str(path), symbolic=("mass", "com", "inertia")))


def case(shared: Path, name: str) -> tuple[str, Any]:
    folder = next((shared / "cases").glob(f"{name}-*"))
    return str(folder / "log.csv"), json.loads((folder / "expected.json").read_text(encoding="utf-8"))


def friction_errors(result: Any, arm: Robot, expected: Any) -> np.ndarray:
    """In standard deviations."""
    found = {e.name: e for e in result.result.estimates if e.name.startswith("friction")}
    return np.array([
        abs(found[f"friction.{kind}.{joint}"].value - value) / found[f"friction.{kind}.{joint}"].std
        for kind in ("coulomb", "viscous") for joint, value in zip(arm.joints, expected[kind], strict=True)
    ])  # fmt: skip


def test_jitter_of_arrival_is_refused_with_the_way_out(arm: Robot, shared: Path) -> None:
    log, expected = case(shared, "Q12")
    with pytest.raises(
        InputError, match=r"64 samples .* steps of .* split it; bridge 0.03 closes them, rate 100"
    ) as refused:
        diffpbd.identify(arm, log, fit="friction")
    bridge = float(re.search(r"bridge ([\d.]+)", str(refused.value))[1])  # type: ignore[index]
    for given in (bridge, 0.05):
        assert friction_errors(diffpbd.identify(arm, log, fit="friction", bridge=given), arm, expected).max() < 3
    assert friction_errors(diffpbd.identify(arm, log, fit="friction", rate=100), arm, expected).max() < 3


@pytest.mark.parametrize("cutoff", [None, 4.5, 3.0])
def test_ten_samples_a_second(arm: Robot, shared: Path, cutoff: float | None) -> None:
    """A gain of 1.93 was made of what differences leave of accelerations at 3.1 Hz."""
    log, expected = case(shared, "Q16")
    result = diffpbd.identify(arm, log, fit="friction", cutoff=cutoff)
    said = " ".join(result.result.notes)
    assert expected["must_say"] in said and "at up to 3.1 Hz and is sampled at 10 Hz" in said
    assert "gain" not in said and not re.search(r"\bdq\b", said) and "no cause is looked for" in said


def test_ten_samples_a_second_with_the_default_filter(arm: Robot, shared: Path) -> None:
    with pytest.raises(
        InputError, match="not below half the sampling rate of 10 Hz.* moves at up to 3.1 Hz"
    ) as refused:
        diffpbd.identify(arm, case(shared, "Q16")[0], fit="friction")
    assert not re.search(r"\bdq\b", str(refused.value))
