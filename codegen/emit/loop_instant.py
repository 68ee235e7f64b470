"""Emission of the derivatives of dynamics with closed loops at an instant."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from diffpbd.codegen.emit.c_writer import kernel
from diffpbd.codegen.emit.constants import IN_C
from diffpbd.codegen.emit.constrained_step import motors
from diffpbd.codegen.emit.loop_constants import IN_LOOPS
from diffpbd.codegen.emit.sources import Emission, argument
from diffpbd.codegen.functions import alpha_doc, jac_doc, vjp_doc
from diffpbd.codegen.graph.loop_instant import systems
from diffpbd.codegen.graph.model import Model
from diffpbd.runtime.folder.manifest import Argument


def add_loop_instant(emission: Emission, model: Model, wanted: Callable[[str], bool]) -> None:
    """src/loop_instant.c with jac_, jac_alpha_ and vjp_ of those functions whose derivatives are `wanted`, after themselves."""
    chosen = [s for s in systems(model, motors(model)) if wanted(f"jac_{s.name}")]
    if not chosen:
        return
    n, na = model.tree.freedoms, len(model.entries)
    texts = [kernel(graph, f"{graph.name()}_kernel") for system in chosen for graph in system.kernels()]
    work, facts = max(text.work for text in texts), []
    for k, system in enumerate(chosen):
        sizes = [v.numel() for v in system.outputs.values()]
        size, out, most = system.r.numel(), sum(sizes), max(3 * n, na)
        facts.append({
            "name": system.name, "short": system.name.split("_")[0].upper(), "size": size, "out": out, "most": most,
            "outputs": len(sizes), "starts": np.cumsum([0, *sizes]).tolist(), "diverged": 4 if "forward" in system.name else 10,
        })  # fmt: skip
        own = 2 * size + size * size + size * most + 2 * out + out * size + out * most + work
        total = own + (emission.known(system.name).work_size or 0)
        inputs = [argument(name, n, 1) for name in system.inputs] + [argument("alpha", na, 1)]
        outputs = [argument(name, rows, 1) for name, rows in zip(system.outputs, sizes, strict=True)]
        cost = 2 * texts[3 * k].operations + size**3 // 3 + size * size * most + emission.known(system.name).operations

        def by(
            names: list[str], columns: int, system: object = system, rows: list[Argument] = outputs
        ) -> list[Argument]:
            return [argument(f"d{o.name}_d{name}", o.rows, columns) for o in rows for name in names]

        status = (4, 10) if "forward" in system.name else (10,)
        bars = [argument(f"{name}_bar", n, 1) for name in system.inputs] + [argument("alpha_bar", na, 1)]
        seeds = [argument(f"{o.name}_bar", o.rows, 1) for o in outputs]
        for name, doc, taken, given in (
            (f"jac_{system.name}", jac_doc(system.name), inputs, [*outputs, *by(list(system.inputs), n)]),
            (f"jac_alpha_{system.name}", alpha_doc(system.name), inputs, by(["alpha"], na)),
            (f"vjp_{system.name}", vjp_doc(system.name), [*inputs, *seeds], bars),
        ):
            emission.declare(name, doc, taken, given, operations=cost, work=total, status=status)
            emission.texts[name] = sum(len(text.text) for text in texts[3 * k : 3 * k + 3])
    emission.add(
        "src/loop_instant.c", "loop_instant.c",
        n=n, alpha_size=na, kernels=[text.text for text in texts], kernel_work=work, systems=facts,
        spare=model.tree.spare, m=model.tree.rows, **IN_C, **IN_LOOPS,
    )  # fmt: skip
