"""Bodies and joints of a compiled MuJoCo model as links and joints of a description."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from diffpbd.codegen.description.geometry.rigid import (
    Pose,
    add,
    compose,
    rotated_inertia,
    rotation_about,
    rotation_from_quaternion,
    scale,
    symmetric,
)
from diffpbd.codegen.description.read.mjcf.motors import Reach, behind_gears
from diffpbd.codegen.description.read.mjcf.names import Names
from diffpbd.codegen.description.robot.robot import IDENTITY, ZERO, Inertial, Vec3
from diffpbd.codegen.description.tree.elements import JointElement, LinkElement, MimicElement
from diffpbd.runtime.base.joint_types import CONTINUOUS, FIXED, FLOATING, PRISMATIC, REVOLUTE, type_of

EVERY = "all"
"""As a name of `frames`: every site that has a name."""


def read_bodies(
    model: Any, names: Names, mimics: Mapping[int, MimicElement], limits: Mapping[int, Reach], frames: Sequence[str]
) -> tuple[tuple[LinkElement, ...], tuple[JointElement, ...]]:
    """Links and joints in MuJoCo's order; `mimics` and `limits` of motors by joint, sites named in `frames` as links fixed to
    their bodies."""
    import mujoco

    links = [LinkElement(names.bodies[0], 0)]
    joints: list[JointElement] = []
    for body in range(1, model.nbody):
        chain = _Chain(model, names, body, limits, mimics)
        chain.build()
        links += chain.links
        joints += chain.joints
    for site in range(model.nsite):
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_SITE, site)
        if name not in names.bodies and (name in frames or (EVERY in frames and name)):
            pose = _pose(model.site_pos[site], model.site_quat[site])
            links.append(LinkElement(name, 0))
            joints.append(_fixed(names.fresh(f"{name}_fixed"), names.bodies[model.site_bodyid[site]], name, pose))
    return tuple(links), tuple(joints)


def vector(numbers: Any) -> Vec3:
    """Three floats."""
    x, y, z = (float(value) for value in numbers)
    return x, y, z


def _pose(pos: Any, quat: Any) -> Pose:
    w, x, y, z = (float(value) for value in quat)
    return Pose(rotation_from_quaternion((w, x, y, z)), vector(pos))


def _fixed(name: str, parent: str, child: str, pose: Pose) -> JointElement:
    return JointElement(name, 0, FIXED.name, parent, child, pose)


class _Chain:
    """The joints of one body, one after another, from its parent's link to its own."""

    def __init__(
        self, model: Any, names: Names, body: int, limits: Mapping[int, Reach], mimics: Mapping[int, MimicElement]
    ) -> None:
        self.model, self.names, self.body = model, names, body
        self.limits, self.mimics = limits, mimics
        self.links: list[LinkElement] = []
        self.joints: list[JointElement] = []
        self.parent = names.bodies[model.body_parentid[body]]
        self.at = _pose(model.body_pos[body], model.body_quat[body])
        """Pose of the body's frame in that of `parent`, the link that the next joint hangs on, at qpos0."""

    def build(self) -> None:
        """Fills `links` and `joints`."""
        model, name = self.model, self.names.bodies[self.body]
        first = int(model.body_jntadr[self.body])
        steps = [step for j in range(first, first + int(model.body_jntnum[self.body])) for step in self._steps(j)]
        for k, (j, joint, kind, axis) in enumerate(steps):
            anchor = ZERO if type_of(kind).slides or type_of(kind).at_root else vector(model.jnt_pos[j])
            own = k == len(steps) - 1 and anchor == ZERO
            child = name if own else f"{name}:{joint}"
            place = compose(self.at, self._at_zero(j, kind, axis, anchor))
            self.joints.append(self._joint(j, joint, kind, axis, child, place))
            self.links.append(LinkElement(child, 0, self._inertial() if own else None))
            self.parent, self.at = child, Pose(translation=scale(anchor, -1.0))
        if self.parent != name:
            self.joints.append(_fixed(self.names.fresh(f"{name}_fixed"), self.parent, name, self.at))
            self.links.append(LinkElement(name, 0, self._inertial()))

    def _steps(self, j: int) -> Iterator[tuple[int, str, str, Vec3]]:
        """Joints of the description that joint j becomes: j's index, and the name, the type and the axis of each."""
        import mujoco

        kinds, name, axis = mujoco.mjtJoint, self.names.joints[j], vector(self.model.jnt_axis[j])
        kind = int(self.model.jnt_type[j])
        if kind == kinds.mjJNT_HINGE:
            yield j, name, (REVOLUTE if self.model.jnt_limited[j] else CONTINUOUS).name, axis
        elif kind == kinds.mjJNT_SLIDE:
            yield j, name, PRISMATIC.name, axis
        elif kind == kinds.mjJNT_FREE:
            yield j, name, FLOATING.name, axis
        else:
            for part, turn in zip(self.names.parts[j], IDENTITY, strict=True):
                yield j, part, CONTINUOUS.name, turn

    def _at_zero(self, j: int, kind: str, axis: Vec3, anchor: Vec3) -> Pose:
        """Pose of the joint's frame in the body's at qpos0, with the joint's own motion back from there to zero."""
        if type_of(kind).at_root:
            return Pose()
        back = -float(self.model.qpos0[self.model.jnt_qposadr[j]])
        if type_of(kind).slides:
            return Pose(translation=add(anchor, scale(axis, back)))
        return Pose(rotation_about(axis, 0.0 if self._is_ball(j) else back), anchor)

    def _is_ball(self, j: int) -> bool:
        return len(self.names.parts[j]) > 1

    def _joint(self, j: int, name: str, kind: str, axis: Vec3, child: str, place: Pose) -> JointElement:
        model = self.model
        if type_of(kind).at_root:
            return JointElement(name, 0, kind, self.parent, child, place)
        limited, dof, at = bool(model.jnt_limited[j]), int(model.jnt_dofadr[j]), int(model.jnt_qposadr[j])
        ball = self._is_ball(j)
        low, high = (float(x) for x in model.jnt_range[j]) if limited and not ball else (-math.inf, math.inf)
        stiffness = 0.0 if ball else float(model.jnt_stiffness[j])
        return JointElement(
            name=name,
            line=0,
            type=kind,
            parent=self.parent,
            child=child,
            pose=place,
            axis=axis,
            has_limit=True,
            lower=low,
            upper=high,
            velocity=math.inf,
            effort=self.limits[j].bound if j in self.limits else math.inf,
            damping=0.0 if ball else damped(model, j),
            friction=0.0 if ball else float(model.dof_frictionloss[dof]),
            mimic=self.mimics.get(j),
            rotor=0.0 if ball else reflected(model, j),
            stiffness=stiffness,
            rest=float(model.qpos_spring[at]) if stiffness else 0.0,
        )

    def _inertial(self) -> Inertial | None:
        """Inertia of the body, in its frame; None without mass."""
        model, body = self.model, self.body
        if model.body_mass[body] == 0.0 and not model.body_inertia[body].any():
            return None
        xx, yy, zz = vector(model.body_inertia[body])
        pose = _pose(model.body_ipos[body], model.body_iquat[body])
        inertia = rotated_inertia(pose.rotation, symmetric(xx, 0.0, 0.0, yy, 0.0, zz))
        return Inertial(float(model.body_mass[body]), pose.translation, inertia)


def reflected(model: Any, j: int) -> float:
    """Inertia that turns with joint j: its armature, and that of its actuators behind their gears [kg·m² or kg]."""
    return float(model.dof_armature[model.jnt_dofadr[j]]) + behind_gears(model, j, "armature")


def damped(model: Any, j: int) -> float:
    """Damping of joint j, and that of its actuators behind their gears [N·m·s/rad or N·s/m]."""
    return float(model.dof_damping[model.jnt_dofadr[j]]) + behind_gears(model, j, "damping")
