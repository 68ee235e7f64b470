"""Which functions a robot gets, or why not: the table behind the folder, `diffpbd info` and docs/method.md."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from diffpbd.codegen.description.recipe.options import option_words
from diffpbd.codegen.description.recipe.recipe import ALL, DEFAULT, DEFAULT_SWEEPS, Recipe, default_recipe
from diffpbd.codegen.description.robot.singular import massless_links, singular_links
from diffpbd.codegen.graph.model.model import Model
from diffpbd.codegen.laws import forces
from diffpbd.codegen.program.tree import DENSE_DEPTH
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.folder.manifest import families

GRAPHS: Final = "derivative_graphs"
UNROLLED: Final = "joint_step_unrolled"
"""The graph without a compiled function."""

OF_LOOPS_TOO: Final = "variational_direct"
"""The one step on maximal states that solves closed loops."""

ALWAYS, BY_DEFAULT, ON_DEMAND = "always", "by default", "on demand"

Command: TypeAlias = Callable[[Recipe], str]
"""The command that generates a robot by a recipe."""

MEMORY: Final = (
    "friction with memory (dahl), whose deflection joint_step takes from alpha and deflection_next carries on"
)
"""Reason for a robot that is not `forgetful`."""

NEEDS: Final[Mapping[str, str]] = {
    "inertia": "every joint carries inertia",
    "independent": "no mimic joints",
    "massive": "no massless moving links",
    "open": "no closed loops",
    "unlimited": "no joint limits",
    "unstopped": "closed loops only without joint limits",
    "free": "no contacts",
    "told": "closed loops only with a step and without a floating base",
    "shared": "closed loops only with a step",
    "anchored": "no floating base",
    "forgetful": "no friction with memory",
    "short": f"at most {DENSE_DEPTH} joints between base and tip",
}
"""Conditions on a robot for some functions."""


@dataclass(frozen=True)
class Group:
    """Functions that a robot gets if it satisfies their `NEEDS`, with their `jac_`, `jac_alpha_` and `vjp_`, except those that
    another group lists."""

    what: str
    functions: tuple[str, ...]
    needs: tuple[str, ...] = ()
    calls: str = ""
    """A function of another group that these call in C."""
    made: str = BY_DEFAULT
    """Whether it is made ALWAYS, BY_DEFAULT, or ON_DEMAND where `--functions` names one of them."""


GROUPS: Final = (
    Group(
        "forces, states of links and tip",
        (
            "mass_matrix", "gravity", "coriolis", "energy", "regressor", "spring_torque", "friction_torque",
            "fk", "tip_pose", "tip_jacobian", "lever_spring_torque",
        ),
        made=ALWAYS,
    ),
    Group(
        "frames by name", ("frame_pose", "frame_jacobian", "frame_velocity", "frame_acceleration"), made=ALWAYS,
    ),
    Group("inverse kinematics", ("ik",), ("open",)),
    Group("joint states of states of links", ("joint_state",), ("anchored",), made=ALWAYS),
    Group("inverse dynamics", ("inverse_dynamics",), ("shared",), made=ALWAYS),
    Group(
        "derivatives of inverse dynamics", ("jac_inverse_dynamics", "jac_alpha_inverse_dynamics", "vjp_inverse_dynamics"),
        ("told",), made=ALWAYS,
    ),
    Group("forward dynamics", ("forward_dynamics",), ("inertia", "free")),
    Group(
        "derivatives of forward dynamics", ("jac_forward_dynamics", "jac_alpha_forward_dynamics", "vjp_forward_dynamics"),
        ("inertia", "free"), "forward_dynamics", ON_DEMAND,
    ),
    Group("steps in joint space", ("joint_step",), ("inertia",)),
    Group(
        "rollouts, torques at nodes", ("node_torque", "rollout", "trajectory"), ("inertia", "forgetful"), "joint_step",
    ),
    Group(
        "a step with a known impulse at its end", ("kicked_step",), ("inertia", "anchored"), "joint_step",
    ),
    Group("the step's Jacobian by parameters", ("jac_alpha_joint_step",), ("inertia",), "joint_step", ON_DEMAND),
    Group(
        "steps of fourth and sixth order",
        ("sixth_order_step", "fourth_order_step", "sixth_order_rollout", "fourth_order_rollout"),
        ("inertia", "short", "open", "unlimited", "free", "anchored"), "joint_step", ON_DEMAND,
    ),
    Group(
        "torque estimation in windows", ("estimate_torque",), ("anchored", "inertia", "free", "forgetful"),
        "joint_step",
    ),
    Group(
        "predictive control; its torque without a plan", ("mpc", "damped_hold"),
        ("inertia", "forgetful"), "joint_step",
    ),
    Group("condensed recordings", ("torque_terms", "torque_coefficients"), ("told", "short")),
    Group("constraints of maximal states", ("constraints",), ("anchored", "independent")),
    Group(
        "steps on maximal states", ("step", "rollout_step"),
        ("anchored", "inertia", "independent", "massive", "unstopped", "free", "forgetful"),
    ),
    Group(
        "reverse mode of steps on maximal states", ("vjp_step", "vjp_rollout_step"),
        ("anchored", "inertia", "independent", "massive", "unstopped", "free", "forgetful"), "step", ON_DEMAND,
    ),
    Group(
        "every pose unknown", ("momentum_residual", "state_residual"),
        ("anchored", "inertia", "independent", "massive", "open", "free", "forgetful"), made=ON_DEMAND,
    ),
    Group(
        "CasADi graph of the step without a root finder", (UNROLLED,),
        ("inertia", "open", "unlimited", "free", "anchored", "forgetful"), "joint_step", ON_DEMAND,
    ),
    Group("CasADi graphs of the derivatives that are made", (GRAPHS,), made=ON_DEMAND),
)  # fmt: skip

OF_LOOPS: Final = Group(
    "closed loops", ("close_loops", "close_rates", "loop_residual", "loop_force"), ("inertia",), "joint_step"
)
"""Functions that only exist for a robot with closed loops and a step; other robots do not list them as missing."""
OF_CONTACT: Final = Group(
    "contacts", ("contact_gap", "contact_jacobian", "contact_torque", "contact_force", "contact_residual"), made=ALWAYS
)
"""Functions that only exist for a robot with contacts."""
OF_MEMORY: Final = Group("memory of friction", ("deflection_next",), made=ALWAYS)
"""Functions that only exist for friction with memory."""
OF_SHAPES: Final = Group("distances of links", ("clearance", "clearance_points"), made=ON_DEMAND)
"""Functions that only exist with `--clearance`."""


@dataclass(frozen=True)
class Capabilities:
    """`NEEDS` that a robot does not satisfy, with reasons that name links and joints."""

    lacking: Mapping[str, str]
    unasked: Mapping[str, str] = field(default_factory=dict)
    """Functions, and variants of `step`, that are left out because they were not requested, with the reason."""

    def has(self, function: str) -> bool:
        """Whether the robot gets a function of `GROUPS`, or a derivative or variant of one."""
        return not any(name in self.left_out for name in families(function))

    @property
    def left_out(self) -> dict[str, str]:
        """Every function that the robot does not get, with the first reason."""
        reasons = [(g, [self.lacking[need] for need in g.needs if need in self.lacking]) for g in GROUPS]
        impossible = {name: found[0] for group, found in reasons if found for name in group.functions}
        moot = {k for k in self.unasked if "step" in impossible and k.startswith(("step_", "vjp_step_"))}
        return {k: why for k, why in self.unasked.items() if k not in moot} | impossible

    def notes(self) -> list[str]:
        """A line for every unsatisfied condition: the reason, and what is left out for it."""
        lines = []
        for need, reason in self.lacking.items():
            lines.append(f"{reason}; left out: {', '.join(g.what for g in GROUPS if need in g.needs)}")
        return lines


def _by_name(recipe: Recipe) -> str:
    words = option_words(recipe, default_recipe(recipe.urdf))
    return shlex.join(["diffpbd", "generate", recipe.name, *words])


def capabilities(model: Model, command: Command = _by_name) -> Capabilities:
    """Capabilities of a robot with its recipe; `command` gives the command that generates the rest."""
    robot, lacking = model.robot, {}
    if singular := singular_links(robot):
        pairs = ", ".join(f"link {link} has no inertia that joint {joint} could move" for link, joint in singular)
        lacking["inertia"] = pairs
    if followers := [joint.name for joint in robot.joints if joint.mimic is not None]:
        names = ", ".join(followers)
        lacking["independent"] = (
            f"joints that mimic others ({names}) are folded into every function (--hold welds a joint)"
        )
    if massless := [pair for pair in massless_links(robot) if pair[0] not in robot.base_freedoms]:
        names = ", ".join(f"{link} (joint {joint})" for link, joint in massless)
        lacking["massive"] = f"links without mass or inertia of their own: {names}"
    elif robot.base_freedoms and not robot.floating:  # which says the same
        lacking["massive"] = f"a {robot.base_joint} base, which stands on links without mass"
    if robot.loops:
        lacking["open"] = f"closed loops: {', '.join(loop.name for loop in robot.loops)}"
    if model.tree.limits:
        lacking["unlimited"] = "limits act"
        if robot.loops:
            lacking["unstopped"] = f"{lacking['open']}; limits act"
    if robot.pairs:
        lacking["free"] = f"contacts: {', '.join(dict.fromkeys(pair.sphere.name for pair in robot.pairs))}"
    if model.tree.deep:
        lacking["short"] = f"a path of {model.tree.depth} joints"
    if robot.floating:
        lacking["anchored"] = f"a floating base ({robot.base_freedoms[0]} and what follows)"
    if forces.has_memory(model.tree.friction):
        lacking["forgetful"] = MEMORY
    unsolved = [lacking[need] for need in ("inertia",) if need in lacking]
    if robot.loops and unsolved:
        lacking["shared"] = lacking["told"] = f"{lacking['open']}; {unsolved[0]}"
    elif robot.loops and robot.floating:
        lacking["told"] = f"{lacking['open']}; {lacking['anchored']}"
    unasked = _unasked(model.recipe, command)
    if robot.floating and robot.pairs:
        unasked["contact_residual"] = lacking["anchored"]
    if robot.floating and robot.loops:
        slopes = next(g for g in GROUPS if "jac_forward_dynamics" in g.functions)
        unasked |= dict.fromkeys(slopes.functions, lacking["told"])
    if robot.loops and robot.pairs:
        unasked["loop_force"] = lacking["free"]
    if robot.loops:
        unasked |= _without_loops(model.recipe, lacking["open"])
    return Capabilities(lacking, unasked)


def _without_loops(recipe: Recipe, loops: str) -> dict[str, str]:
    """Variants without support for loops; refused if one of them is the recipe's own."""
    if recipe.variant != OF_LOOPS_TOO:
        raise InputError(
            f"{recipe.name}: integrator = {recipe.integrator}, solver = {recipe.solver}: {loops}, and steps on maximal states "
            "with closed loops are variational and direct; leave both keys out."
        )
    reason = f"{loops}; {OF_LOOPS_TOO} alone solves them"
    others = [variant for variant in DEFAULT_SWEEPS if variant != OF_LOOPS_TOO]
    return {f"{function}_{variant}": reason for function in ("step", "vjp_step") for variant in others}


def _unasked(recipe: Recipe, command: Command) -> dict[str, str]:
    """Functions of groups that are neither requested nor called, and variants that are not chosen."""
    kept, asked = groups_of(recipe.functions), recipe.functions or (DEFAULT,)
    reasons: dict[str, str] = {}

    def by(**more: Any) -> str:
        return f"it is generated on request, by `{command(dataclasses.replace(recipe, **more))}`"

    for group in GROUPS:
        if group not in kept:
            reasons |= dict.fromkeys(group.functions, by(functions=(*asked, group.functions[0])))
    for variant in DEFAULT_SWEEPS:
        if variant not in recipe.variants:
            more = {"variants": (*recipe.variants, variant)}
            reasons[f"step_{variant}"] = by(**more)
            if "vjp_step" in reasons:
                reasons[f"vjp_step_{variant}"] = by(**more, functions=(*asked, "vjp_step"))
    return reasons


def groups_of(asked: tuple[str, ...]) -> set[Group]:
    """The groups that words of `--functions` name, and those that they call; what needs nothing is always among them."""
    known = {name: group for group in GROUPS for name in group.functions}
    if strangers := [name for name in asked if name not in (*known, ALL, DEFAULT)]:
        raise InputError(
            f"functions: there is no {strangers[0]!r}; one of {', '.join((DEFAULT, ALL, *known))} is expected."
        )
    if ALL in asked:
        return set(GROUPS)
    kept = {group for group in GROUPS if group.made == ALWAYS}
    kept |= {known[name] for name in asked if name != DEFAULT}
    if not asked or DEFAULT in asked:
        kept |= {group for group in GROUPS if group.made == BY_DEFAULT}
    while called := {known[group.calls] for group in kept if group.calls} - kept:
        kept |= called
    if known["joint_step"] in kept:
        kept.add(known["rollout"])
    return kept


def table() -> str:
    """The table of the documentation, in Markdown."""
    rows = ["| functions | made | a robot gets them if |", "|---|---|---|"]
    for group in (*GROUPS, OF_LOOPS, OF_CONTACT, OF_MEMORY, OF_SHAPES):
        names = ", ".join(f"`{name}`" for name in group.functions)
        needs = "; ".join(NEEDS[need] for need in group.needs) or "–"
        rows.append(f"| {group.what}: {names} | {group.made} | {needs} |")
    return "\n".join(rows)
