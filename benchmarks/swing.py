"""The swing error: free fall of the arm from its zero pose, against exact dynamics integrated to rounding."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pinocchio as pin

Simulate = Callable[[float, int], np.ndarray]
"""(h, steps) -> joint angles of the free swing after every step, (steps, n)."""
TIMES = (0.5, 1.0)
REFERENCE_H = 1e-4


def reference(urdf: Path) -> dict[float, np.ndarray]:
    """Joint angles [rad] at TIMES by RK4 with 1e-4 s on pinocchio's forward dynamics."""
    model = pin.buildModelFromUrdf(str(urdf))
    data, torque = model.createData(), np.zeros(model.nv)
    p, v, h, found = np.zeros(model.nq), np.zeros(model.nv), REFERENCE_H, {}

    def rate(p: np.ndarray, v: np.ndarray) -> np.ndarray:
        return pin.aba(model, data, p, v, torque).copy()

    for k in range(1, round(max(TIMES) / h) + 1):
        a1 = rate(p, v)
        v2 = v + h / 2 * a1
        a2 = rate(p + h / 2 * v, v2)
        v3 = v + h / 2 * a2
        a3 = rate(p + h / 2 * v2, v3)
        v4 = v + h * a3
        a4 = rate(p + h * v3, v4)
        p, v = p + h / 6 * (v + 2 * v2 + 2 * v3 + v4), v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        found.update({t: p for t in TIMES if k == round(t / h)})
    return found


def errors(simulate: Simulate, h: float, exact: dict[float, np.ndarray]) -> list[float]:
    """Largest joint-angle error [rad], modulo a turn, at each of TIMES."""
    path = simulate(h, round(max(TIMES) / h))
    wrong = [path[round(t / h) - 1] - exact[t] for t in TIMES]
    return [float(np.abs((e + np.pi) % (2 * np.pi) - np.pi).max()) for e in wrong]
