"""The guard and the supervisor: the case P60 and its kind."""

from __future__ import annotations

import csv
from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diffpbd.runtime.base.errors import InputError, SolverError
from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.control.laws.gravity import GravityController
from diffpbd.runtime.control.laws.hold import HoldController
from diffpbd.runtime.control.laws.impedance import ImpedanceController
from diffpbd.runtime.loop.guard import TickStatus
from diffpbd.runtime.loop.motion import Motion
from diffpbd.runtime.loop.supervisor import Decision, Settings, Supervisor
from diffpbd.runtime.model.limits import Limits
from diffpbd.runtime.mpc.profile import PROFILE

PERIOD = 0.01
EFFORT = np.array([30.0, 15.0])


def limits(**changed: object) -> Limits:
    values = {
        "lower": np.array([-2.0, -2.0]), "upper": np.array([2.0, 2.0]), "speed": np.array([2.0, 2.0]),
        "effort": EFFORT, "law_effort": EFFORT, "torque_rate": np.array([500.0, 500.0]),
        "position_margin": 0.1,
    }  # fmt: skip
    return Limits(**{**values, **changed})


def gravity(q: np.ndarray) -> np.ndarray:
    return np.array([5.0 * np.sin(q[0]), 2.0 * np.sin(q[1])])


def impedance(profile: str = PROFILE) -> ImpedanceController:
    return ImpedanceController([100.0, 40.0], [2.0, 1.0], [0.15, 0.2], goal_speed=0.5, profile=profile)


def supervisor(controller=None, owner=GravityOwner.MODEL, ramp=0.05, **changed) -> Supervisor:
    model = gravity if owner is GravityOwner.MODEL else None
    settings = Settings(PERIOD, ramp=ramp)
    return Supervisor(controller or impedance(), limits(**changed), settings, owner=owner, gravity=model)


def tick(under: Supervisor, time: float, q: np.ndarray, dq: np.ndarray) -> Decision:
    """A tick on a state measured at its own time."""
    return under.tick(time, time, q, dq)


def run(rows: list[list[float]], owner: GravityOwner = GravityOwner.MODEL) -> dict[int, object]:
    """Decisions by tick for rows of tick, q, dq, goal."""
    controller = impedance()
    under = supervisor(controller, owner)
    under.start(np.array(rows[0][1:3]))
    decisions = {}
    for row in rows:
        number, values = int(row[0]), np.array(row[1:])
        controller.goal = values[4:6]
        decisions[number] = tick(under, number * PERIOD, values[:2], values[2:4])
    return decisions


@pytest.mark.parametrize("owner", list(GravityOwner))
def test_bad_ticks_are_refused_and_forgotten(shared: Path, owner: GravityOwner) -> None:
    with (shared / "cases" / "P60-nan-input" / "ticks.csv").open() as file:
        rows = [[float(value) for value in row] for row in list(csv.reader(file))[1:]]
    bad = {
        4: TickStatus.NOT_FINITE_STATE, 6: TickStatus.NOT_FINITE_STATE, 8: TickStatus.NOT_FINITE_OUTPUT,
        10: TickStatus.ABSURD_POSITION,
    }  # fmt: skip
    decisions = run(rows, owner)
    for tick, decision in decisions.items():
        assert np.isfinite(decision.command).all() and (np.abs(decision.command) <= EFFORT).all()
        assert decision.status == bad.get(tick, decision.status) and decision.status.good == (tick not in bad)
        if tick in bad:
            np.testing.assert_array_equal(decision.command, decisions[tick - 1].command)
            without = run([row for row in rows if row[0] != tick], owner)
            np.testing.assert_array_equal(decisions[tick + 1].command, without[tick + 1].command)


ANY = st.floats(allow_nan=True, allow_infinity=True)
NEAR = st.floats(-3.0, 3.0)


@given(
    st.lists(st.tuples(*[st.one_of(NEAR, ANY)] * 6), min_size=1, max_size=12),
    st.sampled_from(["impedance", "gravity", "hold"]),
)
def test_no_input_makes_a_bad_command(rows: list[tuple[float, ...]], name: str) -> None:
    controller = {
        "impedance": impedance, "gravity": lambda: GravityController([1.0, 1.0]), "hold": HoldController
    }[name]()  # fmt: skip
    under = supervisor(controller, GravityOwner.ROBOT if name == "hold" else GravityOwner.MODEL)
    under.start(np.zeros(2))
    last = np.zeros(2)
    for number, row in enumerate(rows):
        if isinstance(controller, ImpedanceController):
            controller.goal = np.array(row[4:6])
        decision = tick(under, number * PERIOD, np.array(row[:2]), np.array(row[2:4]))
        assert np.isfinite(decision.command).all()
        if name == "hold":
            assert (np.abs(decision.command) <= 2.0).all()
            continue
        assert (np.abs(decision.command) <= EFFORT).all()
        assert (np.abs(decision.command - last) <= 5.0 + 1e-12).all()  # whatever became of the tick
        last = decision.command


def test_patience_ends_the_run_and_a_good_tick_renews_it() -> None:
    under = supervisor()
    under.start(np.zeros(2))
    nan = np.full(2, np.nan)
    stops = [tick(under, k * PERIOD, nan, nan).stop for k in range(8)]
    assert stops[6] == "" and "not finite state for 0.07" in stops[7]
    assert tick(under, 0.12, np.zeros(2), np.zeros(2)).status.good
    assert tick(under, 0.13, nan, nan).stop == ""


def test_absurd_speeds_end_the_run_sooner() -> None:
    under = supervisor()
    under.start(np.zeros(2))
    decisions = [tick(under, k * PERIOD, np.zeros(2), np.array([0.0, 4.1])) for k in range(4)]
    assert [decision.stop != "" for decision in decisions] == [False, False, False, True]
    assert "absurd speed for 0.030 s" in decisions[3].stop and under.counts == {TickStatus.ABSURD_SPEED: 4}


def test_a_refused_tick_repeats_the_torque_for_two_hundredths_of_a_second() -> None:
    under = supervisor(Listening(), GravityOwner.ROBOT, ramp=0.0)
    q = np.zeros(2)
    under.start(q)
    for k in range(3):
        under.tick(0.0, k * PERIOD, q, q)
    laws = [tick(under, k * PERIOD, q * np.nan, q).law for k in range(4)]
    np.testing.assert_allclose(laws, [[15.0, 0.375], [15.0, 0.375], [10.0, 0.25], [5.0, 0.125]])


@pytest.mark.parametrize("braking", [False, True])
def test_a_law_fades_while_no_new_state_comes(braking: bool) -> None:
    """Full for 0.025 s, out after 0.05 s, and back with the next state."""
    under = Supervisor(
        Listening(), limits(torque_rate=np.array([1e5, 1e5])), Settings(PERIOD, ramp=0.0), owner=GravityOwner.MODEL,
        gravity=gravity, motion=Motion(lambda q, dq, ddq: np.array([15.0, 0.5]) * ddq),
    )  # fmt: skip
    q, dq = np.array([-0.1, 0.1]), np.full(2, -0.1 if braking else 0.0)  # as slow as a deceleration of 2 rad/s²
    under.start(q)
    step = under.brake if braking else under.tick
    whole = (
        np.array([15.0, 0.5]) if braking else np.array([30.0, 0.75])
    )  # half of the effort, and all of it: one factor
    for begin in (0.0, 0.5):
        for waited, share in (
            (0.0, 1.0),
            (0.02, 1.0),
            (0.025, 1.0),
            (0.03, 0.8),
            (0.0375, 0.5),
            (0.05, 0.0),
            (0.09, 0.0),
        ):
            pose = q + begin * dq
            decision = step(begin + waited, 7.0 + begin, pose, dq)
            more = 1.1 if braking and begin else 1.0  # a way of 0.02 s caught at 50 rad/s² a radian
            np.testing.assert_allclose(decision.law, share * more * whole, atol=1e-9)
            np.testing.assert_allclose(decision.command, decision.law + gravity(pose))
    under.start(q)  # stamps of another clock
    np.testing.assert_allclose(step(0.2, 0.0, q, dq).law, whole)


def test_a_brake_that_is_not_finite_is_refused() -> None:
    under = Supervisor(
        impedance(), limits(), Settings(PERIOD), owner=GravityOwner.MODEL, gravity=gravity,
        motion=Motion(lambda q, dq, ddq: np.array([np.nan, 0.0])),
    )  # fmt: skip
    under.start(np.zeros(2))
    decision = under.brake(0.0, 0.0, np.zeros(2), np.zeros(2))
    assert decision.status is TickStatus.NOT_FINITE_OUTPUT and (decision.command == 0.0).all()


def test_every_tick_is_counted_once() -> None:
    fine, nan = np.zeros(2), np.full(2, np.nan)
    under = supervisor(GravityController([1.0, 1.0]))
    under.start(fine)
    for k, q in enumerate([fine, fine, nan, fine, nan, nan]):
        tick(under, k * PERIOD, q, fine)
    assert under.counts == {TickStatus.OK: 3, TickStatus.NOT_FINITE_STATE: 3}
    assert tick(under, 0.3, nan, fine).breach is not None and under.counts[TickStatus.NOT_FINITE_STATE] == 4
    held = supervisor(HoldController(), GravityOwner.ROBOT)
    held.start(np.full(2, 2.05 - 0.08))
    held.controller.start(np.array([2.05, 0.0]))
    tick(held, 0.0, np.full(2, 1.97), fine)
    tick(held, 0.01, np.full(2, 1.97), fine)
    assert held.counts == {TickStatus.LIMITED: 2}
    held.start(fine)
    assert tick(held, 0.0, fine, fine).status is TickStatus.OK and held.counts == {TickStatus.OK: 1}


def test_a_model_that_is_not_finite_refuses_the_tick() -> None:
    torque = [np.zeros(2)]
    under = Supervisor(
        impedance(), limits(), Settings(PERIOD), owner=GravityOwner.MODEL, gravity=lambda q: torque[0]
    )  # fmt: skip
    under.start(np.zeros(2))
    torque[0] = np.array([0.0, np.nan])
    decision = tick(under, 0.0, np.zeros(2), np.zeros(2))
    assert decision.status is TickStatus.NOT_FINITE_GRAVITY and (decision.command == 0.0).all()


def test_settings_and_decisions_stay_what_they_are() -> None:
    under = supervisor()
    under.start(np.zeros(2))
    decision = tick(under, 0.0, np.zeros(2), np.zeros(2))
    assert len({decision, replace(decision)}) == 2  # each is itself: arrays have no one equality
    for value, name in ((decision, "status"), (Settings(PERIOD), "ramp")):
        with pytest.raises(FrozenInstanceError):
            setattr(value, name, 0)
    assert Settings(PERIOD).ramp == 1.0


def test_ramp_starts_from_gravity_alone() -> None:
    under = supervisor(ramp=1.0)
    q = np.array([1.0, -0.5])
    under.start(q)
    np.testing.assert_array_equal(tick(under, 0.0, q, np.zeros(2)).command, gravity(q))


def test_law_share_bounds_the_law_and_not_gravity() -> None:
    heavy = lambda q: np.array([20.0, 5.0])  # noqa: E731 one line, used once
    under = Supervisor(
        impedance("ramp"), limits(law_effort=0.1 * EFFORT), Settings(PERIOD, ramp=0.0), owner=GravityOwner.MODEL,
        gravity=heavy,
    )  # fmt: skip
    under.start(np.array([1.0, 1.0]))
    for k in range(90):
        decision = tick(under, k * PERIOD, np.array([1.0, 1.0]), np.zeros(2))
    assert decision.status is TickStatus.LIMITED
    np.testing.assert_allclose(
        decision.command, [17.0, 3.8]
    )  # one factor for both joints, equally far on a ramp: 100 to 40


def test_two_owners_of_gravity_are_refused() -> None:
    with pytest.raises(InputError, match="one owner"):
        Supervisor(impedance(), limits(), Settings(PERIOD), owner=GravityOwner.ROBOT, gravity=gravity)
    with pytest.raises(InputError, match="one owner"):
        Supervisor(impedance(), limits(), Settings(PERIOD), owner=GravityOwner.MODEL, gravity=None)


def test_model_gravity_in_position_mode_is_refused() -> None:
    with pytest.raises(InputError, match="another mode"):
        supervisor(HoldController(), GravityOwner.MODEL)


def test_a_pose_that_gravity_would_drop_is_refused() -> None:
    under = Supervisor(impedance(), limits(), Settings(PERIOD), owner=GravityOwner.MODEL, gravity=lambda q: 2 * EFFORT)
    with pytest.raises(InputError, match="could not be held"):
        under.start(np.zeros(2))
    Supervisor(impedance(), limits(), Settings(PERIOD), owner=GravityOwner.MODEL, gravity=lambda q: EFFORT).start(
        np.zeros(2)
    )  # all that there is


def test_limits_that_cannot_guard_are_refused() -> None:
    with pytest.raises(InputError, match="effort must be finite"):
        limits(effort=np.array([30.0, np.inf]))


class Listening(GravityController):
    """Asks for a torque beyond the limits, and hears what was sent."""

    def __init__(self) -> None:
        super().__init__([0.0, 0.0])
        self.heard: list[np.ndarray] = []

    def output(self, time: float, q: np.ndarray, dq: np.ndarray) -> np.ndarray:
        return np.array([40.0, 1.0])

    def sent(self, law: np.ndarray) -> None:
        self.heard.append(law)


def test_a_controller_is_told_what_became_of_its_torque() -> None:
    listening = Listening()
    strong = np.array([100.0, 100.0])
    under = supervisor(listening, ramp=0.05, torque_rate=np.array([200.0, 500.0]), effort=strong, law_effort=strong)
    q = np.array([0.1, 0.1])
    under.start(q)
    decisions = [tick(under, k * PERIOD, q * (np.nan if k == 3 else 1.0), np.zeros(2)) for k in range(7)]
    np.testing.assert_array_equal(listening.heard, [decision.law for decision in decisions])
    np.testing.assert_allclose(np.array(listening.heard)[:, 0], [0, 2, 4, 4, 6, 8, 10])
    np.testing.assert_allclose(np.array(listening.heard)[:, 1], [0, 0.05, 0.1, 0.1, 0.15, 0.2, 0.25])


def test_the_brake_decelerates_against_what_moves_the_arm_within_the_full_effort() -> None:
    mass = np.array([2.0, 0.5])
    under = Supervisor(
        impedance(), limits(torque_rate=np.array([1e5, 1e5])), Settings(PERIOD), owner=GravityOwner.MODEL,
        gravity=gravity, motion=Motion(lambda q, dq, ddq: mass * ddq),
    )  # fmt: skip
    q, dq = np.array([0.1, -0.2]), np.array([0.04, -0.3])
    under.start(q)
    assert not under.refusing and not under.at_rest
    decision = under.brake(0.0, 0.0, q, dq)
    np.testing.assert_allclose(decision.law, -mass * dq / 0.05)
    np.testing.assert_allclose(decision.command, decision.law + gravity(q))
    assert under.brake(0.01, 0.01, q * np.nan, dq).status is TickStatus.NOT_FINITE_STATE and under.refusing
    for k in range(2, 10):
        under.brake(0.01 * k, 0.01 * k, q, 0.0 * dq)
    assert under.at_rest and not under.refusing


def test_without_a_model_the_brake_damps() -> None:
    under = supervisor(owner=GravityOwner.ROBOT, torque_rate=np.array([1e5, 1e5]))
    under.start(np.zeros(2))
    decision = under.brake(0.0, 0.0, np.zeros(2), np.array([0.4, -1.0]))
    np.testing.assert_allclose(decision.law, -0.1 * EFFORT / 2.0 * [0.4, -1.0])


class Timed(Listening):
    """Hears when its states were measured."""

    def __init__(self) -> None:
        super().__init__()
        self.times: list[float] = []

    def measured(self, time: float) -> None:
        self.times.append(time)


def test_a_controller_is_told_when_its_state_was_measured() -> None:
    """By the run's clock: the first state was `age` old when that began."""
    timed = Timed()
    under = supervisor(timed)
    for age, told in (((), 0.25), ((0.0625,), 0.1875)):
        under.start(np.zeros(2), np.zeros(2), *age)
        under.tick(0.3, 0.25, np.zeros(2), np.zeros(2))
        assert timed.times[-1] == told


@pytest.mark.parametrize("error", [SolverError("no plan"), ZeroDivisionError(), np.linalg.LinAlgError()])
def test_a_controller_that_fails_refuses_the_tick(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    failing = Listening()
    under = supervisor(failing)
    under.start(np.zeros(2))

    def fail(*arguments: object) -> np.ndarray:
        raise error

    monkeypatch.setattr(failing, "output", fail)
    decision = tick(under, 0.0, np.zeros(2), np.zeros(2))
    assert decision.status is TickStatus.CONTROLLER_FAILED and (decision.command == 0.0).all() and under.refusing


def test_a_law_that_nothing_changes_stays_what_it_is_to_the_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    tenth = Listening()
    monkeypatch.setattr(tenth, "output", lambda time, q, dq: np.array([0.1, 0.1]))
    under = Supervisor(
        tenth, limits(), Settings(PERIOD, ramp=0.0), owner=GravityOwner.MODEL, gravity=lambda q: np.array([0.2, 0.2])
    )
    under.start(np.zeros(2))
    decision = tick(under, 0.0, np.zeros(2), np.zeros(2))
    assert (decision.law == 0.1).all() and (decision.command - 0.2 != 0.1).all() and decision.status is TickStatus.OK


@pytest.mark.parametrize("braking", [False, True])
def test_a_stamp_that_went_back_ends_the_run_at_once(braking: bool) -> None:
    under = supervisor()
    under.start(np.zeros(2))
    act = under.brake if braking else under.tick
    assert act(0.0, 0.01, np.zeros(2), np.zeros(2)).breach is None
    assert act(0.01, 0.01, np.zeros(2), np.zeros(2)).breach is None  # the same state twice
    decision = act(0.02, 0.009, np.zeros(2), np.zeros(2))
    assert decision.breach is not None and decision.stop.startswith("state: stamp went back") and under.accepted is None
