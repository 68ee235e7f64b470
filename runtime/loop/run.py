"""The run: check, hold, control, and a clean stop on every way out.

1. check: connected, one robot, enabled, at rest, fresh state of every joint; nothing is sent.
2. hold: position mode at the measured pose; if the model compensates gravity, the suppress stream begins.
3. run: one supervisor tick a period, paced by the arm's clock; a missed tick is skipped.
4. stop: see `CleanStop`.

Commands and the suppress stream leave from one thread: if it stops, both do.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray, within
from diffpbd.runtime.base.errors import DiffpbdError, InputError, RefusedError
from diffpbd.runtime.base.options import option
from diffpbd.runtime.base.priority import punctual
from diffpbd.runtime.interface.controller import Away, Mode
from diffpbd.runtime.interface.limb_state import LimbState
from diffpbd.runtime.loop.arm import DISABLED, Arm
from diffpbd.runtime.loop.ending import HOLD_PERIOD, CleanStop
from diffpbd.runtime.loop.gate import GatedArm
from diffpbd.runtime.loop.recorder import BRAKE, START, YIELD, Recorder
from diffpbd.runtime.loop.reflexes import Reflex
from diffpbd.runtime.loop.stopping import Phase, Reason, Report, StopRequest, StopRun
from diffpbd.runtime.loop.supervisor import REST_SPEED, Decision, Supervisor
from diffpbd.runtime.records.messages import Header, Tick

__all__ = ["Run", "RunOptions"]

POLL = 0.01  # s between two looks while waiting
SUPPRESS_PERIOD = 0.02  # s; 50 Hz, ten times what the robot asks for
HOLDING_SHARE = 0.08
"""Share of a joint's effort limit by which the measured holding torque may differ from the model's gravity: above any
joint's friction (2 N·m at the shoulder), below a payload of half a kilogram at arm's length."""
PAUSE_LIMIT = 0.1
"""s; longest pause between two ticks beyond a period: half of the robot's command timeout, so it has not yet left
our mode."""
LATE_SHARE = 0.2
"""Share of periods that may always be missed; more adds to LATE_BUDGET."""
COMING = 3
"""Number of unusable messages since the last state from which their content is blamed, not their delay."""
LATE_BUDGET = 0.2
"""s of missed periods beyond that share that end the run."""
MISLED = (Reflex.SPEED, Reflex.POSITION, Reflex.TRACKING, Reflex.CONTACT, Reflex.POWER)
"""Reflexes that a wrong sensor can trigger at first; the stricter check of the stop distinguishes it."""
MOST = 60.0
"""s; longest hold or wait before a run."""
BRING_IN_FURTHER = 0.01
"""rad inside the soft limits to which it is moved: a servo does not stop exactly."""
BRING_IN_SPEED = 0.05
"""rad/s; speed at which an arm outside its soft limits is moved back in, on request."""


@dataclass(frozen=True)
class RunOptions:
    """`duration` [s] of the run phase (None: until asked to stop), `hold` [s] in position mode before it
    (a new publisher needs 0.24 s to be heard), `timeout` [s] after which the robot stops obeying, `wait` [s]
    for connections; `enable`: ask a disabled robot to enable; `allow_others`: run although another node
    publishes this arm's commands; `allow_mismatch`: run although the holding torques differ from the model's
    gravity; `bring_in`: move an arm that stands outside its soft limits back in."""

    duration: float | None = option("Default: until Ctrl-C.", None, span=(0.0, 1e7), open=True, unit="s", metavar="S")
    hold: float = 0.4
    timeout: float = 0.2
    wait: float = 5.0
    enable: bool = option("Enable the robot if it is disabled.", False)
    allow_others: bool = option("Run even if another node publishes this arm's commands.", False)
    allow_mismatch: bool = option("Run even if description or holding torque differ.", False)
    bring_in: bool = option("Slowly move an arm that is at or beyond a joint limit back inside.", False)

    def __post_init__(self) -> None:
        lasts = self.duration is None or self.duration > 0.0
        if not (0.3 <= self.hold <= MOST and 0.05 <= self.timeout <= 0.5 and 0.0 < self.wait <= MOST and lasts):
            raise InputError(
                f"Run options: expected a hold from 0.3 to {MOST:g} s, a timeout from 0.05 to 0.5 s, a wait of at most "
                f"{MOST:g} s and a duration above 0 s, found {self}."
            )


class Run:
    """One run of a supervisor on an arm; `execute` once."""

    def __init__(
        self,
        arm: Arm,
        supervisor: Supervisor,
        options: RunOptions,
        *,
        recorder: Recorder | None = None,
        stop: StopRequest | None = None,
        observer: Callable[[Tick], None] | None = None,
    ) -> None:
        """`observer` gets every tick in the loop's thread and must be quick."""
        self.arm = arm
        self.clock = arm.clock
        self.supervisor = supervisor
        self.options = options
        self.stop = stop or StopRequest()
        self.report = Report()
        self.phase = Phase.CHECK
        self.time = 0.0
        """[s] Since the run phase began."""
        self._gated = GatedArm(arm, supervisor.step)
        self._recorder = recorder
        self._observer = observer
        self._suppress_due = float("-inf")
        self._began = 0.0
        self._origin = 0.0
        self._controlled = False
        self._late = 0.0
        self._taken: LimbState | None = None
        self._unusable: dict[str, int] = {}
        """Unusable messages up to the newest state, by reason."""

    def execute(self) -> Report:
        """Run all phases and, whatever happens, the clean stop; only faults of this program are raised."""
        report = self.report
        failure: BaseException | None = None
        with self.stop.signals(), punctual():
            try:
                self.arm.open(1.0 / self.supervisor.settings.period)
                self._check()
                self._hold()
                self._run()
            except StopRun as stopped:
                report.reason, report.text, report.reflex = stopped.reason, stopped.text, stopped.reflex
            except RefusedError as error:
                reason = Reason.REFUSED if self.phase is Phase.CHECK else Reason.GATE
                report.reason, report.text = reason, str(error)
            except DiffpbdError as error:
                reason = Reason.REFUSED if self.phase in (Phase.CHECK, Phase.HOLD) else Reason.FAILED
                report.reason, report.text = reason, str(error)
            except KeyboardInterrupt:
                report.reason, report.text = Reason.INTERRUPTED, "KeyboardInterrupt"
            except BaseException as error:
                report.reason, report.text = Reason.FAILED, f"{type(error).__name__}: {error}"
                failure = error
            report.phase, report.remark = self.phase, self.supervisor.beside.words if self._controlled else ""
            self._clean_stop()
        report.away = self._away()
        report.sent = self._gated.sent
        report.dropped = self.arm.dropped
        report.counts.update(self.supervisor.counts)
        report.rejected.update(self.arm.rejected)
        if failure is not None:
            raise failure
        return report

    # Phases

    def _check(self) -> None:
        arm, suppressing = self.arm, self.supervisor.models_gravity
        self._until(lambda: arm.missing(suppressing=suppressing))
        arm.forget_trouble()
        self._heed()
        trouble = arm.trouble()
        if self.options.enable and trouble.startswith(DISABLED) and arm.unable() == trouble:
            self.phase = Phase.ENABLE
            self._until(lambda: self._enabling() and "the robot does not enable")
            arm.forget_trouble()
            trouble = arm.trouble()
        if trouble:
            raise StopRun(Reason.REFUSED, f"{trouble}.")

    def _enabling(self) -> bool:
        """Request enabling; returns whether to wait on, also for an arm that sank to come to rest."""
        if self.arm.unable():
            self.arm.request_enable()
            return True
        state = self.arm.state
        return state is None or not bool((np.abs(state.dq) <= REST_SPEED).all())

    def _hold(self) -> None:
        """The first command after every enabling is the measured state."""
        pose, supervisor = self._state(), self.supervisor
        reason = supervisor.refusal(pose.q, pose.dq, outside=self.options.bring_in)
        if reason:
            raise StopRun(Reason.REFUSED, reason)
        margin = supervisor.settings.reflexes.margin
        limits = self.arm.limits
        target = within(pose.q, limits.lower + margin, limits.upper - margin)
        if (target != pose.q).any():
            margin += BRING_IN_FURTHER
            target = within(pose.q, limits.lower + margin, limits.upper - margin)
        if (target == pose.q).all():
            supervisor.start(pose.q, pose.dq)  # refuses an invalid start before anything is sent
        if self._recorder is not None:
            self._recorder.open()  # a run that is refused leaves no trace
        self.phase = Phase.HOLD
        self.arm.set_timeout(self.options.timeout)
        lead = float(np.abs(target - pose.q).max()) / BRING_IN_SPEED
        efforts, begin = [pose.effort], self.clock.now()
        while (elapsed := self.clock.now() - begin) < self.options.hold + lead:
            self._heed()
            self._suppress()
            way = BRING_IN_SPEED * elapsed
            position = pose.q + within(target - pose.q, -way, way)
            state = self._state()
            self._gated.send(Mode.POSITION, position, state, model_gravity=False)
            if elapsed >= lead + 0.5 * self.options.hold:
                efforts.append(state.effort)
            self.clock.sleep(HOLD_PERIOD)
        if supervisor.models_gravity and not self.options.allow_mismatch:
            supervisor.start(target)  # for the holding torque
            self._compare_torque([effort for effort in efforts[1:] if effort is not None])

    def _compare_torque(self, efforts: list[FloatArray]) -> None:
        """Compare measured holding torques with the model, which would otherwise push the arm when it takes over."""
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
        clock, period = self.clock, self.supervisor.settings.period
        state = self._state()
        self._origin, age = state.stamp, state.age(clock.now())
        self.supervisor.start(state.q, state.dq, age)
        finished: Callable[[float], bool] = getattr(self.supervisor.controller, "finished", lambda time: False)
        self._note(0.0, state, None, age=age)
        self.phase = Phase.RUN
        self._began = due = last = clock.now()
        while True:
            now = clock.now()
            if now < due:
                clock.sleep(due - now)
                now = clock.now()
            late = now - last - period
            if late > PAUSE_LIMIT:
                raise StopRun(Reason.PAUSED, f"this program did not run for {late:.3f} s")
            last = now
            if self.options.duration is not None and now - self._began >= self.options.duration:
                return
            if finished(now - self._began):
                return
            self._tick(now, due)
            skipped = int((clock.now() - due) / period)
            self._account(skipped, period)
            due += (skipped + 1) * period

    def _account(self, skipped: int, period: float) -> None:
        """End the run if too many deadlines are missed."""
        self.report.overruns += skipped
        self._late = max(0.0, self._late + (skipped - LATE_SHARE * (skipped + 1)) * period)
        if self._late > LATE_BUDGET:
            raise StopRun(
                Reason.REFLEX,
                f"more than {LATE_SHARE:.0%} of the periods were missed, by {self._late:.2f} s in all",
                Reflex.LATENESS,
            )  # fmt: skip

    def _tick(self, now: float, due: float) -> None:
        report, time = self.report, now - self._began
        report.ticks += 1
        self.time = time
        self._heed()
        state = self._state()
        decision = self.supervisor.tick(time, state.stamp - self._origin, state.q, state.dq, state.effort)
        if decision.breach is not None:
            self._note(time, state, decision)
            reflex, text = decision.breach.reflex, decision.breach.text
            raise StopRun(Reason.BAD_STATE if reflex is Reflex.STATE else Reason.REFLEX, text, reflex)
        self._suppress()
        self._controlled = True
        done = self._gated.send(
            decision.mode, decision.command, state, model_gravity=self.supervisor.models_gravity
        )  # fmt: skip
        report.lateness.add(now - due)
        report.work.add(done - now)
        report.latency.add(done - due)
        report.age.add(state.age(done))
        self._note(time, state, decision, sent=True)

    def _note(
        self, time: float, state: LimbState, decision: Decision | None, *, sent: bool = False, age: float | None = None
    ) -> None:
        """Pass a tick to log and observer; without a decision it is the controller's start. `age`: None: now."""
        if self._recorder is None and self._observer is None:
            return
        none = np.empty(0)
        seconds = math.floor(state.stamp)
        note = START if decision is None else decision.stop
        if decision is not None and self.phase is Phase.STOP:
            note = YIELD if decision.yielding else BRAKE
        tick = Tick(
            header=Header(self.report.ticks, (seconds, round(1e9 * (state.stamp - seconds))), ""),
            time=time, age=state.age(self.clock.now()) if age is None else age, name=self.arm.joints,
            position=state.q, velocity=state.dq,
            mode=int(decision.mode) if decision is not None and sent else 0,
            status=0 if decision is None else int(decision.status),
            effort=none if state.effort is None else state.effort,
            gravity=none if decision is None else decision.gravity,
            law=none if decision is None else decision.law,
            command=none if decision is None else decision.command,
            note=note,
        )  # fmt: skip
        if self._recorder is not None:
            self._recorder.tick(tick)
        if self._observer is not None:
            self._observer(tick)

    def _clean_stop(self) -> None:
        """The clean stop; never raises."""
        before, self.phase = self.phase, Phase.STOP
        report = self.report
        try:
            if self._gated.sent:
                torque = self._controlled and self.supervisor.controller.mode is Mode.TORQUE
                person = report.reflex is not None and report.reflex.may_be_a_person
                stop = CleanStop(
                    self._gated, self.supervisor, torque=torque, hold=self.options.timeout,
                    yielding=person and self.supervisor.settings.reflexes.yielding,
                )  # fmt: skip
                ending = stop.execute(
                    lambda: self.clock.now() - self._began, self._origin, self._suppress,
                    lambda time, state, decision: self._note(time, state, decision, sent=True),
                )  # fmt: skip
                report.ending = f"{ending} (after phase {before.value})"
                cause = stop.contradiction
                if cause is not None and report.reflex in MISLED:
                    report.text = f"{cause.text} (at first seen as {report.reflex.name}: {report.text})"
                    report.reflex = cause.reflex
                    report.reason = Reason.BAD_STATE if cause.reflex is Reflex.STATE else Reason.REFLEX
        except BaseException as error:  # also an exception of Ctrl-C by a foreign handler
            self.report.ending = f"the robot's own timeout ({type(error).__name__}: {error})"
        self.arm.close()
        self.phase = Phase.DONE

    # Helpers

    def _away(self) -> dict[str, Any] | None:
        """How far the arm is from where the law was to bring it, at the last state that the law was given."""
        away: Callable[[float, FloatArray], Away | None] | None = getattr(self.supervisor.controller, "away", None)
        if away is None or self._taken is None or not self._controlled:
            return None
        if (found := away(self.time, self._taken.q)) is None:
            return None
        of = "the tip" if found.joint is None else self.arm.joints[found.joint]
        return {"of": of, "distance": found.distance, "unit": found.unit, "aim": found.aim}

    def _heed(self) -> None:
        """End the phase for any reason other than the state itself."""
        if self.stop.text:
            raise StopRun(Reason.INTERRUPTED, self.stop.text)
        early = self.phase in (Phase.CHECK, Phase.ENABLE)
        fault = self.arm.fault()
        if fault is not None and not (early and fault.reason is Reason.LOST_ROBOT):  # `missing` waits for that
            raise StopRun(fault.reason, fault.text)
        others = ", ".join(self.arm.others())
        if others and not self.options.allow_others:
            raise StopRun(Reason.REFUSED if early else Reason.ROBOT, f"this arm is also commanded by {others}")
        if self._recorder is not None and self._recorder.failure:
            raise StopRun(Reason.LOG_FAILED, self._recorder.failure)
        if self.phase in (Phase.HOLD, Phase.RUN):
            trouble = self.arm.trouble()
            if trouble:
                raise StopRun(Reason.ROBOT, trouble)

    def _state(self) -> LimbState:
        """The newest state, or the end of the phase if it is old."""
        state, now = self.arm.state, self.clock.now()
        if state is not self._taken:
            self._taken, self._unusable = state, dict(self.arm.rejected)
        if state is None:
            raise StopRun(Reason.STALE_STATE, "the arm's state was never seen")
        age = state.age(now)
        if age <= self.arm.stale_after:
            return state
        since = Counter(self.arm.rejected) - Counter(self._unusable)
        if since.total() >= COMING:  # not their age is wrong
            why = "; ".join(f"{reason} ({count} messages)" for reason, count in since.most_common(2))
            raise StopRun(Reason.BAD_STATE, f"no joint state could be used for {age:.3f} s: {why}", Reflex.STATE)
        raise StopRun(Reason.STALE_STATE, f"the arm's state is {age:.3f} s old")

    def _suppress(self) -> None:
        now = self.clock.now()
        if self.supervisor.models_gravity and now >= self._suppress_due:
            self._gated.suppress()
            self._suppress_due = now + SUPPRESS_PERIOD

    def _until(self, lacking: Callable[[], str | bool]) -> None:
        """Wait until `lacking` is empty; after `wait` seconds its words refuse the run."""
        end = self.clock.now() + self.options.wait
        while text := lacking():
            self._heed()
            if self.clock.now() >= end:
                raise StopRun(Reason.REFUSED, f"{text}.")
            self.clock.sleep(POLL)
