"""The fault table: one row a fault, the same on every transport, and why a transport lacks one.

A fault strikes a moving arm in the middle of a run. A transport is what can be struck: `Struck`. What a state is, is a dict of
q [rad], dq [rad/s], effort [N·m], stamp [s], names and source; a change of it is made at every state from the strike on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from diffpbd.runtime.loop.reflexes import Reflex
from diffpbd.runtime.loop.stopping import Reason, Report

ROS1, ROS2, LIBFRANKA = "ros1", "ros2", "libfranka"
TRANSPORTS = (ROS1, ROS2, LIBFRANKA)
HANDED_BACK, BRAKED, NOTHING, FINISHED = "handed back", "braked", "nothing", "finished"
"""What a run ends with: no measured pose is used; states brake the arm and it is held; nothing is sent; no fault is seen."""
STOPPED = 0.1
"""s from a fault to the last command of the law, where the row does not say it."""

Message = dict
Change = Callable[[Message], Message]


class Struck(Protocol):
    """One transport with its arm in motion; each word makes one thing go wrong from now on."""

    def change(self, change: Change) -> None: ...
    def silence(self) -> None: ...
    def disable(self) -> None: ...
    def lose(self) -> None: ...
    def command_by_another(self) -> None: ...
    def push(self) -> None: ...
    def stall(self) -> None: ...
    def interrupt(self) -> None: ...


@dataclass(frozen=True)
class Row:
    """A fault, and what becomes of the run; `reflexes` are those that may see it first, None where it may be none."""

    name: str
    strike: Callable[[Struck], None]
    reasons: tuple[Reason, ...]
    endings: tuple[str, ...]
    reflexes: tuple[Reflex | None, ...] = (None,)
    words: str = ""
    within: float = STOPPED
    absent: Mapping[str, str] = field(default_factory=dict)
    """Transports that this cannot happen on, and why."""

    def judge(self, report: Report, stopped: float, words: Mapping[str, str]) -> str:
        """Assert the row of a run whose law went on for `stopped` [s]; a transport's `words` for each ending. What it was."""
        assert report.reason in self.reasons, report
        assert report.reflex in self.reflexes, report
        assert self.words in report.text, report
        found = [ending for ending in self.endings if words[ending] in report.ending]
        assert found, report.ending
        if self.endings != (FINISHED,):
            assert stopped <= self.within + 1e-6, (stopped, str(report))
        return found[0]


def value(key: str, number: float) -> Change:
    """One number of the states is another one."""

    def change(data: Message) -> Message:
        found = data[key].copy()
        found[0] = number
        return {**data, key: found}

    return change


def offset(angle: float) -> Change:
    """The first joint is read elsewhere [rad]."""

    def change(data: Message) -> Message:
        q = data["q"].copy()
        q[0] += angle
        return {**data, "q": q}

    return change


def speeds(factor: float) -> Change:
    return lambda data: {**data, "dq": factor * data["dq"]}


def at_once() -> Change:
    """The first state with the fault alone is no number."""
    seen: list[float] = []

    def change(data: Message) -> Message:
        seen.append(data["stamp"])
        return value("dq", math.nan)(data) if data["stamp"] == seen[0] else data

    return change


def frozen(*keys: str) -> Callable[[Struck], None]:
    """These keys keep what the first state has."""

    def strike(struck: Struck) -> None:
        first: Message = {}

        def change(data: Message) -> Message:
            first.update(first or data)
            return {**data, **{key: first[key] for key in keys}}

        struck.change(change)

    return strike


def stamps(seconds: float) -> Change:
    return lambda data: {**data, "stamp": data["stamp"] + seconds}


def without_a_joint(data: Message) -> Message:
    return {**data, "names": data["names"][:1], **{key: data[key][:1] for key in ("q", "dq", "effort")}}


def of_another_arm(data: Message) -> Message:
    return {**data, "names": tuple(f"other_{name}" for name in data["names"])}


def from_another(data: Message) -> Message:
    return {**data, "source": "/another"}


def changed(change: Change) -> Callable[[Struck], None]:
    return lambda struck: struck.change(change)


NO_NAMES = {LIBFRANKA: "a state has seven numbers by place, on one connection"}
ONE_CONNECTION = {LIBFRANKA: "the robot takes one connection at a time"}
UNTOLD = {ROS2: "the topics of an effort interface do not tell it: its silence does"}
BAD, REFLEX, ROBOT, DONE = (Reason.BAD_STATE,), (Reason.REFLEX, Reason.BAD_STATE), (Reason.ROBOT,), (Reason.FINISHED,)
CONTRADICTION = (Reflex.MOTION, Reflex.CONTACT, Reflex.STATE, Reflex.SPEED)

HANDED, CALM, ANY = (HANDED_BACK,), (BRAKED,), (BRAKED, HANDED_BACK)
STALE, LOST = (Reason.STALE_STATE, Reason.BAD_STATE), (Reason.LOST_ROBOT,)
NAN, SOON = math.nan, 0.02
STATE = (Reflex.STATE,)

ROWS = (
    Row("a position that is no number", changed(value("q", NAN)), BAD, HANDED, STATE),
    Row("a speed that is no number", changed(value("dq", NAN)), BAD, HANDED, STATE),
    Row("an absurd speed", changed(value("dq", 20.0)), BAD, HANDED, STATE),
    Row("a position off by 0.3 rad", changed(offset(0.3)), BAD, HANDED, STATE),
    Row("a position off by 0.06 rad", changed(offset(0.06)), REFLEX, HANDED, (Reflex.STATE, Reflex.MOTION)),
    Row("a position off by 9 rad", changed(offset(9.0)), BAD, HANDED, STATE),
    Row("speeds of zero", changed(speeds(0.0)), REFLEX, HANDED, CONTRADICTION),
    Row("speeds of the other sign", changed(speeds(-1.0)), REFLEX, HANDED, CONTRADICTION),
    Row("frozen values", frozen("q", "dq", "effort"), REFLEX, HANDED, (Reflex.FROZEN, *CONTRADICTION), within=0.2),
    Row("silence", lambda struck: struck.silence(), STALE, HANDED, words="s old"),
    Row("stamps that stand still", frozen("stamp"), STALE, HANDED, (None, Reflex.STATE), within=0.11),
    Row("stamps that go back a little", changed(stamps(-0.02)), ROBOT, ANY, words="went back by 0.0", within=SOON),
    Row("stamps that go back by two seconds", changed(stamps(-2.0)), ROBOT, ANY, words="went back by", within=SOON),
    Row("stamps that go ahead", changed(stamps(2.0)), ROBOT, ANY, words="went ahead by", within=SOON),
    Row("a joint that is not named", changed(without_a_joint), STALE, HANDED, (None, Reflex.STATE), absent=NO_NAMES),
    Row("joints of another arm", changed(of_another_arm), BAD, HANDED, STATE, "s: no joint of the arm named", absent=NO_NAMES),
    Row("a second source", changed(from_another), ROBOT, ANY, words="two sources", absent=ONE_CONNECTION),
    Row("one bad state", changed(at_once()), DONE, (FINISHED,)),
    Row("torques that are no numbers", changed(value("effort", NAN)), DONE, (FINISHED,)),
    Row("an emergency stop", lambda struck: struck.disable(), ROBOT, (NOTHING,), words="stop", within=SOON, absent=UNTOLD),
    Row("the robot is gone", lambda struck: struck.lose(), LOST, (HANDED_BACK, NOTHING), within=SOON),
    Row("another program commands", lambda struck: struck.command_by_another(), ROBOT, CALM, words="also commanded by",
        within=SOON, absent=ONE_CONNECTION),
    Row("a push", lambda struck: struck.push(), (Reason.REFLEX,), ANY, (Reflex.CONTACT,)),
    Row("the program sleeps", lambda struck: struck.stall(), (Reason.PAUSED,), (*ANY, NOTHING), within=0.25),
    Row("Ctrl-C", lambda struck: struck.interrupt(), (Reason.INTERRUPTED,), CALM, words="SIGINT", within=SOON),
)  # fmt: skip


def rows_of(transport: str) -> list[Row]:
    """The rows of faults that can happen there."""
    return [row for row in ROWS if transport not in row.absent]


def copied(data: Message) -> Message:
    """With arrays of its own."""
    return {key: item.copy() if isinstance(item, np.ndarray) else item for key, item in data.items()}
