"""Laws whose torques are compared."""

from __future__ import annotations

from typing import Any

REST = [0.1, -0.55, 0.1, 0.9, 0.0, 0.8, 0.0]


CARTESIAN: dict[str, Any] = {
    "name": "cartesian", "stiffness": [200.0] * 3 + [10.0] * 3, "damping_ratio": 0.7, "offset": [0.0, 0.05, 0.05], "speed": 0.1,
    "posture": [30.0, 30.0, 20.0, 20.0, 5.0, 5.0, 5.0], "damping": [4.0, 4.0, 2.0, 2.0, 0.3, 0.3, 0.3],
}  # fmt: skip


MPC: dict[str, Any] = {
    "name": "mpc", "horizon": 10, "goal": [0.4, -0.3, None, 1.2, None, None, None], "goal_speed": 0.4, "reference": None,
    "delay": 1, "weights": {"p": 1.0, "pd": 0.02, "du": 1e-6}, "disturbance": None,
}  # fmt: skip
