"""Named numbers of the emitted solver loops; all of them are listed in the manifest with unit and reason."""

from __future__ import annotations

from typing import Final

from diffpbd.codegen.symbolic.limits import CLOSE, PASSES
from diffpbd.runtime.manifest import Constant

CONSTANTS: Final = (
    Constant(
        "pose_tolerance",
        1e-13,
        "rad or m",
        "error that the contraction of the iterations predicts when the pose solve stops",
    ),
    Constant("slow", 0.1, "1", "contraction above which the chord iteration is replaced by Newton"),
    Constant(
        "stall",
        1e-11,
        "rad or m, relative to 1 + |p|",
        "correction that may be rounding alone when it no longer shrinks",
    ),
    Constant("far_pose", 10.0, "rad or m", "correction in one step beyond which the solve has diverged"),
    Constant("far_rate", 1e9, "rad/s or m/s", "rate beyond which the input was not a robot's"),
    Constant(
        "rate_tolerance",
        1e-9,
        "relative to 1 + |rate|",
        "Newton correction after which the next would be below rounding",
    ),
    Constant("curvature", 0.5, "1", "line search: share of the first slope that may be left with the opposite sign"),
    Constant("shrink", 0.5, "1", "line search: factor on the step length"),
    Constant("huge", 1e150, "SI", "entry of a state beyond which the step has diverged; its square is still finite"),
    Constant("max_pose", 30, "1", "iterations of the pose solve"),
    Constant("max_rate", 60, "1", "Newton iterations of the implicit friction kick"),
    Constant("max_line", 30, "1", "step lengths tried in one line search"),
    Constant("max_gauss_newton", 60, "1", "Gauss-Newton iterations of a torque estimate"),
    Constant(
        "torque_tolerance",
        1e-9,
        "relative to 1 + |torque|",
        "Gauss-Newton change after which the next is far below what a sensor resolves, and near rounding on exact data",
    ),
    Constant(
        "torque_rounding",
        1e-6,
        "relative to 1 + |torque|",
        "change that may be rounding alone when the loss does not fall with it",
    ),
    Constant(
        "loss_rounding",
        1e-9,
        "relative",
        "rise of an estimate's loss that may be the pose solve's tolerance alone, in residuals down to 1e-4 rad",
    ),
    Constant(
        "unseen",
        1e-13,
        "1",
        "pivot, as part of its diagonal entry, below which no term of the loss depends on a torque",
    ),
)

LIMIT_CONSTANTS: Final = (
    Constant(
        "limit_close",
        float(CLOSE),
        "rad or m",
        "distance from a limit within which a rate towards it is taken away: far above what a converged pose is off",
    ),
    Constant("limit_passes", PASSES, "1", "solutions of a step's linear systems in which joints at their limits are found"),
)
"""Listed where limits act."""

STATUS: Final = {
    1: "the pose of the next instant was not found: the step is too long for the motion, or an input is not finite",
    3: "rotor inertia exists in joint space only: use joint_step, or set rotor_inertia to 0",
    4: "the step diverged, or an input is not finite",
    2: "the rate under implicit friction was not found, or an input is not finite",
}
