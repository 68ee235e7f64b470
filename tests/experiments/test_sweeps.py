from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from scipy.optimize import least_squares
from support.imports import ROOT
from support.judges.printed_step import Printed, read_arm
from support.robots import loaded

from diffpbd.runtime import InputError
from experiments.method.sweep_study import Setting, setting_graphs, settings
from experiments.method.sweeps import by_setting, errors
from experiments.poses import draw_loaded

GRAVITY = np.array([0.0, 0.0, -9.81])
P, U = np.array([0.4, -0.7]), np.array([2.0, -0.5])


def stepped(setting: Setting) -> tuple[np.ndarray, np.ndarray]:
    """State at P and after a step, (links, 13) each."""
    robot: Any = loaded("double_pendulum")
    _, graph, ahead = next(setting_graphs("double_pendulum", [setting]))
    xi = np.array(ahead(P, [0.3, -1.0], robot.alpha.defaults)).ravel()
    end = np.array(graph(xi, U, 0.01, robot.alpha.defaults)[0])
    return xi.reshape(-1, 13), end.reshape(-1, 13)


@pytest.mark.parametrize(("solver", "factor"), [("paper_gauss_seidel", None), ("paper_jacobi", 0.5)])
def test_settings_are_the_prints_step_with_that_setting(solver: str, factor: float | None) -> None:
    judge = Printed(read_arm(ROOT / "codegen" / "robots" / "double_pendulum.urdf"))
    xi, end = stepped(Setting("once", solver, 7, relaxation=factor))
    np.testing.assert_allclose(end[:, :3], judge.step(xi, U, 0.01, GRAVITY, 7, factor)[:, :3], atol=1e-12)
    xi, end = stepped(Setting("twice", solver, 7, relaxation=factor, substeps=2))
    half = judge.step(xi, U, 0.005, GRAVITY, 7, factor)
    np.testing.assert_allclose(end[:, :3], judge.step(half, U, 0.005, GRAVITY, 7, factor)[:, :3], atol=1e-12)


def test_jacobi_as_printed_adds_its_corrections_whole() -> None:
    judge = Printed(read_arm(ROOT / "codegen" / "robots" / "double_pendulum.urdf"))
    xi, end = stepped(Setting("as printed", "paper_jacobi", 7))
    np.testing.assert_allclose(end[:, :3], judge.step(xi, U, 0.01, GRAVITY, 7, 1.0)[:, :3], atol=1e-12)
    assert np.abs(end[:, :3] - judge.step(xi, U, 0.01, GRAVITY, 7, 0.9)[:, :3]).max() > 1e-9


def test_a_mass_centre_at_its_joint_moves_no_joint() -> None:
    here, there = (stepped(Setting("", centred=joint))[0] for joint in ("", "elbow"))
    np.testing.assert_allclose(here[:, 6:10], there[:, 6:10], atol=1e-15)
    np.testing.assert_allclose(here[0, :3], there[0, :3], atol=1e-15)
    assert np.linalg.norm(there[1, :3] - here[1, :3]) > 0.1
    with pytest.raises(InputError, match="no joint 'elbo'. Did you mean elbow"):
        stepped(Setting("", centred="elbo"))


def test_the_error_of_a_setting_stands_beside_the_papers() -> None:
    robot: Any = loaded("double_pendulum")
    chosen = [Setting("many", sweeps=60), Setting("two", sweeps=2)]
    graphs = setting_graphs("double_pendulum", chosen)
    head, rows = by_setting(robot, P[None, None], robot.alpha.defaults, graphs, lambda line: None)
    assert head[0] == "setting" and [row[0] for row in rows] == ["paper", "many", "two"]
    many, two = ([float(x) for x in re.findall(r"([\d.e-]+) \(", row[1])] for row in rows[1:])
    assert len(many) == 2 and max(many) < 0.2 * max(two)
    assert len({one.name for one in settings("left_w1")}) == 9


def test_errors_are_those_of_every_pose_and_their_spread_that_of_sets() -> None:
    """The torque that a pose needs, less what the step asks for: by a search of SciPy's on the same graph."""
    robot: Any = loaded("double_pendulum")
    alpha = robot.alpha.defaults
    poses = np.array([[P, -P, 0.5 * P], [2.0 * P, P, P]])
    _, graph, ahead = next(setting_graphs("double_pendulum", [Setting("few", sweeps=4)]))
    found = errors(robot, poses, alpha, graph, ahead)
    rest = np.zeros(2)

    def motion(u: np.ndarray) -> np.ndarray:
        end = np.array(graph(ahead(P, rest, alpha), u, robot.h, alpha)[0]).ravel()
        omega = end.reshape(-1, 13)[:, 10:].ravel()
        return np.concatenate([robot.joint_state(end, alpha, P).p - P, np.sqrt(0.02) * omega])

    best = least_squares(motion, robot.gravity(P, alpha), xtol=1e-12, ftol=1e-12).x
    np.testing.assert_allclose(found.absolute[0, 0], np.abs(best - robot.gravity(P, alpha)), rtol=1e-2)
    np.testing.assert_array_equal(found.absolute[0, 0], found.absolute[1, 2])
    np.testing.assert_allclose(found.mae, found.absolute.reshape(6, 2).mean(axis=0))
    means = found.absolute.mean(axis=1)
    np.testing.assert_array_equal(found.spread, [means.min(axis=0), means.max(axis=0)])


def test_loaded_poses_have_torques_between_the_bounds() -> None:
    robot: Any = loaded("double_pendulum")
    poses = draw_loaded(robot, 5, 1, robot.alpha.defaults, [0], [-9.0], [-4.0])
    torque = robot.gravity(poses, robot.alpha.defaults)[:, 0]
    assert len(poses) == 5 and (torque >= -9.0).all() and (torque <= -4.0).all()
    with pytest.raises(InputError, match="loaded like the paper's"):
        draw_loaded(robot, 5, 1, robot.alpha.defaults, [0], [1e3], [1e4])
