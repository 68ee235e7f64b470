"""A robot's numbers and parameters as CasADi blocks that the derived programs take as inputs.

Every block is an SX matrix of numbers, alpha entries, and expressions of alpha. Expressions that more than one function
needs are worked out once a call: `prepared` lists them, and `Model.symbols` stands for them inside kernels.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from diffpbd.codegen.description.geometry.rigid import AXES, MOMENTS, triad_of, upper_triangle
from diffpbd.codegen.description.recipe.recipe import Recipe
from diffpbd.codegen.description.report import Finding
from diffpbd.codegen.description.robot.attached import wrench_frames
from diffpbd.codegen.description.robot.robot import Robot
from diffpbd.codegen.graph.expressions.geometry import (
    about_origin,
    rows,
    square,
    squared,
    symmetric,
    turned,
    upper,
    vector,
)
from diffpbd.codegen.graph.model.attached import (
    as_touching,
    contact_blocks,
    loop_numbers,
    spring_numbers,
    wrench_numbers,
)
from diffpbd.codegen.graph.model.force_elements import attached_springs, friction_laws
from diffpbd.codegen.graph.model.parameters import SIDES, is_limited, without_entry
from diffpbd.codegen.laws import forces
from diffpbd.codegen.laws.attached import BLOCK
from diffpbd.codegen.program.tree import Attached, Closure, Gear, Tree
from diffpbd.runtime.folder.manifest import Parameter

JOINT_BLOCKS: Mapping[str, str] = {
    "rotor": "rotor_inertia",
    "stiffness": "spring.stiffness",
    "rest": "spring.rest",
    "coulomb": "friction.coulomb",
    "viscous": "friction.viscous",
    "transition": "friction.transition_velocity",
    "offset": "torque_offset",
}
"""Program input → alpha kind, for what every joint has one of."""


def tree_of(
    robot: Robot,
    limits: bool = False,
    wrenches: Sequence[str] = (),
    attached: tuple[Attached, ...] = (),
    friction: Sequence[str] = (),
) -> Tree:
    """Topology of a robot; with `limits` those of its joints act, external wrenches at the frames of these names, these
    springs on chosen joints, and these parts of the law of friction."""
    mimics = [joint.mimic for joint in robot.joints]
    gears = tuple(None if m is None else Gear(m.joint, m.multiplier, m.offset) for m in mimics)
    return Tree(
        tuple(j.parent for j in robot.joints),
        tuple(j.type.slides for j in robot.joints),
        tuple(j.axis == (0.0, 0.0, 1.0) for j in robot.joints),
        tuple(is_limited(j) for j in robot.joints) if limits else (),
        tuple(frame.link for frame in wrench_frames(robot, wrenches)),
        gears if any(gears) else (),
        attached,
        tuple(Closure(loop.type.value, loop.parent, loop.child) for loop in robot.loops),
        friction=tuple(friction),
        contacts=tuple(as_touching(pair) for pair in robot.pairs),
        base=len(robot.base_freedoms) if robot.floating else 0,
    )


@dataclass(frozen=True)
class Chosen:
    """`kept` rows of every loop, how many are independent, and the `mobility` that is left; alpha entries that would open
    dropped rows; faults and doubts. `gap` is the largest residual at the zero pose, `least` the smallest singular value of the
    rows inside the limits that a search found, as part of the largest."""

    kept: tuple[tuple[int, ...], ...] = ()
    rank: int = 0
    mobility: int = 0
    gap: float = 0.0
    least: float = 1.0
    opening: tuple[str, ...] = ()
    faults: tuple[Finding, ...] = ()
    doubts: tuple[Finding, ...] = ()
    independent: tuple[tuple[int, ...], ...] = ()
    """As many rows of every loop as are independent: the `kept` ones, but where all are."""
    slack: tuple[float, ...] = ()
    """[m, 1] By how much every row may be open in a closed pose; empty where none may."""


@dataclass(frozen=True, eq=False)
class Model:
    """Blocks by program input name, with the alpha symbol and its entries.

    Shapes: before 12 × n, after 9 × n, body 10 × n (about the link origin, payload included), gravity 3, tip 12,
    hinge_before 12 × n, hinge_body 10 × n (before and body with link axes turned into the joint's), carried n (mass of
    subtrees), the `JOINT_BLOCKS` n each; mass n, com 3 × n, inertia 6 × n (about the COM, without payload), rotation 9 × n,
    translation 3 × n, limit 2 n (lower and upper a joint, 0 where none acts),
    payload 10 (mass, com, inertia about it, tip frame), wrench 9 × wrenches (point, force, torque), attached (numbers of
    the springs on chosen joints),
    loop 25 × loops (see `closures`); `chosen` says which rows of these are kept; core 32 × contacts (see `meetings`),
    contact_law `IN_CONE` × contacts (a friction of 0 without any); heading 9, the rotation by rows of the frame in
    which a floating base is stepped.
    """

    robot: Robot
    recipe: Recipe
    tree: Tree
    entries: tuple[Parameter, ...]
    alpha: Any
    blocks: Mapping[str, Any]
    chosen: Chosen = Chosen()

    def only(self, names: Sequence[str]) -> dict[str, Any]:
        """The blocks of these names that exist."""
        return {k: self.blocks[k] for k in names if k in self.blocks}


@dataclass(frozen=True)
class Prepared:
    """`symbols` (m × 1) stand for `values` (m × 1, of alpha); `model` is the model with symbols in place of values."""

    symbols: Any
    values: Any
    model: Model


def keeping(tree: Tree, kept: Sequence[tuple[int, ...]], redundant: int = 0) -> Tree:
    """The tree with these rows of every loop, of which as many as `redundant` depend on others."""
    closures = tuple(dataclasses.replace(c, kept=k) for c, k in zip(tree.closures, kept, strict=True))
    return dataclasses.replace(tree, closures=closures, redundant=redundant)


def independent(model: Model) -> Model:
    """The same with rows that do not depend on each other, for what cannot solve with others."""
    if not model.tree.redundant:
        return model
    return dataclasses.replace(model, tree=keeping(model.tree, model.chosen.independent))


def assemble(robot: Robot, recipe: Recipe, entries: tuple[Parameter, ...]) -> Model:
    """The model with these entries of alpha symbolic, other numbers folded, and every row of closed loops."""
    alpha = ca.SX.sym("alpha", len(entries))
    index = {e.name: k for k, e in enumerate(entries)}
    n = robot.n

    def entry(name: str, number: float) -> Any:
        return alpha[index[name]] if name in index else ca.SX(number)

    def column(kind: str) -> Any:
        return ca.vertcat(*[entry(f"{kind}.{j.name}", without_entry(kind)) for j in robot.joints])

    mass = [entry(f"mass.{k.name}", k.inertial.mass) for k in robot.links]
    com = [vector(entry, f"com.{k.name}", AXES, k.inertial.com) for k in robot.links]
    inertia = [vector(entry, f"inertia.{k.name}", MOMENTS, upper_triangle(k.inertial.inertia)) for k in robot.links]
    rotation, translation = zip(*[_origin(entry, index, j) for j in robot.joints], strict=True)
    body = [about_origin(mass[i], com[i], inertia[i]) for i in range(n)]
    payload = ca.vertcat(
        alpha[index["payload.mass"]],
        *[alpha[index[f"payload.com.{a}"]] for a in AXES],
        *[alpha[index[f"payload.inertia.{m}"]] for m in MOMENTS],
    )
    tip = robot.tips[0]
    tip_rotation = ca.SX(ca.DM([list(r) for r in tip.rotation]))
    com_link = ca.mtimes(tip_rotation, payload[1:4]) + ca.DM(list(tip.translation))
    turned = ca.mtimes(ca.mtimes(tip_rotation, symmetric(payload[4:10])), tip_rotation.T)
    body[tip.link] = body[tip.link] + about_origin(payload[0], com_link, upper(turned))
    # R z = axis; a signed permutation, free of cost, where the axis is a coordinate axis
    aligned = [ca.SX(ca.reshape(ca.DM(triad_of(j.axis)), 3, 3)) for j in robot.joints]
    blocks = {
        "before": ca.horzcat(*[ca.vertcat(rows(ca.mtimes(rotation[i], aligned[i])), translation[i]) for i in range(n)]),
        "after": ca.horzcat(*[rows(a.T) for a in aligned]),
        "body": ca.horzcat(*body),
        "gravity": ca.vertcat(*[alpha[index[f"gravity.{a}"]] for a in AXES]),
        "tip": ca.vertcat(rows(tip_rotation), ca.SX(ca.DM(list(tip.translation)))),
        "mass": ca.vertcat(*mass),
        "com": ca.horzcat(*com),
        "inertia": ca.horzcat(*inertia),
        "rotation": ca.horzcat(*[rows(r) for r in rotation]),
        "translation": ca.horzcat(*translation),
        "payload": payload,
        "limit": ca.vertcat(*[entry(f"limit.{side}.{j.name}", 0.0) for j in robot.joints for side in SIDES]),
        **{block: column(kind) for block, kind in JOINT_BLOCKS.items()},
    }
    if recipe.wrench:
        blocks["wrench"] = ca.horzcat(*[wrench_numbers(entry, frame) for frame in wrench_frames(robot, recipe.wrench)])
    tree = tree_of(robot, recipe.limits, recipe.wrench, attached_springs(robot, recipe), friction_laws(recipe))
    if tree.attached:
        blocks[BLOCK] = ca.vertcat(*[spring_numbers(entry, robot, one) for one in tree.attached])
    more = forces.friction_names(tree.friction)[len(forces.FRICTION) :]
    blocks |= {block: column(f"friction.{block}") for block in more}
    if forces.has_memory(tree.friction):
        blocks["held"] = blocks["coulomb"] * blocks["deflection"]
    if robot.loops:
        blocks["loop"] = ca.horzcat(*[loop_numbers(entry, index, aligned, loop) for loop in robot.loops])
    if robot.pairs and tree.base:
        blocks["heading"] = ca.DM([1, 0, 0, 0, 1, 0, 0, 0, 1])
    if robot.pairs:
        blocks |= contact_blocks(entry, aligned, robot)
    blocks |= _in_joint_axes(tree, blocks)
    return Model(robot, recipe, tree, entries, alpha, {k: ca.densify(v) for k, v in blocks.items()})


def _in_joint_axes(tree: Tree, blocks: Mapping[str, Any]) -> dict[str, Any]:
    """`hinge_before`, `hinge_body` and `carried`: the same robot with every link's axes turned into its joint's."""
    before, body, carried = [], [], ca.vertsplit(blocks["body"][0, :].T)
    for i, parent in enumerate(tree.parents):
        placed, own = blocks["before"][:, i], blocks["body"][:, i]
        if parent >= 0 and not tree.aligned[parent]:
            T = square(blocks["after"][:, parent])
            placed = ca.vertcat(rows(squared(ca.mtimes(T, square(placed[0:9])))), ca.mtimes(T, placed[9:12]))
        if not tree.aligned[i]:
            T = square(blocks["after"][:, i])
            turned = ca.mtimes(ca.mtimes(T, symmetric(own[4:10])), T.T)
            own = ca.vertcat(own[0], ca.mtimes(T, own[1:4]), upper(turned))
        before.append(placed)
        body.append(own)
    for i in range(tree.n - 1, -1, -1):
        if tree.parents[i] >= 0:
            carried[tree.parents[i]] += carried[i]
    return {"hinge_before": ca.horzcat(*before), "hinge_body": ca.horzcat(*body), "carried": ca.vertcat(*carried)}


def squared_joints(robot: Robot, recipe: Recipe) -> tuple[str, ...]:
    """Names of the joints whose rotation `squared` changes; symbolic ones stay as they are."""
    if "origin" in recipe.symbolic:
        return ()
    written = {j.name: ca.DM([list(r) for r in j.rotation]) for j in robot.joints}
    return tuple(name for name, R in written.items() if float(ca.norm_inf(ca.DM(squared(R)) - R)) > 0.0)


def prepare(model: Model) -> Prepared:
    """Replace every expression of alpha in the blocks by a fresh symbol, one for each, so that functions share its value."""
    values: list[Any] = []
    symbols: list[Any] = []
    known: dict[int, Any] = {}
    blocks = {}
    for name, block in model.blocks.items():
        result = ca.SX(block)
        for k in range(block.numel()):
            element = block.nz[k]
            if element.is_constant() or element.is_symbolic():
                continue
            key = element.element_hash()
            if key not in known:
                known[key] = ca.SX.sym(f"m{len(symbols)}")
                values.append(element)
                symbols.append(known[key])
            result.nz[k] = known[key]
        blocks[name] = result
    shared = Model(model.robot, model.recipe, model.tree, model.entries, model.alpha, blocks)
    return Prepared(_column(symbols), _column(values), shared)


def _column(elements: list[Any]) -> Any:
    return ca.vertcat(*elements) if elements else ca.SX.zeros(0, 1)


def _origin(entry: Any, index: Mapping[str, int], joint: Any) -> tuple[Any, Any]:
    """Rotation (3 × 3) and translation (3) of a joint, symbolic where the recipe says so."""
    translation = vector(entry, f"origin.{joint.name}", AXES, joint.translation)
    return turned(entry, index, f"origin.{joint.name}", joint.rotation), translation
