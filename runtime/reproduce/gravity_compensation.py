"""The paper's gravity compensation: the torque that holds a pose, found by optimisation over one generated step.

The arm is put at a pose at rest and stepped once. Gauss-Newton with the step's exact Jacobian looks for the torque that
leaves it there: least λ₁ ‖p − p̂‖² + λ₂ Σ ‖ω‖² over the links. The reference is the Euler-Lagrange equation at rest: the
gradient of the potential energy.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from diffpbd.runtime.arrays import FloatArray
from diffpbd.runtime.errors import SolverError
from diffpbd.runtime.report.figures import new_figure, panel, save
from diffpbd.runtime.robot import Robot
from diffpbd.runtime.rows import write_rows

__all__ = [
    "ASSUMPTIONS",
    "PAPER",
    "PAPER_JOINTS",
    "Compensation",
    "holding_torques",
    "plot",
    "potential_gradient",
    "shown_joints",
    "write_table",
]

WEIGHTS = (1.0, 0.02)
"""λ₁ [1/rad²], λ₂ [s²/rad²] of the paper."""
MOST = 20
"""Gauss-Newton iterations; the step is nearly linear in the torque, a few suffice."""
STILL = 1e-11
"""[N·m or N] Correction below which the torque has converged, for torques of up to 100 N·m."""
PAPER_JOINTS = ("s1", "e1", "w1")
PAPER = {
    "mean": (-29.0, -10.8, -1.20),
    "max": (-11.6, -3.99, -0.5096),
    "min": (-39.1, -14.2, -1.56),
    "MAE": (0.669, 0.431, 0.698),
}
"""N·m, for `PAPER_JOINTS`."""
ASSUMPTIONS = (
    "the paper's 30 poses are not published: ours differ, and so do mean, max and min; the MAE compares methods",
    "gravity 9.8 m/s², one step of 10 ms from rest, λ₁ = 1, λ₂ = 0.02, started from zero torque, as the paper has it",
    "Gauss-Newton with exact Jacobians instead of ADAM; the variational step instead of Algorithm 1",
    "the reference is the gradient of the potential energy, that is Euler-Lagrange at rest; springs are left out on both sides",
)


@dataclass(frozen=True)
class Compensation:
    """Poses (k, n) [rad], estimated and reference torque (k, n) [N·m], largest loss at the end, iterations."""

    joints: tuple[str, ...]
    poses: FloatArray
    estimate: FloatArray
    reference: FloatArray
    loss: float
    iterations: int

    @property
    def statistics(self) -> dict[str, FloatArray]:
        """Mean, largest and smallest estimate and the mean absolute error, (n,) each [N·m]."""
        error = np.abs(self.estimate - self.reference).mean(axis=0)
        u = self.estimate
        return {"mean": u.mean(axis=0), "max": u.max(axis=0), "min": u.min(axis=0), "MAE": error}


def holding_torques(robot: Robot, poses: FloatArray, alpha: FloatArray, h: float | None = None) -> Compensation:
    """The torque (k, n) that leaves each pose (k, n) still over one step of h [s], from zero torque."""
    h = robot.h if h is None else h
    k, n = poses.shape
    rest, u = np.zeros((k, n)), np.zeros((k, n))
    root1, root2 = np.sqrt(WEIGHTS)
    for iteration in range(1, MOST + 1):
        step = robot.jac_joint_step(poses, rest, u, h, alpha)
        axes = _turning(robot, step.p_next, alpha)
        away, spin = step.p_next - poses, axes @ step.pd_next[..., None]
        residual = np.concatenate([root1 * away, root2 * spin[..., 0]], axis=1)
        jacobian = np.concatenate([root1 * step.dp_next_du, root2 * axes @ step.dpd_next_du], axis=1)
        correction = np.array([np.linalg.lstsq(J, -r, rcond=None)[0] for J, r in zip(jacobian, residual, strict=True)])
        u = u + correction
        if np.abs(correction).max() < STILL:
            loss = float((residual**2).sum(axis=1).max())
            return Compensation(robot.joints, poses, u, potential_gradient(robot, poses, alpha), loss, iteration)
    raise SolverError(f"The torque that holds the poses has not converged after {MOST} iterations.")


def _turning(robot: Robot, p: FloatArray, alpha: FloatArray) -> FloatArray:
    """∂ω/∂ṗ (k, 3 a link, n) [world] at poses: the angular velocities at unit rates."""
    k, n = p.shape
    columns = []
    for j in range(n):
        unit = np.zeros((k, n))
        unit[:, j] = 1.0
        states = np.asarray(robot.fk(p, unit, alpha)).reshape(k, -1, 13)
        columns.append(states[:, :, 10:13].reshape(k, -1))
    return np.stack(columns, axis=-1)


def potential_gradient(robot: Robot, poses: FloatArray, alpha: FloatArray) -> FloatArray:
    """∂V/∂p (k, n) of the generated potential energy (springs included, as far as alpha has any)."""
    gradient = robot.casadi("energy").factory("gradient", ["p", "pd", "alpha"], ["grad:potential:p"])
    zero = np.zeros(robot.n)
    return np.array([np.array(gradient(p, zero, alpha)).ravel() for p in poses])


def plot(path: str | Path, found: Compensation) -> None:
    """PNG: estimate against reference, and the error of every pose, for the paper's joints (or the first three)."""
    shown = shown_joints(found.joints)
    figure = new_figure(3.6 * len(shown), 6.4)
    above, below = figure.subplots(2, len(shown), squeeze=False)
    for axes, error, j in zip(above, below, shown, strict=True):
        truth, ours = found.reference[:, j], found.estimate[:, j]
        panel(axes, found.joints[j], "Euler–Lagrange [N·m]", "one-step estimate [N·m]")
        axes.plot([truth.min(), truth.max()], [truth.min(), truth.max()], "0.7", linewidth=1)
        axes.plot(truth, ours, "C0.", markersize=5)
        panel(error, "", "pose", "|error| [N·m]")
        floor = np.finfo(float).eps
        error.semilogy(np.maximum(np.abs(ours - truth), floor), "C3.", markersize=5)
        name = next((k for k, joint in enumerate(PAPER_JOINTS) if found.joints[j].endswith(joint)), None)
        if name is not None:
            error.axhline(PAPER["MAE"][name], color="0.4", linestyle="--", linewidth=1, label="the paper's MAE")
            error.legend(frameon=False, fontsize="small")
    save(path, figure)


def shown_joints(joints: tuple[str, ...]) -> list[int]:
    """Indices of the paper's joints; of the first three on a robot without them."""
    named = [k for name in PAPER_JOINTS for k, joint in enumerate(joints) if joint.endswith(f"_{name}")]
    return named if len(named) == len(PAPER_JOINTS) else list(range(min(3, len(joints))))


def write_table(path: str | Path, found: Compensation) -> None:
    """CSV: one row a pose: positions, estimates, references."""
    header = [f"{what}_{joint}" for what in ("q", "estimate", "reference") for joint in found.joints]
    rows = [
        [float(x) for x in (*p, *u, *g)] for p, u, g in zip(found.poses, found.estimate, found.reference, strict=True)
    ]
    write_rows(path, header, rows)
