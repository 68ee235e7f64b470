"""Named numbers of the solver of limits and contacts, with units and reasons."""

from __future__ import annotations

from typing import Final

from diffpbd.codegen.graph.root import FAR_TURN
from diffpbd.codegen.graph.solved_step import MOST_OFF
from diffpbd.runtime.folder.manifest import Constant

CONE_CONSTANTS: Final = (
    Constant("inside", 5e-2, "m", "depth of a contact at the start that no measurement is off by"),
    Constant(
        "most_off",
        MOST_OFF,
        "rad",
        "turn in a step beside the mean rate of its ends: sin(turn) = h rate has its end within, and every other root beyond",
    ),
    Constant(
        "far_turn", FAR_TURN, "rad", "turn in a step beside its first guess that no level of the solver may end in"
    ),
    Constant("approach_parts", 6, "1", "shares of a step tried on the way to the whole where its end is followed"),
    Constant("approach_most", 50_000, "1", "evaluations of a step after which no other share of it is tried"),
    Constant("certain_gap", 1e-8, "m or rad", "depth beyond that of the smoothing that is rounding"),
    Constant("certain_impulse", 1e-9, "1", "share of the largest impulse that may be outside a cone: rounding"),
    Constant("certain_energy", 1e-9, "1", "share of a step's energies that is rounding"),
    Constant("bounced", 1e-6, "1", "share of the kinetic energy that is rounding where something bounces"),
    Constant(
        "bounced_off",
        0.3,
        "rad",
        "turn beside the mean of its ends' rates from which a bounce met another in its step",
    ),
    Constant("same_end", 1e-7, "m, rad, or their rates", "off the known end of a step, from which it is another"),
    Constant("cone_rate", 1e-11, "relative to 1 + |rate|", "correction of rates at which limits are that of rounding"),
    Constant(
        "cone_settled_rate",
        1e-13,
        "rad/s or m/s",
        "error that the contraction predicts when rates beside limits are found",
    ),
    Constant(
        "cone_residual", 1e-13, "1", "residual relative to the largest impulse at which an iteration has converged"
    ),
    Constant("cone_stall", 1e-11, "1", "relative residual that is accepted when it no longer falls"),
    Constant("cone_nearly", 1e-5, "1", "relative residual below which a small change ends the iteration"),
    Constant("cone_nearly_rate", 1e-8, "1", "the same for the rate stage, whose rows are not corrected afterwards"),
    Constant(
        "cone_alike", 0.3, "1", "share of the largest impulse up to which impulses change from step to step alike"
    ),
    Constant(
        "cone_impulse", 1e3, "1", "largest impulse that is taken seriously, relative to the residual at a stage's start"
    ),
    Constant(
        "cone_near",
        1e-9,
        "rad or m, or their rates",
        "a change this small is taken without line search, since rounding is near",
    ),
    Constant(
        "cone_far",
        1e-6,
        "1",
        "change of an impulse by itself, through its rate, below which what acts on one side is far: Newton's method needs no "
        "slope of it",
    ),
    Constant(
        "cone_stiff",
        1e3,
        "1",
        "what a contact adds to the slope of a stage, over that, from which its impulses are unknowns of the derivatives",
    ),
    Constant("cone_pivot", 1e-9, "1", "pivot over diagonal entry from which D has factors"),
    Constant(
        "cone_turn",
        1e-4,
        "rad or m",
        "motion in a step from which Newton's method knows that the tangents at its end turn",
    ),
    Constant("cone_chord", 5e-2, "rad or m", "first correction beyond which the inertia is worked out anew at once"),
    Constant(
        "cone_anew",
        1e-9,
        "rad or m",
        "correction after next, by the contraction so far, beyond which the same is done later",
    ),
    Constant("cone_inner", 15, "1", "iterations on impulses alone, all else linear"),
    Constant("cone_inner_halvings", 6, "1", "step lengths tried in each of them"),
    Constant("cone_inner_residual", 1e-6, "1", "residual over the largest impulse at which they end"),
    Constant("cone_ahead", 1e-4, "1", "residual over the largest impulse from which impulses are first solved alone"),
    Constant("cone_halvings", 8, "1", "step lengths tried in a line search beside limits"),
    Constant("cone_first", 12, "1", "iterations at the final slip"),
    Constant("cone_level", 10, "1", "iterations at each slip above it"),
    Constant("cone_last", 25, "1", "iterations at the final slip after those above it"),
    Constant("cone_patient", 60, "1", "iterations at each slip where it falls slowly"),
    Constant("cone_top", 0.5, "rad/s or m/s", "slip from which it falls, ten times it at the second attempt"),
    Constant(
        "cone_rough",
        1e-2,
        "1",
        "residual over load, step and the root of slip over the first one at which a slip above the final one is left",
    ),
)
"""Listed where limits act in the joint-space step."""
