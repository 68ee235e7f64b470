"""Algorithm 1 of the paper, corrected; read it together with the paper. First order, loses energy.

Its statements by number, without comments (notation: docs/paper.md). Errors of the print ("slips"), corrected here, each have a
test (tests/method/test_slips.py):

1 to 3. *Initialize*: ξ = (x, v, q, ω) of every link, u, and the numbers α come in as flat columns.
4 to 9. *Position* and *Angular states Euler prediction*: `prediction`. Slips: the new velocity moves the position; Euler's
   equation has -ω x Iω; the world inertia is R I Rᵀ. Springs, wrenches and efforts of slides are forces here too.
10 to 18. *Constraints solving loop*: `sweeps.in_turn` (the paper's Gauss-Seidel), `sweeps.at_once` (Jacobi), or `direct`: all
   rows of all joints in one system. Each correction is `corrections.correction_kernel`. Slips: Δq of the positional rows is
   added once; gradients by rotations have the other signs.
19 to 25. *Position* and *Angular states Euler integration*: `velocities`, and joint friction, which the paper does not have.

Constraints are the paper's c^P (eq. 1) and c^A (eq. 11) in `constraints`. The third constraint, the limits, is mentioned there
without formulas; with limits, `touched` carries their multipliers from sweep to sweep, or in direct solves the active set
(`limits`).
"""

from __future__ import annotations

from functools import cache
from typing import Any

import sympy as sp

from diffpbd.codegen.description.recipe.options import Relaxation
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
from diffpbd.codegen.method.stage import columns, each, force_columns, limit_columns, places, rotations
from diffpbd.codegen.method.sweeps import Joints, at_once, in_turn
from diffpbd.codegen.method.velocity import FRICTION_ITERATIONS
from diffpbd.codegen.method.world import call
from diffpbd.codegen.program.notation import BODY, POSE, POSITION, QUATERNION, STATE, column, part
from diffpbd.codegen.program.program import Program
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
    wrench, chosen = force_columns(program, tree)
    x, R = each(xi, STATE, tree, POSITION), rotations(program, each(xi, STATE, tree, QUATERNION))
    effort = efforts.efforts(program, tree, (joint, u, spring, chosen), x, R)
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


class Corrections(Joints):
    """Of a sweep over poses, by the corrections of `corrections`: (dx, φ) of each body."""

    moving = "pose"

    def __init__(self, program: Program, tree: Tree, multiplier: Multiplier) -> None:
        pose, self.weight, joint = columns(program, tree, "pose weight joint")
        super().__init__(program, tree, joint)
        self.kind, self.now = multiplier, each(pose, POSE, tree)

    def kernel(self, slide: bool, rows: Rows) -> Program:
        """A correction, or a limit's."""
        return limit_kernel(slide) if rows is Rows.LIMIT else correction_kernel(slide, rows is Rows.ANGULAR, self.kind)

    def known(self, i: int) -> dict[str, Any]:
        """Its weight."""
        return {"weight": part(self.weight, 7, i)}

    def move(self, i: int, move: Any, turning: bool, factor: Any = 1) -> None:
        """x + dx, and q turned by φ."""
        scaled = {} if factor == 1 else {"factor": factor}
        kernel = displace_kernel(turning, scaled=bool(scaled))
        self.now[i] = self.program.call(kernel, pose=self.now[i], move=move, **scaled)["moved"]


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
