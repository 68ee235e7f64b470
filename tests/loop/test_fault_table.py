"""Faults on the bench arm beyond the rows of `support.arms.fault_rows`: sequences of messages, pushes, payloads, the start."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest
from support.arms.bench import Bench, BenchArm
from support.arms.bench_runs import check, run, stopped_after
from support.arms.fault_rows import at_once, frozen, stamps, without_a_joint

from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.interface.controller import Mode
from diffpbd.runtime.loop.guard import TickStatus
from diffpbd.runtime.loop.reflexes import Reflex
from diffpbd.runtime.loop.stopping import Phase, Reason

Message = Callable[[dict], dict | None]


def message(change: Message) -> Callable[[BenchArm], None]:
    def begin(arm: BenchArm) -> None:
        arm.bench.fault = change

    return begin


def test_one_bad_message_leaves_no_trace_in_what_is_sent() -> None:
    report, arm = run("moving", fault=message(at_once()), owner=GravityOwner.MODEL)
    check(arm, detection=math.inf)
    assert report.reason is Reason.FINISHED and report.counts[TickStatus.NOT_FINITE_STATE] > 0
    at = arm.marked[0]
    near = [values for time, mode, values, _, _ in arm.commands if mode is Mode.TORQUE and abs(time - at - 0.01) < 0.02]
    assert np.abs(np.diff(near, axis=0)).max() < 1.0  # of some 20 N·m that hold the arm


class Sequence:
    """A message each, then silence, or what is given."""

    def __init__(self, *messages: Message, forever: Message = lambda data: None) -> None:
        self.messages, self.forever = list(messages), forever

    def __call__(self, data: dict) -> dict | None:
        return (self.messages.pop(0) if self.messages else self.forever)(data)


@pytest.mark.parametrize(
    "messages, reason",
    [
        ([without_a_joint] * 2, Reason.STALE_STATE),
        ([without_a_joint] * 3, Reason.BAD_STATE),
        ([without_a_joint] * 4 + [dict], Reason.STALE_STATE),
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
    odd = Sequence(stamps(-seconds), forever=dict)
    report, arm = run("moving", fault=message(odd), owner=GravityOwner.MODEL)
    check(arm)
    assert report.reason is Reason.ROBOT and report.exit_code == 1 and stopped_after(arm) <= 0.02
    assert ("went back by" if seconds > 0.0 else "went ahead by 2.00") in report.text


@pytest.mark.parametrize("payload", [0.0, 2.0])
@pytest.mark.parametrize("seconds", [0.5, 2.0])
def test_no_arm_falls_behind_stamps_that_went_back(payload: float, seconds: float) -> None:
    def begin(arm: BenchArm) -> None:
        arm.bench.fault = stamps(-seconds)
        arm.bench.payload = payload

    report, arm = run("impedance", fault=begin, duration=3.0)
    assert report.reason is Reason.ROBOT and "went back" in report.text
    check(arm)


def test_a_sensor_frozen_at_rest_while_the_law_begins_to_move() -> None:
    def begin(arm: BenchArm) -> None:
        frozen("q", "dq", "effort")(SimpleNamespace(change=lambda change: message(change)(arm)))

    report, arm = run("moving", fault=begin, at=0.0)
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
