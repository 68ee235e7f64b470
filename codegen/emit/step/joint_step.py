"""Emission of the joint-space step of a tree: its functions, and rows of a batch side by side."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Final

from diffpbd.codegen.emit.emission.model_header import Table, Value, add_source_model
from diffpbd.codegen.emit.emission.paths import LANES, add_lanes
from diffpbd.codegen.emit.emission.sources import Emission, Shapes, arguments
from diffpbd.codegen.emit.step.kinds import PLAIN_FRICTION, coulomb_kinds, friction_kinds, starts, zero
from diffpbd.codegen.emit.step.parameter_slopes import Slope
from diffpbd.codegen.emit.step.step_kernels import StepKernels
from diffpbd.codegen.emit.text.c_writer import MOST_LANES
from diffpbd.codegen.emit.text.work import doubles
from diffpbd.codegen.functions import DOCS
from diffpbd.codegen.joint_space import tree_jacobian
from diffpbd.runtime.folder.manifest import Parameter

SHARED: Final = ("step_functions.h", "step_interface.h", "convergence.h", "trajectory.h", "work_sizes.h")
"""Plain C of every step in joint space."""


def add_joint_step(
    emission: Emission,
    kernels: StepKernels,
    n: int,
    links: int,
    alpha: Sequence[Parameter],
    laws: Sequence[str] = (),
    graphs: Container[str] = (),
    by_alpha: bool = True,
    along: bool = True,
) -> int:
    """The joint-space step, its derivatives and rollouts, on n coordinates; returns the size of its work array.

    `laws` are the parts of the friction law beyond the plain one, `graphs` names what has a CasADi graph; `by_alpha`: whether
    the Jacobian by parameters is there; `along`: whether what several steps make is."""
    deep = kernels.deep
    emission.texts["joint_step"] = kernels.bytes
    values = _values(kernels, n, links, alpha, laws, by_alpha)
    size = doubles("joint_step.c", values)

    def count(*names: str) -> int:
        return sum(kernels.operations[k] for k in names)

    step = count("prepare", "start", "newton", "chord", "end", "velocity")
    own = (
        ("joints", "tree_adjoint")
        if deep
        else ("inertia", "velocity_newton", "momentum_slope", "assembly", "solve_transposed")
    )
    adjoint = count(*own, "adjoint_parameters")
    jacobian = count("joints", "tree_jacobian") if deep else count("jacobian")
    pulls = count("joints") + 2 * n * (adjoint - count("joints")) if deep else 0
    if kernels.slopes:
        jacobian_alpha = count("joints", "shares", "own", "slopes", "parameters")
    else:
        jacobian_alpha = 0 if not by_alpha else pulls if deep else count("jacobian_alpha")
    shapes: Shapes = {
        **dict.fromkeys(("p", "pd", "u", "kick", "p_next", "pd_next", "p_prev", "p0", "pd0"), (n, 1)),
        "h": (1, 1), "alpha": (len(alpha), 1), "U": (n, "N"), "P": (n, "N+1"), "PD": (n, "N+1"),
    }  # fmt: skip
    onward = step - count("prepare")
    node = count("prepare", "node", "velocity", "node_torque")
    declared = set()
    for name, operations in (
        ("joint_step", step),
        ("jac_joint_step", step + jacobian),
        ("jac_kicked_step", step + jacobian),
        ("jac_alpha_joint_step", step + jacobian_alpha),
        ("vjp_joint_step", step + adjoint),
        ("node_torque", node),
        *((name, operations) for name, operations in _of_orders(step, jacobian, adjoint) if kernels.sixth),
        ("rollout", onward),
        ("vjp_rollout", onward + adjoint),
        ("vjp_trajectory", count("prepare") + adjoint),
    ):
        if name == "jac_alpha_joint_step" and not by_alpha:
            continue
        composed = "_order_" in name
        if name.endswith(("node_torque", "rollout", "trajectory")) and not composed and not along:
            continue
        beside = int(values.get(f"LANES_{'sixth_order_step' if composed else name}".upper(), 0))
        work = None if name.endswith(("rollout", "trajectory")) else size + beside
        declared.add(name)
        emission.declare(
            name, DOCS[name], *arguments(name, shapes), operations=operations, work=work, graph=name in graphs,
            status=(1, 2, 11) if composed else (1, 2),
        )  # fmt: skip
    portable = () if kernels.slopes else ("jac_alpha_joint_step",)
    dispatched = [f for f in emission.functions if f.name in declared and f.name not in portable]
    emission.dispatched += dispatched
    emission.copy("joint_step.c")
    along_tree = ("tree_jacobian.h", *(("tree_parameters.h",) if kernels.slopes else ()))
    for name in (*SHARED, *(along_tree if deep else ("rollout.h", "adjoint.h", "lanes.h"))):
        emission.copy(name)
    if kernels.sixth:
        emission.copy("orders.h")
    tables: dict[str, Table] = {"parents": ("int", kernels.parents)} if deep else {}
    if kernels.slopes:
        tables |= {f"slope_{k}": ("int", [getattr(s, k) for s in kernels.slopes]) for k in Slope._fields}
    add_source_model(emission, "joint_step", {**values, "ALONE": size}, tables, _texts(kernels))
    return size + int(values["LANES_JOINT_STEP"])


def _of_orders(step: int, jacobian: int, adjoint: int) -> Iterator[tuple[str, int]]:
    """Functions of templates/step/orders.h with their operations: five and six steps of second order."""
    for order, steps in (("fourth", 5), ("sixth", 6)):
        yield f"{order}_order_step", steps * step
        yield f"jac_{order}_order_step", steps * (step + jacobian)
        yield f"vjp_{order}_order_step", steps * (step + adjoint)
        yield f"{order}_order_rollout", steps * step
        yield f"vjp_{order}_order_rollout", steps * (step + adjoint)


def _values(
    kernels: StepKernels, n: int, links: int, alpha: Sequence[Parameter], laws: Sequence[str], by_alpha: bool
) -> Mapping[str, Value | bool]:
    """Values of the model header of joint_step.c and joint_step_lanes.h."""
    coulomb, friction = starts(alpha, coulomb_kinds(laws)), starts(alpha, friction_kinds(laws))
    values: dict[str, Value | bool] = {
        "N": n, "LINKS": links, "NA": len(alpha), "NM": kernels.model, "RECORD": kernels.record, "FACTORS": kernels.factors,
        "MASS": kernels.mass, "KERNEL_WORK": kernels.work, "JOINT": tree_jacobian.ROWS, "DEEP": kernels.deep,
        "ALPHA_JACOBIAN": by_alpha, "SLOPES": len(kernels.slopes), "SHARES": kernels.shares,
        "ROW": _row(kernels, n, len(alpha)),
        "SIXTH": bool(kernels.sixth), "VARYING": len(friction) > PLAIN_FRICTION,
        "NO_COULOMB(alpha, k)": zero(coulomb), "NO_FRICTION(alpha, k)": zero(friction),
    }  # fmt: skip
    return {**values, **_lanes_work(values)}


def _lanes_work(values: Mapping[str, Value | bool]) -> dict[str, int]:
    """Doubles that functions with lanes need beyond those of one state; none for a deep tree."""
    lanes = {
        "joint_step": (MOST_LANES, "LaneStep"), "jac_joint_step": (4, "LaneJacobian"), "vjp_joint_step": (4, "LaneReverse"),
        "rollout": (4, "LaneReverse"), "sixth_order_step": (4, "LaneSixth"),
    }  # fmt: skip
    head = int(values["NM"]) + int(values["MASS"]) + 3 * int(values["N"]) + MOST_LANES
    return {
        f"LANES_{name.upper()}": 0 if values["DEEP"] else head + count * doubles("joint_step_lanes.h", values, struct)
        for name, (count, struct) in lanes.items()
    }


def _row(kernels: StepKernels, n: int, entries: int) -> int:
    """Doubles for the Jacobian by parameters of a deep tree: shares, changes by numbers of joints, slopes; or seeds and
    gradients of a row."""
    if kernels.slopes:
        return kernels.shares + 2 * kernels.model + len(kernels.slopes)
    return 9 * n + 1 + entries


def _texts(kernels: StepKernels) -> str:
    """The kernels, each where it is called: over V in a file of lanes too."""
    if kernels.deep:
        return "\n".join(('#include "sine_cosine.h"\n', *kernels.texts))
    return "\n".join((
        '#include "lanes.h"\n', *kernels.step, "#ifndef STEP_ALONE", *kernels.derivatives,
        *(("#if defined(LANES) && LANES == 4", *kernels.sixth, "#endif") if kernels.sixth else ()), "#endif",
        "#ifndef LANES", *kernels.texts, *(("#ifndef FOR_V3", *kernels.portable, "#endif") if kernels.portable else ()),
        "#endif",
    ))  # fmt: skip


def add_step_lanes(emission: Emission) -> None:
    """The step and its derivatives for rows side by side; 8 lanes gain nothing in derivatives, whose values leave the cache."""
    add_lanes(emission, "joint_step_lanes.h", "joint_step", tuple(LANES), alone="STEP_ALONE")
    emission.lanes += ["_(joint_step, 3, 2, lanes8)", *(f"_({k}_joint_step, 3, 2, lanes4_v4)" for k in ("jac", "vjp"))]
