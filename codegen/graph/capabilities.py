"""Which functions a robot gets, and why not: the table that the folder, `diffpbd info` and docs/method.md follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from diffpbd.codegen.description.singular import massless_links, singular_links
from diffpbd.codegen.graph.model import Model
from diffpbd.codegen.program.tree import DENSE_DEPTH
from diffpbd.runtime.errors import InputError

UNASKED: Final = "it is not among the functions that were asked for (--functions)"

NEEDS: Final[Mapping[str, str]] = {
    "inertia": "every joint moves some inertia",
    "independent": "no joint mimics another",
    "massive": "every moving link has mass and inertia of its own",
    "open": "no loop closes it",
    "driven": "every joint has a motor",
    "shared": "every joint has a motor, or closed loops share the load",
    "shallow": f"no loop closes it, or no path has more than {DENSE_DEPTH} joints",
    "short": f"no path from base to tip has more than {DENSE_DEPTH} joints",
}
"""What some functions need of a robot."""


@dataclass(frozen=True)
class Group:
    """Functions that a robot gets if it has all that they need (of `NEEDS`), with their `jac_`, `jac_alpha_` and `vjp_`."""

    what: str
    functions: tuple[str, ...]
    needs: tuple[str, ...] = ()
    calls: str = ""
    """A function of another group that these call in C."""
    asked: bool = True
    """Whether `--functions` decides on them."""


GROUPS: Final = (
    Group(
        "forces, states of links and tip",
        (
            "mass_matrix", "gravity", "coriolis", "energy", "regressor", "spring_torque", "friction_torque",
            "fk", "joint_state", "tip_pose", "tip_jacobian", "lever_spring_torque",
        ),
    ),
    Group("inverse dynamics", ("inverse_dynamics",), ("shared",), asked=False),
    Group("forward dynamics", ("forward_dynamics",), ("inertia", "shallow")),
    Group(
        "steps in joint space", ("joint_step", "kicked_step", "node_torque", "rollout", "trajectory"), ("inertia", "shallow")
    ),
    Group("torque estimation", ("estimate_torque",), ("inertia", "open", "driven"), calls="joint_step"),
    Group("predictive control", ("mpc",), ("inertia", "open", "driven"), calls="joint_step"),
    Group("condensed recordings", ("torque_terms", "torque_coefficients"), ("short", "open", "driven")),
    Group("constraints of maximal states", ("constraints",), ("independent", "open")),
    Group("steps on maximal states", ("step", "rollout_step"), ("inertia", "independent", "massive", "open")),
    Group("every pose unknown", ("momentum_residual", "state_residual"), ("inertia", "independent", "massive", "open")),
)  # fmt: skip

OF_LOOPS: Final = Group(
    "closed loops",
    ("close_loops", "close_rates", "loop_residual", "loop_force"),
    ("inertia", "shallow"),
    calls="joint_step",
)
"""What only a robot with closed loops has; no other lacks it."""

UNDERIVED: Final = {
    f"{kind}_{name}": "derivatives of dynamics at an instant do not know closed loops yet; those of joint_step do"
    for name in ("inverse_dynamics", "forward_dynamics")
    for kind in ("jac", "jac_alpha", "vjp")
}
"""What a robot with closed loops has without these derivatives."""


@dataclass(frozen=True)
class Capabilities:
    """What a robot lacks of `NEEDS`, with the reason that names links and joints."""

    lacking: Mapping[str, str]
    unasked: frozenset[str] = frozenset()
    """Functions that `--functions` leaves out."""

    def has(self, function: str) -> bool:
        """Whether the robot gets a function (without prefix) of `GROUPS`."""
        return function not in self.left_out

    @property
    def left_out(self) -> dict[str, str]:
        """Every function that the robot does not get, with the first reason."""
        reasons = [(g, [self.lacking[need] for need in g.needs if need in self.lacking]) for g in GROUPS]
        unasked = dict.fromkeys(sorted(self.unasked), UNASKED)
        return unasked | {name: found[0] for group, found in reasons if found for name in group.functions}

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
    if robot.loops:
        lacking["open"] = f"closed loops: {', '.join(loop.name for loop in robot.loops)}"
    if model.tree.deep:
        lacking["short"] = f"a path of {model.tree.depth} joints"
        if robot.loops:
            lacking["shallow"] = f"{lacking['open']}; {lacking['short']}"
    if robot.passive:
        lacking["driven"] = f"joints without a motor: {', '.join(robot.passive)}"
    unsolved = [lacking[need] for need in ("inertia", "shallow") if need in lacking]
    if robot.loops and unsolved:
        lacking["shared"] = f"{lacking['open']}; {unsolved[0]}"
    elif robot.passive and not robot.loops:
        lacking["shared"] = lacking["driven"]
    return Capabilities(lacking, _unasked(model.recipe.functions))


def _unasked(asked: Sequence[str]) -> frozenset[str]:
    """Functions of every group from which none is asked for nor called; all are where none is named."""
    known = {name: group for group in GROUPS for name in group.functions}
    if strangers := [name for name in asked if name not in known]:
        raise InputError(f"functions: there is no {strangers[0]!r}; one of {', '.join(known)} is expected.")
    if not asked:
        return frozenset()
    kept = {group for group in GROUPS if not (group.needs and group.asked)} | {known[name] for name in asked}
    kept |= {known[group.calls] for group in kept if group.calls}
    return frozenset(known) - {name for group in kept for name in group.functions}


def table() -> str:
    """The table of the documentation, in Markdown."""
    rows = ["| functions | a robot gets them if |", "|---|---|"]
    for group in (*GROUPS, OF_LOOPS):
        names = ", ".join(f"`{name}`" for name in group.functions)
        rows.append(f"| {group.what}: {names} | {', '.join(NEEDS[need] for need in group.needs) or 'always'} |")
    return "\n".join(rows)
