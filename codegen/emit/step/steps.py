"""Emission of `step` in its variants, with their reverse derivatives."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from diffpbd.codegen.emit.emission.model_header import Table, Value, add_source_model
from diffpbd.codegen.emit.emission.sources import Emission, argument
from diffpbd.codegen.emit.step.kinds import coulomb_kinds, friction_kinds, starts, zero
from diffpbd.codegen.emit.tables.constants import OUTSIDE_LIMITS
from diffpbd.codegen.emit.text.c_writer import literal
from diffpbd.codegen.emit.text.call_writer import CallWriter, Routine
from diffpbd.codegen.emit.text.numbers import numbers
from diffpbd.codegen.emit.text.work import doubles
from diffpbd.codegen.functions import DOCS
from diffpbd.codegen.graph.functions.maximal import StepVariant, block_sizes, blocks
from diffpbd.codegen.graph.model.model import Model
from diffpbd.codegen.laws.cuts import ROWS
from diffpbd.codegen.method import limits, loops
from diffpbd.codegen.program.notation import STATE

INPUTS = ("xi", "u", "h", "gravity")


@dataclass(frozen=True)
class _Variant:
    """One variant in templates/step/step.c; its functions are `step` and others with the suffix."""

    name: str
    suffix: str
    paper: bool
    free: Routine
    full: Routine
    free_reverse: Routine | None
    full_reverse: Routine | None

    @property
    def work(self) -> int:
        return max(self.free.work, self.full.work)

    @property
    def vjp_work(self) -> int:
        return max(k.work for k in (self.free_reverse, self.full_reverse) if k)


def add_steps(
    emission: Emission, model: Model, variants: Sequence[StepVariant], default: str, reverse: bool, graphs: bool
) -> None:
    """src/step.c and the manifest entries of `step` and its variants, with `reverse` of `vjp_step` too; `graphs`: whether that
    has a CasADi graph."""
    table = numbers(model.alpha, list(blocks(model).values()), "blocks")
    fixed, where, prepare = table.fixed, table.where, (table.forward, table.reverse)
    writer = CallWriter()
    writer.texts += [k.text for k in (prepare if reverse else prepare[:1])]
    emitted = [_emit_variant(writer, model, v, set(where), reverse) for v in variants]
    index = {e.name: k for k, e in reversed(list(enumerate(model.entries)))}

    def first(kind: str) -> int:
        return min(k for name, k in index.items() if name.startswith(kind))

    sizes, closures = list(block_sizes(model.tree).values()), model.tree.closures
    begins = dict(zip(block_sizes(model.tree), itertools.accumulate([0, *sizes]), strict=False))  # places in the blocks
    check = writer.forward(loops.check(model.tree)) if closures else None
    reach = writer.forward(limits.outside(model.tree)) if model.tree.limits else None
    rows = sum(len(ROWS[loop.kind]) for loop in closures)
    shared = max(
        *(k.work for k in prepare),
        2 * rows + check.work if check else 0,
        len(model.tree.limits) + reach.work if reach else 0,
    )
    entries = [dataclasses.replace(next(v for v in emitted if v.name == default), suffix=""), *emitted]
    slack = max(model.chosen.slack, default=0.0) if closures else 0.0
    coulomb, friction = (starts(model.entries, kinds(model.tree.friction)) for kinds in (coulomb_kinds, friction_kinds))
    values: dict[str, Value | bool] = {
        "N": model.robot.n, "NA": len(model.entries), "BLOCKS": len(fixed), "VALUES": len(where), "SHARED": max(1, shared),
        "ROTOR": first("rotor_inertia."), "NO_COULOMB(alpha, k)": zero(coulomb),
        "NO_FRICTION(alpha, k)": zero(friction), "REVERSE": reverse,
        "ROWS": rows, "KEPT": model.tree.rows, "REDUNDANT": model.tree.redundant, "LIMITED": len(model.tree.limits),
        **{f"{name.upper()}_BLOCK": begins.get(name, 0) for name in ("loop", "joint", "limit")},
        # Up to what rows may be open, and opening, at the ends of a step: more by what rounded numbers leave open.
        "OPEN": f"(C_OPEN + {literal(slack)})", "RATE_LEFT": f"(C_RATE_LEFT + {literal(slack)})",
    }  # fmt: skip
    offsets = ["", *(f" + {sum(sizes[:k])}" for k in range(1, len(sizes)))]
    called = [("loops_kernel", check), ("limits_kernel", reach)]
    texts = [
        '#include "sine_cosine.h"\n', *writer.texts, *(f"#define {name} {r.name}" for name, r in called if r is not None),
        *(_adapters(v, offsets, bool(closures)) for v in emitted),
    ]  # fmt: skip
    tables: dict[str, Table] = {"fixed": ("double", fixed), "where": ("int", where)}
    add_source_model(emission, "step", values, tables, "\n".join(texts))
    emission.add("src/step_entries.h", "step_entries.h", variants=emitted, entries=entries)
    for name in ("step.c", "step_entry.h"):
        emission.copy(name)
    emission.texts["step"] = sum(map(len, writer.texts))
    for entry in entries:
        _list(emission, model, entry, doubles("step.c", values), graphs)


def _adapters(v: _Variant, offsets: Sequence[str], closed: bool) -> str:
    """C by which step.c calls a variant's kernels, which take every block for itself."""
    state = "const double *xi, const double *u, const double *h, const double *alpha, const double *blocks"
    bars = "double *xi_bar, double *u_bar, double *h_bar, double *alpha_bar, double *bars"
    given = ["xi", "u", "h", "alpha", *(f"blocks{offset}" for offset in offsets)]
    unasked = "" if closed else "  (void)pivots;\n"
    no_seed = "  static const double no_seed[KEPT] = {0.0}; /* of the pivots */\n" if closed else ""
    text = []
    for name, routine in (("free", v.free), ("full", v.full)):
        call = ", ".join([*given, "xi_next", *(["pivots"] if closed else []), "work"])
        text.append(
            f"static void {v.name}_{name}({state}, double *xi_next, double *pivots, double *work) {{\n"
            f"{unasked}  {routine.name}({call});\n}}\n"
        )
    for name, back in (("free", v.free_reverse), ("full", v.full_reverse)):
        if back is None:
            continue
        ends = ["xi_bar", "u_bar", "h_bar", "alpha_bar", *(f"bars{offset}" for offset in offsets)]
        call = ", ".join([*given, "seed", *(["no_seed"] if closed else []), *ends, "work"])
        text.append(
            f"static void {v.name}_{name}_reverse({state}, const double *seed, {bars}, double *work) {{\n"
            f"{no_seed}  {back.name}({call});\n}}\n"
        )
    return "\n".join(text)


def _emit_variant(writer: CallWriter, model: Model, v: StepVariant, changing: set[int], reverse: bool) -> _Variant:
    active = {s for name in INPUTS for s in v.full.inputs[name]}
    position = 0
    for name, size in block_sizes(model.tree).items():
        for k, s in enumerate(v.full.inputs[name]):
            if position + k in changing:
                active.add(s)
        position += size
    wanted = frozenset(active)
    return _Variant(
        v.name,
        f"_{v.name}",
        v.name.startswith("paper"),
        writer.forward(v.free),
        writer.forward(v.full),
        writer.reverse(v.free_derivative, wanted) if reverse else None,
        writer.reverse(v.full, wanted) if reverse else None,
    )


def _list(emission: Emission, model: Model, entry: _Variant, head: int, graphs: bool) -> None:
    n, alpha, suffix = model.robot.n, len(model.entries), entry.suffix
    statuses = (3, 4, *((10, 12, 13) if model.tree.closures else ()), *((OUTSIDE_LIMITS,) if model.tree.limits else ()))
    doc = f"{DOCS['step']} {entry.name}{'' if suffix else ', the default of the recipe'}."
    shapes = {"xi": STATE * n, "u": n, "h": 1, "alpha": alpha}
    state, bars = ([argument(f"{k}{bar}", size, 1) for k, size in shapes.items()] for bar in ("", "_bar"))
    end, seed = (argument(f"xi_next{bar}", STATE * n, 1) for bar in ("", "_bar"))
    emission.declare(
        f"step{suffix}", doc, state, [end],
        operations=entry.free.operations, work=head + entry.work, graph=True, status=statuses,
    )  # fmt: skip
    if entry.free_reverse:
        emission.declare(
            f"vjp_step{suffix}", f"Reverse derivative of step{suffix}.", [*state, seed], bars,
            operations=entry.free_reverse.operations, work=head + entry.vjp_work, graph=graphs, status=statuses,
        )  # fmt: skip
    along: dict[str, tuple[int, int | str]] = {
        "xi0": (STATE * n, 1), "U": (n, "N"), "h": (1, 1), "alpha": (alpha, 1), "XI": (STATE * n, "N+1"),
    }  # fmt: skip
    *state, nodes = (argument(k, *shape) for k, shape in along.items())
    *bars, seed = (argument(f"{k}_bar", *shape) for k, shape in along.items())
    name = f"rollout_step{suffix}"
    emission.declare(
        name, f"step{suffix} {DOCS['rollout_step']}", state, [nodes],
        operations=entry.free.operations, work=None, status=statuses,
    )  # fmt: skip
    if entry.free_reverse:
        emission.declare(
            f"vjp_{name}", f"Reverse derivative of {name}: back-propagation through all its steps, sweep by sweep.",
            [*state, seed], bars,
            operations=entry.free.operations + entry.free_reverse.operations, work=None, status=statuses,
        )  # fmt: skip
