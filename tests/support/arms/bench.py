"""A robot on the bench: two joints, physics of its own, faults on request, and a clock that only `sleep` moves.

It stands for a robot behind the loop's `Arm`: states by message through the real reader, command timeout, own gravity
compensation unless suppressed, position servo, effort limits, joint stops, friction, encoder steps. Its physics is a
planar double pendulum written out by hand, so that nothing here shares a line with what it tests.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from diffpbd.runtime.interface.controller import Mode
from diffpbd.runtime.interface.limb_state import LimbState
from diffpbd.runtime.loop.arm import DISABLED, OWN_TIMEOUT, Fault
from diffpbd.runtime.model.limits import Limits
from diffpbd.runtime.records.joint_states import JointStateReader
from diffpbd.runtime.records.messages import Header, JointState

JOINTS = ("arm_s", "arm_e")
M1, M2, L1, C1, C2, I1, I2, G = 4.0, 1.5, 0.5, 0.25, 0.2, 0.09, 0.03, 9.81
STEP = 1e-3
SPEED = (1.5, 2.0)
EFFORT = (50.0, 15.0)
LOWER, UPPER = (-1.7, -0.05), (1.7, 2.6)
LATENCY = 1e-3  # s; of a state on its way to us, and of a command on its way back


def mass(q: np.ndarray) -> np.ndarray:
    c = math.cos(q[1])
    a = I1 + M1 * C1**2 + I2 + M2 * (L1**2 + C2**2 + 2 * L1 * C2 * c)
    b = I2 + M2 * (C2**2 + L1 * C2 * c)
    return np.array([[a, b], [b, I2 + M2 * C2**2]])


def coriolis(q: np.ndarray, dq: np.ndarray) -> np.ndarray:
    h = M2 * L1 * C2 * math.sin(q[1])
    return np.array([-h * dq[1] * (2 * dq[0] + dq[1]), h * dq[0] ** 2])


def gravity(q: np.ndarray, payload: float = 0.0) -> np.ndarray:
    """Angles from the horizontal: the arm stretched out at zero is the heaviest. `payload` [kg] at 0.4 m of link two."""
    far = (M2 * C2 + payload * 0.4) * G * math.cos(q[0] + q[1])
    return np.array([(M1 * C1 + (M2 + payload) * L1) * G * math.cos(q[0]) + far, far])


def inertial(q: np.ndarray, dq: np.ndarray, ddq: np.ndarray) -> np.ndarray:
    return mass(q) @ ddq + coriolis(q, dq)


def bench_limits(**changed: object) -> Limits:
    effort = np.array(EFFORT)
    values = {
        "lower": np.array(LOWER), "upper": np.array(UPPER), "speed": np.array(SPEED), "effort": effort,
        "law_effort": effort, "torque_rate": 10 * effort, "position_margin": 0.1,
    }  # fmt: skip
    return Limits(**{**values, **changed})


@dataclass
class Bench:
    """Faults that it may have, and what was seen. A fault is a function of a message's dict: q, dq, effort, names."""

    coulomb: tuple[float, float] = (0.8, 0.3)
    viscous: tuple[float, float] = (0.7, 0.2)
    encoder: float = 3.835e-4
    jitter: float = 0.0
    late: float = 0.0
    command_late: float = 0.0
    """s; of every state, and of every command, on top of `LATENCY`."""
    noise: float = 0.0
    """N·m on the measured torque."""
    payload: float = 0.0
    spring: tuple[float, float] = (0.0, 0.0)
    """Of joint one [N·m/rad, rad], which neither robot nor model knows."""
    push: tuple[float, float] = (0.0, 0.0)
    fault: Callable[[dict], dict | None] | None = None


class BenchClock:
    def __init__(self, arm: BenchArm) -> None:
        self._arm = arm

    def now(self) -> float:
        return self._arm.time

    def sleep(self, seconds: float) -> None:
        late, self._arm.stall = self._arm.stall, 0.0
        self._arm.advance(max(seconds, 1e-6) + late)


class BenchArm:
    """See the module; what `after` is given happens at a time after the first command of the run phase."""

    def __init__(self, q: tuple[float, float] = (0.3, 0.9), bench: Bench | None = None, *, rate: float = 100.0) -> None:
        self.bench = bench or Bench()
        self.joints, self.limits, self.stale_after = JOINTS, bench_limits(), 0.1
        self.time = 100.0
        self.clock = BenchClock(self)
        self.q, self.dq = tuple(q), (0.0, 0.0)
        self.rate = rate
        self.mode, self.target, self.commanded = Mode.POSITION, self.q, -math.inf
        self.timeout, self.timeouts = 0.2, []
        self.torque = (0.0, 0.0)
        self.enabled = self.connected = True
        self.stopped, self.noted = "", ""
        self.lost: Fault | None = None
        self.commanders: tuple[str, ...] = ()
        self.commands: list[tuple[float, Mode, np.ndarray, np.ndarray, np.ndarray]] = []
        """Time, mode, values, and the true q and dq when it was sent."""
        self.suppressed = -math.inf
        self.fastest, self.furthest = [0.0, 0.0], [-math.inf, -math.inf]
        self.trace: list[tuple[float, ...]] = []
        """q of every step since the mark."""
        self.events: list[tuple[float, Callable[[], None]]] = []
        self.begun: float | None = None
        self.stall = 0.0
        """s by which the loop's next sleep is too long."""
        self._reader = JointStateReader(self.joints)
        self._state: LimbState | None = None
        self._due = self.time
        self._wire: list[tuple[float, Callable[[], None]]] = []
        self._random = random.Random(3)
        self._arrival = 0.0
        self.closed = False
        self.in_run: Callable[[], bool] = lambda: False
        self.marked: tuple[float, np.ndarray, np.ndarray] | None = None
        """Time of the first message with a fault, and the true state then."""
        self.last_law: float | None = None
        """When the run phase sent its last command."""
        self.step = 10 * np.array(EFFORT) / 250.0
        """N·m by which torques may differ from message to message."""

    # The loop's side

    @property
    def state(self) -> LimbState | None:
        return self._state

    @property
    def rejected(self) -> Counter[str]:
        return self._reader.rejected

    dropped = 0
    handed_back = OWN_TIMEOUT

    def open(self, rate: float) -> None:
        self.advance(0.05)

    def close(self) -> None:
        self.closed = True

    def missing(self, *, suppressing: bool) -> str:
        return "" if self._state is not None else "no joint state names every joint of the arm"

    def fault(self) -> Fault | None:
        return self.lost

    def others(self) -> tuple[str, ...]:
        return self.commanders

    def forget_trouble(self) -> None:
        self.noted = ""

    def trouble(self) -> str:
        return self.noted or self.unable()

    def unable(self) -> str:
        return self.stopped or ("" if self.enabled else DISABLED)

    def request_enable(self) -> None:
        self.enabled, self.mode, self.target = True, Mode.POSITION, self.q

    def set_timeout(self, seconds: float | None = None) -> None:
        self.timeout = 0.2 if seconds is None else seconds
        self.timeouts.append(self.timeout)

    def transmit(self, mode: Mode, values: np.ndarray) -> None:
        self.commands.append((self.time, mode, values.copy(), np.array(self.q), np.array(self.dq)))
        if self.in_run():
            self.begun = self.time if self.begun is None else self.begun
            self.last_law = self.time
        arrival = self.time + LATENCY + self.bench.command_late
        self._wire.append((arrival, lambda: self._obey(mode, tuple(values.tolist()))))

    def suppress(self) -> None:
        self.suppressed = self.time

    # The robot's side

    def shift(self, seconds: float) -> None:
        """Let every state come later by this, against the ticks of the loop."""
        self._due += seconds

    def after(self, seconds: float, action: Callable[[], None]) -> None:
        self.events.append((seconds, action))

    def mark(self) -> None:
        self.marked = (self.time, np.array(self.q), np.array(self.dq))

    def disable(self, why: str = "") -> None:
        self.enabled, self.stopped = False, why
        self.noted = self.noted or self.unable()

    def _obey(self, mode: Mode, values: np.ndarray) -> None:
        if self.enabled:
            self.mode, self.target, self.commanded = mode, values, self.time

    def advance(self, seconds: float) -> None:
        end = self.time + seconds
        while self.time + STEP <= end + 1e-12:
            self.time += STEP
            self._step()
        self.time = max(self.time, end)

    def _step(self) -> None:
        while self._wire and min(entry[0] for entry in self._wire) <= self.time:
            entry = min(self._wire, key=lambda one: one[0])
            self._wire.remove(entry)
            entry[1]()
        if self.begun is not None:
            for event in [e for e in self.events if self.time - self.begun >= e[0]]:
                self.events.remove(event)
                event[1]()
        self._move()
        if self.time >= self._due:
            self._due += 1.0 / self.rate
            self._publish()

    def _move(self) -> None:
        bench = self.bench
        if self.mode is not Mode.POSITION and self.time - self.commanded > self.timeout:
            self.mode, self.target = Mode.POSITION, self.q
        q0, q1 = self.q
        v0, v1 = self.dq
        c = math.cos(q1)
        a = I1 + M1 * C1**2 + I2 + M2 * (L1**2 + C2**2 + 2 * L1 * C2 * c)
        b, d = I2 + M2 * (C2**2 + L1 * C2 * c), I2 + M2 * C2**2
        far0 = M2 * C2 * G * math.cos(q0 + q1)
        own = ((M1 * C1 + M2 * L1) * G * math.cos(q0) + far0, far0)
        far = far0 + bench.payload * 0.4 * G * math.cos(q0 + q1)
        load = ((M1 * C1 + (M2 + bench.payload) * L1) * G * math.cos(q0) + far, far)
        spring = -bench.spring[0] * (q0 - bench.spring[1])
        if not self.enabled:
            torque = (0.0, 0.0)
        elif self.mode is Mode.TORQUE:
            held = own if self.time - self.suppressed > 0.2 else (0.0, 0.0)
            torque = (held[0] + self.target[0], held[1] + self.target[1])
        else:
            # The robot's servo integrates in truth: it carries whatever loads the arm.
            e0 = 900.0 * (self.target[0] - q0) - 60.0 * v0
            e1 = 900.0 * (self.target[1] - q1) - 60.0 * v1
            torque = (load[0] - spring + a * e0 + b * e1, load[1] + b * e0 + d * e1)
        torque = tuple(max(-limit, min(limit, value)) for value, limit in zip(torque, EFFORT, strict=True))
        self.torque = torque
        h = M2 * L1 * C2 * math.sin(q1)
        brake = 60.0 if not self.enabled else 0.0
        f0 = torque[0] + bench.push[0] + spring + h * v1 * (2 * v0 + v1) - load[0]
        f1 = torque[1] + bench.push[1] - h * v0**2 - load[1]
        p0, p1 = a * v0 + b * v1 + STEP * f0, b * v0 + d * v1 + STEP * f1
        da, dd = a + STEP * (bench.viscous[0] + brake), d + STEP * (bench.viscous[1] + brake)
        det = da * dd - b * b
        rates = [(dd * p0 - b * p1) / det, (da * p1 - b * p0) / det]
        angles = []
        for k, inertia in enumerate((a, d)):
            slip = STEP * bench.coulomb[k] / inertia
            rates[k] = math.copysign(max(abs(rates[k]) - slip, 0.0), rates[k])
            angle = (q0, q1)[k] + STEP * rates[k]
            if not LOWER[k] <= angle <= UPPER[k]:
                angle, rates[k] = min(max(angle, LOWER[k]), UPPER[k]), 0.0
            angles.append(angle)
            self.fastest[k] = max(self.fastest[k], abs(rates[k]))
            self.furthest[k] = max(self.furthest[k], LOWER[k] - angle, angle - UPPER[k])
        self.q, self.dq = tuple(angles), tuple(rates)
        if self.marked is not None:
            self.trace.append(self.q)

    def _measured(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q [rad], dq [rad/s], effort [N·m] by the sensors."""
        quantum = self.bench.encoder or 1e-12
        noise = self.bench.noise * np.array([self._random.gauss(0, 1), self._random.gauss(0, 1)])
        gauged = 0.004 * np.round((np.array(self.torque) + noise) / 0.004)
        return quantum * np.round(np.array(self.q) / quantum), np.array(self.dq), gauged

    def _publish(self) -> None:
        bench = self.bench
        q, dq, effort = self._measured()
        message: dict | None = {
            "names": self.joints, "q": q, "dq": dq, "effort": effort, "stamp": self.time + 7.0, "source": "/robot",
        }  # fmt: skip
        if bench.fault is not None:
            message = bench.fault(message)
        if message is None:
            return
        nanoseconds = round(1e9 * message["stamp"])
        header = Header(0, (nanoseconds // 10**9, nanoseconds % 10**9), "")
        joint_state = JointState(header, tuple(message["names"]), message["q"], message["dq"], message["effort"])
        delay = LATENCY + bench.late + self._random.random() * bench.jitter
        self._arrival = max(self.time + delay, self._arrival)  # a connection keeps the order
        self._wire.append((self._arrival, lambda: self._offer(joint_state, message["source"])))

    def _offer(self, message: JointState, source: str) -> None:
        state = self._reader.offer(message, self.time, source)
        if self._reader.second_source and not self.noted:
            self.noted = "two sources of the arm's joint states"
        self.noted = self.noted or self._reader.stepped
        self._state = state or self._state
