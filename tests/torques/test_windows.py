"""Windows of torque estimation that do not reach their loss: said, and started again."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.robots import loaded
from support.shared.estimated import H, motion

from diffpbd.runtime.torques.estimation import _Window, estimate
from diffpbd.runtime.torques.settings import Settings


def test_a_long_window_from_zero_torque_ends_where_the_motion_came_from() -> None:
    """From zero the seventh window of 50 steps stalls at a loss of 0.26 rad² with torques of 4 400 N·m; 299 N·m of the first
    one were kept, and nothing said."""
    robot = loaded("baxter_bare")
    alpha = robot.alpha.defaults
    U, P, PD = motion(robot, alpha, seed=0, steps=56)
    alone = robot.functions["estimate_torque"](
        P[6], PD[6], np.zeros((50, robot.n)), P[7:], PD[7:], U[5], [1.0, 0.02, 0.0], 1.0, H, alpha
    )
    assert alone.loss > 0.1 and alone.change > 1.0  # what is still wanted, not the part that a line search could take
    found = estimate(robot, P[6:], PD[6:], H, Settings(horizon=50), alpha=alpha)
    assert found.again >= 1 and found.unsettled == 0
    assert np.abs(found.u - U[6:]).max() < 1e-6 and found.loss.max() < 1e-15


LOSSES = {"zero": 0.0, "previous": 0.0, "gravity": 0.0}


@pytest.mark.parametrize(
    ("windows", "again", "unsettled", "kept"),
    [
        # losses from zero, previous and gravity of one window after the other
        ([(1.0, 1.0, 1.0), (3.0, 9.0, 9.0), (2.0, 9.0, 9.0)], 0, 0, [1.0, 3.0, 2.0]),  # as they come
        ([(1.0, 1.0, 1.0), (50.0, 50.1, 9e9)], 0, 0, [1.0, 50.0]),  # two starts agree: the motion is worse there
        ([(1.0, 1.0, 1.0), (50.0, 0.9, 0.0)], 1, 0, [1.0, 0.9]),  # `previous` helps
        ([(1.0, 1.0, 1.0), (50.0, 70.0, 2.0)], 1, 0, [1.0, 2.0]),  # gravity does
        ([(1.0, 1.0, 1.0), (50.0, 70.0, 90.0)], 0, 1, [1.0, 50.0]),  # nothing agrees: said
        ([(1.0, np.nan, np.nan), (1.0, 1.0, 1.0)], 0, 1, [1.0, 1.0]),  # the first has nothing to agree with
        ([(9.0, 1.0, 1.0)], 1, 0, [1.0]),
        ([(1e-22, 5.0, 5.0), (9e-20, 5.0, 5.0)], 0, 0, [1e-22, 9e-20]),  # rounding
        ([(1.0, 1.0, 1.0), (-2.0, 2.0, 9.0)], 0, 0, [1.0, 2.0]),  # below zero here: did not converge
        ([(1.0, 1.0, 1.0), (-2.0, -2.0, -2.0)], 0, 1, [1.0, 2.0]),
    ],
)
def test_what_a_window_is_held_against(windows: Any, again: int, unsettled: int, kept: list[float]) -> None:
    asked: list[str] = []

    def solve(p: Any, pd: Any, start: Any, *_: Any) -> Any:
        asked.append(start)
        loss = dict(zip(LOSSES, windows[at], strict=True))[start]
        return SimpleNamespace(loss=abs(loss), change=1.0 if loss < 0 else 0.0, U=np.ones((1, 1)))

    robot: Any = SimpleNamespace(functions={"estimate_torque": solve})
    window, losses = _Window(robot, H, Settings(horizon=50), np.zeros(1)), []
    for at in range(len(windows)):  # noqa: B007  read by solve
        losses.append(window((0, 0), lambda name: name, 0, 0, 0).loss)
    assert (window.again, window.unsettled, losses) == (again, unsettled, kept)
    assert asked[0] == "zero"
