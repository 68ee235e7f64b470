"""Faults on the bench arm beyond the rows of `support.fault_rows`: sequences of messages, pushes, payloads, the start."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from support.bench_arm import Bench, BenchArm

from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.interface.controller import Mode
from diffpbd.runtime.loop.guard import TickStatus
from diffpbd.runtime.loop.reflexes import Reflex
from diffpbd.runtime.loop.stopping import Phase, Reason

from .bench_runs import check, run, stopped_after

Message = Callable[[dict], dict | None]


def message(change: Message) -> Callable[[BenchArm], None]:
    def begin(arm: BenchArm) -> None:
        arm.bench.fault = change

    return begin


def nan(key: str) -> Message:
    def change(data: dict) -> dict:
        data[key][0] = math.nan
        return data

    return change


class Frozen:
    """Fresh stamps, the values of the first message."""

    def __init__(self) -> None:
        self.first: dict = {}

    def __call__(self, data: dict) -> dict:
        self.first = self.first or data
        return {**self.first, "stamp": data["stamp"]}


def missing(data: dict) -> dict:
    return {
        "names": ("arm_s",),
        "stamp": data["stamp"],
        "source": "/robot",
        **{k: data[k][:1] for k in ("q", "dq", "effort")},
    }


def back(seconds: float, *, once: bool = False) -> Message:
    """Stamps before the last one, from the first message with the fault on or in that alone."""
    seen: list[int] = []

    def change(data: dict) -> dict:
        seen.append(0)
        return data if once and len(seen) > 1 else {**data, "stamp": data["stamp"] - seconds}

    return change


def test_one_bad_message_leaves_no_trace_in_what_is_sent() -> None:
    def once(data: dict, seen: list = []) -> dict:  # noqa: B006 counts its calls
        seen.append(0)
        return nan("dq")(data) if len(seen) == 1 else data

    report, arm = run("moving", fault=message(once), owner=GravityOwner.MODEL)
    check(arm, detection=math.inf)
    assert report.reason is Reason.FINISHED and report.counts[TickStatus.NOT_FINITE_STATE] > 0
    at = arm.marked[0]
    near = [values for time, mode, values, _, _ in arm.commands if mode is Mode.TORQUE and abs(time - at - 0.01) < 0.02]
    assert np.abs(np.diff(near, axis=0)).max() < 1.0  # of some 20 N·m that hold the arm


class Sequence:
    """A message each, then silence."""

    def __init__(self, *messages: Message) -> None:
        self.messages = list(messages)

    def __call__(self, data: dict) -> dict | None:
        return self.messages.pop(0)(data) if self.messages else None


@pytest.mark.parametrize(
    "messages, reason",
    [
        ([missing] * 2, Reason.STALE_STATE),
        ([missing] * 3, Reason.BAD_STATE),
        ([missing] * 4 + [dict], Reason.STALE_STATE),
    ],
    ids=["two", "three", "four, and a good one"],
)
def test_silence_after_a_few_messages_without_use_is_silence(messages: list[Message], reason: Reason) -> None:
    report, arm = run("impedance", fault=message(Sequence(*messages)))
    check(arm)
    assert report.reason is reason, report
    assert ("arm_e missing (3 messages)" in report.text) == (reason is Reason.BAD_STATE)


@pytest.mark.parametrize("seconds", [0.02, 2.0, -2.0])
def test_one_stamp_that_goes_back_or_ahead(seconds: float) -> None:
    report, arm = run("moving", fault=message(back(seconds, once=True)), owner=GravityOwner.MODEL)
    check(arm)
    assert report.reason is Reason.ROBOT and report.exit_code == 1 and stopped_after(arm) <= 0.02
    assert ("went back by" if seconds > 0.0 else "went ahead by 2.00") in report.text


@pytest.mark.parametrize("payload", [0.0, 2.0])
@pytest.mark.parametrize("seconds", [0.5, 2.0])
def test_no_arm_falls_behind_stamps_that_went_back(payload: float, seconds: float) -> None:
    def begin(arm: BenchArm) -> None:
        arm.bench.fault = back(seconds)
        arm.bench.payload = payload

    report, arm = run("impedance", fault=begin, duration=3.0)
    assert report.reason is Reason.ROBOT and "went back" in report.text
    check(arm)


def test_a_sensor_frozen_at_rest_while_the_law_begins_to_move() -> None:
    report, arm = run("moving", fault=message(Frozen()), at=0.0)
    assert report.reflex is Reflex.FROZEN and report.exit_code == 24 and stopped_after(arm) <= 0.2
    check(arm)


def test_too_fast() -> None:
    report, arm = run("gravity", fault=lambda arm: setattr(arm.bench, "push", (14.0, 0.0)), duration=3.0)
    check(arm, pushed=True)
    assert report.reflex in (Reflex.SPEED, Reflex.POSITION, Reflex.CONTACT), report


def test_a_fast_arm_is_braked_and_then_held() -> None:
    def push(arm: BenchArm) -> None:
        arm.bench.push = (5.0, 0.0)
        arm.after(0.75, lambda: setattr(arm.bench, "push", (0.0, 0.0)))

    report, arm = run("gravity", fault=push, duration=0.75)
    check(arm, pushed=True)
    assert report.reason is Reason.FINISHED
    assert "braking torques, then" in report.ending and np.abs(arm.dq).max() < 1e-3
    braking = [dq for _, mode, _, _, dq in arm.commands if mode is Mode.POSITION][-20]
    assert np.abs(braking).max() < 0.06


@pytest.mark.parametrize("payload", [0.5, 0.8, 1.2, 2.0])
def test_an_unknown_payload_falls_to_no_limit(payload: float) -> None:
    report, arm = run("gravity", fault=lambda arm: setattr(arm.bench, "payload", payload), duration=6.0)
    check_limits(arm)
    assert report.reflex in (Reflex.POSITION, Reflex.CONTACT, Reflex.SPEED), report


def test_a_spring_that_nobody_knows() -> None:
    bench = Bench(spring=(12.0, -1.2))
    report, arm = run("gravity", bench=bench, owner=GravityOwner.ROBOT, duration=6.0)
    check_limits(arm)
    assert report.reflex in (Reflex.POSITION, Reflex.CONTACT, Reflex.SPEED), report


def check_limits(arm: BenchArm) -> None:
    assert (np.array(arm.fastest) <= 1.2 * np.array([1.5, 2.0])).all(), arm.fastest
    assert max(arm.furthest) < 0.0, arm.furthest


def test_the_start_compares_what_holds_the_arm() -> None:
    heavy = Bench(payload=1.0)
    report, arm = run("gravity", bench=heavy, owner=GravityOwner.MODEL)
    assert (
        report.reason is Reason.REFUSED and report.phase is Phase.HOLD and "holding the arm takes arm_s" in report.text
    )
    assert {mode for _, mode, *_ in arm.commands} == {Mode.POSITION}


def test_a_hand_that_leads_is_no_contact() -> None:
    report, arm = run("gravity", fault=lambda arm: setattr(arm.bench, "push", (4.0, 0.5)), duration=0.9)
    assert report.reason is Reason.FINISHED, report


def test_another_commander_may_be_allowed() -> None:
    arm = BenchArm()
    arm.commanders = ("/other",)
    assert run("impedance", arm=arm)[0].reason is Reason.REFUSED and arm.commands == []
    arm = BenchArm()
    arm.commanders = ("/other",)
    assert run("impedance", arm=arm, options={"allow_others": True})[0].reason is Reason.FINISHED
