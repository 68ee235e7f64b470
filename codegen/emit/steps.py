"""Emission of `step` in its variants, with their reverse derivatives."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from diffpbd.codegen.emit.call_writer import CallWriter, Routine
from diffpbd.codegen.emit.constants import IN_C, IN_LIMITS, OUTSIDE_LIMITS
from diffpbd.codegen.emit.kinds import COULOMB, VISCOUS, starts
from diffpbd.codegen.emit.loop_constants import IN_LOOPS
from diffpbd.codegen.emit.numbers import numbers
from diffpbd.codegen.emit.sources import Emission, argument
from diffpbd.codegen.functions import DOCS
from diffpbd.codegen.graph.maximal import StepVariant, block_sizes, blocks
from diffpbd.codegen.graph.model import Model
from diffpbd.codegen.laws.cuts import ROWS
from diffpbd.codegen.method import limits, loops
from diffpbd.codegen.program.notation import STATE

INPUTS = ("xi", "u", "h", "gravity")


@dataclass(frozen=True)
class _Variant:
    """One variant in templates/step.c.jinja; its functions are `step` and others with the suffix."""

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
    emission.add(
        "src/step.c", "step.c",
        n=model.robot.n, alpha_size=len(model.entries), fixed=fixed, where=where, texts=writer.texts, variants=emitted,
        coulomb=first("friction.coulomb."), viscous=first("friction.viscous."), rotor=first("rotor_inertia."),
        more_coulomb=starts(model.entries, COULOMB)[1:], more_viscous=starts(model.entries, VISCOUS)[1:],
        offsets=[sum(sizes[:k]) for k in range(1, len(sizes))], entries=entries, **IN_C,
        blocks_work=shared, reverse=reverse, check=check, reach=reach, **IN_LIMITS, limited=len(model.tree.limits),
        begins=begins, rows=rows, rate_left=IN_LOOPS["rate_left"],
        kept=model.tree.rows, spare=model.tree.spare,
        dependent=IN_LOOPS["spare_ratio" if model.tree.spare else "pivot_ratio"],
        open=IN_LOOPS["open"],
    )  # fmt: skip
    head = 2 * len(fixed) + len(where) + shared
    emission.texts["step"] = sum(map(len, writer.texts))
    for entry in entries:
        _list(emission, model, entry, head, graphs)


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
