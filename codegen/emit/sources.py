"""C sources, header, build files and example of one robot, as text by relative path."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from diffpbd.codegen.emit.c_writer import Kernel, kernel, literal
from diffpbd.codegen.emit.constants import IN_C, NOT_FORWARDS, SPECIAL_STATUS, STATUS
from diffpbd.codegen.emit.enumerators import frames, parameters, statuses
from diffpbd.codegen.emit.environment import render
from diffpbd.codegen.emit.kinds import COULOMB, FRICTION, PLAIN_FRICTION, starts
from diffpbd.codegen.emit.step_kernels import StepKernels
from diffpbd.codegen.emit.unused import with_unused
from diffpbd.codegen.functions import FUNCTIONS, Slot, expect_declared
from diffpbd.codegen.graph.catalogue import axes, unit_and_frame, worded
from diffpbd.codegen.graph.derivatives import RowSpec, Spec
from diffpbd.runtime.manifest import ABI_VERSION, Argument, Function, Parameter


@dataclass(frozen=True)
class Banner:
    """What the head of every emitted file says."""

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
    lanes: list[str] = field(default_factory=list)
    """Names of those that also take rows of a batch side by side."""

    def add(self, path: str, template: str, **values: Any) -> None:
        """Render one file; its banner names it."""
        banner = dataclasses.replace(self.banner, text=f"{self.robot}: {path}")
        text = render(template, robot=self.robot, banner=banner, **values)
        self.files[path] = with_unused(text) if path.endswith((".c", ".h")) else text

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
        status = (*status, *((NOT_FORWARDS,) if steps else ()))
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
    """A leaf function in templates/functions.c.jinja."""

    symbol: str
    kernel: Kernel
    work: int


def argument(name: str, rows: int, cols: int | str) -> Argument:
    """An argument with its axes, unit and frame."""
    return Argument(name, rows, cols, axes(name, cols), *unit_and_frame(name))


@dataclass(frozen=True)
class _Rows:
    """A function that loops over unit seeds, in templates/_rows.jinja."""

    symbol: str
    inputs: int
    seeds: int
    bars: int
    bar_offsets: tuple[int, ...]
    outputs: tuple[dict[str, int], ...]
    columns: tuple[dict[str, int], ...]
    value: str | None
    reverse: str | None
    kernel: str | None
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
        blocks.append({"size": count, "first": first[name], "index": len(outputs)})
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
        tuple({"size": size[k], "offset": at[k]} for k in spec.columns),
        emission.known(spec.of).symbol if spec.values else None,
        None if text else f"{emission.robot}_vjp_{spec.of}", text.name if text else None, work,
    )  # fmt: skip
    return entry, text


def add_leaves(emission: Emission, path: str, specs: Sequence[Spec | RowSpec], graphs: Container[str] = ()) -> None:
    """One C file of plain functions; `graphs` names what has a CasADi graph."""
    entries = []
    rows: list[_Rows] = []
    row_kernels: list[Kernel] = []
    for spec in specs:
        if isinstance(spec, RowSpec):
            entry, kernel_text = _add_rows(emission, spec)
            rows.append(entry)
            row_kernels += [kernel_text] if kernel_text else []
            continue
        text, f = kernel(spec.graph, f"{spec.name}_kernel"), spec.graph
        inputs = [argument(f.name_in(k), f.size1_in(k), f.size2_in(k)) for k in range(f.n_in())]
        outputs = [argument(f.name_out(k), f.size1_out(k), f.size2_out(k)) for k in range(f.n_out())]
        symbol = emission.declare(
            spec.name, spec.doc, inputs, outputs, operations=text.operations, work=text.work, graph=spec.name in graphs,
        )  # fmt: skip
        entries.append(Entry(symbol, text, text.work))
        emission.texts[spec.name] = len(text.text)
    emission.add(path, "functions.c", functions=entries, rows=rows, row_kernels=row_kernels)


def add_joint_step(
    emission: Emission,
    kernels: StepKernels,
    n: int,
    links: int,
    alpha: Sequence[Parameter],
    graphs: Container[str] = (),
    by_alpha: bool = True,
) -> int:
    """The joint-space step, its derivatives and rollouts, on n coordinates; returns the size of its work array.

    `graphs` names what has a CasADi graph; `by_alpha`: whether the Jacobian by parameters is there."""
    model, mass, factors, deep = kernels.model, kernels.mass, kernels.factors, kernels.deep
    kernel_work = kernels.work
    coulomb, *more_coulomb = starts(alpha, COULOMB)
    friction = starts(alpha, FRICTION)
    sizes: dict[str, Any] = dict(
        n=n, links=links, alpha_size=len(alpha), model_size=model, coulomb=coulomb, kernel_work=kernel_work,
        more_coulomb=more_coulomb, friction=friction, varying=len(friction) > PLAIN_FRICTION,
        mass_size=mass, factors_size=factors, record_size=kernels.record,
        deep=deep, by_alpha=by_alpha, sixth=bool(kernels.sixth), **IN_C,
    )  # fmt: skip
    emission.texts["joint_step"] = kernels.bytes
    shared = 9 * n + 1 + len(alpha) if deep else kernels.record + 20 * n + 16 * n * n
    size = model + kernels.record + 13 * n + mass + factors + shared + kernel_work

    def count(*names: str) -> int:
        return sum(kernels.operations[k] for k in names)

    step = count("prepare", "start", "newton", "chord", "end", "velocity")
    own = ("adjoint",) if deep else ("inertia", "velocity_newton", "momentum_slope", "assembly", "solve_transposed")
    adjoint = count(*own, "adjoint_parameters")
    jacobian = 2 * n * count("adjoint") if deep else count("jacobian")
    jacobian_alpha = 0 if not by_alpha else 2 * n * adjoint if deep else count("jacobian_alpha")
    shapes: Mapping[str, tuple[int, int | str]] = {
        **dict.fromkeys(("p", "pd", "u", "kick", "p_next", "pd_next", "p_prev", "p0", "pd0"), (n, 1)),
        "h": (1, 1), "alpha": (len(alpha), 1), "U": (n, "N"), "P": (n, "N+1"), "PD": (n, "N+1"),
    }  # fmt: skip

    def arguments(slots: Sequence[Slot]) -> tuple[Argument, ...]:
        result = []
        for name in (slot.name for slot in slots):
            if name.startswith("d"):
                shape: tuple[int, int | str] = (n, len(alpha) if name.endswith("alpha") else n)
            else:
                shape = shapes[name.removesuffix("_bar")]
            result.append(argument(name, *shape))
        return tuple(result)

    onward = step - count("prepare")
    node = count("prepare", "node", "velocity", "node_torque")
    lanes = kernels.lanes_work(n, len(alpha))
    declared = set()
    for name, operations in (
        ("joint_step", step),
        ("jac_joint_step", step + jacobian),
        ("jac_kicked_step", step + jacobian),
        ("jac_alpha_joint_step", step + jacobian_alpha),
        ("vjp_joint_step", step + adjoint),
        ("node_torque", node),
        ("sixth_order_step", 6 * step),
        ("rollout", onward),
        ("vjp_rollout", onward + adjoint),
        ("vjp_trajectory", count("prepare") + adjoint),
    ):
        if (name == "jac_alpha_joint_step" and not by_alpha) or (name == "sixth_order_step" and not kernels.sixth):
            continue
        work = None if name.endswith(("rollout", "trajectory")) else size + lanes.get(name, 0)
        declared.add(name)
        declared_as = FUNCTIONS[name]
        emission.declare(
            name, declared_as.doc, arguments(declared_as.inputs), arguments(declared_as.outputs),
            operations=operations, work=work, graph=name in graphs,
            status=(1, 2, 11) if name == "sixth_order_step" else (1, 2),
        )  # fmt: skip
    dispatched = [f for f in emission.functions if f.name in declared and f.name != "jac_alpha_joint_step"]
    emission.dispatched += dispatched
    emission.add(
        "src/joint_step.c", "joint_step.c",
        kernels=kernels.texts, portable_kernels=kernels.portable, lanes_work=lanes, dispatched=dispatched, **sizes,
    )  # fmt: skip
    return size + lanes["joint_step"]


def add_header(emission: Emission, joints: Sequence[str], alpha: Sequence[Parameter]) -> list[dict[str, str]]:
    """The header of all functions that are declared so far; returns the parameters as templates take them."""
    numbers = parameters(alpha)
    emission.add(
        f"{emission.robot}.h", "header.h", joints=joints, alpha=numbers, functions=emission.functions,
        statuses=statuses(emission.functions), frames=frames(emission.frames),
    )  # fmt: skip
    return numbers


def add_frame(emission: Emission, joints: Sequence[str], alpha: Sequence[Parameter], work: int, h: float) -> str:
    """Header, common symbols, build files and example; returns the hash of all C text, which the library will report."""
    if emission.dispatched:
        emission.add("src/dispatch.c", "dispatch.c", functions=emission.dispatched)
    sources = sorted([*(p for p in emission.files if p.endswith(".c")), "src/common.c"])
    numbers = add_header(emission, joints, alpha)
    digest = hashlib.sha256()
    for path in sorted(emission.files):
        digest.update(f"{path}\n{emission.files[path]}\n".encode())
    abi_hash = digest.hexdigest()
    most = max(max(len(f.inputs), len(f.outputs)) for f in emission.functions)
    emission.add(
        "src/common.c",
        "common.c",
        alpha=numbers,
        abi_hash=abi_hash,
        abi=ABI_VERSION,
        most_arguments=most,
        lanes=emission.lanes,
    )
    stepping = any(f.name == "joint_step" for f in emission.functions)
    gravity = emission.known("gravity")
    emission.add(
        "main.c", "main.c", h=literal(h), stepping=stepping,
        work=max(1, work if stepping else gravity.work_size or 0),
    )  # fmt: skip
    emission.add("Makefile", "Makefile", sources=sources)
    emission.add("CMakeLists.txt", "CMakeLists.txt", sources=sources)
    return abi_hash
