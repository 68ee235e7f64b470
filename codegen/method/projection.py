"""Direct projection: all constraint rows at once, solved tip to base and back in O(n) on any tree, with one
pivot per joint.

A projection computes displacements d of all links with

    J₁ d = -c,        K d + r = J₀ᵀ λ,

K block diagonal: the paper's projection has J₁ = J₀ = J, K = W⁻¹, r = 0 (so d = W Jᵀ λ with J W Jᵀ λ = -c), a
Newton iteration of the variational step has J₁ at the iterate, J₀ at the start pose, K and r momentum and its
derivative.

Every row of J₁ d = -c couples a child with its parent, so given the parent's displacement the child's is one
solution plus a multiple of the joint's motion S: d_b = d_a + S₁ s + (closing part), with the same for J₀. The
multipliers never appear: S₀ᵀ times the balance of everything a joint carries removes them, and leaves one
scalar equation a joint. That is the block elimination of [K, -J₀ᵀ; J₁, 0] from the tips, with the 5 x 5 joint
blocks solved in closed form beforehand.

Displacements and wrenches are all taken at the root joint of the tree, d = (dx + ρ x φ, φ), where a rigid
coupling of two links is simply d_b = d_a; for that ρ, the offset of a link, is summed up from the
orientations along the tree, not from the positions, which may still violate their constraints.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import sympy as sp

from diffpbd.codegen.method import limits
from diffpbd.codegen.method.constraints import (
    JointVectors,
    axis_tangents,
    joint_gap,
    slide_offsets,
    slide_orientation,
)
from diffpbd.codegen.method.kinematics import turned
from diffpbd.codegen.method.world import call_at
from diffpbd.codegen.program.notation import (
    JOINT,
    LIMIT,
    POSE,
    POSE_POSITION,
    POSE_QUATERNION,
    WORLD,
    JointNumbers,
    children,
    column,
    part,
    square,
)
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.rotation import cross, dot, skew, symmetric
from diffpbd.codegen.program.tree import Tree

ZERO3 = Matrix([0, 0, 0])
IDENTITY = Matrix.eye(3)
SYMMETRIC_INERTIA = 10
"""m, m ρ (3), inertia about the root joint (6)."""
GENERAL_INERTIA = 16
"""m, m ρ₁ (3), m ρ₀ (3), rotational block (9): [m 1, -[m ρ₁]x; [m ρ₀]x, block]."""


# Motion of a joint, and the displacement that closes it -------------------------------------------


def hinge_closing(joint: JointNumbers, w: JointVectors) -> Any:
    """Relative rotation k (3) with dc = -c for the tangent rows c = (e1·axis_b, e2·axis_b): (c₂ e1 - c₁
    e2)/(axis_a·axis_b).

    From dc_i = (axis_b x e_i)·k; the null space is axis_b. Vectors in the axes of `w`.
    """
    c = axis_tangents(w)
    return (c[1] * joint.e1 - c[0] * joint.e2) / dot(joint.axis_a, w.axis_b)


def slide_closing(joint: JointNumbers, w: JointVectors) -> Any:
    """Relative rotation k (3) with dc = -c for 2 s vec(q_rel) = n sin θ: -n tan θ, as n is an eigenvector of
    dc/dk."""
    c = slide_orientation(w)
    trace = sum((dot(a, b) for a, b in zip((joint.e1, joint.e2, joint.axis_a), w.triad_b, strict=True)), sp.Integer(0))
    n = joint.e1 * c[0] + joint.e2 * c[1] + joint.axis_a * c[2]
    return -n / ((trace - 1) / 2)


@cache
def motion_kernel(slide: bool, closing: bool) -> Program:
    """Leaf: `motion` S (6) and `offset` ρ (3) of a child; when closing also its `gap` (6), which adds to its
    parent's.

    The world does not move, and the first joint that hangs on it is the origin of its tree.
    """
    program = Program(
        f"{'slide' if slide else 'hinge'}_{'closing' if closing else 'motion'}",
        "Motion and offset of a joint's child" + (", and the displacement that closes the joints." if closing else "."),
    )
    joint = JointNumbers.of(program.input("joint", JOINT))
    R_a, offset_a = square(program.input("rotation_a", 9)), program.input("offset_a", 3)
    gap_a = program.input("gap_a", 6) if closing else None
    R_b = square(program.input("rotation_b", 9))
    x_a, x_b = ZERO3, ZERO3
    if slide or closing:
        x_a, x_b = program.input("x_a", 3), program.input("x_b", 3)
    w = JointVectors.at(program, joint, x_a, R_a, x_b, R_b)
    if slide:
        offset = program.let(offset_a + program.let(x_b - x_a))
        motion = column(w.on_a(joint.axis_a), ZERO3)
    else:
        at_joint = program.let(offset_a + w.r_a)
        offset = program.let(at_joint - w.r_b)
        motion = column(program.let(cross(at_joint, w.axis_b)), w.axis_b)
    program.output("motion", motion)
    program.output("offset", offset)
    if closing:
        program.output("gap", program.let(gap_a + _closing(program, slide, joint, R_a, w, offset)))
    return program


def _closing(program: Program, slide: bool, joint: JointNumbers, R_a: Any, w: JointVectors, offset: Any) -> Any:
    """d_b (6) that closes the joint while the parent rests."""
    local = JointVectors(joint, ZERO3, ZERO3, lambda v: v, lambda v: program.let(R_a.T * w.on_b(v)))
    k = w.on_a(program.let((slide_closing if slide else hinge_closing)(joint, local)))
    gap = program.let(joint_gap(w))
    if slide:
        c = program.let(slide_offsets(w))
        gap = w.on_a(joint.e1) * c[0] + w.on_a(joint.e2) * c[1]
    return column(cross(program.let(offset + w.r_b), k) - gap, k)


def motions(
    program: Program, tree: Tree, joint: Any, x: list[Any], R: list[Any], closing: bool
) -> list[dict[str, Any]]:
    """Calls: motion, offset (and gap) of every link, base to tip; x (3) and R (9) of every link."""
    results: list[dict[str, Any]] = []
    for j, parent in enumerate(tree.parents):
        own = {"joint": part(joint, JOINT, j), "rotation_b": R[j], "x_b": x[j]}
        if parent != WORLD:
            own |= {f"{name}_a": value for name, value in results[parent].items()}
            own |= {"rotation_a": R[parent], "x_a": x[parent]}
        results.append(call_at(program, tree, j, motion_kernel(tree.slides[j], closing), own))
    return results


def motion_of(block: Any, slide: bool, root: bool = False) -> Any:
    """S (6) with the zeros of its kind: a slide does not turn, and a root hinge is the origin of its tree."""
    if slide:
        return column(block[:3, 0], ZERO3)
    return column(ZERO3, block[3:, 0]) if root else block


# Elimination from the tips ------------------------------------------------------------------------


def spatial_inertia(inertia: Any) -> Any:
    """6 x 6 matrix of a packed inertia, symmetric (10) or general (16)."""
    mass = inertia[0, 0] * IDENTITY
    if inertia.rows == SYMMETRIC_INERTIA:
        return sp.Matrix(
            sp.BlockMatrix([[mass, -skew(inertia[1:4, 0])], [skew(inertia[1:4, 0]), symmetric(inertia[4:10, 0])]])
        )
    blocks = [[mass, -skew(inertia[1:4, 0])], [skew(inertia[4:7, 0]), square(inertia[7:16, 0])]]
    return sp.Matrix(sp.BlockMatrix(blocks))


def _packed(K: Any, general: bool) -> Any:
    return column(K) if general else Matrix([K[i, j] for i in range(6) for j in range(i, 6)])


def _unpacked(flat: Any, general: bool) -> Any:
    if general:
        return Matrix(6, 6, list(flat))
    index = {(i, j): 6 * i - i * (i - 1) // 2 + j - i for i in range(6) for j in range(i, 6)}
    return Matrix(6, 6, lambda i, j: flat[index[min(i, j), max(i, j)]])


@cache
def elimination_kernel(
    general: bool, carries: bool, slide: bool, resisted: bool = False, limited: bool = False, bordered: bool = False
) -> Program:
    """Leaf: how one joint moves with its parent, s = -(row·d_a + constant), and what that feels of it, `carried_on`.

    With K and r of everything the joint carries: s = -(S₀ᵀ K d_a + S₀ᵀ r - effort)/(S₀ᵀ K S₁). The pivot
    S₀ᵀ K S₁ is the inertia the joint feels, positive for K symmetric and near it otherwise (K and S₀ differ
    from symmetric by O(h)), so no pivoting is needed. `resisted` joints, those of the velocity stage, add `slope`
    to their pivot and `drive` to their effort, and r is minus the link's momentum. What the parent feels of a joint
    that is locked at its limit (`limited`) is all that the joint carries, moved by `stop` to the limit (`resisted`:
    by minus the rate `before`); row and constant still say how the joint would move if it were free. Beside closed loops
    (`bordered`) it also tells the `inverse` of the pivot and its `reach`, K S₁.
    """
    kind = f"{'slide' if slide else 'hinge'}{'' if carries else '_tip'}"
    program = Program(
        f"eliminate_{kind}_{'general' if general else 'symmetric'}{'_resisted' if resisted else ''}"
        f"{'_limited' if limited else ''}{'_bordered' if bordered else ''}",
        "One joint eliminated: how it moves with its parent, what its parent feels of it.",
    )
    inertia = program.input("inertia", GENERAL_INERTIA if general else SYMMETRIC_INERTIA)
    r = -program.input("momentum", 6) if resisted else program.input("wrench", 6)
    S1 = motion_of(program.input("motion", 6), slide)
    S0 = motion_of(program.input("start_motion", 6), slide) if general else S1
    K = spatial_inertia(inertia)
    if carries:
        size = 36 if general else 21
        carried = program.input("carried", size + 6)
        K = K + _unpacked(carried[:size, 0], general)
        r = r + carried[size:, 0]
    K, r = program.let(K), program.let(r)
    U = program.let(K * S1)
    pivot = dot(S0, U)
    load = dot(S0, r)
    if resisted:
        pivot = pivot + program.scalar("slope")
        load = load - program.scalar("drive")
    inverse = program.let(1 / program.let(pivot))
    if general:
        h, effort = program.scalar("h"), program.scalar("effort")
        load = load - program.let(h * h / 2) * effort
    constant = program.let(program.let(load) * inverse)
    row = program.let(program.let(K.T * S0) * inverse)
    program.output("row", row)
    program.output("constant", constant)
    if bordered:
        program.output("inverse", inverse)
        program.output("reach", U)
    shift = -constant
    if limited:
        held = program.let(program.scalar("lock") ** 2)
        free = program.let(1 - held)
        stop = -program.scalar("before") if resisted else program.scalar("stop")
        shift = program.let(held * stop - free * constant)
        row = program.let(free * row)
    left = _packed(K - U * row.T, general)
    program.output("carried_on", column(program.let(left), program.let(r + U * shift)))
    return program


@cache
def sum_kernel(size: int) -> Program:
    """Leaf: the sum of two columns; what two children of one link carry."""
    program = Program(f"sum_{size}", "Sum of two columns.")
    program.output("total", program.let(program.input("one", size) + program.input("other", size)))
    return program


def total(program: Program, parts: list[Any]) -> Any:
    """Calls: sum of columns."""
    result = parts[0]
    for other in parts[1:]:
        result = program.call(sum_kernel(result.rows), one=result, other=other)["total"]
    return result


@cache
def follow_kernel(slide: bool, limited: bool = False) -> Program:
    """Leaf: displacement of a link from its parent's, and its pose moved by it: x + dx, q turned by φ.

    A `limited` joint moves no further than its `room`, and says where it was stopped: `lock_next`.
    """
    kind = f"{'slide' if slide else 'hinge'}{'_limited' if limited else ''}"
    program = Program(f"follow_{kind}", "A link follows its parent and moves to its new pose.")
    row, constant = program.input("row", 6), program.scalar("constant")
    S = motion_of(program.input("motion", 6), slide)
    offset, gap, pose = program.input("offset", 3), program.input("gap", 6), program.input("pose", POSE)
    d_a = program.input("displacement_a", 6)
    s = program.let(-dot(row, d_a) - constant)
    if limited:
        s, lock = limits.stopped(program, s, program.input("room", LIMIT))
        program.output("lock_next", lock)
    d = program.let(d_a + S * s)
    total = program.let(d + gap)
    phi = total[3:, 0]
    x = program.let(pose[POSE_POSITION, 0] + total[:3, 0] + cross(phi, offset))
    program.output("displacement", d)
    program.output("moved", column(x, turned(program, pose[POSE_QUATERNION, 0], phi)))
    return program


def solve(
    program: Program,
    tree: Tree,
    inertia: list[Any],
    wrench: list[Any],
    motion: list[dict[str, Any]],
    pose: list[Any],
    start_motion: list[Any] | None = None,
    effort: list[Any] | None = None,
    h: Any = None,
    stops: Sequence[limits.Stop | None] = (),
    border: Callable[[list[dict[str, Any]]], list[dict[str, Any]]] | None = None,
) -> tuple[list[Any], list[Any]]:
    """Calls: the projection's displacements applied to the poses (7 each), and who is at a limit (n); general with
    `start_motion`, else symmetric.

    The active set of the limits, `stops`, is the given one on the way to the base. On the way back every joint decides anew:
    exactly, for the motion of its parent and what it carries. Where the set comes out as it went in, the multipliers of all
    locked joints are ≥ 0 and the free ones are inside their limits. `border` puts what closed loops do into the joints'
    constants.
    """
    general = start_motion is not None
    at = list(stops) or [None] * tree.n
    rules: list[dict[str, Any]] = [{}] * tree.n
    felt: list[Any] = [None] * tree.n
    for j in reversed(range(tree.n)):
        parent = tree.parents[j]
        given = {"inertia": inertia[j], "wrench": wrench[j], "motion": motion[j]["motion"]}
        if start_motion is not None and effort is not None:
            given |= {"start_motion": start_motion[j], "effort": effort[j], "h": h}
        behind = [felt[k] for k in children(tree, j)]
        if behind:
            given["carried"] = total(program, behind)
        stop = None if parent == WORLD else at[j]
        if stop is not None:
            given |= {"lock": stop.lock, "stop": stop.distance}
        closing = {"bordered": True} if border is not None else {}
        kernel = elimination_kernel(general, bool(behind), tree.slides[j], limited=stop is not None, **closing)
        rules[j] = call_at(program, tree, j, kernel, given)
        felt[j] = rules[j].get("carried_on")
    if border is not None:
        rules = border(rules)
    displaced: list[Any] = []
    moved, locks = [], []
    for j, parent in enumerate(tree.parents):
        stop = at[j]
        given = {"pose": pose[j], **motion[j]}
        if parent != WORLD:
            given["displacement_a"] = displaced[parent]
        if stop is not None:
            given["room"] = stop.room
        called = call_at(program, tree, j, follow_kernel(tree.slides[j], stop is not None), rules[j], given)
        displaced.append(called["displacement"])
        moved.append(called["moved"])
        locks.append(called["lock_next"][0, 0] if stop is not None else sp.Integer(0))
    return moved, locks
