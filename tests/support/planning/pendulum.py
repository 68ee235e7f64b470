"""Predictive control of a swing under tight bounds on everything."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from support.robots import loaded

from diffpbd.runtime import Robot
from diffpbd.runtime.mpc.options import MpcOptions
from diffpbd.runtime.mpc.planner import Mpc
from diffpbd.runtime.mpc.problem import Bounds, Task, Weights


def new(robot: Robot, horizon: int, **settings: Any) -> Mpc:
    """An Mpc with those of its settings that are options sorted into their record."""
    names = {field.name for field in fields(MpcOptions)}
    options = MpcOptions(**{name: value for name, value in settings.items() if name in names})
    return Mpc(robot, horizon, options=options, **{k: v for k, v in settings.items() if k not in names})


def pendulum(**options: Any) -> tuple[Mpc, Task]:
    """A swing under tight bounds on everything: torque, its change, speed, position."""
    robot = loaded("double_pendulum")
    full = np.array
    bounds = Bounds(
        full([-16.0, -9.0]),
        full([16.0, 9.0]),
        full([4.0, 3.0]),
        full([-1.0, -0.09]),
        full([1.0, 1.0]),
        full([0.9, 1.3]),
    )
    options = {
        "weights": Weights(u=1e-6, du=1e-6, tip=(2.0, 0.0, 1.0), end=3.0),
        "bounds": bounds,
        "h": 0.02,
        **options,
    }
    mpc = new(robot, 15, **options)
    tip = robot.tip_pose([0.25, 0.3]).position
    return mpc, mpc.task([0.1, 0.0], [0.2, -0.4], [0.3, -0.4], U=np.zeros(2), tip=tip)
