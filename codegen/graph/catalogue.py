"""Names, units and frames of every argument of the generated functions: the one place that says them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Final

from diffpbd.runtime.manifest import MATRIX, SCALAR, VECTOR, Argument

POSITION: Final = "rad (m where prismatic)"
RATE: Final = "rad/s (m/s where prismatic)"
ACCELERATION: Final = "rad/s^2 (m/s^2 where prismatic)"
EFFORT: Final = "N·m (N where prismatic)"
JOINTS: Final = "joints, base to tip"
NODES: Final = "a column a node: the ends of the steps, with N + 1 columns their start first, which is not used"
WORLD: Final = "world (root link)"

TORQUE_COLUMNS: Final = (
    "link by link: m, m c, Ixx Ixy Ixz Iyy Iyz Izz about the link origin, link axes; then joint by joint: "
    "Coulomb, viscous, rotor inertia, torque offset, spring stiffness, spring torque at zero"
)

CONTACT_IMPULSES: Final = (
    "contact by contact: the normal one, then along two tangents; the normal one alone without friction"
)

ARGUMENTS: Final[Mapping[str, tuple[str, str]]] = {
    "p": (POSITION, JOINTS),
    "pd": (RATE, JOINTS),
    "pdd": (ACCELERATION, JOINTS),
    "u": (EFFORT, JOINTS),
    "h": ("s", ""),
    "alpha": ("see alpha", ""),
    "p_next": (POSITION, JOINTS),
    "pd_next": (RATE, JOINTS),
    "p_prev": (POSITION, JOINTS),
    "p_ref": (POSITION, JOINTS),
    "p0": (POSITION, JOINTS),
    "pd0": (RATE, JOINTS),
    "U": (EFFORT, JOINTS),
    "U_start": (EFFORT, JOINTS),
    "u_prev": (EFFORT, JOINTS),
    "kick": ("N·m·s (N·s where prismatic)", f"{JOINTS}; at the end of the step"),
    "lambdas": (
        "1/rad^2, s^2/rad^2, 1/(N·m)^2",
        "of positions, of angular velocities (rates of slides), of torque changes",
    ),
    "loss": ("1", ""),
    "known_friction": ("1", "0: friction belongs to the steps, else it acts at the rates PD_ref"),
    "change": (EFFORT, "largest of the last iteration"),
    "P": (POSITION, JOINTS),
    "PD": (RATE, JOINTS),
    "M": ("kg·m^2 (kg·m, kg where prismatic)", JOINTS),
    "Y": ("u per inertial parameter", "link by link: m, m c, Ixx Ixy Ixz Iyy Iyz Izz about the link origin, link axes"),
    "J": ("m and rad per joint unit", f"{WORLD}; linear rows at the tip, then angular"),
    "kinetic": ("J", ""),
    "potential": ("J", ""),
    "position": ("m", WORLD),
    "rotation": ("1", f"tip axes in {WORLD}"),
    "torque": (EFFORT, f"on the joint; {JOINTS}"),
    "xi": ("m, m/s, 1 (quaternion wxyz), rad/s", f"{WORLD}; x, v, q, omega of each link's COM"),
    **dict.fromkeys(
        ("xi0", "XI"), ("m, m/s, 1 (quaternion wxyz), rad/s", f"{WORLD}; x, v, q, omega of each link's COM")
    ),
    "fixed": ("1", "1 keeps a coordinate as it is, 0 lets it change"),
    "p_closed": (POSITION, JOINTS),
    "pd_closed": (RATE, JOINTS),
    "rows": ("m or 1", "every row of every loop, those that are not solved included; axes of the parent's cut frame"),
    "row_rates": ("m/s or 1/s", "as rows"),
    "loop_force": ("N or N·m", "kept rows of every loop, on the child; axes of the parent's cut frame"),
    "loop_impulse": ("N·s or N·m·s", "kept rows of every loop; axes of the parent's cut frame at the start"),
    "loop_impulse_next": ("N·s or N·m·s", "the same of the rate stage, at the end"),
    "contact_force": ("N", f"{WORLD}; a column a contact, on its sphere"),
    "iterations": ("1", "of pose and rate stage, then 1 where slip was followed down in either"),
    "counters": (
        "1",
        "a column a step: iterations of pose and rate stage, level of either (0: at the final slip, 1: slip fell, 2: by more), "
        "evaluations of both",
    ),
    "limit_impulse": ("N·m·s (N·s)", "of joints' limits, the lower before the upper; of the pose stage"),
    "limit_impulse_next": ("N·m·s (N·s)", "as limit_impulse, of the rate stage"),
    "contact_impulse": ("N·s", CONTACT_IMPULSES),
    "contact_impulse_next": ("N·s", f"of the rate stage; {CONTACT_IMPULSES}"),
    "pose_residual": (
        "kg·m^2 (kg·m), m or 1, N·s",
        "momenta times h, rows of loops, of limits, contacts as contact_impulse",
    ),
    "rate_residual": (
        "kg·m^2 (kg·m), m/s or 1/s, N·s",
        "momenta times h, rates of loops, rows of limits, contacts as contact_impulse",
    ),
    "gap": ("m", "of every contact, below 0 where bodies overlap"),
    "contact_rows": ("m per joint unit", "contact by contact: along the normal towards the sphere, then two tangents"),
    "unbalanced": (EFFORT, f"what motors and loops cannot give; {JOINTS}"),
    "xi_next": ("m, m/s, 1 (quaternion wxyz), rad/s", f"{WORLD}; x, v, q, omega of each link's COM"),
    "terms": ("u per coefficient", TORQUE_COLUMNS),
    "phi": ("SI", TORQUE_COLUMNS),
    "c": ("m and 1", f"joint by joint; {WORLD}"),
    "impulse": ("N·s and N·m·s", "constraint rows, joint by joint, along the gradients at the start of the step"),
    "impulse_next": ("N·s and N·m·s", "constraint rows, joint by joint, along the gradients at its end"),
    "balance": (
        "kg·m/s and kg·m^2/s",
        f"{WORLD}; link by link: linear and angular at the start of the step, then at its end",
    ),
    "residual": ("m, 1; 1; m/s, 1/s", "link by link: constraints of its joint, |q|^2 - 1, rates of the constraints"),
    "angle": ("rad", "of the joint that the spring acts on"),
    "lever_stiffness": ("N/m", ""),
    "arm_1": ("m", "joint to the spring's end on the parent"),
    "arm_2": ("m", "joint to the spring's end on the child"),
    "lever_offset": ("rad", "the angle between the arms is pi - offset - angle"),
    "lever_rest": ("m", ""),
    "lever_torque": ("N·m", "on the joint"),
    "u_last": (EFFORT, f"torque before the first step; {JOINTS}"),
    **dict.fromkeys(("P_ref", "P_guess"), (POSITION, f"{JOINTS}; {NODES}")),
    **dict.fromkeys(("PD_ref", "PD_guess"), (RATE, f"{JOINTS}; {NODES}")),
    **dict.fromkeys(("U_ref", "U_guess"), (EFFORT, f"{JOINTS}; a column a step")),
    "tip_ref": ("m", f"{WORLD}; a column a node, the first is not used"),
    "weights": ("cost per unit^2", "columns: p, pd, u, change of u, p at the end, pd at the end"),
    "tip_weights": ("cost per m^2", "columns: along the way, at the end"),
    "bounds": (
        "as what they bound",
        "columns: least u, most u, most change of u in a step, least p, most p, most |pd|",
    ),
    "options": (
        "1, cost per unit",
        "0 start (0: guess, 1: guess moved on by a step, 2: cold, guess not read); 1 most quadratic programs (1: one "
        "real-time iteration); 2 most iterations of each; 3 relative gap and 4 relative change of u at which to stop; "
        "5, 6 price of a unit beyond bounds of p and pd",
    ),
    "frame": ("1", "an entry of enum {robot}_frame"),
    "reference": (
        "1",
        "an entry of enum {robot}_reference: the world's axes and origin, the frame's, or its origin in world axes",
    ),
    "v": ("m/s and rad/s", "linear, then angular, as reference says"),
    "spatial": ("m/s^2 and rad/s^2", "linear, then angular, as reference says"),
    "classical": (
        "m/s^2 and rad/s^2",
        "spatial with omega x v in its linear part: of the frame's origin where reference is at it",
    ),
    "goal_position": ("m", WORLD),
    "goal_rotation": ("1", f"frame axes in {WORLD}"),
    "ik_weights": ("1/m, 1/rad", "of position and rotation; 0 leaves either out"),
    "ik_options": (
        "m, rad, 1",
        "0 and 1 misses that count as none (1e-6 both); 2 starts (10); 3 the first of them (0, which is p0); 4 most steps of "
        "each (100); 0 or less: the number in brackets",
    ),
    "ik_info": ("m, rad, 1", "misses of position and rotation, the start that found p, steps of all starts"),
    "info": (
        "1",
        "0 cost; 1 largest defect of the last guess; 2 last relative change of u; 3 programs; 4 their iterations; "
        "5 largest excess over bounds of p and pd; 6 last relative gap; 7 last step length",
    ),
}

OF_FLOATING: Final[Mapping[str, str]] = {
    POSITION: f"m, 1 (unit quaternion wxyz), {POSITION}",
    RATE: f"m/s, rad/s, {RATE}",
    ACCELERATION: f"m/s^2, rad/s^2, {ACCELERATION}",
    EFFORT: f"N, N·m, {EFFORT}",
    JOINTS: "base (world axes, at the origin of its link), joints",
}
"""What units and frames are with a floating base, in front of the joints."""

SCALARS: Final = frozenset({
    "h", "kinetic", "potential", "loss", "change", "known_friction", "angle", "lever_stiffness", "arm_1", "arm_2",
    "lever_offset", "lever_rest", "lever_torque", "frame", "reference",
})  # fmt: skip
"""Arguments that are one number for every robot."""
MATRICES: Final = frozenset({"M", "J", "Y", "terms", "contact_rows", "contact_force"})
"""Arguments that are matrices, whatever the number of their columns."""


def axes(name: str, cols: int | str) -> int:
    """Whether an argument is a number, a vector or a matrix (a trajectory); seeds are what they belong to."""
    plain = name.removesuffix("_bar")
    if plain in SCALARS:
        return SCALAR
    return MATRIX if cols != 1 or plain in MATRICES or _is_derivative(plain) else VECTOR


def _is_derivative(name: str) -> bool:
    return name not in ARGUMENTS and name.startswith("d") and "_d" in name


def unit_and_frame(name: str) -> tuple[str, str]:
    """Unit and frame of an argument; derivatives and seeds are described by what they belong to."""
    if name in ARGUMENTS:
        return ARGUMENTS[name]
    if name.endswith("_bar"):
        return f"derivative of a scalar by {name[:-4]}", ARGUMENTS[name[:-4]][1]
    if _is_derivative(name):
        output, _, by = name[1:].rpartition("_d")
        return f"{output} per {by}", "rows: output, columns: input (matrices column by column)"
    raise KeyError(f"no unit and frame known for argument {name}")


def worded(arguments: Iterable[Argument], floating: bool) -> tuple[Argument, ...]:
    """Arguments with the units and frames of a robot whose base floats, or as they are."""
    if not floating:
        return tuple(arguments)
    return tuple(
        dataclasses.replace(a, unit=OF_FLOATING.get(a.unit, a.unit), frame=a.frame.replace(JOINTS, OF_FLOATING[JOINTS]))
        for a in arguments
    )


DOCS: Final[Mapping[str, str]] = {
    "inverse_dynamics": "Torque that a joint sensor reads: rigid body, rotors, friction, springs, sensor offset.",
    "forward_dynamics": "Joint acceleration under the true torque u.",
    "mass_matrix": "Joint-space inertia, rotors included.",
    "gravity": "Torque that holds the arm against gravity at rest, payload included.",
    "coriolis": "Velocity-product torque C(p, pd) pd.",
    "energy": "Kinetic energy (rotors included); potential energy of gravity and joint springs, zero at the world origin.",
    "tip_pose": "Position and rotation of the tip frame.",
    "tip_jacobian": "Geometric Jacobian of the tip frame.",
    "frame_pose": "Position and rotation of a frame, by default the tip's.",
    "frame_jacobian": "Velocity of a frame, linear then angular, per joint rate.",
    "frame_velocity": "Velocity of a frame, linear then angular.",
    "frame_acceleration": "Acceleration of a frame, linear then angular: spatial, and classical, that of the point.",
    "ik": "Inverse kinematics: the position nearest to p0 of the first start that brings a frame to a goal within the limits.",
    "regressor": "Rigid-body torque per inertial parameter of each link: u = Y theta, payload left out.",
    "spring_torque": "Torque of the joint springs.",
    "friction_torque": "Torque of joint friction, viscous plus smoothed Coulomb.",
    "torque_terms": "What inverse_dynamics is linear in: inverse_dynamics = terms phi.",
    "torque_coefficients": "Coefficients of torque_terms: inertial parameters, friction, rotors, offsets, springs.",
    "joint_step": "One second-order symplectic step on joint coordinates.",
    "sixth_order_step": "joint_steps over h, h/2 and h/3, extrapolated to sixth order; no friction.",
    "jac_joint_step": "joint_step and its Jacobian by p, pd and u.",
    "jac_alpha_joint_step": "Jacobian of joint_step by alpha.",
    "vjp_joint_step": "Reverse derivative of joint_step.",
    "vjp_rollout": "Reverse derivative of rollout; with h_bar and alpha_bar both NULL those two are left out and cost nothing.",
    "vjp_trajectory": "Reverse derivative of rollout along a trajectory P, PD that it gave; otherwise as vjp_rollout.",
    "node_torque": "Torque from three poses: the discrete Euler-Lagrange equation at the middle one, sensor offset included.",
    "jac_kicked_step": "joint_step with a known impulse on the joints at its end, and its Jacobian by p, pd and u.",
    "estimate_torque": "Torques of a window of joint_steps that come closest to recorded positions and angular velocities "
    "(Gauss-Newton from U_start); what no term of the loss depends on stays as it was.",
    "rollout": "joint_step repeated over the columns of U; P and PD hold the start and every step's end.",
    "rollout_impulses": "rollout with what it took: iterations, and the impulses of loops, limits and contacts in every step.",
    "mpc": "Plan of N torques along a reference, bounded: sequential quadratic programs over joint_step.",
    "fk": "Maximal state of every link from joint positions and rates.",
    "joint_state": "Joint positions and rates from the maximal state; p is unwrapped to within half a turn of p_ref.",
    "step": "One step on the maximal state:",
    "rollout_step": "repeated over the columns of U; XI holds the start and every step's end.",
    "constraints": "Residual rows of every joint.",
    "momentum_residual": "Momentum balances of a variational step between two maximal states, zero along `step`.",
    "state_residual": "What makes a maximal state consistent: constraints, unit quaternions, rates of the constraints.",
    "close_loops": "Closed pose nearest to p: Gauss-Newton with least change on every row of the loops.",
    "close_rates": "Rates that the loops allow, nearest to pd in the kinetic energy.",
    "loop_residual": "Every row of the loops, and its rate.",
    "loop_force": "Forces along the kept rows of the loops at an instant.",
    "contact_gap": "How far apart what can touch is.",
    "contact_force": "Mean forces of contacts over the joint_step from a state, and the iterations that it takes.",
    "contact_residual": "Equations of a step in contact, zero along joint_step: for transcriptions.",
    "contact_torque": "What forces on the spheres of contacts, at the point between them and the other, do on the joints.",
    "contact_jacobian": "Rates of the sphere of every contact against the other, at the point between them, per joint rate.",
    "lever_spring_torque": "Torque of a straight spring between two lever arms about a joint.",
}

DOCS_OF_LOOPS: Final[Mapping[str, str]] = {
    "joint_step": "One second-order symplectic step on joint coordinates, closed loops kept closed.",
    "inverse_dynamics": "Torques of the motors (zero at passive joints), forces of the loops, and what is left where there are "
    "fewer motors than freedoms; of more the least torques.",
    "forward_dynamics": "Joint acceleration under the true torque u, the loops' forces included.",
    "mpc": "Plan of N torques of the motors along a reference, bounded: sequential quadratic programs over joint_step, every "
    "node and the measured state moved to what closed loops allow. Torques of joints without a motor are zero; their weights "
    "and bounds of u are not read.",
    "torque_terms": "What the torques of the tree, with a motor at every joint, are linear in: terms phi.",
    "node_torque": "Torques of the motors from three poses: the discrete Euler-Lagrange equation at the middle one.",
    "constraints": "Residual rows of every joint, then every row of the loops.",
}
"""What reads differently for a robot with closed loops."""

DOCS_OF_LIMITS: Final[Mapping[str, str]] = {
    "joint_step": "One second-order symplectic step on joint coordinates; joints stop at their limits.",
}
"""What reads differently for a robot whose limits act."""
