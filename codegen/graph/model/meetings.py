"""Where two shapes touch: gap, normal and point of a contact, by the one definition of distance, `distances`.

Witnesses move with the bodies and are held while a gap is differentiated, so a row of J is the gap's own gradient. Where two
capsules cross nearly in parallel, a tilt moves their nearest points fast: the surfaces are as flat there as a ball of radius
w/θ², w the distance of the axes and θ their angle, and no step could follow. There the smoothing length is a share of them,

    δ² = CROSSING² h h' PARALLEL²/(PARALLEL² + sin²θ),        h, h' the halves of both,

which bounds the radius by w/(2 CROSSING²). The ends of both, which are contacts of their own, carry what lies flat.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import casadi as ca

from diffpbd.codegen.graph.expressions.distances import (
    AXES,
    CAPSULE,
    PLANE,
    SPHERE,
    Apart,
    Placed,
    apart,
    facing,
    ordered,
)
from diffpbd.codegen.graph.expressions.geometry import square
from diffpbd.codegen.graph.expressions.translate import inline
from diffpbd.codegen.graph.model.model import Model
from diffpbd.codegen.joint_space.contact.contacts import MEETING, PLACES, places
from diffpbd.codegen.program.program import Program

SMOOTHING: Final = 1e-7
"""[m] Smoothing length of distances, as the default of `clearance.smoothing`."""
CROSSING: Final = 1e-1
"""[1] The smoothing length of two parallel capsules by the mean of their halves: a step of 10 ms then follows one of 0.4 m that
rocks on another."""
PARALLEL: Final = 1e-1
"""[1] Sine of their angle from which the smoothing length falls."""
CORE: Final = 16
"""Numbers of a core in the axes of its link's joint: centre, unit axes (by columns), halves, radius."""


def inlined(program: Program, model: Model, given: Mapping[str, Any]) -> dict[str, Any]:
    """A program of contacts on a model's blocks and what else is given, with the meetings at `p`."""
    own = {**model.blocks, **given}
    if "meeting" in program.inputs:
        own["meeting"] = _meetings(model, own)
    return inline(program, {k: own[k] for k in program.inputs})


def _meetings(model: Model, own: Mapping[str, Any]) -> Any:
    """MEETING × contacts."""
    program, columns = places(model.tree), []
    seen = inline(program, {k: own[k] for k in program.inputs})["places"]
    for k, contact in enumerate(model.tree.contacts):
        half = PLACES // 2
        one, two = (
            _placed(kind, seen[half * i : half * (i + 1), k], own["core"][CORE * i : CORE * (i + 1), k])
            for i, kind in enumerate(contact.cores)
        )
        columns.append(_meeting(one, two))
    found = ca.horzcat(*columns)
    assert found.shape[0] == MEETING
    return found


def _placed(kind: str, seen: Any, numbers: Any) -> Placed:
    axes = ca.mtimes(square(seen[0:9]), ca.reshape(numbers[3:12], 3, 3)[:, : AXES[kind]])
    centre = seen[9:12] + ca.mtimes(square(seen[0:9]), numbers[0:3])
    return Placed(kind, centre, axes, numbers[12 : 12 + AXES[kind]], numbers[15])


def _meeting(one: Placed, two: Placed) -> Any:
    first, second, turned = ordered(one, two)
    crossing = first.kind == second.kind == CAPSULE
    at, pitch = _crossing(first, second) if crossing else (apart(first, second, SMOOTHING), ca.SX(0))
    if first.kind == SPHERE and second.kind in (SPHERE, PLANE):  # n has length one
        point = first.centre - (first.radius + at.distance / 2) * at.normal
    else:
        point = facing(first, at) - at.distance / 2 * at.normal
    return ca.vertcat(at.distance, -at.normal if turned else at.normal, point, pitch)


def _crossing(one: Placed, other: Placed) -> tuple[Apart, Any]:
    """Two capsules, and what their smoothing length makes of a turn about the normal."""
    length, cosine = ca.SX.sym("length"), ca.dot(one.axes[:, 0], other.axes[:, 0])
    across = ca.cross(one.axes[:, 0], other.axes[:, 0])
    spread = PARALLEL**2 + ca.dot(across, across)
    delta = CROSSING * PARALLEL * ca.sqrt(one.halves[0] * other.halves[0] / spread)
    at = apart(one, other, length)
    found = ca.substitute([at.distance, at.normal, at.moment, ca.gradient(at.distance, length)], [length], [delta])
    distance, normal, moment, slope = found
    moment += slope * delta * cosine / spread * across  # u x dδ/du, with dδ = δ cosine/spread d(cosine)
    pitch = ca.dot(moment, normal) / ca.dot(normal, normal)
    return Apart(distance, normal, moment), pitch
