"""Closed loops and passive joints as written: every way to say one, every fault with its names."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.mechanisms import Mechanism, five_bar, four_bar, spatial_four_bar

from diffpbd.codegen.description.front.resolve import read_doubted, read_robot
from diffpbd.codegen.description.recipe.file import load_recipe
from diffpbd.codegen.description.report import DescriptionError
from diffpbd.codegen.description.robot.robot import WORLD, Robot


def read(mechanism: Mechanism, folder: Path) -> Robot:
    return read_robot(load_recipe(mechanism.write(folder, "made")))


def faults(mechanism: Mechanism, folder: Path) -> str:
    with pytest.raises(DescriptionError) as caught:
        read(mechanism, folder)
    return str(caught.value)


def test_a_loop_of_a_recipe_is_read(tmp_path: Path) -> None:
    robot = read(four_bar(), tmp_path)
    (loop,) = robot.loops
    assert (loop.name, loop.type.value) == ("four_bar", "hinge")
    assert [robot.links[k].name for k in (loop.parent, loop.child)] == ["coupler", "rocker"]
    assert (loop.parent_translation, loop.child_translation) == ((0.8, 0.0, 0.0), (0.6, 0.0, 0.0))
    assert robot.passive == ("j2", "j3")


LOOP_JOINT = """<loop_joint name="four_bar" type="revolute"><link1 link="coupler" rpy="0 0 0" xyz="0.8 0 0"/>
<link2 link="rocker" rpy="0 0 0" xyz="0.6 0 0"/><axis xyz="0 -1 0"/></loop_joint>"""
SECOND = """<joint name="four_bar" type="continuous"><parent link="coupler"/><child link="end"/><origin xyz="0.8 0 0"/>
<axis xyz="0 -1 0"/><dynamics damping="0.1"/></joint><link name="end"/>
<joint name="weld" type="fixed"><parent link="rocker"/><child link="end"/><origin xyz="0.6 0 0"/></joint>"""


def test_loop_joint_says_the_same(tmp_path: Path) -> None:
    mechanism = four_bar()
    wanted = read(mechanism, tmp_path).loops
    mechanism.loops, mechanism.more = [], LOOP_JOINT
    assert read(mechanism, tmp_path).loops == wanted


def test_later_joint_of_the_file_is_cut(tmp_path: Path) -> None:
    mechanism = four_bar()
    mechanism.loops, mechanism.more, mechanism.passive = [], SECOND, []
    robot, doubts = read_doubted(load_recipe(mechanism.write(tmp_path, "made")))
    (loop,) = robot.loops
    assert (loop.name, loop.type.value) == ("weld", "weld")
    assert [robot.links[k].name for k in (loop.parent, loop.child)] == ["rocker", "end"]
    (cut,) = [doubt for doubt in doubts if doubt.code == "cut"]
    assert cut.names == ("end", "four_bar", "weld")
    # the other way round the hinge is cut, and what only a coordinate has is named
    mechanism.more = SECOND[SECOND.index("<link") :] + SECOND[: SECOND.index("<link")]
    robot, doubts = read_doubted(load_recipe(mechanism.write(tmp_path, "made")))
    (loop,) = robot.loops
    assert (loop.name, loop.type.value, loop.child_translation) == ("four_bar", "hinge", (0.6, 0.0, 0.0))
    assert "its dynamics is not used" in next(doubt for doubt in doubts if doubt.code == "cut").message


def test_holding_a_cut_joint_welds_it(tmp_path: Path) -> None:
    mechanism = four_bar()
    mechanism.loops, mechanism.more, mechanism.passive = (
        [],
        SECOND[SECOND.index("<link") :] + SECOND[: SECOND.index("<link")],
        [],
    )
    path = mechanism.write(tmp_path, "made", 'hold = ["four_bar"]')
    assert read_robot(load_recipe(path)).loops[0].type.value == "weld"


def test_world_and_the_length_at_zero(tmp_path: Path) -> None:
    mechanism = spatial_four_bar()
    mechanism.loops[0] |= {"parent": "world", "parent_xyz": (0.0, 0.0, 0.0)}
    del mechanism.loops[0]["length"]
    (loop,) = read(mechanism, tmp_path).loops
    assert loop.parent == WORLD
    x, y = 0.6 + 0.4 * 0.9210609940028851, 0.2 + 0.4 * 0.3894183423086505  # cosine and sine of 0.4
    assert loop.length == pytest.approx((x * x + y * y + 0.1**2) ** 0.5, abs=1e-15)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"child": "coupler"}, ['loop "four_bar"', '"coupler"', "the same link"]),
        ({"child": "roker"}, ['link "roker" does not exist', '"rocker" was meant?']),
        ({"type": "hing"}, ['type "hing"', "hinge, ball, slide, weld, distance are expected"]),
        ({"axis": (0.0, 0.0, 0.0)}, ["its axis has no direction"]),
        ({"length": 0.5}, ["length 0.5 m: a hinge has none, type distance alone does"]),
        ({"type": "distance", "length": 0.0}, ["length 0 m", "a distance above 0 m"]),
        (
            {
                "type": "distance",
                "parent": "crank",
                "parent_xyz": (0.3, 0, 0),
                "child": "coupler",
                "child_xyz": (0, 0, 0),
            },
            ['loop "four_bar": its ends coincide at the zero pose', "length above 0 m"],
        ),
        ({"name": "j1"}, ['a joint and a loop are called "j1"']),
    ],
)
def test_refused_with_names_and_numbers(change: dict[str, object], words: list[str], tmp_path: Path) -> None:
    mechanism = four_bar()
    mechanism.loops[0] |= change
    message = faults(mechanism, tmp_path)
    assert [word for word in words if word not in message] == []


def test_every_fault_at_once(tmp_path: Path) -> None:
    mechanism = four_bar()
    mechanism.loops[0] |= {"child": "nowhere"}
    mechanism.loops.append({**mechanism.loops[0], "name": "other", "type": "glue"})
    mechanism.passive = ["j9"]
    message = faults(mechanism, tmp_path)
    assert all(word in message for word in ('"nowhere"', '"glue"', 'passive joint "j9" does not exist', "3 errors"))


def test_passive_joint_with_a_driven_follower(tmp_path: Path) -> None:
    mechanism = five_bar()
    mimic = '<limit effort="1" velocity="1"/><mimic joint="j2"/></joint>'
    mechanism.joints[3] = mechanism.joints[3].replace("</joint>", mimic)
    mechanism.passive = ["j2"]
    assert 'passive joint "j2" is followed by the mimic joint "j4"' in faults(mechanism, tmp_path)
    mechanism.passive = ["j2", "j4"]
    assert read(mechanism, tmp_path).passive == ("j2", "j4")


def test_nothing_driven_is_a_doubt(tmp_path: Path) -> None:
    mechanism = four_bar()
    mechanism.passive = ["j1", "j2", "j3"]
    doubts = read_doubted(load_recipe(mechanism.write(tmp_path, "made")))[1]
    assert [doubt.names for doubt in doubts if doubt.code == "passive"] == [("j1", "j2", "j3")]
