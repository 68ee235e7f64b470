"""The variational step: second order, symplectic, with the paper's stages. The default integrator.

1. `half_kick`: momenta after half a kick of gravity, efforts and wrenches at the start pose, and each body's free motion.
2. Drift onto the constraints: poses q₁ and multipliers λ with

       m (x₁ - x₀ - h v) - h²/2 m g = J₀ₓᵀ λ,     h L(q₀ → q₁) - h L₀ = J₀_φᵀ λ,     c(x₁, q₁) = 0,

   gradients J₀ at the start pose, rotations after Moser and Veselov. All at once by Newton's method (`newton_iteration`), or by
   the sweeps of Algorithm 1 with impulses instead of corrections (`Impulses`).
3. `velocities`: the second half kick at the new pose, the friction kick, and velocities with J v = 0.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import sympy as sp

from diffpbd.codegen.description.recipe.options import Relaxation
from diffpbd.codegen.method import bodies, efforts, limits, loops, projection, velocity, wrenches
from diffpbd.codegen.method.algorithm_1 import INPUTS
from diffpbd.codegen.method.corrections import Rows
from diffpbd.codegen.method.friction import at_start
from diffpbd.codegen.method.impulses import (
    AIM,
    AIM_POSE,
    drift_kernel,
    impulse_kernel,
    limit_impulse_kernel,
    push_kernel,
    strike_kernel,
)  # fmt: skip
from diffpbd.codegen.method.loop_border import beside
from diffpbd.codegen.method.stage import columns, each, force_columns, limit_columns, loop_column, places
from diffpbd.codegen.method.sweeps import Joints, at_once, in_turn
from diffpbd.codegen.method.velocity import FRICTION_ITERATIONS
from diffpbd.codegen.method.world import call, call_at
from diffpbd.codegen.program.notation import BODY, POSE, POSITION, STATE, WORLD, column, part
from diffpbd.codegen.program.program import Program
from diffpbd.codegen.program.tree import Tree

# The step ---------------------------------------------------------------------------------------------------------------------


def _declared(tree: Tree, solver: str) -> Program:
    step = Program(f"step_variational_{solver}", f"Variational step, {solver} projection.")
    columns(step, tree, INPUTS)
    limit_columns(step, tree, "limit")
    force_columns(step, tree)
    loop_column(step, tree)
    return step


@cache
def variational_direct(tree: Tree, iterations: int = 1, friction_iterations: int = FRICTION_ITERATIONS) -> Program:
    """Half kick, drift onto the constraints by Newton iterations on all poses, half kick, velocities."""
    step = _declared(tree, "direct")
    given = step.inputs
    start = call(step, half_kick(tree), given)
    given = limits.led(given, start)
    pose, lock = start["pose"], sp.zeros(tree.n, 1)
    for _ in range(iterations + (limits.PASSES - 1 if tree.limits else 0)):
        moved = call(step, newton_iteration(tree), given, start, pose=pose, lock=lock)
        pose, lock = moved["pose_next"], moved.get("lock_next")
    end = call(step, velocities(tree, friction_iterations), given, start, pose=pose)
    step.output("xi_next", end["xi_next"])
    if tree.closures:
        step.output("pivots", end["pivots"])
    return step


def _by_sweeps(tree: Tree, solver: str, sweep: Program, iterations: int, friction_iterations: int) -> Program:
    """Half kick, drift and constraint impulses by sweeps, half kick, velocities."""
    step = _declared(tree, solver)
    given = step.inputs
    start = call(step, half_kick(tree), given)
    given = limits.led(given, start)
    aim, multiplier = call(step, aims(tree), given, start)["aim"], sp.zeros(tree.n, 1)
    for _ in range(iterations):
        swept = call(step, sweep, given, start, aim=aim, multiplier=multiplier)
        aim, multiplier = swept["aim_next"], swept.get("multiplier_next")
    pose = column(*each(aim, AIM, tree, AIM_POSE))
    end = call(step, velocities(tree, friction_iterations), given, start, pose=pose)
    step.output("xi_next", end["xi_next"])
    return step


@cache
def variational_gauss_seidel(
    tree: Tree, iterations: int = 30, friction_iterations: int = FRICTION_ITERATIONS, printed_order: bool = False
) -> Program:
    """The variational step with Gauss-Seidel sweeps of constraint impulses."""
    return _by_sweeps(tree, "gauss_seidel", gauss_seidel(tree, printed_order), iterations, friction_iterations)


@cache
def variational_jacobi(
    tree: Tree, iterations: int = 30, friction_iterations: int = FRICTION_ITERATIONS, relaxation: Relaxation = None
) -> Program:
    """The variational step with Jacobi sweeps of constraint impulses, relaxed."""
    return _by_sweeps(tree, "jacobi", jacobi(tree, relaxation), iterations, friction_iterations)


# Half kick --------------------------------------------------------------------------------------------------------------------


@cache
def half_kick(tree: Tree) -> Program:
    """Half kick at the start pose, and the first guess of the end: everything that does not change with the iterations."""
    doc = "Start pose of a variational step: momenta, motions, efforts, and the first guess."
    program = Program("variational_start", doc)
    xi, u, h, gravity, body, joint, spring = columns(program, tree, "xi u h gravity body joint spring")
    (limit,) = limit_columns(program, tree, "limit")
    (wrench, chosen), loop = force_columns(program, tree), loop_column(program, tree)
    launched = []
    for i, state in enumerate(each(xi, STATE, tree)):
        own = {"state": state, "body": part(body, BODY, i)}
        launched.append(program.call(bodies.launch_kernel(), gravity=gravity, h=h, **own))
    x, R = each(xi, STATE, tree, POSITION), [link["rotation"] for link in launched]
    for i, push in wrenches.pushes(program, tree, joint, wrench, R).items():
        before = {f"{name}_before": launched[i][name] for name in ("target", "spin")}
        own = {"body": part(body, BODY, i), "push": push}
        launched[i] = launched[i] | program.call(wrenches.start_kick_kernel(), h=h, **before, **own)
    moving = projection.motions(program, tree, joint, x, R, closing=False)
    effort = efforts.efforts(program, tree, (joint, u, spring, chosen), x, R)
    for links, names in ((launched, ("rotation", "turning", "target", "spin", "pose")), (moving, ("motion", "offset"))):
        for name in names:
            program.output(name, column(*(link[name] for link in links)))
    program.output("effort", column(*effort))
    if loop is not None:
        program.output("pull", loops.pulls(program, tree, loop, x, R, moving)[1])
    if tree.limits:
        limits.begin(program, tree, (joint, limit, h), x, R)
    return program


# Drift onto the constraints ---------------------------------------------------------------------------------------------------


@cache
def newton_iteration(tree: Tree) -> Program:
    """One Newton iteration on the momentum balance and the constraints at the end of the step: pose -> pose_next."""
    program = Program("variational_sweep", "Newton iteration of a variational step: all links, all constraints.")
    pose, turning, target, spin = columns(program, tree, "pose turning target spin")
    motion, offset, effort, body, joint, h = columns(program, tree, "motion offset effort body joint h")
    limit, angle, lock = limit_columns(program, tree, "limit angle lock")
    loop = loop_column(program, tree)
    x, R = places(program, tree, pose)
    moving = projection.motions(program, tree, joint, x, R, closing=True)
    inertia, wrench = [], []
    for i in range(tree.n):
        start = {"target": part(target, 3, i), "spin": part(spin, 3, i), "turning": part(turning, 9, i)}
        here = {"pose": part(pose, POSE, i), "rotation": R[i], "offset": moving[i]["offset"], "gap": moving[i]["gap"]}
        own = {"body": part(body, BODY, i), "start_offset": part(offset, 3, i)}
        balanced = program.call(bodies.balance_kernel(), **own, **start, **here)
        inertia.append(balanced["inertia"])
        wrench.append(balanced["wrench"])
    room = limits.rooms(program, tree, joint, limit, angle, x, R) if tree.limits else []
    start_motion = each(motion, 6, tree)
    border = beside(program, tree, loop, (x, R), moving, start_motion)
    moved, lock_next = projection.solve(
        program,
        tree,
        inertia,
        wrench,
        moving,
        each(pose, POSE, tree),
        start_motion=start_motion,
        effort=each(effort, 1, tree),
        h=h,
        stops=limits.stops(program, room, list(lock)) if tree.limits else (),
        border=border,
    )
    program.output("pose_next", column(*moved))
    if tree.limits:
        program.output("lock_next", column(*lock_next))
    return program


@cache
def aims(tree: Tree) -> Program:
    """State of the sweeps: guess, targets and spins after the first half kick -> aim."""
    program = Program("variational_aim", "Guess and momenta of a variational step that is solved by sweeps.")
    xi, pose, target, spin, rotation = columns(program, tree, "xi pose target spin rotation")
    effort, body, joint, h = columns(program, tree, "effort body joint h")
    x, R = each(xi, STATE, tree, POSITION), each(rotation, 9, tree)
    exerted = efforts.pulls(program, tree, joint, each(effort, 1, tree), x, R)
    found = []
    for i in range(tree.n):
        own = {"pose": part(pose, POSE, i), "target": part(target, 3, i), "spin": part(spin, 3, i)}
        kernel = push_kernel("reaction" in exerted[i])
        found.append(program.call(kernel, h=h, body=part(body, BODY, i), **own, **exerted[i])["aim"])
    program.output("aim", column(*found))
    return program


class Impulses(Joints):
    """Of a sweep over aims: bodies drift with their momenta, then get constraint impulses, that is displacement and change of
    spin of each body."""

    moving = "aim"

    def __init__(self, program: Program, tree: Tree) -> None:
        self.xi, aim, turning, self.rotation = columns(program, tree, "xi aim turning rotation")
        body, joint = columns(program, tree, "body joint")
        drifted = []
        for i in range(tree.n):
            own = {"body": part(body, BODY, i), "turning": part(turning, 9, i), "aim": part(aim, AIM, i)}
            drifted.append(program.call(drift_kernel(), **own))
        super().__init__(program, tree, joint)
        self.now, self.weight = ([called[name] for called in drifted] for name in ("drifted", "weight"))

    def kernel(self, slide: bool, rows: Rows) -> Program:
        """An impulse, or a limit's."""
        return limit_impulse_kernel(slide) if rows is Rows.LIMIT else impulse_kernel(slide, rows is Rows.ANGULAR)

    def known(self, i: int) -> dict[str, Any]:
        """Where it starts, and its weight."""
        start = {"start": part(self.xi, STATE, i, POSITION), "rotation": part(self.rotation, 9, i)}
        return {**start, "weight": self.weight[i]}

    def move(self, i: int, move: Any, turning: bool, factor: Any = 1) -> None:
        """Pose, target and spin; an impulse that only turns a body moves it by zero."""
        scaled = {} if factor == 1 else {"factor": factor}
        called = self.program.call(strike_kernel(scaled=bool(scaled)), aim=self.now[i], move=move, **scaled)
        self.now[i] = called["struck"]


@cache
def gauss_seidel(tree: Tree, printed_order: bool = False) -> Program:
    """Call program: one sweep, aim -> aim_next (and the limits' multipliers)."""
    program = Program("gauss_seidel_impulse_sweep", "Every body drifts, then constraint impulses joint by joint.")
    return in_turn(Impulses(program, tree), printed_order)


@cache
def jacobi(tree: Tree, relaxation: Relaxation = None) -> Program:
    """Call program: one sweep, aim -> aim_next (and the limits' multipliers)."""
    program = Program("jacobi_impulse_sweep", "Every body drifts, then constraint impulses at once.")
    return at_once(Impulses(program, tree), relaxation)


# Velocities -------------------------------------------------------------------------------------------------------------------


@cache
def velocities(tree: Tree, friction_iterations: int) -> Program:
    """Second half kick at the end pose, implicit friction, and velocities with J v = 0: pose -> xi_next."""
    program = Program("variational_end", "End of a variational step: half kick, friction, velocity projection.")
    xi, pose, turning, u, h, gravity = columns(program, tree, "xi pose turning u h gravity")
    body, joint, friction, spring = columns(program, tree, "body joint friction spring")
    limit, angle = limit_columns(program, tree, "limit angle")
    (wrench, chosen), loop = force_columns(program, tree), loop_column(program, tree)
    x, R = places(program, tree, pose)
    moving = projection.motions(program, tree, joint, x, R, closing=False)
    effort = efforts.efforts(program, tree, (joint, u, spring, chosen), x, R)
    inertia, momentum = [], []
    for i in range(tree.n):
        start = {"x": part(xi, STATE, i, POSITION), "turning": part(turning, 9, i)}
        here = {"pose": part(pose, POSE, i), "rotation": R[i], "offset": moving[i]["offset"]}
        own = {"body": part(body, BODY, i), "gravity": gravity, "h": h}
        landed = program.call(bodies.landing_kernel(), **own, **start, **here)
        inertia.append(landed["inertia"])
        momentum.append(landed["momentum"])
    for i, push in wrenches.pushes(program, tree, joint, wrench, R).items():
        given = {"before": momentum[i], "push": push, "offset": moving[i]["offset"], "h": h}
        momentum[i] = program.call(wrenches.end_kick_kernel(), **given)["momentum"]
    motion = [link["motion"] for link in moving]
    room = limits.rooms(program, tree, joint, limit, angle, x, R) if tree.limits else None
    friction = at_start(program, tree, friction, joint, xi)
    pull = None if loop is None else loops.pulls(program, tree, loop, x, R, moving)[1]
    rate = velocity.rates(
        program, tree, inertia, motion, momentum, effort, friction, h, friction_iterations, room, pull
    )
    states: list[Any] = []
    twists: list[Any] = []
    for j, parent in enumerate(tree.parents):
        carried = {} if parent == WORLD else {"twist_a": twists[parent]}
        kernel = velocity.velocity_kernel(tree.slides[j])
        called = call_at(program, tree, j, kernel, moving[j], carried, rate=rate[j, 0], pose=part(pose, POSE, j))
        twists.append(called["twist"])
        states.append(called["state"])
    program.output("xi_next", column(*states))
    return program
