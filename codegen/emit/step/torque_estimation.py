"""Emission of `estimate_torque`: Gauss–Newton over a window of steps, one loop in C for any number of them."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from diffpbd.codegen.emit.emission.model_header import add_source_model
from diffpbd.codegen.emit.emission.sources import Emission, Shapes, arguments, places
from diffpbd.codegen.emit.step.kinds import friction_kinds, starts
from diffpbd.codegen.emit.text.c_writer import kernel
from diffpbd.codegen.functions import DOCS
from diffpbd.runtime.folder.manifest import Parameter

RATES = 2
"""Kernels of rates; a third one is that of friction which depends on the start of a step."""
WEIGHTS = 3
"""λ₁, λ₂, λ₃."""


def add_torque_estimation(
    emission: Emission, graphs: Sequence[ca.Function], driven: Sequence[int], joints: int, alpha: Sequence[Parameter],
    laws: Sequence[str] = (), loops: bool = False,
) -> None:  # fmt: skip
    """src/torque_estimation.c and its manifest entry, for coordinates that are `driven` (1: by a motor) of so many joints
    with these friction laws beyond the plain one.

    `jac_kicked_step` and `friction_torque` must have been added.
    """
    n = len(driven)
    kernels = [kernel(g, f"{g.name()}_kernel") for g in graphs]
    step, friction = emission.known("jac_kicked_step"), emission.known("friction_torque")
    add_source_model(
        emission, "torque_estimation",
        {
            "N": n, "NA": len(alpha), "JOINTS": joints, "RATES": graphs[0].numel_out(0), "VARYING": len(graphs) > RATES,
            "FRICTION_STARTS": f"{{{', '.join(map(str, starts(alpha, friction_kinds(laws))))}}}",
            "INNER_WORK": max(step.work_size or 0, friction.work_size or 0, *(k.work for k in kernels)),
            **places("estimate_torque", ()),
        },
        {"motor": ("int", driven)}, "\n".join(('#include "sine_cosine.h"\n', *(k.text for k in kernels))),
    )  # fmt: skip
    for name in ("torque_estimation.c", "torque_estimation.h"):
        emission.copy(name)
    emission.texts["estimate_torque"] = sum(len(k.text) for k in kernels)
    shapes: Shapes = {
        **dict.fromkeys(("p0", "pd0", "u_prev"), (n, 1)), **dict.fromkeys(("U_start", "P_ref", "PD_ref", "U"), (n, "N")),
        **dict.fromkeys(("P", "PD"), (n, "N+1")), **dict.fromkeys(("known_friction", "h", "loss", "change"), (1, 1)),
        "lambdas": (WEIGHTS, 1), "alpha": (len(alpha), 1),
    }  # fmt: skip
    operations, status = (
        step.operations + sum(k.operations for k in kernels),
        (1, 2, 9, *((10, 12, 13) if loops else ())),
    )
    emission.declare(
        "estimate_torque", DOCS["estimate_torque"], *arguments("estimate_torque", shapes),
        operations=operations, work=None, status=status,
    )  # fmt: skip
