"""`diffpbd.read_log` puts right what `diffpbd log` does: a spoiled file reads as the sound one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import diffpbd

TIME = 0.01 * np.arange(200)
SOUND = {
    "time": TIME, "q_a": 4.0 * np.sin(TIME), "q_b": 0.2 * TIME, "dq_a": 4.0 * np.cos(TIME), "dq_b": 0.2 + 0.0 * TIME,
    "tau_a": np.cos(2.0 * TIME), "tau_b": 1.0 + TIME,
}  # fmt: skip


def written(path: Path, columns: dict[str, Any]) -> str:
    np.savetxt(path, np.column_stack(list(columns.values())), delimiter=",", header=",".join(columns), comments="")
    return str(path)


@pytest.mark.parametrize(
    ("spoiled", "how"),
    [
        ({"time": 1e3 * TIME}, {"time_unit": "ms"}),
        ({"q_b": 1e3 * SOUND["q_b"], "dq_b": 1e3 * SOUND["dq_b"]}, {"scale": {"q_b": 1e-3, "dq_b": 1e-3}}),
        ({"q_b": SOUND["q_b"] - 0.3}, {"shift": {"q_b": 0.3}}),
        ({"tau_a": -SOUND["tau_a"]}, {"flip": "a"}),
        ({"tau_b": SOUND["tau_b"] + 0.02 * TIME}, {"drift": {"tau_b": 0.02}}),
        ({"tau_b": SOUND["tau_b"] / 2.5}, {"drive_gain": {"b": 2.5}}),
        ({"q_a": np.mod(SOUND["q_a"] + np.pi, 2 * np.pi) - np.pi}, {"unwrap": True}),
    ],
    ids=lambda value: next(iter(value)),
)  # fmt: skip
def test_a_spoiled_file_reads_as_the_sound_one(tmp_path: Path, spoiled: dict[str, Any], how: dict[str, Any]) -> None:
    sound = diffpbd.read_log(written(tmp_path / "sound.csv", SOUND))
    path = written(tmp_path / "spoiled.csv", {**SOUND, **spoiled})
    for mended, equal in ((diffpbd.read_log(path, **how), True), (diffpbd.read_log(path), False)):
        same = [np.allclose(getattr(mended, n), getattr(sound, n), atol=1e-9) for n in ("time", "q", "dq", "tau")]
        assert all(same) is equal


def test_a_span_is_cut_out_of_the_file_that_is_named(tmp_path: Path) -> None:
    path = written(tmp_path / "run.csv", SOUND)
    found = diffpbd.read_log(path, cut=[("run.csv", 0.495, 1.005)])
    assert len(found) == 200 - 51 and found.breaks == (50,) and "51 samples are cut out" in found.notes[-1]
