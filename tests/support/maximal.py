"""Robots, and the numeric inputs of the maximal-coordinate programs, for the tests."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any

import casadi as ca
import numpy as np
import numpy.typing as npt

from diffpbd.codegen.description.front.resolve import resolve
from diffpbd.codegen.description.robot.robot import IDENTITY, ZERO, Inertial, Joint, Link, Robot
from diffpbd.codegen.graph.loops.build import build
from diffpbd.codegen.method.constraints import JointVectors, gradient, hinge_residual, slide_residual
from diffpbd.codegen.method.kinematics import fk, rotation
from diffpbd.codegen.method.parameters import axes_of, maximal_parameters
from diffpbd.codegen.program.notation import JOINT, POSE, JointNumbers
from diffpbd.codegen.program.program import Program
from diffpbd.codegen.program.tree import Tree
from diffpbd.runtime.base.joint_types import REVOLUTE

Array = npt.NDArray[np.float64]


def tree_of(robot: Robot) -> Tree:
    """Topology of a robot."""
    joints = robot.joints
    slides = tuple(j.type.slides for j in joints)
    return Tree(tuple(j.parent for j in joints), slides, (False,) * robot.n)


@cache
def shipped(name: str) -> Robot:
    """A shipped robot."""
    return resolve(name)[1]


@cache
def two_arms() -> Robot:
    """A turning torso that carries two short arms of Baxter's first three hinges: a branching tree of seven
    joints."""
    bare = shipped("baxter_bare")
    inertia = ((1.5, 0.0, 0.01), (0.0, 1.2, 0.0), (0.01, 0.0, 0.8))
    joints = [Joint("torso", REVOLUTE, -1, IDENTITY, ZERO, (0.0, 0.0, 1.0))]
    links = [Link("torso", Inertial(20.0, (0.02, 0.01, 0.3), inertia))]
    for side, first in (("left", 1), ("right", 4)):
        for k in range(3):
            joint = bare.joints[k]
            x, y, z = joint.translation
            shift = (x, -y if side == "right" and k == 0 else y, z)
            parent = 0 if k == 0 else first + k - 1
            joints.append(dataclasses.replace(joint, name=f"{side}_{k}", parent=parent, translation=shift))
            links.append(dataclasses.replace(bare.links[k], name=f"{side}_link_{k}"))
    return Robot("two_arms", "world", tuple(joints), tuple(links), bare.tips[:0] or bare.tips[:1])


ROBOTS = (shipped("baxter_bare"), two_arms(), shipped("prismatic_skew"), shipped("double_pendulum"))


def description_blocks(robot: Robot, payload: Array | None = None) -> dict[str, Any]:
    """Inputs of `maximal_parameters`, flat by rows as the NumPy reference takes them."""
    inertials = [link.inertial for link in robot.links]
    seat, triad = axes_of(robot)
    upper = np.triu_indices(3)
    tip = robot.tips[0]
    return {
        "mass": [i.mass for i in inertials],
        "com": np.array([i.com for i in inertials]).T,
        "inertia": np.array([np.array(i.inertia)[upper] for i in inertials]).T,
        "rotation": np.array([np.ravel(j.rotation) for j in robot.joints]).T,
        "translation": np.array([j.translation for j in robot.joints]).T,
        "seat": np.array(seat).T,
        "triad": np.array(triad).T,
        "payload": np.zeros(10) if payload is None else payload,
        "tip": np.concatenate([np.ravel(tip.rotation), tip.translation]),
    }


@cache
def numbers(robot: Robot) -> dict[str, Array]:
    """`body` and `joint` blocks of a robot without payload."""
    run = maximal_parameters(tree_of(robot), robot.tips[0].link).numpy()
    return {name: value.ravel() for name, value in run(**description_blocks(robot)).items()}


@cache
def free(robot: Robot) -> dict[str, Array]:
    """Other inputs of a step, for a robot without torque, friction and springs: gravity, u, friction,
    spring."""
    n = robot.n
    friction = np.tile([0.0, 0.0, 0.01], n)
    return {"gravity": np.array([0, 0, -9.81]), "u": np.zeros(n), "friction": friction, "spring": np.zeros(2 * n)}


@cache
def gradient_program(slide: bool) -> Program:
    """c, J_a, J_b of one joint at two poses, by the derivation's own `gradient`."""
    program = Program("gradient_under_test")
    joint = JointNumbers.of(program.input("joint", JOINT))
    a, b = program.input("a", POSE), program.input("b", POSE)
    R_a, R_b = rotation(program, a[3:, 0]), rotation(program, b[3:, 0])
    w = JointVectors.at(program, joint, a[:3, 0], R_a, b[:3, 0], R_b)
    residual = slide_residual if slide else hinge_residual
    program.output("c", residual(w))
    J_a, J_b = gradient(residual, w)
    program.output("J_a", J_a)
    program.output("J_b", J_b)
    return program


@cache
def _gradient_reference(slide: bool) -> Any:
    return gradient_program(slide).numpy()


def dense_constraints(robot: Robot, pose: Array) -> tuple[Array, Array]:
    """c (5 n) and J (5 n x 6 n) of all joints at poses (n x 7)."""
    tree, joint = tree_of(robot), numbers(robot)["joint"].reshape(-1, JOINT)
    c, J = np.zeros(5 * tree.n), np.zeros((5 * tree.n, 6 * tree.n))
    for j, parent in enumerate(tree.parents):
        a = np.array([0.0, 0, 0, 1, 0, 0, 0]) if parent < 0 else pose[parent]
        at = _gradient_reference(tree.slides[j])(joint=joint[j], a=a, b=pose[j])
        rows = slice(5 * j, 5 * j + 5)
        c[rows], J[rows, 6 * j : 6 * j + 6] = at["c"].ravel(), at["J_b"]
        if parent >= 0:
            J[rows, 6 * parent : 6 * parent + 6] = at["J_a"]
    return c, J


def matrix_of(q: Array) -> Array:
    """Rotation matrix of a unit quaternion wxyz."""
    w, x, y, z = q
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.asarray(np.eye(3) + 2 * w * K + 2 * K @ K)


def turned(q: Array, phi: Array) -> Array:
    """normalize(q + [0, phi]/2 q)."""
    w, x, y, z = q
    columns = np.array([[-x, -y, -z], [w, z, -y], [-z, w, x], [y, -x, w]])
    moved = q + columns @ phi / 2
    return np.asarray(moved / np.linalg.norm(moved))


def displaced(pose: Array, d: Array) -> Array:
    """Poses (n x 7) moved by displacements (6 n)."""
    steps = d.reshape(-1, 6)
    return np.array([[*(p[:3] + s[:3]), *turned(p[3:], s[3:])] for p, s in zip(pose, steps, strict=True)])


def poses_of(xi: Array) -> Array:
    """Poses (n x 7) of a maximal state."""
    return np.delete(xi.reshape(-1, 13), [3, 4, 5, 10, 11, 12], axis=1)


def link_inertia(robot: Robot, i: int) -> Array:
    """Inertia (3 x 3) about the COM, link axes."""
    return np.array(robot.links[i].inertial.inertia)


def random_state(robot: Robot, rng: np.random.Generator, rate: float = 1.0) -> Array:
    """A consistent maximal state (13 n), flat."""
    p, pd = rng.uniform(-1.2, 1.2, robot.n), rate * rng.normal(size=robot.n)
    return evaluate(fk(tree_of(robot)), p=p, pd=pd, joint=numbers(robot)["joint"])["xi"].ravel()


_RUNS: dict[int, tuple[Program, Any]] = {}


def evaluate(program: Program, **arrays: Any) -> dict[str, Array]:
    """Run the NumPy reference of a program, compiled once."""
    if id(program) not in _RUNS:
        _RUNS[id(program)] = (program, program.numpy())
    result: dict[str, Array] = _RUNS[id(program)][1](**arrays)
    return result


def energy(robot: Robot, xi: Array, g: float = 9.81) -> float:
    """Kinetic plus gravitational energy [J]."""
    total = 0.0
    for i, s in enumerate(xi.reshape(-1, 13)):
        m, R = robot.links[i].inertial.mass, matrix_of(s[6:10])
        omega = R.T @ s[10:13]
        total += m * (s[3:6] @ s[3:6] / 2 + g * s[2]) + omega @ link_inertia(robot, i) @ omega / 2
    return float(total)


@cache
def model_blocks(name: str) -> dict[str, Array]:
    """The joint-space programs' numeric blocks of a shipped robot at default parameters, by rows."""
    recipe, robot = resolve(name)
    model = build(robot, recipe)
    default = [entry.default for entry in model.entries]
    names = list(model.blocks)
    values = ca.Function("blocks", [model.alpha], [model.blocks[k] for k in names])(default)
    return {k: np.array(v) for k, v in zip(names, values, strict=True)}


def only(program: Program, blocks: dict[str, Array], **given: Array | float) -> dict[str, Array]:
    return evaluate(program, **{k: v for k, v in (blocks | given).items() if k in program.inputs})
