"""Planar and floating bases as written: by the recipe or by the joint on the root; every fault with its names."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from support.description.builders import chain, doubt_codes, fault_codes, joint, link, robot

from diffpbd.codegen.description.check.validate import check
from diffpbd.codegen.description.front.resolve import read_robot
from diffpbd.codegen.description.front.urdf import read_urdf
from diffpbd.codegen.description.recipe.file import load_recipe
from diffpbd.codegen.description.recipe.recipe import with_options
from diffpbd.codegen.description.robot.robot import Robot
from diffpbd.runtime.cli import cli

FREE = ("base_x", "base_y", "base_z", "base_turn_x", "base_turn_y", "base_turn_z")


def names(found: Robot) -> list[str]:
    return [each.name for each in found.joints]


def test_root_joints_of_the_file(shared: Path) -> None:
    case = shared / "cases" / "P12-planar-and-floating"
    planar, floating = (read_urdf(case / f"{kind}.urdf") for kind in ("planar", "floating"))
    assert (planar.base, planar.base_joint, names(planar)) == (
        "ground",
        "planar",
        ["base_x", "base_z", "base_turn", "tilt"],
    )
    assert [each.axis for each in planar.joints[:3]] == [(1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 1.0, 0.0)]
    assert (floating.base, floating.floating, names(floating)) == ("ground", True, [*FREE, "tilt"])
    assert [each.inertial.mass for each in floating.links] == [0.0] * 5 + [4.0, 1.0]
    assert [(found.passive, found.base_freedoms) for found in (planar, floating)] == [
        (planar.base_freedoms, ("base_x", "base_z", "base_turn")),
        (FREE, FREE),
    ]
    (doubt,) = check(case / "floating.urdf").doubts
    assert (doubt.code, doubt.names) == ("base", ("body", "free"))


def test_recipe_frees_what_hangs_on_its_base() -> None:
    source = chain("revolute", "revolute", "revolute")
    whole, part = (read_urdf(source, base=base, base_joint="floating") for base in (None, "a"))
    assert (whole.base, names(whole), whole.total_mass) == ("base", [*FREE, "ja", "jb", "jc"], 4.0)
    assert (part.base, names(part), part.total_mass) == ("a", [*FREE, "jb", "jc"], 3.0)
    assert part.links[5:] == read_urdf(source).links[:1] + part.links[6:]
    planar = read_urdf(source, base_joint="planar")
    assert names(planar)[:4] == ["base_x", "base_z", "base_turn", "ja"]
    assert doubt_codes(source, base_joint="planar") == set()


def test_a_body_alone_may_float() -> None:
    found = read_urdf(robot(link("ball")), base_joint="floating")
    assert (names(found), [tip.name for tip in found.tips]) == (list(FREE), ["ball"])


def test_planes_of_the_file() -> None:
    def slides(axis: str) -> list[tuple[str, tuple[float, ...]]]:
        text = robot(link("base"), link("a"), joint("ja", "base", "a", "planar", at="0 0 2")).replace(
            b"0 1 0", axis.encode()
        )
        return [(each.name, each.axis) for each in read_urdf(text).joints]

    assert slides("0 0 1") == [("base_x", (1, 0, 0)), ("base_y", (0, 1, 0)), ("base_turn", (0, 0, 1))]
    assert slides("2 0 0") == [("base_y", (0, 1, 0)), ("base_z", (0, 0, 1)), ("base_turn", (1, 0, 0))]
    (one, a), (two, b), (_, c) = slides("0 0.6 0.8")
    assert (one, two, a) == ("base_1", "base_2", (1, 0, 0))
    assert b == pytest.approx((0.0, 0.8, -0.6))
    assert c == (0.0, 0.6, 0.8)


def test_held_and_lower_bases_stay_fixed() -> None:
    source = chain("floating", "revolute")
    assert read_urdf(source, hold=["ja"]).base_joint == "fixed"
    assert read_urdf(source, base="a").base_joint == "fixed"
    assert read_urdf(source, base="base").floating
    (doubt,) = [d for d in check(source).doubts if "origin" in d.message]
    assert doubt.names == ("a", "ja")


def test_faults_are_named() -> None:
    massless = robot(link("world", ""), link("a"), joint("ja", "world", "a"))
    assert fault_codes(massless, base_joint="floating") == {"base"}
    (fault,) = check(massless, base_joint="floating").faults
    assert '"world" has no mass; choose the trunk' in fault.message
    assert fault_codes(massless, base="a", base_joint="floating") == set()
    follower = joint("jb", "a", "b", more='<mimic joint="ja"/><limit lower="-1" upper="1" effort="5" velocity="2"/>')
    parts = link("base"), link("a"), joint("ja", "base", "a", "floating"), link("b"), follower
    assert any("nothing can follow the base" in fault.message for fault in check(robot(*parts)).faults)
    two = link("base"), link("a"), link("b"), joint("ja", "base", "a", "floating"), joint("jb", "base", "b")
    (fault,) = check(robot(*two)).faults
    assert (fault.code, fault.joints) == ("joint-type", ("ja",))
    assert "on a root that carries nothing else" in fault.message
    assert fault_codes(chain("revolute"), base="nowhere", base_joint="floating") == {"base"}
    taken = robot(link("base"), link("a"), joint("base_x", "base", "a"))
    (fault,) = check(taken, base_joint="floating").faults
    assert '2 joints are called "base_x" (one is of the moving base)' in fault.message
    for kind in ("floating", "planar"):
        (fault,) = check(chain("revolute"), base_joint=kind, hold=["base_x"]).faults
        assert (fault.code, fault.joints) == ("hold", ("base_x",))
        assert f"a freedom of the {kind} base" in fault.message


def test_recipes_and_the_command_line_say_it(tmp_path: Path) -> None:
    (tmp_path / "made.urdf").write_bytes(chain("revolute"))
    (tmp_path / "made.toml").write_text('urdf = "made.urdf"\nbase_joint = "floating"\n')
    recipe = load_recipe(tmp_path / "made.toml")
    assert read_robot(recipe).floating
    assert not read_robot(with_options(recipe, base_joint="fixed")).floating
    found = CliRunner().invoke(cli, ["check", str(tmp_path / "made.urdf"), "--base-joint", "planar"])
    assert "base: planar, coordinates base_x, base_z, base_turn" in found.output
