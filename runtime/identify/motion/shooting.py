"""Identification by multiple shooting: windows of `joint_step`, each from an initial state of its own.

Unknown are the entries of alpha and the state at the start of every window. Windows are not tied to each other but by the
recording: where one ends and the next begins both follow the same sample, so that errors of torque and model do not add up over
a long recording. With `continuity` they are: each begins exactly where the one before ended, and one trajectory follows the
whole recording.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import SolverError, arg
from diffpbd.runtime.identify.motion import arrow
from diffpbd.runtime.identify.motion.conclusion import End
from diffpbd.runtime.identify.motion.coordinates import Coordinates
from diffpbd.runtime.identify.motion.information import information_of
from diffpbd.runtime.identify.motion.least_squares import Condensation, Fit, Structure, minimise
from diffpbd.runtime.identify.motion.trajectory import POSITION, RATE, Motion, Parameters, check_functions
from diffpbd.runtime.identify.motion.windows import Residuals, Windows
from diffpbd.runtime.identify.settings.settings import Settings
from diffpbd.runtime.model.robot import Robot

__all__ = ["SHARES", "WINDOW", "over_windows", "settled", "shoot"]

WINDOW = 0.5
"""[s] Length of a window: long enough for parameters to show, short enough for an arm without control not to run away."""
SHARES = (1 / 16, 1 / 4, 1.0)
"""[1] Windows are this part of the length in turn: over the first, a few steps, states depend nearly linearly on parameters
however wrong these are; each solve begins where the one before ended."""
FINELY = {"tol": 1e-9, "acceptable_tol": 1e-6, "acceptable_iter": 3}
"""[1] Optimality, for an objective of one at the start: where residuals do not vanish, the rounding of their sum ends the
search at the second, far below what standard deviations are."""
COARSELY = {"tol": 1e-6, "acceptable_tol": 1e-5, "acceptable_iter": 2}
"""[1] The same for solves whose result is a start."""
CLOSED = {"constr_viol_tol": 1e-8, "acceptable_constr_viol_tol": 1e-8}
"""[deviations] Largest gap between tied windows, 1e-11 rad and 1e-10 rad/s, and in SI units between entries of a body and
their given values: rounding of a rollout."""
NEAR = {"mu_init": 1e-7}
"""[1] Of IPOPT where solves follow one another and start close to their ends: a larger barrier would push them away."""
JOINED = 1e-9
"""[rad or m, and rad/s or m/s] Gap between tied windows above which a solve that calls itself done has failed."""
NOTHING = 1e-2
"""[1] Mean square, in deviations, below which the objective is not magnified any more: rounding of the states would be too."""
REWEIGHTINGS = 6
"""[1] Most solves after the last with the prior weighed against the residual of the one before."""
STATE_SCALE = (POSITION, RATE)


def shoot(
    robot: Robot,
    motions: Sequence[Motion],
    parameters: Parameters,
    say: Callable[[str], None],
    settings: Settings | None = None,
    *,
    window: float = WINDOW,
) -> End:
    """Parameters and initial states of least mean square residual."""
    check_functions(robot, f"{arg.form('shooting')}")
    settings = settings or Settings()
    coordinates = Coordinates(robot, parameters, settings.prior)
    x, iterations, pull = coordinates.start, 0, at_start(robot, motions, coordinates, window)
    for share in SHARES:
        windows = Windows(robot, motions, parameters, share * window)
        say(f"Shooting {windows.count} windows of up to {share * window:.3g} s, {len(parameters.names)} parameters")
        fit, x, states = over_windows(windows, coordinates, x, pull, FINELY if share == SHARES[-1] else COARSELY)
        iterations += fit.solution.iterations
        if share == SHARES[0]:
            x, states, pull, more = weakened(windows, coordinates, x, states, pull)
            iterations += more
        if share != SHARES[-1]:
            x = settled(windows, coordinates, x, states)
        used, pull = pull, _renewed(windows, coordinates, x, states)
    tied = settings.continuity and len(windows.motions) < windows.count
    if tied:
        windows = Windows(robot, motions, parameters, window, tied=True)
        say(f"Tying {len(windows.ties)} windows to those before them")
    for rounds in range(REWEIGHTINGS):
        if not (tied and not rounds) and coordinates.same(pull, used):
            break
        fit, x, states = over_windows(windows, coordinates, x, pull, FINELY, states)
        iterations += fit.solution.iterations
        used, pull = pull, _renewed(windows, coordinates, x, states)
    theta = coordinates.entries(x)
    at = windows.condense(theta, states)
    notes = []
    if tied:
        gap = float(np.abs(at.ends[windows.ties[:, 0]] - states[windows.ties[:, 1]]).max())
        if not gap < JOINED:
            raise SolverError(
                f"Shooting: windows are still {gap:.2g} apart where they should join; nothing was written."
            )
        notes.append(f"{len(windows.ties)} windows joined to those before them, to {gap:.1g} (SI units)")
        paths = windows.paths(theta, states)
        information = information_of(robot, parameters, theta, paths, motions, np.zeros(robot.n))
    else:
        information = windows.information(at) * windows.residuals
    return End(
        coordinates, x, information, 2.0 * at.value, windows.residuals, used, fit.solution.status, iterations, tuple(notes),
        influence=None if tied else lambda moves: windows.influence(at, moves), sample=window,
    )  # fmt: skip


def at_start(robot: Robot, motions: Sequence[Motion], coordinates: Coordinates, window: float) -> float:
    """Weight of the prior in the first solve: what the start leaves, so that far off the description leads the way."""
    if not coordinates.bodies:
        return 0.0
    windows = Windows(robot, motions, coordinates.parameters, SHARES[0] * window)
    return coordinates.pull(2.0 * windows.half_mean_square(coordinates.entries(coordinates.start), windows.states))


def weakened(
    windows: Residuals, coordinates: Coordinates, x: FloatArray, states: FloatArray, pull: float
) -> tuple[FloatArray, FloatArray, float, int]:
    """The prior weakened step by step to what the residual left asks for: what recordings do not determine then stays nearest
    to the description, and no solve has far to go. Unknowns, states, the weight, and iterations."""
    iterations = 0
    while coordinates.bodies:
        asked = _renewed(windows, coordinates, x, states)
        if asked > pull or coordinates.same(asked, pull):
            break
        pull = coordinates.weaker(pull, asked)
        fit, x, states = over_windows(windows, coordinates, x, pull, COARSELY if pull else FINELY, states)
        iterations += fit.solution.iterations
        if not pull:
            break
    return x, states, pull, iterations


def _renewed(windows: Residuals, coordinates: Coordinates, x: FloatArray, states: FloatArray) -> float:
    """Weight of the prior beside the residuals that are left."""
    if not coordinates.bodies:
        return 0.0
    return coordinates.pull(2.0 * windows.half_mean_square(coordinates.entries(x), states))


def over_windows(
    windows: Residuals,
    coordinates: Coordinates,
    start: FloatArray,
    pull: float,
    options: Mapping[str, float] = COARSELY,
    states: FloatArray | None = None,
) -> tuple[Fit, FloatArray, FloatArray]:
    """Least squares over unknowns of the parameters and initial states, from `start` and, unless given, recorded `states`."""
    begin = windows.states if states is None else states
    problem = _Problem(windows, coordinates, start, begin, pull)
    free = np.full(begin.size, np.inf)
    fit = minimise(
        "Shooting",
        problem.condense,
        problem.join(start, begin),
        np.concatenate([coordinates.lower / problem.scale, -free]),
        np.concatenate([coordinates.upper / problem.scale, free]),
        {**options, **CLOSED, **(NEAR if coordinates.bodies else {})},
        Structure(problem.pattern.sparsity, problem.equations.sparsity),
        problem.value,
    )
    return fit, *problem.split(fit.solution.x)


class _Problem:
    """The scaled problem of all windows: x = (unknowns of the parameters, state by state), objective one at the start.

    Plain directions that the start's motion does not depend on are kept there.
    """

    def __init__(
        self, windows: Residuals, coordinates: Coordinates, start: FloatArray, begin: FloatArray, pull: float
    ) -> None:
        self.windows, self.coordinates, self.pull = windows, coordinates, pull
        self.m, n, count = coordinates.size, windows.robot.n, windows.count
        first = windows.condense(coordinates.entries(start), begin)
        self.unit = max(first.value + pull * coordinates.prior(start)[0], NOTHING)
        self.scale, undetermined = coordinates.scales(windows.information(first), start, pull)
        self.state_scale = np.repeat(STATE_SCALE, n)
        self.origin = start / self.scale
        self.keep = undetermined @ undetermined.T
        self.pattern, self.rows, self.columns = arrow.curvature(self.m, 2 * n, count)
        self.equations = arrow.equations(self.m, 2 * n, count, windows.ties, coordinates.equations)

    def split(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Unknowns of the parameters, and states (windows, 2 n), of x."""
        return x[: self.m] * self.scale, x[self.m :].reshape(
            self.windows.count, len(self.state_scale)
        ) * self.state_scale

    def join(self, z: FloatArray, states: FloatArray) -> FloatArray:
        """x of these."""
        return np.concatenate([z / self.scale, (states / self.state_scale).ravel()])

    def value(self, x: FloatArray) -> float:
        """The objective."""
        z, s = self.split(x)
        away = x[: self.m] - self.origin
        prior = self.pull * self.coordinates.prior(z)[0] + float(away @ self.keep @ away) / 2
        return (self.windows.half_mean_square(self.coordinates.entries(z), s) + prior) / self.unit

    def condense(self, x: FloatArray) -> Condensation:
        """The objective, its derivatives, and the gaps between tied windows with theirs."""
        windows, coordinates, scale, unit = self.windows, self.coordinates, self.scale, self.unit
        z, s = self.split(x)
        found, slopes = windows.condense(coordinates.entries(z), s), coordinates.slopes(z) * scale
        prior, by_prior = coordinates.prior(z)
        away = self.keep @ (x[: self.m] - self.origin)
        value = found.value + self.pull * prior + float((x[: self.m] - self.origin) @ away) / 2
        by_x = slopes.T @ found.by_theta + self.pull * by_prior * scale + away
        gradient = np.concatenate([by_x, (found.by_states * self.state_scale).ravel()])
        t, size = len(found.by_theta), len(self.state_scale)
        lift = np.zeros((t + size, self.m + size))
        lift[:t, : self.m], lift[t:, self.m :] = slopes, np.diag(self.state_scale)
        blocks = (lift.T @ found.blocks @ lift)[:, self.rows, self.columns]
        flat = slopes.T @ found.total[:t, :t] @ slopes + self.keep
        equal, by_equal = coordinates.equal(z)

        def curvature(weight: float, multipliers: FloatArray) -> FloatArray:
            weight /= unit
            own = multipliers[len(multipliers) - len(equal) :]
            bent = coordinates.curvature(z, weight * found.by_theta, own, weight * self.pull) * np.outer(scale, scale)
            top = (weight * flat + bent)[np.triu_indices(self.m)]
            return np.concatenate([top, weight * blocks.ravel()])[self.pattern.order]

        before, after = windows.ties.T
        gaps = (found.ends[before] - s[after]) / self.state_scale
        by_start = (found.by_start[before] / self.state_scale[:, None]) @ lift
        joined = [by_start.ravel(), np.full(gaps.size, -1.0), (by_equal * scale).ravel()]
        return Condensation(
            value / unit, gradient / unit, curvature,
            np.concatenate([gaps.ravel(), equal]), np.concatenate(joined)[self.equations.order],
        )  # fmt: skip


def settled(windows: Residuals, coordinates: Coordinates, x: FloatArray, states: FloatArray) -> FloatArray:
    """Unknowns after a solve whose result is a start, back to theirs where the motion found does not depend on them."""
    return coordinates.back(windows.information(windows.condense(coordinates.entries(x), states)), x)
