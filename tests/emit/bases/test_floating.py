"""A floating base in C: pinocchio's free-flyer and its ODE, momentum, derivatives by tangents, a planar base beside it."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from support.free_flyer import FreeFlyer, difference, moved, position
from support.made.flying import Array, rich, state
from support.numeric import slopes
from support.plain_c import TEMPLATES
from support.robots import generated
from support.small.floating_arm import flat_arms, floating_arm, recipe

from diffpbd.runtime import Robot, load
from diffpbd.runtime.base.errors import InputError, SolverError
from diffpbd.runtime.simulate.simulation import simulate

H = 0.01


def judge(robot: Robot, gravity: Array) -> FreeFlyer:
    found = FreeFlyer(robot.folder.parent / "floating" / "floating_arm.urdf", robot.joints[6:])
    found.model.gravity.linear = np.array(gravity)
    return found


def test_instants_are_those_of_pinocchio() -> None:
    robot, rng = floating_arm(), np.random.default_rng(1)
    other = judge(robot, [0.3, -0.2, -9.81])
    for _ in range(5):
        p, (pd, pdd, u) = position(rng, 2), rng.uniform(-3, 3, (3, 8))
        found, wanted = robot.inverse_dynamics(p, pd, pdd), other.torque(p, pd, pdd)
        assert found.u + found.unbalanced == pytest.approx(wanted, abs=1e-12)
        assert (found.u[:6] == 0).all() and (found.unbalanced[6:] == 0).all()
        assert robot.forward_dynamics(p, pd, u) == pytest.approx(other.acceleration(p, pd, u), rel=1e-9, abs=1e-10)
        assert robot.mass_matrix(p) == pytest.approx(other.mass_matrix(p), abs=1e-13)
        still = np.zeros(8)
        assert robot.gravity(p) == pytest.approx(other.torque(p, still, still), abs=1e-12)
        velocity = other.torque(p, pd, still) - other.torque(p, still, still)
        assert robot.coriolis(p, pd) == pytest.approx(velocity, abs=1e-12)
        assert tuple(robot.energy(p, pd)) == pytest.approx(other.energies(p, pd), abs=1e-11)
        seen, J = other.tip(p, "lower")
        assert robot.tip_pose(p).position == pytest.approx(seen.translation, abs=1e-14)
        assert robot.tip_pose(p).rotation == pytest.approx(seen.rotation, abs=1e-14)
        assert robot.tip_jacobian(p) == pytest.approx(J, abs=1e-14)


def test_second_order_against_the_ode() -> None:
    robot, (p, pd, u) = floating_arm(), state()
    wanted, rates = judge(robot, [0.3, -0.2, -9.81]).after(p, pd, u, 0.4)
    errors = []
    for h in (0.01, 0.005):
        P, PD = robot.rollout(p, pd, np.tile(u, (round(0.4 / h), 1)), h)
        errors.append([np.abs(difference(P[-1], wanted)).max(), np.abs(PD[-1] - rates).max()])
    assert max(errors[1]) < 1e-3
    assert all(3.8 < ratio < 4.3 for ratio in np.divide(*errors))


def test_momentum_stays_for_20_s() -> None:
    robot = floating_arm()
    alpha = robot.alpha.vector({f"gravity.{axis}": 0.0 for axis in "xyz"})
    p = position(np.random.default_rng(1), 2)
    p[:3], p[7:] = [0.1, 0.2, 0.3], [0.3, -0.7]
    pd = np.array([0.4, -0.2, 0.1, 1.5, -2.0, 2.5, 1.0, -1.5])
    turn = 0.3 * np.sin(0.05 * np.arange(2000))[:, None] * [1.0, -0.7]
    for U in (np.zeros((2000, 8)), np.hstack([np.zeros((2000, 6)), turn])):
        P, PD = robot.rollout(p, pd, U, H, alpha)
        linear = np.einsum("kij,kj->ki", robot.mass_matrix(P, alpha), PD)[:, :6]
        about_world = np.hstack([linear[:, :3], linear[:, 3:] + np.cross(P[:, :3], linear[:, :3])])
        assert np.abs(about_world - about_world[0]).max() <= 1e-11
        assert np.abs(np.linalg.norm(P[:, 3:7], axis=1) - 1).max() < 1e-15


def test_slope_of_the_graph_is_by_tangents() -> None:
    robot, (p, pd, u) = floating_arm(), state()
    alpha = rich(robot)
    x = ca.MX.sym("x", 9)
    slope = ca.Function("slope", [x], [ca.jacobian(robot.casadi("joint_step")(x, pd, u, H, alpha)[1], x)])(p)
    unit = moved(p, np.array([0, 0, 0, 1e-6, 0, 0, 0, 0])) - p
    wanted = robot.jac_joint_step(p, pd, u, H, alpha).dpd_next_dp[:, 3] * 1e-6
    assert np.array(slope) @ unit == pytest.approx(wanted, abs=1e-11)
    with pytest.raises(InputError, match="leave out external"):
        robot.casadi("joint_step", external=True)


@pytest.mark.soak
def test_planar_base_is_the_floating_one_in_a_plane() -> None:
    floating, planar = flat_arms()
    assert (floating.n, floating.n_p, planar.n, planar.n_p) == (8, 9, 5, 5)
    p, pd = np.array([0.1, 0.3, 0.4, 0.3, -0.7]), np.array([0.4, 0.1, -2.0, 1.0, -1.5])
    u = np.array([0.5, -0.3, 0.1, 0.2, -0.1])
    P, PD = planar.rollout(p, pd, np.tile(u, (100, 1)), H)
    turn = np.array([np.cos(0.2), 0, np.sin(0.2), 0])
    start = np.concatenate([[0.1, 0, 0.3], turn, p[3:]]), np.array([0.4, 0, 0.1, 0, -2.0, 0, 1.0, -1.5])
    Q, QD = floating.rollout(*start, np.tile([0.5, 0, -0.3, 0, 0.1, 0, 0.2, -0.1], (100, 1)), H)
    assert PD == pytest.approx(QD[:, [0, 2, 4, 6, 7]], abs=2e-9)
    assert P[:, [0, 1, 3, 4]] == pytest.approx(Q[:, [0, 2, 7, 8]], abs=1e-9)
    assert np.abs(np.sin(P[:, 2] / 2) * Q[:, 3] - np.cos(P[:, 2] / 2) * Q[:, 5]).max() < 1e-9
    given = planar.inverse_dynamics(p, pd, np.zeros(5))
    assert (given.u[:3] == 0).all() and (given.unbalanced[3:] == 0).all()


def test_what_is_refused_and_left_out() -> None:
    robot, (p, pd, u) = floating_arm(), state()
    for call in (lambda q: robot.joint_step(q, pd, u), lambda q: robot.rollout(q, pd, u[None]), robot.gravity):
        with pytest.raises(InputError, match="unit quaternion .* of length 1.1"):
            call(p * np.r_[np.ones(3), 1.1 * np.ones(4), np.ones(2)])
    with pytest.raises(InputError, match=r"of length 1\.000001\."):
        robot.gravity(p * np.r_[np.ones(3), 1.000001 * np.ones(4), np.ones(2)])
    with pytest.raises(InputError, match="of length inf"):  # and no warning of an overflow
        robot.gravity(p * np.r_[np.ones(3), 1e200 * np.ones(4), np.ones(2)])
    with pytest.raises(InputError, match=r"expected shape \(9,\)"):
        robot.joint_step(p[:8], pd, u)
    with pytest.raises(SolverError):
        robot.joint_step(p, 1e12 * pd, u)
    reasons = robot.manifest.left_out
    for name in ("estimate_torque", "step", "joint_state", "kicked_step", "sixth_order_step"):
        assert "a floating base" in reasons[name] or "on demand" in reasons[name], name
    assert robot.positions[:7] == ("base_x", "base_y", "base_z", "base_qw", "base_qx", "base_qy", "base_qz")
    assert robot.links == ("trunk", "upper", "lower")
    assert not any("base_" in entry.name for entry in robot.manifest.alpha)


def test_simulations_carry_the_base() -> None:
    robot, (p, pd, _) = floating_arm(), state()
    run = simulate(robot, duration=0.1, start=(p, pd), torque="gravity")
    assert run.q.shape == (11, 9) and (run.tau[:, :6] == 0).all() and (run.tau[:, 6:] != 0).any()
    assert simulate(robot, duration=0.02).q[0] == pytest.approx(robot.neutral)
    finer = [simulate(robot, duration=0.1, h=h, start=(p, pd), step=4) for h in (0.02, 0.01, 0.0025)]
    errors = [np.abs(difference(one.q[-1], finer[-1].q[-1])).max() for one in finer[:2]]
    assert errors[0] > 12 * errors[1]
    with pytest.raises(InputError, match="take 4"):
        simulate(robot, duration=0.1, step=6)


def test_a_ball_rolls_down_a_slope() -> None:
    """A table at rest in the world is seen from a base that turns: v = g sin θ t / (1 + I/(m r²))."""
    more = (
        '[[plane]]\nname = "slope"\nlink = "world"\npoint = [0, 0, 0.3]\nnormal = [0.2, 0, 1]\n'
        '[[contact]]\nname = "skin"\nlink = "ball"\npoint = [0, 0, 0]\nradius = 0.1\nagainst = "slope"\nfriction = 0.5\n'
    )
    path = recipe("ball", "floating", more=more)
    path.with_suffix(".urdf").write_text(
        '<robot name="ball"><link name="ball"><inertial><mass value="2"/>'
        '<inertia ixx="0.008" iyy="0.008" izz="0.008" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
    )
    robot = load(generated(str(path), functions=("joint_step",), variants=()))
    normal = np.array([0.2, 0.0, 1.0]) / np.sqrt(1.04)
    p = position(np.random.default_rng(1), 0)
    p[:3] = normal * (0.3 * normal[2] + 0.1)
    P, PD = robot.rollout(p, np.zeros(6), np.zeros((100, 6)), H)
    wanted = 9.81 * np.sin(np.arctan(0.2)) / 1.4
    assert np.linalg.norm(PD[-1, :3]) == pytest.approx(wanted, rel=2e-6)
    assert PD[-1, 3:] == pytest.approx([0, wanted / 0.1, 0], abs=1e-4)
    assert np.abs(robot.contact_gap(P)).max() < 1e-8
    force = np.reshape(robot.contact_force(P[50], PD[50], np.zeros(6), H).contact_force, -1)
    assert force @ normal == pytest.approx(2 * 9.81 * np.cos(np.arctan(0.2)), rel=1e-6)
    assert force[1] == pytest.approx(0, abs=1e-5)
    pd, u = np.array([1.0, 0.5, 0, 0.3, -0.2, 0.4]), np.array([0.1, 0.2, -0.3, 0.02, 0.03, -0.01])
    found, end = robot.jac_joint_step(p, pd, u, H), robot.joint_step(p, pd, u, H)

    def after(d: Array) -> Array:
        q, qd = robot.joint_step(moved(p, d[:6]), pd + d[6:12], u + d[12:], H)
        return np.concatenate([difference(q, end.p_next), qd])

    J = np.vstack([np.hstack(found[2:5]), np.hstack(found[5:8])])
    assert pytest.approx(slopes(after, 18, 1e-5), abs=1e-8) == J


def test_fixed_bases_know_nothing_of_it() -> None:
    folder = generated("double_pendulum")
    assert "base_joint" not in (folder / "manifest.json").read_text()
    assert not (folder / "src" / "floating.c").exists()
    written = [path for path in (folder / "src").iterdir() if path.name not in TEMPLATES]
    assert len(written) > 5 and not any("floating base" in path.read_text() for path in written)
