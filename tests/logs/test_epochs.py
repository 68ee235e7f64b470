"""Stamps since 1970 in any unit: read with the unit that is said, refused with the right one where none is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.robots import loaded

from diffpbd.runtime.causes.checked import read_checked, read_whole
from diffpbd.runtime.logs.mending import Mending
from diffpbd.runtime.logs.recording import Reading

PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
JOINTS = ("shoulder", "elbow")
BEGIN, RATE, SAMPLES = 1_785_000_000, 100, 200  # s since 1970, Hz


def log(folder: Path, unit: str, ending: str = "csv") -> Path:
    """A slow motion of two joints, at stamps without a digit lost."""
    path = folder / f"{unit}.{ending}"
    stamps = [BEGIN * PER_SECOND[unit] + k * PER_SECOND[unit] // RATE for k in range(SAMPLES)]
    if unit == "s":
        stamps = [BEGIN + k / RATE for k in range(SAMPLES)]
    t = np.arange(SAMPLES) / RATE
    columns = {f"q_{j}": np.sin(t + k) for k, j in enumerate(JOINTS)}
    columns |= {f"dq_{j}": np.cos(t + k) for k, j in enumerate(JOINTS)}
    columns |= {f"tau_{j}": 0.0 * t for j in JOINTS}
    if ending == "npz":
        np.savez(path, time=np.array(stamps), **columns)
        return path
    rows = [",".join([str(stamp), *(repr(float(v[k])) for v in columns.values())]) for k, stamp in enumerate(stamps)]
    path.write_text("\n".join([",".join(["time", *columns]), *rows]) + "\n")
    return path


@pytest.mark.parametrize("unit", PER_SECOND)
@pytest.mark.parametrize("ending", ["csv", "npz"])
def test_stamps_since_1970_in_any_unit(unit: str, ending: str, tmp_path: Path) -> None:
    path = log(tmp_path, unit, ending)
    reading = Reading(mending=Mending(time_unit=unit))
    robot = loaded("double_pendulum")
    facts = robot.manifest.robot.joints
    found = [read_checked(path, JOINTS, reading, facts)]
    if ending == "csv":
        found.append(read_whole(path, robot, reading))
    for recording in found:
        assert len(recording) == SAMPLES and recording.breaks == ()
        assert recording.time[0] == BEGIN
        np.testing.assert_allclose(np.diff(recording.time), 1 / RATE, rtol=0, atol=5e-7)  # a double's digits of 2e9 s
