"""The examples of docs/gpu.md, in small and on the CPU: they reach their goal."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from support.robots import generated, loaded

from diffpbd.runtime import InputError, load


def example(root: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, root / "docs" / "examples" / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_sampling_control_reaches_its_goal(root: Path) -> None:
    mppi, robot = example(root, "mppi"), loaded("double_pendulum")
    goal = np.array([0.4, -0.3])
    path, rate = mppi.controlled(robot, mppi.Cpu(robot, mppi.rubbing(robot)), goal, 48, 50)
    assert np.abs(path[0] - goal).max() == 0.4 and np.abs(path[-10:] - goal).max() < 0.06 and rate > 0.0
    with pytest.raises((ImportError, InputError)):
        mppi.Gpu(robot, mppi.rubbing(robot))


def test_inertias_by_gradient_predict_what_the_description_does_not(root: Path) -> None:
    fit = example(root, "inertias_by_gradient")
    robot, rng = load(generated("double_pendulum", symbolic=("mass", "com", "inertia"))), np.random.default_rng(3)
    true, free = fit.disturbed(robot, rng)
    seen, unseen = fit.windows(robot, true, 24, rng), fit.windows(robot, true, 20, rng)
    found, errors = fit.identified(robot, seen, robot.alpha.defaults, free, 60)
    assert errors[-1] < errors[0] / 30
    torques = [
        robot.inverse_dynamics(unseen["p0"], unseen["pd0"], unseen["pd0"], a)
        for a in (robot.alpha.defaults, found, true)
    ]
    assert np.abs(torques[1] - torques[2]).max() < np.abs(torques[0] - torques[2]).max() / 10
    with pytest.raises(InputError, match="--symbolic mass,com,inertia"):
        fit.disturbed(loaded("double_pendulum"), rng)
