"""Which functions a robot gets: the table against what is generated, every reason by a robot that has it, and the page."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from description.builders import BODY, joint, link, robot
from support.mechanisms import four_bar
from support.robots import generated, loaded

from diffpbd.codegen.description.recipe import default_recipe, with_options
from diffpbd.codegen.description.resolve import find_recipe, read_robot
from diffpbd.codegen.description.urdf import read_urdf
from diffpbd.codegen.graph.capabilities import GROUPS, NEEDS, Capabilities, capabilities, table
from diffpbd.codegen.graph.model import build
from diffpbd.runtime import load
from diffpbd.runtime.errors import InputError
from diffpbd.runtime.manifest import Manifest, family

MIMIC = '<limit effort="1" velocity="1"/><mimic joint="ja" multiplier="2"/>'
POINT = '<inertial><mass value="1"/><inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial>'
STEPS = {"joint_step", "kicked_step", "node_torque", "rollout", "trajectory", "estimate_torque", "mpc"}
MAXIMAL = {"step", "rollout_step", "momentum_residual", "state_residual"}


def of(source: bytes) -> Capabilities:
    return capabilities(build(read_urdf(source), default_recipe("made.urdf")))


def pair(second: str, more: str = "") -> bytes:
    return robot(link("base"), link("a"), link("b", second), joint("ja", "base", "a"), joint("jb", "a", "b", more=more))


CASES = {
    "complete": (pair(BODY), set(), ""),
    "inertia": (pair(""), {"forward_dynamics", *STEPS, *MAXIMAL}, "link b has no inertia that joint jb could move"),
    "independent": (pair(BODY, MIMIC), {"constraints", *MAXIMAL}, "joints that mimic others (jb)"),
    "massive": (pair(POINT.replace("<mass", '<origin xyz="1 0 0"/><mass')), MAXIMAL, "own: b (joint jb)"),
    "short": (
        robot(link("l0"), *(link(f"l{k}") + joint(f"j{k}", f"l{k - 1}", f"l{k}") for k in range(1, 14))),
        {"torque_terms", "torque_coefficients"},
        "a path of 13 joints",
    ),
}


def test_loops_and_passive_joints_leave_out_what_does_not_know_them(tmp_path: Path) -> None:
    recipe = find_recipe(str(four_bar().write(tmp_path, "made")))
    found_model = build(read_robot(recipe), recipe)
    found = capabilities(found_model)
    fitted = {"torque_terms", "torque_coefficients"}
    assert set(found.left_out) == {"constraints", "estimate_torque", "mpc", *fitted, *MAXIMAL}
    assert found.left_out["step"] == "closed loops: four_bar"
    robot = dataclasses.replace(read_urdf(pair(BODY)), passive=("jb",))
    found = capabilities(build(robot, default_recipe("made.urdf")))
    assert set(found.left_out) == {"inverse_dynamics", "estimate_torque", "mpc", *fitted}
    assert set(found.left_out.values()) == {"joints without a motor: jb"}
    # a loop on a path of more than twelve joints: the step along the tree does not know it
    tree = dataclasses.replace(
        found_model.tree, parents=tuple(range(-1, 13)), slides=(False,) * 14, aligned=(True,) * 14
    )
    deep = capabilities(dataclasses.replace(found_model, tree=tree))
    assert {"joint_step", "forward_dynamics", "inverse_dynamics"} <= set(deep.left_out)
    assert deep.left_out["joint_step"] == "closed loops: four_bar; a path of 14 joints"


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
    made = {family(name) for name in loaded("double_pendulum").functions}
    listed = [name for group in GROUPS for name in group.functions]
    assert len(listed) == len(set(listed))
    assert set(listed) == made
    assert {need for group in GROUPS for need in group.needs} == set(NEEDS)
    assert loaded("double_pendulum").manifest.left_out == {}


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
    always = {name for group in GROUPS if not (group.needs and group.asked) for name in group.functions}
    assert families == always | {"mpc", "joint_step", "kicked_step", "node_torque", "rollout", "trajectory"}
    assert "--functions mpc" in (robot.folder / "README.md").read_text(encoding="utf-8")
    with pytest.raises(InputError, match="rollout_step_paper_direct.*left out.*--functions"):
        robot.function("rollout_step_paper_direct")


def test_an_unknown_function_is_refused_by_name() -> None:
    recipe = with_options(default_recipe("made.urdf"), functions=["joint_step", "stepp"])
    with pytest.raises(InputError, match="'stepp'.*rollout_step"):
        capabilities(build(read_urdf(pair(BODY)), recipe))
