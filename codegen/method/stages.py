"""Stages of the steps, call programs over all links and joints: start, sweep and end of either integrator."""

from __future__ import annotations

from functools import cache
from typing import Any

from diffpbd.codegen.laws import levers
from diffpbd.codegen.method import bodies, impulses, limits, projection, sweeps, velocity, wrenches
from diffpbd.codegen.program.notation import (
    BODY,
    FRICTION,
    JOINT,
    LEVER,
    LIMIT,
    POSE,
    POSE_POSITION,
    POSE_QUATERNION,
    POSITION,
    QUATERNION,
    SPRING,
    STATE,
    WORLD,
    WRENCH,
    children,
    column,
    part,
)
from diffpbd.codegen.program.program import Program
from diffpbd.codegen.program.tree import Tree

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
    "limit": LIMIT,
    "angle": 1,
    "lock": 1,
    "multiplier": 1,
    "weight": sweeps.WEIGHT,
}
"""Numbers a link or joint of every flat input."""


def inputs(program: Program, tree: Tree, *names: str) -> dict[str, Any]:
    """Declare inputs by name: `SIZES` a link, or gravity (3), h (1), wrench (9 an external wrench), lever (5 a spring)."""
    single = {"gravity": 3, "h": 1, "wrench": WRENCH * len(tree.wrenches), "lever": LEVER * len(tree.levers)}
    return {k: program.input(k, single[k] if k in single else SIZES[k] * tree.n) for k in names}


def limit_inputs(tree: Tree, *names: str) -> tuple[str, ...]:
    """Names of what a stage takes of the limits, if the tree has any."""
    return names if tree.limits else ()


def force_inputs(tree: Tree) -> tuple[str, ...]:
    """Names of what a stage takes of external wrenches and lever springs, if the tree has any."""
    return (*wrenches.wrench_names(tree), *levers.lever_names(tree))


def each(block: Any, size: int, tree: Tree, within: slice | None = None) -> list[Any]:
    """The blocks of a flat column, link by link."""
    return [part(block, size, i, within) for i in range(tree.n)]


def rotations(program: Program, quaternions: list[Any]) -> list[Any]:
    """Calls: R (9) of every quaternion."""
    return [program.call(bodies.rotation_kernel(), q=q)["rotation"] for q in quaternions]


@cache
def variational_start(tree: Tree) -> Program:
    """Half kick at the start pose, and the guess of the end: everything that stays fixed while the end is
    sought."""
    program = Program(
        "variational_start",
        "Start pose of a variational step: momenta, motions, efforts, and the first guess.",
    )
    names = ("xi", "u", "h", "gravity", "body", "joint", "spring", *limit_inputs(tree, "limit"))
    at = inputs(program, tree, *names, *force_inputs(tree))
    launched = [
        program.call(bodies.launch_kernel(), state=state, body=body, gravity=at["gravity"], h=at["h"])
        for state, body in zip(each(at["xi"], STATE, tree), each(at["body"], BODY, tree), strict=True)
    ]
    x, R = each(at["xi"], STATE, tree, POSITION), [body["rotation"] for body in launched]
    for i, push in wrenches.pushes(program, tree, at["joint"], at.get("wrench"), R).items():
        before = {f"{name}_before": launched[i][name] for name in ("target", "spin")}
        given = {"body": part(at["body"], BODY, i), "push": push, "h": at["h"]}
        launched[i] = launched[i] | program.call(wrenches.start_kick_kernel(), **before, **given)
    moving = projection.motions(program, tree, at["joint"], x, R, closing=False)
    effort = velocity.efforts(program, tree, at, x, R)
    for name in ("rotation", "turning", "target", "spin", "pose"):
        program.output(name, column(*(body[name] for body in launched)))
    for name in ("motion", "offset"):
        program.output(name, column(*(link[name] for link in moving)))
    program.output("effort", column(*effort))
    if tree.limits:
        program.output("angle", column(*limits.starts(program, tree, at["joint"], at["limit"], x, R)))
    return program


@cache
def variational_sweep(tree: Tree) -> Program:
    """One Newton iteration on the momentum balance and the constraints at the end of the step: pose ->
    pose_next."""
    program = Program("variational_sweep", "Newton iteration of a variational step: all links, all constraints.")
    names = ("pose", "turning", "target", "spin", "motion", "offset", "effort", "body", "joint", "h")
    at = inputs(program, tree, *names, *limit_inputs(tree, "limit", "angle", "lock"))
    pose = each(at["pose"], POSE, tree)
    x, R = (
        each(at["pose"], POSE, tree, POSE_POSITION),
        rotations(program, each(at["pose"], POSE, tree, POSE_QUATERNION)),
    )
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
    room = limits.rooms(program, tree, at["joint"], at["limit"], at["angle"], x, R) if tree.limits else []
    moved, lock = projection.solve(
        program,
        tree,
        [body["inertia"] for body in balanced],
        [body["wrench"] for body in balanced],
        moving,
        pose,
        start_motion=each(at["motion"], 6, tree),
        effort=each(at["effort"], 1, tree),
        h=at["h"],
        stops=limits.stops(program, room, list(at["lock"])) if tree.limits else (),
    )
    program.output("pose_next", column(*moved))
    if tree.limits:
        program.output("lock_next", column(*lock))
    return program


@cache
def variational_end(tree: Tree, friction_iterations: int) -> Program:
    """Second half kick at the end pose, implicit friction, and velocities with J v = 0: pose -> xi_next."""
    program = Program("variational_end", "End of a variational step: half kick, friction, velocity projection.")
    names = ("xi", "pose", "turning", "u", "h", "gravity", "body", "joint", "friction", "spring")
    at = inputs(program, tree, *names, *limit_inputs(tree, "limit", "angle"), *force_inputs(tree))
    pose = each(at["pose"], POSE, tree)
    x, R = (
        each(at["pose"], POSE, tree, POSE_POSITION),
        rotations(program, each(at["pose"], POSE, tree, POSE_QUATERNION)),
    )
    moving = projection.motions(program, tree, at["joint"], x, R, closing=False)
    effort = velocity.efforts(program, tree, at, x, R)
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
    inertia, momentum = [link["inertia"] for link in landed], [link["momentum"] for link in landed]
    for i, push in wrenches.pushes(program, tree, at["joint"], at.get("wrench"), R).items():
        given = {"before": momentum[i], "push": push, "offset": moving[i]["offset"], "h": at["h"]}
        momentum[i] = program.call(wrenches.end_kick_kernel(), **given)["momentum"]
    motion = [link["motion"] for link in moving]
    room = limits.rooms(program, tree, at["joint"], at["limit"], at["angle"], x, R) if tree.limits else None
    rate = velocity.rates(
        program, tree, inertia, motion, momentum, effort, at["friction"], at["h"], friction_iterations, room
    )
    states: list[Any] = []
    twists: list[Any] = []
    for j, parent in enumerate(tree.parents):
        carried = {} if parent == WORLD else {"twist_a": twists[parent]}
        called = program.call(
            velocity.velocity_kernel(tree.slides[j], parent == WORLD),
            rate=rate[j, 0],
            pose=pose[j],
            **moving[j],
            **carried,
        )
        twists.append(called["twist"])
        states.append(called["state"])
    program.output("xi_next", column(*states))
    return program


def pulls(
    program: Program, tree: Tree, joint: Any, effort: list[Any], x: list[Any], R: list[Any]
) -> list[dict[str, Any]]:
    """Calls: what the joints' efforts exert on every link: `pull`, and `reaction` where it carries joints."""
    found = []
    for j, parent in enumerate(tree.parents):
        root, slide = parent == WORLD, tree.slides[j]
        given = {"joint": part(joint, JOINT, j), "effort": effort[j], "rotation_b": R[j]}
        if slide and not root:
            given |= {"x_a": x[parent], "x_b": x[j]}
        found.append(program.call(bodies.pull_kernel(slide, root), **given))
    results = []
    for i in range(tree.n):
        reactions = [found[k]["reaction"] for k in children(tree, i)]
        summed = {"reaction": projection.total(program, reactions)} if reactions else {}
        results.append({"pull": found[i]["pull"]} | summed)
    return results


@cache
def paper_start(tree: Tree) -> Program:
    """Algorithm 1's prediction, without constraints: xi -> pose."""
    program = Program("paper_start", "Predicted poses of a step of Algorithm 1 (corrected).")
    names = ("xi", "u", "h", "gravity", "body", "joint", "spring", *limit_inputs(tree, "limit"))
    at = inputs(program, tree, *names, *force_inputs(tree))
    state = each(at["xi"], STATE, tree)
    x, R = each(at["xi"], STATE, tree, POSITION), rotations(program, each(at["xi"], STATE, tree, QUATERNION))
    effort = velocity.efforts(program, tree, at, x, R)
    pulled = pulls(program, tree, at["joint"], effort, x, R)
    for i, push in wrenches.pushes(program, tree, at["joint"], at.get("wrench"), R).items():
        pulled[i]["pull"] = projection.total(program, [pulled[i]["pull"], push])
    poses = []
    for i in range(tree.n):
        given = {"state": state[i], "body": part(at["body"], BODY, i), "gravity": at["gravity"], "h": at["h"]}
        kernel = bodies.predict_kernel("reaction" in pulled[i])
        poses.append(program.call(kernel, rotation=R[i], **pulled[i], **given)["pose"])
    program.output("pose", column(*poses))
    if tree.limits:
        program.output("angle", column(*limits.starts(program, tree, at["joint"], at["limit"], x, R)))
    return program


@cache
def direct_sweep(tree: Tree) -> Program:
    """All constraint rows at once, J W Jᵀ λ = -c, poses corrected by W Jᵀ λ: pose -> pose_next.

    With limits several solutions from the same pose, each with the active set of the one before: a correction from a pose
    already corrected would forget what the first one moved in vain.
    """
    program = Program("direct_sweep", "Direct projection of all poses onto the constraints.")
    at = inputs(program, tree, "pose", "body", "joint", *limit_inputs(tree, "limit", "angle", "lock"))
    pose = each(at["pose"], POSE, tree)
    x, R = (
        each(at["pose"], POSE, tree, POSE_POSITION),
        rotations(program, each(at["pose"], POSE, tree, POSE_QUATERNION)),
    )
    moving = projection.motions(program, tree, at["joint"], x, R, closing=True)
    weighed = [
        program.call(
            bodies.weight_kernel(),
            body=part(at["body"], BODY, i),
            rotation=R[i],
            offset=link["offset"],
            gap=link["gap"],
        )
        for i, link in enumerate(moving)
    ]
    inertia, wrench = [body["inertia"] for body in weighed], [body["wrench"] for body in weighed]
    if not tree.limits:
        program.output("pose_next", column(*projection.solve(program, tree, inertia, wrench, moving, pose)[0]))
        return program
    room, lock = limits.rooms(program, tree, at["joint"], at["limit"], at["angle"], x, R), list(at["lock"])
    for _ in range(limits.PASSES):
        stops = limits.stops(program, room, lock)
        moved, lock = projection.solve(program, tree, inertia, wrench, moving, pose, stops=stops)
    program.output("pose_next", column(*moved))
    program.output("lock_next", column(*lock))
    return program


@cache
def paper_end(tree: Tree, friction_iterations: int) -> Program:
    """Velocities read off the poses, then the implicit friction kick on the joint rates: pose -> xi_next."""
    program = Program("paper_end", "Velocities of a step of Algorithm 1 (corrected), and friction.")
    names = ("xi", "pose", "h", "body", "joint", "friction")
    at = inputs(program, tree, *names, *limit_inputs(tree, "limit", "angle"))
    states = [
        program.call(bodies.read_off_kernel(), state=state, pose=pose, h=at["h"])["next"]
        for state, pose in zip(each(at["xi"], STATE, tree), each(at["pose"], POSE, tree), strict=True)
    ]
    if friction_iterations or tree.limits:
        poses = each(at["pose"], POSE, tree)
        states = velocity.damped(program, tree, states, poses, at, max(friction_iterations, 1))
    program.output("xi_next", column(*states))
    return program


@cache
def variational_aim(tree: Tree) -> Program:
    """What the sweeps of the variational step move: guess, targets and spins after the first half kick ->
    aim."""
    program = Program("variational_aim", "Guess and momenta of a variational step that is solved by sweeps.")
    at = inputs(program, tree, "xi", "pose", "target", "spin", "rotation", "effort", "body", "joint", "h")
    x, R = each(at["xi"], STATE, tree, POSITION), each(at["rotation"], 9, tree)
    pulled = pulls(program, tree, at["joint"], each(at["effort"], 1, tree), x, R)
    aims = []
    for i in range(tree.n):
        given = {k: part(at[k], SIZES[k], i) for k in ("pose", "target", "spin", "body")} | pulled[i]
        kernel = impulses.push_kernel("reaction" in pulled[i])
        aims.append(program.call(kernel, h=at["h"], **given)["aim"])
    program.output("aim", column(*aims))
    return program
