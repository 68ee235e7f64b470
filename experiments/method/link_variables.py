"""The variables of Table I and figure 3 of the paper, of a robot at its zero pose: COMs and every joint's vectors."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
import numpy.typing as npt

from diffpbd.codegen.description.front.resolve import resolve
from diffpbd.codegen.graph.functions.maximal import blocks
from diffpbd.codegen.graph.loops.build import build
from diffpbd.codegen.method import kinematics
from diffpbd.codegen.program.notation import JOINT, STATE

__all__ = ["LinkVariables", "link_variables"]

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LinkVariables:
    """Link i, carried by joint i: mass (n,) [kg]; x, t, r, a, b (n, 3) [m; 1], all in world axes.

    x is the COM, t leads from it to the link's own joint; r leads to that joint from the COM of the link before (the base: its
    origin). a and b are the joint's axis on the link and on the one before; the same as long as the constraints hold.
    """

    robot: str
    links: tuple[str, ...]
    joints: tuple[str, ...]
    parents: tuple[int, ...]
    mass: Array
    x: Array
    t: Array
    r: Array
    a: Array
    b: Array


def link_variables(robot: str) -> LinkVariables:
    """Those of a description, all joints at zero."""
    recipe, described = resolve(robot)
    model = build(described, recipe)
    known, n = blocks(model), model.tree.n
    values = ca.Function("blocks", [model.alpha], [known["body"], known["joint"]])([e.default for e in model.entries])
    body, joint = (np.array(value).ravel().reshape(n, -1) for value in values)
    zero = np.zeros(n)
    run = kinematics.fk(model.tree).numpy()
    xi = run(p=zero, pd=zero, joint=joint.ravel())["xi"].reshape(n, STATE)
    turns = [_matrix(q) for q in xi[:, 6:10]]
    before = [np.eye(3) if parent < 0 else turns[parent] for parent in model.tree.parents]
    assert joint.shape[1] == JOINT

    def world(rotations: list[Array], vectors: Array) -> Array:
        return np.array([R @ w for R, w in zip(rotations, vectors, strict=True)])

    return LinkVariables(
        recipe.name, tuple(link.name for link in described.links), tuple(j.name for j in described.joints),
        model.tree.parents, body[:, 0], xi[:, :3], world(turns, joint[:, :3]), world(before, joint[:, 3:6]),
        world(turns, joint[:, 25:28]), world(before, joint[:, 16:19]),
    )  # fmt: skip


def _matrix(q: Array) -> Array:
    w, x, y, z = q
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.asarray(np.eye(3) + 2 * w * K + 2 * K @ K)
