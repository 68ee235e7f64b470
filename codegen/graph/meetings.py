"""Where capsules and boxes touch: gap, normal and point of a contact, by the one definition of distance, `distances`.

Witnesses move with the bodies and are held while a gap is differentiated, so a row of J is the gap's own gradient. Where two
capsules cross, the smoothing length is a share of them: nearly parallel ones are met at their middles, and as they tilt the
point moves smoothly along them; their ends, which are contacts of their own, carry what lies flat.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import casadi as ca

from diffpbd.codegen.graph.distances import AXES, CAPSULE, ORDER, Placed, apart, facing
from diffpbd.codegen.graph.geometry import square
from diffpbd.codegen.graph.model import Model
from diffpbd.codegen.graph.translate import inline
from diffpbd.codegen.joint_space.contacts import MEETING, PLACES, places
from diffpbd.codegen.program.program import Program

SMOOTHING: Final = 1e-7
"""[m] Smoothing length of distances, as the default of `clearance.smoothing`."""
CROSSING: Final = 1e-2
"""[1] Of two capsules, by the geometric mean of their halves: their gap is too large by at most its square over the distance
of their axes, and their point moves from end to end within a tilt of four times that over a half."""
CORE: Final = 16
"""Numbers of a core in the axes of its link's joint: centre, unit axes (by columns), halves, radius."""


def inlined(program: Program, model: Model, given: Mapping[str, Any]) -> dict[str, Any]:
    """A program of contacts on a model's blocks and what else is given, with the meetings at `p`."""
    own = {**model.blocks, **given}
    if "meeting" in program.inputs:
        own["meeting"] = _meetings(model, own)
    return inline(program, {k: own[k] for k in program.inputs})


def _meetings(model: Model, own: Mapping[str, Any]) -> Any:
    """MEETING × contacts of capsules and boxes."""
    program, columns = places(model.tree), []
    seen = inline(program, {k: own[k] for k in program.inputs})["places"]
    for k, contact in enumerate(model.tree.cored):
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
    turned = ORDER.index(one.kind) > ORDER.index(two.kind)
    first, second = (two, one) if turned else (one, two)
    smoothing: Any = SMOOTHING
    if first.kind == second.kind == CAPSULE:
        smoothing = CROSSING * ca.sqrt(first.halves[0] * second.halves[0])
    at = apart(first, second, smoothing)
    point = facing(first, at)
    point -= at.distance / 2 * at.normal
    return ca.vertcat(at.distance, -at.normal if turned else at.normal, point)
