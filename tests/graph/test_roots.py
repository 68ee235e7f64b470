"""The step's graph where its equations have no root: NaN, quietly, alone and inside a solver; elsewhere the root."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from support.robots import loaded, model

from diffpbd.codegen.graph.step.joint_step import residuals

FAR = 0.5  # s; a step too long for 40 rad/s


def test_without_a_root_the_ends_are_nan_and_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    robot = loaded("double_pendulum")
    step, alpha = robot.casadi("joint_step"), robot.alpha.defaults
    r = residuals(model("double_pendulum"))
    left = ca.Function("left", [r.p, r.pd, r.u, r.h, r.alpha, r.p_next], [r.F])
    rng, lost = np.random.default_rng(0), 0
    for h in np.geomspace(0.01, FAR, 40):
        p, pd, u = rng.uniform(-3, 3, 2), rng.uniform(-40, 40, 2), np.zeros(2)
        ends = step(p, pd, u, h, alpha)
        both = np.array(ca.horzcat(*ends))
        assert np.isnan(both).all() or np.isfinite(both).all()
        lost += bool(np.isnan(both).all())
        if np.isfinite(both).all():
            assert np.abs(np.array(left(p, pd, u, h, alpha, ends[0]))).max() < 1e-9
    assert 5 < lost < 35
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", ["double_pendulum", "prismatic_skew", "baxter"])
def test_a_root_is_told_from_none_far_from_rounding(name: str) -> None:
    """Ordinary steps at any speed are numbers, the same as the compiled step's."""
    robot = loaded(name)
    step, alpha, rng = robot.casadi("joint_step"), robot.alpha.defaults, np.random.default_rng(1)
    for speed in (0.0, 1.0, 6.0):
        p, pd, u = rng.uniform(-1, 1, robot.n), speed * rng.uniform(-1, 1, robot.n), 5.0 * rng.normal(size=robot.n)
        ours = robot.joint_step(p, pd, u, 0.01)
        graph = [np.array(end).ravel() for end in step(p, pd, u, 0.01, alpha)]
        np.testing.assert_allclose(graph[0], ours.p_next, rtol=0, atol=1e-10)
        np.testing.assert_allclose(graph[1], ours.pd_next, rtol=0, atol=1e-7)


def test_inside_a_solver_failures_make_at_most_a_line(capfd: pytest.CaptureFixture[str]) -> None:
    """A start from which the step fails at once, and a solver that comes back from nowhere: it says so in one line."""
    robot = loaded("double_pendulum")
    step, opti = robot.casadi("joint_step"), ca.Opti()
    pd = opti.variable(2)
    p_next, _ = step(np.zeros(2), pd, np.zeros(2), FAR, robot.alpha.defaults)
    opti.minimize(ca.sumsqr(p_next - 0.3))
    opti.set_initial(pd, [90.0, -170.0])
    quiet = {"print_time": False, "show_eval_warnings": False, "ipopt.print_level": 0, "ipopt.sb": "yes"}
    opti.solver("ipopt", quiet)
    with pytest.raises(RuntimeError, match="Invalid_Number_Detected"):
        opti.solve()
    printed = capfd.readouterr()
    assert len((printed.out + printed.err).splitlines()) <= 1, printed
