"""A Franka arm behind libfranka, as the loop's `Arm`: torque without gravity, and rest where no torque is commanded.

The driver's own thread meets the robot every millisecond. It sends the torque that was set last, changes it by at most
`MAX_STEP` a millisecond, and ends the motion itself where none is set for its timeout. The driver keeps still for a second or
two where states stop coming, so their age is judged here, by the robot's clock and ours.

Position mode is the robot without a motion: its own controller holds it where it stands, and only there.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from diffpbd.runtime.arms.franka.driver import SILENCE, TIMEOUT, Driver
from diffpbd.runtime.arms.franka.words import flags, trouble_of
from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import RefusedError
from diffpbd.runtime.interface.controller import Mode
from diffpbd.runtime.interface.limb_state import LEAP, LimbState, stepped_ahead, stepped_back
from diffpbd.runtime.loop.arm import OWN_TIMEOUT, Clock, Fault, SystemClock
from diffpbd.runtime.model.limits import Limits
from diffpbd.runtime.records.messages import Header, JointState, Receipt

__all__ = ["STATES_TOPIC", "FrankaArm", "Listener"]

Listener = Callable[[JointState, Receipt], None]

REACH = 0.02
"""rad from the measured pose within which the robot without a motion counts as holding a commanded one."""
STOP_DAMPING = 0.1
"""Damping as part of effort limit over speed limit [N·m·s/rad]; the driver's stop begins at rest, after the loop's braking."""
BUSY = 0.001
"""s between two looks of the reading thread while a motion runs: then nothing is waited for."""
MOVING = "Move"
STATES_TOPIC = "/franka/joint_states"
"""Under which logs have the states."""


class FrankaArm:
    """An arm; `robot` is a `franky.Robot` that nothing else commands, `host` its address."""

    dropped = 0
    """The driver has one torque, the newest."""
    handed_back = OWN_TIMEOUT

    def __init__(
        self,
        robot: Any,
        host: str,
        joints: tuple[str, ...],
        limits: Limits,
        *,
        timeout: float = TIMEOUT,
        clock: Clock | None = None,
        listener: Listener | None = None,
    ) -> None:
        """`joints` and `limits` in the order of the generated robot; `timeout` [s] is the driver's patience, `listener` gets
        every new state as a message."""
        self.joints = joints
        self.limits = limits
        self.stale_after = 0.1
        self.clock: Clock = clock or SystemClock()
        self.rejected: Counter[str] = Counter()
        self._driver = Driver(robot, timeout)
        self._host = host
        self._listener = listener
        self._state: LimbState | None = None
        self._looked = self.clock.now()
        self._mode = ""
        self._errors: tuple[str, ...] = ()
        self._noted = ""
        self._controlled = False
        """Whether the robot has moved by our command."""
        self._newest = {True: float("-inf"), False: float("-inf")}
        """Stamps [s] of the last states that were waited for, and that were taken: two threads may meet in any order."""
        self._taking = threading.Lock()
        self._closing = threading.Event()
        self._reader = threading.Thread(target=self._read_idle, name="franka states", daemon=True)

    # States

    @property
    def state(self) -> LimbState | None:
        """The newest state; while a motion runs it is taken from the driver here, and never waited for."""
        if self._driver.commanded:
            self._take()
        return self._state

    def _read_idle(self) -> None:
        """Where a motion may have ended a read waits for the robot's next state, or a second if none comes: a thread reads."""
        while not (self._closing.is_set() or self._driver.dead):
            raw = self._driver.wait_for_state()
            if raw is None:
                self._closing.wait(BUSY)
                continue
            with self._taking:
                self._note(raw, waited=True)
            if self._driver.moving:
                self._closing.wait(BUSY)

    def _take(self) -> None:
        """The driver's newest state, unless another thread takes it just now."""
        if not self._taking.acquire(blocking=False):
            return
        try:
            raw = self._driver.read()
            if raw is not None:
                self._note(raw, waited=False)
        finally:
            self._taking.release()

    def _note(self, raw: Any, *, waited: bool) -> None:
        now = self.clock.now()
        looked, self._looked = self._looked, now
        milliseconds = int(raw.time.to_msec())
        header = Header(0, (milliseconds // 1000, milliseconds % 1000 * 10**6), "")
        stamp, last = header.time, self._state  # to the bit what a log gives back
        self._mode = raw.robot_mode.name
        self._errors = () if self._mode == MOVING else flags(raw.current_errors)
        self._noted = self._noted or trouble_of(self._mode, self._errors)
        back, self._newest[waited] = self._newest[waited] - stamp, stamp
        if back > 0.0:
            self._noted = self._noted or stepped_back(back)
        ahead = 0.0 if last is None else stamp - last.stamp - (now - last.received)
        if ahead > LEAP:
            self._noted = self._noted or stepped_ahead(ahead)
            return  # the next tick ends the run by this name, and not by a motion that is none
        if last is not None and stamp <= last.stamp:
            if stamp < last.stamp:
                self.rejected["stamp not newer than the last one"] += 1
            return
        # It came between the look before and this one; where, the robot's own clock says.
        received = now if last is None else min(max(last.received + stamp - last.stamp, looked), now)
        q, dq, effort = (np.array(values, dtype=np.float64) for values in (raw.q, raw.dq, raw.tau_J))
        measured = effort if np.isfinite(effort).all() else None
        self._state = LimbState(q, dq, measured, stamp, received, 0.0, self._host)
        if self._listener is not None:
            message = JointState(header, self.joints, q, dq, effort)
            self._listener(message, Receipt(STATES_TOPIC, self._host, received, message.encode()))

    # What the loop asks

    def open(self, rate: float) -> None:
        """Begin to read states; they come at 1 kHz, whatever `rate` [Hz] is."""
        self._reader.start()

    def close(self) -> None:
        """Read no longer; a motion that is still there is halted. Only a robot that has fallen silent is waited for."""
        self._closing.set()
        self._driver.close()
        if self._reader.is_alive():
            self._reader.join(SILENCE)

    def missing(self, *, suppressing: bool) -> str:
        """Names what has not come yet."""
        if self._state is not None:
            return ""
        fault = self._driver.fault
        return f"no state comes from the robot at {self._host}" + (f": {fault.text}" if fault else "")

    def fault(self) -> Fault | None:
        """Why the motion or the connection ended."""
        self._driver.look()
        return self._driver.fault

    def others(self) -> tuple[str, ...]:
        """None: the robot takes one connection at a time."""
        return ()

    def forget_trouble(self) -> None:
        """Forget what was noted."""
        self._noted = ""

    def trouble(self) -> str:
        """Reason not to move, or empty."""
        if self._mode == MOVING and not self._controlled:
            return "the robot is moving: another program commands it"
        return self._noted or self.unable()

    def unable(self) -> str:
        """Why the robot cannot obey right now."""
        if self._driver.fault is not None:
            return self._driver.fault.text
        return trouble_of(self._mode, self._errors) if self._mode else "its state is unknown"

    def request_enable(self) -> None:
        """Recover the robot from an error."""
        self._driver.recover()

    def set_timeout(self, seconds: float | None = None) -> None:
        """The driver's patience is fixed; a shorter one hands the arm back to the robot at once."""
        if seconds is not None and seconds < self._driver.timeout:
            self._driver.halt()

    def transmit(self, mode: Mode, values: FloatArray) -> None:
        """Set the torque [N·m] of the driver's motion, or end it: without one, the robot holds the pose at which it is."""
        driver = self._driver
        if driver.fault is not None:
            raise RefusedError(f"Not sent: {driver.fault.text}.")
        if mode is Mode.TORQUE:
            if driver.ending:
                raise RefusedError("Not sent: the torque motion was ended.")
            if not driver.moving:
                driver.begin()
                self._controlled = True
            driver.torque(values)
            return
        if self._state is None or not (np.abs(values - self._state.q) <= REACH).all():
            raise RefusedError(
                f"Not sent: the robot holds where it stands, and nowhere else (within {REACH:g} rad); lead it by hand."
            )
        if driver.commanded:
            driver.end(STOP_DAMPING * self.limits.effort / self.limits.speed)

    def suppress(self) -> None:
        """The robot's own gravity compensation cannot be switched off."""
        raise RefusedError("Not sent: this robot always compensates gravity itself; --gravity robot is its only owner.")
