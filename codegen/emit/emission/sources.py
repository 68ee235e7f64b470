"""Files emitted for one robot, as text by relative path with the manifest's functions; C files of plain functions."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from diffpbd.codegen.emit.tables.constants import NOT_FINITE, NOT_FORWARDS, SPECIAL_STATUS, STATUS
from diffpbd.codegen.emit.text.c_writer import Kernel, kernel
from diffpbd.codegen.emit.text.environment import plain, render
from diffpbd.codegen.functions import FUNCTIONS, expect_declared
from diffpbd.codegen.graph.functions.catalogue import axes, is_derivative, unit_and_frame, worded
from diffpbd.codegen.graph.functions.derivatives import RowSpec, Spec
from diffpbd.runtime.folder.manifest import OBSTACLES, Argument, Clearance, Function


@dataclass(frozen=True)
class Banner:
    """Head of every emitted file."""

    text: str
    version: str
    robot: str
    model_hash: str
    command: str


@dataclass
class Emission:
    """Everything emitted for a robot so far: file texts and the manifest's function entries."""

    robot: str
    banner: Banner
    files: dict[str, str] = field(default_factory=dict)
    functions: list[Function] = field(default_factory=list)
    texts: dict[str, int] = field(default_factory=dict)
    """Bytes of C text of each function's own kernels."""
    dispatched: list[Function] = field(default_factory=list)
    """Functions that are compiled for several instruction sets."""
    floating: bool = False
    """Whether arguments are those of a robot with a floating base."""
    frames: tuple[str, ...] = ()  # that the header lists
    hash: str = ""  # of all C text, once all is there
    lanes: list[str] = field(default_factory=list)
    """Entries of common.c's table of what takes rows of a batch side by side: (name, place of the first input that all rows
    share, their number, lanes with AVX-512)."""

    def add(self, path: str, template: str, **values: Any) -> None:
        """Render one file; its banner names it."""
        banner = dataclasses.replace(self.banner, text=f"{self.robot}: {path}")
        self.files[path] = render(template, robot=self.robot, banner=banner, **values)

    def copy(self, name: str) -> None:
        """Plain C of `templates/` as it is, below a banner, to src/."""
        path = f"src/{name}"
        banner = dataclasses.replace(self.banner, text=f"{self.robot}: {path}")
        self.files[path] = render("plain", banner=banner, text=plain(name), source=name.endswith(".c"))

    def join(self, path: str, name: str, made: Mapping[str, str]) -> None:
        """Plain text of `templates/` with what it includes in its place, below a banner: one file for a compiler that knows no
        others. `made` has included texts that are not in `templates/`, or are others here."""

        def text(included: re.Match[str]) -> str:
            inner = included[1]
            return made[inner] if inner in made else joined(plain(inner))

        def joined(outer: str) -> str:
            return re.sub(r'^#include "([\w.]+)"\n', text, outer, flags=re.M)

        banner = dataclasses.replace(self.banner, text=f"{self.robot}: {path}")
        self.files[path] = render("plain", banner=banner, text=joined(plain(name)), source=False)

    def declare(
        self,
        name: str,
        doc: str,
        inputs: Iterable[Argument],
        outputs: Iterable[Argument],
        *,
        operations: int,
        work: int | None,
        graph: bool = False,
        status: Sequence[int] = (),
    ) -> str:
        """Add a function's entry to the manifest; without `work` it is a rollout; returns its symbol."""
        symbol, casadi = f"{self.robot}_{name}", f"casadi/{name}.casadi" if graph else None
        inputs, outputs = list(inputs), list(outputs)
        expect_declared(name, [a.name for a in inputs], [a.name for a in outputs])
        given, found = worded(inputs, self.floating), worded(outputs, self.floating)
        steps = bool(status) and any(a.name == "h" for a in inputs)  # what has no status is a formula
        status = (*status, *((NOT_FORWARDS,) if steps else ()), NOT_FINITE)
        meanings = {k: (STATUS | SPECIAL_STATUS)[k] for k in status}
        self.functions.append(
            Function(name, doc, symbol, given, found, work, operations, casadi, meanings, work is None)
        )
        return symbol

    def known(self, name: str) -> Function:
        """A function that was declared."""
        return next(f for f in self.functions if f.name == name)


@dataclass(frozen=True)
class Entry:
    """A leaf function in templates/text/functions.c.jinja."""

    symbol: str
    kernel: Kernel
    work: int


def argument(name: str, rows: int, cols: int | str) -> Argument:
    """An argument with its axes, unit and frame."""
    return Argument(name, rows, cols, axes(name, cols), *unit_and_frame(name))


Shapes = Mapping[str, tuple[int, int | str]]


def arguments(name: str, shapes: Shapes) -> tuple[list[Argument], list[Argument]]:
    """Inputs and outputs of a declared function by the shapes of their names, which has of those that only some robots have
    what this one has. Seeds are as what they belong to, blocks of Jacobians have an output's rows and an input's columns."""

    def shape(k: str) -> tuple[int, int | str]:
        if is_derivative(k):
            output, _, by = k[1:].rpartition("_d")
            return shapes[output][0], shapes[by][0]
        return shapes[k.removesuffix("_bar")]

    f = FUNCTIONS[name]
    inputs, outputs = (
        [argument(slot.name, *shape(slot.name)) for slot in slots if slot.always or slot.name in shapes]
        for slots in (f.inputs, f.outputs)
    )
    return inputs, outputs


def places(name: str, present: Collection[str]) -> dict[str, int]:
    """Where plain C finds the inputs of a declared function, of which this robot has those `present`: <NAME>_IN, and
    OBSTACLES_AT, the first kind of obstacles, which lie one after another."""
    names = [slot.name for slot in FUNCTIONS[name].inputs if slot.always or slot.name in present]
    kinds = [k for k, one in enumerate(names) if one in OBSTACLES]
    found = {f"{one.upper()}_IN": k for k, one in enumerate(names) if one not in OBSTACLES}
    return {**found, **({"OBSTACLES_AT": kinds[0] if kinds else len(names)} if "keep_apart" in present else {})}


def obstacle_shapes(shaped: Clearance | None) -> dict[str, tuple[int, int]]:
    """Rows and columns of a robot's obstacles by kind, in the order of their declaration."""
    counts = {} if shaped is None else shaped.obstacles
    return {kind: (size, counts[kind]) for kind, size in OBSTACLES.items() if kind in counts}


@dataclass(frozen=True)
class _Rows:
    """A function that loops over unit seeds, as templates/base/rows.h takes it: C text of its tables."""

    symbol: str
    inputs: int
    seeds: int
    bars: int
    bar_offsets: tuple[int, ...]
    outputs: tuple[str, ...]
    columns: tuple[str, ...]
    value: str | None
    reverse: str
    work: int


def _offsets(sizes: Sequence[tuple[str, int]]) -> dict[str, int]:
    """Where each named stretch starts when they lie one after another."""
    result, position = {}, 0
    for name, size in sizes:
        result[name] = position
        position += size
    return result


def _add_rows(emission: Emission, spec: RowSpec) -> tuple[_Rows, Kernel | None]:
    text = kernel(spec.graph, f"{spec.name}_kernel") if spec.graph is not None else None
    size = dict(spec.bars)
    at, first = _offsets(spec.bars), _offsets(spec.seeds)
    seeds, bars = sum(k for _, k in spec.seeds), sum(size.values())
    outputs = [argument(*value) for value in spec.values]
    blocks = []
    for name, count in spec.seeds:
        blocks.append(f"{{{count}, {first[name]}, {len(outputs)}}}")
        outputs += [argument(spec.plain or f"d{name}_d{k}", count, size[k]) for k in spec.columns]
    if text is None:
        reverse, value = emission.known(f"vjp_{spec.of}"), emission.known(spec.of)
        inner, operations = max(reverse.work_size or 0, value.work_size or 0), reverse.operations
    else:
        inner, operations = text.work, text.operations
        emission.texts[spec.name] = len(text.text)
    inputs, work = [argument(k, s, 1) for k, s in spec.inputs], seeds + bars + inner
    symbol = emission.declare(spec.name, spec.doc, inputs, outputs, operations=operations * seeds, work=work)
    entry = _Rows(
        symbol, len(spec.inputs), seeds, bars, tuple(at.values()), tuple(blocks),
        tuple(f"{{{size[k]}, {at[k]}}}" for k in spec.columns),
        emission.known(spec.of).symbol if spec.values else None,
        f"{text.name}_row" if text else f"{emission.robot}_vjp_{spec.of}", work,
    )  # fmt: skip
    return entry, text


def add_leaves(
    emission: Emission,
    path: str,
    specs: Sequence[Spec | RowSpec],
    graphs: Container[str] = (),
    model: str = "",
    lanes: int = 1,
) -> tuple[Entry, ...]:
    """One C file of plain functions; `graphs` names what has a CasADi graph. Kernels over the V of lanes.h, alpha
    shared, are left to a header `model`; there is work for `lanes` rows. Returns the functions without rows."""
    entries = []
    rows: list[_Rows] = []
    row_kernels: list[Kernel] = []
    for spec in specs:
        if isinstance(spec, RowSpec):
            entry, kernel_text = _add_rows(emission, spec)
            rows.append(entry)
            row_kernels += [kernel_text] if kernel_text else []
            continue
        text, f = kernel(spec.graph, f"{spec.name}_kernel", shared=("alpha",) if model else None), spec.graph
        inputs = [argument(f.name_in(k), f.size1_in(k), f.size2_in(k)) for k in range(f.n_in())]
        outputs = [argument(f.name_out(k), f.size1_out(k), f.size2_out(k)) for k in range(f.n_out())]
        work = text.work
        if model:
            work += sum(a.size() for a in (*inputs, *outputs))
            work = lanes * (work + 1)  # one more: vectors begin at a multiple of their size
        symbol = emission.declare(
            spec.name, spec.doc, inputs, outputs, operations=text.operations, work=work, graph=spec.name in graphs,
        )  # fmt: skip
        entries.append(Entry(symbol, text, work))
        emission.texts[spec.name] = len(text.text)
    emission.add(
        path, "functions.c", functions=entries, rows=rows, row_kernels=row_kernels, model=model,
        most=max((f.inputs + len(f.outputs) + len(f.bar_offsets) for f in rows), default=0),
    )  # fmt: skip
    if rows:
        emission.copy("rows.h")
    return tuple(entries)
