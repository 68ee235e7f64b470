"""Lever springs: one potential, and its torque in every function, step and derivative."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.described import Described
from support.judges.families import PLAIN
from support.judges.maximal_steps import follow
from support.made.levered import JOINTS
from support.maximal import Array
from support.numeric import differences
from support.small.branching import branching
from support.small.sprung import SPRING, springs, sprung_pendulum

from diffpbd.codegen.laws import attached, forces
from diffpbd.codegen.program.program import Program
from diffpbd.runtime import Robot
from diffpbd.runtime.control.net_torque import without_gravity
from diffpbd.runtime.identify import Settings, identify
from diffpbd.runtime.logs.csv import Log
from diffpbd.runtime.logs.processing import Processing, process
from diffpbd.runtime.loop.configuration import gravity_model, has_spring

H = 0.01
TIPS = ["tool", "d"]


def law(name: str, p: Any, numbers: Any = SPRING) -> Array:
    """A law over angles."""
    b = Program(name)
    angle, given = b.scalar("p"), b.input("numbers", 5)
    b.output("value", attached.law(b, "lever_spring", name, angle, list(given)))
    run = b.numpy()
    return np.array([run(p=x, numbers=np.asarray(numbers))["value"][0, 0] for x in np.atleast_1d(p)])


# The law ----------------------------------------------------------------------------------------------------------------

DEAD_CENTRE = (300.0, 0.1, 0.1, 0.4, 0.2)
ANGLES = np.linspace(-6.0, 6.0, 41)


@pytest.mark.parametrize("numbers", [SPRING, DEAD_CENTRE, (300.0, 0.1, 0.1, 0.4, 0.0)])
def test_torque_and_slope_are_derivatives_of_the_potential(numbers: tuple[float, ...]) -> None:
    def values(x: Array) -> dict[str, Array]:
        return {name: np.concatenate([law(name, row, numbers) for row in x]) for name in ("potential", "torque")}

    for p in ANGLES:
        found = differences(values, np.array([p]), 1e-3)
        np.testing.assert_allclose(law("torque", p, numbers), -found["potential"].ravel(), rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(law("slope", p, numbers), -found["torque"].ravel(), rtol=1e-7, atol=1e-7)


def test_it_is_the_papers_geometry() -> None:
    """x² = l₁² + l₂² − 2 l₁ l₂ cos γ, τ = k (x − x_rest) l₁ l₂ sin γ / x, γ = π − α − p."""
    k, l1, l2, alpha, rest = SPRING
    gamma = np.pi - alpha - ANGLES
    x = np.sqrt(l1**2 + l2**2 - 2 * l1 * l2 * np.cos(gamma))
    np.testing.assert_allclose(
        law("torque", ANGLES), k * (x - rest) * l1 * l2 * np.sin(gamma) / x, rtol=1e-12, atol=1e-13
    )


def test_at_length_zero_everything_is_finite() -> None:
    """Arms alike and closed: the spring pushes away from the dead centre, with no more than k l x_rest."""
    k, l1, _, alpha, rest = DEAD_CENTRE
    centre = np.pi - alpha
    near = centre + np.concatenate([[0.0], *([s * 10.0**-e for s in (-1, 1)] for e in range(1, 17))])
    torque = law("torque", near, DEAD_CENTRE)
    assert np.isfinite(law("slope", near, DEAD_CENTRE)).all() and np.isfinite(law("potential", near, DEAD_CENTRE)).all()
    assert np.abs(torque).max() <= k * l1 * rest and abs(torque[0]) < 1e-5
    np.testing.assert_allclose(torque[1:3], [-k * l1 * rest, k * l1 * rest], rtol=0.06)
    assert np.isfinite(law("slope", near, (300.0, 0.1, 0.1, 0.4, 0.0))).all()


def test_near_a_pose_it_is_a_linear_spring() -> None:
    at, small = 0.3, 1e-5
    stiffness, torque = law("slope", at)[0], law("torque", at)[0]
    rest = at + torque / stiffness
    near = at + np.array([-small, small])
    linear = [float(forces.spring_torque(p, stiffness, rest)) for p in near]
    np.testing.assert_allclose(law("torque", near), linear, rtol=0, atol=1e3 * small**2)


# Graphs -----------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lever") / "sprung.urdf"
    path.write_bytes(branching())
    return path


@pytest.fixture(scope="module")
def sprung(source: Path) -> Described:
    return Described.of(source, tip=TIPS, lever_springs=JOINTS, only=(*PLAIN, "spring_torque"))


def test_it_acts_through_its_own_torque(sprung: Described) -> None:
    """Inverse dynamics takes it off, forward dynamics is its inverse, the potential's gradient is minus the torque."""
    values, rng = springs(JOINTS), np.random.default_rng(1)
    for p, pd, pdd in rng.uniform(-3.0, 3.0, (5, 3, 4)):
        torque = np.zeros(4)
        for k, name in enumerate(JOINTS):
            at = [joint.name for joint in sprung.robot.joints].index(name)
            torque[at] = law("torque", p[at], np.array(SPRING) * (1.0 + 0.1 * k))[0]
        np.testing.assert_allclose(sprung("spring_torque", p, alpha=values), torque, rtol=0, atol=1e-12)
        u = sprung("inverse_dynamics", p, pd, pdd, alpha=values)
        np.testing.assert_allclose(sprung("inverse_dynamics", p, pd, pdd) - u, torque, rtol=0, atol=1e-11)
        np.testing.assert_allclose(sprung("forward_dynamics", p, pd, u, alpha=values), pdd, rtol=0, atol=1e-9)
        slope = differences(lambda rows: {"V": np.array([_potential(sprung, row, values) for row in rows])}, p, 1e-3)[
            "V"
        ][0]
        np.testing.assert_allclose(slope, sprung("gravity", p) - torque, rtol=0, atol=1e-7)


def _potential(d: Described, p: Array, values: dict[str, float]) -> float:
    return float(d.functions["energy"](p, np.zeros_like(p), d.alpha.vector(values))[1])


def test_the_maximal_step_is_the_joint_step(sprung: Described) -> None:
    """Along a swing with springs, payload and friction, through half a turn."""
    others = {"payload.mass": 0.5, "friction.viscous.jb": 0.5, "spring.stiffness.ja": 3.0, "spring.rest.ja": 2.5}
    alpha = sprung.alpha.vector(springs(JOINTS, **others))
    start, rate, u = np.array([3.0, 0.1, -0.5, 0.4]), np.array([4.0, 0.0, 0.0, 0.0]), np.array([1.0, -2.0, 0.5, 0.3])
    assert follow(sprung, alpha, start, rate, u, 8, "with lever springs")[0] > np.pi


# Compiled ---------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def arm(source: Path) -> Robot:
    return sprung_pendulum(source.parent)


def test_a_swing_keeps_its_energy(arm: Robot) -> None:
    """Second order: a fourth of the error at half the step; the pendulum swings out and back on its spring."""
    alpha = arm.alpha.vector(springs(["shoulder"], **{"lever_spring.stiffness.shoulder": 4000.0}))
    off = []
    for h in (0.004, 0.002):
        P, PD = arm.rollout(np.array([0.5, -0.3]), np.zeros(2), np.zeros((round(2.0 / h), 2)), h, alpha)
        energy = sum(np.asarray(part) for part in arm.energy(P, PD, alpha))
        off.append(np.abs(energy - energy[0]).max())
    span = np.ptp(np.asarray(arm.energy(P, PD, alpha).kinetic))
    assert span > 5.0 and off[1] < 1e-3 * span
    assert off[0] / off[1] == pytest.approx(4.0, rel=0.15)


@pytest.mark.parametrize("form", ["shooting", "simultaneous"])
def test_forms_that_follow_the_step(form: str, arm: Robot) -> None:
    """The stiffness from a swing that `joint_step` made: the balances of the simultaneous form know the spring too."""
    alpha, U = arm.alpha.vector(springs(["shoulder"])), np.zeros((30, 2))
    P, PD = arm.rollout(np.array([0.5, -0.3]), np.zeros(2), U, H, alpha)
    log = Log(H * np.arange(31), arm.joints, P, PD, None, np.zeros((31, 2)))
    start = springs(["shoulder"], **{"lever_spring.stiffness.shoulder": 250.0})
    result = identify(
        arm,
        process("swing", log, Processing(cutoff=None)),
        ["lever_spring.stiffness"],
        start=start,
        settings=Settings(form),
    )
    assert result.parameters["lever_spring.stiffness.shoulder"] == pytest.approx(SPRING[0], rel=1e-6)


def test_who_owns_gravity_knows_it(arm: Robot) -> None:
    """A lever spring is a spring of the model's gravity, and nothing where the robot compensates by itself."""
    alpha = arm.alpha.vector(springs())
    assert has_spring(arm, alpha) and not has_spring(arm, arm.alpha.defaults)
    p = np.array([0.3, 0.2])
    held = gravity_model(arm, alpha)(p)
    np.testing.assert_allclose(
        held, np.asarray(arm.gravity(p, alpha)) - arm.spring_torque(p, alpha), rtol=0, atol=1e-12
    )
    assert np.abs(arm.spring_torque(p, alpha)).max() > 0.5
    np.testing.assert_array_equal(arm.spring_torque(p, without_gravity(arm, alpha)), 0.0)
