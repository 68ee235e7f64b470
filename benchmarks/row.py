"""A row of the table: what to time and what to simulate."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from benchmarks.native import Native
from benchmarks.swing import Simulate

Timer = Callable[[float, int], float]
"""(h, calls) -> microseconds a call."""
KEYS = ("step", "jacobian", "vjp", "rollout", "gradient", "pullback")
"""pullback: reverse derivative of a rollout for given seeds; where it is not apart, the gradient is what it compares with."""


@dataclass
class Row:
    """`timed` and `operations` have some of KEYS; `simulate` is None where nothing can be simulated."""

    name: str
    timed: dict[str, Timer]
    simulate: Simulate | None
    operations: dict[str, int] = field(default_factory=dict)
    c_bytes: int | None = None
    compile_s: float | None = None
    note: str = ""


def timer(watch: ctypes.CDLL, function: Native, states: Sequence[np.ndarray | None]) -> Timer:
    """Times a C function over `states`; the argument given as None is h."""

    def microseconds(h: float, calls: int) -> float:
        given = [np.array([[h]]) if s is None else s for s in states]
        return function.microseconds(watch, given, calls)

    return microseconds


def joint_swing(step: Native, n: int, *constant: np.ndarray) -> Simulate:
    """The free swing by repeating (p, pd, u, h, ...) -> (p_next, pd_next)."""

    def simulate(h: float, steps: int) -> np.ndarray:
        p, pd, path = np.zeros(n), np.zeros(n), []
        for _ in range(steps):
            p, pd = step(p, pd, np.zeros(n), np.array([h]), *constant)
            path.append(p)
        return np.array(path)

    return simulate
