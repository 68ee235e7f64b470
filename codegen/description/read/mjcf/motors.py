"""Actuators of a compiled MuJoCo model: which joints have a motor, and how much it can give. Their control
laws are not read."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from diffpbd.codegen.description.read.mjcf.names import Names, joints_of, present
from diffpbd.codegen.description.report import Finding, listed, quoted
from diffpbd.codegen.description.tree.elements import MimicElement
from diffpbd.runtime.base.errors import arg

SAME: Final = 1e-9
"""[1] Part of the larger by which two directions of a motor may differ: rounding of gears and ranges."""


@dataclass(frozen=True)
class Reach:
    """Forces or torques from `low` to `high` [N·m or N]; infinite without a bound."""

    low: float
    high: float

    def times(self, factor: float) -> Reach:
        """At the other end of a gear; a negative one swaps the ends."""
        ends = [factor * end if factor else 0.0 for end in (self.low, self.high)]
        return Reach(min(ends), max(ends))

    def plus(self, other: Reach) -> Reach:
        """Reach of two motors at the same joint together."""
        return Reach(self.low + other.low, self.high + other.high)

    def within(self, ends: Any) -> Reach:
        """Kept inside an interval."""
        low, high = (float(end) for end in ends)
        return Reach(min(max(self.low, low), high), max(min(self.high, high), low))

    @property
    def bound(self) -> float:
        """One for both directions: what it can give either way; the larger end of a motor that acts one way only."""
        smaller, larger = sorted((abs(self.low), abs(self.high)))
        return smaller if self.low < 0.0 < self.high else larger

    @property
    def symmetric(self) -> bool:
        """Whether both directions are equally strong, but for rounding."""
        return self.low == -self.high or abs(self.low + self.high) <= SAME * max(abs(self.low), abs(self.high))


def efforts(model: Any, names: Names, mimics: Mapping[int, MimicElement]) -> dict[int, Reach]:
    """Reach of all motors of a joint together [N·m or N], by joint.

    What motors of joints that follow give to the joint they follow is part of that, and theirs is as much at their own end.
    """
    found: dict[int, Reach] = {}
    for k in range(_count(model)):
        for joint, gear in _driven(model, k):
            found[joint] = found.get(joint, Reach(0.0, 0.0)).plus(_strength(model, k).times(gear))
    for joint in found:
        if model.jnt_actfrclimited[joint]:
            found[joint] = found[joint].within(model.jnt_actfrcrange[joint])
    for joint, mimic in mimics.items():
        leader = names.joints.index(mimic.joint)
        if joint in found and leader not in mimics and mimic.multiplier:
            found[leader] = found.get(leader, Reach(0.0, 0.0)).plus(found[joint].times(mimic.multiplier))
            found[joint] = found[leader].times(1.0 / mimic.multiplier)
    return found


def one_sided(reaches: Mapping[int, Reach], names: Names) -> Iterator[Finding]:
    """A doubt for every joint that is pushed harder one way than the other, which one bound cannot say."""
    for joint, reach in reaches.items():
        if not reach.symmetric:
            name = names.joints[joint]
            message = f"joint {quoted(name)}: its motors give from {reach.low:g} to {reach.high:g}; an effort is one bound for"
            message += f" both directions, here {reach.bound:g}"
            if not reach.low < 0.0 < reach.high:
                message += "; they act one way only, and nothing keeps a plan from asking the other way"
            yield Finding("effort", message, (), (name,), (("low", reach.low), ("high", reach.high)))


def behind_gears(model: Any, j: int, what: str) -> float:
    """Armature or damping of the actuators of joint j as the joint feels it."""
    values = getattr(model, f"actuator_{what}", None)  # MuJoCo 3 has none
    if values is None:
        return 0.0
    return sum(
        float(value) * float(model.actuator_gear[k][0]) ** 2
        for k, value in enumerate(values)
        if _on_joint(model, k) == j
    )


def _on_joint(model: Any, k: int) -> int | None:
    """The joint that actuator k acts on, None where it acts on something else."""
    import mujoco

    kinds = (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT)
    return int(model.actuator_trnid[k][0]) if int(model.actuator_trntype[k]) in kinds else None


def actuator_faults(model: Any, names: Names) -> Iterator[Finding]:
    """Actuators that move something of their own which is no joint's alone, or damp by no straight line."""
    import mujoco

    for k in range(_count(model)):
        joint = _on_joint(model, k)
        kind = None if joint is None else int(model.jnt_type[joint])
        scalar = kind in (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)
        own = [] if scalar else [w for w in ("armature", "damping") if present(model, f"actuator_{w}", k)]
        own += ["damping that is no straight line"] if present(model, "actuator_dampingpoly", k) else []
        if own:
            name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_ACTUATOR, k) or f"actuator {k}"
            end = int(model.actuator_trnid[k][0])
            on = [] if joint is None else [joint]
            if int(model.actuator_trntype[k]) == mujoco.mjtTrn.mjTRN_TENDON:
                on = [j for j, _ in joints_of(model, end)]
            message = (
                f"actuator {quoted(name)} has {' and '.join(own)}, which cannot be taken; remove it, or give it to a"
            )
            message += " hinge or slide"
            yield Finding("actuator", message, (), tuple(part for j in on for part in names.parts[j]))


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
            message = f"actuator {quoted(name)} acts on no hinge or slide and is left out; {arg.wrench} puts a force on a link"
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
        pairs = [(joint, gear * coefficient) for joint, coefficient in joints_of(model, end)]
    else:
        pairs = []
    scalar = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)
    return [(joint, ratio) for joint, ratio in pairs if int(model.jnt_type[joint]) in scalar]


def _strength(model: Any, k: int) -> Reach:
    """Forces of actuator k before its gear: what the range of control makes of a plain motor, inside its own limit."""
    import mujoco

    reach = Reach(-math.inf, math.inf)
    plain = (
        int(model.actuator_gaintype[k]) == mujoco.mjtGain.mjGAIN_FIXED
        and int(model.actuator_biastype[k]) == mujoco.mjtBias.mjBIAS_NONE
        and int(model.actuator_dyntype[k]) == mujoco.mjtDyn.mjDYN_NONE
    )
    if plain and model.actuator_ctrllimited[k]:
        low, high = (float(end) for end in model.actuator_ctrlrange[k])
        reach = Reach(low, high).times(float(model.actuator_gainprm[k][0]))
    return reach.within(model.actuator_forcerange[k]) if model.actuator_forcelimited[k] else reach
