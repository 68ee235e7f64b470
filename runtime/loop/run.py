"""The run: check, hold, control, and a clean stop on every way out.

1. check: connected, one robot, enabled, fresh state of every joint; nothing is sent.
2. hold: position mode at the measured pose; with the model as owner of gravity, the suppress stream begins.
3. run: one supervisor tick a period, paced by the monotonic clock; a late tick is not made up for.
4. stop: the robot's default timeout, then position mode at the last pose that the guard accepted, while fresh states
   agree with it. Otherwise nothing is sent, and the robot's own timeout makes it hold.

Commands and the suppress stream leave from one thread: if it stops, both do.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from diffpbd.runtime.arms.baxter.arm import BaxterArm
from diffpbd.runtime.arrays import FloatArray
from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.controller import Mode
from diffpbd.runtime.errors import DiffpbdError, InputError
from diffpbd.runtime.loop.recorder import START, Recorder
from diffpbd.runtime.loop.stopping import MasterWatch, Phase, Reason, Report, StopRequest, StopRun
from diffpbd.runtime.loop.supervisor import Decision, Supervisor
from diffpbd.runtime.priority import punctual
from diffpbd.runtime.ros1.errors import RefusedError
from diffpbd.runtime.ros1.joint_states import LimbState
from diffpbd.runtime.ros1.messages import Header, Tick

__all__ = ["Run", "RunOptions"]

POLL = 0.01  # s between two looks while waiting
HOLD_PERIOD = 0.01  # s between two commands in the hold and stop phases
SUPPRESS_PERIOD = 0.02  # s; 50 Hz, ten times what the robot asks for
HOLDING_SHARE = 0.12
"""Share of a joint's effort limit by which the measured holding torque may differ from the model's gravity:
above any joint's friction, below what makes the arm leap."""
PAUSE_LIMIT = 0.1
"""s of lateness that end the run: half of the robot's command timeout, so it has not yet left our mode."""
AGREEMENT = 0.05
"""rad by which a state may differ from the pose that the clean stop holds; beyond, nothing more is sent."""


@dataclass(frozen=True)
class RunOptions:
    """`duration` [s] of the run phase (None: until asked to stop), `hold` [s] in position mode before it
    (a new publisher needs 0.24 s to be heard), `timeout` [s] after which the robot stops obeying, `wait` [s]
    for connections; `enable`: ask a disabled robot to enable; `allow_others`: run although another node
    publishes this arm's commands; `allow_mismatch`: run although holding the arm takes other torques than
    the model's gravity."""

    duration: float | None = None
    hold: float = 0.4
    timeout: float = 0.2
    wait: float = 5.0
    enable: bool = False
    allow_others: bool = False
    allow_mismatch: bool = False

    def __post_init__(self) -> None:
        if not (self.hold >= 0.3 and 0.05 <= self.timeout <= 0.5 and self.wait > 0):
            raise InputError(
                "Run options: expected a hold of at least 0.3 s, a timeout from 0.05 to 0.5 s and a wait "
                f"above 0 s, found {self}."
            )


class Run:
    """One run of a supervisor on an arm; `execute` once."""

    def __init__(
        self,
        arm: BaxterArm,
        supervisor: Supervisor,
        options: RunOptions,
        *,
        recorder: Recorder | None = None,
        stop: StopRequest | None = None,
        observer: Callable[[Tick], None] | None = None,
    ) -> None:
        """`observer` sees every tick, in the loop's thread: it must be quick."""
        self.arm = arm
        self.supervisor = supervisor
        self.options = options
        self.stop = stop or StopRequest()
        self.report = Report()
        self.phase = Phase.CHECK
        self.time = 0.0
        """[s] Since the run phase began."""
        self._recorder = recorder
        self._observer = observer
        self._model_gravity = supervisor.owner is GravityOwner.MODEL
        self._watch: MasterWatch | None = None
        self._suppress_due = float("-inf")

    def execute(self) -> Report:
        """Run all phases and, whatever happens, the clean stop; only faults of this program are raised."""
        report = self.report
        failure: BaseException | None = None
        with self.stop.signals(), punctual():
            try:
                node = self.arm.node
                self._watch = MasterWatch(node.master, self.arm.command.topic, node.name)
                self._check()
                self._hold()
                self._run()
            except StopRun as stopped:
                report.reason, report.text = stopped.reason, stopped.text
            except RefusedError as error:
                reason = Reason.REFUSED if self.phase is Phase.CHECK else Reason.GATE
                report.reason, report.text = reason, str(error)
            except DiffpbdError as error:
                reason = Reason.REFUSED if self.phase is Phase.CHECK else Reason.FAILED
                report.reason, report.text = reason, str(error)
            except KeyboardInterrupt:
                report.reason, report.text = Reason.INTERRUPTED, "KeyboardInterrupt"
            except BaseException as error:
                report.reason, report.text = Reason.FAILED, f"{type(error).__name__}: {error}"
                failure = error
            report.phase = self.phase
            self._clean_stop()
        report.sent = self.arm.sent
        report.dropped = self.arm.command.dropped
        report.counts.update(self.supervisor.counts)
        report.rejected.update(self.arm.reader.rejected)
        if failure is not None:
            raise failure
        return report

    # Phases

    def _check(self) -> None:
        arm = self.arm
        arm.set_state_rate(max(round(1.0 / self.supervisor.settings.period), 100))
        self._until(lambda: bool(arm.assembly.publishers and arm.robot), "/robot/state is not published")
        self._until(lambda: arm.state is not None, "no joint state names every joint of the arm")
        self._until(lambda: bool(arm.command.subscribers), "nobody listens to the arm's joint_command topic")
        if self._model_gravity:
            self._until(
                lambda: bool(arm.suppress_topic.subscribers),
                "nobody listens to suppress_gravity_compensation: gravity would be applied twice",
            )
        arm.clear_trouble()
        self._heed(clock.monotonic())
        trouble = self._trouble()
        if trouble == "the robot is disabled" and self.options.enable:
            self.phase = Phase.ENABLE
            self._until(lambda: bool(self._request_enable()), "the robot does not enable")
            arm.clear_trouble()
            trouble = self._trouble()
        if trouble:
            raise StopRun(Reason.REFUSED, f"{trouble}.")

    def _request_enable(self) -> bool:
        self.arm.request_enable()
        return self.arm.robot is not None and not self.arm.robot.trouble

    def _hold(self) -> None:
        """The first command after every enabling is the measured state."""
        pose = self._fresh_good(self.options.wait)
        if pose is None:
            raise StopRun(Reason.REFUSED, "no fresh and plausible joint state to start from.")
        self.supervisor.start(pose.q)  # a pose that cannot be a start is refused before anything is sent
        self.phase = Phase.HOLD
        self.arm.set_timeout(self.options.timeout)
        held, efforts = pose.q, [pose.effort]
        end = clock.monotonic() + self.options.hold
        while clock.monotonic() < end:
            self._heed(clock.monotonic())
            self._suppress(clock.monotonic())
            state = self._state(clock.monotonic())
            position = np.clip(held, self.arm.limits.lower, self.arm.limits.upper)
            self.arm.send(Mode.POSITION, position, state, model_gravity=False)
            efforts.append(state.effort)
            clock.sleep(HOLD_PERIOD)
        if self._model_gravity and not self.options.allow_mismatch:
            self._compare_torque([effort for effort in efforts[len(efforts) // 2 :] if effort is not None])

    def _compare_torque(self, efforts: list[FloatArray]) -> None:
        """The arm at rest reads what holds it: a model that says otherwise would push when it takes over."""
        if not efforts:
            raise StopRun(Reason.REFUSED, "the joint states carry no torques to compare the model with.")
        measured, model = np.mean(efforts, axis=0), self.supervisor.holding_torque
        wrong = np.abs(measured - model) > HOLDING_SHARE * self.arm.limits.effort
        if wrong.any():
            figures = ", ".join(
                f"{self.arm.joints[k]} {measured[k]:.1f} N·m (model {model[k]:.1f})" for k in np.flatnonzero(wrong)
            )
            raise StopRun(
                Reason.REFUSED,
                f"holding the arm takes {figures}: the model's gravity, payload or springs are not this arm's.",
            )

    def _run(self) -> None:
        period = self.supervisor.settings.period
        state = self._state(clock.monotonic())
        self.supervisor.start(state.q)
        self._note(0.0, clock.monotonic(), state, None)
        self.phase = Phase.RUN
        start = due = clock.monotonic()
        while True:
            now = clock.monotonic()
            if now < due:
                clock.sleep(due - now)
                now = clock.monotonic()
            late = now - due
            if late > PAUSE_LIMIT:
                raise StopRun(Reason.PAUSED, f"this program did not run for {late:.3f} s")
            if self.options.duration is not None and now - start >= self.options.duration:
                return
            self._tick(now, now - start, due)
            skipped = int((clock.monotonic() - due) / period)
            self.report.overruns += skipped
            due += (skipped + 1) * period

    def _tick(self, now: float, time: float, due: float) -> None:
        report = self.report
        report.ticks += 1
        self.time = time
        self._heed(now)
        state = self._state(now)
        decision = self.supervisor.tick(time, state.q, state.dq)
        if decision.stop:
            self._note(time, now, state, decision)
            raise StopRun(Reason.BAD_STATE, decision.stop)
        self._suppress(now)
        done = self.arm.send(decision.mode, decision.command, state, model_gravity=self._model_gravity)
        report.lateness.add(now - due)
        report.work.add(done - now)
        report.latency.add(done - due)
        report.age.add(state.age(done))
        self._note(time, now, state, decision, sent=True)

    def _note(
        self, time: float, now: float, state: LimbState, decision: Decision | None, *, sent: bool = False
    ) -> None:
        """Show a tick to log and observer; without a decision it is the controller's start."""
        if self._recorder is None and self._observer is None:
            return
        none = np.empty(0)
        stamp = int(state.stamp * 1e9)
        tick = Tick(
            header=Header(self.report.ticks, (stamp // 1_000_000_000, stamp % 1_000_000_000), ""),
            time=time, age=state.age(now), name=self.arm.joints, position=state.q, velocity=state.dq,
            mode=int(decision.mode) if decision is not None and sent else 0,
            status=0 if decision is None else int(decision.status),
            effort=none if state.effort is None else state.effort,
            gravity=none if decision is None else decision.gravity,
            law=none if decision is None else decision.law,
            command=none if decision is None else decision.command,
            note=START if decision is None else decision.stop,
        )  # fmt: skip
        if self._recorder is not None:
            self._recorder.tick(tick)
        if self._observer is not None:
            self._observer(tick)

    def _clean_stop(self) -> None:
        """Never raises: every way out ends here."""
        before, self.phase = self.phase, Phase.STOP
        try:
            if self.arm.sent:
                self.report.ending = self._stop_robot(before)
        except BaseException as error:  # also an exception of Ctrl-C by a foreign handler
            self.report.ending = f"the robot's own timeout ({type(error).__name__}: {error})"
        if self._watch is not None:
            self._watch.close()
        self.phase = Phase.DONE

    def _stop_robot(self, before: Phase) -> str:
        arm = self.arm
        arm.set_timeout()
        now = clock.monotonic()
        if arm.robot is None or arm.robot.trouble:
            trouble = "its state is unknown" if arm.robot is None else arm.robot.trouble
            return f"nothing more was sent: {trouble}"
        held = self.supervisor.accepted
        if held is None:
            return "nothing more was sent, the measured pose is in dispute: the robot's own timeout makes it hold"
        end, count, why = now + self.options.timeout, 0, ""
        while clock.monotonic() < end:
            state = arm.state
            why = self._disagreement(state, held)
            if state is None or why:
                break
            position = np.clip(held, arm.limits.lower, arm.limits.upper)
            arm.send(Mode.POSITION, position, state, model_gravity=False)
            count += 1
            clock.sleep(HOLD_PERIOD)
        if why:
            return (
                f"nothing more was sent after {count} position commands, {why}: the robot's own timeout makes it hold"
            )
        return f"{count} position commands at the measured pose after phase {before.value}"

    def _disagreement(self, state: LimbState | None, held: FloatArray) -> str:
        """Why the robot's newest state forbids to hold this pose, or empty."""
        if state is None or state.age(clock.monotonic()) > self.arm.stale_after:
            return "no fresh pose"
        if not (np.abs(state.q - held) <= AGREEMENT).all():  # also where it is not finite
            return f"the measured pose is not within {AGREEMENT:g} rad of the held one"
        return "" if self.arm.command.subscribers else "nobody listens"

    # Helpers

    def _trouble(self) -> str:
        return self.arm.standing_trouble(clock.monotonic())

    def _heed(self, now: float) -> None:
        """Leave the phase for any reason that does not come from the state itself."""
        if self.stop.text:
            raise StopRun(Reason.INTERRUPTED, self.stop.text)
        if self.arm.node.shut_down.is_set():
            raise StopRun(Reason.INTERRUPTED, "the ROS graph asked this node to shut down")
        if self._watch is not None and self._watch.lost:
            raise StopRun(Reason.LOST_MASTER, self._watch.lost)
        if self._watch is not None and self._watch.others and not self.options.allow_others:
            others = ", ".join(self._watch.others)
            reason = Reason.REFUSED if self.phase is Phase.CHECK else Reason.ROBOT
            raise StopRun(reason, f"this arm is also commanded by {others}")
        if self._recorder is not None and self._recorder.failure:
            raise StopRun(Reason.LOG_FAILED, self._recorder.failure)
        if self.phase in (Phase.HOLD, Phase.RUN):
            trouble = self.arm.standing_trouble(now)
            if trouble:
                raise StopRun(Reason.ROBOT, trouble)
            if not self.arm.command.subscribers:
                raise StopRun(Reason.LOST_ROBOT, "the robot closed the command connection")

    def _state(self, now: float) -> LimbState:
        """The newest state, or the end of the phase if it is old."""
        state = self.arm.state
        if state is None or state.age(now) > self.arm.stale_after:
            age = "never seen" if state is None else f"{state.age(now):.3f} s old"
            rejected = self.arm.reader.rejected
            why = "".join(f"; rejected {count}: {reason}" for reason, count in rejected.most_common(2))
            raise StopRun(Reason.STALE_STATE, f"the arm's state is {age}{why}")
        return state

    def _fresh_good(self, wait: float) -> LimbState | None:
        """A finite, plausible and fresh state within `wait` [s]."""
        end = clock.monotonic() + wait
        while True:
            state, now = self.arm.good, clock.monotonic()
            if state is not None and state.age(now) <= self.arm.stale_after:
                return state
            if now >= end:
                return None
            clock.sleep(POLL)

    def _suppress(self, now: float) -> None:
        if self._model_gravity and now >= self._suppress_due:
            self.arm.suppress()
            self._suppress_due = now + SUPPRESS_PERIOD

    def _until(self, condition: Callable[[], bool], complaint: str) -> None:
        end = clock.monotonic() + self.options.wait
        while not condition():
            self._heed(clock.monotonic())
            if clock.monotonic() >= end:
                refused = self.arm.refused_topics()
                detail = f" ({'; '.join(refused)})" if refused else ""
                raise StopRun(Reason.REFUSED, f"{complaint}{detail}.")
            clock.sleep(POLL)
