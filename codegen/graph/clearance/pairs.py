"""Selects the pairs of shapes for `clearance`: those that may touch, but do not always.

Candidates are all pairs whose links can move against each other. Left out, each with its reason, are pairs disabled in an SRDF
and, as in MoveIt's setup assistant, pairs that sampling finds to touch in nearly every pose, by their make, or never; and
neighbours that stay close to each other at their joint. Poses are drawn within the limits, deterministically. For a pair that
never touched, its distance is then minimised by gradient descent from its nearest samples, which finds contacts in corners
that no sample hit. Where loops are closed, all of this is done in poses that close them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import casadi as ca
import numpy as np
import numpy.typing as npt

from diffpbd.codegen.description.geometry.rigid import norm
from diffpbd.codegen.description.report import listed, quoted
from diffpbd.codegen.description.robot.robot import Robot
from diffpbd.codegen.graph.clearance.clearance import Clearance
from diffpbd.codegen.graph.clearance.closed import Closing
from diffpbd.codegen.graph.functions.functions import Graphs
from diffpbd.codegen.graph.solved.floating import PLACE
from diffpbd.runtime.base.errors import InputError

Array = npt.NDArray[np.float64]
Indices = tuple[int, int]

SAMPLES: Final = 10_000
"""[1] Poses; MoveIt's default."""
MOSTLY: Final = 0.95
"""[1] Share of poses above which a pair always touches; as in MoveIt."""
ROOM: Final = 0.03
"""[m] Neighbours that no pose brings further apart are near by their joint, not by how they stand: motions could not keep the
usual 2 cm."""
APART: Final = f"never touched in {SAMPLES} poses"
ALWAYS: Final = f"touch by their make, in {100 * MOSTLY:g} % of poses or more"
CLOSE: Final = f"neighbours that are never more than {100 * ROOM:g} cm apart"
DISABLED: Final = "disabled in the SRDF"
UNNAMED: Final = "not among the recipe's pairs"
OFTEN: Final = 0.5
"""[1] Share above which a kept pair is reported: its shapes are too wide, or the robot is folded."""
FEWEST: Final = 100
"""[1] Closed poses without which nothing is left out."""
FOLLOWED: Final = 4
"""[1] Number of nearest poses of a pair for descent."""
WAY, SHORTER = 40, 0.7
"""[1] Steps of the descent, and factor on a step without progress."""
FIRST: Final = 0.3
"""[rad or m] First step of the descent."""
SLIDE: Final = 0.5
"""[m] To either side of zero where a slide has no limits; a hinge without has half a turn."""


@dataclass(frozen=True)
class Chosen:
    """Pairs by index; those that are not watched, by reason, and notes."""

    pairs: tuple[Indices, ...]
    unwatched: Mapping[str, tuple[Indices, ...]]
    lines: tuple[str, ...]


def choose(graphs: Graphs) -> Chosen:
    """The pairs of a model's robot, which has shapes; those of its recipe, where it names any."""
    robot, recipe = graphs.model.robot, graphs.model.recipe
    moving = _moving(robot)
    if recipe.pairs:
        named = _named(robot, moving, recipe.pairs)
        return Chosen(named, _reasons({UNNAMED: [pair for pair in moving if pair not in named]}), ())
    disabled = {frozenset(pair) for pair in robot.apart}
    parts = {pair: frozenset(robot.shapes[k].part for k in pair) for pair in moving}
    sampled = _sampled(graphs, [pair for pair in moving if parts[pair] not in disabled])
    srdf = _reasons({DISABLED: [pair for pair in moving if parts[pair] in disabled]})
    return Chosen(sampled.pairs, {**sampled.unwatched, **srdf}, sampled.lines)


def _reasons(found: Mapping[str, Sequence[Indices]]) -> dict[str, tuple[Indices, ...]]:
    """Those that concern a pair."""
    return {why: tuple(pairs) for why, pairs in found.items() if pairs}


def _sampled(graphs: Graphs, asked: Sequence[Indices]) -> Chosen:
    """Those of these pairs that touch in some poses. A moving base stands at zero there: pairs with the world are all kept."""
    robot = graphs.model.robot
    free = tuple(pair for pair in asked if robot.base_freedoms and min(robot.shapes[k].link for k in pair) < 0)
    every = [pair for pair in asked if pair not in free]
    if not every:
        return Chosen(free, {}, ())
    low, high = _within(robot)
    closing = Closing(graphs, low, high)
    poses, closed = closing(_poses(robot, SAMPLES))
    poses = poses[closed]
    if len(poses) < FEWEST:
        line = f"{len(poses)} of {SAMPLES} poses close the loops, at least {FEWEST} are expected: all pairs are watched"
        return Chosen((*free, *every), {}, (f"{line}. Name pairs in the recipe (docs/clearance.md)",))
    found = _distances(graphs, every)(poses)
    touching = (found < 0.0).mean(axis=0)
    never = [k for k in range(len(every)) if not touching[k]]
    missed = _reached(graphs, closing, [every[k] for k in never], poses, found[:, never]) if never else set()
    why = {k: APART for at, k in enumerate(never) if at not in missed}
    for k, pair in enumerate(every):
        if touching[k] >= MOSTLY:
            why[k] = ALWAYS
        elif k not in why and _neighbours(robot, pair) and found[:, k].max() < ROOM:
            why[k] = CLOSE
    kept = [k for k in range(len(every)) if k not in why]
    unwatched = {reason: [every[k] for k in why if why[k] == reason] for reason in (APART, ALWAYS, CLOSE)}
    lines = _doubted(robot, {every[k]: float(touching[k]) for k in kept})
    return Chosen((*free, *(every[k] for k in kept)), _reasons(unwatched), lines)


def _doubted(robot: Robot, touching: Mapping[Indices, float]) -> tuple[str, ...]:
    """A line on watched pairs whose shapes may only be too wide, by the share of poses in which they touch."""
    often = {pair: share for pair, share in touching.items() if share >= OFTEN or (share and _neighbours(robot, pair))}
    if not often:
        return ()
    words = (f"{robot.shapes[a].name}/{robot.shapes[b].name} ({100 * share:.0f} %)" for (a, b), share in often.items())
    return (
        f"watched, and touching in a share of all poses: {', '.join(words)}. Where shapes are only too wide, an SRDF, or "
        "[[shape]] or pairs of a recipe change that",
    )


def _moving(robot: Robot) -> tuple[Indices, ...]:
    """Pairs of shapes on links that can move against each other, one that moves first."""
    found = []
    for a, one in enumerate(robot.shapes):
        for b, other in enumerate(robot.shapes[:a]):
            if one.link != other.link and not one.kind == other.kind == "plane":
                found.append((a, b) if one.link >= 0 else (b, a))
    return tuple(found)


def _neighbours(robot: Robot, pair: Indices) -> bool:
    """Whether a joint connects the links of both shapes, or one that closes a loop."""
    low, high = sorted(robot.shapes[k].link for k in pair)
    cut = any({loop.parent, loop.child} == {low, high} for loop in robot.loops)
    return robot.joints[high].parent == low or cut


def _named(robot: Robot, every: Sequence[Indices], words: Sequence[str]) -> tuple[Indices, ...]:
    """The pairs of words LINK/LINK, of links or shapes."""
    found: list[Indices] = []
    for word in words:
        one, _, other = word.partition("/")
        sides = [{k for k, s in enumerate(robot.shapes) if name in (s.name, s.part)} for name in (one, other)]
        own = [
            pair
            for pair in every
            if any({x}.issubset(sides[0]) and {y}.issubset(sides[1]) for x, y in (pair, pair[::-1]))
        ]
        if not own:
            raise InputError(
                f"{robot.name}: pairs: {quoted(word)}: LINK/LINK of two links or shapes that can move against each other is "
                f"expected; shapes are {listed(s.name for s in robot.shapes)}."
            )
        found += [pair for pair in own if pair not in found]
    return tuple(found)


def _distances(graphs: Graphs, pairs: Sequence[Indices]) -> Callable[[Array], Array]:
    """Distances (poses, pairs) at poses (poses, n_p), with the defaults of alpha."""
    at = Clearance(graphs, pairs, {})
    f = ca.Function("clearance", [graphs.p, graphs.alpha], [ca.vertcat(*[x.distance for x in at.found()])])
    alpha = [entry.default for entry in graphs.model.entries]
    return lambda poses: np.asarray(f(poses.T, ca.DM(alpha)).full().T)


def _poses(robot: Robot, count: int) -> Array:
    """Poses (count, n_p) within the limits, the first in their middle; a base stands at zero."""
    rng = np.random.default_rng(0)
    low, high = limits(robot)
    poses = low + (high - low) * rng.random((count, len(low)))
    poses[0] = 0.5 * (low + high)
    if not robot.floating:
        return poses
    base = np.tile([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], (count, 1))
    return np.hstack([base, poses[:, PLACE - 1 :]])


def limits(robot: Robot) -> tuple[Array, Array]:
    """Limits (n) of the coordinates, those of a moving base 0."""
    low, high = [], []
    for i in robot.independent:
        joint = robot.joints[i]
        room = 0.0 if joint.name in robot.base_freedoms else SLIDE if joint.type.slides else np.pi
        low.append(-room if joint.lower is None or room == 0.0 else joint.lower)
        high.append(room if joint.upper is None or room == 0.0 else joint.upper)
    return np.array(low), np.array(high)


def _within(robot: Robot) -> tuple[Array, Array]:
    """Limits of the numbers of a pose, but for the place of a floating base."""
    low, high = limits(robot)
    first = PLACE - 1 if robot.floating else 0
    return low[first:], high[first:]


def _reached(graphs: Graphs, closing: Closing, pairs: Sequence[Indices], poses: Array, found: Array) -> set[int]:
    """Those of the pairs, which never touched in these poses, that do after descent."""
    at = Clearance(graphs, pairs, {})
    apart = at.found()
    J = at.jacobian(apart)
    both = ca.Function("clearance", [graphs.p, graphs.alpha], [ca.vertcat(*[x.distance for x in apart]), J])
    alpha = ca.DM([entry.default for entry in graphs.model.entries])
    low, high = _within(graphs.model.robot)
    first = PLACE if graphs.model.robot.floating else 0
    nearest = np.argsort(found, axis=0, kind="stable")[:FOLLOWED]  # (followed, pairs)
    count = nearest.size
    q, own = poses[nearest.T.ravel()], np.repeat(np.arange(len(pairs)), len(nearest))
    step = np.full(count, FIRST)

    def at_poses(q: Array) -> tuple[Array, Array]:
        d, slopes = both(q.T, alpha)
        slopes = np.stack(np.hsplit(slopes.full(), count))
        return d.full().T[np.arange(count), own], slopes[np.arange(count), own]

    d, slope = at_poses(q)
    for _ in range(WAY):
        size = np.linalg.norm(slope, axis=1, keepdims=True)
        moved = q.copy()
        way = (step[:, None] * slope / np.maximum(size, 1e-12))[:, max(first - 1, 0) :]
        moved[:, first:] = np.clip(q[:, first:] - way, low, high)
        moved, closed = closing(moved)
        lower, there = at_poses(moved)
        better = closed & (lower < d)
        q[better], d[better], slope[better] = moved[better], lower[better], there[better]
        step[~better] *= SHORTER
    return set(own[d < 0.0].tolist())


def reach_of(robot: Robot) -> tuple[float, ...]:
    """Per coordinate how far a point of any shape moves at most per unit of it [m, of a slide 1]: the lengths of the links in
    front of it added up, slides at their limits; joints that mimic it count by their ratio."""
    far = [0.0] * robot.n
    for shape in robot.shapes:
        if shape.link >= 0:
            size = norm(shape.centre) + float(np.linalg.norm(shape.halves)) + shape.radius
            far[shape.link] = max(far[shape.link], size)
    total = dict.fromkeys(robot.independent, 0.0)
    for i in range(robot.n - 1, -1, -1):
        joint = robot.joints[i]
        slides = joint.type.slides
        leader, ratio = (i, 1.0) if joint.mimic is None else (joint.mimic.joint, abs(joint.mimic.multiplier))
        total[leader] += ratio * (1.0 if slides else far[i])
        if joint.parent >= 0:
            ends = (SLIDE, *(abs(x) for x in (joint.lower, joint.upper) if x is not None)) if slides else (0.0,)
            far[joint.parent] = max(far[joint.parent], norm(joint.translation) + max(ends) + far[i])
    return tuple(total[i] for i in robot.independent)
