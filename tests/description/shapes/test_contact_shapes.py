"""Capsules and boxes in `[[contact]]`: what they are made of, and every fault."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.made.collided import BALL, CRATE, PILL, collided
from support.mechanisms import Mechanism
from support.small.shaped import alone, pair, shaped_arms

from diffpbd.codegen.description.front.resolve import read_robot
from diffpbd.codegen.description.recipe.file import load_recipe
from diffpbd.codegen.description.recipe.recipe import with_options
from diffpbd.codegen.description.robot.robot import Robot
from diffpbd.codegen.description.shapes.contacts import contact_lines
from diffpbd.codegen.graph.loops.build import build
from diffpbd.codegen.graph.loops.report import contact_facts


def read(mechanism: Mechanism, folder: Path, line: str = "") -> Robot:
    return read_robot(load_recipe(mechanism.write(folder, "made", line)))


def test_a_box_on_a_plane_is_its_corners(tmp_path: Path) -> None:
    mechanism, line = alone("cube", rpy=(0.0, 0.0, 0.5))
    robot = read(mechanism, tmp_path, line)
    assert [p.name for p in robot.pairs] == [f"body.{k}" for k in range(1, 9)]
    corners = np.array([p.sphere.point for p in robot.pairs])
    np.testing.assert_allclose(np.linalg.norm(corners, axis=1), np.sqrt(0.03), rtol=1e-14)
    assert np.ptp(corners, axis=0) == pytest.approx([0.2 * np.sqrt(2) * np.sin(np.pi / 4 + 0.5)] * 2 + [0.2])
    assert {p.sphere.law for p in robot.pairs} == {fact.law for fact in contact_facts(robot)} == {"body"}


def test_a_capsule_on_a_plane_is_its_ends(tmp_path: Path) -> None:
    mechanism, line = alone("rod")
    robot = read(mechanism, tmp_path, line)
    assert [(p.name, p.sphere.point, p.sphere.radius) for p in robot.pairs] == [
        ("body.1", (-0.2, 0.0, 0.0), 0.05), ("body.2", (0.2, 0.0, 0.0), 0.05),
    ]  # fmt: skip
    recipe = load_recipe(mechanism.write(tmp_path, "made", line))
    names = [e.name for e in build(robot, recipe).entries if e.name.startswith("contact.")]
    assert names == [f"contact.{k}.body" for k in ("friction", "radius", "load", "compliance")] + ["contact.slip"]


def test_two_capsules_touch_at_every_end_and_where_they_cross(tmp_path: Path) -> None:
    robot = read(pair("rod", "rod", table=True), tmp_path)
    assert [(p.name, p.other.name) for p in robot.pairs] == [
        ("one.1/table", "table"), ("one.1/two", "two"), ("one.2/table", "table"), ("one.2/two", "two"),
        ("one/two.1", "two.1"), ("one/two.2", "two.2"), ("one/two", "two"), ("two.1", "table"), ("two.2", "table"),
    ]  # fmt: skip
    assert contact_lines(robot)[6] == (
        'contact "one": capsule of 0.05 m on one against capsule "two" on two, friction 0.5'
    )


def test_places_in_alpha(tmp_path: Path) -> None:
    """Ends and corners by the middle and half the extent of their shape; its core goes with them."""
    mechanism = shaped_arms()
    mechanism.contacts = [c for c in mechanism.contacts if c["name"] in ("hand", "arm", "tip", "stand")]
    mechanism.contacts[0]["against"], mechanism.contacts[2]["against"] = ["table", "arm"], ["stand"]
    mechanism.contacts[3].pop("rpy")
    recipe = with_options(load_recipe(mechanism.write(tmp_path, "made")), symbolic=("contact",))
    names = [e.name for e in build(read_robot(recipe), recipe).entries]
    for entry in ("contact.centre.arm.x", "contact.half.arm.x", "contact.half.stand.z", "contact.point.tip.x"):
        assert entry in names
    assert not any(name.startswith("contact.point.arm") for name in names)


def test_collision_shapes_of_two_links(tmp_path: Path) -> None:
    robot = collided(
        {"hand": [PILL], "right": [BALL, PILL], "left": [CRATE, BALL]}, tmp_path, "hand=right", "hand=table"
    )
    found = [(p.name, p.other.name) for p in robot.pairs]
    balls = [(f"hand/{k}", k) for k in ("right.shape1", "right.shape2.1", "right.shape2.2", "right.shape2")]
    ends = [(f"hand.{k}/{x}", x) for k in (1, 2) for x in ("table", "right.shape2")]
    assert found == [*ends, *balls]
    own = next(c for c in robot.contacts if c.name == "hand.2")
    np.testing.assert_allclose(own.point, (0.1, -0.15 * np.sin(0.5), 0.15 * np.cos(0.5)), atol=1e-15)
    robot = collided({"hand": [BALL], "left": [CRATE], "right": [BALL]}, tmp_path, "hand=right", "right=left")
    assert [(p.name, p.other.core, p.sphere.friction) for p in robot.pairs] == [
        ("hand", "sphere", 0.5),
        ("right", "box", 0.5),
    ]
    box = next(c for c in robot.contacts if c.name == "left")
    np.testing.assert_allclose(
        box.axes, [[1, 0, 0], [0, np.cos(0.5), -np.sin(0.5)], [0, np.sin(0.5), np.cos(0.5)]], atol=1e-15
    )
    assert box.halves == (0.05, 0.1, 0.15)
