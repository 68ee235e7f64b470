"""Identification with every pose unknown: states, constraint impulses, torques and parameters in one sparse problem.

Equality constraints are those of the variational step in maximal coordinates, `momentum_residual` between neighbouring states
and `state_residual` (joint constraints, unit quaternions, J v = 0) of every state. Any of parameters, states and torques may
be unknown. The objective is the mean of squared deviations from recorded positions, rates and, where torques are unknown,
readings. Jacobian and Hessian are exact and sparse: those of one step and of one state, mapped over all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from diffpbd.runtime.base import ipopt
from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, SolverError, arg
from diffpbd.runtime.identify.motion.assembly import Assembly
from diffpbd.runtime.identify.motion.conclusion import End
from diffpbd.runtime.identify.motion.coordinates import Coordinates
from diffpbd.runtime.identify.motion.information import information_of
from diffpbd.runtime.identify.motion.nodes import compare_torques
from diffpbd.runtime.identify.motion.pieces import Pieces
from diffpbd.runtime.identify.motion.shooting import (
    FINELY,
    REWEIGHTINGS,
    SHARES,
    WINDOW,
    at_start,
    over_windows,
    settled,
    weakened,
)
from diffpbd.runtime.identify.motion.torques import deviations_of, guessed
from diffpbd.runtime.identify.motion.trajectory import STEPS, Motion, Parameters, check_functions
from diffpbd.runtime.identify.motion.windows import Windows
from diffpbd.runtime.identify.settings.settings import Settings
from diffpbd.runtime.model.robot import Robot

__all__ = ["MOST_STEPS", "transcribe"]

MOST_STEPS = 5000
"""[1] Steps that are solved at once; more would take gigabytes for an arm of seven joints."""
NEEDED = (*STEPS, "momentum_residual", "state_residual", "joint_state")
FOLLOWS = 2.0
"""[1] Mean square of what shooting over a few steps leaves of positions and rates, in their deviations, up to which recordings
follow the generated step: noise of that size makes it one, recordings of a physical Baxter have 7 to 140."""
APPROACH = {
    "tol": 1e-6,
    "mu_init": 1e-4,
    "acceptable_tol": 100.0,
    "acceptable_iter": 8,
    "acceptable_constr_viol_tol": 100.0,
}
"""[1] Of IPOPT's first iterations: it stops after these few wherever it is near the recording."""
OPTIONS = {"tol": 1e-10, "mu_init": 1e-7, "acceptable_tol": 1e-7, "acceptable_iter": 5}
"""[1] Of IPOPT; the start is close to the optimum, so the barrier begins low."""
NEAR = {"mu_init": 1e-9}
"""[1] The same where bodies are unknown, whose coordinates must not be pushed along what no recording determines."""


def transcribe(
    robot: Robot,
    motions: Sequence[Motion],
    parameters: Parameters,
    say: Callable[[str], None],
    settings: Settings | None = None,
) -> End:
    """Parameters, states and unknown torques of least mean square deviation."""
    settings = settings or Settings()
    steps, choose = sum(motion.steps for motion in motions), settings.chooses and bool(parameters.names)
    possible = steps <= MOST_STEPS and all(name in robot.functions for name in NEEDED)
    if settings.residual == "torque" or (choose and not possible):
        return compare_torques(robot, motions, parameters, say, settings)
    _check(robot, steps)
    torque = deviations_of(robot, motions, settings.torques)
    coordinates = Coordinates(robot, parameters, settings.prior)
    motions = guessed(robot, motions, parameters.alpha(coordinates.entries(coordinates.start)), torque)
    try:
        near, pull, information, left = _start(robot, motions, coordinates, torque, say)
    except SolverError:
        if not choose:
            raise
        left = np.inf
    if choose and left > FOLLOWS:
        return compare_torques(robot, motions, parameters, say, settings)
    scale, undetermined = coordinates.scales(information, near, pull)
    say(f"Differentiating one step of {robot.name}")
    pieces = Pieces(robot, coordinates, near, scale, undetermined, torque)
    assembly = Assembly(pieces, motions)
    assembly.pull = pull
    say(f"Simultaneous problem of {steps} steps: {assembly.unknowns} unknowns, {assembly.rows} equations")
    solution, iterations = _solve(assembly, pieces)
    x = solution.x[: pieces.m] * scale
    paths = assembly.paths(solution.x)
    known = information_of(robot, parameters, coordinates.entries(x), paths, motions, torque)
    return End(
        coordinates, x, known, assembly.mean_square(solution.x), assembly.residuals, assembly.pull,
        solution.status, iterations, paths=tuple(paths),
    )  # fmt: skip


def _check(robot: Robot, steps: int) -> None:
    """Robots without the equations between states, and recordings that are too long for them."""
    check_functions(robot, f"{arg.form('simultaneous')} {arg.residual('position')}", NEEDED)
    if steps > MOST_STEPS:
        raise InputError(
            f"{arg.form('simultaneous')} holds every pose of every step in one problem: expected at most {MOST_STEPS} steps, "
            f"found {steps}. Cut the logs, give {arg.residual('torque')}, or use {arg.form('torque')} or shooting."
        )


def _start(
    robot: Robot, motions: Sequence[Motion], coordinates: Coordinates, torque: FloatArray, say: Callable[[str], None]
) -> tuple[FloatArray, float, FloatArray, float]:
    """Unknowns to start from, the weight of the prior, the information (entries, entries) of the mean square there, and what
    it is: by shooting over windows of a few steps, or the given values where a torque has no reading to shoot with."""
    parameters = coordinates.parameters
    windows = Windows(robot, motions, parameters, SHARES[0] * WINDOW)
    pull = at_start(robot, motions, coordinates, WINDOW)
    if np.isinf(torque).any():
        theta = coordinates.entries(coordinates.start)
        paths = [(motion.q, motion.dq, parameters.torque(motion.tau, theta)) for motion in motions]
        information = information_of(robot, parameters, theta, paths, motions, torque)
        return coordinates.start, pull, information / windows.residuals, 0.0
    say(f"Start: {windows.count} windows of up to {SHARES[0] * WINDOW:.3g} s")
    _, near, states = over_windows(windows, coordinates, coordinates.start, pull)
    near, states, pull, _ = weakened(windows, coordinates, near, states, pull)
    if 2.0 * windows.half_mean_square(coordinates.entries(near), states) > FOLLOWS:  # or the solve ended early
        _, near, states = over_windows(windows, coordinates, near, pull, FINELY, states)
    near = settled(windows, coordinates, near, states)
    found = windows.condense(coordinates.entries(near), states)
    return near, pull, windows.information(found), 2.0 * found.value


def _solve(assembly: Assembly, pieces: Pieces) -> tuple[ipopt.Solution, int]:
    """A few Gauss-Newton iterations, whose curvature is never negative, then Newton's with the exact Hessian; where there is a
    prior, this again with its weight renewed."""
    x, coordinates = assembly.start(), pieces.coordinates
    lower, upper = np.full(len(x), -np.inf), np.full(len(x), np.inf)
    lower[: pieces.m], upper[: pieces.m] = coordinates.lower / pieces.scale, coordinates.upper / pieces.scale
    iterations = 0
    for options in (APPROACH, *[OPTIONS] * (1 + REWEIGHTINGS)):
        derivatives = assembly.derivatives(exact=options is OPTIONS)
        chosen = {**options, **(NEAR if coordinates.bodies else {})}
        what, problem = "Simultaneous identification", assembly.problem()
        solution = ipopt.solve(what, problem, x, lower, upper, options=chosen, derivatives=derivatives)
        x, iterations = solution.x, iterations + solution.iterations
        used, pull = assembly.pull, coordinates.renewed(assembly.pull, assembly.mean_square(x))
        if options is OPTIONS and coordinates.same(pull, used):
            break
        assembly.pull = pull
    return solution, iterations
