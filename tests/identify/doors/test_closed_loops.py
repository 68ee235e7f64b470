"""Identification of mechanisms with closed loops from their motors alone; torques by pinocchio, with every row of the loops."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from support.judges.closed import Judge
from support.mechanisms import MECHANISMS
from support.small.closed_robots import case

from diffpbd.runtime import Robot
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.identify import Settings, Wanted, identify, read_recordings, select
from diffpbd.runtime.logs.processing import Processing, Samples
from diffpbd.runtime.logs.recording import Reading
from diffpbd.runtime.model import closed

MOTORS = {"five_bar": ("j1", "j3"), "four_bar": ("j1",), "spatial_four_bar": ("j1", "j2")}
FRICTION = {"coulomb": 0.3, "viscous": 0.2}
WIDTH = 0.1  # rad/s over which Coulomb friction turns


def torques(judge: Judge, motors: Any, q: Any, dq: Any, ddq: Any, friction: Any) -> Any:
    """Of the motors: the tree's by pinocchio, less what the loops carry by every one of their rows."""
    model, data, v = judge.model, judge.data, judge.v
    found = np.zeros((len(q), len(motors)))
    for k in range(len(q)):
        x, rate, change = judge.q(q[k]), np.zeros(model.nv), np.zeros(model.nv)
        rate[v], change[v] = dq[k], ddq[k]
        tree = pin.rnea(model, data, x, rate, change)[v]
        tree += friction[0] * np.tanh(dq[k] / WIDTH) + friction[1] * dq[k]
        pin.forwardKinematics(model, data, x, rate, 0 * rate)
        pin.computeJointJacobians(model, data, x)
        pin.updateFramePlacements(model, data)
        A = judge._rows()[1][:, v]
        S = np.eye(len(tree))[:, motors]
        found[k] = np.linalg.lstsq(np.hstack([S, A.T]), tree, rcond=1e-9)[0][: len(motors)]
    return found


def recorded(name: str, count: int = 400, noise: float = 0.0) -> tuple[Robot, Samples, dict[str, float]]:
    """Closed motions of a mechanism that do not follow each other: no filter is between them and what is found of them."""
    c, rng = case(name), np.random.default_rng(3)
    robot, n = c.robot, c.robot.n
    motors = [robot.joints.index(j) for j in MOTORS[name]]
    q = robot.close_loops(c.p + 0.25 * rng.standard_normal((count, n)), np.zeros(n))
    own = closed.of(robot)
    assert own is not None
    q, dq, ddq = own.completed(q, rng.standard_normal((count, n)), 3.0 * rng.standard_normal((count, n)))
    friction = {kind: value * (1 + rng.random(n)) for kind, value in FRICTION.items()}
    tau = np.zeros((count, n))
    tau[:, motors] = torques(c.judge, motors, q, dq, ddq, tuple(friction.values()))
    tau += noise * rng.standard_normal((count, n))
    truth = {
        f"friction.{kind}.{j}": float(x) for kind, v in friction.items() for j, x in zip(robot.joints, v, strict=True)
    }
    time = np.arange(count) / 100.0
    return robot, Samples("made", robot.joints, time, q, dq, ddq, tau, 100.0, Processing(None)), truth


def start(robot: Robot) -> dict[str, float]:
    """Masses of half of what they are, and the width of friction."""
    masses = {f"mass.{link.name}": 0.5 * link.mass for link in robot.manifest.robot.links}
    return masses | {f"friction.transition_velocity.{joint}": WIDTH for joint in robot.joints}


@pytest.mark.parametrize("name", ["five_bar", "spatial_four_bar"])
def test_masses_and_friction_of_every_joint_come_from_the_motors(name: str) -> None:
    """One has as many motors as freedoms, the other one more: there the motors' part against each other is not told."""
    robot, samples, truth = recorded(name)
    truth |= {f"mass.{link.name}": link.mass for link in robot.manifest.robot.links}
    fit = ["mass", "friction.coulomb", "friction.viscous"]
    found = identify(robot, [samples], fit, start=start(robot))
    for entry, value in truth.items():
        assert found.parameters[entry] == pytest.approx(value, abs=2e-6), entry
    assert found.rank == found.unknowns == len(truth)
    passive = robot.manifest.robot.passive
    assert found.judged == tuple(j for j in robot.joints if j not in passive)


def test_a_joint_without_a_motor_has_no_sensor_to_be_offset() -> None:
    robot, samples, truth = recorded("five_bar")
    begin = start(robot) | truth | {f"mass.{link.name}": link.mass for link in robot.manifest.robot.links}
    found = identify(robot, [samples], ["torque_offset"], start=begin)
    assert {item.name for item in found.lost} == {"torque_offset.j2", "torque_offset.j4"}
    assert found.parameters["torque_offset.j1"] == pytest.approx(0.0, abs=1e-6)


def test_base_parameters_are_those_of_the_projected_regressor() -> None:
    robot, samples, _ = recorded("five_bar", noise=1e-3)
    found = identify(robot, [samples], ["inertials"], start=start(robot))
    own = closed.of(robot)
    assert own is not None
    columns = (own.projection(samples.q) @ robot.torque_terms(samples.q, samples.dq, samples.ddq))[..., :40]
    rank = np.linalg.matrix_rank(columns.reshape(-1, 40) / np.linalg.norm(columns.reshape(-1, 40), axis=0).max(), 1e-7)
    tree = robot.regressor(samples.q, samples.dq, samples.ddq).reshape(-1, 40)
    assert len(found.base) == rank < np.linalg.matrix_rank(tree, 1e-7)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> tuple[Robot, Path, Any]:
    """A table of the motors of a five-bar alone, steered round by its own step."""
    c, h = case("five_bar"), 0.005
    robot, motors = c.robot, [c.robot.joints.index(j) for j in MOTORS["five_bar"]]
    alpha = robot.alpha.vector({"friction.viscous.j2": 0.3, "mass.r2": 1.1})
    q, dq, last, rows = robot.close_loops(c.p, np.zeros(4)), np.zeros(4), np.zeros(4), []
    first = q
    for k in range(1600):
        u, t = np.zeros(4), k * h
        wanted = first[motors] + 0.3 * np.array([np.sin(2.1 * t) + 0.4 * np.sin(5.3 * t), np.sin(3.2 * t)])
        hold = robot.inverse_dynamics(q, np.zeros(4), np.zeros(4), alpha).u[motors]
        u[motors] = hold + 60 * (wanted - q[motors]) - 6 * dq[motors]
        felt = (last + u)[motors] / 2 if k else u[motors]  # what a sensor reads where one step ends and the next begins
        rows.append((t, *q[motors], *felt))
        last, (q, dq) = u, robot.joint_step(q, dq, u, h, alpha)
    path = tmp_path_factory.mktemp("log") / "motors.csv"
    header = "time,q_j1,q_j3,tau_j1,tau_j3"
    np.savetxt(path, rows, delimiter=",", header=header, comments="")
    return robot, path, first


def test_a_table_of_the_motors_alone_is_enough(log: tuple[Robot, Path, Any]) -> None:
    robot, path, first = log
    pose = {"j2": -1.2, "j4": 0.5}
    wanted = Wanted(Reading(), Processing(8.0, trim=0.5), pose=pose)
    (samples,), _ = read_recordings(robot, [str(path)], wanted)
    assert samples.derived == ("j2", "j4")
    assert np.abs(robot.loop_residual(samples.q, samples.dq).rows).max() < 1e-12
    np.testing.assert_allclose(samples.q[0], first, atol=1e-3)
    fit = ["friction.viscous", "mass"]
    found = identify(robot, [samples], fit, start={"mass.r2": 0.8})
    assert found.parameters["mass.r2"] == pytest.approx(1.1, abs=5e-3)
    assert found.parameters["friction.viscous.j2"] == pytest.approx(0.3, abs=1e-2)
    assert found.parameters["friction.viscous.j4"] == pytest.approx(0.0, abs=1e-2)
    other, _ = read_recordings(robot, [str(path)], Wanted(Reading(), Processing(8.0), pose={"j2": 2.0, "j4": -2.5}))
    assert np.abs(other[0].q[0] - first).max() > 0.5  # the loop closes in another way too, and is said to
    assert any("--pose" in note for note in other[0].notes)


def test_what_cannot_be_read_or_fitted_is_refused_by_name(log: tuple[Robot, Path, Any]) -> None:
    robot, path, _ = log
    with pytest.raises(InputError, match=r"--pose j1: .*five_bar has j2, j4"):
        read_recordings(robot, [str(path)], Wanted(Reading(), Processing(8.0), pose={"j1": 0.0}))
    rocker = closed.of(case("four_bar").robot)
    assert rocker is not None
    q = np.array([case("four_bar").p] * 3)
    seen = np.array([joint == "j3" for joint in rocker.robot.joints])
    assert np.abs(rocker.followed(q, seen) - q).max() < 1e-12
    q[2, seen] = 0.3  # a rocker of 0.6 m swings less
    with pytest.raises(
        InputError, match=r"Sample 3: no angles of j1, j2 close the loops with those that were measured"
    ):
        rocker.followed(q, seen)
    (samples,), _ = read_recordings(robot, [str(path)], Wanted(Reading(), Processing(8.0), pose={"j2": -1.2}))
    with pytest.raises(InputError, match="closed loops; use --form torque"):
        identify(robot, [samples], ["mass"], settings=Settings(form="shooting"))
    for word in ("origin", "loop"):
        with pytest.raises(
            InputError, match=r"more encoders than the mechanism has freedoms \(2\): with those of j1, j3"
        ):
            identify(robot, [samples], [word])
    names = select(robot, ["friction"]).names
    assert "torque_offset.j1" in names
    assert "torque_offset.j2" not in names
    assert "friction.viscous.j2" in names


def test_poses_at_which_motors_do_not_drive_the_loops_are_refused() -> None:
    robot = case("four_bar").robot
    own = closed.of(robot)
    assert own is not None
    # crank 0.3 and coupler 0.8 in line: the rocker stands still, the crank does not drive it the other way round
    cosine = (0.5**2 + 0.7**2 - 0.6**2) / (2 * 0.5 * 0.7)
    angle = float(np.arccos(cosine))
    rocker = float(np.arctan2(0.5 * np.sin(angle), 0.5 * cosine - 0.7))
    q = np.array([{"j1": angle + np.pi, "j2": np.pi, "j3": rocker}[joint] for joint in robot.joints])
    N = own.free(q[None])
    assert np.abs(robot.loop_residual(q, np.zeros(3)).rows).max() < 1e-12
    own.projection(q[None])  # a dead point of the rocker, where the crank turns: nothing wrong
    own.motors = np.array([joint == "j3" for joint in robot.joints])  # driven at the rocker it is singular
    assert abs(N[0, robot.joints.index("j3"), 0]) < 1e-6
    with pytest.raises(InputError, match="sample 1 of 1 the motors do not drive"):
        own.projection(q[None])


def test_one_motor_less_than_freedoms() -> None:
    """A joint that has none stands in: its torque is known to be zero."""
    robot = case("five_bar").robot
    own = closed.of(robot)
    assert own is not None
    own.motors = np.array([joint == "j1" for joint in robot.joints])
    q = robot.close_loops([MECHANISMS["five_bar"]().guess[j] for j in robot.joints], np.zeros(4))[None]
    W, tau = own.projection(q), np.random.default_rng(0).standard_normal(4)
    rows = own.rows(own.free(q))
    assert rows.sum() == 2
    assert rows[robot.joints.index("j1")]
    N = own.free(q)[0]
    np.testing.assert_allclose(N[rows].T @ (W[0] @ tau)[rows], N.T @ tau, atol=1e-12)


@pytest.mark.parametrize("words", [["gravity_direction", "mass"], ["friction.transition_velocity", "friction.coulomb"]])
def test_what_torques_are_not_linear_in(words: list[str]) -> None:
    robot, samples, truth = recorded("five_bar")
    begin = start(robot) | truth | {f"mass.{link.name}": link.mass for link in robot.manifest.robot.links}
    if "gravity_direction" in words:
        begin |= {"gravity.x": 9.81 * np.sin(0.1), "gravity.z": -9.81 * np.cos(0.1)}
    else:
        begin |= {f"friction.transition_velocity.{joint}": 0.15 for joint in robot.joints}
    found = identify(robot, [samples], words, start=begin, fixed=["gravity.y"])
    if "gravity_direction" in words:
        assert found.parameters["gravity.x"] == pytest.approx(0.0, abs=1e-5)
        assert found.parameters["mass.r2"] == pytest.approx(0.8, abs=1e-5)
    else:
        for joint in robot.joints:
            assert found.parameters[f"friction.transition_velocity.{joint}"] == pytest.approx(WIDTH, abs=1e-5)
