"""A robot's distances by name, motions that keep them, and what is refused for them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from support.judges.coal import distance, of_shape, placed
from support.robots import generated, loaded
from support.small import arm_of_shapes

from diffpbd.runtime import InputError, Robot, load
from diffpbd.runtime.cli import cli
from diffpbd.runtime.commands.info import describe
from diffpbd.runtime.commands.simulate import summary
from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.excite import Wishes, excitation, excite
from diffpbd.runtime.excite.fourier import Fourier
from diffpbd.runtime.loop.clearance import watched
from diffpbd.runtime.loop.configuration import Configuration, limits_of
from diffpbd.runtime.loop.reflexes import Reflex, Reflexes, ReflexSettings
from diffpbd.runtime.loop.supervisor import Settings
from diffpbd.runtime.model.clearance import Distances, apart_throughout, expect_apart, least_distance, near, obstacles
from diffpbd.runtime.model.shapes import clearance_meshes, link_frames
from diffpbd.runtime.simulate.simulation import Run


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    file = arm_of_shapes.write(tmp_path_factory.mktemp("shapes"))
    return load(generated(str(file), functions=("inverse_dynamics",), clearance=True))


@pytest.fixture(scope="module")
def distances(arm: Robot) -> Distances:
    return Distances(arm, arm.alpha.defaults)


@pytest.fixture(scope="module")
def folded(arm: Robot, distances: Distances) -> np.ndarray:
    """A pose in which the arm goes into itself, its limits kept."""
    rng = np.random.default_rng(0)
    poses = rng.uniform(0.9 * arm.limits.lower, 0.9 * arm.limits.upper, (2000, arm.n))
    values = distances.at(poses)
    return poses[int(np.argmin(values.min(axis=1)))]


@pytest.fixture(scope="module")
def free(arm: Robot, distances: Distances) -> np.ndarray:
    rng = np.random.default_rng(1)
    poses = rng.uniform(0.5 * arm.limits.lower, 0.5 * arm.limits.upper, (500, arm.n))
    return poses[int(np.argmax(distances.at(poses).min(axis=1)))]


def test_words_name_the_nearest_pair(arm: Robot, distances: Distances, folded: np.ndarray, free: np.ndarray) -> None:
    values = distances.at(folded)
    k = int(np.argmin(values))
    assert values[k] < -0.01
    text = distances.words(values)
    assert text == f"{distances.pairs[k][0]} and {distances.pairs[k][1]} are {-values[k]:.4f} m into each other"
    found = near(arm, arm.alpha.defaults, 0.0)
    assert found is not None
    assert found(folded) == f"{text}, they may not touch"
    assert found(free) == ""
    wide = near(arm, arm.alpha.defaults, -1.0)
    assert wide is not None
    assert wide(folded) == ""
    with pytest.raises(InputError, match=f"The goal cannot be reached: {text}, 0.01 m are asked."):
        expect_apart(arm, arm.alpha.defaults, 0.01, [free, np.full(arm.n, np.nan), folded], "goal")
    expect_apart(arm, arm.alpha.defaults, None, [folded], "goal")


def test_a_robot_without_shapes_knows_nothing() -> None:
    robot = loaded("double_pendulum")
    assert near(robot, robot.alpha.defaults, 0.0) is None
    assert least_distance(robot, None) is None
    with pytest.raises(InputError, match="double_pendulum was generated without distances; .*--clearance"):
        least_distance(robot, 0.1)


def test_rates_of_distances_stay_within_the_reach(arm: Robot, distances: Distances) -> None:
    """`apart_throughout` builds on this: no derivative is above the reach of its joint."""
    rng = np.random.default_rng(2)
    slopes = np.abs(distances.slopes(rng.uniform(arm.limits.lower, arm.limits.upper, (500, arm.n)))[1])
    assert (slopes <= distances.reach * distances.moving() + 1e-12).all()
    assert (slopes.max(axis=(0, 1)) > 0.1 * distances.reach)[1:].all()  # the first turns about the base's own sphere


def test_a_motion_is_looked_at_between_its_samples(
    arm: Robot, distances: Distances, folded: np.ndarray, free: np.ndarray
) -> None:
    """Towards the folded pose and back, with both samples at the free one; a hair's breadth from both sides."""
    time, way = np.array([0.0, 1.0]), 0.3 * (folded - free)

    def motion(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return free + np.outer(np.sin(np.pi * t) ** 2, way), np.outer(np.pi * np.sin(2.0 * np.pi * t), way)

    most = 2.0 * np.pi**2 * np.abs(way)
    dense = distances.at(motion(np.linspace(0.0, 1.0, 20_001))[0]).min()
    assert dense < distances.at(free).min() - 1e-3
    assert apart_throughout(distances, dense - 1e-3, time, motion, most)
    assert not apart_throughout(distances, dense + 1e-6, time, motion, most)


def test_accelerations_of_a_series_are_bounded() -> None:
    rng = np.random.default_rng(3)
    series, x = Fourier(3.0, 4), rng.normal(size=(2, 7))
    largest = np.abs(series.motion(x, np.linspace(0.0, 3.0, 3001))[2]).max(axis=0)
    bound = series.most_acceleration(x)
    assert (largest <= bound).all()
    assert (bound < 4.0 * largest).all()


def test_an_excitation_keeps_its_distance(arm: Robot, distances: Distances, monkeypatch: pytest.MonkeyPatch) -> None:
    """By coal at poses of pinocchio on samples twenty times as dense; one that does not ask goes through itself."""
    for name in ("SEARCH", "SCOUT"):
        monkeypatch.setattr(excitation, name, 4)
    monkeypatch.setattr(excitation, "STARTS", 1)
    least = {}
    for asked in (None, 0.03):
        found = excite(arm, Wishes(4.0, 2, 25.0, clearance=asked))
        assert (found.envelope.clearance is None) == (asked is None)
        times, q, dq = (getattr(found.motion, name) for name in ("time", "q", "dq"))
        fine = np.linspace(0.0, 4.0, 2001)
        k = np.minimum(np.searchsorted(times, fine, side="right") - 1, len(times) - 2)
        s, h = ((fine - times[k]) * 25.0)[:, None], 1.0 / 25.0
        between = (
            (1 + 2 * s) * (1 - s) ** 2 * q[k] + s * (1 - s) ** 2 * h * dq[k]
            + s**2 * (3 - 2 * s) * q[k + 1] + s**2 * (s - 1) * h * dq[k + 1]
        )  # fmt: skip
        least[asked] = distances.at(between).min()
    assert least[0.03] >= 0.03 - 1e-5  # a cubic between the samples is off by a few µm
    assert least[None] < 0.03


def test_a_distance_that_no_pose_keeps_is_refused(arm: Robot) -> None:
    with pytest.raises(InputError, match=r"--clearance 1 m cannot be kept: .* apart in the best of"):
        excite(arm, Wishes(4.0, 2, 25.0, clearance=1.0))


def configuration(arm: Robot, goal: list[float], clearance: float | None) -> Configuration:
    law = {"name": "impedance", "stiffness": [1.0] * 5, "damping": [1.0] * 5, "goal": goal, "goal_speed": 0.2}
    return Configuration(
        arm.name, arm.manifest.abi_hash, arm.joints, law, GravityOwner.ROBOT, arm.alpha.defaults, limits_of(arm),
        Settings(0.01), clearance=clearance,
    )  # fmt: skip


def test_a_run_refuses_goals_and_starts_and_ends(arm: Robot, folded: np.ndarray, free: np.ndarray) -> None:
    """A goal, a start, and a pose of the run in which the arm touches itself; the configuration crosses a log."""
    configuration(arm, folded.tolist(), None).check_goals(arm)
    made = configuration(arm, folded.tolist(), 0.0)
    with pytest.raises(InputError, match="The goal cannot be reached: .* into each other, they may not touch"):
        made.check_goals(arm)
    again = Configuration.from_json(json.loads(json.dumps(made.to_json())))
    assert again.clearance == 0.0
    under = again.supervisor(arm)
    assert "into each other" in under.refusal(folded, np.zeros(5))
    assert under.refusal(free, np.zeros(5)) == ""


def test_the_reflex_on_the_measured_pose(arm: Robot, folded: np.ndarray, free: np.ndarray) -> None:
    zero = np.zeros(5)
    for least, pose, trips in ((0.0, folded, True), (0.0, free, False), (-1.0, folded, False)):
        watching = watched(arm, arm.alpha.defaults, None, least)
        reflexes = Reflexes(arm.joints, limits_of(arm), ReflexSettings(), clearance=watching)
        breach = reflexes.watch(0.0, pose, zero, None, zero)
        assert (breach is not None) == trips
        if breach is not None:
            assert breach.reflex is Reflex.COLLISION
            assert "into each other" in breach.text
    assert watched(arm, arm.alpha.defaults, None, None) is None


def test_predictive_control_refuses_goals_and_ways(
    arm: Robot, folded: np.ndarray, free: np.ndarray, tmp_path: Path
) -> None:
    def refused(q0: np.ndarray, goal: np.ndarray, *more: str) -> str:
        words = ["mpc", str(arm.folder), "--q0", json.dumps(q0.tolist()), "--goal", json.dumps(goal.tolist()), *more]
        return CliRunner().invoke(cli, [*words, "--out", str(tmp_path / "run.csv")]).output

    assert "The goal cannot be reached" in refused(free, folded)
    assert "The start of --q0 cannot be reached" in refused(folded, free)
    assert "they may not touch" in refused(folded, free)
    assert "cannot be reached" not in refused(free, folded, "--clearance", "-1")
    past = folded + 0.2 * (folded - free)
    past = np.clip(past, arm.limits.lower, arm.limits.upper)
    if Distances(arm, arm.alpha.defaults).at(past).min() > 0.0:
        assert "The straight way to the goal cannot be reached" in refused(free, past)


def test_a_simulation_says_where_it_goes_through_itself(
    arm: Robot, distances: Distances, folded: np.ndarray, free: np.ndarray
) -> None:
    q = np.stack([free, folded, free])
    run = Run(
        "joint_step", 0.5, arm.joints, np.array([0.0, 0.5, 1.0]), q, 0.0 * q, 0.0 * q, None, None, None, arm.joints
    )
    text = summary(arm, run, distances)
    assert "the motion goes through the robot itself in 1 of 3 samples: " in text
    assert "into each other at 0.5 s" in text
    still = Run("joint_step", 0.5, arm.joints, np.array([0.0]), q[:1], q[:1], q[:1], None, None, None, arm.joints)
    assert "nearest links: " in summary(arm, still, distances)
    assert "nearest" not in summary(arm, still)


def test_obstacles_are_filled_up(arm: Robot) -> None:
    assert obstacles(arm) == {}
    with pytest.raises(InputError, match="was generated without spheres"):
        obstacles(arm, spheres=[[0, 0, 0, 1]])


def test_the_judge_agrees(arm: Robot, folded: np.ndarray) -> None:
    """The depth in words is coal's."""
    import pinocchio as pin

    file = arm_of_shapes.URDF
    model = pin.buildModelFromXML(file)
    data = model.createData()
    pin.framesForwardKinematics(model, data, folded)
    frames = {
        f.name: (np.array(M.rotation), np.array(M.translation)) for f, M in zip(model.frames, data.oMf, strict=True)
    }
    frames["world"] = frames["base"]
    for link, (R, x) in link_frames(arm, folded).items():
        np.testing.assert_allclose(R, frames[link][0], atol=1e-12)
        np.testing.assert_allclose(x, frames[link][1], atol=1e-12)
    assert arm.manifest.clearance is not None
    shapes = {s.name: s for s in arm.manifest.clearance.shapes}
    own = Distances(arm, arm.alpha.defaults)
    values = own.at(folded)
    for k, (one, other) in enumerate(own.pairs):
        sides = [(of_shape(shapes[x]), *placed(shapes[x], *frames[shapes[x].link])) for x in (one, other)]
        assert values[k] == pytest.approx(distance(*sides[0], *sides[1]), abs=1e-8)


def test_pictures_and_words_of_the_shapes(arm: Robot) -> None:
    """The page has a mesh for each, as large as its shape; `info` names what is kept from what."""
    meshes = {shape.name: mesh for shape, mesh in clearance_meshes(arm)}
    assert arm.manifest.clearance is not None
    assert list(meshes) == [s.name for s in arm.manifest.clearance.shapes]
    np.testing.assert_allclose(meshes["two"].extents, [0.08, 0.1, 0.3])
    np.testing.assert_allclose(meshes["one"].extents, [0.1, 0.1, 0.3], rtol=0.02)
    np.testing.assert_allclose(meshes["one"].bounds.mean(axis=0), 0.0, atol=1e-9)
    text = describe(arm.manifest)
    assert re.search(r"^shape +on +kind +length or sides +radius +kept from", text, re.MULTILINE)
    assert re.search(r"^two +two +box +0.08 x 0.1 x 0.3 +0 +", text, re.MULTILINE)
    assert "never touched in 10000 poses" in text
