"""Every generated function, declared once: what it computes, its inputs and outputs.

Manifest, header, `info`, `help()` and the typed stub of `Robot` (`emit/stub.py`) say what stands here; units and frames of
arguments stand in `graph/functions/catalogue.py`. A function emitted with other arguments is refused (`expect_declared`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

__all__ = [
    "DOCS", "DOCS_OF_LIMITS", "DOCS_OF_LOOPS", "FUNCTIONS", "VARIANTS", "Declared", "Slot", "alpha_doc", "expect_declared",
    "jac_doc", "table", "vjp_doc",
]  # fmt: skip

VARIANTS: Final = (
    "variational_direct", "variational_gauss_seidel", "variational_jacobi",
    "paper_direct", "paper_gauss_seidel", "paper_jacobi",
)  # fmt: skip
"""Integrator and solver of a `step` on maximal states."""


@dataclass(frozen=True)
class Slot:
    """An input or output; `always`: whether every robot that has the function has it."""

    name: str
    always: bool = True


@dataclass(frozen=True)
class Declared:
    """A function. `of_loops` and `of_limits` are what its doc reads for a robot with closed loops, with acting limits."""

    name: str
    doc: str
    inputs: tuple[Slot, ...]
    outputs: tuple[Slot, ...]
    of_loops: str = ""
    of_limits: str = ""


def jac_doc(name: str) -> str:
    """Description of a Jacobian by all but alpha."""
    return f"{name} and its Jacobian by everything but alpha."


def alpha_doc(name: str) -> str:
    """The same of one by alpha."""
    return f"Jacobian of {name} by alpha."


def vjp_doc(name: str) -> str:
    """The same of a reverse derivative."""
    return f"Reverse derivative of {name}: seeds on the outputs, gradients by every input."


def _slots(text: str) -> tuple[Slot, ...]:
    """Arguments of these names; those in brackets only some robots have."""
    return tuple(Slot(name.strip("[]"), not name.startswith("[")) for name in text.split())


_made: dict[str, Declared] = {}


def _add(name: str, doc: str, inputs: str, outputs: str, *, also: str = "", loops: str = "", limits: str = "") -> None:
    """Declare a function and the derivatives in `also`: words of jac, jac_alpha and vjp."""
    declared = Declared(name, doc, _slots(inputs), _slots(outputs), loops, limits)
    _made[name] = declared
    for kind in also.split():
        _made[f"{kind}_{name}"] = _derivative(kind, declared)


def _derivative(kind: str, of: Declared) -> Declared:
    """`jac_`, `jac_alpha_` or `vjp_` of a function."""
    name = f"{kind}_{of.name}"
    if kind == "vjp":
        seeds = tuple(Slot(f"{slot.name}_bar", slot.always) for slot in of.outputs)
        bars = tuple(Slot(f"{slot.name}_bar", slot.always) for slot in of.inputs)
        return Declared(name, vjp_doc(of.name), of.inputs + seeds, bars)
    by = ["alpha"] if kind == "jac_alpha" else [slot.name for slot in of.inputs if slot.name not in ("alpha", "h")]
    slopes = tuple(Slot(f"d{out.name}_d{k}", out.always) for out in of.outputs for k in by)
    if kind == "jac_alpha":
        return Declared(name, alpha_doc(of.name), of.inputs, slopes)
    return Declared(name, jac_doc(of.name), of.inputs, of.outputs + slopes)


ALL: Final = "jac jac_alpha vjp"
STATE: Final = "p pd u h alpha"
BLOCKS: Final = "p_next pd_next dp_next_dp dp_next_dpd dp_next_du dpd_next_dp dpd_next_dpd dpd_next_du"
IMPULSES: Final = "[loop_impulse] [loop_impulse_next] [limit_impulse] [limit_impulse_next]"

_add(
    "inverse_dynamics", "Torque that a joint sensor reads: rigid body, rotors, friction, springs, sensor offset.",
    "p pd pdd alpha", "u [loop_force] [unbalanced]", also=ALL,
    loops="Torques of the motors (zero at passive joints), forces of the loops, and what is left where there are fewer motors "
    "than freedoms; of more the least torques.",
)  # fmt: skip
_add(
    "forward_dynamics", "Joint acceleration under the true torque u.", "p pd u alpha", "pdd", also=ALL,
    loops="Joint acceleration under the true torque u, the loops' forces included.",
)  # fmt: skip
_add("mass_matrix", "Joint-space inertia, rotors included.", "p alpha", "M")
_add("gravity", "Torque that holds the arm against gravity at rest, payload included.", "p alpha", "u", also=ALL)
_add("coriolis", "Velocity-product torque C(p, pd) pd.", "p pd alpha", "u")
_add(
    "energy", "Kinetic energy (rotors included); potential energy of gravity and joint springs, zero at the world origin.",
    "p pd alpha", "kinetic potential",
)  # fmt: skip
_add("tip_pose", "Position and rotation of the tip frame.", "p alpha", "position rotation", also=ALL)
_add("tip_jacobian", "Geometric Jacobian of the tip frame.", "p alpha", "J")
_add("frame_pose", "Position and rotation of a frame, by default the tip's.", "p frame alpha", "position rotation")
_add("frame_jacobian", "Velocity of a frame, linear then angular, per joint rate.", "p frame reference alpha", "J")
_add("frame_velocity", "Velocity of a frame, linear then angular.", "p pd frame reference alpha", "v")
_add(
    "frame_acceleration", "Acceleration of a frame, linear then angular: spatial, and classical, that of the point.",
    "p pd pdd frame reference alpha", "spatial classical",
)  # fmt: skip
_add(
    "ik", "Inverse kinematics: the position of the first start that brings a frame to a goal within the joint limits.",
    "goal_position goal_rotation goal_weights p0 fixed frame ik_options alpha "
    "[keep_apart] [spheres] [capsules] [boxes] [planes]", "p ik_info",
)  # fmt: skip
_add(
    "regressor", "Rigid-body torque per inertial parameter of each link: u = Y theta, payload left out.",
    "p pd pdd alpha", "Y",
)  # fmt: skip
_add("spring_torque", "Torque of the joint springs.", "p alpha", "torque")
_add("friction_torque", "Torque of joint friction, viscous plus smoothed Coulomb.", "pd alpha", "torque")
_add(
    "deflection_next", "Deflection of every joint's friction with memory at the end of a joint_step, by the rates there.",
    "pd_next h alpha", "deflection", also=ALL,
)  # fmt: skip
_add(
    "lever_spring_torque", "Torque of a straight spring between two lever arms about a joint.",
    "angle lever_stiffness arm_1 arm_2 lever_offset lever_rest", "lever_torque",
)  # fmt: skip
_add(
    "torque_terms", "What inverse_dynamics is linear in: inverse_dynamics = terms phi.", "p pd pdd alpha", "terms",
    loops="What the torques of the tree, with a motor at every joint, are linear in: terms phi.",
)  # fmt: skip
_add(
    "torque_coefficients", "Coefficients of torque_terms: inertial parameters, friction, rotors, offsets, springs.",
    "alpha", "phi",
)  # fmt: skip
_add(
    "joint_step", "One second-order symplectic step on joint coordinates.", STATE, "p_next pd_next",
    loops="One second-order symplectic step on joint coordinates, closed loops kept closed.",
    limits="One second-order symplectic step on joint coordinates; joints stop at their limits.",
)  # fmt: skip
_add("jac_joint_step", "joint_step and its Jacobian by p, pd and u.", STATE, BLOCKS)
_add("jac_alpha_joint_step", "Jacobian of joint_step by alpha.", STATE, "dp_next_dalpha dpd_next_dalpha")
_add(
    "vjp_joint_step", "Reverse derivative of joint_step.", f"{STATE} p_next_bar pd_next_bar",
    "p_bar pd_bar u_bar h_bar alpha_bar",
)  # fmt: skip
_add(
    "jac_kicked_step", "joint_step with a known impulse on the joints at its end, and its Jacobian by p, pd and u.",
    "p pd u kick h alpha", BLOCKS,
)  # fmt: skip
for _order, _doc in (
    ("fourth_order", "Five joint_steps, the third backwards in time, by Suzuki's composition; no friction."),
    ("sixth_order", "joint_steps over h, h/2 and h/3, extrapolated to sixth order; no friction."),
):
    _add(f"{_order}_step", _doc, STATE, "p_next pd_next", also="jac vjp")
    _repeated = f"{_order}_step repeated over the columns of U; P and PD hold the start and every step's end."
    _add(f"{_order}_rollout", _repeated, "p0 pd0 U h alpha", "P PD", also="vjp")
_add(
    "node_torque", "Torque from three poses: the discrete Euler-Lagrange equation at the middle one, sensor offset included.",
    "p_prev p p_next h alpha", "u",
    loops="Torques of the motors from three poses: the discrete Euler-Lagrange equation at the middle one.",
)  # fmt: skip
_add(
    "rollout", "joint_step repeated over the columns of U; P and PD hold the start and every step's end.",
    "p0 pd0 U h alpha", "P PD",
)  # fmt: skip
_add(
    "vjp_rollout", "Reverse derivative of rollout; with h_bar and alpha_bar both NULL those two are left out and cost nothing.",
    "p0 pd0 U h alpha P_bar PD_bar", "p0_bar pd0_bar U_bar h_bar alpha_bar",
)  # fmt: skip
_add(
    "vjp_trajectory", "Reverse derivative of rollout along a trajectory P, PD that it gave; otherwise as vjp_rollout.",
    "U h alpha P PD P_bar PD_bar", "p0_bar pd0_bar U_bar h_bar alpha_bar",
)  # fmt: skip
_add(
    "rollout_impulses", "rollout with what it took: iterations, and the impulses of loops, limits and contacts in every step.",
    "p0 pd0 U h alpha", f"P PD counters {IMPULSES} [contact_impulse] [contact_impulse_next]",
)  # fmt: skip
_add(
    "estimate_torque", "Torques of a window of joint_steps that come closest to recorded positions and angular velocities "
    "(Gauss-Newton from U_start); what no term of the loss depends on stays as it was.",
    "p0 pd0 U_start P_ref PD_ref u_prev lambdas known_friction h alpha", "U P PD loss change",
)  # fmt: skip
_add(
    "mpc", "Plan of N torques along a reference, bounded: sequential quadratic programs over joint_step.",
    "p pd u_last P_ref PD_ref U_ref tip_ref weights tip_weights bounds options h alpha P_guess PD_guess U_guess "
    "[keep_apart] [spheres] [capsules] [boxes] [planes]",
    "U P PD info",
    loops="Plan of N torques of the motors along a reference, bounded: sequential quadratic programs over joint_step, every "
    "node and the measured state moved to what closed loops allow. Torques of joints without a motor are zero; their weights "
    "and bounds of u are not read.",
)  # fmt: skip
_add(
    "damped_hold", "Torque of the motors, within bounds, that holds a pose and damps its motion, stable in sampled control.",
    "p pd u_lower u_upper delay h alpha", "u",
)  # fmt: skip
_add("fk", "Maximal state of every link from joint positions and rates.", "p pd alpha", "xi", also="vjp")
_add(
    "joint_state", "Joint positions and rates from the maximal state; p is unwrapped to within half a turn of p_ref.",
    "xi alpha p_ref", "p pd", also="vjp",
)  # fmt: skip
for _end in ("", *(f"_{variant}" for variant in VARIANTS)):
    _add(f"step{_end}", "One step on the maximal state:", "xi u h alpha", "xi_next", also="vjp")
    _add(
        f"rollout_step{_end}", "repeated over the columns of U; XI holds the start and every step's end.",
        "xi0 U h alpha", "XI", also="vjp",
    )  # fmt: skip
_add(
    "constraints", "Residual rows of every joint.", "xi alpha", "c",
    loops="Residual rows of every joint, then every row of the loops.",
)  # fmt: skip
_add(
    "momentum_residual", "Momentum balances of a variational step between two maximal states, zero along `step`.",
    "xi u h alpha xi_next impulse impulse_next p_ref", "balance",
)  # fmt: skip
_add(
    "state_residual", "What makes a maximal state consistent: constraints, unit quaternions, rates of the constraints.",
    "xi alpha", "residual",
)  # fmt: skip
_add(
    "close_loops", "Closed pose nearest to p: Gauss-Newton with least change on every row of the loops.", "p fixed alpha",
    "p_closed",
)  # fmt: skip
_add("close_rates", "Rates that the loops allow, nearest to pd in the kinetic energy.", "p pd alpha", "pd_closed")
_add("loop_residual", "Every row of the loops, and its rate.", "p pd alpha", "rows row_rates", also=ALL)
_add("loop_force", "Forces along the kept rows of the loops at an instant.", "p pd u alpha", "loop_force")
_add("contact_gap", "How far apart what can touch is.", "p alpha", "gap", also=ALL)
_add(
    "contact_jacobian", "Rates of the sphere of every contact against the other, at the point between them, per joint rate.",
    "p alpha", "contact_rows", also=ALL,
)  # fmt: skip
_add(
    "contact_torque", "What forces on the spheres of contacts, at the point between them and the other, do on the joints.",
    "p contact_force alpha", "torque",
)  # fmt: skip
_add(
    "contact_force", "Mean forces of contacts over the joint_step from a state, and the iterations that it takes.", STATE,
    "contact_force iterations",
)  # fmt: skip
_add(
    "contact_residual", "Equations of a step in contact, zero along joint_step: for transcriptions.",
    f"{STATE} p_next pd_next {IMPULSES} contact_impulse contact_impulse_next", "pose_residual rate_residual",
)  # fmt: skip

OBSTACLES: Final = "[spheres] [capsules] [boxes] [planes]"
_add(
    "clearance", "Signed distances of links from each other and from obstacles.", f"p {OBSTACLES} alpha", "distance",
    also="vjp",
)  # fmt: skip
_add(
    "clearance_points", "clearance with the nearest points on both bodies and the normals there.", f"p {OBSTACLES} alpha",
    "distance point other_point normal",
)  # fmt: skip
_add("jac_clearance", "clearance and its Jacobian by p.", f"p {OBSTACLES} alpha", "distance ddistance_dp")

FUNCTIONS: Final[Mapping[str, Declared]] = MappingProxyType(_made)
"""By name."""
DOCS: Final[Mapping[str, str]] = {name: declared.doc for name, declared in FUNCTIONS.items()}
DOCS_OF_LOOPS: Final[Mapping[str, str]] = {name: d.of_loops for name, d in FUNCTIONS.items() if d.of_loops}
"""Descriptions that differ for a robot with closed loops."""
DOCS_OF_LIMITS: Final[Mapping[str, str]] = {name: d.of_limits for name, d in FUNCTIONS.items() if d.of_limits}
"""Descriptions that differ for a robot whose limits act."""


def expect_declared(name: str, inputs: Sequence[str], outputs: Sequence[str]) -> None:
    """Refuses a function, or arguments of it, that are not declared here: a fault of the generator."""
    if name not in FUNCTIONS:
        raise LookupError(f"{name} is emitted and not declared in codegen/functions.py")
    declared = FUNCTIONS[name]
    for what, given, slots in (("inputs", inputs, declared.inputs), ("outputs", outputs, declared.outputs)):
        said = [slot.name for slot in slots if slot.always or slot.name in given]
        if list(given) != said:
            raise LookupError(f"{name} is emitted with {what} {list(given)}, and declared with {said}")


def table() -> str:
    """The table of docs/c.md: functions with what they take and give; derivatives by their prefix beside the function."""
    kinds = ("jac", "jac_alpha", "vjp")
    derived = {f"{kind}_{name}" for kind in kinds for name in FUNCTIONS}
    rows = ["| function | takes | gives | what it is |", "|---|---|---|---|"]
    for f in FUNCTIONS.values():
        if f.name in derived or f.name.endswith(VARIANTS):
            continue
        also = "".join(f", `{kind}_`" for kind in kinds if f"{kind}_{f.name}" in FUNCTIONS)
        takes, gives = (" ".join(s.name if s.always else f"[{s.name}]" for s in side) for side in (f.inputs, f.outputs))
        rows.append(f"| `{f.name}`{also} | {takes} | {gives} | {f.doc} |")
    return "\n".join(rows)
