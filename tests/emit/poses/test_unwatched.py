"""Which pairs of links the distances watch, and what is said of others: links without a shape, neighbours, an SRDF."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from support.robots import generated

from diffpbd.runtime import Robot, load
from diffpbd.runtime.cli import cli
from diffpbd.runtime.folder.manifest import Clearance
from diffpbd.runtime.folder.unwatched import not_watched

LINK = """<link name="{0}"><inertial><origin xyz="0 0 -0.2"/><mass value="1"/>
<inertia ixx="0.02" iyy="0.02" izz="0.004" ixy="0" ixz="0" iyz="0"/></inertial>{1}</link>"""
JOINT = """<joint name="{0}" type="revolute"><parent link="{1}"/><child link="{2}"/><origin xyz="0 0 {3}"/><axis xyz="0 1 0"/>
<limit lower="-{4}" upper="{4}" effort="50" velocity="10"/></joint>"""
SHAPE = '<collision><origin xyz="{0} 0 {1}"/><geometry>{2}</geometry></collision>'
BOX = SHAPE.format(0.5, -0.45, '<box size="0.2 0.2 0.2"/>')
LENGTH, RADIUS, REACH = 0.4, 0.05, 0.28  # m: of link a, of the sphere on b, and how far from b's joint it is


def arm(of_a: str, of_b: str, last: float = 1.5) -> str:
    """A box on the base, two hinges below, links a and b."""
    return "".join((
        f'<robot name="arm"><link name="base">{BOX}</link>', LINK.format("a", of_a), LINK.format("b", of_b),
        JOINT.format("j1", "base", "a", 0, 1.5), JOINT.format("j2", "a", "b", -LENGTH, last), "</robot>",
    ))  # fmt: skip


SPHERE = SHAPE.format(0, -REACH, f'<sphere radius="{RADIUS}"/>')
ROD = '<capsule radius="0.04" length="{}"/>'


def made(folder: Path, text: str) -> Robot:
    file = folder / "arm.urdf"
    file.write_text(text, encoding="utf-8")
    return load(generated(str(file), functions=("inverse_dynamics",), clearance=True, obstacles=("spheres=1",)))


def clearance_of(robot: Robot) -> Clearance:
    assert robot.manifest.clearance is not None
    return robot.manifest.clearance


def from_box(q: np.ndarray) -> float:
    """Distance [m] of the sphere from the box, in the plane of the arm, below 0 where it is not outside."""
    first, both = q[0], q[0] + q[1]
    x, z = -LENGTH * np.sin(first) - REACH * np.sin(both), -LENGTH * np.cos(first) - REACH * np.cos(both)
    away = np.maximum(np.abs([x - 0.5, z + 0.45]) - 0.1, 0.0)
    return float(np.linalg.norm(away)) - RADIUS


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    """Link a has mass and no shape."""
    return made(tmp_path_factory.mktemp("bare"), arm("", SPHERE))


def test_a_link_without_a_shape_hides_no_pair(bare: Robot) -> None:
    clearance = clearance_of(bare)
    assert (
        clearance.rows == (("b", "base"), ("b", "spheres 0")) and clearance.bare == ("a",) and not clearance.unwatched
    )
    inside = 0
    far = np.array([[100.0], [0.0], [0.0], [0.0]])
    for q in np.random.default_rng(0).uniform(-1.5, 1.5, (300, 2)):
        found, wanted = float(bare.clearance(q, spheres=far)[0]), from_box(q)
        inside += wanted < 0.0
        assert found == pytest.approx(wanted, abs=1e-8) or (found < wanted == -RADIUS)
    assert inside > 5


def test_info_says_what_is_not_watched(bare: Robot) -> None:
    said = CliRunner().invoke(cli, ["info", str(bare.folder)])
    assert said.exit_code == 0 and "not watched, without a shape: a\n" in said.output, said.output


def test_neighbours_are_watched_where_they_fold_onto_each_other(tmp_path: Path) -> None:
    """b turns by nearly half a turn and folds onto a in a few poses; a rod that ends at the joint is near a in all."""
    folded = made(tmp_path, arm(SHAPE.format(0, -0.15, ROD.format(0.2)), SPHERE, last=3.0))
    assert ("b", "a") in clearance_of(folded).rows
    held = made(tmp_path, arm(SHAPE.format(0, -0.2, ROD.format(0.4)), SHAPE.format(0, -0.2, ROD.format(0.4))))
    assert held is not None and ("b", "a") not in clearance_of(held).rows
    assert clearance_of(held).unwatched["touch by their make, in 95 % of poses or more"] == (("b", "a"),)


@pytest.mark.parametrize(("gap", "watched"), [(0.028, False), (0.032, True)])
def test_how_far_apart_neighbours_must_come(tmp_path: Path, gap: float, watched: bool) -> None:
    """Spheres on both sides of the joint: `gap` [m] apart where it is straight, and touching where it is folded."""
    radius = 0.1
    place = (gap + 2.0 * radius) / 2.0
    ball = f'<sphere radius="{radius}"/>'
    robot = made(tmp_path, arm(SHAPE.format(0, -LENGTH + place, ball), SHAPE.format(0, -place, ball), last=2.0))
    assert (("b", "a") in clearance_of(robot).rows) == watched
    close = clearance_of(robot).unwatched.get("neighbours that are never more than 3 cm apart", ())
    assert (close == (("b", "a"),)) != watched


def test_pairs_of_an_srdf_are_listed(tmp_path: Path) -> None:
    (tmp_path / "arm.srdf").write_text(
        '<robot name="arm"><disable_collisions link1="b" link2="base" reason="User"/></robot>'
    )
    robot = made(tmp_path, arm("", SPHERE))
    assert clearance_of(robot).unwatched == {"disabled in the SRDF": (("b", "base"),)}
    assert clearance_of(robot).rows == (("b", "spheres 0"),)


def test_a_long_list_is_cut_where_it_is_no_result() -> None:
    pairs = tuple((f"link{k}", other) for k in range(10) for other in ("base", "table"))
    clearance = Clearance((), (), {}, (), {"never touched": pairs}, tuple(f"bare{k}" for k in range(9)))
    short, bare = not_watched(clearance)
    assert short.startswith("not watched, never touched: link0 and base, table; link1 and base, table")
    assert short.endswith("link7 and base, table, and more pairs (4), see `diffpbd info`")
    assert bare.endswith("bare7, and more links (1), see `diffpbd info`")
    whole, every = not_watched(clearance, most=None)
    assert "link9 and base, table" in whole and ", and more" not in whole and every.endswith("bare8")
