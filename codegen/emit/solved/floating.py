"""Emission of the joint-space step of a robot with a floating base: that of its tree, and its transformation to the world."""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Sequence

from diffpbd.codegen.emit.emission.model_header import add_source_model
from diffpbd.codegen.emit.emission.sources import Emission
from diffpbd.codegen.emit.solved.constrained_step import add_constrained_step
from diffpbd.codegen.emit.tables.constants import FLOATING_STATUS
from diffpbd.codegen.emit.text.work import doubles
from diffpbd.codegen.graph.functions.catalogue import worded
from diffpbd.codegen.graph.model.model import Model
from diffpbd.codegen.graph.solved.floating import FRAME, from_a_frame
from diffpbd.runtime.folder.manifest import POSITIONS, Argument, Function

STEPPED = (
    "joint_step", "jac_joint_step", "jac_alpha_joint_step", "vjp_joint_step", "node_torque", "rollout",
    "rollout_impulses", "vjp_rollout", "vjp_trajectory", "contact_force", "forward_dynamics", "inverse_dynamics",
    "loop_force", "close_loops", "close_rates",
)  # fmt: skip


def add_floating_step(emission: Emission, model: Model, by_alpha: bool, graphs: Container[str]) -> int:
    """src/floating.c over src/constrained_step.c, and their entries of the manifest; returns the size of the work array."""
    name, na, n = f"{emission.robot}_chart", len(model.entries), model.tree.freedoms
    tree = Emission(name, dataclasses.replace(emission.banner))
    tree_work = add_constrained_step(tree, from_a_frame(model), by_alpha, ())
    emission.texts |= tree.texts
    emission.files |= tree.files
    values = {
        "N": n, "NA": na, "TREE_WORK": tree_work, "ALPHA_JACOBIAN": by_alpha, "CONTACTS": len(model.tree.contacts),
        "ROWS": model.tree.rows, "UNILATERAL": model.tree.unilateral, "CHART_PATHS": model.tree.unilateral,
    }  # fmt: skip
    add_source_model(emission, "floating", values, {}, "")
    for source in ("floating.c", "floating_frame.h", "floating_loops.h", "chart.h"):
        emission.copy(source)
    own = [f for f in tree.functions if f.name in STEPPED]
    total = doubles("floating.c", values)
    for f in own:
        found = _of_the_robot(f, emission.robot, n, na, total, f.name in graphs)
        inputs, outputs = worded(found.inputs, True), worded(found.outputs, True)
        emission.functions.append(dataclasses.replace(found, inputs=inputs, outputs=outputs))
    return total


def _of_the_robot(f: Function, robot: str, n: int, na: int, work: int, graph: bool) -> Function:
    """A function of the tree as the robot's."""

    def own(arguments: Sequence[Argument]) -> tuple[Argument, ...]:
        found = []
        for a in arguments:
            rows = n + 1 if a.name in POSITIONS else a.rows - FRAME if a.name in ("alpha", "alpha_bar") else a.rows
            found.append(dataclasses.replace(a, rows=rows, cols=na if a.name.endswith("_dalpha") else a.cols))
        return tuple(found)

    (not_unit,) = FLOATING_STATUS
    return dataclasses.replace(
        f, symbol=f"{robot}_{f.name}", inputs=own(f.inputs), outputs=own(f.outputs),
        work_size=None if f.work_size is None else work, casadi=f"casadi/{f.name}.casadi" if graph else None,
        status={**f.status, not_unit: FLOATING_STATUS[not_unit]},
    )  # fmt: skip
