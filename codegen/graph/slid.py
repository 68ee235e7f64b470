"""How surfaces slide over a step: mean rates along the rows of both its ends."""

from __future__ import annotations

from typing import Any

import casadi as ca

from diffpbd.codegen.graph.geometry import product
from diffpbd.codegen.graph.model import Model
from diffpbd.codegen.graph.touched import Touched
from diffpbd.codegen.graph.translate import graph_of


def slid(model: Model, first: Any, last: Any, p: Any, p_next: Any, h: Any) -> Any:
    """Mean rates along rows of both ends over a step. A floating base is turned from one pose to the other by 2 vec(q₁ ⊗ q₀⁻¹),
    not by its hinges' angles, which depend on where they are counted from."""
    moved = p_next - p
    if not model.tree.base:
        return ca.mtimes(first + last, moved) / (2 * h)
    q, back = _base_turn(p_next), _base_turn(p) * ca.DM([1, -1, -1, -1])
    turn = 2 * product(q, back)[1:4]
    along = [ca.vertcat(moved[0:3], ca.mtimes(_hinges_by_turn(at), turn), moved[6:]) for at in (p, p_next)]
    return (ca.mtimes(first, along[0]) + ca.mtimes(last, along[1])) / (2 * h)


def _base_turn(p: Any) -> Any:
    """Quaternion of the three hinges of a floating base, about x, y and z."""
    q = ca.SX([1, 0, 0, 0])
    for k in range(3):
        half, axis = p[3 + k] / 2, ca.DM([float(k == i) for i in range(3)])
        q = product(q, ca.vertcat(ca.cos(half), ca.sin(half) * axis))
    return q


def _hinges_by_turn(p: Any) -> Any:
    """Rates of the three hinges by the angular velocity that they make (3 × 3)."""
    c1, s1, c2, s2 = ca.cos(p[3]), ca.sin(p[3]), ca.cos(p[4]), ca.sin(p[4])
    return ca.blockcat([[1, s1 * s2 / c2, -c1 * s2 / c2], [0, c1, s1], [0, -s1 / c2, c1 / c2]])


def started(model: Model, p: Any) -> Any:
    """The start of a step: there a floating base is at zero."""
    return ca.vertcat(ca.SX(6, 1), p[6:]) if model.tree.base else p


def slid_kernel(model: Model) -> ca.Function:
    """`slid` from rows that are known, a row after the other; 0 along normals."""
    n, count = model.tree.freedoms, model.tree.contact_rows
    p, p_next, h = ca.SX.sym("p", n), ca.SX.sym("p_next", n), ca.SX.sym("h")
    first, last = ca.SX.sym("first", n, count), ca.SX.sym("last", n, count)
    across = ca.DM.ones(count)
    across[Touched(model).first] = 0
    rates = across * slid(model, first.T, last.T, started(model, p), p_next, h)
    given = {"p": p, "p_next": p_next, "first": first, "last": last, "h": h}
    return graph_of("slid", given, {"rates": rates})
