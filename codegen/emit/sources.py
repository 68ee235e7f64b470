"""C sources, header, build files and example of one robot, as text by relative path."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca

from diffpbd.codegen.emit.c_writer import Kernel, kernel, literal
from diffpbd.codegen.emit.constants import CONSTANTS, STATUS
from diffpbd.codegen.emit.environment import render
from diffpbd.codegen.graph.catalogue import DOCS, unit_and_frame
from diffpbd.codegen.graph.functions import Spec
from diffpbd.runtime.manifest import ABI_VERSION, Argument, Function, Parameter

INTEGERS = ("max_pose", "max_rate", "max_line")


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

    def add(self, path: str, template: str, **values: Any) -> None:
        """Render one file; its banner names it."""
        banner = dataclasses.replace(self.banner, text=f"{self.robot}: {path}")
        self.files[path] = render(template, robot=self.robot, banner=banner, **values)


@dataclass(frozen=True)
class Entry:
    """A leaf function in templates/functions.c.jinja."""

    symbol: str
    kernel: Kernel
    work: int


def argument(name: str, rows: int, cols: int | str) -> Argument:
    """An argument with its unit and frame."""
    return Argument(name, rows, cols, *unit_and_frame(name))


def add_leaves(emission: Emission, path: str, specs: Sequence[Spec]) -> None:
    """One C file of plain functions."""
    entries = []
    for spec in specs:
        text = kernel(spec.graph, f"k_{spec.name}")
        symbol = f"{emission.robot}_{spec.name}"
        entries.append(Entry(symbol, text, text.work))
        emission.texts[spec.name] = len(text.text)
        f = spec.graph
        emission.functions.append(
            Function(
                name=spec.name,
                doc=spec.doc,
                symbol=symbol,
                inputs=tuple(argument(f.name_in(k), f.size1_in(k), f.size2_in(k)) for k in range(f.n_in())),
                outputs=tuple(argument(f.name_out(k), f.size1_out(k), f.size2_out(k)) for k in range(f.n_out())),
                work_size=text.work,
                operations=text.operations,
                casadi=f"casadi/{spec.name}.casadi",
            )
        )
    emission.add(path, "functions.c", functions=entries)


def add_joint_step(emission: Emission, graphs: Sequence[ca.Function], n: int, alpha: Sequence[Parameter]) -> int:
    """The joint-space step, its derivatives and rollouts; returns the size of its work array."""
    accumulating = {"adjoint_parameters"}
    kernels = [kernel(g, f"k_{g.name()}", accumulate=g.name() in accumulating) for g in graphs]
    by_name = {g.name(): (g, k) for g, k in zip(graphs, kernels, strict=True)}
    model = by_name["prepare"][0].numel_out(0)
    kernel_work = max(k.work for k in kernels)
    coulomb = next(i for i, e in enumerate(alpha) if e.name.startswith("friction.coulomb."))
    named = {c.name: int(c.value) if c.name in INTEGERS else literal(c.value) for c in CONSTANTS}
    emission.add(
        "src/joint_step.c", "joint_step.c",
        n=n, alpha_size=len(alpha), model_size=model, coulomb=coulomb, kernel_work=kernel_work, kernels=kernels, **named,
    )  # fmt: skip
    emission.texts["joint_step"] = sum(len(k.text) for k in kernels)
    size = model + (12 + 6 + 1 + 1 + 1 + 2 * n + 1 + 1 + 1 + 1 + 1 + 1 + 4) * n + kernel_work

    def count(*names: str) -> int:
        return sum(by_name[k][1].operations for k in names)

    step = count("prepare", "start", "newton", "chord", "end", "velocity")
    shapes: Mapping[str, tuple[int, int | str]] = {
        **dict.fromkeys(("p", "pd", "u", "p_next", "pd_next", "p_prev", "p0", "pd0"), (n, 1)),
        "h": (1, 1), "alpha": (len(alpha), 1), "U": (n, "N"), "P": (n, "N+1"), "PD": (n, "N+1"),
    }  # fmt: skip

    def arguments(names: str) -> tuple[Argument, ...]:
        result = []
        for name in names.split():
            if name.startswith("d"):
                shape: tuple[int, int | str] = (n, len(alpha) if name.endswith("alpha") else n)
            else:
                shape = shapes[name.removesuffix("_bar")]
            result.append(argument(name, *shape))
        return tuple(result)

    def add(
        name: str,
        doc: str,
        inputs: str,
        outputs: str,
        operations: int,
        casadi: str | None = None,
        rollout: bool = False,
    ) -> None:
        emission.functions.append(
            Function(
                name=name,
                doc=doc,
                symbol=f"{emission.robot}_{name}",
                inputs=arguments(inputs),
                outputs=arguments(outputs),
                work_size=None if rollout else size,
                operations=operations,
                casadi=casadi,
                status={k: STATUS[k] for k in (1, 2)},
                rollout=rollout,
            )  # fmt: skip
        )

    state = "p pd u h alpha"
    blocks = "dp_next_dp dp_next_dpd dp_next_du dpd_next_dp dpd_next_dpd dpd_next_du"
    adjoint = count("adjoint", "adjoint_parameters")
    add("joint_step", DOCS["joint_step"], state, "p_next pd_next", step, "casadi/joint_step.casadi")
    add(
        "jac_joint_step",
        "joint_step and its Jacobian by p, pd and u.",
        state,
        f"p_next pd_next {blocks}",
        step + count("jacobian"),
    )
    add(
        "jac_alpha_joint_step",
        "Jacobian of joint_step by alpha.",
        state,
        "dp_next_dalpha dpd_next_dalpha",
        step + count("jacobian_alpha"),
    )
    bars = "p_bar pd_bar u_bar h_bar alpha_bar"
    add("vjp_joint_step", "Reverse derivative of joint_step.", f"{state} p_next_bar pd_next_bar", bars, step + adjoint)
    add(
        "node_torque",
        DOCS["node_torque"],
        "p_prev p p_next h alpha",
        "u",
        count("prepare", "node", "velocity", "node_torque"),
    )
    add("rollout", DOCS["rollout"], "p0 pd0 U h alpha", "P PD", step, rollout=True)
    add(
        "vjp_rollout",
        "Reverse derivative of rollout; with h_bar and alpha_bar both NULL those two are left out and cost nothing.",
        "p0 pd0 U h alpha P_bar PD_bar", "p0_bar pd0_bar U_bar h_bar alpha_bar", step + adjoint, rollout=True,
    )  # fmt: skip
    return size


def add_frame(emission: Emission, joints: Sequence[str], alpha: Sequence[Parameter], work: int, h: float) -> str:
    """Header, common symbols, build files and example; returns the hash of all C text, which the library will report."""
    sources = sorted([*(p for p in emission.files if p.endswith(".c")), "src/common.c"])
    numbers = [{"name": a.name, "unit": a.unit, "default": literal(a.default)} for a in alpha]
    statuses = "; ".join(f"{k}: {v}" for k, v in sorted(STATUS.items()))
    emission.add(
        f"{emission.robot}.h", "header.h", joints=joints, alpha=numbers, functions=emission.functions, statuses=statuses
    )
    digest = hashlib.sha256()
    for path in sorted(emission.files):
        digest.update(f"{path}\n{emission.files[path]}\n".encode())
    abi_hash = digest.hexdigest()
    most = max(max(len(f.inputs), len(f.outputs)) for f in emission.functions)
    emission.add("src/common.c", "common.c", abi_hash=abi_hash, abi=ABI_VERSION, most_arguments=most)
    stepping = any(f.name == "joint_step" for f in emission.functions)
    gravity = next(f for f in emission.functions if f.name == "gravity")
    emission.add(
        "main.c", "main.c", alpha=numbers, h=literal(h), stepping=stepping,
        work=max(1, work if stepping else gravity.work_size or 0),
    )  # fmt: skip
    emission.add("Makefile", "Makefile", sources=sources)
    emission.add("CMakeLists.txt", "CMakeLists.txt", sources=sources)
    return abi_hash
