"""Named numbers of the solver of limits and contacts, with units and reasons."""

from __future__ import annotations

from typing import Final

from diffpbd.codegen.graph.expressions.root import FAR_TURN
from diffpbd.codegen.graph.solved.solved_step import MOST_OFF
from diffpbd.runtime.folder.manifest import Constant

CONE_CONSTANTS: Final = (
    Constant("inside", 5e-2, "m", "largest penetration depth at the start, above any measurement error"),
    Constant(
        "most_off",
        MOST_OFF,
        "rad",
        "turn in a step beside the mean rate of its ends: sin(turn) = h rate has its end within, and every other root beyond",
    ),
    Constant("far_turn", FAR_TURN, "rad", "largest turn away from the first guess of a step's solution"),
    Constant("approach_parts", 6, "1", "parts of a step tried in the continuation to the whole step"),
    Constant("approach_most", 50_000, "1", "evaluations of a step after which no further continuation is started"),
    Constant("certain_gap", 1e-8, "m or rad", "certificate: rounding of a penetration depth beyond the smoothing's"),
    Constant("certain_impulse", 1e-9, "1", "certificate: rounding outside a cone, relative to the largest impulse"),
    Constant("certain_energy", 1e-9, "1", "certificate: rounding of the energy balance"),
    Constant("bounced", 1e-6, "1", "certificate: rounding of the kinetic energy in a rebound"),
    Constant(
        "bounced_off",
        0.3,
        "rad",
        "turn beside the mean of its ends' rates from which a bounce met another in its step",
    ),
    Constant(
        "same_end",
        1e-7,
        "m, rad, or their rates",
        "distance from a step's known end above which it is another solution",
    ),
    Constant("cone_rate", 1e-11, "relative to 1 + |rate|", "rate correction that counts as rounding, with limits"),
    Constant(
        "cone_settled_rate",
        1e-13,
        "rad/s or m/s",
        "predicted error at which the rate stage with limits has converged",
    ),
    Constant(
        "cone_residual", 1e-13, "1", "residual relative to the largest impulse at which an iteration has converged"
    ),
    Constant("cone_stall", 1e-11, "1", "relative residual that is accepted if it no longer decreases"),
    Constant("cone_nearly", 1e-5, "1", "relative residual below which a small change ends the iteration"),
    Constant("cone_nearly_rate", 1e-8, "1", "cone_nearly for the rate stage, whose rows are not corrected afterwards"),
    Constant(
        "cone_alike",
        0.3,
        "1",
        "change of impulses between steps, relative to the largest, up to which they are extrapolated",
    ),
    Constant("cone_impulse", 1e3, "1", "largest plausible impulse relative to the residual at a stage's start"),
    Constant(
        "cone_near",
        1e-9,
        "rad or m, or their rates",
        "smaller steps are taken without line search: near rounding",
    ),
    Constant(
        "cone_far",
        1e-6,
        "1",
        "feedback of an impulse on itself, through its rate, below which a unilateral row is distant: its impulse is evaluated "
        "explicitly",
    ),
    Constant(
        "cone_stiff",
        1e3,
        "1",
        "what a contact adds to the slope of a stage, over that, from which its impulses are unknowns of the derivatives",
    ),
    Constant("cone_pivot", 1e-9, "1", "least pivot over diagonal entry for factorising D"),
    Constant(
        "cone_turn",
        1e-4,
        "rad or m",
        "motion in a step above which Newton's method includes the rotation of tangents",
    ),
    Constant("cone_chord", 5e-2, "rad or m", "first correction above which the inertia is recomputed at once"),
    Constant(
        "cone_anew",
        1e-9,
        "rad or m",
        "predicted correction after next above which the inertia is recomputed later",
    ),
    Constant("cone_inner", 15, "1", "iterations on impulses alone, with everything else linearised"),
    Constant("cone_inner_halvings", 6, "1", "step sizes tried in each of these iterations"),
    Constant("cone_inner_residual", 1e-6, "1", "residual over the largest impulse at which these iterations end"),
    Constant("cone_ahead", 1e-4, "1", "residual over the largest impulse above which impulses are solved alone first"),
    Constant("cone_halvings", 8, "1", "step sizes of a line search with limits"),
    Constant("cone_first", 12, "1", "iterations at the final slip"),
    Constant("cone_level", 10, "1", "iterations at each larger slip of the continuation"),
    Constant("cone_last", 25, "1", "iterations at the final slip of the continuation"),
    Constant("cone_patient", 60, "1", "iterations at each slip of a slow continuation"),
    Constant("cone_top", 0.5, "rad/s or m/s", "first slip of the continuation, ten times larger in the second attempt"),
    Constant(
        "cone_rough",
        1e-2,
        "1",
        "residual over load, step and the root of slip over the first one at which a slip above the final one is left",
    ),
)
"""Listed for joint-space steps with limits or contacts."""
