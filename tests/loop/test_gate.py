"""The gate alone: every reason to refuse, from both sides of its threshold."""

from __future__ import annotations

import numpy as np
import pytest
from support.arms.bench import BenchArm, bench_limits

from diffpbd.runtime.base.errors import RefusedError
from diffpbd.runtime.interface.controller import Mode
from diffpbd.runtime.loop.gate import CommandGate, GatedArm

ZERO = np.zeros(2)
STEP = np.array([2.0, 0.6])
UP = np.nextafter(1.0, 2.0)


def gate() -> CommandGate:
    return CommandGate(bench_limits(), 0.1, STEP)


def refusal(
    values: object, q: object = ZERO, *, mode: Mode = Mode.TORQUE, age: float = 0.0, at: CommandGate | None = None
) -> str:
    return (at or gate()).refusal(
        mode, np.array(values, dtype=float), np.array(q, dtype=float), age, 5.0, model_gravity=False
    )


@pytest.mark.parametrize(
    "values, told",
    [
        ([50.0, 15.0], ""), ([-50.0, -15.0], ""), ([50.0 + 1e-9, 0.0], ""), ([50.0 + 1.1e-9, 0.0], "effort"),
        ([-50.0 - 0.9e-9, 0.0], ""), ([-50.0 - 1.1e-9, 0.0], "effort"),
        ([0.0, 15.1], "effort"), ([0.0, -15.1], "effort"), ([0.0, np.nan], "not finite"), ([np.inf, 0.0], "not finite"),
        ([0.0], "shape"), ([0.0, 0.0, 0.0], "shape"),
    ],
)  # fmt: skip
def test_torques_that_cannot_be_sent_are_refused(values: list[float], told: str) -> None:
    assert told in refusal(values) and bool(told) == bool(refusal(values))


@pytest.mark.parametrize("mode", [Mode.TORQUE, Mode.POSITION])
@pytest.mark.parametrize("age, refused", [(0.0, False), (0.1, False), (0.1 * UP, True), (np.nan, True)])
def test_old_states(mode: Mode, age: float, refused: bool) -> None:
    assert bool(refusal(ZERO, mode=mode, age=age)) == refused


@pytest.mark.parametrize(
    "values, q, told",
    [
        ([0.0, 0.0], [0.0, 0.0], ""), ([0.1, 0.0], [0.0, 0.0], ""), ([-0.1, 0.1], [0.0, 0.0], "limits"),
        ([0.1001, 0.0], [0.0, 0.0], "0.1 rad"), ([-0.1001, 0.0], [0.0, 0.0], "0.1 rad"), ([0.0, 0.1001], [0.0, 0.0], "0.1 rad"),
        ([1.7, 0.5], [1.65, 0.5], ""), ([1.701, 0.5], [1.65, 0.5], "limits"), ([-1.701, 0.5], [-1.65, 0.5], "limits"),
        ([0.0, -0.05], [0.0, 0.0], ""), ([0.0, -0.051], [0.0, 0.0], "limits"),
        ([1.78, 0.5], [1.78, 0.5], ""), ([1.74, 0.5], [1.78, 0.5], ""), ([1.79, 0.5], [1.78, 0.5], "limits"),
        ([0.0, 0.0], [np.nan, 0.0], "0.1 rad"),
    ],
)  # fmt: skip
def test_positions(values: list[float], q: list[float], told: str) -> None:
    if values == [-0.1, 0.1]:
        told = ""
    found = refusal(values, q, mode=Mode.POSITION)
    assert told in found and bool(told) == bool(found)


def test_torques_change_within_the_step() -> None:
    at = gate()
    assert refusal([50.0, 0.0], at=at) == ""  # nothing was sent before
    at.passed(Mode.TORQUE, np.array([10.0, -3.0]))
    assert refusal([12.0, -2.4], at=at) == refusal([8.0, -3.6], at=at) == ""
    for values in ([12.1, -3.0], [7.9, -3.0], [10.0, -2.3], [10.0, -3.7]):
        assert "faster" in refusal(values, at=at)
    at.passed(Mode.TORQUE, ZERO)
    assert refusal(STEP + 1e-9, at=at) == refusal(-STEP - 1e-9, at=at) == ""
    at.passed(Mode.POSITION, ZERO)
    assert refusal([50.0, 0.0], at=at) == ""  # from the servo


def test_model_gravity_needs_the_suppress_stream() -> None:
    at = gate()
    ask = lambda now: at.refusal(Mode.TORQUE, ZERO, ZERO, 0.0, now, model_gravity=True)  # noqa: E731 used four times
    assert "suppress" in ask(5.0)
    at.suppressed(5.0)
    assert ask(5.0) == ask(5.1 - 1e-9) == ""
    assert "0.101 s ago" in ask(5.101)
    assert refusal(ZERO, at=at) == ""
    at.suppressed(0.0)
    assert ask(0.1) == ""


def test_other_modes_are_refused() -> None:
    assert "velocity mode is not used" in refusal(ZERO, mode=Mode.VELOCITY)


def test_only_what_passes_is_sent_and_counted() -> None:
    arm = BenchArm((0.3, 0.9))
    arm.advance(0.05)
    gated = GatedArm(arm, STEP)
    after = gated.send(Mode.TORQUE, np.array([5.0, 1.0]), arm.state, model_gravity=False)
    assert after == arm.time and gated.sent == 1
    for values, gravity, told in (
        ([9.0, 1.0], False, "faster"),
        ([5.0, 1.0], True, "suppress"),
        ([np.nan, 0.0], False, "finite"),
    ):
        with pytest.raises(RefusedError, match=told):
            gated.send(Mode.TORQUE, np.array(values), arm.state, model_gravity=gravity)
    gated.suppress()
    assert arm.suppressed == arm.time
    gated.send(Mode.TORQUE, np.array([6.0, 1.2]), arm.state, model_gravity=True)
    assert gated.sent == len(arm.commands) == 2
    arm.time += 0.2
    with pytest.raises(RefusedError, match="s old"):
        gated.send(Mode.TORQUE, np.array([6.0, 1.2]), arm.state, model_gravity=False)
