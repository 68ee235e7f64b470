"""Emission of the derivatives of dynamics with closed loops at an instant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate

from diffpbd.codegen.emit.emission.model_header import Table, Value, add_source_model
from diffpbd.codegen.emit.emission.sources import Emission, argument
from diffpbd.codegen.emit.solved.constrained_step import motors
from diffpbd.codegen.emit.text.c_writer import Kernel, kernel
from diffpbd.codegen.emit.text.work import doubles
from diffpbd.codegen.functions import alpha_doc, jac_doc, vjp_doc
from diffpbd.codegen.graph.loops.instant import System, systems
from diffpbd.codegen.graph.model.model import Model
from diffpbd.runtime.folder.manifest import Argument


def add_loop_instant(emission: Emission, model: Model, wanted: Callable[[str], bool]) -> None:
    """src/loop_instant.c with jac_, jac_alpha_ and vjp_ of those functions whose derivatives are `wanted`, after themselves."""
    chosen = [s for s in systems(model, motors(model)) if wanted(f"jac_{s.name}")]
    if not chosen:
        return
    n, na = model.tree.freedoms, len(model.entries)
    texts = {s.name: [kernel(graph, f"{graph.name()}_kernel") for graph in s.kernels()] for s in chosen}
    every = [text for three in texts.values() for text in three]
    outputs = {s.name: [v.numel() for v in s.outputs.values()] for s in chosen}
    values: dict[str, Value | bool] = {
        "N": n, "NA": na, "ROWS": model.tree.rows, "REDUNDANT": model.tree.redundant, "COLUMNS": max(3 * n, na),
        "MOST_SIZE": max(s.r.numel() for s in chosen), "MOST_OUT": max(map(sum, outputs.values())),
        "MOST_OUTPUTS": max(map(len, outputs.values())), "KERNEL_WORK": max(1, *(text.work for text in every)),
        **{f.upper(): any(s.name.startswith(f) for s in chosen) for f in ("forward", "inverse")},
        **{f"{_first(s)}_SIZE".upper(): s.r.numel() for s in chosen},
    }  # fmt: skip
    tables: dict[str, Table] = {f"{_first(s)}_start": ("int", list(accumulate([0, *outputs[s.name]]))) for s in chosen}
    kernels = "\n".join(('#include "sine_cosine.h"\n', *(text.text for text in every)))
    add_source_model(emission, "loop_instant", values, tables, kernels)
    emission.copy("loop_instant.c")
    for system in chosen:
        _declare(emission, system, texts[system.name], n, na, doubles("loop_instant.c", values))


def _first(system: System) -> str:
    """Its name in C."""
    return system.name.split("_")[0]


def _declare(emission: Emission, system: System, texts: Sequence[Kernel], n: int, na: int, own: int) -> None:
    size, itself = system.r.numel(), emission.known(system.name)
    inputs = [argument(name, n, 1) for name in system.inputs] + [argument("alpha", na, 1)]
    outputs = [argument(name, v.numel(), 1) for name, v in system.outputs.items()]
    cost = 2 * texts[0].operations + size**3 // 3 + size * size * max(3 * n, na) + itself.operations

    def by(names: Sequence[str], columns: int) -> list[Argument]:
        return [argument(f"d{o.name}_d{name}", o.rows, columns) for o in outputs for name in names]

    bars = [argument(f"{name}_bar", n, 1) for name in system.inputs] + [argument("alpha_bar", na, 1)]
    seeds = [argument(f"{o.name}_bar", o.rows, 1) for o in outputs]
    for name, doc, taken, given in (
        (f"jac_{system.name}", jac_doc(system.name), inputs, [*outputs, *by(list(system.inputs), n)]),
        (f"jac_alpha_{system.name}", alpha_doc(system.name), inputs, by(["alpha"], na)),
        (f"vjp_{system.name}", vjp_doc(system.name), [*inputs, *seeds], bars),
    ):
        status = (4, 10) if "forward" in system.name else (10,)
        work = own + (itself.work_size or 0)
        emission.declare(name, doc, taken, given, operations=cost, work=work, status=status)
        emission.texts[name] = sum(len(text.text) for text in texts)
