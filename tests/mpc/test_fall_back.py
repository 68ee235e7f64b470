"""The torque of a tick without a plan, on an arm of pinocchio's without friction: at rest it stays there, a motion decays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib.metadata import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.free_flyer import position
from support.mechanisms import MECHANISMS
from support.planning.held_arm import RATES, WAYS_IN, Arm, Plant, Refusing, energies
from support.planning.planned import model_of
from support.reality import Differences, RealArm
from support.robots import CACHE, generated, loaded
from support.small.closed_robots import case
from support.small.floating_arm import stopped_flap
from support.small.universal import UR10E, write

from diffpbd.runtime import Robot, load
from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import SolverError
from diffpbd.runtime.model.statics import holding_torque
from diffpbd.runtime.mpc.fall_back import BLIND_AFTER, FallBack
from diffpbd.runtime.mpc.options import MpcOptions
from diffpbd.runtime.mpc.plan import PlanSource
from diffpbd.runtime.mpc.planner import Mpc
from diffpbd.runtime.mpc.problem import NONE, Bounds

ROBOTS = Path(__file__).parents[2] / "codegen" / "robots"
ARMS = (
    "double_pendulum", "prismatic_skew", "baxter_bare",
    *(pytest.param(name, marks=pytest.mark.thorough) for name in ("fr3", "ur10e", "panda")),
)  # fmt: skip
REST = 1e-18
"""[J] Rounding: 1e-9 rad/s of 1 kg·m²."""
ROUNDING = 1e-8
"""[1] Of an energy, for the plant's integration."""
COASTING = 0.01
"""[1] What gravity may add to the energy while no state is finite for three ticks of 20 ms: then nothing damps."""


@cache
def arm(name: str) -> tuple[Robot, str]:
    """The robot and its URDF."""
    if name == "panda":
        found = files("example-robot-data")
        urdf = next(str(f.locate()) for f in found or () if f.name == "panda.urdf")
        return load(generated(urdf, functions=("mpc",), hold=("panda_finger_joint1", "panda_finger_joint2"))), urdf
    if name == "ur10e":
        path = CACHE / "fall_back" / "ur10e.urdf"
        path.parent.mkdir(parents=True, exist_ok=True)
        urdf = str(write(path, UR10E))
        return load(generated(urdf, functions=("mpc",))), urdf
    urdf = str(ROBOTS / f"{name}.urdf")
    if name == "fr3":
        return load(generated("fr3", functions=("mpc", "torque_terms"), variants=())), urdf
    return loaded(name), urdf


def pose(robot: Robot, rng: np.random.Generator) -> FloatArray:
    """One that the motors can hold."""
    low, high = np.maximum(robot.limits.lower, -2.5), np.minimum(robot.limits.upper, 2.5)
    while True:
        q = low + (high - low) * rng.uniform(0.1, 0.9, robot.n)
        if (np.abs(robot.gravity(q)) < 0.9 * robot.limits.effort).all():
            return np.asarray(q)


def rates(robot: Robot, rng: np.random.Generator) -> FloatArray:
    """Within the limits of speed."""
    return np.asarray(np.minimum(robot.limits.speed, 3.0) * rng.uniform(-1.0, 1.0, robot.n))


def unbounded(robot: Robot) -> Bounds:
    """A robot without limits of speed and effort in its file."""
    none = np.full(robot.n, np.inf)
    return Bounds(-none, none, none, -none, none, none)


@pytest.mark.parametrize("name", ARMS)
def test_without_a_plan_nothing_speeds_up(name: str, count: Callable[[int, int], int]) -> None:
    """Every way in, at every rate: at rest, and in motion with and without bounds."""
    (robot, urdf), rng = arm(name), np.random.default_rng(0)
    rest = risen = coasted = left = 0.0
    for h in RATES:
        seconds = 0.5 if count(0, 1) else max(0.1, 8 * h)
        for way in WAYS_IN:
            q = pose(robot, rng)
            found, _ = energies(robot, urdf, h, way, q, np.zeros(robot.n), seconds=seconds)
            rest = max(rest, found.max())
            for bounds in (None, unbounded(robot)):
                found, _ = energies(
                    robot, urdf, h, way, q, 0.5 * rates(robot, rng), seconds=seconds, reuse=0, bounds=bounds
                )
                rise = found.max() / found[0] - 1.0
                risen, coasted = (risen, max(coasted, rise)) if way == "state" else (max(risen, rise), coasted)
                left = max(left, found[-1] / found[0] if bounds is not None else 0.0)
    print(f"{name}: rest {rest:.1e} J; rise {risen:.1e}, without states {coasted:.1e}; left {left:.1e}")
    assert rest < REST and risen < ROUNDING and coasted < COASTING and left < 0.1


WRONG = {
    "told": Plant(gravity=False),
    "inertia": Plant(inertia=0.3, gravity=False),
    "load": Plant(load=1.0, gravity=False),
    "late": Plant(late=1, gravity=False),
    "friction": Plant(inertia=0.3, late=1, coulomb=5.0, viscous=2.0, gravity=False),
    "all": Plant(inertia=0.3, load=1.0, late=1, gravity=False),
}


@pytest.mark.parametrize("name", ARMS)
def test_where_the_model_is_wrong_a_motion_decays(name: str, count: Callable[[int, int], int]) -> None:
    """At full speed and a delay that is told, with inertias, load, friction and one tick more that are not. Without gravity,
    whose error is another test's."""
    (robot, urdf), rng, worst, left = arm(name), np.random.default_rng(1), 0.0, 0.0
    settings = [(h, delay, kind) for h in RATES for delay in (0, 1, 2) for kind in WRONG]
    for h, delay, kind in settings[:: count(5, 1)]:
        q, v = pose(robot, rng), rates(robot, rng)
        for bounds in (None, unbounded(robot)):
            found, _ = energies(
                robot, urdf, h, "refused plan", q, v, seconds=max(0.1, 20 * h), reuse=0, bounds=bounds, plant=WRONG[kind],
                delay=delay,
            )  # fmt: skip
            worst = max(worst, found.max() / found[0] - 1.0)
            left = max(left, found[-1] / found[0] if bounds is not None else 0.0)
    print(f"{name}: rise {worst:.1e}, left {left:.1e}")
    assert worst < ROUNDING and left < 0.2


@pytest.mark.parametrize(("h", "late"), [(0.001, 20), (0.004, 5), (0.01, 2), (0.02, 1)])
def test_states_that_come_20_ms_late_do_not_make_it_shake(h: float, late: int) -> None:
    (robot, urdf), rng = arm("baxter_bare"), np.random.default_rng(3)
    plant = Plant(inertia=0.3, late=late, gravity=False)
    found, _ = energies(
        robot, urdf, h, "refused plan", pose(robot, rng), rates(robot, rng), seconds=0.6, reuse=0, plant=plant,
        bounds=unbounded(robot),
    )  # fmt: skip
    assert found.max() <= found[0] and found[-1] < 1e-4 * found[0]


@pytest.mark.parametrize("plant", [Plant(inertia=0.3), Plant(load=1.0)], ids=["inertia", "load"])
def test_wrong_gravity_moves_an_arm_at_the_speed_that_damping_allows(plant: Plant) -> None:
    """Of an error d: M^-1 d over the rate of the decay, 24.5/s at 100 Hz."""
    (robot, urdf), rng, h = arm("baxter_bare"), np.random.default_rng(1), 0.01
    shoulder = 0.0
    for _ in range(5):
        q = pose(robot, rng)
        error = Arm(robot, urdf, plant).gravity(q) - robot.gravity(q)
        expected = np.linalg.solve(robot.mass_matrix(q), error) * np.e * 1.5 * h
        found, speeds = energies(
            robot, urdf, h, "refused plan", q, np.zeros(7), seconds=0.4, plant=plant, bounds=unbounded(robot)
        )
        weight = robot.mass_matrix(q)
        assert found.max() < 2.0 * (0.5 * expected @ weight @ expected) * (1.0 + plant.load / 0.1)
        shoulder = max(shoulder, np.abs(speeds[:, :2]).max())
    print(f"shoulder {shoulder:.2f} rad/s")
    assert shoulder < 0.5


def test_the_torque_is_gravity_and_a_share_of_the_momentum() -> None:
    """Within its bounds; beyond them the nearest in the metric of the inverse inertia, which takes energy out."""
    robot, rng, B = loaded("baxter_bare"), np.random.default_rng(5), np.full(7, NONE)
    for h, delay, rate in ((0.001, 0.0, 40.0), (0.01, 0.0, 24.525), (0.01, 2.0, 10.511), (0.02, 1.0, 7.3576)):
        p, pd = rng.uniform(-1.0, 1.0, 7), rng.uniform(-1.0, 1.0, 7)
        ahead = p + (delay + 0.5) * h * pd
        M, hold = robot.mass_matrix(ahead), robot.gravity(ahead)
        wanted = -rate * M @ pd
        found = robot.damped_hold(p, pd, -B, B, delay, h)
        np.testing.assert_allclose(found - hold, wanted, rtol=1e-4, atol=1e-9)
        room = 0.5 * np.abs(wanted).max() * rng.uniform(0.01, 1.0, (2, 7))
        low, high = hold - room[0], hold + room[1]
        found = robot.damped_hold(p, pd, low, high, delay, h)
        assert (found >= low).all() and (found <= high).all()
        x = found - hold
        slope = np.linalg.solve(M, x - wanted)  # of half its squared distance to the wanted one
        inside = (x > -room[0] + 1e-9) & (x < room[1] - 1e-9)
        assert x @ pd < 0.0 and 0 < inside.sum() < 7
        np.testing.assert_allclose(slope[inside], 0.0, atol=1e-2 * np.abs(slope).max())
        assert (slope[x >= room[1] - 1e-9] <= 1e-9).all() and (slope[x <= -room[0] + 1e-9] >= -1e-9).all()


def test_a_motor_that_cannot_hold_does_not_take_the_others_damping() -> None:
    robot, p, pd = loaded("baxter_bare"), np.zeros(7), np.array([0.5, 0.3, -0.5, 0.2, 0.5, -0.5, 1.0])
    effort = np.full(7, 50.0)
    effort[1] = 0.5 * abs(robot.gravity(p)[1])
    x = robot.damped_hold(p, pd, -effort, effort, 0, 0.01) - np.clip(robot.gravity(p + 0.005 * pd), -effort, effort)
    assert (np.abs(x[[0, 2, 6]]) > 1e-3).all() and x @ pd < -1.0


def five_bar(passive: tuple[str, ...]) -> tuple[Robot, FloatArray, FloatArray]:
    """The robot and a closed state that moves; without a motor at `passive` joints."""
    if passive == ("j2", "j4"):
        c = case("five_bar")
        return c.robot, c.p, c.pd
    made = replace(MECHANISMS["five_bar"](), passive=list(passive))
    robot = load(generated(str(made.write(CACHE / "fall_back", "five_bar_driven")), functions=("mpc",)))
    p = robot.close_loops([made.guess[joint] for joint in robot.joints], np.zeros(4))
    pd = robot.close_rates(p, np.ones(4))
    return robot, p, 1.5 * pd / np.abs(pd).max()


@pytest.mark.parametrize(
    "passive", [("j2", "j4"), pytest.param(("j4",), marks=pytest.mark.thorough, id="more motors than freedoms")]
)
def test_loops_are_damped_by_their_motors(passive: tuple[str, ...]) -> None:
    robot, p, pd = five_bar(passive)
    undriven = [robot.joints.index(name) for name in passive]
    for bound in (NONE, 4.5):  # which two motors reach
        h, q, v = 0.02, p, pd
        found, limit, most = [robot.energy(q, v).kinetic], np.full(4, bound), 0.0
        for _ in range(15):
            u = robot.damped_hold(q, v, -limit, limit, 0, h)
            assert (u[undriven] == 0.0).all()
            most = max(most, np.abs(u).max())
            for _ in range(4):
                q, v = robot.joint_step(q, v, u, h / 4)
            found.append(robot.energy(q, v).kinetic)
        assert (np.diff(found) < 0.0).all() and found[-1] < 1e-2 * found[0]
        assert most <= min(bound, 50.0) and (most == bound or bound == NONE or len(undriven) < 2)
    far = {name: 9.0 for name in robot.alpha.names if name.startswith("origin.j2") and name.endswith(".x")}
    if far:
        with pytest.raises(SolverError, match="did not close"):
            robot.damped_hold(p, pd, -limit, limit, 0, h, far)


@pytest.mark.parametrize("name", ["baxter_bare", "double_pendulum", "five_bar", "a driven five_bar"])
def test_at_rest_it_is_the_holding_torque_of_the_runtime(name: str) -> None:
    """One rule, said in C for the plans and in Python for robots without them: equal at poses and parameters at random."""
    robot, p, _ = (
        five_bar(("j4",) if name[0] == "a" else ("j2", "j4")) if "five" in name else (loaded(name), None, None)
    )
    rng, none = np.random.default_rng(8), np.full(robot.n, NONE)
    for _ in range(10):
        values = {}
        for joint in robot.joints:
            values |= {
                f"spring.stiffness.{joint}": rng.uniform(0.0, 5.0),
                f"spring.rest.{joint}": rng.uniform(-1.0, 1.0),
            }
            values |= {
                f"torque_offset.{joint}": rng.uniform(-1.0, 1.0),
                f"friction.coulomb.{joint}": rng.uniform(0.0, 1.0),
            }
        alpha = robot.alpha.vector(
            {"gravity.x": rng.uniform(-3.0, 3.0), "payload.mass": rng.uniform(0.0, 1.0), **values}
        )
        q = rng.uniform(-1.0, 1.0, robot.n) if p is None else p
        expected = holding_torque(robot, q, alpha)
        assert np.abs(expected).max() > 0.1
        found = robot.damped_hold(q, np.zeros(robot.n), -none, none, 0, 0.01, alpha)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_a_floating_base_keeps_its_momentum_and_its_joints_come_to_rest() -> None:
    robot, none = stopped_flap(), np.full(7, NONE)
    alpha = {f"gravity.{axis}": 0.0 for axis in "xyz"}
    p = position(np.random.default_rng(4), 1)
    p[7], pd = 0.1, np.array([0.1, -0.1, 0.05, 0.2, -0.3, 0.1, 0.4])
    for _ in range(30):
        before = robot.energy(p, pd, alpha).kinetic
        u = robot.damped_hold(p, pd, -none, none, 0, 0.02, alpha)
        assert (u[:6] == 0.0).all()
        p, pd = robot.joint_step(p, pd, u, 0.02, alpha)
        assert robot.energy(p, pd, alpha).kinetic < before * (1.0 + 1e-6)
    assert abs(pd[6]) < 0.02


def holding(**options: Any) -> tuple[Mpc, FloatArray]:
    robot = loaded("double_pendulum")
    return Mpc(robot, 5, h=0.01, options=MpcOptions(reuse=0, **options)), np.array([0.4, -0.3])


def test_every_finite_pose_refreshes_it_whatever_the_reference() -> None:
    mpc, q = holding()
    for k in range(4):
        tick = mpc.tick(0.01 * k, q + 0.1 * k, [0.0, 0.0], [np.nan, 0.0])
        assert tick.source is PlanSource.FALL_BACK
        np.testing.assert_allclose(tick.torque, mpc.problem.robot.gravity(q + 0.1 * k), rtol=0, atol=1e-12)


def test_what_is_not_finite_in_a_state_is_left_out_and_a_lost_pose_is_said() -> None:
    mpc, q = holding()
    nan, gravity = np.full(2, np.nan), mpc.problem.robot.gravity(q)
    assert not mpc.tick(-0.01, nan, nan, q).torque.any()  # no pose was seen
    moving = mpc.tick(0.0, q, [1.0, 1.0], nan)
    assert (np.abs(moving.torque - gravity) > 1.0).all()
    np.testing.assert_allclose(mpc.tick(0.01, q, nan, nan).torque, gravity, atol=1e-12)
    ticks = [mpc.tick(0.01 * k, nan, nan, q) for k in range(2, 80)]
    assert all(np.array_equal(tick.torque, ticks[0].torque) for tick in ticks)
    np.testing.assert_allclose(ticks[0].torque, gravity, atol=1e-12)
    blind = [tick.source is PlanSource.BLIND for tick in ticks]
    last = round(BLIND_AFTER / 0.01)
    assert not any(blind[:last]) and all(blind[last:]) and mpc.counts[PlanSource.BLIND] == sum(blind) == 78 - last
    assert mpc.tick(0.8, q, nan, nan).source is PlanSource.FALL_BACK


def test_a_state_is_kept_by_value() -> None:
    mpc, q = holding()
    pd = np.array([1.0, 1.0])
    first = mpc.tick(0.0, q, pd, np.full(2, np.nan)).torque
    fall_back = FallBack(mpc.problem.robot, mpc.problem.alpha, 0.01, 0)
    fall_back.see(q, pd)
    pd[:] = 1e3
    np.testing.assert_array_equal(fall_back.torque(*mpc.problem.bounds[:2]), first)


def test_the_solver_says_what_it_cannot_use() -> None:
    robot, B = loaded("double_pendulum"), np.full(2, NONE)
    for bounds, message in (((B, -B), "bounds contradict each other"), ((-B, B), "h is not above zero")):
        with pytest.raises(SolverError, match=message):
            robot.damped_hold([0.0, 0.0], [0.0, 0.0], *bounds, 0, 0.0 if bounds[0] is not B else 0.01)
    with pytest.raises(SolverError, match="holds without damping"):
        robot.damped_hold([0.0, 0.0], [1e10, 0.0], -B, B, 0, 0.01)
    with pytest.raises(SolverError, match="holds without damping"):
        robot.damped_hold([0.0, 0.0], [0.0, 0.0], -B, B, -1, 0.01)


@pytest.mark.parametrize("known", [False, True])
def test_a_load_that_the_observer_has_seen_is_still_borne(known: bool) -> None:
    """1 kg that the model does not know: with an observer the arm stays where it is, without one its wrist sinks."""
    (robot, urdf), h = arm("baxter_bare"), 0.01
    plant = Arm(robot, urdf, Plant(load=1.0, viscous=0.5))
    mpc = Mpc(robot, 10, h=h, bounds=unbounded(robot), options=MpcOptions(reuse=0, disturbance=0.02 if known else None))
    q, v = np.array([0.1, -0.55, 0.1, 0.9, 0.0, 0.8, 0.0]), np.zeros(7)
    mpc.start(robot.gravity(q))
    P, solver, fastest = np.tile(q, (11, 1)), mpc.solver, 0.0
    for k in range(800):
        mpc.solver = Refusing(solver, None) if k >= 700 else solver
        u = mpc.tick(h * k, q, v, P).torque
        q, v = plant.moved(q, v, u, h)
        fastest = max(fastest, float(np.abs(v).max())) if k >= 700 else 0.0
    print(f"{fastest:.3f} rad/s, {np.abs(q - P[0]).max():.3f} rad off")
    assert fastest < 0.01 if known else fastest > 0.3


def test_on_the_reality_bench_an_arm_at_rest_stays_there(count: Callable[[int, int], int]) -> None:
    """Everything differs at once but the load: friction, rotors, masses, ripple, sensors; states 20 ms late; gears are elastic
    where positions are the links'."""
    robot, fastest = loaded("baxter_bare"), 0.0
    alpha, effort = model_of(robot, "baxter"), robot.limits.effort
    for seed in range(count(4, 40)):
        drawn = Differences.drawn(seed, load=0.0, state_delay=0.02)
        differences = drawn if drawn.sensor == "link" else replace(drawn, stiffness=None)
        h = (0.01, 0.004, 0.001)[seed % 3]
        real = RealArm("baxter", differences, period=h)
        for _ in range(round(0.6 / h)):
            _, q, dq, _ = real.state()
            real.apply(robot.damped_hold(q, dq, -effort, effort, 0, h, alpha), h)
            fastest = max(fastest, float(np.abs(real.dq).max()))
    print(f"{fastest:.3f} rad/s")
    assert fastest < 0.2
