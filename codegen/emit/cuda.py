"""Emission of NAME.cu: the step, its derivatives, rollouts and what a batch asks for, a thread a state (`--cuda`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import casadi as ca

from diffpbd.codegen.emit.c_writer import LANES, kernel
from diffpbd.codegen.emit.constants import ESTIMATE_BAD_INPUT, IN_C
from diffpbd.codegen.emit.environment import plain
from diffpbd.codegen.emit.kinds import COULOMB, FRICTION, PLAIN_FRICTION, starts
from diffpbd.codegen.emit.paths import WRITTEN
from diffpbd.codegen.emit.single import single
from diffpbd.codegen.emit.sources import Emission
from diffpbd.codegen.graph import joint_step, torque_estimation
from diffpbd.codegen.graph.capabilities import Capabilities
from diffpbd.codegen.graph.functions import Graphs
from diffpbd.codegen.graph.model import Model, prepare
from diffpbd.codegen.graph.translate import graph_of
from diffpbd.codegen.program.tree import DENSE_DEPTH
from diffpbd.runtime.base.errors import InputError, arg

STEP: Final = (
    "prepare", "start", "newton", "chord", "end", "velocity", "velocity_gradient", "velocity_newton", "jacobian", "inertia",
    "momentum_slope", "assembly", "solve_transposed", "friction_lag", "adjoint_parameters",
)  # fmt: skip
"""Kernels of the step that templates/robot.cu.jinja calls."""
PLAIN: Final = ("inverse_dynamics", "forward_dynamics", "fk", "tip_jacobian")
"""Functions without an iteration that get an entry."""
MOST_IN, MOST_OUT = 10, 9
"""Arguments of the entry that has most, `left` included."""


def check_cuda(model: Model, found: Capabilities) -> None:
    """Refuses what has no text for a GPU, by name."""
    reasons = [found.lacking[need] for need in ("open", "unlimited", "free") if need in found.lacking]
    if model.robot.floating:
        reasons.append("a floating base")
    if model.tree.deep:
        reasons.append(found.lacking["short"])
    if "forgetful" in found.lacking:
        reasons.append(found.lacking["forgetful"])
    if not found.has("joint_step"):
        reasons.append(found.left_out["joint_step"])
    if reasons:
        raise InputError(
            f"{model.recipe.name}: {arg.cuda} is for open trees on a fixed or planar base, without limits, contacts and memory "
            f"of friction, of at most {DENSE_DEPTH} joints on a path, that step in joint space: here {'; '.join(reasons)}. "
            f"Leave {arg.cuda} out."
        )


def add_cuda(emission: Emission, model: Model, found: Capabilities) -> list[str]:
    """NAME.cu; a line for what the C has and it has not. `check_cuda` has let the model through."""
    graphs = {g.name(): g for g in joint_step.kernels(model, prepare(model), by_alpha=False)}
    formulas = _plain(model, found)
    estimation = found.has("estimate_torque") and not model.robot.passive
    others = dict(formulas)
    if estimation:
        others |= {g.name(): g for g in torque_estimation.kernels(model)}
    else:
        others.pop("friction_torque")
    kernels = [
        kernel(g, f"{name}_kernel", accumulate=name == "adjoint_parameters", device=True).text
        for name, g in (*((k, graphs[k]) for k in STEP if k in graphs), *others.items())
    ]
    coulomb, *more_coulomb = starts(model.entries, COULOMB)
    friction = starts(model.entries, FRICTION)
    varying = len(friction) > PLAIN_FRICTION
    functions = sorted({text[5 : text.index("(")] for text in LANES.values() if text.startswith("each_")} - WRITTEN)
    joints = model.robot.n
    emission.add(
        f"{emission.robot}.cu", "robot.cu",
        kernels=kernels, each=functions, most_in=MOST_IN, most_out=MOST_OUT,
        plain=[_entry(name, g) for name, g in formulas.items() if name in PLAIN], estimation=estimation,
        n=model.tree.freedoms, links=joints, joints="N" if joints == model.tree.freedoms else str(joints),
        alpha_size=len(model.entries), model_size=graphs["prepare"].numel_out(0),
        record_size=graphs["start"].numel_out("record"), factors_size=graphs["newton"].numel_out("factors"),
        mass_size=graphs["end"].numel_out("M"), coulomb=coulomb, more_coulomb=more_coulomb, friction=friction,
        varying=varying, begun_of="of->begun, " if varying else "", rates=others["rates"].numel_out(0) if estimation else 0,
        bad_input=ESTIMATE_BAD_INPUT, sizes=IN_C, single_series=single(plain("sine_series_single.h")),
    )  # fmt: skip
    if estimation or not found.has("estimate_torque"):
        return []
    return [f"passive joints ({', '.join(model.robot.passive)}); left out of the text for a GPU: estimate_torque"]


def _plain(model: Model, found: Capabilities) -> Mapping[str, ca.Function]:
    """Graphs of the plain functions that are called, by name."""
    chosen = {}
    for name, inputs, outputs in Graphs(model, forward=found.has("forward_dynamics")).values():
        if name in (*PLAIN, "friction_torque") and found.has(name):
            chosen[name] = graph_of(name, dict(inputs), outputs)
    return chosen


def _entry(name: str, graph: ca.Function) -> dict[str, Any]:
    """Of a plain function: its inputs with their sizes, alpha left out, which is the last; the number of its outputs."""
    inputs = [(graph.name_in(k), graph.numel_in(k)) for k in range(graph.n_in() - 1)]
    return {"name": name, "inputs": inputs, "outputs": graph.n_out()}
