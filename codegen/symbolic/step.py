"""The method on one page: the two integrators in maximal coordinates, as call programs.

Inputs of every step: xi (13 a link), u (n), h, gravity (3), body (7 a link), joint (28 a joint), friction (3 a joint),
spring (2 a joint); output xi_next. Letters as in `notation`. Everything numeric happens in the leaf programs called.
"""

from __future__ import annotations

from typing import Any

from diffpbd.codegen.symbolic import bodies, projection, velocity
from diffpbd.codegen.symbolic.notation import (
    BODY,
    FRICTION,
    JOINT,
    POSE,
    POSE_POSITION,
    POSITION,
    SPRING,
    STATE,
    WORLD,
    column,
    part,
)
from diffpbd.codegen.symbolic.program import Program
from diffpbd.codegen.symbolic.tree import Tree

SIZES = {
    "xi": STATE,
    "pose": POSE,
    "pose_next": POSE,
    "u": 1,
    "body": BODY,
    "joint": JOINT,
    "friction": FRICTION,
    "spring": SPRING,
    "rotation": 9,
    "turning": 9,
    "target": 3,
    "spin": 3,
    "motion": 6,
    "offset": 3,
    "effort": 1,
}
"""Numbers a link or joint of every flat input."""


def inputs(program: Program, tree: Tree, *names: str) -> dict[str, Any]:
    """Declare inputs by name: `SIZES` a link, or gravity (3) and h (1)."""
    single = {"gravity": 3, "h": 1}
    return {k: program.input(k, single[k] if k in single else SIZES[k] * tree.n) for k in names}


def each(block: Any, size: int, tree: Tree, within: slice | None = None) -> list[Any]:
    """The blocks of a flat column, link by link."""
    return [part(block, size, i, within) for i in range(tree.n)]


def rotations(program: Program, poses: list[Any]) -> list[Any]:
    """Calls: R (9) of every pose."""
    return [program.call(bodies.rotation_kernel(), pose=pose)["rotation"] for pose in poses]


def variational_start(tree: Tree) -> Program:
    """Half kick at the start pose, and the guess of the end: everything that stays fixed while the end is sought."""
    program = Program("variational_start", "Start pose of a variational step: momenta, motions, efforts, and the first guess.")
    at = inputs(program, tree, "xi", "u", "h", "gravity", "body", "joint", "spring")
    launched = [
        program.call(bodies.launch_kernel(), state=state, body=body, gravity=at["gravity"], h=at["h"])
        for state, body in zip(each(at["xi"], STATE, tree), each(at["body"], BODY, tree), strict=True)
    ]
    x, R = each(at["xi"], STATE, tree, POSITION), [body["rotation"] for body in launched]
    moving = projection.motions(program, tree, at["joint"], x, R, closing=False)
    effort = velocity.efforts(program, tree, at["joint"], at["u"], at["spring"], x, R)
    for name in ("turning", "target", "spin", "pose"):
        program.output(name, column(*(body[name] for body in launched)))
    for name in ("motion", "offset"):
        program.output(name, column(*(link[name] for link in moving)))
    program.output("effort", column(*effort))
    return program


def variational_sweep(tree: Tree) -> Program:
    """One Newton iteration on the momentum balance and the constraints at the end of the step: pose -> pose_next."""
    program = Program("variational_sweep", "Newton iteration of a variational step: all links, all constraints.")
    at = inputs(program, tree, "pose", "turning", "target", "spin", "motion", "offset", "effort", "body", "joint", "h")
    pose = each(at["pose"], POSE, tree)
    x, R = each(at["pose"], POSE, tree, POSE_POSITION), rotations(program, pose)
    moving = projection.motions(program, tree, at["joint"], x, R, closing=True)
    balanced = [
        program.call(
            bodies.balance_kernel(),
            body=part(at["body"], BODY, i),
            target=part(at["target"], 3, i),
            spin=part(at["spin"], 3, i),
            pose=pose[i],
            rotation=R[i],
            turning=part(at["turning"], 9, i),
            start_offset=part(at["offset"], 3, i),
            offset=moving[i]["offset"],
            gap=moving[i]["gap"],
        )
        for i in range(tree.n)
    ]
    moved = projection.solve(
        program,
        tree,
        [body["inertia"] for body in balanced],
        [body["wrench"] for body in balanced],
        moving,
        pose,
        start_motion=each(at["motion"], 6, tree),
        effort=each(at["effort"], 1, tree),
        h=at["h"],
    )
    program.output("pose_next", column(*moved))
    return program


def variational_end(tree: Tree, friction_iterations: int) -> Program:
    """Second half kick at the end pose, implicit friction, and velocities with J v = 0: pose -> xi_next."""
    program = Program("variational_end", "End of a variational step: half kick, friction, velocity projection.")
    at = inputs(program, tree, "xi", "pose", "turning", "u", "h", "gravity", "body", "joint", "friction", "spring")
    pose = each(at["pose"], POSE, tree)
    x, R = each(at["pose"], POSE, tree, POSE_POSITION), rotations(program, pose)
    moving = projection.motions(program, tree, at["joint"], x, R, closing=False)
    effort = velocity.efforts(program, tree, at["joint"], at["u"], at["spring"], x, R)
    landed = [
        program.call(
            bodies.landing_kernel(),
            body=part(at["body"], BODY, i),
            x=part(at["xi"], STATE, i, POSITION),
            pose=pose[i],
            rotation=R[i],
            turning=part(at["turning"], 9, i),
            offset=moving[i]["offset"],
            gravity=at["gravity"],
            h=at["h"],
        )
        for i in range(tree.n)
    ]
    given = {}
    for i in range(tree.n):
        given |= {f"inertia_{i}": landed[i]["inertia"], f"momentum_{i}": landed[i]["momentum"]}
        given |= {f"motion_{i}": moving[i]["motion"], f"effort_{i}": effort[i]}
    joint_space = program.call(velocity.rate_balance(tree), h=at["h"], **given)
    rate = velocity.rates(
        program, tree, joint_space["M"], joint_space["impulse"], at["friction"], at["h"], friction_iterations
    )
    states: list[Any] = []
    twists: list[Any] = []
    for j, parent in enumerate(tree.parents):
        carried = {} if parent == WORLD else {"twist_a": twists[parent]}
        called = program.call(
            velocity.velocity_kernel(parent == WORLD), rate=rate[j, 0], pose=pose[j], **moving[j], **carried
        )
        twists.append(called["twist"])
        states.append(called["state"])
    program.output("xi_next", column(*states))
    return program


def variational_direct(tree: Tree, sweeps: int = 1, friction_iterations: int = velocity.FRICTION_ITERATIONS) -> Program:
    """The variational step (default): half kick, drift onto the constraints, half kick, velocity projection."""
    program = Program("step_variational_direct", "Variational step in maximal coordinates, direct projection.")
    at = inputs(program, tree, "xi", "u", "h", "gravity", "body", "joint", "friction", "spring")
    start = program.call(
        variational_start(tree), **{k: at[k] for k in ("xi", "u", "h", "gravity", "body", "joint", "spring")}
    )
    sweep, pose = variational_sweep(tree), start["pose"]
    fixed = {k: start[k] for k in ("turning", "target", "spin", "motion", "offset", "effort")}
    for _ in range(sweeps):
        pose = program.call(sweep, pose=pose, body=at["body"], joint=at["joint"], h=at["h"], **fixed)["pose_next"]
    end = program.call(variational_end(tree, friction_iterations), pose=pose, turning=start["turning"], **at)
    program.output("xi_next", end["xi_next"])
    return program
