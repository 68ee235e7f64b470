"""Planes and contacts as written: recipe and collision shapes, every fault with its names and numbers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from support.made.planes import shaped, taken
from support.mechanisms import Mechanism
from support.touching import reaching_arm

from diffpbd.codegen.description.front.resolve import read_doubted, read_robot
from diffpbd.codegen.description.recipe.file import load_recipe
from diffpbd.codegen.description.recipe.recipe import with_options
from diffpbd.codegen.description.report import DescriptionError
from diffpbd.codegen.description.robot.robot import WORLD, Plane, Robot
from diffpbd.codegen.description.shapes.contacts import contact_lines
from diffpbd.codegen.graph.loops.build import build
from diffpbd.runtime.cli import cli


def read(mechanism: Mechanism, folder: Path) -> Robot:
    return read_robot(load_recipe(mechanism.write(folder, "made")))


def faults(mechanism: Mechanism, folder: Path) -> str:
    with pytest.raises(DescriptionError) as caught:
        read(mechanism, folder)
    return str(caught.value)


def test_planes_and_pairs_of_a_recipe_are_read(tmp_path: Path) -> None:
    robot = read(reaching_arm(), tmp_path)
    table, wall, tray = robot.planes
    assert (table.link, table.normal, table.height) == (WORLD, (0.0, 0.0, 1.0), 0.0)
    np.testing.assert_allclose(wall.normal, np.array([-2.0, 0.5, 1.0]) / np.sqrt(5.25), rtol=1e-15)
    assert wall.height == pytest.approx(np.dot(wall.normal, [0.7, 0.1, 0.0]), abs=1e-16)
    assert robot.links[tray.link].name == "turn"
    names = [(pair.name, isinstance(pair.other, Plane), pair.sphere.friction) for pair in robot.pairs]
    assert names == [
        *((f"hand/{other}", other not in ("knob", "post"), 0.5) for other in ("table", "wall", "tray", "knob", "post")),
        ("elbow", False, 0.0),
    ]
    assert robot.pairs[3].other == robot.contacts[2]


def test_parameters_and_their_bounds(tmp_path: Path) -> None:
    recipe = load_recipe(reaching_arm().write(tmp_path, "made"))
    entries = build(read_robot(recipe), recipe).entries
    own = {e.name: e for e in entries if e.name.startswith(("contact.", "plane."))}
    assert list(own) == [
        "contact.friction.hand", *(f"contact.radius.{k}" for k in ("hand", "elbow", "knob", "post")),
        *(f"contact.{kind}.{k}" for kind in ("load", "compliance") for k in ("hand", "elbow")),
        "contact.slip", *(f"plane.height.{k}" for k in ("table", "wall", "tray")),
    ]  # fmt: skip
    assert (own["contact.friction.hand"].lower, own["contact.friction.hand"].upper) == (1e-3, 10.0)
    assert (own["contact.slip"].default, own["contact.slip"].lower) == (1e-5, 1e-9)
    assert own["contact.radius.knob"].default == 0.05
    assert (own["contact.load.hand"].default, own["contact.compliance.hand"].lower) == (10.0, 0.0)


def test_friction_against_turning(tmp_path: Path) -> None:
    """Entries, bounds and lines of `check`; what cannot be is said with numbers."""
    mechanism = reaching_arm()
    mechanism.contacts[0] |= {"torsional": 0.004, "rolling": 0.002}
    recipe = load_recipe(mechanism.write(tmp_path, "made"))
    robot = read_robot(recipe)
    own = {e.name: e for e in build(robot, recipe).entries}
    for kind, value in (("torsional", 0.004), ("rolling", 0.002)):
        entry = own[f"contact.{kind}.hand"]
        assert (entry.unit, entry.default, entry.lower, entry.upper) == ("m", value, 1e-6, 10.0)
    assert "friction 0.5, torsional 0.004 m, rolling 0.002 m" in contact_lines(robot)[0]
    mechanism.contacts[0] |= {"torsional": 1e-7, "rolling": 11.0}
    mechanism.contacts[1]["rolling"] = 0.1
    told = faults(mechanism, tmp_path)
    assert "torsional 1e-07 m: from 1e-06 to 10 m is expected, or 0 for none" in told
    assert "rolling 11 m: from 1e-06 to 10 m" in told
    assert "rolling 0.1 m without friction" in told


def test_merged_links_carry_their_contacts(tmp_path: Path) -> None:
    """A plane and a sphere on a link that a fixed joint turns and moves."""
    mechanism = reaching_arm()
    mechanism.more = (
        '<link name="plate"/><joint name="weld" type="fixed"><parent link="turn"/><child link="plate"/>'
        '<origin xyz="0.1 0.2 0.3" rpy="0 1.5707963267948966 0"/></joint>'
    )
    mechanism.planes[2] = {"name": "tray", "link": "plate", "point": (0.5, 0.0, 0.25), "normal": (1.0, 0.0, 0.0)}
    mechanism.contacts[2] = {"name": "knob", "link": "plate", "point": (0.0, 0.0, 1.0), "radius": 0.05}
    robot = read(mechanism, tmp_path)
    assert (robot.planes[2].normal, robot.contacts[2].point) == ((0.0, 0.0, -1.0), (1.1, 0.2, 0.3))
    assert robot.planes[2].height == pytest.approx(-(0.3 - 0.5))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"link": "foer"}, ['contact "hand": link "foer" does not exist', '"fore" was meant?']),
        ({"against": "tabel"}, ['contact "hand" against "tabel": no such plane or contact', '"table" was meant?']),
        ({"against": "tray", "link": "turn"}, ['against "tray": both are on "turn", the same link']),
        ({"link": "world"}, ['contact "hand" against "table": both are on "world", the same link']),
        ({"radius": -0.01}, ['contact "hand": radius -0.01 m is negative']),
        ({"friction": -0.5}, ['contact "hand": friction -0.5: a coefficient from 0.001 to 10 is expected, or 0']),
        ({"friction": 10.5}, ["friction 10.5: a coefficient from 0.001 to 10"]),
        ({"friction": 0.0009}, ["friction 0.0009: a coefficient from 0.001 to 10"]),
        ({"against": []}, ['contact "hand": it touches nothing']),
        ({"against": ["table", "table"]}, ['contact "hand" against "table": named 2 times']),
        ({"name": "table"}, ['2 planes and contacts are called "table"']),
    ],
)
def test_refused_with_names_and_numbers(change: dict[str, object], words: list[str], tmp_path: Path) -> None:
    mechanism = reaching_arm()
    mechanism.contacts[0] |= change
    message = faults(mechanism, tmp_path)
    assert [word for word in words if word not in message] == []


def test_contacts_of_one_surface_share_their_law(tmp_path: Path) -> None:
    mechanism = reaching_arm()
    mechanism.contacts[0]["surface"] = "skin"
    mechanism.contacts.append({**mechanism.contacts[0], "name": "thumb", "point": (0.3, 0.1, 0.0), "against": "table"})
    recipe = load_recipe(mechanism.write(tmp_path, "made", 'symbolic = ["contact"]'))
    own = [e.name for e in build(read_robot(recipe), recipe).entries if e.name.startswith(("contact.", "plane."))]
    assert [name for name in own if "friction" in name] == ["contact.friction.skin"]
    assert [name for name in own if "load" in name] == ["contact.load.skin", "contact.load.elbow"]
    assert [name for name in own if "half" in name] == ["contact.half.skin.y", "contact.half.skin.z"]
    assert [name for name in own if "point.hand" in name or "slope.table" in name] == [
        "plane.slope.table.1", "plane.slope.table.2",
    ]  # fmt: skip
    assert "contact.point.elbow.x" in own


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"friction": 0.3}, 'surface "skin": its contacts have different friction (hand 0.5, thumb 0.3)'),
        ({"link": "upper"}, 'surface "skin": its contacts have different link (hand fore, thumb upper)'),
        ({"name": "skin", "surface": "other"}, 'surface "skin": a contact of that name is none of it'),
    ],
)
def test_refused_surfaces(change: dict[str, object], words: str, tmp_path: Path) -> None:
    mechanism = reaching_arm()
    mechanism.contacts[0]["surface"] = "skin"
    mechanism.contacts.append({**mechanism.contacts[0], "name": "thumb", "against": "table", **change})
    assert words in faults(mechanism, tmp_path)


def test_friction_at_its_bounds_is_taken(tmp_path: Path) -> None:
    for friction in (1e-3, 10.0):
        mechanism = reaching_arm()
        mechanism.contacts[0] |= {"friction": friction}
        assert read(mechanism, tmp_path).contacts[0].friction == friction


def test_refused_pairs_and_planes(tmp_path: Path) -> None:
    mechanism = reaching_arm()
    mechanism.planes[1]["normal"] = (0.0, 0.0, 0.0)
    mechanism.contacts[2] |= {"against": "hand", "friction": 0.1}
    mechanism.contacts[3] |= {"radius": 0.0}
    del mechanism.contacts[0]["friction"]
    message = faults(mechanism, tmp_path)
    for words in (
        'plane "wall": its normal [0, 0, 0] has no direction',
        'contact "hand" against "knob": each names the other; once is enough',
        'contact "elbow" against "post": both are points, which never meet; one needs a radius',
        'contact "hand": friction is missing',
        "4 errors",
    ):
        assert words in message


def test_a_plane_that_nothing_touches_is_a_doubt(tmp_path: Path) -> None:
    mechanism = reaching_arm()
    mechanism.contacts[0]["against"] = ["table", "tray", "knob"]
    doubts = read_doubted(load_recipe(mechanism.write(tmp_path, "made")))[1]
    assert [doubt.names for doubt in doubts if doubt.code == "contact"] == [("world", "wall")]


def test_collision_shapes(tmp_path: Path) -> None:
    box, ball = '<box size="0.2 0.4 0.6"/>', '<sphere radius="0.05"/>'
    rod, pill = '<cylinder radius="0.02" length="0.3"/>', '<capsule radius="0.02" length="0.3"/>'
    robot = taken(shaped(box, ball, rod, pill), tmp_path, "fore")
    assert [c.name for c in robot.contacts] == [f"fore.{k + 1}" for k in range(13)]
    assert {c.against for c in robot.contacts} == {("table",)}
    corners = np.array([c.point for c in robot.contacts[:8]])
    np.testing.assert_allclose(np.abs(corners - [0.1, 0.0, 0.0]), np.tile([0.3, 0.2, 0.1], (8, 1)), atol=1e-15)
    assert len({tuple(np.sign(corner - [0.1, 0.0, 0.0])) for corner in corners}) == 8
    rest = [(round(c.point[0], 12), c.radius) for c in robot.contacts[8:]]
    assert rest == [(0.1, 0.05), (-0.03, 0.02), (0.23, 0.02), (-0.05, 0.02), (0.25, 0.02)]
    recipe = with_options(load_recipe(tmp_path / "made.toml"), contact_from_collision=("fore=table",))
    robot, doubts = read_doubted(recipe)
    (doubt,) = [doubt.message for doubt in doubts if doubt.code == "collision"]
    assert doubt.startswith('contact from collision of "fore": shape 3: a cylinder becomes the two spheres')
    assert not read_robot(load_recipe(tmp_path / "made.toml")).contacts  # never without being asked


def test_check_says_which_contacts(tmp_path: Path) -> None:
    path = reaching_arm().write(tmp_path, "made")
    found = CliRunner().invoke(cli, ["check", str(path)])
    assert found.exit_code == 0, found.output
    assert 'contact "hand": sphere of 0.03 m on fore against plane "table" on the world, friction 0.5' in found.output
    assert 'contact "elbow": point on upper against sphere "post" on the world, no friction' in found.output
    shaped('<mesh filename="a.stl"/>').write(tmp_path, "made")
    found = CliRunner().invoke(cli, ["check", "--json", str(path), "--contact-from-collision", "fore"])
    assert found.exit_code == 1
    (fault,) = json.loads(found.output)["faults"]
    assert (fault["code"], fault["links"]) == ("collision", ["fore"])
