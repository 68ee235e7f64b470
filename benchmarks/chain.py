"""A serial chain of hinges as bare numbers from a URDF file, by numpy and the standard library alone.

For peers that run where neither the generator nor pinocchio is installed. Numbers are stacked over the moving links; body i
is the child of joint i, its parent is body i - 1, or the root link of the file for i = 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class Chain:
    """Names (n,), masses (n,) [kg], inertias about the COM in link axes (n, 3, 3) [kg m²], COMs (n, 3) [m, link frame], and
    the joints' zero placements in the parent's link frame: rotations (n, 3, 3), translations (n, 3) [m], axes (n, 3)."""

    names: tuple[str, ...]
    mass: Array
    inertia: Array
    com: Array
    rotation: Array
    translation: Array
    axis: Array
    tangents: Array = field(init=False)
    """Two unit vectors normal to each axis, child axes (n, 2, 3); with the axis a right-handed triad."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "tangents", np.array([normals(a) for a in self.axis]))

    @property
    def n(self) -> int:
        return len(self.mass)

    @property
    def to_parent_joint(self) -> Array:
        """COM of the parent (for the first: the root's origin) to the joint, parent axes (n, 3) [m]."""
        before = np.vstack([np.zeros(3), self.com[:-1]])
        return self.translation - before

    def states(self, p: Array, pd: Array) -> Array:
        """Maximal states (rows, n, 13) of poses and rates (rows, n): COM x, v, quaternion wxyz, ω, all in world axes."""
        rows = len(p)
        x, v, w = (np.zeros((rows, 3)) for _ in range(3))
        q = np.tile([1.0, 0.0, 0.0, 0.0], (rows, 1))
        result = np.empty((rows, self.n, 13))
        for i in range(self.n):
            arm = np.einsum("rij,j->ri", matrices(q), self.translation[i])
            x, v = x + arm, v + np.cross(w, arm)
            half = 0.5 * p[:, i : i + 1]
            turn = np.hstack([np.cos(half), np.sin(half) * self.axis[i]])
            q = product(product(q, quaternion(self.rotation[i])[None]), turn)
            R = matrices(q)
            w = w + np.einsum("rij,j->ri", R, self.axis[i]) * pd[:, i : i + 1]
            com = np.einsum("rij,j->ri", R, self.com[i])
            result[:, i] = np.hstack([x + com, v + np.cross(w, com), q, w])
        return result


def read_chain(urdf: Path) -> Chain:
    """The chain of a URDF file; anything but one serial chain of hinges (fixed joints between root and first hinge apart) is
    refused."""
    root = ElementTree.parse(urdf).getroot()
    links = {link.get("name", ""): link for link in root.iter("link")}
    joints = root.findall("joint")
    by_parent = {named(joint, "parent"): joint for joint in joints}
    children = {named(joint, "child") for joint in joints}
    (link,) = (name for name in links if name not in children)
    if len(by_parent) != len(joints):
        raise ValueError(f"{urdf}: a link carries several joints; this peer takes one serial chain.")
    R, t = np.eye(3), np.zeros(3)
    parts: list[tuple[str, float, Array, Array, Array, Array, Array]] = []
    while link in by_parent:
        joint = by_parent[link]
        kind, link = joint.get("type"), named(joint, "child")
        turn, shift = placement(joint)
        t, R = t + R @ shift, R @ turn
        if kind == "fixed" and not parts:
            continue
        if kind not in ("revolute", "continuous"):
            raise ValueError(
                f"{urdf}: joint {joint.get('name')} is {kind}; this peer takes one serial chain of hinges."
            )
        axis = vector(joint.find("axis"), "xyz", "1 0 0")
        parts.append((str(joint.get("name")), *inertial(links[link]), R, t, axis / np.linalg.norm(axis)))
        R, t = np.eye(3), np.zeros(3)
    names, mass, inertia, com, rotation, translation, axes = zip(*parts, strict=True)
    return Chain(names, *(np.array(part) for part in (mass, inertia, com, rotation, translation, axes)))


def inertial(link: ElementTree.Element) -> tuple[float, Array, Array]:
    """Mass, inertia about the COM in link axes, COM of a link."""
    block = link.find("inertial")
    if block is None:
        raise ValueError(f"link {link.get('name')} has no inertia.")
    mass, numbers = block.find("mass"), block.find("inertia")
    assert mass is not None and numbers is not None
    xx, xy, xz, yy, yz, zz = (float(numbers.get(k, "0")) for k in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
    R, com = placement(block)
    return float(mass.get("value", "0")), R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T, com


def placement(element: ElementTree.Element) -> tuple[Array, Array]:
    """Rotation and translation of an element's origin."""
    origin = element.find("origin")
    (a, b, c), shift = vector(origin, "rpy", "0 0 0"), vector(origin, "xyz", "0 0 0")
    (ca, sa), (cb, sb), (cc, sc) = ((np.cos(v), np.sin(v)) for v in (a, b, c))
    roll = np.array([[1, 0, 0], [0, ca, -sa], [0, sa, ca]])
    pitch = np.array([[cb, 0, sb], [0, 1, 0], [-sb, 0, cb]])
    yaw = np.array([[cc, -sc, 0], [sc, cc, 0], [0, 0, 1]])
    return yaw @ pitch @ roll, shift


def named(joint: ElementTree.Element, end: str) -> str:
    element = joint.find(end)
    assert element is not None
    return str(element.get("link"))


def vector(element: ElementTree.Element | None, key: str, default: str) -> Array:
    text = default if element is None else element.get(key, default)
    return np.array([float(x) for x in text.split()])


def normals(axis: Array) -> Array:
    """Two unit vectors normal to an axis, so that first × second is the axis; x and y for z."""
    start = np.eye(3)[int(np.argmin(np.abs(axis)))]
    first = start - (start @ axis) * axis
    first /= np.linalg.norm(first)
    return np.array([first, np.cross(axis, first)])


def matrices(q: Array) -> Array:
    """Rotations (rows, 3, 3) of unit quaternions (rows, 4), wxyz."""
    w, x, y, z = q.T
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    ).transpose(2, 0, 1)


def product(p: Array, q: Array) -> Array:
    """Hamilton products of quaternions (rows, 4), wxyz."""
    pw, pv, qw, qv = p[:, :1], p[:, 1:], q[:, :1], q[:, 1:]
    scalar = pw * qw - (pv * qv).sum(axis=1, keepdims=True)
    return np.hstack([scalar, pw * qv + qw * pv + np.cross(pv, qv)])


def quaternion(R: Array) -> Array:
    """The unit quaternion of a rotation: the eigenvector of the largest eigenvalue (Bar-Itzhack), scalar part positive."""
    K = np.array(
        [
            [R[0, 0] + R[1, 1] + R[2, 2], R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]],
            [R[2, 1] - R[1, 2], R[0, 0] - R[1, 1] - R[2, 2], R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]],
            [R[0, 2] - R[2, 0], R[0, 1] + R[1, 0], R[1, 1] - R[0, 0] - R[2, 2], R[1, 2] + R[2, 1]],
            [R[1, 0] - R[0, 1], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], R[2, 2] - R[0, 0] - R[1, 1]],
        ]
    )
    q = np.linalg.eigh(K)[1][:, -1]
    return np.asarray(q if q[0] >= 0 else -q)
