"""`--fit contact`: friction of contacts and heights of planes by shooting through impact, sliding and rolling.

Positions alone are compared: rates jump where something lands. A sample is several steps from the next, for an impact ends
within its step; recordings that the generated step made sample by sample are followed with that step, if that leaves less. The
slip is lowered over the solves, so that what sticks at a wrong friction still tells where to go. A plane's height begins at the
lowest gap recorded, since nothing sinks in. What no contact, or none that slides, tells of is said by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, SolverError, arg
from diffpbd.runtime.base.names import listing
from diffpbd.runtime.identify.contact.touched import RESOLVED, Touched, nearest, touched
from diffpbd.runtime.identify.motion.conclusion import End, conclude
from diffpbd.runtime.identify.motion.coordinates import Coordinates
from diffpbd.runtime.identify.motion.shooting import WINDOW, over_windows
from diffpbd.runtime.identify.motion.trajectory import (
    POSITION,
    Motion,
    Parameters,
    check_functions,
    motions,
    parameters_of,
)
from diffpbd.runtime.identify.motion.windows import Windows
from diffpbd.runtime.identify.result.covariance import Influence
from diffpbd.runtime.identify.result.result import Errors, Identification, Lost, Solved, Trace, identification
from diffpbd.runtime.identify.settings.selection import FRICTION_OF_CONTACT, HEIGHT, Selection
from diffpbd.runtime.identify.settings.settings import Settings
from diffpbd.runtime.identify.settings.task import Task
from diffpbd.runtime.logs.processing import Samples
from diffpbd.runtime.model.robot import Robot

__all__ = ["fit_touching"]

SLIP = "contact.slip"
SLIPS = (1e-1, 1e-2, 1e-3)
"""[m/s] Of the solves before the last, which has the robot's own."""
COARSELY = {"tol": 1e-6, "acceptable_tol": 1e6, "acceptable_obj_change_tol": 1e-5, "acceptable_iter": 3}
FINELY = {"tol": 1e-9, "acceptable_tol": 1e6, "acceptable_obj_change_tol": 1e-9, "acceptable_iter": 5}
"""[1] Of IPOPT: where a state begins on a surface the objective bends within micrometres; the end is where it falls no more."""
STEP = 2.5e-3
"""[s] Longest step."""
NEAR, REACH = 1e-3, 2.0
"""[m, 1] A plane is no further from the lowest place recorded than this, and so many times the longest way between samples."""
UNEVEN = 10.0
"""[1] Joints are weighted by what is left of them, up to this much apart from their mean: metres beside radians."""
FAINT = 1.0
"""[rad/s or m/s] Deviation of a recorded rate where a window begins: what an impact makes of it."""
BEYOND = 4.0
"""[1] Rise of the sum of squares, in the variance of a residual, at which a friction is excluded: two standard deviations."""
HALVINGS = 12


@dataclass(frozen=True)
class _Solved:
    """The last solve: windows, unknowns with their coordinates, initial states, words of the solver."""

    windows: Windows
    coordinates: Coordinates
    x: FloatArray
    states: FloatArray
    status: str
    iterations: int

    @property
    def theta(self) -> FloatArray:
        """The fitted entries of alpha."""
        return self.coordinates.entries(self.x)

    @property
    def noise(self) -> float:
        """Largest RMS of a joint's residuals [rad or m]."""
        return float(self.windows.misses(self.theta, self.states).max())

    @property
    def loss(self) -> float:
        """Half the mean square of the weighted residuals."""
        return self.windows.half_mean_square(self.theta, self.states)


def fit_touching(task: Task) -> Identification:
    """Entries of contacts and planes, and plain ones beside them, of least mean square error of positions."""
    robot, train, validate, selection, base, settings, say = task
    _check(robot, selection, [*train, *validate], settings)
    runs = motions(train, "shooting")
    parameters = _lowest(robot, runs, parameters_of(robot, selection.names, base, "shooting"))
    coordinates = Coordinates(robot, parameters)
    if coordinates.bodies:
        raise InputError(
            f"{arg.fit} contact goes with friction, springs and such, not with inertias: fit these in free motion."
        )
    solved = _solve(robot, runs, coordinates, _evens(runs), say)
    evidence = touched(robot, solved.windows, solved.theta, solved.states)
    found = _with_evidence(solved, _concluded(solved), evidence)
    if not set(found.values) - {item.name for item in found.lost}:
        told = "; ".join(f"{item.name}: {item.reason}" for item in found.lost)
        raise InputError(f"{arg.fit} contact: these recordings tell nothing of what is to be fitted. {told}.")
    held = None
    if validate:
        kept = Coordinates(robot, replace(parameters, start=solved.theta))
        kept.lower[:] = kept.upper[:] = solved.theta
        held = _errors(robot, validate, _over(robot, motions(validate, "shooting"), kept, solved.windows, say))
    notes = (
        *selection.notes, *found.notes, *_said(solved, runs[0].h),
        *(f"{s.name}: {note}" for s in (*train, *validate) for note in s.notes),
    )  # fmt: skip
    errors = _errors(robot, train, solved)
    found = replace(found, notes=notes)
    return identification(robot, base, found, errors, held, train[0].processing, compared="position")


def _check(robot: Robot, selection: Selection, samples: Sequence[Samples], settings: Settings) -> None:
    """What does not go together."""
    check_functions(robot, f"{arg.fit} contact")
    if settings.form == "simultaneous":
        raise InputError(
            f"{arg.fit} contact follows the step in joint space, not {arg.form('simultaneous')}; leave {arg.form} out."
        )
    strange = [name for name in selection.names if name == SLIP or name.startswith("contact.load.")]
    if strange:
        raise InputError(
            f"{arg.fit}: {listing(strange)} say how the step smooths, not how things touch; they are chosen, not fitted."
        )
    if robot.manifest.robot.loops:
        raise InputError(f"{arg.fit} contact: {robot.name} has closed loops; it is for open trees.")
    if robot.manifest.robot.floating:
        raise InputError(f"{arg.fit} contact: {robot.name} has a floating base; read poses by read_tosses.")
    for s in samples:
        if s.processing.cutoff is not None:
            raise InputError(
                f"{s.name}: filtered at {s.processing.cutoff:g} Hz, which rounds off impacts; {arg.fit} contact needs "
                f"{arg.cutoff} 0."
            )
        if s.unread and len(robot.manifest.robot.base_freedoms) < robot.n:
            raise InputError(f"{s.name}: it has no tau_<joint> columns, and the joints of {robot.name} have motors.")


def _lowest(robot: Robot, runs: Sequence[Motion], parameters: Parameters) -> Parameters:
    """Heights that are fitted begin where the lowest place recorded touches, and stay as near as a step may have gone on."""
    start, lower, upper = (side.copy() for side in (parameters.start, parameters.lower, parameters.upper))
    contacts = robot.manifest.robot.contacts
    at = parameters.alpha(start)
    each = [np.reshape(robot.contact_gap(run.q, alpha=at), (len(run.q), -1)) for run in runs]
    gaps = np.concatenate(each)
    change = np.max([np.abs(np.diff(own, axis=0)).max(axis=0) for own in each], axis=0)
    for k, name in enumerate(parameters.names):
        own = [c for c, contact in enumerate(contacts) if name == HEIGHT + contact.against]
        if own:
            start[k] += float(gaps[:, own].min())
            reach = NEAR + REACH * float(change[own].max())
            lower[k], upper[k] = start[k] - reach, start[k] + reach
    return replace(parameters, start=start, lower=lower, upper=upper)


def _evens(runs: Sequence[Motion]) -> list[int]:
    """Steps from sample to sample that are tried."""
    fine = max(1, *(int(np.ceil(run.h / STEP - 1e-9)) for run in runs))
    return [fine] if fine == 1 else [fine, 1]


def _solve(
    robot: Robot, runs: Sequence[Motion], coordinates: Coordinates, evens: Sequence[int], say: Callable[[str], None]
) -> _Solved:
    """With the slip lowered, joints weighted by what is left, and steps as short as follow the recordings best."""
    parameters = coordinates.parameters
    own = float(parameters.base[robot.alpha.index(SLIP)])
    weight = _weights(np.ones(robot.n))
    x, iterations = coordinates.start, 0
    states: FloatArray | None = None
    slips = [*(slip for slip in SLIPS if slip > own), own]
    for k, slip in enumerate(slips):
        last = k == len(slips) - 1
        windows = Windows(robot, runs, _at_slip(robot, parameters, slip), WINDOW, every=evens[0], weight=weight)
        counted = f"{windows.count} window{'s' * (windows.count > 1)}"
        say(f"Shooting {counted} at a slip of {slip:g} m/s, {len(parameters.names)} parameters")
        fit, x, states = over_windows(windows, coordinates, x, 0.0, FINELY if last else COARSELY, states)
        iterations += fit.solution.iterations
        if k == len(slips) - 2:
            weight = _weights(windows.misses(coordinates.entries(x), states))
    assert states is not None
    best = _Solved(windows, coordinates, x, states, fit.solution.status, iterations)
    for every in evens[1:]:
        windows = Windows(robot, runs, best.windows.parameters, WINDOW, every=every, weight=weight)
        say(f"Shooting with {every} step a sample")
        fit, x, states = over_windows(windows, coordinates, best.x, 0.0, FINELY, best.states)
        other = _Solved(windows, coordinates, x, states, fit.solution.status, iterations + fit.solution.iterations)
        best = min(best, other, key=lambda solved: solved.loss)
    return best


def _at_slip(robot: Robot, parameters: Parameters, slip: float) -> Parameters:
    base = parameters.base.copy()
    base[robot.alpha.index(SLIP)] = slip
    return replace(parameters, base=base)


def _weights(left: FloatArray) -> FloatArray:
    """Of samples (2, 2 n), with joints weighted by what is left of each: positions, and faintly the rate that a window begins
    with, which has no effect on what already lies on a surface."""
    left = np.maximum(left, np.finfo(float).tiny)
    apart = np.clip(left / np.exp(np.log(left).mean()), 1.0 / UNEVEN, UNEVEN)
    at, rate = 1.0 / (POSITION * apart), np.full(len(left), 1.0 / FAINT)
    return np.stack([np.concatenate([at, rate]), np.concatenate([at, 0.0 * rate])])


def _over(
    robot: Robot, runs: Sequence[Motion], coordinates: Coordinates, like: Windows, say: Callable[[str], None]
) -> _Solved:
    """The initial states of other recordings, with everything else held."""
    say("Following the recordings to test on")
    windows = Windows(robot, runs, coordinates.parameters, WINDOW, every=like.every, weight=like.weight)
    fit, x, states = over_windows(windows, coordinates, coordinates.start, 0.0, COARSELY)
    return _Solved(windows, coordinates, x, states, fit.solution.status, fit.solution.iterations)


def _concluded(solved: _Solved) -> Solved:
    """Deviations by the residuals, sample by sample."""
    windows, theta, states = solved.windows, solved.theta, solved.states
    at = windows.condense(theta, states)

    def influence(moves: FloatArray) -> Influence:
        return windows.influence_by_sample(at, theta, states, moves)

    return conclude(
        End(
            solved.coordinates, solved.x, windows.information(at) * windows.residuals, 2.0 * at.value, windows.residuals,
            0.0, solved.status, solved.iterations, influence=influence, sample=max(group.h for group in windows.groups),
        )
    )  # fmt: skip


def _with_evidence(solved: _Solved, found: Solved, evidence: Sequence[Touched]) -> Solved:
    """Without what no contact tells of."""
    lost, values = {item.name: item for item in found.lost}, dict(found.values)
    begin = solved.coordinates.parameters.base[solved.coordinates.parameters.positions]
    before = dict(zip(solved.coordinates.parameters.names, begin.tolist(), strict=True))
    for name in found.values:
        kind = FRICTION_OF_CONTACT if name.startswith(FRICTION_OF_CONTACT) else HEIGHT
        if not name.startswith(kind):
            continue
        own = [e for e in evidence if e.concerns(name)]
        if not any(e.touches for e in own):
            lost[name] = Lost(name, f"nothing is seen to touch there: {nearest(own)}")
            values[name] = before[name]
        elif kind == FRICTION_OF_CONTACT and not any(e.slides(solved.noise) for e in own):
            least = _least(solved, name)
            lost[name] = Lost(name, f"it only sticks or rolls, which bounds the friction: at least {least:.3g}")
            values[name] = max(before[name], least)
    kept = {name: std for name, std in found.deviations.items() if name not in lost}
    bounds = {name: side for name, side in found.bounds.items() if name not in lost}
    return replace(found, values=values, lost=tuple(lost.values()), deviations=kept, bounds=bounds)


def _least(solved: _Solved, name: str) -> float:
    """The least friction that the recordings allow, others held. What sticks creeps with the slip, differently by friction."""
    windows, theta = solved.windows, solved.theta
    k = windows.parameters.names.index(name)
    best = windows.half_mean_square(theta, solved.states)
    crept = float(windows.parameters.base[windows.robot.alpha.index(SLIP)]) * WINDOW / POSITION
    allowed = best * (1.0 + BEYOND / windows.residuals) + max(RESOLVED, 0.5 * crept**2)
    low, high = float(windows.parameters.lower[k]), float(theta[k])
    for _ in range(HALVINGS):
        theta[k] = 0.5 * (low + high)
        try:
            fits = windows.half_mean_square(theta, solved.states) <= allowed
        except SolverError:
            fits = False
        low, high = (low, float(theta[k])) if fits else (float(theta[k]), high)
    return high


def _said(solved: _Solved, h: float) -> list[str]:
    """How it was followed."""
    every = solved.windows.every
    return [
        f"Contacts: positions alone are compared, over windows of up to {WINDOW:g} s in steps of {1e3 * h / every:.3g} ms, "
        f"{every} a sample; recordings are taken as they are, unfiltered"
    ]


def _errors(robot: Robot, samples: Sequence[Samples], solved: _Solved) -> Errors:
    """Of positions."""
    traces = []
    for s, (P, _, _) in zip(samples, solved.windows.paths(solved.theta, solved.states), strict=True):
        traces.append(Trace.of(s, s.trimmed(s.q), P[:: solved.windows.every]))
    return Errors.of(robot.joints, traces)
