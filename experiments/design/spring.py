"""The paper's spring estimation: stiffness of a spring between two lever arms, from static poses and motor torques.

The spring's torque on the joint is `lever_spring_torque` of the generated code: arms l₁, l₂, angle between them π − α − θ, rest
length x_rest. *Curve fitting* takes the torque that the spring must give, which is gravity's estimate (one step, as in
`gravity_compensation`) less the motor's, and fits the curve (SciPy). *Differentiable simulation* puts the spring into the step
and looks for the numbers that leave every pose still (IPOPT). Either with the lengths as measured, or with lengths and α
estimated first and the stiffness after them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import least_squares

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import SolverError
from diffpbd.runtime.identify import Condensation, minimise
from diffpbd.runtime.model.robot import Robot
from experiments.descent import descend
from experiments.design.gravity_compensation import holding_torques
from experiments.one_step import JOINT, ends_of
from experiments.poses import draw

__all__ = [
    "ASSUMPTIONS",
    "DEVIATION",
    "TRUTH",
    "Lever",
    "Measurements",
    "Scheme",
    "estimate",
    "measurements",
]

WEIGHTS = (1.0, 0.2)
"""λ₁ [1/rad²], λ₂ [s²/rad²] of the paper's spring estimation, here on the rates of the joints."""
LENGTHS = ("arm_1", "arm_2", "offset")
STIFFNESS = ("stiffness",)
SPAN = (0.2, 5.0)
"""[1] Bounds of every number, as parts of its start."""
NEAR = 1e-3
"""[1] How near to a bound a number counts as on it, relative."""
TOLERANCE = 1e-14
"""[1] Of SciPy's solve: the curve's residual and step, relative; losses here are noise-free."""
OPTIMALITY = {"tol": 1e-9, "acceptable_tol": 1e-7, "acceptable_iter": 5}
"""[1] Of IPOPT, for a loss of order one at the start: ten digits of the stiffness where a spring fits exactly."""

ASSUMPTIONS = (
    "the paper's measured lengths are in a figure only, as are its losses, k and α: ours are chosen, x_rest = 0.2 m is its",
    "α₁ and α₂ act only as their sum α; the spring's length contains θ and a minus sign, which the print lacks",
    "static poses and their motor torques are simulated from the truth, without noise",
    "lengths and α are estimated with the stiffness as a further unknown, then held, and the stiffness is estimated again",
    "the loss of the simulation compares joint positions and rates after one step of 10 ms, λ₁ = 1, λ₂ = 0.2",
)


@dataclass(frozen=True)
class Lever:
    """Stiffness [N/m], arms [m], α [rad] and rest length [m]."""

    stiffness: float
    arm_1: float
    arm_2: float
    offset: float
    rest: float

    def at_bound(self) -> bool:
        """Whether the stiffness ended at a bound of its search, which is no optimum."""
        return not SPAN[0] * (1.0 + NEAR) < self.stiffness / START < SPAN[1] * (1.0 - NEAR)

    def numbers(self) -> tuple[float, ...]:
        """In the order of `lever_spring_torque`."""
        return self.stiffness, self.arm_1, self.arm_2, self.offset, self.rest


NAMES = ("stiffness", "arm_1", "arm_2", "offset", "rest")
TRUTH = Lever(7000.0, 0.06, 0.15, 1.9, 0.2)
"""About 24 N·m at θ = 0, where a Baxter arm stretched forward needs it."""
ADAM_RATE = 50.0
"""[N/m] Learning rate: 2000 N/m in 40 steps. The paper's curves have no scale that would give its own."""
START = 5000.0  # N/m: the guess of the stiffness
REACH = (-1.0, 1.0)
"""[rad] Angles of the poses: arms and spring form a triangle there."""
DEVIATION = {"arm_1": 0.02, "arm_2": -0.015, "offset": 0.01}
"""[1] What the measured lengths and α are off by, in the second half of the table."""


@dataclass(frozen=True)
class Measurements:
    """Static poses (k, n) [rad], motor torques (k, n) [N·m], the joint of the spring, alpha."""

    poses: FloatArray
    motor: FloatArray
    joint: int
    alpha: FloatArray


@dataclass(frozen=True)
class Scheme:
    """Result of a scheme: its numbers, its own loss at the end, RMS of the torque residual [N·m], loss at every evaluation."""

    name: str
    lengths: str
    lever: Lever
    loss: float
    rms: float
    history: tuple[float, ...]
    descent: FloatArray | None = None
    """(iterations + 1,) Losses of ADAM from the same start, of the stiffness with measured lengths."""


def measurements(robot: Robot, joint: int, count: int, seed: int) -> Measurements:
    """Static poses with the joint's angles evenly over `REACH`, the others drawn inside their limits, where the spring `TRUTH`
    helps the motors; gravity 9.8 m/s²."""
    poses = draw(robot, count, seed)
    poses[:, joint] = np.linspace(*REACH, count)
    alpha = robot.alpha.vector({"gravity.z": -9.8})
    motor = np.array(robot.gravity(poses, alpha), dtype=np.float64)
    motor[:, joint] -= np.asarray(robot.lever_spring_torque(poses[:, joint], *TRUTH.numbers()))
    return Measurements(poses, motor, joint, alpha)


def estimate(robot: Robot, measured: Measurements, lever: Lever, step: str = JOINT) -> list[Scheme]:
    """All schemes on a step, from the measured `lever`; its stiffness is only their start."""
    problem = _Problem(robot, measured, step)
    found = []
    for name, fit, residual in (
        ("curve fitting, SciPy", problem.curve, problem.off),
        ("differentiable simulation, IPOPT", problem.simulation, problem.still),
    ):
        k, history = fit(lever, STIFFNESS)
        one = problem.scheme(name, "measured", k, history)
        found.append(replace(one, descent=problem.descent(lever, residual)) if step == JOINT else one)
        updated, first = fit(lever, (*STIFFNESS, *LENGTHS))
        k, second = fit(replace(updated, stiffness=lever.stiffness), STIFFNESS)
        found.append(problem.scheme(name, "updated", k, (*first, *second)))
    return sorted(found, key=lambda scheme: scheme.lengths)


class _Problem:
    """Both losses of the measurements, with derivatives by the lever's numbers."""

    def __init__(self, robot: Robot, measured: Measurements, step: str) -> None:
        self.robot, self.measured = robot, measured
        self.angle = measured.poses[:, measured.joint]
        self.ends = ends_of(
            robot, step, measured.poses, np.zeros_like(measured.poses), robot.h, measured.alpha, ("p", "pd")
        )
        held = holding_torques(robot, measured.poses, measured.alpha, step=step)
        self.torque = (held.estimate - measured.motor)[:, measured.joint]
        graph = robot.casadi("lever_spring_torque")
        inputs = graph.name_in()
        slopes = graph.factory("slopes", inputs, ["lever_torque", *(f"jac:lever_torque:{name}" for name in inputs[1:])])
        self.lever_function = slopes.map(len(self.angle))

    def lever(self, lever: Lever, unknown: Sequence[str]) -> tuple[FloatArray, FloatArray]:
        """Torque (k,) on the joint and its derivatives (k, unknown)."""
        values = self.lever_function(self.angle, *lever.numbers())
        torque, *slopes = (np.array(value, dtype=np.float64).ravel() for value in values)
        return torque, np.column_stack([slopes[NAMES.index(name)] for name in unknown])

    def off(self, lever: Lever, unknown: Sequence[str]) -> tuple[FloatArray, FloatArray]:
        """The spring's torque less the wanted one (k,) [N·m], and derivatives (k, unknown)."""
        torque, slopes = self.lever(lever, unknown)
        return torque - self.torque, slopes

    def descent(self, start: Lever, residual: Callable[..., tuple[FloatArray, FloatArray]]) -> FloatArray:
        """Losses of ADAM on the stiffness: the mean square of `off`, or the mean of the poses' squared `still`."""

        def loss(stiffness: FloatArray) -> tuple[FloatArray, FloatArray]:
            r, slopes = residual(_moved(start, STIFFNESS, stiffness), STIFFNESS)
            return np.array(r @ r / len(self.angle)), 2.0 * (slopes.T @ r) / len(self.angle)

        return descend(loss, np.array([start.stiffness]), ADAM_RATE).losses

    def curve(self, start: Lever, unknown: Sequence[str]) -> tuple[Lever, list[float]]:
        """Least squares of the spring's torque; the mean square at every evaluation."""
        origin = np.array([getattr(start, name) for name in unknown])
        history: list[float] = []

        def residual(part: FloatArray) -> FloatArray:
            off = self.off(_moved(start, unknown, part * origin), unknown)[0]
            history.append(float((off**2).mean()))
            return off

        def jacobian(part: FloatArray) -> FloatArray:
            return np.asarray(self.lever(_moved(start, unknown, part * origin), unknown)[1] * origin, dtype=np.float64)

        found = least_squares(
            residual, np.ones(len(unknown)), jacobian, bounds=SPAN, xtol=TOLERANCE, ftol=TOLERANCE, gtol=TOLERANCE
        )
        if found.status <= 0:
            raise SolverError(f"Curve fitting ended with {found.message}")
        return _moved(start, unknown, found.x * origin), history

    def still(self, lever: Lever, unknown: Sequence[str]) -> tuple[FloatArray, FloatArray]:
        """Weighted motion (rows,) of all poses over one step with the spring in it, and derivatives (rows, unknown)."""
        m = self.measured
        torque, slopes = self.lever(lever, unknown)
        u = m.motor.copy()
        u[:, m.joint] += torque
        end, by_torque = self.ends(u)
        roots = np.sqrt(np.repeat(WEIGHTS, u.shape[1]))
        residual = roots * (end - np.concatenate([m.poses, np.zeros_like(u)], axis=1))
        jacobian = (roots * by_torque[:, :, m.joint])[:, :, None] * slopes[:, None, :]
        return residual.ravel(), jacobian.reshape(residual.size, -1)

    def simulation(self, start: Lever, unknown: Sequence[str]) -> tuple[Lever, list[float]]:
        """IPOPT on the motion of the poses; the mean loss a pose at every evaluation."""
        origin = np.array([getattr(start, name) for name in unknown])
        first = self.still(start, unknown)[0]
        scale = float(np.linalg.norm(first)) or 1.0

        def condense(part: FloatArray) -> Condensation:
            residual, jacobian = self.still(_moved(start, unknown, part * origin), unknown)
            return Condensation.of(residual / scale, jacobian * origin / scale)

        ones = np.ones(len(unknown))
        found = minimise("Differentiable simulation", condense, ones, SPAN[0] * ones, SPAN[1] * ones, OPTIMALITY)
        unit = 2.0 * scale**2 / len(self.angle)
        return _moved(start, unknown, found.solution.x * origin), [value * unit for value in found.history]

    def scheme(self, name: str, lengths: str, lever: Lever, history: Sequence[float]) -> Scheme:
        off = self.off(lever, STIFFNESS)[0]
        return Scheme(name, lengths, lever, history[-1], float(np.sqrt((off**2).mean())), tuple(history))


def _moved(lever: Lever, unknown: Sequence[str], values: FloatArray) -> Lever:
    return replace(lever, **dict(zip(unknown, map(float, values), strict=True)))
