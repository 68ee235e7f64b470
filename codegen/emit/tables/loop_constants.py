"""Named numbers of steps with closed loops and of close_loops, with unit and reason."""

from __future__ import annotations

from typing import Final

from diffpbd.codegen.graph.solved.solved_step import MOST_OFF
from diffpbd.runtime.folder.manifest import Constant

LOOP_CONSTANTS: Final = (
    Constant("pivot_ratio", 1e-10, "1", "least over largest pivot below which loop rows are redundant"),
    Constant(
        "near_pose",
        1e-3,
        "rad or m",
        "first correction up to which one chord iteration and the final one reach pose_tolerance",
    ),  # fmt: skip
    Constant("rows_tolerance", 1e-13, "rad or m", "last correction above which the Jacobian of the rows is recomputed"),
    Constant("open", 1e-6, "m or 1", "largest residual of a loop at the start of a step"),
    Constant(
        "spare_ratio",
        1e-7,
        "1",
        "the same in a step on maximal states where all rows are kept: what depends on others has ε in the place of a pivot",
    ),
    Constant(
        "rate_left",
        1e-7,
        "relative to 1 + the largest of v, omega",
        "rate of a loop's row that a step on maximal states leaves from which its rows depend on each other",
    ),
    Constant(
        "parted",
        1e-9,
        "m or 1",
        "residual of a loop's row, kept or not, from which the end of a step is no motion: far above what rounding leaves",
    ),
    Constant(
        "parted_rate",
        1e-7,
        "relative to 1 + the largest rate",
        "rate of a loop's row from which the end of a step is no motion",
    ),
    Constant(
        "most_turned",
        MOST_OFF,
        "rad",
        "turn in a step beside the mean rate of its ends: sin(turn) = h rate has its end within, and every other root beyond",
    ),
    Constant(
        "on_mean",
        1e-5,
        "relative to the largest motion",
        "motion beside the mean rate of a step's ends up to which its rows give less than `gained`: twice it by the root of "
        "the inertia's condition, up to 1e5",
    ),
    Constant(
        "gained",
        1e-2,
        "relative to the kinetic energy",
        "energy that rows may give in one step, which is the step's own error",
    ),
    Constant("closed", 1e-12, "m or 1", "largest residual of loops after close_loops"),
    Constant("close_far", 0.3, "rad or m", "largest change of a coordinate in one iteration of close_loops"),
    Constant("close_least", 1e-15, "rad or m", "change after which close_loops stops"),
    Constant(
        "close_share",
        1e-14,
        "1",
        "pivot of A A^T, as part of the first, below which close_loops leaves a row to others",
    ),
    Constant("max_close", 200, "1", "iterations of close_loops from one start"),
    Constant("max_starts", 32, "1", "starts of close_loops if the first does not close nearby"),
    Constant("close_sure", 0.3, "rad or m", "distance of a closed pose up to which close_loops tries no other starts"),
    Constant("max_slide", 40, "1", "descent steps of close_loops along the motion towards the target"),
    Constant("close_slope", 1e-7, "rad or m", "projected gradient at which close_loops has converged"),
    Constant("close_stride", 20.0, "1", "close_loops: bounds of the step size and of its inverse"),
    Constant("close_gain", 0.1, "1", "close_loops: line search: least decrease over the predicted one"),
    Constant("close_tries", 8, "1", "close_loops: step sizes tried in a line search"),
)
"""Listed for robots with closed loops."""
