"""Features of a compiled MuJoCo model that the dynamics generated here lack: refused where it would be another robot without
it, named where it may be missed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from diffpbd.codegen.description.read.mjcf.motors import actuator_faults
from diffpbd.codegen.description.read.mjcf.names import Names, joints_of, present
from diffpbd.codegen.description.read.numerals import LARGEST
from diffpbd.codegen.description.report import Finding, listed, quoted
from diffpbd.runtime.base.errors import arg

OF_TENDONS: Final = ("stiffness", "damping", "frictionloss", "armature", "stiffnesspoly", "dampingpoly")
SWITCHES: Final = ("CONSTRAINT", "EQUALITY", "FRICTIONLOSS", "PASSIVE", "SPRING", "DAMPER")
"""Flags of `<option><flag>` that switch off what is generated."""


def not_taken(model: Any, names: Names) -> tuple[list[Finding], list[Finding]]:
    """Faults and doubts."""
    faults = [*_numbers(model), *_switches(model), *_fields(model), *_tendons(model, names), *_joints(model, names)]
    faults += actuator_faults(model, names)
    return faults, [*_balls(model, names), *_gravity_compensation(model, names), *_mocap(model, names)]


def _numbers(model: Any) -> Iterator[Finding]:
    """Numbers that no machine has."""
    for kind in ("body_mass", "body_inertia", "body_ipos", "body_pos", "jnt_pos", "jnt_stiffness", "dof_armature",
                 "dof_damping", "dof_frictionloss", "qpos0", "qpos_spring", "eq_data"):  # fmt: skip
        for value in getattr(model, kind).ravel():
            if not abs(float(value)) <= LARGEST:  # NaN too
                yield Finding("number", f"{kind} holds {float(value):g}; at most {LARGEST:g} is accepted")
                break


def _switches(model: Any) -> Iterator[Finding]:
    import mujoco

    for name in SWITCHES:
        bit = getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}", None)
        if bit is not None and int(model.opt.disableflags) & int(bit):
            message = (
                f"<flag> disables {name.lower()}, which is always on here; remove the flag and what it switches off"
            )
            yield Finding("switch", message)


def _fields(model: Any) -> Iterator[Finding]:
    for name, there in (
        ("a density of air or water", model.opt.density),
        ("a viscosity of air or water", model.opt.viscosity),
        ("a deformable (flex)", model.nflex),
        ("a plugin of a body or actuator", max([-1, *model.body_plugin, *model.actuator_plugin]) >= 0),
        ("a plastic spring", getattr(model, "nplastic", 0)),
    ):
        if there:
            yield Finding("not-taken", f"the file has {name}, whose forces are not generated; remove it")


def _tendons(model: Any, names: Names) -> Iterator[Finding]:
    """Tendons may carry an actuator; forces of their own they may not have."""
    import mujoco

    for k in range(model.ntendon):
        own = [name for name in OF_TENDONS if present(model, f"tendon_{name}", k)]
        if own:
            name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_TENDON, k) or f"tendon {k}"
            message = (
                f"tendon {quoted(name)} has {', '.join(own)}, a force that is not generated; remove it, or give it to"
            )
            yield Finding("tendon", f"{message} a joint", (), tuple(names.joints[j] for j, _ in joints_of(model, k)))


def _joints(model: Any, names: Names) -> Iterator[Finding]:
    import mujoco

    for j, name in enumerate(names.joints):
        dof, kind = int(model.jnt_dofadr[j]), int(model.jnt_type[j])
        own = ["a spring that is no straight line"] if present(model, "jnt_stiffnesspoly", j) else []
        own += ["damping that is no straight line"] if present(model, "dof_dampingpoly", dof) else []
        if kind in (mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_BALL):
            own += ["armature"] if model.dof_armature[dof] else []
            own += ["a spring"] if model.jnt_stiffness[j] else []
        if kind == mujoco.mjtJoint.mjJNT_FREE and (model.dof_damping[dof] or model.dof_frictionloss[dof]):
            own.append("friction")
        for what, value in (("armature", model.dof_armature[dof]), ("stiffness", model.jnt_stiffness[j])):
            if value < 0.0:
                message = f"joint {quoted(name)}: {what} {float(value):g} is negative"
                yield Finding("joint", message, (), names.parts[j])
        if own:
            what = "free joint" if kind == mujoco.mjtJoint.mjJNT_FREE else "joint"
            message = (
                f"{what} {quoted(name)} has {' and '.join(own)}, which cannot be taken; remove it, or hold the joint"
            )
            message += f" ({arg.hold} {f' {arg.hold} '.join(names.parts[j])}), or choose another base ({arg.base})"
            yield Finding("joint", message, (), names.parts[j])


def _balls(model: Any, names: Names) -> Iterator[Finding]:
    for j, parts in enumerate(names.parts):
        if len(parts) > 1:
            dof = int(model.jnt_dofadr[j])
            message = (
                f"joint {quoted(names.joints[j])} is a ball, here three hinges {listed(parts)} one after another; they"
            )
            message += f" depend on each other where {parts[1]} is at a right angle"
            lost = [
                name
                for name, there in (
                    ("its damping", model.dof_damping[dof]),
                    ("its friction", model.dof_frictionloss[dof]),
                    ("its limit", model.jnt_limited[j]),
                )
                if there
            ]
            message += f"; {' and '.join(lost)} left out" if lost else ""
            yield Finding("ball", message, (), (names.joints[j],))


def _gravity_compensation(model: Any, names: Names) -> Iterator[Finding]:
    if held := [name for name, part in zip(names.bodies, model.body_gravcomp, strict=True) if part]:
        message = (
            f"gravcomp of {listed(held, 6)} is left out: gravity acts in full, whoever holds the arm compensates it"
        )
        yield Finding("gravcomp", message, tuple(held))


def _mocap(model: Any, names: Names) -> Iterator[Finding]:
    for name, mocap in zip(names.bodies, model.body_mocapid, strict=True):
        if mocap >= 0:
            yield Finding("mocap", f"body {quoted(name)} is moved by hand (mocap); here it stays where it is", (name,))
