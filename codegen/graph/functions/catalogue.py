"""Names, units and frames of every argument of the generated functions: the one place that says them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Final

from diffpbd.runtime.folder.manifest import MATRIX, SCALAR, VECTOR, Argument

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
    "contact by contact: the normal one, then along two tangents; the normal one alone without friction; last those of "
    "torsional and of rolling friction, over their coefficients"
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
    "deflection": ("1", "joint by joint as friction.deflection in alpha; from -1 to 1"),
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
    "spheres": ("m", f"{WORLD}; a column each: centre, radius"),
    "capsules": ("m", f"{WORLD}; a column each: both ends of the axis, radius"),
    "boxes": ("m, 1 (quaternion wxyz)", f"{WORLD}; a column each: centre, quaternion, lengths of the sides"),
    "planes": ("1, m", f"{WORLD}; a column each: normal away from the solid, height along it"),
    "distance": (
        "m",
        "pair by pair, then obstacle by obstacle to every shape that moves; below 0 where bodies overlap",
    ),
    "point": ("m", f"{WORLD}; a column a distance: nearest point of the first body"),
    "other_point": ("m", f"{WORLD}; the same of the other one"),
    "normal": ("1", f"{WORLD}; a column a distance: from the other body to the first, 0 where cores cross"),
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
        "real-time iteration); 2 most iterations of each, up to 10: rounds of the active-set method alone, and where they end "
        "early, status 5 and a plan that keeps the torque bounds at no more cost than the guess; 3 relative gap and 4 "
        "relative change of u at which to stop; 5, 6 price of a unit beyond bounds of p and pd",
    ),
    "keep_apart": (
        "m, cost per m, 1",
        "0 least distance, of what is nearer at the start of mpc its distance there and 5 cm/s more; 1 price of a metre less, "
        "0: distances are not kept; 2 above 0: a plan that is nearer, and nearer than the start, by 1 mm is none; ik never "
        "gives less",
    ),
    "frame": ("1", "its name, in C an entry of the header's enum of frames"),
    "reference": (
        "1",
        "world, local or local_world_aligned: the axes and the point; in C an entry of the header's enum",
    ),
    "v": ("m/s and rad/s", "linear, then angular, as reference says"),
    "spatial": ("m/s^2 and rad/s^2", "linear, then angular, as reference says"),
    "classical": (
        "m/s^2 and rad/s^2",
        "spatial with omega x v in its linear part: of the frame's origin where reference is at it",
    ),
    "goal_position": ("m", WORLD),
    "goal_rotation": ("1", f"frame axes in {WORLD}"),
    "goal_weights": ("1/m, 1/rad", "of position and rotation; 0 leaves either out"),
    "ik_options": (
        "m, rad, 1",
        "0 and 1 misses that count as none (1e-6 both); 2 starts (20); 3 the first of them (0, which is p0); 4 most steps of "
        "each (100); 5 what is left free at every limit that has room for it (0); 0 or less: the number in brackets",
    ),
    "ik_info": (
        "m, rad, 1",
        "misses of position and rotation, the start that found p, steps of all starts; of a robot with distances p's least one "
        "[m], 1e20 where none are kept",
    ),
    "u_lower": (EFFORT, f"least u; {JOINTS}"),
    "u_upper": (EFFORT, f"most u; {JOINTS}"),
    "delay": ("1", "steps h from the measurement of p and pd until u acts, 0 or more"),
    "info": (
        "1",
        "0 cost; 1 largest defect of the last guess; 2 last relative change of u; 3 programs; 4 their iterations; "
        "5 largest excess over bounds of p and pd; 6 last relative gap; 7 last step length; of a robot with distances 8 the "
        "plan's least one [m], 1e20 where none are kept",
    ),
}

OF_FLOATING: Final[Mapping[str, str]] = {
    POSITION: f"m, 1 (unit quaternion wxyz), {POSITION}",
    RATE: f"m/s, rad/s, {RATE}",
    ACCELERATION: f"m/s^2, rad/s^2, {ACCELERATION}",
    EFFORT: f"N, N·m, {EFFORT}",
    JOINTS: "base (world axes, at the origin of its link), joints",
}
"""Units and frames of a floating base, in front of the joints."""

SCALARS: Final = frozenset({
    "h", "kinetic", "potential", "loss", "change", "known_friction", "angle", "lever_stiffness", "arm_1", "arm_2",
    "lever_offset", "lever_rest", "lever_torque", "frame", "reference", "delay",
})  # fmt: skip
"""Arguments that are one number for every robot."""
MATRICES: Final = frozenset({
    "M", "J", "Y", "terms", "contact_rows", "contact_force", "spheres", "capsules", "boxes", "planes", "point", "other_point",
    "normal",
})  # fmt: skip
"""Arguments that are matrices, whatever the number of their columns."""


def axes(name: str, cols: int | str) -> int:
    """Whether an argument is a number, a vector or a matrix (a trajectory); seeds are what they belong to."""
    plain = name.removesuffix("_bar")
    if plain in SCALARS:
        return SCALAR
    return MATRIX if cols != 1 or plain in MATRICES or is_derivative(plain) else VECTOR


def is_derivative(name: str) -> bool:
    """Whether an argument is a block of a Jacobian, dOUTPUT_dINPUT."""
    return name not in ARGUMENTS and name.startswith("d") and "_d" in name


def unit_and_frame(name: str) -> tuple[str, str]:
    """Unit and frame of an argument; derivatives and seeds are described by what they belong to."""
    if name in ARGUMENTS:
        return ARGUMENTS[name]
    if name.endswith("_bar"):
        return f"derivative of a scalar by {name[:-4]}", ARGUMENTS[name[:-4]][1]
    if is_derivative(name):
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
