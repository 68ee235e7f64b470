"""Arguments for every generated function at given states, by the names of the catalogue."""

from __future__ import annotations

from typing import Any

import numpy as np

from diffpbd.runtime import Robot
from diffpbd.runtime.functions.function import BoundFunction
from support.free_flyer import moved

H = 0.01
"""[s] Step at which functions are compared."""
LEVER = {
    "angle": 0.0, "lever_stiffness": 7000.0, "arm_1": 0.06, "arm_2": 0.15, "lever_offset": 1.9, "lever_rest": 0.2,
}  # fmt: skip
"""A spring whose arms form a triangle at every angle below."""
BOUND = 20.0
"""[N·m/(kg·m²)] Of torques, so that some are reached."""
GOAL = {"goal_weights": [1.0, 0.1], "ik_options": [1e-6, 1e-6, 20.0, 0.0, 0.0, 0.0]}
"""Both parts of a pose; tolerances, starts, the first of them, and no margin."""


def effort(robot: Robot) -> np.ndarray:
    """Factors of a torque of 1 N·m, joint by joint, with which it is ordinary for the joint's inertia.

    10 N·m on Baxter's last joint (4e-4 kg·m²) would turn it by more than a radian within a step of 10 ms: the discrete
    momentum balance has no solution then, and the step says so.
    """
    return np.asarray(np.diag(robot.mass_matrix(robot.neutral)))


def arguments(
    robot: Robot, function: BoundFunction, values: dict[str, np.ndarray], alpha: np.ndarray, seed: int = 6
) -> dict[str, Any]:
    """Batched arguments (rows first); alpha and h are shared by all rows. Seeds of reverse modes are random.

    The poses of `node_torque` are those of two steps of the state; xi is the state's.
    """
    rng = np.random.default_rng(seed)
    rows = len(values["p"])
    found: dict[str, Any] = {}
    for argument in function.facts.inputs:
        name = argument.name
        if name == "u":
            found[name] = effort(robot) * values[name]
        elif name == "kick":
            found[name] = H * effort(robot) * values["u"]
        elif name in values:
            found[name] = values[name]
        elif name == "alpha":
            found[name] = alpha
        elif name == "h":
            found[name] = H
        elif name == "xi":
            found[name] = robot.fk(values["p"], values["pd"], alpha)
        elif name == "p_ref":
            found[name] = values["p"] + 0.3
        elif name in ("p_prev", "p_next"):
            sign = 1.0 if name == "p_next" else -1.0
            way = sign * H * values["pd"] + 0.5 * H**2 * values["pdd"]
            turned = robot.manifest.robot.floating
            found[name] = np.array(list(map(moved, values["p"], way))) if turned else values["p"] + way
        elif name == "xi_next":
            found[name] = robot.fk(values["p"] + H * values["pd"], values["pd"] + H * values["pdd"], alpha)
        elif name == "pd_next":
            found[name] = values["pd"] + H * values["pdd"]
        elif "impulse" in name or name == "contact_force":
            found[name] = rng.normal(size=(rows, *argument.shape))
        elif name in LEVER:
            found[name] = np.full(rows, LEVER[name]) if name != "angle" else 0.5 * np.tanh(values["p"][:, 0])
        elif name in ("frame", "reference"):
            found[name] = np.full(rows, 0.0 if name == "frame" else 1.0)
        elif name in ("u_lower", "u_upper"):
            found[name] = np.tile((1.0 if name == "u_upper" else -1.0) * BOUND * effort(robot), (rows, 1))
        elif name == "delay":
            found[name] = np.ones(rows)
        elif name in GOAL:
            found[name] = np.tile(GOAL[name], (rows, 1))
        elif name in ("goal_position", "goal_rotation"):  # of the pose at zero, within the limits of all shipped robots
            pose = robot.frame_pose(np.zeros((rows, robot.n)), alpha=alpha)
            found[name] = pose.position if name == "goal_position" else pose.rotation
        elif name in ("p0", "fixed"):
            found[name] = 0.05 * values["p"] if name == "p0" else np.zeros((rows, robot.n))
        elif name.endswith("_bar"):
            found[name] = rng.normal(size=(rows, *argument.shape))
        else:
            raise KeyError(f"{function.name}: no argument for {name}")
    if set(found) == {"alpha"}:
        found["alpha"] = np.tile(alpha, (rows, 1))
    return found


def row_of(given: dict[str, Any], row: int) -> dict[str, Any]:
    """One row of `arguments`."""
    shared = {"alpha": 1, "h": 0}
    return {k: v if np.ndim(v) == shared.get(k) else v[row] for k, v in given.items()}


def outputs(function: BoundFunction, result: Any) -> dict[str, Any]:
    """The result of a generated function by output name."""
    results = result if isinstance(result, tuple) else (result,)
    return dict(zip([a.name for a in function.facts.outputs], results, strict=True))
