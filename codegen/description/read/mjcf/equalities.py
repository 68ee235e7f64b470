"""Equality constraints of a compiled MuJoCo model: `connect` and `weld` close loops, `joint` couples two joints by a gear."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from diffpbd.codegen.description.geometry.rigid import Pose, rotation_from_quaternion
from diffpbd.codegen.description.read.mjcf.names import Names, bodies_of, joints_of
from diffpbd.codegen.description.report import Finding, quoted
from diffpbd.codegen.description.robot.robot import Vec3
from diffpbd.codegen.description.tree.elements import LoopElement, MimicElement
from diffpbd.runtime.base.errors import arg


@dataclass
class Couplings:
    """Loops made of equalities, and joints (by index) with what they follow; errors of those that cannot be taken."""

    loops: tuple[LoopElement, ...] = ()
    mimics: dict[int, MimicElement] = field(default_factory=dict)
    faults: list[Finding] = field(default_factory=list)
    doubts: list[Finding] = field(default_factory=list)


def read_equalities(model: Any, names: Names) -> Couplings:
    """Every active equality; MuJoCo holds them softly, here they are exact."""
    import mujoco

    found, types = Couplings(), mujoco.mjtEq
    for k, name in enumerate(names.equalities):
        kind, where = int(model.eq_type[k]), f"equality {quoted(name)}: "
        if not model.eq_active0[k]:
            found.doubts.append(
                Finding("equality", f"{where}it is not active in the file and is left out", (), (name,))
            )
        elif kind in (types.mjEQ_CONNECT, types.mjEQ_WELD):
            found.loops += (_loop(model, names, k, kind == types.mjEQ_WELD),)
        elif kind == types.mjEQ_JOINT:
            _couple(model, names, k, where, found)
        else:
            message = f"{where}only connect, weld and joint can be taken; remove it, or say the same by one of these"
            found.faults.append(Finding("equality", message, (), (name, *_held_by(model, names, k))))
    return found


def _loop(model: Any, names: Names, k: int, weld: bool) -> LoopElement:
    """A connect is a ball at its anchor, a weld brings a frame of either body together."""
    import mujoco

    one, other = bodies_of(model, k)
    data = [float(x) for x in model.eq_data[k]]
    if int(model.eq_objtype[k]) == mujoco.mjtObj.mjOBJ_SITE:
        sites = (int(model.eq_obj1id[k]), int(model.eq_obj2id[k]))
        ends = [Pose(_rotation(model.site_quat[s]), _vector(model.site_pos[s])) for s in sites]
    elif weld:  # the anchor in the second body, the place of the second body's anchor and its turn in the first
        ends = [Pose(_rotation(data[6:10]), _vector(data[3:6])), Pose(translation=_vector(data[0:3]))]
    else:
        ends = [Pose(translation=_vector(data[0:3])), Pose(translation=_vector(data[3:6]))]
    kind = "fixed" if weld else "spherical"
    pairs = ((names.bodies[one], ends[0]), (names.bodies[other], ends[1]))
    return LoopElement(names.equalities[k], 0, kind, pairs, (1.0, 0.0, 0.0))


def _couple(model: Any, names: Names, k: int, where: str, found: Couplings) -> None:
    """q1 - ref1 = a0 + a1 (q2 - ref2): the first joint follows the second."""
    import mujoco

    name = names.equalities[k]
    one, other = int(model.eq_obj1id[k]), int(model.eq_obj2id[k])
    offset, ratio, *higher = (float(x) for x in model.eq_data[k][:5])
    scalar = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)
    concerned = [names.joints[end] for end in (one, other) if end >= 0]
    if other < 0:
        message = f"{where}it holds joint {quoted(names.joints[one])} still; remove the joint, or hold it ({arg.hold})"
    elif any(int(model.jnt_type[end]) not in scalar for end in (one, other)):
        message = f"{where}it couples joints that are no hinges or slides; remove it"
    elif any(higher):
        message = f"{where}joint {quoted(names.joints[one])} follows {quoted(names.joints[other])} by a polynomial"
        message += (
            f" ({' '.join(f'{x:g}' for x in (offset, ratio, *higher))}); only a constant and a factor can be taken"
        )
    elif ratio == 0.0:
        concerned = [names.joints[one]]
        message = (
            f"{where}joint {quoted(names.joints[one])} follows {quoted(names.joints[other])} with a factor of 0, which "
        )
        message += f"holds it still; give it a factor, remove the joint, or hold it ({arg.hold})"
    elif one in found.mimics:
        message = f"{where}joint {quoted(names.joints[one])} follows two joints; it can follow one"
    else:
        at = [float(model.qpos0[model.jnt_qposadr[end]]) for end in (one, other)]
        found.mimics[one] = MimicElement(names.joints[other], ratio, at[0] + offset - ratio * at[1])
        return
    found.faults.append(Finding("equality", message, (), (name, *concerned)))


def _held_by(model: Any, names: Names, k: int) -> list[str]:
    """The joints of the tendons that equality k couples; none of any other type."""
    import mujoco

    if int(model.eq_type[k]) != mujoco.mjtEq.mjEQ_TENDON:
        return []
    tendons = [int(t) for t in (model.eq_obj1id[k], model.eq_obj2id[k]) if t >= 0]
    return [names.joints[j] for tendon in tendons for j, _ in joints_of(model, tendon)]


def _vector(numbers: Any) -> Vec3:
    x, y, z = (float(value) for value in numbers)
    return x, y, z


def _rotation(quat: Any) -> Any:
    w, x, y, z = (float(value) for value in quat)
    return rotation_from_quaternion((w, x, y, z))
