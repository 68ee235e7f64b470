"""libfranka behind the few verbs that an arm needs: one torque motion at a time, and one caller at a time without one."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from diffpbd.runtime.arms.franka.words import fault_of
from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import RefusedError
from diffpbd.runtime.loop.arm import Fault
from diffpbd.runtime.loop.stopping import Reason

__all__ = ["MAX_STEP", "SILENCE", "TIMEOUT", "Driver"]

MAX_STEP = 0.999
"""N·m by which the driver lets a torque change in a millisecond: the robot ends a motion at more than 1."""
TIMEOUT = 0.05
"""s without a new torque after which the driver ends the motion."""
UNFILTERED = 1000.0
"""Hz; the driver's filter is off from here on. Its default of 100 Hz lags behind by 1.6 ms."""
STOP_RAMP, STOP_TIME = 0.02, 0.03
"""s in which the driver's stop takes back the torque that the loop's braking left, and after which the robot holds by itself:
its damping alone would let an arm sink whose payload the robot does not know."""
TURN = 0.05
"""s to wait for another caller, who waits for the robot's next state: a millisecond, or a second where none comes."""
SILENCE = 2.0
"""s after which the driver itself gives up waiting for a robot."""
HALT_WAIT = 0.2
"""s for a robot to acknowledge a halt; one that does not is left to its own watchdog."""


class Driver:
    """`robot` is a `franky.Robot` that nothing else commands; `timeout` [s] is how long it holds a torque.

    `fault` is why a motion or the connection ended; `dead`: nothing will come any more.
    """

    def __init__(self, robot: Any, timeout: float) -> None:
        self._robot = robot
        self.timeout = timeout
        self.fault: Fault | None = None
        self.dead = False
        self.ending = False
        """Whether the driver's own stop runs."""
        self._motion: Any = None
        self._turn = threading.Lock()
        self._wanted = False
        self._halting: threading.Thread | None = None

    @property
    def moving(self) -> bool:
        """Whether a motion runs, as far as is known."""
        return self._motion is not None

    @property
    def commanded(self) -> bool:
        """Whether a motion runs that is not being ended."""
        return self._motion is not None and not self.ending

    def read(self) -> Any:
        """The newest state, or None where the driver raises, which `fault` tells. Without a motion it is waited for."""
        if self.dead:
            return None
        try:
            return self._robot.state
        except Exception as error:
            self._broken(error)
            return None

    def wait_for_state(self) -> Any:
        """The next state of a robot that no torque moves, or None where one does or another caller has or wants a turn."""
        if self._wanted or self.commanded:
            return None
        with self._turn:
            self.look()
            return None if self.commanded else self.read()

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        """Nobody else talks to a driver without a motion in this context; a RefusedError if that does not end."""
        self._wanted = True
        try:
            if not self._taken():
                raise RefusedError("Not sent: the robot's states stopped coming.")
            try:
                yield
            finally:
                self._turn.release()
        finally:
            self._wanted = False

    def _taken(self) -> bool:
        return self._turn.acquire(timeout=TURN)

    def begin(self) -> None:
        """Start the torque motion, with none yet."""
        import franky

        motion = franky.SimpleTorqueMotion(signal_timeout=self.timeout, max_delta_tau=MAX_STEP)
        with self.turn():
            try:
                self._robot.move(motion, asynchronous=True, cutoff_frequency=UNFILTERED)
            except Exception as error:
                self._broken(error)
                raise RefusedError(f"Not sent: {fault_of(error).text}.") from None
            self._motion = motion

    def torque(self, values: FloatArray) -> None:
        """Sets the torque that the motion sends from its next millisecond on [N·m], without gravity."""
        motion = self._motion
        if motion is not None:
            motion.set_torque(values)

    def end(self, damping: FloatArray) -> None:
        """Let the driver damp [N·m·s/rad] what is left of the motion and finish it."""
        import franky

        stop = franky.TorqueStopMotion(
            damping=damping, ramp_duration=STOP_RAMP, max_duration=STOP_TIME, max_delta_tau=MAX_STEP
        )
        self.ending = True
        try:
            self._robot.move(stop, asynchronous=True, cutoff_frequency=UNFILTERED)
        except Exception as error:
            self._broken(error)

    def look(self) -> None:
        """Notice that a motion is over: as it should where it was ended, and with a fault where not."""
        if self._motion is None:
            return
        try:
            if not self._robot.poll_motion():
                return
            if not self.ending:
                self.fault = self.fault or Fault(Reason.ROBOT, "the driver ended the motion without a reason")
            self._motion, self.ending = None, False
        except Exception as error:
            self._broken(error)

    def halt(self) -> None:
        """End the motion now: the robot brakes and holds by its own sensors. A connection that hangs is not waited for."""
        if not self.commanded:
            return
        robot, self._motion = self._robot, None

        def work() -> None:
            with contextlib.suppress(Exception):
                robot.stop()
            with contextlib.suppress(Exception):
                robot.poll_motion()

        self._halting = threading.Thread(target=work, name="halt", daemon=True)
        self._halting.start()
        self._halting.join(HALT_WAIT)

    def close(self) -> None:
        """Halt what runs, and wait for it: a thread that comes back from the driver into an ended Python aborts it."""
        self.halt()
        if self._halting is not None:
            self._halting.join(SILENCE)

    def recover(self) -> None:
        """Ask the robot to leave its error; `fault` tells where it does not."""
        with self.turn():
            why = "Desk says more"
            try:
                if self._robot.recover_from_errors():
                    self.fault = None
                    return
            except Exception as error:
                why = f"{type(error).__name__}: {' '.join(str(error).split())}"
            self.fault = Fault(Reason.ROBOT, f"the robot does not recover from its error ({why})")

    def _broken(self, error: Exception) -> None:
        """The driver raised: the motion is over, and perhaps the connection."""
        fault = fault_of(error)
        self.fault = self.fault or fault
        self.dead = self.dead or fault.reason is Reason.LOST_ROBOT
        self._motion, self.ending = None, False
