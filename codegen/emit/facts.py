"""Facts of the manifest about a robot as generated."""

from __future__ import annotations

from diffpbd.codegen.description.geometry.rigid import upper_triangle
from diffpbd.codegen.description.robot.robot import Robot
from diffpbd.codegen.graph.loops.report import contact_facts, loop_facts
from diffpbd.codegen.graph.model.model import Model
from diffpbd.runtime.base.joint_types import SCREW
from diffpbd.runtime.folder.manifest import Joint, Link, Mimic, RobotFacts


def phantoms(robot: Robot) -> int:
    """Links in front of a floating base's that only carry it, and are named nowhere."""
    return len(robot.base_freedoms) - 1 if robot.floating else 0


def _last(robot: Robot, joint: int) -> int:
    """The last motion of a joint: the next one's where that is a part of it."""
    more = joint + 1 < robot.n and robot.joints[joint + 1].part
    return joint + 1 if more else joint


def joint_facts(robot: Robot) -> tuple[Joint, ...]:
    """The joints that are coordinates, with their limits."""
    hidden = phantoms(robot)

    def carrier(parent: int) -> str:
        return ("world" if robot.base_freedoms else robot.base) if parent < hidden else robot.links[parent].name

    def moved(joint: int) -> str:
        return robot.links[max(_last(robot, joint), hidden)].name

    return tuple(
        Joint(
            name=j.name, type=SCREW.name if _last(robot, k) > k else j.type.name, parent=carrier(j.parent), child=moved(k),
            unit=j.type.unit,
            lower=None if j.type.endless else j.lower,
            upper=None if j.type.endless else j.upper,
            velocity=j.velocity, effort=j.effort,
        )
        for k, j in enumerate(robot.joints)
        if j.mimic is None
    )  # fmt: skip


def facts(model: Model, squared: tuple[str, ...], frames: tuple[str, ...] = ()) -> RobotFacts:
    """Facts of a model; `squared` are joints whose right angles were taken as exact, `frames` those chosen at run time."""
    robot = model.robot
    hidden = phantoms(robot)
    mimics = tuple(
        Mimic(j.name, robot.joints[j.mimic.joint].name, j.mimic.multiplier, j.mimic.offset)
        for j in robot.joints
        if j.mimic is not None
    )
    links = tuple(
        Link(k.name, k.inertial.mass, k.merged, k.inertial.com, upper_triangle(k.inertial.inertia))
        for k in robot.links[hidden:]
    )
    tips = tuple(t.name for t in robot.tips)
    return RobotFacts(
        robot.base, tips, joint_facts(robot), links, robot.total_mass, mimics, squared, robot.left_out, dict(robot.rotors),
        loop_facts(model), robot.passive, contact_facts(robot), robot.base_joint if robot.base_freedoms else "",
        model.tree.redundant, frames,
    )  # fmt: skip
