"""Which functions a robot gets, and why not: the table that the folder, `diffpbd info` and docs/method.md follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from diffpbd.codegen.description.singular import massless_links, singular_links
from diffpbd.codegen.graph.model import Model
from diffpbd.codegen.program.tree import DENSE_DEPTH

NEEDS: Final[Mapping[str, str]] = {
    "inertia": "every joint moves some inertia",
    "independent": "no joint mimics another",
    "massive": "every moving link has mass and inertia of its own",
    "short": f"no path from base to tip has more than {DENSE_DEPTH} joints",
}
"""What some functions need of a robot."""


@dataclass(frozen=True)
class Group:
    """Functions that a robot gets if it has all that they need (of `NEEDS`), with their `jac_`, `jac_alpha_` and `vjp_`."""

    what: str
    functions: tuple[str, ...]
    needs: tuple[str, ...] = ()


GROUPS: Final = (
    Group(
        "inverse dynamics, forces, states of links and tip",
        (
            "inverse_dynamics", "mass_matrix", "gravity", "coriolis", "energy", "regressor", "spring_torque", "friction_torque",
            "fk", "joint_state", "tip_pose", "tip_jacobian", "lever_spring_torque",
        ),
    ),
    Group("forward dynamics", ("forward_dynamics",), ("inertia",)),
    Group("steps in joint space", ("joint_step", "kicked_step", "node_torque", "rollout", "trajectory"), ("inertia",)),
    Group("torque estimation", ("estimate_torque",), ("inertia",)),
    Group("predictive control", ("mpc",), ("inertia",)),
    Group("condensed recordings", ("torque_terms", "torque_coefficients"), ("short",)),
    Group("constraints of maximal states", ("constraints",), ("independent",)),
    Group("steps on maximal states", ("step",), ("inertia", "independent", "massive")),
    Group("every pose unknown", ("momentum_residual", "state_residual"), ("inertia", "independent", "massive")),
)  # fmt: skip


@dataclass(frozen=True)
class Capabilities:
    """What a robot lacks of `NEEDS`, with the reason that names links and joints."""

    lacking: Mapping[str, str]

    def has(self, function: str) -> bool:
        """Whether the robot gets a function (without prefix) of `GROUPS`."""
        return function not in self.left_out

    @property
    def left_out(self) -> dict[str, str]:
        """Every function that the robot does not get, with the first reason."""
        reasons = [(g, [self.lacking[need] for need in g.needs if need in self.lacking]) for g in GROUPS]
        return {name: found[0] for group, found in reasons if found for name in group.functions}

    def notes(self) -> list[str]:
        """A line for everything that is lacking: the reason, and what is left out for it."""
        lines = []
        for need, reason in self.lacking.items():
            lines.append(f"{reason}; left out: {', '.join(g.what for g in GROUPS if need in g.needs)}")
        return lines


def capabilities(model: Model) -> Capabilities:
    """Of a robot with its recipe."""
    robot, lacking = model.robot, {}
    if singular := singular_links(robot):
        pairs = ", ".join(f"link {link} has no inertia that joint {joint} could move" for link, joint in singular)
        lacking["inertia"] = pairs
    if followers := [joint.name for joint in robot.joints if joint.mimic is not None]:
        names = ", ".join(followers)
        lacking["independent"] = (
            f"joints that mimic others ({names}) are folded into every function (--hold welds a joint)"
        )
    if massless := massless_links(robot):
        names = ", ".join(f"{link} (joint {joint})" for link, joint in massless)
        lacking["massive"] = f"links without mass or inertia of their own: {names}"
    if model.tree.deep:
        lacking["short"] = f"a path of {model.tree.depth} joints"
    return Capabilities(lacking)


def table() -> str:
    """The table of the documentation, in Markdown."""
    rows = ["| functions | a robot gets them if |", "|---|---|"]
    for group in GROUPS:
        names = ", ".join(f"`{name}`" for name in group.functions)
        rows.append(f"| {group.what}: {names} | {', '.join(NEEDS[need] for need in group.needs) or 'always'} |")
    return "\n".join(rows)
