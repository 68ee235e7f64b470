"""Which functions a robot gets: the table against what is generated, every reason by a robot that has it, and the page."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
from support.description.builders import BODY, joint, link, robot
from support.mechanisms import four_bar
from support.robots import generated, loaded
from support.touching import pressing_five_bar

from diffpbd.codegen.description.front.resolve import find_recipe, read_robot
from diffpbd.codegen.description.front.urdf import read_urdf
from diffpbd.codegen.description.recipe.recipe import DEFAULT_SWEEPS, default_recipe, with_options
from diffpbd.codegen.graph.functions.capabilities import (
    ALWAYS,
    GRAPHS,
    GROUPS,
    NEEDS,
    ON_DEMAND,
    Capabilities,
    capabilities,
    table,
)
from diffpbd.codegen.graph.loops.build import build
from diffpbd.runtime import load
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.commands.info import describe
from diffpbd.runtime.folder.manifest import Manifest, family

MIMIC = '<limit effort="1" velocity="1"/><mimic joint="ja" multiplier="2"/>'
POINT = '<inertial><mass value="1"/><inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial>'
FORWARD = {"forward_dynamics", "jac_forward_dynamics", "jac_alpha_forward_dynamics", "vjp_forward_dynamics"}
IN_C = {"joint_step", "kicked_step", "node_torque", "rollout", "trajectory", "estimate_torque", "mpc", "damped_hold"}
ORDERS = {f"{order}_order_{kind}" for order in ("fourth", "sixth") for kind in ("step", "rollout")}
STEPS = IN_C | ORDERS | {"jac_alpha_joint_step", "joint_step_unrolled"}
MAXIMAL = {"step", "rollout_step", "vjp_step", "vjp_rollout_step", "momentum_residual", "state_residual"}
DEMANDED = {name for group in GROUPS if group.made == ON_DEMAND for name in group.functions}


EVERY = {"functions": ["all"], "variants": ["all"]}


def of(source: bytes, functions: str = "all", variants: str = "all") -> Capabilities:
    recipe = with_options(default_recipe("made.urdf"), functions=[functions], variants=[variants])
    return capabilities(build(read_urdf(source), recipe))


def pair(second: str, more: str = "") -> bytes:
    return robot(link("base"), link("a"), link("b", second), joint("ja", "base", "a"), joint("jb", "a", "b", more=more))


CASES = {
    "complete": (pair(BODY), set(), ""),
    "inertia": (pair(""), FORWARD | STEPS | MAXIMAL, "link b has no inertia that joint jb could move"),
    "independent": (pair(BODY, MIMIC), {"constraints", *MAXIMAL}, "joints that mimic others (jb)"),
    "massive": (pair(POINT.replace("<mass", '<origin xyz="1 0 0"/><mass')), MAXIMAL, "own: b (joint jb)"),
    "short": (
        robot(link("l0"), *(link(f"l{k}") + joint(f"j{k}", f"l{k - 1}", f"l{k}") for k in range(1, 14))),
        {"torque_terms", "torque_coefficients", *ORDERS},
        "a path of 13 joints",
    ),
}


def test_loops_and_passive_joints_leave_out_what_does_not_know_them(tmp_path: Path) -> None:
    recipe = find_recipe(str(four_bar().write(tmp_path, "made")), **EVERY)
    found_model = build(read_robot(recipe), recipe)
    found = capabilities(found_model)
    unknown = {"ik", "joint_step_unrolled", *ORDERS, "momentum_residual", "state_residual"}
    others = [variant for variant in DEFAULT_SWEEPS if variant != "variational_direct"]
    assert set(found.left_out) == {*unknown, *(f"{name}_{k}" for name in ("step", "vjp_step") for k in others)}
    assert found.left_out["momentum_residual"] == "closed loops: four_bar"
    touched = read_robot(find_recipe(str(pressing_five_bar().write(tmp_path, "pressing")), **EVERY))
    found = capabilities(build(touched, recipe))
    assert [found.left_out[name] for name in ("forward_dynamics", "loop_force")] == ["contacts: tip"] * 2
    robot = dataclasses.replace(read_urdf(pair(BODY)), passive=("jb",))
    found = capabilities(build(robot, with_options(default_recipe("made.urdf"), **EVERY)))
    assert found.left_out == {}
    # a loop on a path of more than twelve joints is one like any other
    tree = dataclasses.replace(
        found_model.tree, parents=tuple(range(-1, 13)), slides=(False,) * 14, aligned=(True,) * 14
    )
    assert capabilities(dataclasses.replace(found_model, tree=tree)).has("joint_step")
    assert not tree.deep
    assert not dataclasses.replace(tree, closures=(), base=1).deep
    assert dataclasses.replace(tree, closures=()).deep


@pytest.mark.parametrize("need", CASES)
def test_what_is_lacking_leaves_out_what_needs_it(need: str) -> None:
    source, left_out, reason = CASES[need]
    found = of(source)
    assert set(found.left_out) == left_out
    assert all(reason in why for why in found.left_out.values())
    assert all(found.has(name) != (name in left_out) for group in GROUPS for name in group.functions)
    if need != "complete":
        assert any(reason in note and "left out" in note for note in found.notes())


def test_twelve_joints_are_short() -> None:
    twelve = robot(link("l0"), *(link(f"l{k}") + joint(f"j{k}", f"l{k - 1}", f"l{k}") for k in range(1, 13)))
    assert of(twelve).left_out == {}


def test_the_table_lists_what_is_generated() -> None:
    """Nothing that is generated is missing in the table; a complete robot gets all of it."""
    robot = loaded("double_pendulum")
    made = {family(name) for name in robot.functions}
    listed = [name for group in GROUPS for name in group.functions]
    assert len(listed) == len(set(listed))
    assert set(listed) - DEMANDED == (made | ({*robot.functions} & {*listed})) - DEMANDED
    assert set(listed) - {GRAPHS} <= made | {*robot.functions, *robot.manifest.graphs}
    assert robot.manifest.left_out.keys() == {"step_variational_gauss_seidel", "step_variational_jacobi"}
    assert {need for group in GROUPS for need in group.needs} == set(NEEDS)


def test_a_missing_function_is_refused_with_the_reason() -> None:
    manifest = loaded("double_pendulum").manifest
    changed = Manifest(**{**vars(manifest), "left_out": {"step": "a leaf", "tip_pose": "a root"}})
    for name in ("step", "vjp_step_paper_direct"):
        assert changed.why_not(name) == "It was left out: a leaf."
    assert changed.why_not("jac_alpha_tip_pose") == "It was left out: a root."
    assert changed.why_not("joint_step") == changed.why_not("nonsense") == ""


def test_the_documentation_has_the_table(root: Path) -> None:
    assert table() in (root / "docs" / "method.md").read_text(encoding="utf-8")


def test_functions_on_demand_bring_what_they_call() -> None:
    robot = load(generated("double_pendulum", functions=("mpc",)))
    families = {family(name) for name in robot.functions}
    always = {family(name) for group in GROUPS if group.made == ALWAYS for name in group.functions}
    assert families == always | {
        "mpc",
        "damped_hold",
        "joint_step",
        "kicked_step",
        "node_torque",
        "rollout",
        "trajectory",
    }
    assert "--functions mpc" in (robot.folder / "README.md").read_text(encoding="utf-8")
    with pytest.raises(
        InputError, match="vjp_step'.*left out.*`diffpbd generate double_pendulum.* --functions mpc,vjp_step`"
    ):
        robot.function("vjp_step")


def test_by_default_what_nothing_needs_is_left_out_and_every_way_to_ask_says_what_makes_it() -> None:
    robot = load(generated("double_pendulum", functions=("default",), variants=("variational_direct",)))
    assert set(robot.functions).isdisjoint(DEMANDED)
    assert {family(name) for name in robot.functions} == {
        family(name) for group in GROUPS if group.made != ON_DEMAND for name in group.functions
    }
    left_out = robot.manifest.left_out
    assert left_out.keys() >= DEMANDED | {f"{head}step_paper_direct" for head in ("", "vjp_")}
    again = "`diffpbd generate double_pendulum --functions default,"
    with pytest.raises(AttributeError, match=f"has no 'vjp_forward_dynamics'.*by {again}jac_forward_dynamics`"):
        _ = robot.vjp_forward_dynamics
    both = "--variants variational_direct,paper_direct --functions default,vjp_step`"
    with pytest.raises(InputError, match=f"vjp_rollout_step_paper_direct.*by `diffpbd generate double_pendulum {both}"):
        robot.function("vjp_rollout_step_paper_direct")
    with pytest.raises(
        InputError, match="rollout_step_paper_direct.*--variants variational_direct,paper_direct --functions default`"
    ):
        robot.function("rollout_step_paper_direct")
    with pytest.raises(
        InputError, match=f"jac_joint_step has no serialized casadi graph.*by {again}derivative_graphs`"
    ):
        robot.casadi("jac_joint_step")
    with pytest.raises(InputError, match=f"joint_step_unrolled.*by {again}joint_step_unrolled`"):
        robot.casadi("joint_step_unrolled")
    shown = describe(robot.manifest)
    for name in ("jac_alpha_joint_step", "vjp_rollout_step, vjp_step", "step_paper_jacobi", "derivative_graphs"):
        assert re.search(rf"^  --(functions|variants) .+: {name}$", shown, re.MULTILINE), name
    assert "generated on request, by `diffpbd generate double_pendulum` with\n" in shown


def test_default_and_all_are_words_of_the_option() -> None:
    complete = pair(BODY)
    assert of(complete, "default").left_out.keys() == DEMANDED
    assert of(complete).left_out == {}
    assert of(complete, "default", "published").has("step_paper_jacobi")
    assert not of(complete, "default", "published").has("vjp_step_paper_jacobi")
    assert of(complete, "vjp_step").has("step") and of(complete, "joint_step_unrolled").has("joint_step")
    assert not of(pair(POINT.replace("<mass", '<origin xyz="1 0 0"/><mass')), "default", "published").left_out.keys() & {
        "step_variational_jacobi", "vjp_step_paper_direct",
    }  # fmt: skip


def test_an_unknown_function_is_refused_by_name() -> None:
    recipe = with_options(default_recipe("made.urdf"), functions=["joint_step", "stepp"])
    with pytest.raises(InputError, match="'stepp'.*rollout_step"):
        capabilities(build(read_urdf(pair(BODY)), recipe))
