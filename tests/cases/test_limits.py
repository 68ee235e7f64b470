"""C04: starts outside a stop, ranges that are none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.robots import generated

from diffpbd.runtime import Robot, load
from diffpbd.runtime.base.errors import InputError, SolverError

UPPER = 1.2


@pytest.fixture(scope="module")
def stops(shared: Path) -> Robot:
    path = shared / "cases" / "C04-start-outside-a-stop" / "stops.toml"
    return load(generated(str(path), functions=("joint_step",), variants=("variational_direct",)))


def test_a_start_outside_a_stop(stops: Robot) -> None:
    """Joint 1 at 0.1, 1, 3 and 6 rad outside gave 9.8, -62 and 180 rad/s, and a turn by 2π."""
    zero = np.zeros(3)
    for depth in (0.1, 1.0, 3.0, 6.0):
        with pytest.raises(SolverError, match=r"\(status 22\)"):
            stops.joint_step([UPPER + depth, 0, 0], zero, zero, h=0.01)
    P, PD = stops.rollout([UPPER + 0.04, 0, 0], zero, np.zeros((500, 3)), h=0.01)
    assert np.abs(np.diff(P[:420, 0])).max() < 1.2e-4 and P[-1, 0] < UPPER
    K = [0.5 * pd @ stops.mass_matrix(p) @ pd for p, pd in zip(P, PD, strict=True)]
    fallen = [stops.energy(P[0], zero).potential - stops.energy(p, zero).potential for p in P]
    assert np.all(np.array(K) < np.array(fallen) + 0.01)  # the two free joints fall; the stop gives nothing


def test_a_range_that_is_none(stops: Robot) -> None:
    with pytest.raises(InputError, match="limit.lower.j1 = 0.5 is above limit.upper.j1 = 0.1"):
        stops.joint_step(np.zeros(3), np.zeros(3), np.zeros(3), alpha={"limit.lower.j1": 0.5, "limit.upper.j1": 0.1})
