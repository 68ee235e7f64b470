"""Rows of closed loops: which are kept, what is refused with names and figures, what parameters would open the others."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest
from click.testing import CliRunner
from support.mechanisms import MECHANISMS, Mechanism, delta, four_bar, slider_crank
from support.small.overclosed import rockers, wheels

from diffpbd.codegen.description.front.resolve import find_recipe, read_robot
from diffpbd.codegen.description.report import DescriptionError
from diffpbd.codegen.description.robot.robot import IDENTITY, ZERO, Joint, Robot
from diffpbd.codegen.graph.expressions.translate import inline
from diffpbd.codegen.graph.loops import poses as loop_poses
from diffpbd.codegen.graph.loops.build import build, chosen_rows, probe
from diffpbd.codegen.graph.loops.motion import SHARE
from diffpbd.codegen.graph.loops.poses import Probe
from diffpbd.codegen.graph.loops.rows import choose
from diffpbd.codegen.graph.model.model import Chosen, Model, independent
from diffpbd.codegen.joint_space.loops import closures
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.joint_types import CONTINUOUS
from diffpbd.runtime.commands.check import command

SYMBOLIC = 'symbolic = ["mass", "origin", "loop"]'


def made(mechanism: Mechanism, folder: Path, recipe: str = "") -> tuple[Chosen, Model]:
    found = find_recipe(str(mechanism.write(folder, "made", recipe)))
    robot = read_robot(found)
    return chosen_rows(robot, found), build(robot, found)


def refused(mechanism: Mechanism, folder: Path, recipe: str = "") -> str:
    with pytest.raises(DescriptionError) as caught:
        made(mechanism, folder, recipe)
    return str(caught.value)


EXPECTED = {
    "four_bar": ([(0, 1)], 1),
    "parallelogram": ([(0, 1)], 1),
    "five_bar": ([(0, 1)], 2),
    "watt": ([(0, 1), (0, 1)], 1),
    "slider_crank": ([(0, 1)], 1),
    "spatial_four_bar": ([(0,)], 1),
    "bennett": ([(2, 3)], 1),
    "delta": ([(0, 1, 2, 3, 4), (0, 1, 2, 3, 4)], 3),
}


@pytest.mark.thorough("watt", "delta", "spatial")
@pytest.mark.parametrize("name", EXPECTED)
def test_rank_mobility_and_the_gradient(name: str, tmp_path: Path) -> None:
    """Kept rows; A by wrenches equals differentiation of g by CasADi, on the loop and off it."""
    chosen, model = made(MECHANISMS[name](), tmp_path)
    kept, mobility = EXPECTED[name]
    assert (list(chosen.kept), chosen.mobility) == (kept, mobility)
    assert model.tree.rows == chosen.rank
    program = closures.rows(model.tree, True)
    p = ca.SX.sym("p", model.tree.freedoms)
    found = inline(program, {k: p if k == "p" else model.blocks[k] for k in program.inputs})
    f = ca.Function("f", [p, model.alpha], [found["A"], ca.jacobian(found["g"], p)])
    for seed in range(3):
        A, wanted = f(np.random.default_rng(seed).standard_normal(p.numel()), [e.default for e in model.entries])
        np.testing.assert_allclose(np.array(A), np.array(ca.densify(wanted)), rtol=0, atol=1e-14)


@pytest.mark.thorough
def test_parameters_that_open_dropped_rows_stay_numbers(tmp_path: Path) -> None:
    chosen, model = made(four_bar(), tmp_path, SYMBOLIC)
    names = {entry.name for entry in model.entries}
    in_plane = {
        "origin.j2.x",
        "origin.j2.z",
        "origin.j2.pitch",
        "loop.origin.four_bar.parent.x",
        "loop.origin.four_bar.child.z",
    }
    across = {"origin.j2.y", "origin.j2.roll", "loop.origin.four_bar.parent.y", "loop.origin.four_bar.child.yaw"}
    assert in_plane <= names
    assert not across & names
    assert across <= set(chosen.opening)
    assert any("not made symbolic" in doubt.message and '"origin.j1.y"' in doubt.message for doubt in chosen.doubts)
    # nothing is dropped in a delta, so nothing stays a number
    assert made(delta(), tmp_path, SYMBOLIC)[0].opening == ()


def test_loop_that_cannot_close(tmp_path: Path) -> None:
    mechanism = four_bar()
    mechanism.joints[2] = mechanism.joints[2].replace("0.7 0.0 0.0", "1.75 0.0 0.0")  # 0.3 + 0.8 + 0.6 < 1.75
    message = refused(mechanism, tmp_path)
    assert 'loop "four_bar" does not close: nearest pose has a gap of 0.05 m' in message
    assert "j1 = " in message
    assert "0 of 80 starts closed, 8 are needed" in message


def test_case_of_a_loop_that_cannot_close(shared: Path) -> None:
    recipe = find_recipe(str(shared / "cases" / "P16-two-roots-and-loop" / "closed_loop.urdf"))
    with pytest.raises(DescriptionError, match=r'loop "j0" does not close: nearest pose has a gap of 0\.1'):
        build(read_robot(recipe), recipe)


def test_poses_about_zero_where_those_all_over_do_not_close(monkeypatch: pytest.MonkeyPatch) -> None:
    """As of a robot with many joints."""

    def only_near(_: object, p: np.ndarray) -> tuple[np.ndarray, float]:
        return p, 0.0 if np.linalg.norm(p) < 0.5 else 1.0

    joints = tuple(Joint(f"j{k}", CONTINUOUS, k - 1, IDENTITY, ZERO, (0.0, 0.0, 1.0)) for k in range(20))
    robot = Robot("long", "base", joints, (), ())
    monkeypatch.setattr(loop_poses, "close", only_near)
    poses, (nearest, left) = loop_poses.closed_poses(loop_poses.Probe(robot, lambda p: (p, p), lambda p: p, ()))
    assert len(poses) >= loop_poses.FEWEST and left == 0.0 and np.linalg.norm(nearest) < 0.5


@pytest.mark.thorough
def test_anchors_off_in_their_last_digits(tmp_path: Path) -> None:
    """A four-bar is one, whatever the last digits of its frames say; the dropped row's gap is said."""
    for digit in (2e-4, 2e-10):
        mechanism = four_bar()
        mechanism.loops[0]["parent_xyz"] = (0.8, digit, 0.0)
        chosen, _ = made(mechanism, tmp_path)
        assert (chosen.kept, chosen.mobility) == (((0, 1),), 1)
        assert f"four_bar.gap_y by {digit:.1e} m" in chosen.doubts[0].message
        assert chosen.slack == pytest.approx((0, 0, 10 * digit, 0, 0), abs=1e-12)
        mechanism.loops[0]["type"] = "ball"
        assert made(mechanism, tmp_path)[0].mobility == 1
    mechanism = four_bar()
    mechanism.loops[0] |= {"parent_xyz": (0.8, 0.0, 0.0), "parent_rpy": (1e-6, 0.0, 0.0)}
    chosen, _ = made(mechanism, tmp_path)
    assert chosen.mobility == 1
    assert "tilt_z by 1.0e-06 rad" in chosen.doubts[0].message or "tilt_x by 1.0e-06 rad" in chosen.doubts[0].message


@pytest.mark.thorough
def test_what_is_off_by_more_is_refused_with_what_was_tried(tmp_path: Path) -> None:
    """A tilt of 3 mrad is no rounding: refused, and the remedy that is named is tried here on the same file."""
    mechanism = four_bar()
    mechanism.loops[0]["parent_rpy"] = (3e-3, 0.0, 0.0)
    message = refused(mechanism, tmp_path)
    assert 'use type ball for loop "four_bar"' in message
    mechanism.loops[0]["type"] = "ball"
    assert made(mechanism, tmp_path)[0].mobility == 1
    mechanism.loops[0]["parent_xyz"] = (0.8, 3e-3, 0.0)
    assert "type ball" not in refused(mechanism, tmp_path)
    mechanism = four_bar()  # closed twice, the second time beside it
    mechanism.loops.append({**mechanism.loops[0], "name": "again", "parent_xyz": (0.8, 3e-3, 0.0)})
    message = refused(mechanism, tmp_path)
    assert 'leave loop "again" out' in message
    del mechanism.loops[1]
    assert made(mechanism, tmp_path)[0].mobility == 1


def test_singular_pose_inside_the_limits_is_searched_and_named(tmp_path: Path) -> None:
    mechanism = slider_crank()
    assert made(mechanism, tmp_path)[0].doubts == ()
    mechanism.joints[1] = mechanism.joints[1].replace("0.2 0.0 0.0", "0.5 0.0 0.0")  # as long as the rod: it folds
    mechanism.joints[2] = mechanism.joints[2].replace("0.0 0.0 0.05", "0.0 0.0 0.0")
    chosen, _ = made(mechanism, tmp_path)
    (doubt,) = chosen.doubts
    assert "inside the limits lies a nearly singular pose" in doubt.message
    assert chosen.least < 1e-3


@pytest.mark.parametrize(("share", "refused_"), [(0.0, False), (0.5, True)])
def test_rank_that_is_less_at_some_closed_poses(share: float, refused_: bool, tmp_path: Path) -> None:
    """Rows made up: a second one that says nothing where j1 is below a part of its range."""
    robot = read_robot(find_recipe(str(four_bar().write(tmp_path, "made"))))

    def rows(p: Any) -> tuple[Any, Any]:
        A = np.zeros((5, 3))
        A[0, 0] = 1.0
        A[1, 1] = float(p[0] > np.pi * (2 * share - 1) - 1e-12)
        return np.zeros(5), A

    chosen = choose(Probe(robot, rows, lambda p: np.zeros((5, 0)), ()))
    assert bool(chosen.faults) == refused_
    if refused_:
        (fault,) = chosen.faults
        assert 'loop "four_bar": closes in motions of different mobility: rank ' in fault.message
        assert "rank 2 (mobility 1) near j1 = " in fault.message
        assert "rank 1 (mobility 2) near j1 = -" in fault.message
        assert fault.message.endswith("narrow the limits to one")


def test_loop_that_holds_by_itself_is_refused(tmp_path: Path) -> None:
    """A hinge beside a hinge of the tree, turned so that rounding is left."""
    mechanism = four_bar()
    beside = {"parent": "crank", "parent_xyz": (0.1, 0.2, 0.1), "parent_rpy": (0.0, 0.3, 0.0)}
    mechanism.loops = [{**mechanism.loops[0], **beside, "child": "base", "child_xyz": (0.0, 0.2, 0.0)}]
    mechanism.loops[0]["parent_xyz"] = (0.0, 0.2, 0.0)
    assert 'loop "four_bar": its rows hold at every pose: it closes nothing; leave it out' in refused(
        mechanism, tmp_path
    )


def test_limits_beyond_all_measure_are_none(tmp_path: Path) -> None:
    mechanism = four_bar()
    wide = 'type="revolute"><limit lower="-1e308" upper="1e308" effort="1" velocity="1"/><parent link="crank"'
    mechanism.joints = [j.replace('type="continuous"><parent link="crank"', wide) for j in mechanism.joints]
    assert any("1e308" in j for j in mechanism.joints)
    assert made(mechanism, tmp_path)[0].mobility == 1


def test_rigid_loop_is_a_doubt(tmp_path: Path) -> None:
    mechanism = four_bar()
    mechanism.loops.append({**mechanism.loops[0], "name": "again"})  # fixes the same motion twice: selected together
    chosen, model = made(mechanism, tmp_path)
    assert (model.tree.rows, chosen.mobility, chosen.doubts) == (2, 1, ())
    brace = {"name": "brace", "type": "distance", "parent": "base", "parent_xyz": (0.0, 0.0, 0.5)}
    mechanism.loops[1] = {**brace, "child": "coupler", "child_xyz": (0.1, 0.0, 0.2), "length": 0.5}
    chosen, model = made(mechanism, tmp_path)
    assert chosen.mobility == 0
    assert any("mobility is 0" in doubt.message for doubt in chosen.doubts)


def test_check_reports_rows(tmp_path: Path) -> None:
    path = four_bar().write(tmp_path, "made")
    done = CliRunner().invoke(command, [str(path)])
    assert done.exit_code == 0, done.output
    assert "rows kept gap_x, gap_z; dropped gap_y, tilt_x, tilt_z" in done.output
    assert "mobility 1, largest residual at zero 0.2" in done.output
    assert "passive: j2, j3" in done.output
    as_json = json.loads(CliRunner().invoke(command, [str(path), "--json"]).output)
    assert len(as_json["loops"]) == 3
    mechanism = four_bar()
    mechanism.loops[0]["parent_xyz"] = (0.1, 0.0, 0.0)
    mechanism.joints[2] = mechanism.joints[2].replace("0.7 0.0 0.0", "1.75 0.0 0.0")
    done = CliRunner().invoke(command, [str(mechanism.write(tmp_path, "open"))])
    assert (done.exit_code, "does not close" in done.output) == (1, True)


def test_selection_repeats_itself(tmp_path: Path) -> None:
    found = find_recipe(str(MECHANISMS["bennett"]().write(tmp_path, "made")))
    robot = read_robot(found)
    first = chosen_rows(robot, found)
    chosen_rows.cache_clear()
    assert dataclasses.astuple(chosen_rows(robot, found)) == dataclasses.astuple(first)


@pytest.mark.thorough
def test_every_row_is_kept_where_they_depend_by_their_form_alone(tmp_path: Path) -> None:
    chosen, model = made(MECHANISMS["watt"](), tmp_path, 'loop_rows = "all"')
    assert chosen.kept == ((0, 1, 2, 3, 4),) * 2
    assert chosen.independent == ((0, 1), (0, 1))
    assert (model.tree.rows, model.tree.redundant, chosen.mobility) == (10, 6, 1)
    assert independent(model).tree.rows == 4
    _, full = made(MECHANISMS["delta"](), tmp_path, 'loop_rows = "all"')
    assert (full.tree.rows, full.tree.redundant) == (10, 0)
    _, dimensions = made(MECHANISMS["bennett"](), tmp_path, 'loop_rows = "all"')
    assert (dimensions.tree.rows, dimensions.tree.redundant) == (5, 3)
    text = refused(slider_crank(), tmp_path, 'limits = true\nloop_rows = "all"')
    assert 'loop_rows = "all": loop "pin": limits act, whose step takes independent rows' in text
    text = refused(four_bar(), tmp_path, 'friction_law = ["stribeck"]\nloop_rows = "all"')
    assert "its law of friction has more parts" in text
    open_chain = four_bar()
    open_chain.loops = []
    found = find_recipe(str(open_chain.write(tmp_path, "made", 'loop_rows = "all"')))
    with pytest.raises(DescriptionError, match='loop_rows = "all": no loop closes this robot'):
        build(read_robot(found), found)
    with pytest.raises(InputError, match='loop_rows = "some" is not known; one of kept, all is expected'):
        made(four_bar(), tmp_path, 'loop_rows = "some"')


def test_rows_are_kept_that_stay_regular_along_the_motion(tmp_path: Path) -> None:
    """C02: of four rows three count; the first choice at closed poses was none between them. Where no three are regular all
    the way, four are kept."""
    limit = '<limit lower="0.2" upper="2.9" effort="1" velocity="1"/>'
    chosen, model = made(rockers(limit), tmp_path)
    assert (chosen.kept, model.tree.redundant) == (((0,), (0, 1)), 0)
    shares, (every, _) = [], probe(model.robot, model.recipe)
    for angle in np.linspace(0.2, 2.9, 50):
        p = angle * np.array([1.0, -1.0, 1.0, 1.0])
        A = every.rows(p)[1]
        shares.append(np.linalg.svd(A[[0, 5, 6]])[1][2] / np.linalg.svd(A)[1][2])
    assert min(shares) > SHARE
    chosen, model = made(wheels(), tmp_path)
    assert (chosen.kept, chosen.rank, model.tree.redundant, chosen.mobility) == (((0, 1), (0, 1)), 3, 1, 1)
    assert chosen.doubts == ()
    chosen, model = made(wheels(), tmp_path, 'friction_law = ["stribeck"]')  # whose step cannot choose
    assert model.tree.redundant == 0
    assert any("nearly depend on each other near" in doubt.message for doubt in chosen.doubts)


def test_singular_poses_and_branches_are_told_apart(tmp_path: Path) -> None:
    """The third rocker turns all round: stretched out, it is singular, and generated."""
    chosen, _ = made(rockers(), tmp_path)
    assert (chosen.rank, chosen.mobility) == (3, 1)
    doubts = {doubt.code: doubt.message for doubt in chosen.doubts}
    assert "closed poses that were found are singular, as j0 = " in doubts["loop-singular-pose"]
    robot = read_robot(find_recipe(str(four_bar().write(tmp_path, "made"))))

    def rows(p: Any) -> tuple[Any, Any]:
        """Rows made up: a circle of j1, j2 in the plane j3 = 0, and a pose beside it that is rigid."""
        on, away = float(p @ p - 1.0), p - [2.0, 0.0, 0.0]
        if p[0] > 1.2:
            return np.array([*away, 0.0, 0.0]), np.vstack([np.eye(3), np.zeros((2, 3))])
        return np.array([on, p[2], 0.0, 0.0, 0.0]), np.vstack([2 * p, [0.0, 0.0, 1.0], np.zeros((3, 3))])

    chosen = choose(Probe(robot, rows, lambda p: np.zeros((5, 0)), ()))
    assert (chosen.faults, chosen.rank, chosen.mobility) == ((), 2, 1)
    (doubt,) = (doubt for doubt in chosen.doubts if doubt.code == "loop-rigid-branch")
    assert "in which nothing moves, as j1 = 2, j2 = " in doubt.message
