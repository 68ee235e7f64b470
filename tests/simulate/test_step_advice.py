"""A step that fails says whose joint is driven hardest and which step works; limits that leave nothing name their joint."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.robots import generated

from diffpbd.runtime import InputError, Robot, SolverError, load
from diffpbd.runtime.model.limits import JointLimits
from diffpbd.runtime.mpc.problem import Bounds
from diffpbd.runtime.simulate.simulation import simulate


@pytest.fixture(scope="module")
def arm2(shared: Path) -> Robot:
    return load(generated(str(next((shared / "cases").glob("N02-*")) / "arm2.urdf")))


def test_a_stiff_spring_is_named_with_a_step_that_works(arm2: Robot) -> None:
    alpha = arm2.alpha.vector({"spring.stiffness.elbow": 3e5})
    start = (np.array([0.0, 1.0]), np.zeros(2))
    with pytest.raises(SolverError, match="Joint elbow is driven hardest, at .* rad/s²") as caught:
        simulate(arm2, duration=0.1, h=0.05, start=start, alpha=alpha)
    found = re.search(r"A step of (\S+) s works from here", str(caught.value))
    assert found is not None, caught.value
    h = float(found[1])
    q, dq = arm2.joint_step(*start, np.zeros(2), h, alpha)
    assert np.isfinite(q).all() and np.isfinite(dq).all()
    with pytest.raises(SolverError):
        arm2.joint_step(*start, np.zeros(2), 2.0 * h, alpha)


def test_limits_that_leave_nothing_name_their_joint(arm2: Robot) -> None:
    facts = arm2.manifest.robot
    for name, words in (("velocity", "its speed limit of -1"), ("effort", "its effort limit of 0")):
        joints = (facts.joints[0], replace(facts.joints[1], **{name: -1.0 if name == "velocity" else 0.0}))
        with pytest.raises(InputError, match=f"Joint elbow: {words} .* leaves nothing"):
            JointLimits.of(joints).expect_room(arm2.joints)
    weak = load(arm2.folder)
    weak.limits = JointLimits.of((facts.joints[0], replace(facts.joints[1], velocity=-1.0)))
    with pytest.raises(InputError, match="Joint elbow: its speed limit"):
        Bounds.of(weak, 0.01)
    assert arm2.limits.expect_room(arm2.joints) is arm2.limits
