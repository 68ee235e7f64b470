"""/robot_description of the robot at hand against the model that was generated: every difference, by name.

Arm mounts are calibrated one by one and grippers are changed, so the model may be of another arm. Compared
are limits, the tip's position, and torques for gravity and accelerations.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import RefusedError
from diffpbd.runtime.model.limits import Limits
from diffpbd.runtime.model.robot import Robot

__all__ = ["Difference", "compare_description", "tighter_limits"]

LIMIT_TOLERANCE = 1e-3  # rad, rad/s or N·m; descriptions round their limits
MASS_TOLERANCE = 1e-3  # kg
TORQUE_TOLERANCE = 0.05  # N·m of gravity or inertia; above the torque sensors' noise, below any joint's friction
ACCELERATION = 10.0  # rad/s² or m/s²; of a fast motion: the most of a random acceleration at which inertia is compared
POSITION_TOLERANCE = 2e-3  # m at the tip; a calibrated mount moves it by more
POSES = 12  # at which tip and gravity are compared
POSE_SEED = 7
STANDARD_GRAVITY = 9.81  # m/s²; only the size of a difference depends on it


@dataclass(frozen=True)
class Difference:
    """One difference; `refuse` if a run must not ignore it without the user's word."""

    text: str
    refuse: bool

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class _Joint:
    name: str
    kind: str
    parent: str
    child: str
    rotation: FloatArray
    translation: FloatArray
    axis: FloatArray
    limits: dict[str, float]


def _numbers(text: str | None, default: str) -> FloatArray:
    values = np.array([float(word) for word in (text or default).split()])
    if values.shape != (3,) or not np.isfinite(values).all():
        raise ValueError(f"expected three numbers, found {text!r}")
    return values


def _rotation(rpy: FloatArray) -> FloatArray:
    """Rotation matrix of fixed-axis roll, pitch, yaw [rad]."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    return np.array([
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ])  # fmt: skip


def _origin(element: ElementTree.Element) -> tuple[FloatArray, FloatArray]:
    origin = element.find("origin")
    attributes = {} if origin is None else origin.attrib
    return (
        _rotation(_numbers(attributes.get("rpy"), "0 0 0")),
        _numbers(attributes.get("xyz"), "0 0 0"),
    )


def _read_joint(element: ElementTree.Element) -> _Joint:
    parent, child = element.find("parent"), element.find("child")
    if parent is None or child is None:
        raise ValueError(f"joint {element.get('name')} has no parent or no child")
    axis, limit = element.find("axis"), element.find("limit")
    direction = _numbers(None if axis is None else axis.get("xyz"), "1 0 0")
    return _Joint(
        element.attrib["name"], element.attrib["type"], parent.attrib["link"], child.attrib["link"],
        *_origin(element), direction / (np.linalg.norm(direction) or 1.0),
        {} if limit is None else {name: float(value) for name, value in limit.attrib.items()},
    )  # fmt: skip


def _read_moments(element: ElementTree.Element) -> FloatArray:
    """m, m c, and the inertia about the link origin, (10,), in the regressor's order."""
    inertial = element.find("inertial")
    if inertial is None:
        return np.zeros(10)
    mass_element, inertia_element = inertial.find("mass"), inertial.find("inertia")
    mass = 0.0 if mass_element is None else float(mass_element.attrib["value"])
    rotation, com = _origin(inertial)
    tensor = np.zeros((3, 3))
    if inertia_element is not None:
        for (i, j), name in zip(
            ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)), ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"),
            strict=True,
        ):  # fmt: skip
            tensor[i, j] = tensor[j, i] = float(inertia_element.get(name, 0.0))
    about = rotation @ tensor @ rotation.T + mass * (com @ com * np.eye(3) - np.outer(com, com))
    return _pack(mass, mass * com, about)


def _pack(mass: float, moment: FloatArray, tensor: FloatArray) -> FloatArray:
    return np.array([mass, *moment, *tensor[0], tensor[1, 1], tensor[1, 2], tensor[2, 2]])


def _moved(moments: FloatArray, rotation: FloatArray, translation: FloatArray) -> FloatArray:
    """The moments of a body seen from the frame in which its own frame is (rotation, translation)."""
    mass, moment = moments[0], rotation @ moments[1:4]
    xx, xy, xz, yy, yz, zz = moments[4:]
    tensor = rotation @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ rotation.T
    t = translation
    shift = (mass * (t @ t) + 2 * (t @ moment)) * np.eye(3)
    shift -= mass * np.outer(t, t) + np.outer(t, moment) + np.outer(moment, t)
    return _pack(mass, moment + mass * t, tensor + shift)


class _Live:
    """The robot's own description, seen through the joints of the generated model."""

    def __init__(self, text: str, robot: Robot) -> None:
        root = ElementTree.fromstring(text)
        self.joints = {joint.name: joint for joint in map(_read_joint, root.findall("joint"))}
        self.links = {link.attrib["name"]: _read_moments(link) for link in root.findall("link")}
        self.generated = robot.joints
        self.children: dict[str, list[_Joint]] = {}
        for joint in self.joints.values():
            self.children.setdefault(joint.parent, []).append(joint)
        self.base = robot.manifest.robot.base

    def carried(self, link: str) -> Iterator[tuple[str, FloatArray, FloatArray]]:
        """`link` and everything that hangs on it but for generated joints, with poses in its frame."""
        stack = [(link, np.eye(3), np.zeros(3))]
        while stack:
            name, rotation, translation = stack.pop()
            yield name, rotation, translation
            for joint in self.children.get(name, ()):
                if joint.name not in self.generated:
                    stack.append((
                        joint.child, rotation @ joint.rotation, rotation @ joint.translation + translation
                    ))  # fmt: skip

    def moments(self, link: str) -> FloatArray:
        """Everything rigidly carried by a link (other joints at zero), about its origin."""
        total = np.zeros(10)
        for name, rotation, translation in self.carried(link):
            total += _moved(self.links[name], rotation, translation)
        return total

    def position(self, tip: str, angles: dict[str, float]) -> FloatArray:
        """Position [m] of a link's origin in the base link's frame."""
        above = {joint.child: joint for joint in self.joints.values()}
        point = np.zeros(3)
        while tip != self.base:
            joint = above[tip]
            turn = _turn(joint.axis, angles.get(joint.name, 0.0))
            point = joint.rotation @ turn @ point + joint.translation
            tip = joint.parent
        return point


def _turn(axis: FloatArray, angle: float) -> FloatArray:
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    turned: FloatArray = np.eye(3) + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross
    return turned


def compare_description(text: str, robot: Robot) -> list[Difference]:
    """Every difference between a robot's URDF `text` and the generated `robot`."""
    try:
        live = _Live(text, robot)
        found = list(_joints(live, robot))
        if not any(difference.refuse for difference in found):
            found += _bodies(live, robot)
    except (ElementTree.ParseError, KeyError, ValueError) as error:
        raise RefusedError(f"/robot_description cannot be read: {error!r}.") from None
    return found


def _joints(live: _Live, robot: Robot) -> Iterator[Difference]:
    if live.base not in live.links:
        yield Difference(f"the robot has no link {live.base}, the model's base", True)
    for facts in robot.manifest.robot.joints:
        joint = live.joints.get(facts.name)
        if joint is None or joint.kind != facts.type or joint.child != facts.child:
            found = "missing" if joint is None else f"{joint.kind} to {joint.child}"
            yield Difference(f"{facts.name}: {facts.type} to {facts.child}, on the robot {found}", True)
            continue
        for name in ("lower", "upper", "velocity", "effort"):
            ours, theirs = getattr(facts, name), joint.limits.get(name)
            if ours is None or theirs is None:
                if ours is not theirs:
                    yield Difference(f"{facts.name}: {name} {ours}, on the robot {theirs}", ours is None)
                continue
            wider = ours < theirs if name == "lower" else ours > theirs
            if abs(ours - theirs) > LIMIT_TOLERANCE:
                yield Difference(f"{facts.name}: {name} {ours:g}, on the robot {theirs:g}", wider)


def _bodies(live: _Live, robot: Robot) -> Iterator[Difference]:
    moments = np.concatenate([live.moments(joint.child) for joint in robot.manifest.robot.joints])
    for link, mass in zip(robot.manifest.robot.links, moments[::10], strict=True):
        if abs(mass - link.mass) > MASS_TOLERANCE:
            theirs = f"{link.mass:.4f} kg, on the robot {mass:.4f} kg"
            yield Difference(f"{link.name} with all it carries: {theirs}", True)
    random = np.random.default_rng(POSE_SEED)
    joints = robot.manifest.robot.joints
    low = np.array([-np.pi if joint.lower is None else joint.lower for joint in joints])
    high = np.array([np.pi if joint.upper is None else joint.upper for joint in joints])
    poses = random.uniform(low, high, (POSES, robot.n))
    weightless = robot.alpha.vector({f"gravity.{axis}": 0.0 for axis in "xyz"})
    alpha = robot.alpha.vector({"gravity.x": 0.0, "gravity.y": 0.0, "gravity.z": -STANDARD_GRAVITY})
    torque, inertia, distance = np.zeros(robot.n), np.zeros(robot.n), 0.0
    tip = robot.manifest.robot.tips[0]
    for pose in poses:
        zero = np.zeros(robot.n)
        torques = robot.function("regressor")(pose, zero, zero, alpha) @ moments
        torque = np.maximum(torque, np.abs(torques - robot.function("gravity")(pose, alpha)))
        moved = (pose, zero, random.uniform(-ACCELERATION, ACCELERATION, robot.n), weightless)
        torques = robot.function("regressor")(*moved) @ moments
        inertia = np.maximum(inertia, np.abs(torques - robot.function("inverse_dynamics")(*moved)))
        if tip in live.links:
            ours = robot.function("tip_pose")(pose, alpha).position
            there = live.position(tip, dict(zip(robot.joints, pose.tolist(), strict=True)))
            distance = max(distance, float(np.linalg.norm(np.ravel(ours) - there)))
    for name, weight, push in zip(robot.joints, torque, inertia, strict=True):
        if weight > TORQUE_TOLERANCE:
            yield Difference(f"{name}: gravity differs by up to {weight:.2f} N·m", True)
        if push > TORQUE_TOLERANCE:
            within = f"at accelerations within {ACCELERATION:g} rad/s²"
            yield Difference(f"{name}: inertia differs by up to {push:.2f} N·m {within}", True)
    if tip not in live.links:
        yield Difference(f"the robot has no link {tip}, the model's tip", False)
    elif distance > POSITION_TOLERANCE:
        yield Difference(f"{tip}: its position differs by up to {1e3 * distance:.1f} mm", True)


def tighter_limits(limits: Limits, text: str, joints: tuple[str, ...]) -> Limits:
    """The tighter of the model's limits and those of the robot's URDF `text`."""
    root = ElementTree.fromstring(text)
    elements = {joint.get("name"): joint.find("limit") for joint in root.findall("joint")}

    def live(name: str, missing: float) -> FloatArray:
        found = [elements.get(joint) for joint in joints]
        return np.array([missing if e is None else float(e.get(name, missing)) for e in found])

    effort = np.minimum(limits.effort, live("effort", np.inf))
    return replace(
        limits,
        lower=np.maximum(limits.lower, live("lower", -np.inf)),
        upper=np.minimum(limits.upper, live("upper", np.inf)),
        speed=np.minimum(limits.speed, live("velocity", np.inf)),
        effort=effort,
        law_effort=np.minimum(limits.law_effort, effort),
    )
