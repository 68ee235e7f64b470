"""Which pairs the distances of a closed mechanism watch: those that may touch while its loop is closed.

The four-bar's coupler and rocker meet at the hinge that closes the loop, which no parent link tells. A post on the base stands
where the coupler comes by in a few closed poses, another one where only an open coupler would. Closed forms judge.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from support import mechanisms
from support.robots import generated

import diffpbd
from diffpbd.runtime import Robot, load

LENGTHS = {"crank": 0.3, "coupler": 0.8, "rocker": 0.6}
RADIUS = 0.02
HIT, MISSED = (-0.1, 0.35), (0.1, 0.62)  # m, in the plane
POST = '<collision name="{}"><origin xyz="{} 0 {}"/><geometry><sphere radius="0.05"/></geometry></collision>'


def rod(length: float) -> str:
    """A capsule along the whole bar, from hinge to hinge."""
    return (
        f'<collision><origin xyz="{length / 2} 0 0" rpy="0 {np.pi / 2} 0"/><geometry>'
        f'<capsule radius="{RADIUS}" length="{length}"/></geometry></collision></link>'
    )


@pytest.fixture(scope="module")
def bars() -> Robot:
    plain = mechanisms.four_bar()
    links = [link.replace("</link>", rod(LENGTHS[link.split('"')[1]])) for link in plain.links]
    posts = "".join(POST.format(name, *place) for name, place in (("hit", HIT), ("missed", MISSED)))
    root = f'<link name="base">{posts}</link>'
    assert plain.root == '<link name="base"/>'
    recipe = mechanisms.in_cache(
        dataclasses.replace(plain, links=links, root=root), "four_bar_shapes", sources="mechanisms"
    )
    return load(generated(str(recipe), clearance=True, functions=("joint_step", "mpc")))


def closed_poses(robot: Robot) -> np.ndarray:
    """Poses for a whole turn of the crank."""
    p, found = np.array([0.9, -0.483, 1.1991]), []
    for turn in np.linspace(0.9, 0.9 + 2.0 * np.pi, 200):
        p = robot.close_loops(np.r_[turn, p[1:]], [1.0, 0.0, 0.0])
        found.append(p)
    return np.array(found)


def from_post(p: np.ndarray, place: tuple[float, float]) -> float:
    """Distance [m] of the coupler from a post."""
    start = 0.3 * np.array([np.cos(p[0]), np.sin(p[0])])
    along = 0.8 * np.array([np.cos(p[0] + p[1]), np.sin(p[0] + p[1])])
    share = np.clip((np.array(place) - start) @ along / (along @ along), 0.0, 1.0)
    return float(np.linalg.norm(np.array(place) - start - share * along)) - 0.05 - RADIUS


def test_pairs_are_those_of_closed_poses(bars: Robot) -> None:
    clearance = bars.manifest.clearance
    assert clearance is not None
    assert clearance.rows == (("crank", "base.1"), ("coupler", "base.1"))
    always = clearance.unwatched["touch by their make, in 95 % of poses or more"]
    assert set(always) == {("coupler", "crank"), ("rocker", "coupler")}
    assert ("coupler", "base.2") in clearance.unwatched["never touched in 10000 poses"]


def test_an_open_coupler_would_reach_the_other_post() -> None:
    """So a search in open poses would watch it."""
    open_poses = np.random.default_rng(0).uniform(-np.pi, np.pi, (2000, 2))
    assert min(from_post(p, MISSED) for p in open_poses) < 0.0


def test_distances_are_those_of_closed_poses(bars: Robot) -> None:
    poses = closed_poses(bars)
    wanted = np.array([[from_post(p, place) for place in (HIT, MISSED)] for p in poses])
    assert wanted[:, 0].min() < -0.005 and wanted[:, 1].min() > 0.02
    found = np.asarray(bars.clearance(poses))[:, 1]
    np.testing.assert_allclose(np.maximum(found, -RADIUS), np.maximum(wanted[:, 0], -RADIUS), atol=1e-7)


@pytest.mark.parametrize(("turn", "free"), [(1.2, True), (2.3, False)])
def test_a_goal_is_refused_for_the_post_not_for_the_hinge(bars: Robot, turn: float, free: bool) -> None:
    """Links that meet at the loop's hinge are not too near; a coupler in the post is."""
    poses = closed_poses(bars)
    there = poses[np.abs(poses[:, 0] - turn).argmin()]
    assert (from_post(there, HIT) > 0.02) == free
    mpc = diffpbd.Mpc(bars, horizon=8, clearance=0.01)
    run = mpc.run_to({"j1": there[0]}, q0=poses[0], duration=3.0, within=None)
    assert (abs(run.q[-1, 0] - there[0]) < 0.01) == free
    assert min(from_post(p, HIT) for p in run.q) > 0.009
