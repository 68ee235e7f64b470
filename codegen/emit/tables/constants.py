"""Named numbers of the emitted solver loops; all of them are listed in the manifest with unit and reason."""

from __future__ import annotations

from typing import Final

from diffpbd.codegen.emit.tables.hold_constants import HOLD_CONSTANTS, HOLD_NAMES, HOLD_STATUS
from diffpbd.codegen.emit.text.c_writer import literal
from diffpbd.codegen.emit.text.environment import LARGE_ANGLE
from diffpbd.codegen.graph.expressions.geometry import RIGHT_ANGLE
from diffpbd.codegen.graph.step.joint_step import LEAST_STEP
from diffpbd.codegen.method.limits import CLOSE, INWARDS, OUTSIDE, PASSES
from diffpbd.runtime.folder.manifest import Constant
from diffpbd.runtime.folder.parameter_rules import FAULTS, ROUNDING

CONSTANTS: Final = (
    Constant(
        "right_angle",
        RIGHT_ANGLE,
        "1",
        "entries of a joint's rotation this near to -1, 0, 1 are rounded to it: right angles as written",
    ),
    Constant("large_angle", LARGE_ANGLE, "rad", "angle above which sine and cosine of the C library are used"),
    Constant(
        "pose_tolerance",
        1e-14,
        "rad or m",
        "predicted error at which the pose solve stops",
    ),
    Constant("slow", 0.1, "1", "contraction above which the chord iteration is replaced by Newton"),
    Constant(
        "stall",
        1e-11,
        "rad or m, relative to 1 + |p|",
        "correction that counts as rounding if it no longer decreases",
    ),
    Constant(
        "last_correction",
        1e-12,
        "rad or m",
        "largest correction after computing a step's end: rates are then wrong by rounding only",
    ),
    Constant(
        "onward_correction",
        1e-11,
        "rad or m",
        "last correction of a pose in a momentum-form rollout, whose square is the error of the next start",
    ),
    Constant(
        "near_newton",
        0.02,
        "rad or m",
        "first correction of a sixth-order step up to which one Newton iteration suffices",
    ),
    Constant(
        "foretold",
        3e-6,
        "rad or m",
        "first correction of a step of sixth order up to which what Newton leaves is small enough for the last correction",
    ),
    Constant(
        "long_step",
        0.5,
        "rad or m",
        "motion in a rollout's step above which another solution than joint_step's may be found",
    ),
    Constant("far_guess", 0.1, "rad or m", "error of a first guess above which it does not correct the next one"),
    Constant("far_pose", 10.0, "rad or m", "correction in one step beyond which the solve has diverged"),
    Constant("far_rate", 1e9, "rad/s or m/s", "largest plausible rate"),
    Constant(
        "rate_tolerance",
        1e-9,
        "relative to 1 + |rate|",
        "Newton correction after which the next would be below rounding",
    ),
    Constant("curvature", 0.5, "1", "line search: accepted final slope with the opposite sign, relative to the first"),
    Constant("shrink", 0.5, "1", "line search: factor on the step size"),
    Constant("least_step", LEAST_STEP, "s", "shortest step: below it rates are differences of rounding"),
    Constant("huge", 1e150, "SI", "entry of a state beyond which the step has diverged; its square is still finite"),
    Constant("max_pose", 30, "1", "iterations of the pose solve"),
    Constant("max_rate", 60, "1", "Newton iterations of the implicit friction kick"),
    Constant("max_line", 30, "1", "step sizes tried in one line search"),
    Constant(
        "body_rounding", ROUNDING, "1", "part of a product of moments of inertia by which turning a body may miss it"
    ),
    Constant("mpc_none", 1e20, "SI", "mpc: a bound of this size is none"),
    Constant("mpc_pivot", 1e-13, "1", "mpc: pivot over diagonal entry that counts as rounding"),
    Constant("mpc_inside", 0.01, "1", "mpc: least slack at the start over half a bound's width"),
    Constant("mpc_broken", 10.0, "1", "mpc: slack of a violated softened bound at the start, over mpc_inside"),
    Constant("mpc_mean", 10.0, "1", "mpc: first complementarity over the cost of inequalities: fewest iterations"),
    Constant("mpc_share", 0.1, "1", "mpc: least first complementarity over the cost without inequalities"),
    Constant("mpc_floor", 1e-15, "cost", "mpc: cost that counts as zero"),
    Constant("mpc_boundary", 0.995, "1", "mpc: largest fraction of the step to the boundary"),
    Constant(
        "mpc_missed", 1e-9, "1", "mpc: tolerated violation of a row, over half a bound's width, or in m, rad, rad/s"
    ),
    Constant("mpc_touches", 1e4, "1", "mpc: distance over mpc_missed within which rows are active at the guess"),
    Constant("mpc_ridge", 1e-9, "1", "mpc: regularisation of the dual program, relative to its diagonal"),
    Constant("mpc_joined", 12, "1", "mpc: violated rows of a round beyond which later stages wait"),
    Constant("mpc_rounds", 10, "1", "mpc: rounds of the active-set method before the interior point method"),
    Constant("mpc_exchanges", 14, "1", "mpc: rows that all rounds may factorise, over those of a full working set"),
    Constant("mpc_brake", 0.5, "1", "mpc: rates to which plans that stop early beyond bounds brake, over these"),
    Constant("mpc_parting", 0.05, "m/s", "mpc: rate at which what is nearer than keep_apart asks for has to part"),
    Constant("mpc_parting_price", 1e4, "cost per m", "mpc: largest price of a metre less than that"),
    Constant("mpc_left", 0.1, "1", "mpc: residual of a plan at the iteration limit, relative to the first"),
    Constant("mpc_price", 1.5, "1", "mpc: price of a defect over the largest multiplier of the dynamics"),
    Constant("mpc_decrease", 1e-4, "1", "mpc: line search: least decrease over the predicted one"),
    Constant("mpc_rounding", 1e-12, "1", "mpc: rounding of the merit"),
    Constant("mpc_stuck", 1e-3, "1", "mpc: relative change of u above which a failed line search is reported"),
    Constant("mpc_most", 1e6, "1", "mpc: largest accepted number of iterations"),
    Constant("mpc_halvings", 10, "1", "mpc: step sizes tried in a line search"),
    *HOLD_CONSTANTS,
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
        "change that counts as rounding if the loss does not decrease",
    ),
    Constant(
        "loss_rounding",
        1e-9,
        "relative",
        "rise of an estimate's loss within the pose solve's tolerance, for residuals down to 1e-4 rad",
    ),
    Constant(
        "unseen",
        1e-13,
        "1",
        "pivot, as part of its diagonal entry, below which no term of the loss depends on a torque",
    ),
)

NOT_FORWARDS: Final = 21
"""Status of every function that takes a step h where that is none."""
NOT_FINITE: Final = 23
"""Status of every function, given by the entries, where a number of its result is not finite."""

IN_C: Final = {c.name: c.value if isinstance(c.value, int) else literal(c.value) for c in CONSTANTS}
"""The same as C text, counts as integers."""

LAST_OF_FLOATING: Final = 1e-14
"""[rad or m] See the constant of its name."""

FLOATING_CONSTANTS: Final = (
    Constant(
        "last_of_floating",
        LAST_OF_FLOATING,
        "rad or m",
        "last_correction of a robot with a floating base: its momentum, which nothing else changes, then stays to rounding",
    ),
    Constant(
        "unit",
        1e-6,
        "1",
        "tolerance of a base quaternion's squared length: six printed digits",
    ),
)
"""Listed for floating bases."""

LIMIT_CONSTANTS: Final = (
    Constant(
        "limit_close",
        float(CLOSE),
        "rad or m",
        "distance from a limit within which a rate towards it is removed: far above a converged pose's error",
    ),
    Constant(
        "limit_outside",
        float(OUTSIDE),
        "rad or m",
        "largest violation of a limit at the start, above backlash and measurement errors",
    ),
    Constant("limit_inwards", float(INWARDS), "rad/s or m/s", "speed at which a joint that starts outside is moved in"),
    Constant("limit_passes", PASSES, "1", "solves of a step's linear systems for the active set of limits"),
)
"""Listed where limits act."""

OUTSIDE_LIMITS: Final = 22

ESTIMATE_BAD_INPUT: Final = 9

STATUS: Final = {
    1: "the pose of the next instant was not found: the step is too long for the motion, or an input is not finite",
    3: "rotor inertia exists in joint space only: use joint_step, or set rotor_inertia to 0",
    4: "the step diverged, or an input is not finite",
    5: "mpc: the iteration limit came before the tolerance; the plan keeps the torque bounds and may be used",
    6: "mpc: an input is not finite, a weight is negative, or bounds contradict each other; there is no plan",
    7: "mpc: the step fails along every guess; there is no plan",
    8: "mpc: the costs do not determine the torques, or the iterations failed; there is no plan",
    ESTIMATE_BAD_INPUT: "estimate_torque: an input is not finite, or the loss has no finite value; there is no estimate",
    11: "steps of fourth and sixth order are for conservative forces: set friction to 0, or use joint_step",
    2: "the rate under implicit friction was not found, or an input is not finite",
    NOT_FORWARDS: "h is not above zero: a step goes forwards in time, by 1e-9 s at least",
    NOT_FINITE: "a number of the result is not finite: an input is not finite, or too large",
}

REFUTED: Final = 17
"""Status of a step whose end is no motion."""
NO_MOTION: Final = (
    "the equations of a step were solved by what is no motion: its pose is not where its rates lead, rows of loops are open, "
    "something is too deep, or energy came from nothing; the step is too long for the motion, or a loop is nearly singular"
)

LOOP_STATUS: Final = {
    10: "the rows of the closed loops depend on each other at this pose: it is singular",
    12: "a loop is open at the start, by more than 1e-6 m or rad: use close_loops",
    13: "a loop did not close: it is out of reach, or the step is too long for the motion",
    REFUTED: NO_MOTION,
}
"""Statuses of robots with closed loops."""

UNILATERAL_STATUS: Final = {
    14: "a joint's limit or a contact was not resolved by any level of the solver: the step is too long for the motion, or "
    "there were not evaluations enough (DIFFPBD_EVALUATIONS)",
    REFUTED: NO_MOTION,
}
"""Statuses of the joint-space step of robots whose limits act."""

LIMIT_STATUS: Final = {
    OUTSIDE_LIMITS: "a joint starts more than 0.05 rad or m outside its limits (limit.lower, limit.upper), or its lower limit "
    "is above the upper one: start inside"
}
"""Statuses of the step on states of links of robots whose joints have limits."""

CONTACT_STATUS: Final = {
    15: "a contact is more than 5 cm inside a surface at the start: start outside (contact_gap is below 0 inside)"
}
"""Statuses of the joint-space step of robots with contacts."""

FLOATING_STATUS: Final = {20: "a position's base quaternion (wxyz, numbers 3 to 6) does not have unit length"}
"""Statuses of robots with a floating base."""

NO_FRAME, NOT_REACHED, BAD_GOAL = 30, 31, 32
FRAME_STATUS: Final = {
    NO_FRAME: "frame or reference is none of the header's",
    NOT_REACHED: "ik: no start reached the goal; p is the nearest that was found, info has its misses",
    BAD_GOAL: "ik: an input is not finite, rotation is none, a weight is negative or both are zero, there is no such frame, or "
    "a joint's limits contradict each other; p is p0",
}
"""Statuses of frames chosen at run time."""

TOO_NEAR: Final = 16
CLEARANCE_STATUS: Final = {
    TOO_NEAR: "mpc: the plan cannot keep links as far apart as keep_apart asks for hard; there is no plan"
}
"""Statuses of robots with distances."""

ALPHA_STATUS: Final = {int(fault): words for fault, words in FAULTS.items()}
"""Statuses of `<robot>_alpha_check`."""

SPECIAL_STATUS: Final = {
    **LOOP_STATUS, **UNILATERAL_STATUS, **LIMIT_STATUS, **CONTACT_STATUS, **FLOATING_STATUS, **FRAME_STATUS,
    **CLEARANCE_STATUS, **HOLD_STATUS,
}  # fmt: skip
"""Statuses that not every robot has."""

STATUS_NAMES: Final = {
    0: "OK",
    1: "POSE_NOT_FOUND",
    2: "RATE_NOT_FOUND",
    3: "ROTOR_INERTIA",
    4: "DIVERGED",
    5: "MPC_LIMITED",
    6: "MPC_BAD_INPUT",
    7: "MPC_STEP_FAILED",
    8: "MPC_NOT_SOLVED",
    ESTIMATE_BAD_INPUT: "ESTIMATE_BAD_INPUT",
    10: "LOOPS_SINGULAR",
    11: "FRICTION_REFUSED",
    12: "LOOP_OPEN",
    13: "LOOP_NOT_CLOSED",
    14: "LIMIT_NOT_RESOLVED",
    15: "CONTACT_INSIDE",
    TOO_NEAR: "MPC_TOO_NEAR",
    REFUTED: "STEP_REFUTED",
    20: "BASE_QUATERNION",
    OUTSIDE_LIMITS: "OUTSIDE_LIMITS",
    NOT_FORWARDS: "STEP_NOT_FORWARDS",
    NOT_FINITE: "NOT_FINITE",
    NO_FRAME: "NO_FRAME",
    NOT_REACHED: "IK_NOT_REACHED",
    BAD_GOAL: "IK_BAD_GOAL",
    **{int(fault): f"ALPHA_{fault.name}" for fault in FAULTS},
    **HOLD_NAMES,
}
"""Their names in the header, after <ROBOT>_STATUS_."""
