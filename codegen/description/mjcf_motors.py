"""Actuators of a compiled MuJoCo model: which joints have a motor, and how much it can give. Their control
laws are not read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from diffpbd.codegen.description.document import MimicElement
from diffpbd.codegen.description.mjcf_names import Names
from diffpbd.codegen.description.report import Finding, listed, quoted


def efforts(model: Any, names: Names, mimics: Mapping[int, MimicElement]) -> dict[int, float]:
    """Largest force or torque of all motors of a joint together [N·m or N], by joint; infinite without a bound.

    What motors of joints that follow give to the joint they follow is part of that, and theirs is as much at their own end.
    """
    found: dict[int, float] = {}
    for k in range(_count(model)):
        for joint, gear in _driven(model, k):
            found[joint] = found.get(joint, 0.0) + _strength(model, k) * abs(gear)
    for joint in found:
        if model.jnt_actfrclimited[joint]:
            found[joint] = min(found[joint], _size(model.jnt_actfrcrange[joint]))
    for joint, mimic in mimics.items():
        leader = names.joints.index(mimic.joint)
        if joint in found and leader not in mimics and mimic.multiplier:
            found[leader] = found.get(leader, 0.0) + abs(mimic.multiplier) * found[joint]
            found[joint] = found[leader] / abs(mimic.multiplier)
    return found


def without_motor(
    model: Any, names: Names, mimics: Mapping[int, MimicElement]
) -> tuple[tuple[str, ...], list[Finding]]:
    """Names of the joints that no actuator drives, and doubts. A file without actuators says nothing of motors: none then.

    A joint that others follow has their motors too; one that follows is no coordinate and so never named.
    """
    import mujoco

    doubts: list[Finding] = []
    if not _count(model):
        return (), doubts
    driven: set[str] = set()
    for k in range(_count(model)):
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_ACTUATOR, k) or f"actuator {k}"
        joints = [joint for joint, _ in _driven(model, k)]
        driven |= {names.joints[joint] for joint in joints}
        if not joints:
            message = (
                f"actuator {quoted(name)} acts on no hinge or slide and is left out; --wrench puts a force on a link"
            )
            doubts.append(Finding("actuator", message))
        elif len(_coordinates([names.joints[joint] for joint in joints], names, mimics)) > 1:
            message = (
                f"actuator {quoted(name)} drives {listed((names.joints[j] for j in joints), 6)} at once; each has a"
            )
            message += " motor of its own here"
            doubts.append(Finding("actuator", message, (), tuple(names.joints[j] for j in joints)))
    driven = _coordinates(driven, names, mimics)
    free = mujoco.mjtJoint.mjJNT_FREE
    passive = [
        part
        for j, parts in enumerate(names.parts)
        if j not in mimics and int(model.jnt_type[j]) != free
        for part in parts
        if part not in driven
    ]
    return tuple(passive), doubts


def _coordinates(joints: Any, names: Names, mimics: Mapping[int, MimicElement]) -> set[str]:
    """The joints that those of these names are or follow."""
    leaders = {names.joints[j]: mimic.joint for j, mimic in mimics.items()}
    found = set()
    for joint in joints:
        passed: set[str] = set()
        while joint in leaders and joint not in passed:
            passed.add(joint)
            joint = leaders[joint]
        found.add(joint)
    return found


def _count(model: Any) -> int:
    return len(model.actuator_trntype)


def _driven(model: Any, k: int) -> list[tuple[int, float]]:
    """Hinges and slides that actuator k acts on, with the gear of each."""
    import mujoco

    kinds, end, gear = mujoco.mjtTrn, int(model.actuator_trnid[k][0]), float(model.actuator_gear[k][0])
    if int(model.actuator_trntype[k]) in (kinds.mjTRN_JOINT, kinds.mjTRN_JOINTINPARENT):
        pairs = [(end, gear)]
    elif int(model.actuator_trntype[k]) == kinds.mjTRN_TENDON:
        first = int(model.tendon_adr[end])
        wraps = range(first, first + int(model.tendon_num[end]))
        joint = mujoco.mjtWrap.mjWRAP_JOINT
        pairs = [
            (int(model.wrap_objid[w]), gear * float(model.wrap_prm[w]))
            for w in wraps
            if int(model.wrap_type[w]) == joint
        ]
    else:
        pairs = []
    scalar = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)
    return [(joint, ratio) for joint, ratio in pairs if int(model.jnt_type[joint]) in scalar]


def _strength(model: Any, k: int) -> float:
    """Largest force of actuator k before its gear: its own limit, or what the range of control makes of a plain motor."""
    import mujoco

    if model.actuator_forcelimited[k]:
        return _size(model.actuator_forcerange[k])
    plain = (
        int(model.actuator_gaintype[k]) == mujoco.mjtGain.mjGAIN_FIXED
        and int(model.actuator_biastype[k]) == mujoco.mjtBias.mjBIAS_NONE
        and int(model.actuator_dyntype[k]) == mujoco.mjtDyn.mjDYN_NONE
    )
    if plain and model.actuator_ctrllimited[k]:
        return abs(float(model.actuator_gainprm[k][0])) * _size(model.actuator_ctrlrange[k])
    return math.inf


def _size(interval: Any) -> float:
    """The larger end of an interval; a description has one bound for both directions."""
    return max(abs(float(end)) for end in interval)
