"""A seven-joint arm and the robot around it that share no line with the project's simulated one.

Rigid-body dynamics are pinocchio's, integrated by linearised implicit Euler with friction in the matrix; figures of
friction, spring and sensors are written out here. It knows nothing of ROS, and its clock is whatever `advance` is told.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio

HELD, SPEED_MODE, EFFORT, RAW = 1, 2, 3, 4  # the robot's numbers of its command modes
DT = 1e-3
COULOMB = np.array([0.8, 0.8, 0.6, 0.6, 0.2, 0.2, 0.15])  # N·m, shoulder to wrist
VISCOUS = np.array([0.7, 0.7, 0.5, 0.5, 0.1, 0.1, 0.1])  # N·m·s/rad
SPRING, SPRING_REST, SPRUNG = 24.0, -1.514, "_s1"  # N·m/rad, rad
SLIDING = 2e-3  # rad/s below which Coulomb friction is viscous
ENCODER, GAUGE = 3.835e-4, 4e-3  # rad, N·m
SERVO = (400.0, 40.0)  # 1/s², 1/s: critical
UNSUPPRESSED = 0.2  # s after which the robot adds gravity again
SINKING = 60.0  # N·m·s/rad of a disabled arm
ANNOUNCED = 0.05  # s in which a stop has reached whoever listens


class LoneBaxter:
    """Motors, modes, command timeout, own gravity compensation, e-stop; and an account of what it was told."""

    coulomb = COULOMB

    def __init__(self, urdf: str | Path, now: float = 0.0) -> None:
        self._model = pinocchio.buildModelFromUrdf(str(urdf))
        self._data = self._model.createData()
        self.joints = tuple(self._model.names)[1:]
        self.speed, self.effort = np.array(self._model.velocityLimit), np.array(self._model.effortLimit)
        self.lower = np.array(self._model.lowerPositionLimit)
        self.upper = np.array(self._model.upperPositionLimit)
        self._below, self._along = np.tril_indices(len(self.joints), -1), np.diag_indices(len(self.joints))
        self._sprung = np.array([SPRING if name.endswith(SPRUNG) else 0.0 for name in self.joints])
        self.q, self.dq = np.zeros(len(self.joints)), np.zeros(len(self.joints))
        self.push, self.torque = np.zeros_like(self.q), np.zeros_like(self.q)
        self.enabled = self.stopped = False
        self.button = self.source = 0
        self.timeout, self.mode, self.target = 0.2, HELD, self.q.copy()
        self.time, self._heard, self._suppressed, self._ended = now, -math.inf, -math.inf, -math.inf
        self.log: list[tuple[float, int, list[float]]] | None = None
        self.renew()

    def renew(self) -> None:
        """A fresh account."""
        faults = ("commands", "not_finite", "over_limit", "wrong_names", "while_stopped", "gravity_twice")
        self.account: dict[str, Any] = {**dict.fromkeys(faults, 0), "first_errors": [], "modes": []}
        self.account |= {"fastest": 0.0, "beyond": -math.inf}  # share of a speed limit; rad outside the positions
        self._unheard = True

    # Told

    def command(self, mode: int, names: Sequence[str], values: Sequence[float], now: float) -> None:
        account = self.account
        account["commands"] += 1
        if self.log is not None:
            self.log.append((now, mode, list(values)))
        if sorted(names) != sorted(self.joints) or len(values) != len(names):
            account["wrong_names"] += 1
            return
        by_name = dict(zip(names, values, strict=True))
        told = np.array([by_name[joint] for joint in self.joints])
        if not all(map(math.isfinite, told.tolist())):
            account["not_finite"] += 1
            return
        if mode == EFFORT:
            excessive = bool((np.abs(told) > self.effort + 1e-9).any())
            account["while_stopped"] += int(not self.enabled and now > self._ended + ANNOUNCED)
        else:
            excessive = mode in (HELD, RAW) and bool(((told < self.lower) | (told > self.upper)).any())
        account["over_limit"] += int(excessive)
        if not self.enabled:
            return
        if self._unheard:
            account["first_errors"].append(float(np.abs(told - self.q).max()) if mode == HELD else math.inf)
            self._unheard = False
        if mode == EFFORT and self.compensating(now):
            own = self.compensation()
            account["gravity_twice"] += int(np.linalg.norm(told - own) < 0.15 * np.linalg.norm(own))
        if account["modes"][-1:] != [mode]:
            account["modes"].append(mode)
        self.mode, self.target, self._heard = mode, told, now

    def suppress(self, now: float) -> None:
        self._suppressed = now

    def enable(self, on: bool) -> None:
        if not on:
            self._end()
        elif not (self.stopped or self.enabled):
            self.enabled = self._unheard = True
            self._hold()

    def reset(self) -> None:
        if self.button != 1:
            self.stopped, self.button, self.source = False, 0, 0

    def stop(self, source: int = 3) -> None:
        self.stopped, self.source = True, source
        self._end()

    def press(self, down: bool) -> None:
        self.button = 1 if down else 3
        if down:
            self.stop(1)

    def place(self, q: Sequence[float]) -> None:
        """Put it there [rad], at rest."""
        self.q, self.dq = np.array(q, dtype=float), np.zeros_like(self.q)
        self._hold()

    def _end(self) -> None:
        self._ended = self.time if self.enabled else self._ended
        self.enabled = False

    def _hold(self) -> None:
        self.mode, self.target = HELD, self.q.copy()

    # Physics

    def compensating(self, now: float) -> bool:
        return now > self._suppressed + UNSUPPRESSED

    def gravity(self) -> np.ndarray:
        return np.array(pinocchio.computeGeneralizedGravity(self._model, self._data, self.q))

    def inertia(self) -> np.ndarray:
        """The mass matrix [kg·m²]."""
        mass = np.array(pinocchio.crba(self._model, self._data, self.q))
        mass[self._below] = mass.T[self._below]
        return mass

    def compensation(self) -> np.ndarray:
        """Against gravity and spring [N·m]."""
        return self.gravity() + self._sprung * (self.q - SPRING_REST)

    def advance(self, now: float) -> None:
        """Up to `now`; after a pause of the machine the rest is left out."""
        self.time = max(self.time, now - 0.25)
        while self.time + DT <= now + 1e-9:
            self.time += DT
            self._step()

    def _step(self) -> None:
        if self.enabled and self.mode != HELD and self.time > self._heard + self.timeout:
            self._hold()
        model, data = self._model, self._data
        mass = self.inertia()
        bias = pinocchio.rnea(model, data, self.q, self.dq, np.zeros_like(self.q)) + self._sprung * (
            self.q - SPRING_REST
        )
        self.torque = np.minimum(np.maximum(self._motors(mass), -self.effort), self.effort)
        rubbing = VISCOUS + COULOMB / np.maximum(np.abs(self.dq), SLIDING) + (0.0 if self.enabled else SINKING)
        gain = self.torque + self.push - bias - rubbing * self.dq
        mass[self._along] += DT * rubbing
        self.dq = self.dq + DT * np.linalg.solve(mass, gain)
        self.q = self.q + DT * self.dq
        out = np.maximum(self.lower - self.q, self.q - self.upper)
        self.account["fastest"] = max(self.account["fastest"], float(np.max(np.abs(self.dq) / self.speed)))
        self.account["beyond"] = max(self.account["beyond"], float(out.max()))
        if out.max() > 0.0:  # a hard stop
            self.q = np.minimum(np.maximum(self.q, self.lower), self.upper)
            self.dq[out > 0.0] = 0.0

    def _motors(self, mass: np.ndarray) -> np.ndarray:
        if not self.enabled:
            return np.zeros_like(self.q)
        own = self.compensation() if self.mode == HELD or self.compensating(self.time) else np.zeros_like(self.q)
        if self.mode == EFFORT:
            return own + self.target
        wanted = SERVO[0] * (self.target - self.q) - SERVO[1] * self.dq
        return own + mass @ (SERVO[1] * (self.target - self.dq) if self.mode == SPEED_MODE else wanted)

    # Shown

    def measured(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q [rad], dq [rad/s], effort [N·m] by its sensors."""
        return ENCODER * np.round(self.q / ENCODER), self.dq.copy(), GAUGE * np.round(self.torque / GAUGE)

    def assembly(self) -> tuple[bool, bool, bool, bool, int, int]:
        """ready, enabled, stopped, error, estop_button, estop_source."""
        return not self.stopped, self.enabled, self.stopped, False, self.button, self.source
