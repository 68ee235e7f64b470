"""Robots of the tests: Baxter's bare left arm, a double pendulum, two arms on a torso, and one with slides and skew axes."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import numpy.typing as npt

from diffpbd.codegen.description.robot import IDENTITY, ZERO, Inertial, Joint, JointType, Link, Mat3, Robot, Tip, Vec3
from diffpbd.codegen.symbolic.maximal_parameters import maximal_parameters, robot_numbers
from diffpbd.codegen.symbolic.notation import Tree

Array = npt.NDArray[np.float64]

# link, joint origin xyz [m], rpy [rad], mass [kg], COM [m], inertia about the COM xx xy xz yy yz zz [kg·m²]
BAXTER_BARE: tuple[tuple[str, Vec3, Vec3, float, Vec3, tuple[float, ...]], ...] = (
    (
        "upper_shoulder",
        (0.06402723984846331, 0.2590273845077734, 0.129626),
        (0.0, 0.0, 0.7854),
        5.70044,
        (0.01783, 0.00086, 0.19127),
        (0.04709102262, 0.00012787556, 0.00614870039, 0.03766976455, 0.00078086899, 0.03595988478),
    ),
    (
        "lower_shoulder",
        (0.069, 0.0, 0.27035),
        (-1.57079632679, 0.0, 0.0),
        3.22698,
        (0.06845, 0.00269, -0.00529),
        (0.01175209419, -0.00030096398, 0.00207675762, 0.0278859752, -0.00018821993, 0.02078749298),
    ),
    (
        "upper_elbow",
        (0.102, 0.0, 0.0),
        (1.57079632679, 0.0, 1.57079632679),
        4.31272,
        (-0.00276, 0.00132, 0.18086),
        (0.02661733557, 0.00029270634, 0.00392189887, 0.02844355207, 0.0010838933, 0.01248008322),
    ),
    (
        "lower_elbow",
        (0.069, 0.0, 0.26242),
        (-1.57079632679, -1.57079632679, 0.0),
        2.07206,
        (0.02611, 0.00159, -0.01117),
        (0.00711582686, 0.00036036173, 0.0007459496, 0.01318227876, -0.00019663418, 0.00926852064),
    ),
    (
        "upper_forearm",
        (0.10359, 0.0, 0.0),
        (1.57079632679, 0.0, 1.57079632679),
        2.24665,
        (-0.00168, 0.0046, 0.13952),
        (0.01667742825, 0.00018403705, 0.00018657629, 0.01675457264, -0.00064732352, 0.0037463115),
    ),
    (
        "lower_forearm",
        (0.01, 0.0, 0.2707),
        (-1.57079632679, -1.57079632679, 0.0),
        1.60979,
        (0.06041, 0.00697, 0.006),
        (0.00387607152, -0.00044384784, -0.00021115038, 0.00700537914, 0.00015348067, 0.0055275524),
    ),
    (
        "wrist",
        (0.115975, 0.0, 0.0),
        (1.57079632679, 0.0, 1.57079632679),
        0.35093,
        (0.00198, 0.00125, 0.01855),
        (0.00025289155, 5.75311e-06, -1.59345e-06, 0.0002688601, -5.19818e-06, 0.0003074118),
    ),
)
Row = tuple[str, JointType, int, Vec3, Vec3, Vec3, float, Vec3, tuple[float, ...]]


def rpy(roll: float, pitch: float, yaw: float) -> Mat3:
    """Rotation of fixed-axis roll, pitch, yaw [rad]."""
    cr, sr, cp, sp, cy, sy = (f(a) for a in (roll, pitch, yaw) for f in (math.cos, math.sin))
    return (
        (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
        (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
        (-sp, cp * sr, cp * cr),
    )


def build(name: str, rows: list[Row]) -> Robot:
    """Robot from rows of (link, joint type, parent, xyz, rpy, axis, mass, com, inertia)."""
    joints, links = [], []
    for link, kind, parent, xyz, angles, axis, mass, com, (xx, xy, xz, yy, yz, zz) in rows:
        norm = math.sqrt(sum(e * e for e in axis))
        unit = (axis[0] / norm, axis[1] / norm, axis[2] / norm)
        joints.append(Joint(f"{link}_joint", kind, parent, rpy(*angles), xyz, unit))
        links.append(Link(link, Inertial(mass, com, ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))))
    tip = Tip("tip", len(rows) - 1, IDENTITY, ZERO)
    return Robot(name, "world", tuple(joints), tuple(links), (tip,))


def _arm(prefix: str, root: int, shift: float, first: int) -> list[Row]:
    rows: list[Row] = []
    for k, (link, xyz, angles, mass, com, inertia) in enumerate(BAXTER_BARE):
        parent = root if k == 0 else first + k - 1
        origin = (xyz[0], xyz[1] + shift, xyz[2]) if k == 0 else xyz
        rows.append((prefix + link, JointType.REVOLUTE, parent, origin, angles, (0, 0, 1), mass, com, inertia))
    return rows


@cache
def bare_arm() -> Robot:
    """Baxter's bare left arm, 7 hinges."""
    return build("baxter_bare", _arm("left_", -1, 0.0, 0))


@cache
def two_arms() -> Robot:
    """A turning torso with two short arms of three hinges each: a branching tree of seven joints."""
    torso: Row = ("torso", JointType.REVOLUTE, -1, ZERO, ZERO, (0, 0, 1), 20.0, (0.02, 0.01, 0.3), (1.5, 0, 0.01, 1.2, 0, 0.8))
    left, right = _arm("left_", 0, 0.0, 1)[:3], _arm("right_", 0, -0.52, 4)[:3]
    return build("two_arms", [torso, *left, *right])


@cache
def double_pendulum() -> Robot:
    """Two rods of 1 kg, swinging about y."""
    rod = (1 / 12, 0.0, 0.0, 1 / 12, 0.0, 1e-3)
    rows: list[Row] = [
        ("upper", JointType.CONTINUOUS, -1, ZERO, ZERO, (0, 1, 0), 1.0, (0, 0, -0.5), rod),
        ("lower", JointType.CONTINUOUS, 0, (0, 0, -1), ZERO, (0, 1, 0), 1.0, (0, 0, -0.5), rod),
    ]
    return build("double_pendulum", rows)


@cache
def skew_slider() -> Robot:
    """Hinge about a skew axis, slide, hinge, slide along a skew axis."""
    rows: list[Row] = [
        ("a", JointType.REVOLUTE, -1, (0.1, 0.2, 0.3), (0.3, -0.2, 0.5), (1, 2, -1), 2.0, (0.1, 0.02, 0.05), (0.02, 0.001, 0, 0.03, 0.002, 0.025)),
        ("b", JointType.PRISMATIC, 0, (0.2, 0.0, 0.1), (-0.4, 0.1, 0.2), (0, 1, 0), 1.5, (0.0, 0.1, 0.03), (0.01, 0.0, 0.001, 0.012, 0, 0.011)),
        ("c", JointType.CONTINUOUS, 1, (0.0, 0.3, 0.0), (1.2, 0.4, -0.7), (0, 0, 1), 1.0, (0.12, -0.01, 0.02), (0.004, 0.0, 0.0002, 0.006, 0, 0.005)),
        ("d", JointType.PRISMATIC, 2, (0.15, 0.0, 0.02), (0.2, 0.9, 0.1), (2, -1, 2), 0.7, (0.01, 0.02, 0.1), (0.003, 0.0, 0.0001, 0.002, 0, 0.002)),
    ]
    return build("skew_slider", rows)


@cache
def numbers(robot: Robot) -> dict[str, Array]:
    """`body` and `joint` blocks of a robot without payload."""
    given = robot_numbers(robot)
    blocks = maximal_parameters(Tree.of(robot), robot.tips[0].link).numpy()(
        link=given.link, origin=given.origin, triad=given.triad, payload=given.payload, tip=given.tip
    )
    return {name: value.ravel() for name, value in blocks.items()}


@cache
def no_forces(robot: Robot) -> dict[str, Array]:
    """Inputs of a step for a free robot: gravity, zero torque, friction and spring, transition 0.01 rad/s."""
    n = robot.n
    friction = np.tile([0.0, 0.0, 0.01], n)
    return {"u": np.zeros(n), "gravity": np.array([0, 0, -9.81]), "friction": friction, "spring": np.zeros(2 * n)}
