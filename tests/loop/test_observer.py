"""The momentum observer against arms that scipy integrates by pinocchio and by a closed form."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from support.arms.bench import EFFORT, inertial, mass
from support.robots import loaded

from diffpbd.runtime.folder.locate import find_description
from diffpbd.runtime.loop.configuration import motion_model
from diffpbd.runtime.loop.motion import Motion
from diffpbd.runtime.loop.observer import BETWEEN, LEAST, MEMORY, Observer

LIMITS = np.array(EFFORT)
ONE = Motion(lambda q, dq, ddq: np.array([2.0, 0.1]) * ddq)
"""Two joints without coupling, of 2 and 0.1 kg·m²."""


def still(observer: Observer, seconds: float, *, step: float = 1e-3, law: tuple[float, float] = (0.0, 0.0)) -> None:
    """States at rest while a law acts."""
    for k in range(round(seconds / step) + 1):
        observer.add(k * step, [0.3, 0.9], [0.0, 0.0], [law[0] * k * step, law[1] * k * step])


@pytest.mark.parametrize("rate", [100.0, 1000.0])
def test_an_external_torque_on_seven_joints_in_motion(rate: float) -> None:
    """Torques change every tick, the arm reaches 3 rad/s; what is seen is true to 0.02 of the effort limits."""
    pinocchio = pytest.importorskip("pinocchio")
    robot = loaded("baxter_bare")
    observer = Observer(motion_model(robot, robot.alpha.vector({})), robot.limits.effort)
    plant = pinocchio.buildModelFromUrdf(str(find_description("baxter_bare")))
    data, rng, period = plant.createData(), np.random.default_rng(4), 1.0 / rate
    state = np.concatenate([[0.1, -0.55, 0.1, 0.9, 0.0, 0.8, 0.0], np.zeros(7)])
    inertia = np.triu(pinocchio.crba(plant, data, state[:7]))
    inertia += np.triu(inertia, 1).T
    push = inertia @ [6.0, -5.0, 6.0, 7.0, 10.0, -12.0, 15.0]  # rad/s²
    impulse, errors, fastest = np.zeros(7), [], 0.0
    for k in range(round(0.25 * rate)):
        observer.add(k * period, state[:7].tolist(), state[7:].tolist(), impulse.tolist())
        outside = push if k * period >= 0.1 else np.zeros(7)
        law = inertia @ rng.uniform(-10.0, 10.0, 7)

        def fall(_: float, x: np.ndarray, law: np.ndarray = law, outside: np.ndarray = outside) -> np.ndarray:
            held = pinocchio.computeGeneralizedGravity(plant, data, x[:7]).copy()
            return np.concatenate([x[7:], pinocchio.aba(plant, data, x[:7], x[7:], held + law + outside)])

        if k * period >= 0.1 + MEMORY + period:
            errors.append(np.abs(observer.external - push) / robot.limits.effort)
            fastest = max(fastest, float(np.abs(state[7:]).max()))
        state = solve_ivp(fall, (0.0, period), state, rtol=1e-8, atol=1e-10).y[:, -1]
        impulse = impulse + period * law
    assert 1.0 < fastest < 4.0 and np.max(errors) < 0.02, (fastest, np.max(errors, axis=0))


def test_an_impact_counts_by_its_impulse_and_is_forgotten() -> None:
    observer, step = Observer(ONE, LIMITS), 1.0 / 1024.0
    states = int(MEMORY / step) + 1
    for k in range(80):
        observer.add(step * k, [0.0, 0.0], [0.0, -0.5 * (k > 40)], [0.0, 0.0])
        seen = -0.1 * 0.5 / (states * step) if 40 < k <= 40 + states else 0.0
        np.testing.assert_allclose(observer.external, [0.0, seen], atol=1e-9)


@pytest.mark.parametrize("step, first", [(1e-3, 18), (0.01, 2), (0.05, 2)])
def test_nothing_is_said_before_the_memory_is_full(step: float, first: int) -> None:
    observer = Observer(ONE, LIMITS)
    for k in range(first + 2):
        observer.add(k * step, [0.0, 0.0], [0.0, 0.0], [5.0 * k * step, 0.0])
        assert (observer.external[0] == pytest.approx(-5.0)) == (k >= first) and k + 1 >= LEAST * (k >= first)
    observer.start()
    assert not observer.external.any() and not observer.moving.any()
    observer.add(9.0, [0.0, 0.0], [0.0, 0.0], [0.0, 0.0])
    assert not observer.external.any()


def test_the_model_is_asked_every_hundredth_of_a_second_for_the_mean_motion() -> None:
    asked: list[tuple[np.ndarray, ...]] = []

    def record(*motion: np.ndarray) -> np.ndarray:
        asked.append(motion)
        return inertial(*motion)

    observer = Observer(Motion(record, None, mass), LIMITS)
    for k in range(60):
        t = k / 1024.0
        observer.add(t, [0.2 * t, 0.9 + t * t], [0.2, 2.0 * t], [0.0, 0.0])
    assert len(asked) == len(np.arange(19 / 1024, 60 / 1024, 11 / 1024)) and BETWEEN == 0.01
    q, dq, ddq = asked[0]
    full = 19 / 1024
    np.testing.assert_allclose(q, [0.1 * full, 0.9 + 0.5 * full**2])
    np.testing.assert_allclose(dq, [0.2, full])
    assert not ddq.any() and (observer.moving > [0.19, 0.08]).all()


def test_a_mass_matrix_from_torques_is_the_same() -> None:
    q = np.array([0.3, 0.9])
    np.testing.assert_allclose(Motion(inertial).mass_at(q), mass(q))
    assert not Motion(inertial).friction(q, q).any()
    rubbing = Motion(lambda q, dq, ddq: inertial(q, dq, ddq) + 0.7 * dq, inertial)
    np.testing.assert_allclose(rubbing.friction(q, q), 0.7 * q)
    assert Observer(None, LIMITS).drives(0, 1.0, [[0.0, 0.0]], 9.0) is False


@pytest.mark.parametrize("along", [-1.0, 1.0])
def test_what_drives_a_joint(along: float) -> None:
    """External torque beyond 0.03 of the effort limit (1.5 N·m) and the model's friction, against the law's."""
    sure = 1.5
    for push, law, driven in (
        (1.01 * sure, 0.0, True), (0.99 * sure, 0.0, False), (-4.0, 0.0, False),
        (sure + 3.01, 3.0, True), (sure + 2.99, 3.0, False), (sure + 1.0, -9.0, True),
    ):  # fmt: skip
        observer = Observer(ONE, LIMITS)
        still(observer, 0.05, law=(-along * push, 0.0))  # a law that moves nothing
        assert observer.drives(0, along, [[0.0, 0.0], [along * law, 0.0]], 0.0) is driven, (push, law)
    rubbing = Motion(
        lambda q, dq, ddq: np.array([2.0, 0.1]) * ddq + [2.0, 0.0], lambda q, dq, ddq: np.array([2.0, 0.1]) * ddq
    )
    for push, driven in ((2.0 + 1.01 * sure, True), (2.0 + 0.99 * sure, False)):
        observer = Observer(rubbing, LIMITS)
        still(observer, 0.05, law=(2.0 - along * push, 0.0))
        assert observer.drives(0, along, [[0.0, 0.0]], 0.0) is driven


def test_a_push_on_one_joint_drives_another_by_their_inertia() -> None:
    observer = Observer(Motion(inertial, None, mass), LIMITS)
    still(observer, 0.05, law=(-20.0, 0.0))  # 20 N·m push the first joint forwards
    ways = np.sign(np.linalg.solve(mass(np.array([0.3, 0.9])), [20.0, 0.0]))
    assert list(ways) == [1.0, -1.0]
    for joint, way in enumerate(ways):
        assert observer.drives(joint, way, [[0.0, 0.0]], 0.0) and not observer.drives(joint, -way, [[0.0, 0.0]], 0.0)


@pytest.mark.parametrize("along", [-1.0, 1.0])
def test_an_acceleration_that_no_law_explains_is_external(along: float) -> None:
    """Half of it; of 6 rad/s² and 2 kg·m² that is 6 N·m."""
    for law, driven in ((5.9, True), (6.1, False), (-20.0, True)):
        observer = Observer(ONE, LIMITS)
        still(observer, 0.05)
        assert observer.drives(0, along, [[0.0, 0.0], [along * law, 0.0]], 6.0) is driven, law


@pytest.mark.parametrize("along", [-1.0, 1.0])
@pytest.mark.parametrize("ago, driven", [(30, True), (90, True), (120, False)])
def test_a_law_that_balances_a_load_drives_nothing(along: float, ago: int, driven: bool) -> None:
    """At rest under a load of 8 N·m, then pushed along it by 12 N·m for `ago` ms; what has been so for 0.1 s is no news."""
    observer = Observer(ONE, LIMITS)
    for k in range(200):
        impulse = along * (8.0 * k - 12.0 * max(k - 199 + ago, 0)) * 1e-3  # of a law that moves nothing
        observer.add(1e-3 * k, [0.3, 0.9], [0.0, 0.0], [impulse, 0.0])
    np.testing.assert_allclose(observer.external, [4.0 * along, 0.0], atol=1e-9)
    assert observer.drives(0, along, [[8.0 * along, 0.0], [8.0 * along, 0.0]], 0.0) is driven
    assert not observer.drives(0, along, [[-8.0 * along, 0.0], [8.0 * along, 0.0]], 0.0)  # grown by 16 N·m, too
