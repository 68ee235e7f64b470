"""Compares the driver's model of the arm with the generated one: tip, gravity, inertia."""

from __future__ import annotations

from typing import Any

import numpy as np

from diffpbd.runtime.arms.franka.load import Body
from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.model.robot import Robot

__all__ = ["compare_model", "flange_to_tip"]

TORQUE_SHARE = 0.02
"""Part of the effort limit by which gravity, or inertia at ACCELERATION, may differ: 1.7 and 0.24 N·m; a hand far out is 4."""
ACCELERATION = 5.0
"""rad/s²; of a motion that a torque law makes."""
POSITION_TOLERANCE = 2e-3  # m
ANGLE_TOLERANCE = 2e-3  # rad
POSES = 12
POSE_SEED = 7
EARTH = (0.0, 0.0, -9.81)
"""m/s² in the base's frame: a standing arm. The driver's own default is what the robot measured, which may be nothing."""


def _flange(driver: Any, q: FloatArray) -> tuple[FloatArray, FloatArray]:
    import franky

    pose = np.asarray(
        driver.model.pose(franky.Frame.Flange, q, franky.Affine(), franky.Affine()).matrix, dtype=np.float64
    )
    return pose[:3, :3], pose[:3, 3]


def flange_to_tip(driver: Any, robot: Robot, alpha: FloatArray, q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rotation (3, 3) and place [m] of the generated robot's tip in the driver's flange frame, at the pose q [rad]."""
    rotation, place = _flange(driver, q)
    tip = robot.tip_pose(q, alpha=alpha)
    return rotation.T @ tip.rotation, rotation.T @ (tip.position - place)


def compare_model(driver: Any, robot: Robot, alpha: FloatArray, carried: Body) -> list[str]:
    """Every difference of the two models with `carried` on the flange (in its frame), in words.

    `alpha` has the same payload, in the tip's frame.
    """
    rng = np.random.default_rng(POSE_SEED)
    limits = robot.limits
    poses = rng.uniform(limits.lower, limits.upper, (POSES, robot.n))
    found = []
    rotation, place = flange_to_tip(driver, robot, alpha, poses[0])
    apart = [flange_to_tip(driver, robot, alpha, q) for q in poses]
    moved = max(float(np.abs(p - place).max()) for _, p in apart)
    turned = max(float(np.abs(r - rotation).max()) for r, _ in apart)
    if moved > POSITION_TOLERANCE or turned > ANGLE_TOLERANCE:
        found.append(
            f"the tip moves otherwise than the flange, by up to {1e3 * moved:.1f} mm and {turned:.4f} rad: another arm"
        )
    model, mass, com, inertia = driver.model, carried.mass, carried.com, carried.inertia
    gravity = [model.gravity(q, mass, com, EARTH) - robot.gravity(q, alpha=alpha) for q in poses]
    found += _lines("gravity", np.abs(gravity).max(axis=0), robot)
    # alpha's rotors are what a recording shows of the motors; the driver's model has none.
    bare = alpha.copy()
    bare[[robot.alpha.index(f"rotor_inertia.{joint}") for joint in robot.joints]] = 0.0
    masses = [np.asarray(model.mass(q, inertia, mass, com)) - robot.mass_matrix(q, alpha=bare) for q in poses]
    found += _lines(
        f"an acceleration of {ACCELERATION:g} rad/s²", ACCELERATION * np.abs(masses).max(axis=(0, 2)), robot
    )
    return found


def _lines(what: str, worst: FloatArray, robot: Robot) -> list[str]:
    return [
        f"{joint}: {what} takes up to {value:.2f} N·m more or less in the robot's own model"
        for joint, value, effort in zip(robot.joints, worst.tolist(), robot.limits.effort.tolist(), strict=True)
        if value > TORQUE_SHARE * effort
    ]
