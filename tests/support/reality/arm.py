"""An arm that is not its model: links, motors, gears, friction, sensors and delays, in lock-step."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from support.reality.differences import Differences, by_joint
from support.reality.joints import Joints
from support.reality.kinds import kind_of
from support.reality.links import Links

STEP = 1e-3
"""s of the plant; gears and friction resolve more (`joints.c`)."""
LEAST_ROTOR = 2e-3
"""kg·m²; an elastic gear has a rotor on its other side."""
TURNS = 20.0
"""Periods of the torque ripple in a turn of the joint."""


class State(NamedTuple):
    """A message: when it was measured [s], positions, speeds, torques."""

    stamp: float
    q: np.ndarray
    dq: np.ndarray
    effort: np.ndarray


class RealArm:
    """`robot` is one of `KINDS` or a URDF. States are measured every `period` [s]; `q`, `dq` (n,) are the truth of the links,
    `time` [s] the bench's clock. `apply` alone lets time pass."""

    def __init__(self, robot: str | Path, differences: Differences | None = None, period: float = STEP) -> None:
        self.kind, self.differences, self.period = kind_of(robot), differences or Differences(), period
        d = self.differences
        self.links = Links(self.kind.urdf(), self.kind.hand, d)
        self.joints, self.n = self.links.joints, self.links.n
        self.lower, self.upper, self.speed, self.effort = (
            self.links.lower, self.links.upper, self.links.speed, self.links.effort,
        )  # fmt: skip
        self.gears = self._geared()
        self.random = np.random.default_rng([d.seed, 7])
        self._gain, self._zero = by_joint(d.gain, self.n), by_joint(d.zero, self.n)
        self._phase = self.random.uniform(0.0, 2.0 * np.pi, self.n)
        self._spring = np.array([self.kind.spring if self._sprung(name) else 0.0 for name in self.joints])
        self.external = np.zeros(self.n)
        """Torques [N·m] on the links that no motor gives."""
        self._force: np.ndarray | None = None
        self._wall: tuple[float, np.ndarray, np.ndarray] | None = None
        self.time = 0.0
        self.place(np.array(self.kind.ready[: self.n]))

    def _sprung(self, name: str) -> bool:
        return bool(self.kind.sprung) and name.endswith(self.kind.sprung)

    def _geared(self) -> Joints:
        d, n = self.differences, self.n
        gears = Joints(n)
        friction = by_joint(d.friction, n)
        gears.coulomb[:] = friction * by_joint(self.kind.coulomb, n)
        gears.breakaway[:], gears.stribeck[:] = d.breakaway * gears.coulomb, d.stribeck
        self._viscous = friction * by_joint(self.kind.viscous, n)
        gears.viscous[:] = self._viscous
        gears.rotor[:] = by_joint(d.rotor, n)
        gears.lower[:], gears.upper[:] = self.lower, self.upper
        if d.stiffness is not None:
            gears.elastic = True
            gears.rotor[:] = np.maximum(gears.rotor, LEAST_ROTOR)
            gears.stiffness[:] = by_joint(d.stiffness, n)
            mass, _ = self.links.at(np.array(self.kind.ready[:n]), np.zeros(n))
            gears.loss[:] = 2.0 * d.gear_damping * np.sqrt(gears.stiffness * np.diag(mass))
        return gears

    # Time

    def place(self, q: Sequence[float] | np.ndarray) -> None:
        """Put it there [rad], at rest, where its motors bear the weight until the first torque comes."""
        gears = self.gears
        gears.q[:], gears.dq[:], gears.dtheta[:], gears.rubbed[:] = q, 0.0, 0.0, 0.0
        self._before = np.zeros(self.n)
        self.drive(self.holding())
        gears.theta[:] = gears.q
        gears.theta[:] += self.bent()
        self._shown = np.zeros(self.n)
        self._told: deque[tuple[float, np.ndarray]] = deque()
        self._states: deque[tuple[float, State]] = deque()
        self._due = self.time
        self._publish()
        self._states[0] = (self.time, self._states[0][1])  # the first one is there

    def apply(self, torque: np.ndarray, dt: float) -> None:
        """The motors are told `torque` [N·m], and `dt` [s] pass."""
        self.tell(torque)
        end = self.time + dt
        while self.time + STEP <= end + 1e-9:
            self.advance()
            if self.time >= self._due - 1e-9:
                self._publish()

    def tell(self, torque: np.ndarray) -> None:
        """The motors get it after `command_delay`."""
        self._told.append((self.time + self.differences.command_delay, np.array(torque, dtype=float)))

    def drive(self, torque: np.ndarray, damping: np.ndarray | float = 0.0) -> None:
        """Set what the motors give from now on [N·m], within their limits, with a `damping` [N·m·s/rad] of the drive's own."""
        self.driven = np.minimum(np.maximum(torque, -self.effort), self.effort)
        self.gears.viscous[:] = self._viscous + damping

    def advance(self) -> None:
        """One STEP with what the motors have been told by now."""
        while self._told and self._told[0][0] <= self.time + 1e-9:
            self.drive(self._told.popleft()[1])
        gears = self.gears
        given = self.driven * self._gain
        if self.differences.ripple:
            given = given * (1.0 + self.differences.ripple * np.sin(TURNS * gears.theta + self._phase))
        gears.torque[:] = given
        halfway = gears.q + 0.5 * STEP * gears.dq
        mass, bias = self.links.at(halfway, gears.dq + 0.5 * STEP * self._before)
        gears.force[:] = self.external - bias - self._spring * (halfway - self.kind.rest)
        self._touch()
        gears.mass[:] = mass
        old = gears.dq.copy()
        gears.advance(STEP)
        self._before = (gears.dq - old) / STEP
        self.time += STEP

    def _touch(self) -> None:
        if self._force is None and self._wall is None:
            return
        jacobian = self.links.jacobian()
        total = np.zeros(3) if self._force is None else self._force.copy()
        if self._wall is not None:
            stiffness, at, normal = self._wall
            self.wall_force = max(0.0, stiffness * float(normal @ (at - self.links.place())))
            total += self.wall_force * normal
        self.gears.force[:] += jacobian.T @ total

    # What acts on it

    def push(self, force: Sequence[float] | np.ndarray) -> None:
        """At the hand [N], in the base's frame, until another one."""
        self._force = np.array(force, dtype=float) if np.any(force) else None

    def wall(self, stiffness: float, at: Sequence[float], normal: Sequence[float] = (-1.0, 0.0, 0.0)) -> None:
        """A plane through `at` [m] that pushes the hand along `normal` by `stiffness` [N/m] of its depth."""
        self.wall_force = 0.0
        self._wall = (stiffness, np.array(at, dtype=float), np.array(normal) / np.linalg.norm(normal))

    def carry(self, mass: float) -> None:
        """From now on the load has this mass [kg]."""
        self.links.carry(mass)

    # Sensors

    def state(self) -> State:
        """The newest one that has arrived."""
        while len(self._states) > 1 and self._states[1][0] <= self.time + 1e-9:
            self._states.popleft()
        return self._states[0][1]

    def _publish(self) -> None:
        d = self.differences
        late = d.state_delay + d.jitter * self.random.random()
        arrival = max(self.time + late, self._states[-1][0] if self._states else -math.inf)
        stamp = self.time + d.jitter * (self.random.random() - 0.5)
        self._states.append((arrival, State(stamp, *self.measured(self.period))))
        self._due += self.period

    def measured(self, since: float = STEP) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Positions, speeds, torques by the sensors now; `since` [s]: the last time that they were asked."""
        d, gears = self.differences, self.gears
        q, dq = (gears.q, gears.dq) if d.sensor == "link" else (gears.theta, gears.dtheta)
        share = 1.0 if d.filter <= 0.0 else 1.0 - math.exp(-since / d.filter)
        self._shown = self._shown + share * (dq - self._shown)
        noise, loud = self.random.normal(size=(2, self.n))
        place = q + self._zero
        place = d.encoder * np.round(place / d.encoder) if d.encoder else place.copy()
        return place, self._shown + d.noise * noise, self.driven + d.effort_noise * loud

    # The truth

    @property
    def q(self) -> np.ndarray:
        """rad; of the links."""
        return self.gears.q.copy()

    @property
    def dq(self) -> np.ndarray:
        """rad/s; of the links."""
        return self.gears.dq.copy()

    def hand(self) -> np.ndarray:
        """Where it is [m]."""
        self.links.at(self.gears.q, self.gears.dq)
        return self.links.place().copy()

    def holding(self) -> np.ndarray:
        """The torques that hold against weight and spring [N·m]."""
        return self._weight() / self._gain

    def _weight(self) -> np.ndarray:
        _, bias = self.links.at(self.gears.q, np.zeros(self.n))
        return bias + self._spring * (self.gears.q - self.kind.rest)

    def bent(self) -> np.ndarray:
        """By how much the gears give way under the weight [rad]."""
        return self._weight() / self.gears.stiffness if self.gears.elastic else np.zeros(self.n)

    def inertia(self) -> np.ndarray:
        """The mass matrix [kg·m²], rotors included."""
        mass, _ = self.links.at(self.gears.q, np.zeros(self.n))
        return mass + np.diag(self.gears.rotor)

    def energy(self) -> float:
        """Energy of links, rotors, gears, spring and height [J]."""
        gears = self.gears
        mass, _ = self.links.at(gears.q, gears.dq)
        bent = gears.theta - gears.q
        spring = 0.5 * float(self._spring @ (gears.q - self.kind.rest) ** 2)
        return (
            0.5 * float(gears.dq @ mass @ gears.dq + gears.rotor @ gears.dtheta**2 + gears.stiffness @ bent**2)
            + self.links.height() + spring
        )  # fmt: skip
