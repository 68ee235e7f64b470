"""Visual model of a robot: the shapes of its URDF, and their poses.

Visual shapes, or collision shapes if no visual one can be read (STL, OBJ, PLY; COLLADA with pycollada), each as a mesh of
trimesh (extra `view`). Joints that were held in generation are at zero; mimic joints follow theirs.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, arg
from diffpbd.runtime.base.extras import missing
from diffpbd.runtime.base.joint_types import FIXED, SLIDE, Motion, type_of
from diffpbd.runtime.base.located import located
from diffpbd.runtime.folder.manifest import Shape as Kept
from diffpbd.runtime.model.robot import Robot

__all__ = ["Shape", "Shapes", "clearance_meshes", "link_frames", "quaternion", "read_shapes", "simple"]

STATE = 13
"""Numbers of a link's state: centre of mass [m], velocity, quaternion wxyz, angular velocity."""
READ = (".stl", ".obj", ".ply", ".dae")
Element = ET.Element


@dataclass(frozen=True)
class Shape:
    """A mesh of trimesh [m] in the frame of a link."""

    link: str
    mesh: Any


@dataclass(frozen=True)
class _Joint:
    name: str
    motions: tuple[Motion, ...]
    parent: str
    child: str
    origin: FloatArray
    axis: FloatArray
    leader: tuple[str, float, float] | None
    pitch: float
    """[m/rad] Pitch of a screw: translation per rotation."""


@dataclass(frozen=True)
class Shapes:
    """All shapes of a URDF, and its tree. Poses are relative to the generated robot's base."""

    shapes: tuple[Shape, ...]
    joints: tuple[_Joint, ...]
    base: str
    left_out: tuple[str, ...] = ()
    """Shapes that could not be read, by link and file."""

    def poses(self, robot: Robot, q: FloatArray) -> dict[str, FloatArray]:
        """Frames (4, 4) of the links at q (n_p,) [rad or m]."""
        angles = dict(zip(robot.positions, q, strict=True))
        root = _moved_base(robot, q)
        found: dict[str, FloatArray] = {}
        children = {joint.child for joint in self.joints}
        for joint in self.joints:
            if joint.parent not in children:
                found[joint.parent] = np.eye(4)
        waiting = list(self.joints)
        while ready := [joint for joint in waiting if joint.parent in found]:
            for joint in ready:
                found[joint.child] = found[joint.parent] @ joint.origin @ _motion(joint, _angle(joint, angles))
            waiting = [joint for joint in waiting if joint.child not in found]
        back = root @ np.linalg.inv(found.get(self.base, np.eye(4)))
        return {link: back @ frame for link, frame in found.items()}


def read_shapes(path: str | Path, robot: Robot) -> Shapes:
    """The shapes of a URDF file, which is the description that the robot was generated from, or one with the same names."""
    try:
        import trimesh
    except ModuleNotFoundError:
        raise missing(f"{arg.meshes}", "trimesh") from None
    try:
        top = ET.parse(path).getroot()
    except (OSError, ET.ParseError) as error:
        raise InputError(f"{arg.meshes} {path} cannot be read as a URDF: {error}.") from None
    joints = tuple(_joint(element) for element in top.iterfind(".//{*}joint") if element.find("parent") is not None)
    names = {joint.name for joint in joints}
    lacking = [joint.name for joint in robot.manifest.robot.joints if joint.name not in names]
    own = [name for name in lacking if name not in robot.manifest.robot.base_freedoms]
    if own or not joints:
        raise InputError(
            f"{arg.meshes} {path}: it has no joint {', '.join(own) or 'at all'}; {robot.name} is another robot."
        )
    shapes: list[Shape] = []
    left_out: list[str] = []
    for link in top.findall("link"):
        name = link.get("name", "")
        for kind in ("visual", "collision"):
            meshes = [(element, _mesh(trimesh, element, Path(path))) for element in link.findall(kind)]
            shapes += [Shape(name, mesh) for _, mesh in meshes if mesh is not None]
            left_out += [f"{name}: {_said(element)}" for element, mesh in meshes if mesh is None]
            if any(mesh is not None for _, mesh in meshes):
                break
    if not shapes:
        raise InputError(
            f"{arg.meshes} {path}: none of its shapes can be read ({', '.join(READ)}, box, cylinder, sphere)."
        )
    return Shapes(tuple(shapes), joints, robot.manifest.robot.base, tuple(dict.fromkeys(left_out)))


def link_frames(robot: Robot, q: FloatArray) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Rotation (3, 3) and origin (3) [m] of every moving link at q (n_p,), and of the world."""
    found = {"world": (np.eye(3), np.zeros(3))}
    states = np.reshape(robot.function("fk")(q, np.zeros(robot.n)), (-1, STATE))
    for link, state in zip(robot.manifest.robot.links, states, strict=True):
        w, x, y, z = state[6:10]
        cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        R = np.eye(3) + 2.0 * w * cross + 2.0 * cross @ cross
        found[link.name] = R, state[:3] - R @ np.array(link.com)
    return found


def clearance_meshes(robot: Robot) -> list[tuple[Kept, Any]]:
    """Shapes that must not touch, each with its mesh in its own frame; without planes. Empty without trimesh."""
    clearance = robot.manifest.clearance
    if clearance is None or "fk" not in robot.functions:
        return []
    try:
        import trimesh
    except ModuleNotFoundError:
        return []
    found: list[tuple[Kept, Any]] = []
    for shape in clearance.shapes:
        if shape.kind == "box":
            mesh = trimesh.creation.box(2.0 * np.array(shape.halves))
        elif shape.kind == "sphere":
            mesh = trimesh.creation.icosphere(2, shape.radius)
        elif shape.kind == "capsule":
            mesh = trimesh.creation.capsule(2.0 * shape.halves[0], shape.radius, count=[16, 16])
        else:
            continue
        mesh.visual.face_colors = [70, 110, 180, 90]
        found.append((shape, mesh))
    return found


def quaternion(rotation: FloatArray) -> FloatArray:
    """w, x, y, z of a rotation (3, 3), by the eigenvector of the largest eigenvalue of its symmetric form."""
    R = rotation
    form = np.array([
        [R[0, 0] + R[1, 1] + R[2, 2], R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]],
        [0.0, R[0, 0] - R[1, 1] - R[2, 2], R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]],
        [0.0, 0.0, R[1, 1] - R[0, 0] - R[2, 2], R[1, 2] + R[2, 1]],
        [0.0, 0.0, 0.0, R[2, 2] - R[0, 0] - R[1, 1]],
    ])  # fmt: skip
    largest: FloatArray = np.linalg.eigh(form, UPLO="U")[1][:, -1]
    return largest


def simple(mesh: Any) -> Any:
    """A convex hull of a mesh with at most about eighty faces, for pictures that draw each face."""
    import trimesh

    ways = trimesh.creation.icosphere(1).vertices
    ends = np.unique(np.argmax(mesh.vertices @ ways.T, axis=0))
    points = mesh.vertices[ends]
    return trimesh.convex.convex_hull(points) if len(points) > 4 else mesh


def _said(element: Element) -> str:
    """Name of a shape that was not read: its file, or its kind."""
    form = next(iter(element.find("geometry") or ()), None)
    return "no geometry" if form is None else form.get("filename", f"<{form.tag}>")


def _mesh(trimesh: Any, element: Element, path: Path) -> Any:
    """The mesh in the frame of the link; None if its file is missing or of an unreadable kind."""
    geometry = element.find("geometry")
    if geometry is None or len(geometry) == 0:
        return None
    form = geometry[0]
    if form.tag == "mesh":
        file = _located(form.get("filename", ""), path)
        if file is None:
            return None
        try:
            made = trimesh.load(file, force="mesh")
        except Exception:  # trimesh has no error class of its own; its readers raise anything
            return None
        made.apply_scale(_numbers(form.get("scale"), (1.0, 1.0, 1.0)))
    elif form.tag == "box":
        made = trimesh.creation.box(_numbers(form.get("size"), (0.1, 0.1, 0.1)))
    elif form.tag == "cylinder":
        made = trimesh.creation.cylinder(float(form.get("radius", 0.05)), float(form.get("length", 0.1)))
    elif form.tag == "sphere":
        made = trimesh.creation.icosphere(2, float(form.get("radius", 0.05)))
    else:
        return None
    return made.apply_transform(_origin(element)) if len(made.faces) else None


def _located(name: str, path: Path) -> Path | None:
    """The file of a mesh that is referred to by `name`."""
    return located(name, path) if Path(name).suffix.lower() in READ else None


def _joint(element: Element) -> _Joint:
    parent, child, axis, mimic = (element.find(tag) for tag in ("parent", "child", "axis", "mimic"))
    leader = None
    if mimic is not None:
        leader = (mimic.get("joint", ""), float(mimic.get("multiplier", 1.0)), float(mimic.get("offset", 0.0)))
    along = _numbers(None if axis is None else axis.get("xyz"), (1.0, 0.0, 0.0))
    kind = type_of(element.get("type", FIXED.name))
    pitch = element.find(f"{{*}}{kind.pitch}") if kind.pitch else None
    return _Joint(
        element.get("name", ""), kind.motions, "" if parent is None else parent.get("link", ""),
        "" if child is None else child.get("link", ""), _origin(element), along / max(float(np.linalg.norm(along)), 1e-12),
        leader, 0.0 if pitch is None else float(pitch.get("value", 0.0)) / math.tau,
    )  # fmt: skip


def _angle(joint: _Joint, angles: Mapping[str, float]) -> float:
    if joint.leader is None:
        return float(angles.get(joint.name, 0.0))
    name, factor, offset = joint.leader
    return factor * float(angles.get(name, 0.0)) + offset


def _motion(joint: _Joint, value: float) -> FloatArray:
    frame = np.eye(4)
    for motion, way in zip(joint.motions, (value, joint.pitch * value), strict=False):
        if motion is SLIDE:
            frame[:3, 3] = way * joint.axis
        else:
            x, y, z = joint.axis
            cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
            frame[:3, :3] += np.sin(way) * cross + (1.0 - np.cos(way)) * cross @ cross
    return frame


def _moved_base(robot: Robot, q: FloatArray) -> FloatArray:
    """Pose of the base: of a floating one from its seven numbers, else the origin."""
    frame = np.eye(4)
    if robot.manifest.robot.floating:
        w, x, y, z = q[3:7]
        cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        frame[:3, :3] += 2.0 * w * cross + 2.0 * cross @ cross
        frame[:3, 3] = q[:3]
    return frame


def _origin(element: Element) -> FloatArray:
    origin = element.find("origin")
    frame = np.eye(4)
    if origin is None:
        return frame
    frame[:3, 3] = _numbers(origin.get("xyz"), (0.0, 0.0, 0.0))
    r, p, y = _numbers(origin.get("rpy"), (0.0, 0.0, 0.0))
    about = [np.array([[1, 0, 0], [0, np.cos(r), -np.sin(r)], [0, np.sin(r), np.cos(r)]])]
    about.append(np.array([[np.cos(p), 0, np.sin(p)], [0, 1, 0], [-np.sin(p), 0, np.cos(p)]]))
    about.append(np.array([[np.cos(y), -np.sin(y), 0], [np.sin(y), np.cos(y), 0], [0, 0, 1]]))
    frame[:3, :3] = about[2] @ about[1] @ about[0]
    return frame


def _numbers(text: str | None, otherwise: tuple[float, ...]) -> FloatArray:
    return np.array([float(word) for word in text.split()] if text else otherwise, dtype=np.float64)
