"""Simulations with generated steps: in joint space by `joint_step`, or in maximal coordinates by `step`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, SolverError, arg
from diffpbd.runtime.base.live import Share
from diffpbd.runtime.base.names import hint, listing
from diffpbd.runtime.functions.function import as_array
from diffpbd.runtime.functions.joint_values import JointValues, by_joint
from diffpbd.runtime.logs.csv import Log, TorqueLog
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.simulate.memory import carried
from diffpbd.runtime.simulate.orders import Composed, Order, refuse_friction
from diffpbd.runtime.simulate.step_advice import advise, closing

__all__ = ["Run", "expect_log", "gaps_of", "maximal_variant", "simulate", "step_count", "torque_policy"]

Controller: TypeAlias = "Callable[[float, FloatArray, FloatArray], npt.ArrayLike]"
"""controller(time [s], q (n,), dq (n,)) gives the torque (n,) held during the step that begins then."""
Torque: TypeAlias = 'Literal["zero", "gravity"] | TorqueLog | Controller | npt.ArrayLike'
Policy: TypeAlias = Callable[[int, FloatArray, FloatArray], FloatArray]

POLICIES = ("zero", "gravity")
MAX_STEPS = 10_000_000  # a run is held in memory: about 200 bytes a joint and step
SAID = 64  # steps between two reports of progress
TIME_ROUNDING = 1e-9  # in steps: how much later than a step's start a log's sample still belongs to it


@dataclass(frozen=True, repr=False)
class Run:
    """A simulation; row k of every array is node k, (steps + 1, n) or (steps + 1,); q has a column for each of `positions`.

    time [s], q [rad or m], dq, tau [N·m or N] held from this node on (the last row repeats), kinetic and
    potential energy [J], gap: the largest joint constraint residual [m or 1], None where it cannot be
    computed.
    """

    function: str
    h: float
    joints: tuple[str, ...]
    time: FloatArray
    q: FloatArray
    dq: FloatArray
    tau: FloatArray
    kinetic: FloatArray | None
    potential: FloatArray | None
    gap: FloatArray | None
    positions: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<Run of {len(self.joints)} joints: {len(self.time) - 1} steps of {self.h:g} s by {self.function}>"

    def log(self) -> Log:
        """The run as a log."""
        return Log(self.time, self.joints, self.q, self.dq, None, self.tau, self.positions)


def expect_log(torque: str | Path, where: str) -> None:
    """Refuses text that is neither a policy's name nor a file, with the nearest name."""
    if str(torque).isidentifier() and not Path(torque).exists():
        raise InputError(f"{where}: there is neither a policy nor a log {str(torque)!r}. {hint(str(torque), POLICIES)}")


def maximal_variant(robot: Robot, integrator: str | None, solver: str | None) -> str:
    """The name of the generated `step` with this integrator and solver; None is the recipe's."""
    recipe = robot.manifest.recipe
    wanted = (integrator or recipe.integrator, solver or recipe.solver)
    if wanted == (recipe.integrator, recipe.solver) and "step" in robot.functions:
        return "step"
    name = f"step_{wanted[0]}_{wanted[1]}"
    if name not in robot.functions:
        have = [other for other in robot.functions if other == "step" or other.startswith("step_")]
        why = robot.manifest.why_not(name)
        raise InputError(f"{robot.name} was generated without {name}; it has {listing(have)}. {why}".rstrip())
    return name


def torque_policy(robot: Robot, torque: Torque, h: float, alpha: FloatArray, steps: int) -> Policy:
    """The torque held during step k from the state at its start, (n,) [N·m or N]."""
    if isinstance(torque, str) and torque == "gravity":
        gravity = robot.function("gravity")
        held_up = np.array([joint not in robot.manifest.robot.base_freedoms for joint in robot.joints])
        return lambda step, p, pd: held_up * np.asarray(gravity(p, alpha))
    if isinstance(torque, str) and torque != "zero":
        raise InputError(f'torque: expected "zero", "gravity", a function, an array or a log, found {torque!r}.')
    if isinstance(torque, TorqueLog):
        return _held(_of(robot, torque), h)
    if callable(torque):
        return _called(robot, torque, h)
    rows = np.zeros(robot.n) if isinstance(torque, str) else as_array(torque, "torque", "simulate")
    if rows.shape not in ((robot.n,), (steps, robot.n)):
        raise InputError(
            f"torque: expected shape ({robot.n},), or ({steps}, {robot.n}) for {steps} steps, found {rows.shape}."
        )
    rows = np.broadcast_to(rows, (steps, robot.n))
    return lambda step, p, pd: rows[step]


def _of(robot: Robot, log: TorqueLog) -> TorqueLog:
    """Torques of the robot's joints; those of a moving base are zero if the log has none."""
    silent = [name for name in robot.manifest.robot.base_freedoms if name not in log.joints]
    tau = np.hstack([log.tau, np.zeros((len(log.tau), len(silent)))])
    return TorqueLog(log.time, (*log.joints, *silent), tau).select(robot.joints)


def _held(log: TorqueLog, h: float) -> Policy:
    """A log's torques, held between its samples."""
    start = log.time - log.time[0]

    def held(step: int, p: FloatArray, pd: FloatArray) -> FloatArray:
        position = int(np.searchsorted(start, (step + TIME_ROUNDING) * h, side="right")) - 1
        row: FloatArray = log.tau[position]
        return row

    return held


def _called(robot: Robot, controller: Controller, h: float) -> Policy:
    """A function of the user, with checked torques."""

    def called(step: int, p: FloatArray, pd: FloatArray) -> FloatArray:
        given = as_array(controller(step * h, p.copy(), pd.copy()), "torque of the controller", "simulate")
        if given.shape not in ((), (robot.n,)) or (given.ndim == 0 and robot.n != 1):
            raise InputError(
                f"The controller's torque at {step * h:g} s: expected shape ({robot.n},), found {given.shape}."
            )
        return np.broadcast_to(given, (robot.n,))

    return called


def simulate(
    robot: Robot,
    *,
    duration: float,
    h: float | None = None,
    start: tuple[JointValues | None, JointValues | None] = (None, None),
    torque: Torque = "zero",
    alpha: FloatArray | None = None,
    step: Order | str = 2,
    progress: Callable[[str], None] | None = None,
) -> Run:
    """Simulate for `duration` [s] in steps of h [s] from `start`: positions [rad or m] and rates, zero where None.

    `step` is the order: 2 (`joint_step`), 4 (a Suzuki composition) or 6 (an extrapolation), which both refuse friction; or
    the name of a maximal-coordinate step function (see `maximal_variant`). Torques are constant during each step: zero,
    gravity compensation, a log's, an array (n,) or (steps, n) [N·m or N], or those of a `Controller`. `progress` is called
    with the progress in words.
    """
    h = robot.h if h is None else h
    steps = step_count(duration, h)
    alpha = robot.alpha.defaults if alpha is None else alpha
    first = [_start(robot, name, value) for name, value in zip(("q0", "dq0"), start, strict=True)]
    if isinstance(torque, TorqueLog):
        _check_covers(torque, steps * h, h)
    if not isinstance(step, str):
        refuse_friction(robot, alpha, step)
    policy = torque_policy(robot, torque, h, alpha, steps)
    q, (dq, tau) = np.empty((steps + 1, robot.n_p)), np.empty((2, steps + 1, robot.n))
    q[0], dq[0] = first
    mover: _JointMover | _MaximalMover
    if isinstance(step, str):
        mover = _MaximalMover(robot, h, alpha, step, robot.function("fk")(q[0], dq[0], alpha))
    else:
        mover = _JointMover(robot, h, alpha, step)
    for k in range(steps):
        if progress is not None and k and k % SAID == 0:
            progress(Share(f"step {k} of {steps}", k / steps))
        tau[k] = policy(k, q[k], dq[k])
        try:
            q[k + 1], dq[k + 1] = mover(q[k], dq[k], tau[k])
        except SolverError as error:
            maximal = isinstance(step, str)
            advice = closing(robot, q[k], alpha) if maximal else advise(robot, q[k], dq[k], tau[k], h, alpha)
            raise SolverError(f"Step {k + 1}, from {k * h:g} s: {error}{advice}") from None
        if not (np.isfinite(q[k + 1]).all() and np.isfinite(dq[k + 1]).all()):
            raise SolverError(f"Step {k + 1}, from {k * h:g} s: the state is no longer finite; a smaller h may help.")
    gap = _closed_gaps(robot, q, dq, alpha, h) if isinstance(mover, _JointMover) else np.array(mover.gaps)
    tau[-1] = tau[-2]
    _require_finite("torque", tau.sum(axis=1), h)
    if gap is not None:
        _require_finite("joint gap", gap, h)
    kinetic = potential = None
    if "energy" in robot.functions:
        kinetic, potential = robot.energy(q, dq, alpha)
        _require_finite("energy", kinetic + potential, h)
    time = np.arange(steps + 1, dtype=np.float64) * h
    function = step if isinstance(step, str) else "joint_step"
    return Run(function, h, robot.joints, time, q, dq, tau, kinetic, potential, gap, robot.positions)


def _start(robot: Robot, name: str, value: JointValues | None) -> FloatArray:
    none = robot.neutral if name == "q0" else np.zeros(robot.n)
    if value is None:
        return none
    if isinstance(value, Mapping):
        return by_joint(f"simulate: {name}", value, robot.positions if name == "q0" else robot.joints, none)
    array = as_array(value, name, "simulate")
    if array.shape != none.shape:
        raise InputError(f"simulate: argument {name!r}: expected shape {none.shape}, found {array.shape}.")
    return array


def step_count(duration: float, h: float, most: int = MAX_STEPS) -> int:
    """How many steps h [s] a duration [s] has, at least one and at most so many."""
    for name, value in ((f"{arg.duration}", duration), (f"{arg.h}", h)):
        if not (np.isfinite(value) and value > 0):
            raise InputError(f"{name}: expected a positive number of seconds, found {value:g}.")
    if h > duration * (1.0 + TIME_ROUNDING):
        raise InputError(f"{arg.h}: expected a step within the duration of {duration:g} s, found {h:g} s.")
    steps = duration / h
    if steps > most:  # may be infinite
        raise InputError(
            f"{arg.duration}: {duration:g} s in steps of {h:g} s: expected at most {most} steps, found {steps:g}."
        )
    return max(1, round(steps))


def _check_covers(log: TorqueLog, end: float, h: float) -> None:
    span = float(log.time[-1] - log.time[0])
    period = span / (len(log.time) - 1) if len(log.time) > 1 else 0.0
    if span + max(period, h) < end:
        raise InputError(
            f"The torque log spans {span:.6g} s, the simulation lasts {end:.6g} s; shorten {arg.duration}."
        )


@dataclass
class _JointMover:
    """Advances a state (p, pd) under a torque by `joint_step` or a step of higher order; `alpha` holds the state of friction
    with memory."""

    robot: Robot
    h: float
    alpha: FloatArray
    order: Order

    def __call__(self, p: FloatArray, pd: FloatArray, u: FloatArray) -> tuple[FloatArray, FloatArray]:
        step = self.robot.function("joint_step") if self.order == 2 else Composed(self.robot, self.order)
        end: tuple[FloatArray, FloatArray] = step(p, pd, u, self.h, self.alpha)
        self.alpha = carried(self.robot, self.alpha, end[1], self.h)
        return end


@dataclass
class _MaximalMover:
    """Advances a maximal state, which it stores, and records the largest joint gap of each."""

    robot: Robot
    h: float
    alpha: FloatArray
    step: str
    xi: FloatArray

    def __post_init__(self) -> None:
        self.gaps = [self._gap()]

    def __call__(self, p: FloatArray, pd: FloatArray, u: FloatArray) -> tuple[FloatArray, FloatArray]:
        self.xi = self.robot.function(self.step)(self.xi, u, self.h, self.alpha)
        self.gaps.append(self._gap())
        state: tuple[FloatArray, FloatArray] = self.robot.function("joint_state")(self.xi, self.alpha, p)
        return state

    def _gap(self) -> float:
        return float(np.abs(self.robot.function("constraints")(self.xi, self.alpha)).max(initial=0.0))


def _closed_gaps(robot: Robot, q: FloatArray, dq: FloatArray, alpha: FloatArray, h: float) -> FloatArray | None:
    """Joint gaps of poses given by joint coordinates; should be rounding."""
    if "fk" not in robot.functions or "constraints" not in robot.functions:
        return None
    xi = robot.fk(q, dq, alpha)
    _require_finite("motion of the links", xi.sum(axis=1), h)
    return gaps_of(robot, xi, alpha)


def gaps_of(robot: Robot, xi: FloatArray, alpha: FloatArray) -> FloatArray:
    """The largest constraint residual of every maximal state (rows, 13 a link) [m or 1]."""
    residuals = np.abs(np.asarray(robot.constraints(xi, alpha)))
    largest: FloatArray = residuals.max(axis=-1, initial=0.0)
    return largest


def _require_finite(what: str, values: FloatArray, h: float) -> None:
    """Refuse a quantity (one value a node) that is infinite or NaN anywhere."""
    if not np.isfinite(values).all():
        k = int(np.argmin(np.isfinite(values)))
        raise SolverError(f"The {what} is not finite at {k * h:g} s; a smaller start, torque or h may help.")
