"""The paper's impedance experiment on seven joints, pushes and all, with a figure.

Goal −0.45 rad on s1, stiffness 30 N·m/rad; pushes of 5 and 10 N·m move the joint by what the spring says, up to
friction, and it comes back. Gravity is the robot's, as in the paper.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.loop.stopping import Reason
from diffpbd.runtime.records.messages import Tick

pytest.importorskip("pinocchio")

from support.reality import Differences
from support.reality.baxter_runs import PLANTS, check_account, executed, run_of

GOAL, STIFFNESS, S1 = -0.45, 30.0, 1
FRICTION = 0.8 / STIFFNESS  # rad; within this the robot's Coulomb friction may hold the joint
PUSHES = ((1.2, 5.0), (2.8, 0.0), (4.4, 10.0), (6.2, 0.0))  # s, N·m on s1: the paper's, six times as fast
END = 8.0
LAW = {
    "name": "impedance", "stiffness": [30.0, STIFFNESS, 20.0, 20.0, 5.0, 5.0, 5.0],
    "damping": [4.0, 14.0, 2.0, 2.0, 0.3, 0.3, 0.3], "goal": [None, GOAL, *[None] * 5], "goal_speed": 0.5,
    "goal_profile": "ramp",
}  # fmt: skip
"""The arm turns about s1 with some 3 kg·m², so the damping is a little below critical."""


@pytest.mark.thorough("seed 1")
@PLANTS
def test_pushes_are_yielded_to_and_returned_from(tmp_path: Path, differences: Differences | None) -> None:
    ticks: list[Tick] = []
    run, arm, _ = run_of(LAW, 250.0, END, owner=GravityOwner.ROBOT, observer=ticks.append, differences=differences)
    for at, torque in PUSHES:
        arm.after(at, lambda torque=torque: arm.robot.push.__setitem__(S1, torque))
    report = executed(run)
    check_account(arm)
    assert report.reason is Reason.FINISHED, report
    times, angle, sent = np.array([(t.time, t.position[S1], t.command[S1]) for t in ticks if t.mode == 3]).T
    figure(times, angle, sent, tmp_path / "impedance.png")
    for k, (begin, torque) in enumerate(((0.0, 0.0), *PUSHES)):
        end = ((0.0, 0.0), *PUSHES, (END, 0.0))[k + 1][0]
        settled = angle[(times > begin + 0.75 * (end - begin)) & (times < end - 0.05)]
        expected = GOAL + torque / STIFFNESS
        assert abs(settled.mean() - expected) < FRICTION + 0.01, (begin, settled.mean(), expected)
    assert np.abs(np.diff(sent)).max() < 2.0 + 1e-9  # N·m a tick of 4 ms: the guard's rate limit
    assert np.abs(sent).max() < 15.0


def figure(times: np.ndarray, angle: np.ndarray, sent: np.ndarray, path: Path) -> None:
    """Motor torque, angle, and external torque over time: the paper's three panels."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    external = np.zeros_like(times)
    for at, torque in PUSHES:
        external[times >= at] = torque
    made, axes = pyplot.subplots(3, 1, sharex=True, figsize=(7, 7), layout="constrained")
    for axis, values, label in zip(
        axes, (sent, angle, external),
        ("torque sent to s1 [N·m]", "angle of s1 [rad]", "external torque [N·m]"), strict=True,
    ):  # fmt: skip
        axis.plot(times, values)
        axis.set_ylabel(label)
        axis.grid(True)
    axes[1].axhline(GOAL, linestyle="--", color="gray")
    axes[2].set_xlabel("time [s]")
    made.savefig(path)
    pyplot.close(made)
    assert path.stat().st_size > 10_000
