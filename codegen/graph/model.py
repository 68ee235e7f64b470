"""A robot's numbers and parameters as CasADi blocks that the derived programs take as inputs.

Every block is an SX matrix of numbers, alpha entries, and expressions of alpha. Expressions that more than one function
needs are worked out once a call: `prepared` lists them, and `Model.symbols` stands for them inside kernels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import casadi as ca

from diffpbd.codegen.description.attached import lever_joints, wrench_frames
from diffpbd.codegen.description.recipe import Recipe
from diffpbd.codegen.description.rigid import ANGLES, AXES, MOMENTS, triad_of, upper_triangle
from diffpbd.codegen.description.robot import ZERO, JointType, Robot, Tip
from diffpbd.codegen.graph.parameters import LEVER_PARTS, SIDES, WRENCH_PARTS, alpha_entries, is_limited
from diffpbd.codegen.laws import forces
from diffpbd.codegen.program.tree import Gear, Tree
from diffpbd.runtime.manifest import Parameter

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

FRICTION_BLOCKS: Mapping[str, str] = {
    name: f"friction.{name}" for names in forces.MORE_FRICTION.values() for name in names
}
"""The same for what every joint of a robot with such a law of friction has."""


RIGHT_ANGLE: Final = 1e-11
"""[1] An entry of a joint's rotation within this of −1, 0 or 1 is taken for it: a right angle written as 1.57079632679 is off
by 5e-12, which no sensor sees and every operation pays for."""


def tree_of(
    robot: Robot,
    limits: bool = False,
    wrenches: Sequence[str] = (),
    levers: Sequence[str] = (),
    friction: Sequence[str] = (),
) -> Tree:
    """Topology of a robot; with `limits` those of its joints act, external wrenches at the frames of these names, lever
    springs on the joints of these, and these parts of the law of friction."""
    mimics = [joint.mimic for joint in robot.joints]
    gears = tuple(None if m is None else Gear(m.joint, m.multiplier, m.offset) for m in mimics)
    return Tree(
        tuple(j.parent for j in robot.joints),
        tuple(j.type is JointType.PRISMATIC for j in robot.joints),
        tuple(j.axis == (0.0, 0.0, 1.0) for j in robot.joints),
        tuple(is_limited(j) for j in robot.joints) if limits else (),
        tuple(frame.link for frame in wrench_frames(robot, wrenches)),
        gears if any(gears) else (),
        lever_joints(robot, levers),
        tuple(law for law in forces.MORE_FRICTION if law in friction),
    )


@dataclass(frozen=True, eq=False)
class Model:
    """Blocks by program input name, with the alpha symbol and its entries.

    Shapes: before 12 × n, after 9 × n, body 10 × n (about the link origin, payload included), gravity 3, tip 12,
    hinge_before 12 × n, hinge_body 10 × n (before and body with link axes turned into the joint's), carried n (mass of
    subtrees), the `JOINT_BLOCKS` n each; mass n, com 3 × n, inertia 6 × n (about the COM, without payload), rotation 9 × n,
    translation 3 × n, limit 2 n (lower and upper a joint, 0 where none acts),
    payload 10 (mass, com, inertia about it, tip frame), wrench 9 × wrenches (point, force, torque), lever 5 × lever springs.
    """

    robot: Robot
    recipe: Recipe
    tree: Tree
    entries: tuple[Parameter, ...]
    alpha: Any
    blocks: Mapping[str, Any]

    def only(self, names: Sequence[str]) -> dict[str, Any]:
        """The blocks of these names that exist."""
        return {k: self.blocks[k] for k in names if k in self.blocks}


@dataclass(frozen=True)
class Prepared:
    """`symbols` (m × 1) stand for `values` (m × 1, of alpha); `model` is the model with symbols in place of values."""

    symbols: Any
    values: Any
    model: Model


def build(robot: Robot, recipe: Recipe) -> Model:
    """The model of a robot with numbers folded and alpha symbolic."""
    entries = alpha_entries(robot, recipe)
    alpha = ca.SX.sym("alpha", len(entries))
    index = {e.name: k for k, e in enumerate(entries)}
    n = robot.n

    def entry(name: str, number: float) -> Any:
        return alpha[index[name]] if name in index else ca.SX(number)

    def column(kind: str) -> Any:
        return ca.vertcat(*[entry(f"{kind}.{j.name}", 0.0) for j in robot.joints])

    mass = [entry(f"mass.{k.name}", k.inertial.mass) for k in robot.links]
    com = [_vector(entry, f"com.{k.name}", AXES, k.inertial.com) for k in robot.links]
    inertia = [_vector(entry, f"inertia.{k.name}", MOMENTS, upper_triangle(k.inertial.inertia)) for k in robot.links]
    rotation, translation = zip(*[_origin(entry, index, j) for j in robot.joints], strict=True)
    body = [_about_origin(mass[i], com[i], inertia[i]) for i in range(n)]
    payload = ca.vertcat(
        alpha[index["payload.mass"]],
        *[alpha[index[f"payload.com.{a}"]] for a in AXES],
        *[alpha[index[f"payload.inertia.{m}"]] for m in MOMENTS],
    )
    tip = robot.tips[0]
    tip_rotation = ca.SX(ca.DM([list(r) for r in tip.rotation]))
    com_link = ca.mtimes(tip_rotation, payload[1:4]) + ca.DM(list(tip.translation))
    turned = ca.mtimes(ca.mtimes(tip_rotation, _symmetric(payload[4:10])), tip_rotation.T)
    body[tip.link] = body[tip.link] + _about_origin(payload[0], com_link, _upper(turned))
    # R z = axis; a signed permutation, free of cost, where the axis is a coordinate axis
    aligned = [ca.SX(ca.reshape(ca.DM(triad_of(j.axis)), 3, 3)) for j in robot.joints]
    blocks = {
        "before": ca.horzcat(
            *[ca.vertcat(_rows(ca.mtimes(rotation[i], aligned[i])), translation[i]) for i in range(n)]
        ),
        "after": ca.horzcat(*[_rows(a.T) for a in aligned]),
        "body": ca.horzcat(*body),
        "gravity": ca.vertcat(*[alpha[index[f"gravity.{a}"]] for a in AXES]),
        "tip": ca.vertcat(_rows(tip_rotation), ca.SX(ca.DM(list(tip.translation)))),
        "mass": ca.vertcat(*mass),
        "com": ca.horzcat(*com),
        "inertia": ca.horzcat(*inertia),
        "rotation": ca.horzcat(*[_rows(r) for r in rotation]),
        "translation": ca.horzcat(*translation),
        "payload": payload,
        "limit": ca.vertcat(*[entry(f"limit.{side}.{j.name}", 0.0) for j in robot.joints for side in SIDES]),
        **{block: column(kind) for block, kind in JOINT_BLOCKS.items()},
    }
    if recipe.wrench:
        blocks["wrench"] = ca.horzcat(*[_wrench(entry, frame) for frame in wrench_frames(robot, recipe.wrench)])
    if recipe.lever_springs:
        blocks["lever"] = ca.horzcat(*[_lever(entry, name) for name in recipe.lever_springs])
    tree = tree_of(robot, recipe.limits, recipe.wrench, recipe.lever_springs, recipe.friction_law)
    more = forces.friction_names(tree.friction)[len(forces.FRICTION) :]
    blocks |= {block: column(FRICTION_BLOCKS[block]) for block in more}
    blocks |= _in_joint_axes(tree, blocks)
    return Model(robot, recipe, tree, entries, alpha, {k: ca.densify(v) for k, v in blocks.items()})


def _in_joint_axes(tree: Tree, blocks: Mapping[str, Any]) -> dict[str, Any]:
    """`hinge_before`, `hinge_body` and `carried`: the same robot with every link's axes turned into its joint's."""
    before, body, carried = [], [], ca.vertsplit(blocks["body"][0, :].T)
    for i, parent in enumerate(tree.parents):
        placed, own = blocks["before"][:, i], blocks["body"][:, i]
        if parent >= 0 and not tree.aligned[parent]:
            T = _square(blocks["after"][:, parent])
            placed = ca.vertcat(_rows(squared(ca.mtimes(T, _square(placed[0:9])))), ca.mtimes(T, placed[9:12]))
        if not tree.aligned[i]:
            T = _square(blocks["after"][:, i])
            turned = ca.mtimes(ca.mtimes(T, _symmetric(own[4:10])), T.T)
            own = ca.vertcat(own[0], ca.mtimes(T, own[1:4]), _upper(turned))
        before.append(placed)
        body.append(own)
    for i in range(tree.n - 1, -1, -1):
        if tree.parents[i] >= 0:
            carried[tree.parents[i]] += carried[i]
    return {"hinge_before": ca.horzcat(*before), "hinge_body": ca.horzcat(*body), "carried": ca.vertcat(*carried)}


def squared(rotation: Any) -> Any:
    """A rotation whose constant entries within `RIGHT_ANGLE` of −1, 0 or 1 are these."""
    result = ca.SX(rotation)
    for k in range(result.numel()):
        if result[k].is_constant():
            near = round(float(result[k]))
            if abs(float(result[k]) - near) <= RIGHT_ANGLE:
                result[k] = near
    return result


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


def _vector(entry: Any, prefix: str, parts: Sequence[str], numbers: Sequence[float]) -> Any:
    return ca.vertcat(*[entry(f"{prefix}.{part}", number) for part, number in zip(parts, numbers, strict=True)])


def _origin(entry: Any, index: Mapping[str, int], joint: Any) -> tuple[Any, Any]:
    """Rotation (3 × 3) and translation (3) of a joint, symbolic where the recipe says so."""
    translation = _vector(entry, f"origin.{joint.name}", AXES, joint.translation)
    if f"origin.{joint.name}.roll" not in index:
        return squared(ca.DM([list(r) for r in joint.rotation])), translation
    roll, pitch, yaw = (entry(f"origin.{joint.name}.{a}", 0.0) for a in ANGLES)
    return ca.mtimes(ca.mtimes(_turn(2, yaw), _turn(1, pitch)), _turn(0, roll)), translation


def _turn(axis: int, angle: Any) -> Any:
    c, s = ca.cos(angle), ca.sin(angle)
    result = ca.SX.eye(3)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    result[i, i], result[j, j], result[i, j], result[j, i] = c, c, -s, s
    return result


def _wrench(entry: Any, frame: Tip) -> Any:
    parts = [_vector(entry, f"wrench.{frame.name}.{kind}", AXES, ZERO) for kind, _ in WRENCH_PARTS]
    return ca.vertcat(ca.DM(list(frame.translation)), *parts)


def _lever(entry: Any, joint: str) -> Any:
    return ca.vertcat(*[entry(f"lever_spring.{part}.{joint}", 0.0) for part in LEVER_PARTS])


def _square(rows: Any) -> Any:
    return ca.reshape(rows, 3, 3).T


def _rows(matrix: Any) -> Any:
    return ca.vertcat(*[matrix[r, c] for r in range(3) for c in range(3)])


def _symmetric(e: Any) -> Any:
    return ca.blockcat([[e[0], e[1], e[2]], [e[1], e[3], e[4]], [e[2], e[4], e[5]]])


def _upper(m: Any) -> Any:
    return ca.vertcat(m[0, 0], m[0, 1], m[0, 2], m[1, 1], m[1, 2], m[2, 2])


def _about_origin(mass: Any, com: Any, inertia: Any) -> Any:
    """(m, m c, I about the link origin) of (m, c, I about the COM): parallel axes."""
    x, y, z = com[0], com[1], com[2]
    shift = ca.vertcat(y * y + z * z, -x * y, -x * z, x * x + z * z, -y * z, x * x + y * y)
    return ca.vertcat(mass, mass * com, inertia + mass * shift)
