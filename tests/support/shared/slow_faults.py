"""Faults that grow slowly."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from support.arms.bench import BenchArm
from support.arms.sensors import Filtered


def slowly(change: Callable[[dict, float], dict]) -> Callable[[BenchArm], None]:
    """A fault by the time since it began, of sensors whose speeds are filtered and noisy."""

    def begin(arm: BenchArm) -> None:
        since, sensors = arm.time, Filtered()
        arm.bench.fault = lambda data: change(sensors(data), arm.time - since)

    return begin


def crept(joint: int, rate: float) -> Callable[[dict, float], dict]:
    return lambda data, t: {**data, "q": data["q"] + rate * t * np.eye(len(data["q"]))[joint]}


def biased(joint: int, rate: float) -> Callable[[dict, float], dict]:
    return lambda data, t: {**data, "dq": data["dq"] + rate * np.eye(len(data["dq"]))[joint]}


def scaled(joint: int, scale: float, seconds: float) -> Callable[[dict, float], dict]:
    return lambda data, t: {
        **data, "q": data["q"] * (1.0 + (scale - 1.0) * min(t / seconds, 1.0) * np.eye(len(data["q"]))[joint])
    }  # fmt: skip
