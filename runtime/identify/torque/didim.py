"""Motions without noise: the arm simulated under its controller along the commanded motion (DIDIM: Gautier, Janot and
Vandanjon 2013).

Noise of the recorded motion is in the columns of least squares, which biases the estimates if an encoder is coarse and rates
are missing. Under its controller the arm moves nearly alike for all parameters, since it follows the command. So
positions, rates and accelerations are taken from the generated step under that controller at the present parameters, and
the torques that were recorded are fitted with them; from the new parameters the motion is simulated again. This is Gauss
and Newton's method on torques alone, without the derivative of the motion by the parameters, which the controller makes
small. It has settled where the predicted torques no longer move.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from scipy.interpolate import CubicHermiteSpline, CubicSpline

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, SolverError, arg
from diffpbd.runtime.identify.settings.settings import Settings
from diffpbd.runtime.identify.torque.fitting import STILL, fit_rounds
from diffpbd.runtime.identify.torque.solving import Question
from diffpbd.runtime.logs.csv import CsvTable
from diffpbd.runtime.logs.processing import Samples
from diffpbd.runtime.model.robot import Robot

__all__ = ["Command", "Settled", "read_command", "settled"]

STEP: Final = 1e-3
"""[s] Longest step of the simulation: a controller's usual tick."""
SETTLED: Final = 1e-3
"""[1] Change of the predicted torques, in what is left of them, below which the parameters have settled."""
ROUNDS: Final = 15
"""[1] Most simulations; three to five are usual."""
STIFF: Final = 2.0 * math.pi * 10.0
"""[rad/s] Bandwidth of the controller used for an unknown one; it follows the command closely."""
APART: Final = 0.1
"""[1] Deviation of the simulated from the recorded positions, as part of their own, from which the command is another's."""


@dataclass(frozen=True)
class Command:
    """Command of a controller: times (samples,) [s], positions and rates of splines, and the torque it adds, if any."""

    name: str
    time: FloatArray
    position: CubicSpline | CubicHermiteSpline
    torque: CubicSpline | None

    def at(self, time: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """q, dq and the added torque (samples, n)."""
        if time[0] < self.time[0] - STEP or time[-1] > self.time[-1] + STEP:
            raise InputError(
                f"{arg.reference} {self.name}: it is from {self.time[0]:.6g} to {self.time[-1]:.6g} s, the recording from "
                f"{time[0]:.6g} to {time[-1]:.6g} s. Both need the same clock."
            )
        inside = np.clip(time, self.time[0], self.time[-1])
        q = self.position(inside)
        return q, self.position(inside, 1), np.zeros_like(q) if self.torque is None else self.torque(inside)


def read_command(path: str, joints: Sequence[str]) -> Command:
    """Of a table with `time`, `q_<joint>`, and where they are known `dq_<joint>` and the added torques `tau_<joint>`."""
    table = CsvTable(path, {})
    missing = [joint for joint in joints if joint not in table.joints("q")]
    if missing:
        raise InputError(
            f"{arg.reference} {path}: no column q_{missing[0]} was found; it needs commanded positions of every joint."
        )
    for kind in ("dq", "tau"):
        table.require_same(kind, joints, optional=True)
    time, q, dq, tau = table.time(None), *(table.values(kind, joints) for kind in ("q", "dq", "tau"))
    assert q is not None
    position = CubicSpline(time, q) if dq is None else CubicHermiteSpline(time, q, dq)
    return Command(path, time, position, None if tau is None else CubicSpline(time, tau))


@dataclass(frozen=True)
class Settled:
    """Recordings with simulated motions, those of the fit also by steps of twice the length, and a sentence. What the length
    changes is about as large as the error that steps leave, and belongs to the deviations."""

    train: list[Samples]
    validate: list[Samples]
    coarser: list[Samples]
    note: str


def settled(
    question: Question, train: Sequence[Samples], validate: Sequence[Samples], settings: Settings,
    say: Callable[[str], None],
) -> Settled:  # fmt: skip
    """Recordings with simulated motions, whose parameters are those that are fitted to them."""
    robot = question.robot
    commands = _commands(robot, [*train, *validate], settings)
    loop = _Loop(robot, settings)
    fitted = fit_rounds(question, train)
    for k in range(ROUNDS):
        alpha = robot.alpha.vector(_known(fitted.unknowns.values_at(fitted.x)), base=question.base)
        say(f"Simulating the arm under its controller, round {k + 1}")
        moved = loop.simulated([*train, *validate], commands, alpha)
        before, fitted = fitted.unknowns.phi_at(fitted.x), fit_rounds(question, moved[: len(train)])
        core = fitted.problem.core
        change = core.rows @ (fitted.unknowns.phi_at(fitted.x) - before)[core.columns]
        size = float(np.linalg.norm(change)) / np.sqrt(robot.n)
        if size < SETTLED:
            break
    else:
        raise SolverError(
            f"Identification: after {ROUNDS} simulations the predicted torques still move by {size:.2g} of what is left; "
            f"nothing was written. The controller does not hold the arm to its command: stiffer {arg.gains}, or fewer "
            "parameters."
        )
    note = (
        f"motions are simulated under {loop.words}; the parameters settled in {k + 1} rounds (torques move by {size:.1g} of "
        f"what is left). Simulated positions are within {loop.apart:.2g} of the recorded ones' deviation"
    )
    coarser = loop.simulated(train, commands[: len(train)], alpha, 2.0 * STEP)
    return Settled(moved[: len(train)], moved[len(train) :], coarser, note)


def _known(values: dict[str, float]) -> dict[str, float]:
    return {name: value for name, value in values.items() if np.isfinite(value)}


def _commands(robot: Robot, samples: Sequence[Samples], settings: Settings) -> list[Command]:
    """One for each part of a recording."""
    names = list(dict.fromkeys(s.recording or s.name for s in samples))
    if len(names) != len(settings.reference):
        raise InputError(
            f"{arg.form('didim')}: expected a {arg.reference} for each of the {len(names)} recordings, those of {arg.validate} "
            f"last, found {len(settings.reference)}. It holds commanded positions; without them use {arg.form('torque')} "
            f"{arg.instruments} HZ."
        )
    read = dict(zip(names, (read_command(path, robot.joints) for path in settings.reference), strict=True))
    return [read[s.recording or s.name] for s in samples]


class _Loop:
    """The generated step under a controller with gains (n,) [N·m/rad, N·m·s/rad], or under one that stands in."""

    def __init__(self, robot: Robot, settings: Settings) -> None:
        self.robot, self.apart = robot, 0.0
        self.gains = _gains(robot, settings)
        self.words = (
            "a stiff controller that stands in for the arm's"
            if self.gains is None
            else f"the controller of {arg.gains}"
        )

    def simulated(
        self, samples: Sequence[Samples], commands: Sequence[Command], alpha: FloatArray, step: float = STEP
    ) -> list[Samples]:
        """The recordings with the motion that these parameters make; those of a rate are simulated at once."""
        self.apart, found = 0.0, dict[int, Samples]()
        for rate in dict.fromkeys(s.rate for s in samples):
            own = [k for k, s in enumerate(samples) if s.rate == rate]
            moved = self._motions([samples[k] for k in own], [commands[k] for k in own], alpha, step)
            found |= dict(zip(own, moved, strict=True))
        for s, moving, command in zip(samples, (found[k] for k in range(len(samples))), commands, strict=True):
            size = s.q.std(axis=0)
            off = np.sqrt(np.mean((s.trimmed(moving.q) - s.trimmed(s.q)) ** 2, axis=0))
            off = np.where(size > STILL, off / np.maximum(size, STILL), 0.0)
            worst = int(off.argmax())
            self.apart = max(self.apart, float(off[worst]))
            if off[worst] > APART:
                raise InputError(
                    f"{arg.reference} {command.name}: the simulated {s.joints[worst]} is {off[worst]:.2g} of its own deviation "
                    f"from {s.name}; that command, or {arg.gains}, are not this recording's."
                )
        return [found[k] for k in range(len(samples))]

    def _motions(
        self, samples: Sequence[Samples], commands: Sequence[Command], alpha: FloatArray, step: float
    ) -> list[Samples]:
        """Of recordings with the same rate."""
        rate = samples[0].rate
        ticks = max(2, math.ceil(1.0 / (rate * step)))
        h, count = 1.0 / (rate * ticks), max(len(s.time) for s in samples)
        steps = h * np.arange((count - 1) * ticks + 2)
        asked = [c.at(np.minimum(s.time[0] + steps, s.time[-1])) for s, c in zip(samples, commands, strict=True)]
        goal, turn, torque = (np.stack(part, axis=1) for part in zip(*asked, strict=True))
        if self.gains is None:
            stiff, damping = (
                np.array(part) for part in zip(*(self._standing_in(q, alpha) for q in goal[0]), strict=True)
            )
            torque = np.stack([self._asked(*part[:2], h, alpha) for part in asked], axis=1)
        else:
            stiff, damping = self.gains
        q, dq = goal[0], turn[0]
        motion = np.empty((2, *goal.shape))
        for k in range(len(steps)):
            motion[:, k] = q, dq
            u = torque[k] + stiff * (goal[k] - q) + damping * (turn[k] - dq)
            q, dq = self.robot.joint_step(q, dq, u, h, alpha)[:2]
        if not np.isfinite(motion).all():
            raise SolverError(
                f"{samples[0].name}: the simulation under the controller leaves all bounds; look at {arg.gains}."
            )
        ddq = np.gradient(motion[1], h, axis=0)
        kept = [part[:-1:ticks] for part in (*motion, ddq)]
        return [
            replace(
                s, q=kept[0][: len(s.time), k], dq=kept[1][: len(s.time), k], ddq=kept[2][: len(s.time), k], noise=None
            )
            for k, s in enumerate(samples)
        ]

    def _standing_in(self, q: FloatArray, alpha: FloatArray) -> tuple[FloatArray, FloatArray]:
        inertia = np.diag(np.asarray(self.robot.mass_matrix(q, alpha)))
        return inertia * STIFF**2, 2.0 * inertia * STIFF

    def _asked(self, q: FloatArray, dq: FloatArray, h: float, alpha: FloatArray) -> FloatArray:
        """Torques (steps, n) of the motors that the command asks for, without the sensors' offsets."""
        bare = alpha.copy()
        bare[list(self.robot.alpha.indices("torque_offset"))] = 0.0
        return np.asarray(self.robot.inverse_dynamics(q, dq, np.gradient(dq, h, axis=0), bare))


def _gains(robot: Robot, settings: Settings) -> tuple[FloatArray, FloatArray] | None:
    """(n,) each; None where none are known."""
    if not settings.gains:
        return None
    given = dict(settings.gains)
    every = given.pop("", None)
    unknown = [name for name in given if name not in robot.joints]
    lacking = [joint for joint in robot.joints if joint not in given and every is None]
    if unknown or lacking:
        what = f"no joint {unknown[0]!r}" if unknown else f"none of {lacking[0]}"
        raise InputError(f"{arg.gains}: expected KP:KD of every joint of {robot.name}, found {what}.")
    pairs = np.array([given.get(joint, every) for joint in robot.joints], dtype=np.float64)
    return pairs[:, 0], pairs[:, 1]
