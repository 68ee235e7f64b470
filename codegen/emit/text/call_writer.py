"""C99 text of call programs, and of their reverse mode.

A call program becomes one C function that calls the kernels of its leaves in order, values in between living in the
work array; a kernel is emitted once however often it is called. Arguments that lie side by side in memory are passed as
pointers, others are gathered first. The reverse mode of a call program calls the kernels' reverse modes in reverse order:
each recomputes its kernel's intermediate values from that kernel's inputs. A short program stores the values between all its
kernels; a long one (many sweeps) only those between the programs it calls, which are rerun in reverse.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import casadi as ca
import sympy as sp

from diffpbd.codegen.emit.text.c_writer import Kernel, kernel, literal, unused
from diffpbd.codegen.graph.expressions.translate import column_major, columns, function
from diffpbd.codegen.program.program import Call, Program

EXPANDED_CALLS = 1000
"""Largest number of kernel calls between which a reverse mode stores every value; beyond, its work array exceeds the cache."""

PIECE_LINES = 600
"""Largest number of lines of a function of calls; gcc's time grows superlinearly."""


@dataclass(frozen=True)
class Routine:
    """An emitted C function: `name(inputs…, outputs…, w)` with `work` doubles at w; operations of one run."""

    name: str
    work: int
    operations: int


@dataclass(frozen=True)
class _Place:
    """Where a value lies: a C pointer name and an index."""

    base: str
    index: int


@dataclass
class CallWriter:
    """Collects the C text of programs; every program and every reverse mode is emitted once."""

    suffix: str = "program"
    """Suffix of every name, which no public function has."""
    texts: list[str] = field(default_factory=list)
    _forward: dict[int, Routine] = field(default_factory=dict)
    _reverse: dict[tuple[int, frozenset[sp.Symbol]], Routine] = field(default_factory=dict)
    _graphs: dict[int, ca.Function] = field(default_factory=dict)
    _names: dict[str, int] = field(default_factory=dict)

    def _unique(self, name: str) -> str:
        count = self._names.get(name, 0)
        self._names[name] = count + 1
        return f"{name}_{self.suffix}" if count == 0 else f"{name}_v{count + 1}_{self.suffix}"

    def _graph(self, program: Program) -> ca.Function:
        if id(program) not in self._graphs:
            self._graphs[id(program)] = function(program)
        return self._graphs[id(program)]

    def _emit_kernel(self, text: Kernel) -> Routine:
        self.texts.append(text.text)
        return Routine(text.name, text.work, text.operations)

    def forward(self, program: Program) -> Routine:
        """The C function of a program: inputs, outputs, w."""
        if id(program) not in self._forward:
            if program.is_leaf:
                routine = self._emit_kernel(kernel(self._graph(program), self._unique(program.name)))
            else:
                routine = _Body(self, program).emit_forward()
            self._forward[id(program)] = routine
        return self._forward[id(program)]

    def reverse(self, program: Program, active: frozenset[sp.Symbol]) -> Routine:
        """The C function of a program's reverse mode: inputs, output seeds, gradients of the inputs (added to), w.

        `active` are the input symbols whose gradient is wanted; inputs with none have no gradient argument.
        """
        key = (id(program), active)
        if key not in self._reverse:
            if program.is_leaf:
                routine = self._emit_kernel(self._reverse_kernel(program, active))
            else:
                short = program.leaf_calls() <= EXPANDED_CALLS
                routine = _Body(self, program.expanded() if short else program).emit_reverse(active)
            self._reverse[key] = routine
        return self._reverse[key]

    def _reverse_kernel(self, program: Program, active: frozenset[sp.Symbol]) -> Kernel:
        f = self._graph(program)
        inputs = [ca.SX.sym(f.name_in(k), f.size1_in(k), f.size2_in(k)) for k in range(f.n_in())]
        outputs = f.call(inputs)
        seeds = [ca.SX.sym(f"{f.name_out(k)}_bar", *outputs[k].shape) for k in range(f.n_out())]
        wanted = [k for k, m in enumerate(program.inputs.values()) if any(s in active for s in m)]
        pulled = ca.jtimes(
            ca.vertcat(*map(ca.vec, outputs)),
            ca.vertcat(*[ca.vec(inputs[k]) for k in wanted]),
            ca.vertcat(*map(ca.vec, seeds)),
            True,
        )
        edges = [*accumulate((inputs[k].numel() for k in wanted), initial=0)]
        bars = [ca.densify(b) for b in ca.vertsplit(pulled, edges)]
        names = [f"{f.name_in(k)}_bar" for k in wanted]
        seed_names = [f"{f.name_out(k)}_seed" for k in range(f.n_out())]
        graph = ca.Function(f.name(), [*inputs, *seeds], bars, [*f.name_in(), *seed_names], names, {"cse": True})
        return kernel(graph, self._unique(f"{program.name}_reverse"), accumulate=True)


class _Body:
    """One C function of a call program while it is written: places of values, layout of the work array, lines."""

    def __init__(self, writer: CallWriter, program: Program) -> None:
        self.writer = writer
        self.program = program
        self.place: dict[sp.Symbol, _Place] = {}
        self._direct: dict[sp.Symbol, _Place] = {}
        self.size = 0
        self.inner = 0
        self.operations = 0
        self.lines: list[str] = []
        self.tables: list[str] = []
        for name, m in program.inputs.items():
            self.place.update({s: _Place(name, column_major(m, k)) for k, s in enumerate(m)})

    def _allocate(self, count: int) -> int:
        at = self.size
        self.size += count
        return at

    def _pass(self, m: Any, place: Mapping[sp.Symbol, _Place]) -> str:
        """A C pointer expression to the values of a matrix, gathered or tabled first where need be."""
        elements = columns(m)
        if all(isinstance(e, sp.Symbol) for e in elements):
            first = place[elements[0]]
            if all(place[e] == _Place(first.base, first.index + k) for k, e in enumerate(elements)):
                return f"{first.base} + {first.index}"
        if not any(e.free_symbols for e in elements):
            numbers = ", ".join(literal(float(e)) for e in elements)
            self.tables.append(f"  static const double c{len(self.tables)}[] = {{{numbers}}};")
            return f"c{len(self.tables) - 1}"
        at = self._allocate(len(elements))
        for k, e in enumerate(elements):
            value = f"{place[e].base}[{place[e].index}]" if isinstance(e, sp.Symbol) else literal(float(e))
            self.lines.append(f"  w[{at + k}] = {value};")
        return f"w + {at}"

    def _run_calls(self, calls: Sequence[Call], keep: set[int] | None = None) -> list[list[str]]:
        """Forward calls into the work array; returns the argument pointers of every call."""
        pointers = []
        for index, call in enumerate(calls):
            arguments = [self._pass(m, self.place) for m in call.arguments.values()]
            pointers.append(arguments)
            if keep is not None and index not in keep:
                continue
            routine = self.writer.forward(call.program)
            results = []
            for m in call.outputs.values():
                direct = self._direct.get(m[0, 0])
                if direct is None:
                    at = self._allocate(m.rows * m.cols)
                    direct = _Place("w", at)
                self.place.update({s: _Place(direct.base, direct.index + k) for k, s in enumerate(columns(m))})
                results.append(f"{direct.base} + {direct.index}")
            self._call(routine, [*arguments, *results])
        return pointers

    def _call(self, routine: Routine, arguments: Sequence[str]) -> None:
        self.inner = max(self.inner, routine.work)
        self.operations += routine.operations
        self.lines.append(f"  {routine.name}({', '.join(arguments)}, w + FRAME);")

    def _text(self, name: str, formals: Sequence[str]) -> Routine:
        lines = [line.replace("FRAME", str(self.size)) for line in self.lines]
        head = f"({', '.join(formals)}, double *w) {{"
        parameters = [*(f.split("*")[-1] for f in formals), "w"]
        if len(lines) > PIECE_LINES:
            pieces = [lines[k : k + PIECE_LINES] for k in range(0, len(lines), PIECE_LINES)]
            actuals = ", ".join(parameters)
            for k, piece in enumerate(pieces):
                text = [
                    f"static NOINLINE void {name}_part{k}{head}",
                    *unused(parameters, piece),
                    *self._tables(piece),
                    *piece,
                    "}\n",
                ]
                self.writer.texts.append("\n".join(text))
            lines = [f"  {name}_part{k}({actuals});" for k in range(len(pieces))]
        text = [f"static void {name}{head}", *unused(parameters, lines), *self._tables(lines), *lines, "}\n"]
        self.writer.texts.append("\n".join(text))
        return Routine(name, self.size + self.inner, self.operations)

    def _tables(self, lines: Sequence[str]) -> list[str]:
        """The tables that these lines read."""
        words = {word for line in lines for word in re.findall(r"\bc\d+\b", line)}
        return [text for k, text in enumerate(self.tables) if f"c{k}" in words]

    def emit_forward(self) -> Routine:
        """Inputs, outputs, w. Call outputs that are part of an output are written there directly."""
        calls = self.program.calls()
        for call in calls:
            self.writer.forward(call.program)
        targets = {
            s: _Place(name, column_major(m, k))
            for name, m in self.program.outputs.items()
            for k, s in enumerate(m)
            if isinstance(s, sp.Symbol)
        }
        for call in calls:
            for m in call.outputs.values():
                spots = [targets.get(m[k % m.rows, k // m.rows]) for k in range(m.rows * m.cols)]
                first = spots[0]
                if first is not None and all(s == _Place(first.base, first.index + k) for k, s in enumerate(spots)):
                    self._direct[m[0, 0]] = first
        self._run_calls(calls)
        for name, m in self.program.outputs.items():
            for k, e in enumerate(m):
                here = _Place(name, column_major(m, k))
                value = self.place[e] if isinstance(e, sp.Symbol) else None
                if value != here:
                    text = f"{value.base}[{value.index}]" if value else literal(float(e))
                    self.lines.append(f"  {name}[{here.index}] = {text};")
        formals = [f"const double *{k}" for k in self.program.inputs]
        formals += [f"double *{k}" for k in self.program.outputs]
        return self._text(self.writer._unique(self.program.name), formals)

    def emit_reverse(self, active: frozenset[sp.Symbol]) -> Routine:
        """Inputs, seeds, gradients (added to), w."""
        calls = self.program.calls()
        live = _active(calls, active)
        used = {s for call in calls for m in call.arguments.values() for e in m.flat() for s in e.free_symbols}
        keep = {k for k, call in enumerate(calls) if any(s in used for m in call.outputs.values() for s in m.flat())}
        for k, call in enumerate(calls):
            if k in keep:
                self.writer.forward(call.program)
        pointers = self._run_calls(calls, keep)
        bar: dict[sp.Symbol, _Place] = {}
        for name, m in self.program.inputs.items():
            bar.update({s: _Place(f"{name}_bar", column_major(m, k)) for k, s in enumerate(m) if s in active})
        first = self.size
        for call in calls:
            for m in call.outputs.values():
                at = self._allocate(m.rows * m.cols)
                bar.update({s: _Place("w", at + k) for k, s in enumerate(columns(m))})
        scratch = self._allocate(max((m.rows * m.cols for c in calls for m in c.arguments.values()), default=0))
        self.lines.append(f"  memset(w + {first}, 0, {scratch - first} * sizeof(double));")
        for name, m in self.program.outputs.items():
            for k, e in enumerate(m):
                if isinstance(e, sp.Symbol) and e in bar:
                    self.lines.append(f"  {bar[e].base}[{bar[e].index}] += {name}_seed[{column_major(m, k)}];")
        for call, arguments in zip(reversed(calls), reversed(pointers), strict=True):
            self._reverse_call(call, arguments, live, bar, scratch)
        wanted = [k for k, m in self.program.inputs.items() if any(s in active for s in m)]
        formals = [f"const double *{k}" for k in self.program.inputs]
        formals += [f"const double *{k}_seed" for k in self.program.outputs]
        formals += [f"double *{k}_bar" for k in wanted]
        return self._text(self.writer._unique(f"{self.program.name}_reverse"), formals)

    def _reverse_call(
        self, call: Call, arguments: Sequence[str], live: set[sp.Symbol], bar: Mapping[sp.Symbol, _Place], scratch: int
    ) -> None:
        inner = frozenset(
            formal
            for name, m in call.program.inputs.items()
            for formal, actual in zip(m.flat(), call.arguments[name].flat(), strict=True)
            if actual in live
        )
        if not inner:
            return
        routine = self.writer.reverse(call.program, inner)
        seeds = [f"{bar[m[0, 0]].base} + {bar[m[0, 0]].index}" for m in call.outputs.values()]
        gradients, scatter = [], []
        for name, m in call.program.inputs.items():
            if not any(s in inner for s in m.flat()):
                continue
            elements = columns(call.arguments[name])
            places = [bar.get(e) if isinstance(e, sp.Symbol) else None for e in elements]
            first = places[0]
            if first and all(p == _Place(first.base, first.index + k) for k, p in enumerate(places)):
                gradients.append(f"{first.base} + {first.index}")
                continue
            at = self._allocate(len(elements))
            gradients.append(f"w + {at}")
            self.lines.append(f"  memset(w + {at}, 0, {len(elements)} * sizeof(double));")
            scatter += [f"  {p.base}[{p.index}] += w[{at + k}];" for k, p in enumerate(places) if p]
        self._call(routine, [*arguments, *seeds, *gradients])
        self.lines += scatter


def _active(calls: Sequence[Call], active: frozenset[sp.Symbol]) -> set[sp.Symbol]:
    """Every symbol that depends on an active input."""
    live: set[sp.Symbol] = set(active)
    for call in calls:
        if any(e in live for m in call.arguments.values() for e in m.flat()):
            live.update(s for m in call.outputs.values() for s in m.flat())
    return live
