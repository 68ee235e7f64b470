"""Long straight-line programs as calls of few short ones: what recurs from link to link becomes one kernel.

A derivation marks the stretch that stands for a link with `Program.part`. Renamed by position, such stretches of one
recursion are the same text for every link; each distinct text becomes a kernel, each stretch a call of it. The results of
a stretch that are read later are one vector; what it reads are whole such vectors and stretches of the program's inputs, so
that calls pass pointers and nothing is gathered. Code for a chain of sixty joints is then as small as for seven.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import sympy as sp

from diffpbd.codegen.program.program import Assign, Matrix, Program

DIGITS = 7
"""Signs of sums are chosen by the order of names; with padded numbers they are chosen alike at every link."""

_kernels: dict[Any, Program] = {}


@dataclass(frozen=True)
class _Home:
    """Where a symbol lives: a block (an input's name, or the number of a stretch) and its column-major index there."""

    block: str | int
    index: int


@dataclass
class _Stretch:
    """Consecutive assignments, and the symbols among theirs that are read after them."""

    statements: list[Assign]
    results: list[sp.Symbol]


def outlined(program: Program, known: Mapping[sp.Symbol, Any] | None = None) -> Program:
    """The same program as calls of kernels alone; inputs with `known` numbers (zeros and ones, say) are folded in."""
    flat = program.flatten(digits=DIGITS, known=known)
    stretches, outputs = _stretches(flat)
    result = Program(program.name, program.doc, dict(flat.inputs))
    home: dict[sp.Symbol, _Home] = {}
    blocks: dict[str | int, list[Any]] = {}
    for name, m in flat.inputs.items():
        blocks[name] = list(m.T)
        home.update({s: _Home(name, k) for k, s in enumerate(m.T)})
    for number, stretch in enumerate(stretches):
        if not stretch.results:
            continue
        kernel, arguments = _kernel(stretch, home, blocks)
        values = result.call(kernel, **arguments)["y"]
        blocks[number] = list(values)
        home.update({s: _Home(number, k) for k, s in enumerate(stretch.results)})
    for name, m in outputs.items():
        result.output(name, m.xreplace({s: _at(blocks, home[s]) for s in m.free_symbols}))
    return result


def _at(blocks: dict[str | int, list[Any]], home: _Home) -> Any:
    return blocks[home.block][home.index]


def _stretches(flat: Program) -> tuple[list[_Stretch], dict[str, Any]]:
    """The parts of a flat program, and its outputs as symbols and numbers alone."""
    parts = _merged([s for s in flat.statements if isinstance(s, Assign)])
    made = {s.symbol: k for k, part in enumerate(parts) for s in part}
    named: dict[Any, sp.Symbol] = {}
    for m in flat.outputs.values():
        for e in m:  # a negated symbol, say, gets its name where the symbol was made
            if not (e.is_Atom or e in named):
                named[e] = sp.Symbol(f"result{len(named)}", real=True)
                parts[max(made.get(s, 0) for s in e.free_symbols)].append(Assign(named[e], e))
    outputs = {k: Matrix(m.rows, m.cols, [named.get(e, e) for e in m]) for k, m in flat.outputs.items()}
    read = {s for m in outputs.values() for s in m.free_symbols}
    result: list[_Stretch] = []
    for part in reversed(parts):
        result.append(_Stretch(part, [s.symbol for s in part if s.symbol in read]))
        read.update(*(s.expression.free_symbols for s in part))
    return result[::-1], outputs


def _merged(statements: Sequence[Assign]) -> list[list[Assign]]:
    """Parts of a flat program: what is about one link is one part as far as its order allows.

    A part joins the last one of the same link unless it reads something that is made after that one. What needs inputs alone
    and is about no link comes first of all.
    """
    result: list[list[Assign]] = [[]]
    made: dict[sp.Symbol, int] = {}
    last: dict[int, int] = {}
    for _, group in groupby(statements, key=lambda s: s.part):
        part = list(group)
        link = part[0].link
        newest = max((made.get(s, 0) for s in _reads(part)), default=0)
        joined = last.get(link) if link >= 0 else 0
        if joined is not None and joined >= newest:
            at = joined
            result[at] += part
        else:
            at = len(result)
            result.append(part)
            last[link] = at
        made.update((s.symbol, at) for s in part)
    return [part for part in result if part]


def _reads(statements: Iterable[Assign]) -> Iterator[sp.Symbol]:
    """Symbols that a part reads from outside, in the order of the text."""
    own: set[sp.Symbol] = set()
    for s in statements:
        for node in sp.preorder_traversal(s.expression):
            if node.is_Symbol and node not in own:
                yield node
        own.add(s.symbol)


def _kernel(
    stretch: _Stretch, home: dict[sp.Symbol, _Home], blocks: dict[str | int, list[Any]]
) -> tuple[Program, dict[str, Any]]:
    """The kernel of a stretch, made once for each text, and the arguments of this call."""
    spans: dict[str | int, tuple[int, int]] = {}
    for s in _reads(stretch.statements):
        at = home[s]
        low, high = spans.get(at.block, (at.index, at.index))
        spans[at.block] = (min(low, at.index), max(high, at.index))
    spans = dict(sorted(spans.items(), key=lambda item: list(blocks).index(item[0])))
    renamed: dict[sp.Symbol, sp.Symbol] = {}
    order = {block: k for k, block in enumerate(spans)}
    for s in _reads(stretch.statements):
        at = home[s]
        renamed[s] = sp.Symbol(f"x{order[at.block]}_{at.index - spans[at.block][0]}", real=True)
    for k, statement in enumerate(stretch.statements):
        renamed[statement.symbol] = sp.Symbol(f"t{k + 1}", real=True)
    sizes = tuple(high - low + 1 for low, high in spans.values())
    text = tuple(s.expression.xreplace(renamed) for s in stretch.statements)
    results = tuple(renamed[s] for s in stretch.results)
    key = (sizes, text, results)
    if key not in _kernels:
        _kernels[key] = _build(sizes, text, results)
    return _kernels[key], {
        f"x{k}": Matrix(blocks[block][low : high + 1]) for k, (block, (low, high)) in enumerate(spans.items())
    }


def _build(sizes: Iterable[int], text: Iterable[Any], results: Iterable[sp.Symbol]) -> Program:
    kernel = Program("link", "One link's or joint's share.")
    for k, size in enumerate(sizes):
        kernel.input(f"x{k}", size)
    kernel.statements.extend(Assign(sp.Symbol(f"t{k + 1}", real=True), e) for k, e in enumerate(text))
    kernel.output("y", Matrix(list(results)))
    return kernel
