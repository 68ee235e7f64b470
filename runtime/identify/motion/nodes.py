"""Positions unknown, torques compared: the residuals of torque at every sample of trajectories near the recorded positions.

At sample k the rate is (q_{k+1} − q_{k−1})/2h, the acceleration (q_{k+1} − 2q_k + q_{k−1})/h², and the torque that these ask
for is compared with the reading, in units of each joint's own residual; positions stay near the recorded ones. As their
deviation goes to zero this is the torque form with rates and accelerations of the positions. Unlike in a step, friction acts at
the mean rate, whatever the joint's inertia.

For given parameters the positions are found by Gauss and Newton's method, whose matrix is banded, so that the parameters see
a problem of their own with exact gradients (variable projection).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.linalg import LinAlgError, solveh_banded

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, SolverError, arg
from diffpbd.runtime.identify.motion.conclusion import End
from diffpbd.runtime.identify.motion.coordinates import Coordinates
from diffpbd.runtime.identify.motion.shooting import COARSELY, FINELY, over_windows, weakened
from diffpbd.runtime.identify.motion.torques import deviations_of
from diffpbd.runtime.identify.motion.trajectory import Motion, Parameters, Path, check_functions
from diffpbd.runtime.identify.motion.windows import Condensed
from diffpbd.runtime.identify.result.covariance import Influence
from diffpbd.runtime.identify.settings.settings import Settings
from diffpbd.runtime.model.robot import Robot

__all__ = ["DEVIATION", "Nodes", "compare_torques"]

DEVIATION = 3e-5
"""[rad or m] Deviation of a filtered position from sample to sample: a twelfth of a quantum of a 14-bit encoder, whose noise
the filter makes slow. Much more would let rates turn Coulomb friction over from one sample to the next."""
ITERATIONS, SHORTEST = 50, 1e-4
"""[1] Most iterations for the positions, and the least step size."""
SETTLED = 1e-10
"""[1] Change of the objective, as part of it, with which positions are found."""
ROUNDS = 3
"""[1] Solves, each with the joints weighted by what the one before left of their torques."""
FLOOR = 1e-3
"""[1] Least deviation of a torque, as part of its joint's RMS: no sensor is better."""


@dataclass(frozen=True)
class _At:
    """At parameters and positions of one motion: weighted deviations of torque (samples − 2, n), derivatives of these by the
    three positions around (samples − 2, n, 3, n) and by the parameters (samples − 2, n, m), and of position (samples, n)."""

    torque: FloatArray
    by_positions: FloatArray
    by_theta: FloatArray
    position: FloatArray

    @property
    def half_square(self) -> float:
        return float((self.torque**2).sum() + (self.position**2).sum()) / 2


class Nodes:
    """The problem of all recordings, in the shape of `Windows` without states: `condense` gives it in the parameters alone.

    `sigma` (n,) are the deviations of the torques [N·m or N]; while `held`, positions are the recorded ones.
    """

    count = 0

    def __init__(self, robot: Robot, motions: Sequence[Motion], parameters: Parameters, sigma: FloatArray) -> None:
        self.robot, self.motions, self.parameters, self.sigma = robot, motions, parameters, sigma
        self.positions = [motion.q.copy() for motion in motions]
        self.held = True
        self._last: tuple[FloatArray, FloatArray, list[_At]] | None = None
        self.torques = sum((motion.steps - 1) * robot.n for motion in motions)
        self.residuals = self.torques + sum(motion.q.size for motion in motions)
        self.ties = np.zeros((0, 2), dtype=np.intp)
        self.states = np.zeros((0, 2 * robot.n))

    def condense(self, theta: FloatArray, states: FloatArray) -> Condensed:
        """Half the mean square of what is left with the best positions, its gradient and Gauss-Newton curvature."""
        m = len(theta)
        value, gradient, total = 0.0, np.zeros(m), np.zeros((m, m))
        for motion, at in zip(self.motions, self._everywhere(theta), strict=True):
            rows = at.by_theta.reshape(-1, m)
            total += rows.T @ rows
            if not self.held:
                cross = _onto(at.by_positions, at.by_theta).reshape(-1, m)
                total -= cross.T @ solveh_banded(_banded(at.by_positions, len(motion.q)), cross)
            value += at.half_square
            gradient += rows.T @ at.torque.ravel()
        mean, size = 1.0 / self.residuals, 2 * self.robot.n
        blocks, by_start = np.zeros((0, m + size, m + size)), np.zeros((0, size, m + size))
        return Condensed(mean * value, mean * gradient, states, blocks, mean * total, states, by_start)

    def half_mean_square(self, theta: FloatArray, _states: FloatArray) -> float:
        """The value of `condense` alone."""
        return sum(at.half_square for at in self._everywhere(theta)) / self.residuals

    @staticmethod
    def information(found: Condensed) -> FloatArray:
        """Information (m, m) of the parameters alone, for the mean square."""
        return found.total

    def rms(self, theta: FloatArray) -> FloatArray:
        """Root mean square (n,) of what is left of the torques [N·m or N]."""
        left = np.concatenate([at.torque for at in self._everywhere(theta)]) * self.sigma
        return np.asarray(np.sqrt((left**2).mean(axis=0)), dtype=np.float64)

    def influence(self, theta: FloatArray, moves: FloatArray) -> Influence:
        """Of every joint's residuals on what moves by `moves` (m, k) with the gradient of half the square of all."""
        every = np.concatenate([motion.q for motion in self.motions])
        found = Influence(every.min(axis=0), every.max(axis=0))
        for motion, at in zip(self.motions, self._everywhere(theta), strict=True):
            parts = ((at.torque[:, j, None] * at.by_theta[:, j]) @ moves for j in range(self.robot.n))
            found.add(motion.q[1:-1], parts)
        return found

    def paths(self, theta: FloatArray) -> list[Path]:
        """Positions, rates (samples, n) and true torques (samples − 1, n) of every recording."""
        alpha, found = self.parameters.alpha(theta), []
        for q, motion in zip(self.positions, self.motions, strict=True):
            rate = np.gradient(q, motion.h, axis=0)
            reading = self.robot.inverse_dynamics(q, rate, np.gradient(rate, motion.h, axis=0), alpha)
            found.append((q, rate, self.parameters.torque(reading, theta)[:-1]))
        return found

    def _everywhere(self, theta: FloatArray) -> list[_At]:
        """Every motion with its best positions; kept for the same parameters."""
        last = self._last
        if self.held:
            return [self._at(motion, motion.q, theta) for motion in self.motions]
        if last is None or not (np.array_equal(last[0], theta) and np.array_equal(last[1], self.sigma)):
            found = [self._found(k, theta) for k in range(len(self.motions))]
            last = self._last = theta.copy(), self.sigma.copy(), found
        return last[2]

    def _found(self, k: int, theta: FloatArray) -> _At:
        """With the best positions of motion k, from those found last."""
        motion, q = self.motions[k], self.positions[k]
        at = self._at(motion, q, theta)
        for _ in range(ITERATIONS):
            gradient = _onto(at.by_positions, at.torque[..., None])[..., 0] + at.position / DEVIATION
            try:
                step = -solveh_banded(_banded(at.by_positions, len(q)), gradient.ravel()).reshape(q.shape)
            except (LinAlgError, ValueError):
                raise SolverError("The positions of the trajectory are not determined, or not finite.") from None
            part, before = 1.0, at
            while part > SHORTEST:
                at = self._at(motion, q + part * step, theta)
                if at.half_square <= before.half_square:
                    break
                part /= 2
            if part <= SHORTEST:
                at = before
                break
            q = q + part * step
            if before.half_square - at.half_square <= SETTLED * before.half_square:
                break
        self.positions[k] = q
        return at

    def _at(self, motion: Motion, q: FloatArray, theta: FloatArray) -> _At:
        h, alpha, places = motion.h, self.parameters.alpha(theta), self.parameters.positions
        state = q[1:-1], (q[2:] - q[:-2]) / (2.0 * h), (q[2:] - 2.0 * q[1:-1] + q[:-2]) / h**2
        asked = self.robot.inverse_dynamics(*state, alpha)
        J = self.robot.jac_inverse_dynamics(*state, alpha)
        by_p, by_rate, by_change = (np.asarray(part) for part in (J.du_dp, J.du_dpd, J.du_dpdd))
        around = by_change / h**2
        by_positions = np.stack(
            [around - by_rate / (2.0 * h), by_p - 2.0 * around, around + by_rate / (2.0 * h)], axis=2
        )
        by_theta = np.asarray(self.robot.jac_alpha_inverse_dynamics(*state, alpha))[:, :, places]
        return _At(
            (asked - motion.tau[1:]) / self.sigma, by_positions / self.sigma[:, None, None],
            by_theta / self.sigma[:, None], (q - motion.q) / DEVIATION,
        )  # fmt: skip


def compare_torques(
    robot: Robot, motions: Sequence[Motion], parameters: Parameters, say: Callable[[str], None], settings: Settings
) -> End:
    """Parameters and positions of least mean square deviation; each joint's torques in units of what is left of them, unless
    deviations are given."""
    needed = ("inverse_dynamics", "jac_inverse_dynamics", "jac_alpha_inverse_dynamics")
    check_functions(robot, f"{arg.form('simultaneous')} {arg.residual('torque')}", needed)
    sigma = deviations_of(robot, motions, settings.torques)
    if not (np.isfinite(sigma) & (sigma > 0.0)).all():
        raise InputError(
            f"{arg.residual('torque')} compares the torques of all joints with their readings: expected no {arg.torques}, or "
            f"`--unknown-torque all` with {arg.torque_sigma}."
        )
    short = next((motion for motion in motions if motion.steps < 2), None)
    if short is not None:
        raise InputError(
            f"{short.name}: {short.steps} step; too short for {arg.residual('torque')}, which needs two at least."
        )
    floor = FLOOR * np.sqrt((np.concatenate([motion.tau for motion in motions]) ** 2).mean(axis=0))
    coordinates = Coordinates(robot, parameters, settings.prior)
    problem, x, iterations = Nodes(robot, motions, parameters, sigma), coordinates.start, 0
    pull = coordinates.pull(2.0 * problem.half_mean_square(coordinates.entries(x), problem.states))
    say(f"Comparing the torques of {problem.torques // robot.n} samples, {len(parameters.names)} parameters")
    for rounds in range(ROUNDS):
        problem.held = not rounds  # far from the parameters positions would be paid for what these lack
        if rounds and settings.torques is None:
            problem.sigma = np.maximum(np.maximum(problem.rms(coordinates.entries(x)), floor), np.finfo(float).tiny)
        fit, x, states = over_windows(problem, coordinates, x, pull, FINELY if rounds == ROUNDS - 1 else COARSELY)
        x, _, pull, more = weakened(problem, coordinates, x, states, pull)
        iterations += fit.solution.iterations + more
    theta = coordinates.entries(x)
    found = problem.condense(theta, problem.states)
    return End(
        coordinates, x, problem.information(found) * problem.residuals, 2.0 * found.value, problem.residuals, pull,
        fit.solution.status, iterations, (_told(),), tuple(problem.paths(theta)),
        influence=lambda moves: problem.influence(theta, moves), sample=motions[0].h,
    )  # fmt: skip


def _onto(by_positions: FloatArray, values: FloatArray) -> FloatArray:
    """Sums (samples, n, k) over deviations of derivatives by positions times values (samples − 2, n, k)."""
    count, n = by_positions.shape[0] + 2, by_positions.shape[1]
    result = np.zeros((count, n, values.shape[-1]))
    for place in range(3):
        result[place : count - 2 + place] += np.einsum("sji,sjk->sik", by_positions[:, :, place], values)
    return result


def _banded(by_positions: FloatArray, count: int) -> FloatArray:
    """Gauss-Newton matrix of the positions in the upper form of `solveh_banded`."""
    n = by_positions.shape[1]
    upper = np.zeros((3 * n, count * n))
    upper[-1] = 1.0 / DEVIATION**2
    i, j = (index.ravel() for index in np.indices((n, n)))
    first: npt.NDArray[np.intp] = np.arange(count - 2)[:, None] * n
    for a in range(3):
        for b in range(a, 3):
            block = np.einsum("sji,sjk->sik", by_positions[:, :, a], by_positions[:, :, b]).reshape(count - 2, -1)
            row, column = first + a * n + i, first + b * n + j
            kept = (column >= row)[0]
            np.add.at(upper, (3 * n - 1 + (row - column)[:, kept], column[:, kept]), block[:, kept])
    return upper


def _told() -> str:
    return (
        f"torques were compared at trajectories near the recorded positions ({arg.residual('torque')}); rates and "
        "accelerations are those of the positions"
    )
