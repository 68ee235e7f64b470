"""Emission of `estimate_torque`: Gauss–Newton over a window of steps, one loop in C for any number of them."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from diffpbd.codegen.emit.c_writer import kernel, literal
from diffpbd.codegen.emit.constants import CONSTANTS, STATUS
from diffpbd.codegen.emit.sources import Emission, argument
from diffpbd.codegen.graph.catalogue import DOCS
from diffpbd.runtime.manifest import Function, Parameter

INTEGERS = ("max_gauss_newton", "max_line")
WEIGHTS = 3
"""λ₁, λ₂, λ₃."""


def add_torque_estimation(
    emission: Emission, graphs: Sequence[ca.Function], n: int, joints: int, alpha: Sequence[Parameter]
) -> None:
    """src/torque_estimation.c and its manifest entry, for n coordinates of so many joints.

    `jac_kicked_step` and `friction_torque` must have been added.
    """
    kernels = [kernel(g, f"{g.name()}_kernel") for g in graphs]
    known = {f.name: f for f in emission.functions}
    step, friction = known["jac_kicked_step"], known["friction_torque"]
    coulomb, viscous = (
        next(i for i, e in enumerate(alpha) if e.name.startswith(f"friction.{kind}."))
        for kind in ("coulomb", "viscous")
    )
    named = {c.name: int(c.value) if c.name in INTEGERS else literal(c.value) for c in CONSTANTS}
    emission.add(
        "src/torque_estimation.c", "torque_estimation.c",
        n=n, joints="N" if joints == n else str(joints),
        rates=graphs[0].numel_out(0), alpha_size=len(alpha), coulomb=coulomb, viscous=viscous, kernels=kernels,
        inner_work=max(step.work_size or 0, friction.work_size or 0, *(k.work for k in kernels)), **named,
    )  # fmt: skip
    emission.texts["estimate_torque"] = sum(len(k.text) for k in kernels)
    emission.functions.append(
        Function(
            name="estimate_torque",
            doc=DOCS["estimate_torque"],
            symbol=f"{emission.robot}_estimate_torque",
            inputs=(
                argument("p0", n, 1), argument("pd0", n, 1), argument("U_start", n, "N"), argument("P_ref", n, "N"),
                argument("PD_ref", n, "N"), argument("u_prev", n, 1), argument("lambdas", WEIGHTS, 1),
                argument("known_friction", 1, 1), argument("h", 1, 1), argument("alpha", len(alpha), 1),
            ),
            outputs=(
                argument("U", n, "N"), argument("P", n, "N+1"), argument("PD", n, "N+1"), argument("loss", 1, 1),
                argument("change", 1, 1),
            ),
            work_size=None,
            operations=step.operations + sum(k.operations for k in kernels),
            status={k: STATUS[k] for k in (1, 2)},
            rollout=True,
        )
    )  # fmt: skip
