"""Emission of the joint-space step with closed loops, and of what is asked about loops at an instant."""

from __future__ import annotations

from collections.abc import Container, Mapping

from diffpbd.codegen.emit.c_writer import kernel
from diffpbd.codegen.emit.constants import IN_C, IN_LOOPS
from diffpbd.codegen.emit.sources import Emission, argument
from diffpbd.codegen.graph import constrained_step
from diffpbd.codegen.graph.catalogue import DOCS, DOCS_OF_LOOPS
from diffpbd.codegen.graph.model import Model
from diffpbd.codegen.joint_space.closures import ROWS
from diffpbd.codegen.joint_space.link_step import RECORD_ROWS
from diffpbd.runtime.manifest import Argument

STEPPED = (1, 2, 10, 12, 13)
"""What a step with loops can end in."""


def motors(model: Model) -> list[int]:
    """1 for every coordinate with a motor."""
    joints = [model.robot.joints[i] for i in model.robot.independent]
    return [int(joint.name not in model.robot.passive) for joint in joints]


def add_constrained_step(emission: Emission, model: Model, by_alpha: bool, graphs: Container[str]) -> int:
    """src/constrained_step.c and its entries of the manifest; returns the size of the work array.

    `by_alpha`: with the Jacobian by the parameters. `graphs` names what has a CasADi graph."""
    tree, alpha = model.tree, model.entries
    n, m, every = tree.freedoms, tree.rows, sum(len(ROWS[c.kind]) for c in tree.closures)
    made = constrained_step.kernels(model, by_alpha)
    texts = {g.name(): kernel(g, f"{g.name()}_kernel", accumulate=g.name() == "parameters") for g in made}
    size = next(g for g in made if g.name() == "prepare").numel_out(0)
    driven, work = motors(model), max(k.work for k in texts.values())
    border = max(n + m, every)
    rough = [i for i, e in enumerate(alpha) if e.name.startswith("friction.coulomb.")]
    emission.add(
        "src/constrained_step.c", "constrained_step.c",
        n=n, links=len(rough), alpha_size=len(alpha), model_size=size, m=m, every=every, motors=sum(driven), driven=driven,
        coulomb=rough[0] if rough else 0, border=border, kernel_work=work, record_size=RECORD_ROWS * tree.n,
        kernels=[k.text for k in texts.values()], by_alpha=by_alpha, **IN_C, **IN_LOOPS,
    )  # fmt: skip
    emission.texts["joint_step"] = sum(len(k.text) for k in texts.values())
    total = work_size(n, m, every, border) + size + RECORD_ROWS * tree.n + work + 2 * (n + m) * len(alpha)
    _declare(emission, model, {name: k.operations for name, k in texts.items()}, (n, m, total), graphs)
    return total


def work_size(n: int, m: int, every: int, border: int) -> int:
    """Doubles of the work array (the template's layout) without record, prepared numbers, kernels, derivatives by alpha."""
    return 18 * n + 8 * m + every * (n + 1) + 9 * m * n + 10 * n * n + 2 * m * m + border * (border + 1)


def _declare(
    emission: Emission,
    model: Model,
    operations: Mapping[str, int],
    sizes: tuple[int, int, int],
    graphs: Container[str],
) -> None:
    n, m, total = sizes
    na = len(model.entries)
    shapes: Mapping[str, tuple[int, int | str]] = {
        **dict.fromkeys(
            ("p", "pd", "pdd", "u", "kick", "p_next", "pd_next", "p_prev", "p0", "pd0", "fixed", "p_closed", "pd_closed",
             "unbalanced"), (n, 1),
        ),
        "h": (1, 1), "alpha": (na, 1), "U": (n, "N"), "P": (n, "N+1"), "PD": (n, "N+1"), "loop_force": (m, 1),
    }  # fmt: skip

    def arguments(names: str) -> list[Argument]:
        found = []
        for name in names.split():
            jacobian = name.startswith("d") and "_d" in name
            shape = (n, na if name.endswith("alpha") else n) if jacobian else shapes[name.removesuffix("_bar")]
            found.append(argument(name, *shape))
        return found

    def count(*names: str) -> int:
        return sum(operations[name] for name in names)

    solve = m * m * n + m**3 // 3 + 4 * m * n  # a border: A X, its elimination, two products
    step = count("prepare", "start", "newton", "chord", "end", "velocity") + 4 * solve
    inverses = count("systems", "curvature") + 2 * (m**3 + n * m * m + n * n * m)
    adjoint = inverses + count("parameters") + 8 * n * n
    state, ends = "p pd u h alpha", "p_next pd_next"
    blocks = f"{ends} dp_next_dp dp_next_dpd dp_next_du dpd_next_dp dpd_next_dpd dpd_next_du"
    bars, bars0 = "p_bar pd_bar u_bar h_bar alpha_bar", "p0_bar pd0_bar U_bar h_bar alpha_bar"
    instant, alone = count("instant") + solve, operations.get("by_alpha", 0)
    for name, inputs, outputs, cost, status in (
        ("joint_step", state, ends, step, STEPPED),
        ("jac_joint_step", state, blocks, step + inverses + 7 * n**3, STEPPED),
        ("jac_kicked_step", "p pd u kick h alpha", blocks, step + inverses + 7 * n**3, STEPPED),
        ("jac_alpha_joint_step", state, "dp_next_dalpha dpd_next_dalpha", step + inverses + alone, STEPPED),
        ("vjp_joint_step", f"{state} p_next_bar pd_next_bar", bars, step + adjoint, STEPPED),
        ("node_torque", "p_prev p p_next h alpha", "u", count("prepare", "node", "velocity") + 2 * solve, (2, 10)),
        ("rollout", "p0 pd0 U h alpha", "P PD", step - count("prepare"), STEPPED),
        ("vjp_rollout", "p0 pd0 U h alpha P_bar PD_bar", bars0, step + adjoint, STEPPED),
        ("vjp_trajectory", "U h alpha P PD P_bar PD_bar", bars0, adjoint, (10,)),
        ("forward_dynamics", "p pd u alpha", "pdd", instant, (4, 10)),
        ("loop_force", "p pd u alpha", "loop_force", instant, (4, 10)),
        ("inverse_dynamics", "p pd pdd alpha", "u loop_force unbalanced", count("held") + (n + m) ** 3 // 3, (10,)),
        ("close_loops", "p fixed alpha", "p_closed", count("closing"), (13,)),
        ("close_rates", "p pd alpha", "pd_closed", instant, (10,)),
    ):  # fmt: skip
        if name == "jac_alpha_joint_step" and "by_alpha" not in operations:
            continue
        along = name.endswith(("rollout", "trajectory"))
        emission.declare(
            name, DOCS_OF_LOOPS.get(name, DOCS[name]), arguments(inputs), arguments(outputs),
            operations=cost, work=None if along else total, graph=name in graphs, status=status,
        )  # fmt: skip
