"""Emission of NAME.cu: the step, its derivatives, rollouts and batch functions, one thread per state (`--cuda`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import casadi as ca

from diffpbd.codegen.emit.emission.model_header import Value
from diffpbd.codegen.emit.emission.sources import Emission, places
from diffpbd.codegen.emit.single import single
from diffpbd.codegen.emit.step.kinds import PLAIN_FRICTION, coulomb_kinds, friction_kinds, starts, zero
from diffpbd.codegen.emit.step.step_kernels import START_RATE
from diffpbd.codegen.emit.tables.constants import IN_C, STATUS_NAMES
from diffpbd.codegen.emit.text.c_writer import kernel
from diffpbd.codegen.emit.text.environment import plain
from diffpbd.codegen.graph.expressions.translate import graph_of
from diffpbd.codegen.graph.functions.capabilities import Capabilities
from diffpbd.codegen.graph.functions.functions import Graphs
from diffpbd.codegen.graph.model.model import Model, prepare
from diffpbd.codegen.graph.step import joint_step, torque_estimation
from diffpbd.codegen.program.tree import DENSE_DEPTH
from diffpbd.runtime.base.errors import InputError, arg

STEP: Final = (
    "prepare", "start", "newton", "chord", "end", "velocity", "velocity_gradient", "velocity_newton", "jacobian", "inertia",
    "momentum_slope", "assembly", "solve_transposed", "friction_lag", "adjoint_parameters",
)  # fmt: skip
"""Kernels of the step that templates/gpu/gpu_step.cuh and gpu_rollout.cuh call."""
PLAIN: Final = ("inverse_dynamics", "forward_dynamics", "fk", "tip_jacobian")
"""Functions without an iteration that get an entry."""


def check_cuda(model: Model, found: Capabilities) -> None:
    """Refuses features without text for a GPU, by name."""
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
    """NAME.cu; returns lines on functions that only the C has. The model has passed `check_cuda`."""
    graphs = {g.name(): g for g in joint_step.kernels(model, prepare(model), by_alpha=False)}
    formulas = _plain(model, found)
    estimation = found.has("estimate_torque") and not model.robot.passive
    others = dict(formulas)
    if estimation:
        others |= {g.name(): g for g in torque_estimation.kernels(model)}
    else:
        others.pop("friction_torque")
    kernels = [
        kernel(
            g, f"{name}_kernel", accumulate=name == "adjoint_parameters", device=True, also=START_RATE.get(name, ())
        ).text
        for name, g in (*((k, graphs[k]) for k in STEP if k in graphs), *others.items())
    ]
    coulomb, friction = (starts(model.entries, kinds(model.tree.friction)) for kinds in (coulomb_kinds, friction_kinds))
    values: dict[str, Value | bool] = {
        "N": model.tree.freedoms, "LINKS": model.robot.n, "NA": len(model.entries), "NM": graphs["prepare"].numel_out(0),
        "RECORD": graphs["start"].numel_out("record"), "FACTORS": graphs["newton"].numel_out("factors"),
        "MASS": graphs["end"].numel_out("M"), "VARYING": len(friction) > PLAIN_FRICTION,
        "COULOMB(alpha, k)": f"({' || '.join(f'(alpha)[{at} + (k)] != V(0)' for at in coulomb)})",
        "NO_FRICTION(alpha, k)": zero(friction, "V(0)"),
        **{name.upper(): name in formulas for name in PLAIN}, "ESTIMATION": estimation,
    }  # fmt: skip
    if estimation:
        values |= {
            "ROBOT(name)": f"{emission.robot}_##name", "RATES": others["rates"].numel_out(0),
            "FRICTION_STARTS": f"{{{', '.join(map(str, friction))}}}",
            **places("estimate_torque", ()),
            "DRIVEN": f"{{{', '.join(['1'] * model.tree.freedoms)}}}",
        }  # fmt: skip
    emission.join(f"{emission.robot}.cu", "robot.cu", {
        "gpu_model.cuh": _model_text(values, kernels),
        "sine_series_single.h": single(plain("sine_series_single.h")),
        **({} if estimation else {"gpu_estimation.cuh": ""}),
    })  # fmt: skip
    if estimation or not found.has("estimate_torque"):
        return []
    return [f"passive joints ({', '.join(model.robot.passive)}); left out of the text for a GPU: estimate_torque"]


def _model_text(values: Mapping[str, Value | bool], kernels: Iterable[str]) -> str:
    """The robot's part of the text for a GPU: constants and statuses, `values`, kernels."""
    numbers = {f"C_{name.upper()}": value for name, value in IN_C.items()}
    statuses = {f"STATUS_{name}": number for number, name in STATUS_NAMES.items()}
    every = {**numbers, **statuses, **{k: int(v) if isinstance(v, bool) else v for k, v in values.items()}}
    return "\n".join((*(f"#define {name} {value}" for name, value in every.items()), "", *kernels))


def _plain(model: Model, found: Capabilities) -> Mapping[str, ca.Function]:
    """Graphs of the plain functions that are called, by name."""
    chosen = {}
    for name, inputs, outputs in Graphs(model, forward=found.has("forward_dynamics")).values():
        if name in (*PLAIN, "friction_torque") and found.has(name):
            chosen[name] = graph_of(name, dict(inputs), outputs)
    return chosen
