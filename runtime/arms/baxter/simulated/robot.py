"""Behaviour of the robot: enabling, modes, timeouts, gravity compensation, e-stop.

It knows nothing of ROS: `command`, `suppress` and the others come in, `joints`, `assembly` and `efforts` go
out, and `advance` runs the physics up to a time. So a front end may be this project's client or rospy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from diffpbd.runtime.arms.baxter.simulated.plant import STEP, Plant
from diffpbd.runtime.base.arrays import FloatArray

__all__ = ["Audit", "SimulatedBaxter"]

POSITION, VELOCITY, TORQUE, RAW_POSITION = 1, 2, 3, 4
SUPPRESS_TIMEOUT = 0.2  # s; the robot asks for more than 5 Hz
POSITION_GAINS = (900.0, 60.0)  # 1/s², 1/s; a critically damped 30 rad/s
VELOCITY_GAIN = 40.0  # 1/s
GRAVITY_LIKENESS = 0.15  # a torque this near to gravity, relative to it, is meant to hold the arm
DISABLED_BRAKE = 60.0  # N·m·s/rad; the disabled arm sinks slowly
CATCH_UP = 0.25  # s of physics that one call makes up for; after a longer pause the rest is left out


@dataclass
class Audit:
    """Commands that the robot was sent, judged independently of the client: everything but `commands` must stay 0."""

    commands: int = 0
    not_finite: int = 0
    over_limit: int = 0
    wrong_names: int = 0
    while_stopped: int = 0
    """Torque commands that came more than a message's time after the robot had announced that it stopped."""
    gravity_twice: int = 0
    """Torque commands carrying about the whole gravity while the robot's own compensation was on."""
    first_errors: list[float] = field(default_factory=list)
    """Largest difference [rad] of each first command after enabling from the state; inf if not a position."""
    modes: list[int] = field(default_factory=list)
    """Modes in the order in which they were entered."""


class SimulatedBaxter:
    """One simulated arm with the robot around it. Times are those of one clock [s], monotonic."""

    def __init__(self, plant: Plant, now: float, *, disable_on_timeout: bool = False) -> None:
        """`disable_on_timeout`: as older software does."""
        self.plant = plant
        self.disable_on_timeout = disable_on_timeout
        self.enabled = False
        self.stopped = False
        self.error = False
        self.estop_button = 0
        self.estop_source = 0
        self.timeout = 0.2
        self.mode = POSITION
        self.audit = Audit()
        self.push = np.zeros(plant.n)
        """External torque on the joints [N·m]."""
        self.torque = np.zeros(plant.n)
        self.command_log: list[tuple[float, int, list[float]]] | None = None
        self._target = plant.q.copy()
        self._commanded = float("-inf")
        self._suppressed = float("-inf")
        self._fresh = True
        self._stopped_at = float("-inf")
        self._time = now

    # What comes in

    def command(self, mode: int, names: Sequence[str], values: Sequence[float], now: float) -> None:
        """A joint command."""
        audit, plant = self.audit, self.plant
        audit.commands += 1
        numbers = np.asarray(values, dtype=np.float64)
        if self.command_log is not None:
            self.command_log.append((now, mode, numbers.tolist()))
        if set(names) != set(plant.joints) or len(names) != len(numbers):
            audit.wrong_names += 1
            return
        numbers = numbers[[list(names).index(joint) for joint in plant.joints]]
        if not np.isfinite(numbers).all():
            audit.not_finite += 1
            return
        if mode == TORQUE:
            audit.over_limit += int((np.abs(numbers) > plant.effort + 1e-9).any())
        elif mode in (POSITION, RAW_POSITION):
            audit.over_limit += int(((numbers < plant.lower) | (numbers > plant.upper)).any())
        if not self.enabled:
            audit.while_stopped += int(mode == TORQUE and now - self._stopped_at > 0.05)
            return
        if self._fresh:
            error = float(np.abs(numbers - plant.q).max()) if mode == POSITION else float("inf")
            audit.first_errors.append(error)
            self._fresh = False
        if mode == TORQUE and self.compensating(now):
            gravity = plant.compensation(plant.q)
            apart = float(np.linalg.norm(numbers - gravity))
            audit.gravity_twice += int(apart < GRAVITY_LIKENESS * float(np.linalg.norm(gravity)))
        if mode != self.mode or not audit.modes:
            audit.modes.append(mode)
        self.mode, self._target, self._commanded = mode, numbers, now

    def suppress(self, now: float) -> None:
        """One message of the suppress stream."""
        self._suppressed = now

    def compensating(self, now: float) -> bool:
        """Whether the robot's own gravity and spring compensation is on."""
        return now - self._suppressed > SUPPRESS_TIMEOUT

    def super_enable(self, on: bool) -> None:
        """Enable or disable the motors; a stopped robot does not enable."""
        if on and not (self.stopped or self.error):
            if not self.enabled:
                self._hold()
                self._fresh = True
            self.enabled = True
        elif not on:
            self._disable()

    def super_reset(self) -> None:
        """Clear a fault; a pressed button stays pressed."""
        if self.estop_button != 1:
            self.stopped = self.error = False
            self.estop_button = self.estop_source = 0

    def super_stop(self) -> None:
        """A software stop."""
        self.stopped, self.estop_source = True, 3
        self._disable()

    def press(self, down: bool) -> None:
        """The e-stop button."""
        self.estop_button = 1 if down else 3
        if down:
            self.stopped, self.estop_source = True, 1
            self._disable()

    def _disable(self) -> None:
        if self.enabled:
            self._stopped_at = self._time
        self.enabled = False

    def _hold(self) -> None:
        self.mode, self._target = POSITION, self.plant.q.copy()

    # Physics

    def advance(self, now: float) -> None:
        """Simulate up to `now` [s]."""
        self._time = max(self._time, now - CATCH_UP)
        while self._time + STEP <= now:
            self._time += STEP
            self._step()

    def _step(self) -> None:
        plant, now = self.plant, self._time
        mass, bias = plant.mass_and_bias()
        if not self.enabled:
            self.torque = np.zeros(plant.n)
            plant.advance(self.push, mass, bias, DISABLED_BRAKE)
            return
        if self.mode != POSITION and now - self._commanded > self.timeout:
            if self.disable_on_timeout:
                self._disable()
                return
            self._hold()
        own = self.compensating(now)
        torque = plant.compensation(plant.q) if own else np.zeros(plant.n)
        if self.mode == TORQUE:
            torque = torque + self._target
        elif self.mode == VELOCITY:
            torque = torque + mass @ (VELOCITY_GAIN * (self._target - plant.dq))
        else:
            stiffness, damping = POSITION_GAINS
            servo = mass @ (stiffness * (self._target - plant.q) - damping * plant.dq)
            # The position servo is stiff: it holds without the compensation, which would only help it.
            torque = plant.compensation(plant.q) + servo
        self.torque = np.clip(torque, -plant.effort, plant.effort)
        plant.advance(self.torque + self.push, mass, bias)

    # What goes out

    def joints(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Measured q [rad], dq [rad/s], effort [N·m]."""
        return self.plant.measured(self.torque)

    def assembly(self) -> tuple[bool, bool, bool, bool, int, int]:
        """ready, enabled, stopped, error, estop_button, estop_source."""
        ready = not (self.stopped or self.error)
        return ready, self.enabled, self.stopped, self.error, self.estop_button, self.estop_source

    def gravity_efforts(self) -> tuple[FloatArray, FloatArray]:
        """The robot's gravity model with and without springs [N·m], as it publishes them."""
        whole = self.plant.compensation(self.plant.q)
        return whole, whole + self.plant.spring(self.plant.q)
