"""Algorithm 1 of the paper, corrected; read it together with the paper. First order, loses energy.

Its statements by number, without comments (notation: docs/paper.md). Errors of the print ("slips"), corrected here, each have a
test (tests/method/test_slips.py):

1 to 3. *Initialize*: ξ = (x, v, q, ω) of every link, u, and the numbers α come in as flat columns.
4 to 9. *Position* and *Angular states Euler prediction*: `prediction`. Slips: the new velocity moves the position; Euler's
   equation has -ω x Iω; the world inertia is R I Rᵀ. Springs, wrenches and efforts of slides are forces here too.
10 to 18. *Constraints solving loop*: `in_turn` (the paper's Gauss-Seidel), `at_once` (Jacobi), or `direct`: all rows of all
   joints in one system. Each correction is `corrections.correction_kernel`. Slips: Δq of the positional rows is added once;
   gradients by rotations have the other signs.
19 to 25. *Position* and *Angular states Euler integration*: `velocities`, and joint friction, which the paper does not have.

Constraints are the paper's c^P (eq. 1) and c^A (eq. 11) in `constraints`. The third constraint, the limits, is mentioned there
without formulas; with limits, `touched` carries their multipliers from sweep to sweep, or in direct solves the active set
(`limits`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Protocol

import sympy as sp

from diffpbd.codegen.description.recipe_options import Relaxation
from diffpbd.codegen.method import bodies, efforts, limits, projection, velocity, wrenches
from diffpbd.codegen.method.corrections import (
    Multiplier,
    Rows,
    correction_kernel,
    displace_kernel,
    limit_kernel,
    weights,
)
from diffpbd.codegen.method.friction import at_start
from diffpbd.codegen.method.relaxation import factors
from diffpbd.codegen.method.stage import columns, each, force_columns, limit_columns, places, rotations
from diffpbd.codegen.method.velocity import FRICTION_ITERATIONS
from diffpbd.codegen.method.world import call, kernel_at
from diffpbd.codegen.program.notation import (
    BODY,
    JOINT,
    LIMIT,
    POSE,
    POSITION,
    QUATERNION,
    STATE,
    WORLD,
    children,
    column,
    part,
)
from diffpbd.codegen.program.program import Program, number
from diffpbd.codegen.program.tree import Tree

INPUTS = "xi u h gravity body joint friction spring"

# The step ---------------------------------------------------------------------------------------------------------------------


def _step(tree: Tree, solver: str, sweep: Program, iterations: int, friction_iterations: int) -> Program:
    """Predict, project the poses onto the constraints, compute velocities from the poses."""
    step = Program(f"step_paper_{solver}", f"Algorithm 1 (corrected), {solver} projection.")
    columns(step, tree, INPUTS)
    limit_columns(step, tree, "limit")
    force_columns(step, tree)
    given = step.inputs

    start = call(step, prediction(tree), given)
    given = limits.led(given, start)
    pose, touched = start["pose"], sp.zeros(tree.n, 1)
    weighed = call(step, weights(tree), given) if "weight" in sweep.inputs else {}
    for _ in range(iterations):
        swept = call(step, sweep, given, weighed, start, pose=pose, lock=touched, multiplier=touched)
        pose, touched = swept["pose_next"], swept.get("lock_next", swept.get("multiplier_next"))
    end = call(step, velocities(tree, friction_iterations), given, start, pose=pose)
    step.output("xi_next", end["xi_next"])
    return step


@cache
def paper_gauss_seidel(
    tree: Tree,
    iterations: int = 30,
    friction_iterations: int = FRICTION_ITERATIONS,
    multiplier: Multiplier = Multiplier.BLOCK,
    printed_order: bool = False,
) -> Program:
    """Algorithm 1 with Gauss-Seidel sweeps, as in the paper."""
    sweep = gauss_seidel(tree, multiplier, printed_order)
    return _step(tree, "gauss_seidel", sweep, iterations, friction_iterations)


@cache
def paper_jacobi(
    tree: Tree,
    iterations: int = 30,
    friction_iterations: int = FRICTION_ITERATIONS,
    multiplier: Multiplier = Multiplier.BLOCK,
    relaxation: Relaxation = None,
) -> Program:
    """Algorithm 1 with Jacobi sweeps, relaxed."""
    return _step(tree, "jacobi", jacobi(tree, multiplier, relaxation), iterations, friction_iterations)


@cache
def paper_direct(tree: Tree, iterations: int = 1, friction_iterations: int = FRICTION_ITERATIONS) -> Program:
    """Algorithm 1 with all constraint rows solved at once; one linear solve leaves errors quadratic in the correction."""
    return _step(tree, "direct", direct(tree), iterations, friction_iterations)


# Prediction -------------------------------------------------------------------------------------------------------------------


@cache
def prediction(tree: Tree) -> Program:
    """Poses from the old velocities and all forces, joints ignored: xi -> pose."""
    program = Program("paper_start", "Prediction of Algorithm 1 (corrected): every body moves freely.")
    xi, u, h, gravity, body, joint, spring = columns(program, tree, "xi u h gravity body joint spring")
    (limit,) = limit_columns(program, tree, "limit")
    wrench, lever = force_columns(program, tree)
    x, R = each(xi, STATE, tree, POSITION), rotations(program, each(xi, STATE, tree, QUATERNION))
    effort = efforts.efforts(program, tree, (joint, u, spring, lever), x, R)
    exerted = efforts.pulls(program, tree, joint, effort, x, R)
    for i, push in wrenches.pushes(program, tree, joint, wrench, R).items():
        exerted[i]["pull"] = projection.total(program, [exerted[i]["pull"], push])
    poses = []
    for i in range(tree.n):
        kernel = bodies.predict_kernel("reaction" in exerted[i])
        own = {"state": part(xi, STATE, i), "body": part(body, BODY, i), "rotation": R[i], **exerted[i]}
        poses.append(program.call(kernel, gravity=gravity, h=h, **own)["pose"])
    program.output("pose", column(*poses))
    if tree.limits:
        limits.begin(program, tree, (joint, limit, h), x, R)
    return program


# Projections ------------------------------------------------------------------------------------------------------------------


class Joints(Protocol):
    """Joints during a sweep: calls that compute a joint's correction at the present poses, and move bodies."""

    program: Program
    tree: Tree

    def correct(self, j: int, rows: Rows, share: Any = 1) -> dict[int, Any]:
        """Corrections of the bodies of joint j by these rows, by index; a limit adds the factor `share` of it to its
        multiplier."""

    def move(self, i: int, move: Any, turning: bool, factor: Any = 1) -> None:
        """Link i moved by a factor times `move`; `turning` leaves its position alone."""

    def output(self) -> Program:
        """The sweep's program, with the present poses and multipliers as outputs."""


class Corrections:
    """`Joints` of a sweep over poses, by the corrections of `corrections`."""

    def __init__(self, program: Program, tree: Tree, multiplier: Multiplier) -> None:
        self.program, self.tree, self.kind = program, tree, multiplier
        pose, self.weight, self.joint = columns(program, tree, "pose weight joint")
        self.limit, self.angle, held = limit_columns(program, tree, "limit angle multiplier")
        self.pose: list[Any] = each(pose, POSE, tree)
        self.multiplier: list[Any] = list(held) if tree.limits else []

    def correct(self, j: int, rows: Rows, share: Any = 1) -> dict[int, Any]:
        """(dx, φ) of each body."""
        parent, slide = self.tree.parents[j], self.tree.slides[j]
        given = {"joint": part(self.joint, JOINT, j)}
        for side, i in (("b", j), ("a", parent)):
            if i != WORLD:
                given |= {f"pose_{side}": self.pose[i], f"weight_{side}": part(self.weight, 7, i)}
        if rows is Rows.LIMIT:
            acting = {"limit": part(self.limit, LIMIT, j), "angle": self.angle[j, 0], "multiplier": self.multiplier[j]}
            kernel = kernel_at(limit_kernel(slide), parent, slide)
            moves = call(self.program, kernel, given, acting, factor=sp.sympify(share))
            self.multiplier[j] = moves["multiplier_next"][0, 0]
        else:
            kernel = kernel_at(correction_kernel(slide, rows is Rows.ANGULAR, self.kind), parent, slide)
            moves = call(self.program, kernel, given)
        return {i: moves[f"move_{side}"] for side, i in (("b", j), ("a", parent)) if i != WORLD}

    def move(self, i: int, move: Any, turning: bool, factor: Any = 1) -> None:
        """x + dx, and q turned by φ."""
        scaled = {} if factor == 1 else {"factor": factor}
        kernel = displace_kernel(turning, scaled=bool(scaled))
        self.pose[i] = self.program.call(kernel, pose=self.pose[i], move=move, **scaled)["moved"]

    def output(self) -> Program:
        """pose_next, multiplier_next."""
        self.program.output("pose_next", column(*self.pose))
        if self.tree.limits:
            self.program.output("multiplier_next", column(*self.multiplier))
        return self.program


def joints_with(tree: Tree, rows: Rows) -> tuple[int, ...]:
    """Joints, base to tip, that have rows of this kind."""
    return tree.limits if rows is Rows.LIMIT else tuple(range(tree.n))


def visits(tree: Tree, printed_order: bool) -> Iterator[tuple[int, Rows]]:
    """Order of Gauss-Seidel: joint by joint or, as printed, all positional rows and then all angular ones."""
    if printed_order:
        return ((j, rows) for rows in Rows for j in joints_with(tree, rows))
    return ((j, rows) for j in range(tree.n) for rows in Rows if j in joints_with(tree, rows))


def turns_only(tree: Tree, j: int, rows: Rows) -> bool:
    """Whether these rows of a joint change rotations only."""
    return rows is Rows.ANGULAR or (rows is Rows.LIMIT and not tree.slides[j])


def in_turn(joints: Joints, printed_order: bool) -> Program:
    """A Gauss-Seidel sweep: every correction uses the poses after the previous ones."""
    for j, rows in visits(joints.tree, printed_order):
        for i, move in joints.correct(j, rows).items():
            joints.move(i, move, turns_only(joints.tree, j, rows))
    return joints.output()


def at_once(joints: Joints, relaxation: Relaxation) -> Program:
    """A Jacobi sweep: all corrections of a kind use the same poses and are added, with relaxation."""
    tree = joints.tree
    factor = [number(share) for share in factors(tree, relaxation)]
    for rows in Rows:
        # a projected multiplier needs one factor, independent of the other rows
        share = [min(factor)] * tree.n if rows is Rows.LIMIT else factor
        moves = {j: joints.correct(j, rows, share[j]) for j in joints_with(tree, rows)}
        for i in range(tree.n):
            meeting = [k for k in (i, *children(tree, i)) if k in moves]
            if meeting:
                total = projection.total(joints.program, [moves[k][i] for k in meeting])
                joints.move(i, total, all(turns_only(tree, k, rows) for k in meeting), share[i])
    return joints.output()


@cache
def gauss_seidel(tree: Tree, multiplier: Multiplier = Multiplier.BLOCK, printed_order: bool = False) -> Program:
    """Call program: one sweep, pose -> pose_next (and the limits' multipliers)."""
    program = Program("gauss_seidel_sweep", "Gauss-Seidel sweep over the joints.")
    return in_turn(Corrections(program, tree, multiplier), printed_order)


@cache
def jacobi(tree: Tree, multiplier: Multiplier = Multiplier.BLOCK, relaxation: Relaxation = None) -> Program:
    """Call program: one sweep, pose -> pose_next (and the limits' multipliers)."""
    return at_once(Corrections(Program("jacobi_sweep", "Jacobi sweep over the joints."), tree, multiplier), relaxation)


@cache
def direct(tree: Tree) -> Program:
    """Call program: all rows at once, J W Jᵀ λ = -c, poses corrected by W Jᵀ λ: pose -> pose_next.

    With limits several solutions from the same pose, each with the active set of the previous one: a correction from a
    corrected pose would keep displacements of the first one that the limits reverse.
    """
    program = Program("direct_sweep", "Direct projection of all poses onto the constraints.")
    pose, body, joint = columns(program, tree, "pose body joint")
    limit, angle, lock = limit_columns(program, tree, "limit angle lock")
    x, R = places(program, tree, pose)
    moving = projection.motions(program, tree, joint, x, R, closing=True)
    inertia, wrench = [], []
    for i, link in enumerate(moving):
        own = {"body": part(body, BODY, i), "rotation": R[i], "offset": link["offset"], "gap": link["gap"]}
        weighed = program.call(bodies.weight_kernel(), **own)
        inertia.append(weighed["inertia"])
        wrench.append(weighed["wrench"])
    room = limits.rooms(program, tree, joint, limit, angle, x, R) if tree.limits else []
    for _ in range(limits.PASSES if tree.limits else 1):
        stops = limits.stops(program, room, lock) if tree.limits else ()
        moved, lock = projection.solve(program, tree, inertia, wrench, moving, each(pose, POSE, tree), stops=stops)
    program.output("pose_next", column(*moved))
    if tree.limits:
        program.output("lock_next", column(*lock))
    return program


# Velocities -------------------------------------------------------------------------------------------------------------------


@cache
def velocities(tree: Tree, friction_iterations: int) -> Program:
    """Velocities from the poses, then the implicit friction kick on the joint rates: pose -> xi_next."""
    program = Program("paper_end", "Velocities of a step of Algorithm 1 (corrected), and friction.")
    xi, pose, h, body, joint, friction = columns(program, tree, "xi pose h body joint friction")
    limit, angle = limit_columns(program, tree, "limit angle")
    states = []
    for old, new in zip(each(xi, STATE, tree), each(pose, POSE, tree), strict=True):
        states.append(program.call(bodies.read_off_kernel(), state=old, pose=new, h=h)["next"])
    if friction_iterations or tree.limits:
        friction = at_start(program, tree, friction, joint, xi)
        poses, numbers = each(pose, POSE, tree), (joint, body, friction, h)
        states = velocity.damped(program, tree, states, poses, numbers, max(friction_iterations, 1), (limit, angle))
    program.output("xi_next", column(*states))
    return program
