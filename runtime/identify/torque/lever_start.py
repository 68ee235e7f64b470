"""First guesses of a lever spring's geometry.

Its torque has several optima: a spring that pushes or pulls, arms that open or close, and a spring forced through length zero
whose kink imitates what is bent elsewhere. So geometries on a grid, none of which comes close to length zero, are compared
with everything that the torque is linear in chosen anew for each, and the solver begins at the best of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import product

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import SolverError
from diffpbd.runtime.identify.columns.attached_springs import AttachedSpring
from diffpbd.runtime.identify.columns.design import Condensed
from diffpbd.runtime.identify.columns.lever_springs import NAME
from diffpbd.runtime.identify.torque.problem import Problem, core
from diffpbd.runtime.identify.torque.unknowns import Unknowns, jacobian_of

__all__ = ["opened", "starts"]

TURN = np.linspace(-np.pi, np.pi, 12, endpoint=False)
"""[rad] Angles that are tried."""
RATIOS = (0.25, 0.6)
"""[1] Lengths of one arm, as parts of the other, that are tried."""
RESTS = (0.2, 0.6, 1.0, 1.5)
"""[1] Rest lengths, as parts of both arms together: from a spring that always pulls to one that always pushes."""
OPEN = 0.2
"""[1] Least length of a spring within the recorded angles, as part of both arms together."""
COARSELY = {"tol": 1e-6, "acceptable_tol": 1e-5, "acceptable_iter": 3, "max_iter": 150}
"""Optimality of these ends, which are only starts; a hopeless one need not be followed long."""
BEST = 3
"""Number of geometries from which the solver starts, besides the given one."""


def opened(problem: Problem, springs: Sequence[AttachedSpring]) -> FloatArray:
    """Unknowns at the best end of all starts, coarsely solved."""
    begins = starts(problem.unknowns, problem.condensed, problem.sigma, springs)
    found = []
    for begin in begins:
        with suppress(SolverError):
            found.append(problem.solve(begin, COARSELY))
    return min(found, key=lambda solution: solution.objective).x if found else begins[0]


def starts(
    unknowns: Unknowns, condensed: Condensed, sigma: FloatArray, springs: Sequence[AttachedSpring]
) -> list[FloatArray]:
    """Unknowns to begin at: as given, then the best of the grid; as given alone where no geometry is unknown."""
    found = [unknowns.start]
    for lever in (spring for spring in springs if spring.element.name == NAME):
        own = {label: k for k, label in enumerate(unknowns.labels) if label in _labels(lever)}
        if own:
            found = [found[0], *_best(unknowns, condensed, sigma, lever, own, found[-1])]
    return found


def _labels(lever: AttachedSpring) -> list[str]:
    return lever.element.entries(lever.joint, lever.element.geometry)


def _best(
    unknowns: Unknowns,
    condensed: Condensed,
    sigma: FloatArray,
    lever: AttachedSpring,
    own: dict[str, int],
    begin: FloatArray,
) -> list[FloatArray]:
    whole, slopes = core(condensed, sigma), jacobian_of(unknowns.phi)
    stiffness = lever.element.entries(lever.joint, lever.element.linear)[0]
    inside = {k for body in unknowns.bodies for k in range(body.span.start, body.span.stop)}
    linear = [k for k, label in enumerate(unknowns.labels) if label not in unknowns.geometry and k not in inside]
    ranked: list[tuple[float, int, FloatArray]] = []
    for trial in _grid(unknowns, lever, own, begin):
        J = (whole.rows @ np.asarray(slopes(trial).full())[whole.columns])[:, linear]
        r = whole.rows @ unknowns.phi_at(trial)[whole.columns] - whole.rights
        lengths = np.linalg.norm(J, axis=0)
        scale = 1.0 / np.where(lengths > 0.0, lengths, 1.0)
        step = scale * np.linalg.lstsq(J * scale, -r, rcond=None)[0]
        trial[linear] += step
        if stiffness in unknowns.labels and trial[unknowns.labels.index(stiffness)] <= 0.0:
            continue
        trial = np.clip(trial, unknowns.lower, unknowns.upper)
        ranked.append((float(((r + J @ step) ** 2).sum()), len(ranked), trial))
    return [trial for *_, trial in sorted(ranked, key=lambda item: item[:2])[:BEST]]


def _grid(unknowns: Unknowns, lever: AttachedSpring, own: dict[str, int], begin: FloatArray) -> Iterator[FloatArray]:
    """Points with the geometry varied as far as it is unknown, the spring open within the recorded angles."""
    one, two, angle, rest = _labels(lever)
    alpha = dict(zip(_labels(lever), unknowns.alpha_at(begin)[list(lever.places)].tolist(), strict=True))
    angles = TURN if angle in own else (alpha[angle],)
    ratios = RATIOS if one in own or two in own else (None,)
    rests = RESTS if rest in own else (None,)
    q = np.linspace(lever.low, lever.high, 2 * len(TURN))
    for turn, ratio, part in product(angles, ratios, rests):
        arms = [alpha[one], alpha[two]]
        if ratio is not None and one in own:
            arms[0] = ratio * arms[1]
        elif ratio is not None:
            arms[1] = arms[0] / ratio
        length = sum(arms)
        rest_length = alpha[rest] if part is None else part * length
        x = np.sqrt((arms[0] - arms[1]) ** 2 + 4.0 * arms[0] * arms[1] * np.cos(0.5 * (turn + q)) ** 2)
        if x.min() < OPEN * length:
            continue
        trial = begin.copy()
        for label, value in zip((one, two, angle, rest), (*arms, turn, rest_length), strict=True):
            if label in own:
                trial[own[label]] = value
        stiffness = lever.element.entries(lever.joint, lever.element.linear)[0]
        if stiffness in unknowns.labels:
            trial[unknowns.labels.index(stiffness)] = lever.element.scales[0]
        yield trial
