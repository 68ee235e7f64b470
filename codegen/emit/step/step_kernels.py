"""Kernels of the joint-space step as C text, under the names and arguments that templates/step/joint_step.c calls.

Short trees get one straight-line function a kernel, a robot's numbers folded in. Deep ones get calls of small functions that
recur from link to link: that keeps code in the instruction cache. Their numbers are read from an array.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any, Final

import casadi as ca
import sympy as sp

from diffpbd.codegen.emit.step.parameter_slopes import Slope, operations, parameter_slopes, share_numbers
from diffpbd.codegen.emit.text.c_writer import Kernel, kernel, unused, with_inputs
from diffpbd.codegen.emit.text.call_writer import CallWriter, Routine
from diffpbd.codegen.emit.text.numbers import Numbers, numbers
from diffpbd.codegen.graph.expressions.common_part import split
from diffpbd.codegen.graph.model.model import Model, prepare
from diffpbd.codegen.graph.step import joint_step
from diffpbd.codegen.joint_space import link_shares, tree_jacobian
from diffpbd.codegen.joint_space import step as joint_space
from diffpbd.codegen.laws import forces
from diffpbd.codegen.method import stage
from diffpbd.codegen.program.outline import outlined
from diffpbd.codegen.program.program import Program

NUMBERS = ("before", "after", "body", "gravity", "rotor", "stiffness", "rest", "coulomb", "viscous", "transition")
"""Blocks of the model that the step's programs take; external wrenches and springs on chosen joints have one more each."""
SHARED: Final = ("h", "alpha", "model")
"""Inputs that all states of a batch have in common where they are worked out side by side."""
LANES: Final = (
    "start", "newton", "chord", "end", "velocity",
    "jacobian", "inertia", "velocity_newton", "momentum_slope", "assembly", "solve_transposed", "friction_lag",
    "adjoint_parameters",
)  # fmt: skip
"""Kernels that take one state or several side by side; the first STEP of them make a step."""
STEP: Final = 5
START_RATE: Final = dict.fromkeys(("velocity", "velocity_gradient", "velocity_newton"), ("pd_start",))
"""Kernels that take the rates a step starts from."""
ITERATIONS: Final = ("newton", "chord", "end")
REACHING: Final = (*ITERATIONS, "onward")
"""Kernels that begin with the same operations: how links move to the pose at the end, and h F there. They stand once, as
reach_kernel, so that the code of a step fits into an instruction cache."""
BY_LANE: Final = ("start", "onward")
"""Kernels that a step of sixth order takes with another h in every lane, under names of their own."""


@dataclass(frozen=True)
class StepKernels:
    """C texts; operations by kernel name; sizes [doubles] of a kernel's work, of the prepared numbers, inertia, factors,
    and what a step knows of its start.

    Of deep trees, `parents` are the joints that joints hang on, their number for the world, and `slopes` what the Jacobian by
    parameters is summed from (`parameter_slopes`), with so many numbers of `shares`. Of others, `step` and `derivatives`
    are the texts in which states may stand side by side, `portable` those that need no second path."""

    texts: tuple[str, ...]
    operations: Mapping[str, int]
    work: int
    model: int
    mass: int
    factors: int
    record: int
    deep: bool
    step: tuple[str, ...] = ()
    derivatives: tuple[str, ...] = ()
    portable: tuple[str, ...] = ()
    sixth: tuple[str, ...] = ()
    parents: tuple[int, ...] = ()
    slopes: tuple[Slope, ...] = ()
    shares: int = 0

    @property
    def bytes(self) -> int:
        """Bytes of all texts."""
        return sum(map(len, (*self.texts, *self.step, *self.derivatives, *self.portable, *self.sixth)))


def step_kernels(model: Model, by_alpha: bool = True, sixth: bool = False) -> StepKernels:
    """All kernels of a model's step; `by_alpha`: that of its Jacobian by parameters too; `sixth`: of a sixth-order step."""
    return _rolled(model, by_alpha) if model.tree.deep else _straight(model, by_alpha, sixth)


def _straight(model: Model, by_alpha: bool, sixth: bool) -> StepKernels:
    size = {g.name(): g for g in joint_step.kernels(model, prepare(model), by_alpha)}
    reach, rest = split({k: size[k] for k in REACHING}, ITERATIONS, {"p_next": "iterate"}, "reach")

    def written(name: str, called: str, shared: Container[str] | None) -> Kernel:
        if name in rest:
            return _joined(size[name], called, rest[name], shared, reach.numel_out(0))
        also = START_RATE.get(name, ())
        return kernel(size[name], called, accumulate=name == "adjoint_parameters", shared=shared, also=also)

    first = kernel(reach, "reach_kernel", shared=SHARED)
    kernels = {name: written(name, f"{name}_kernel", SHARED if name in LANES else None) for name in size}
    by_lane = [written(name, f"{name}_by_lane_kernel", ("alpha", "model")) for name in BY_LANE if sixth]
    placed = ("prepare", *LANES, "jacobian_alpha")
    handed = reach.numel_out(0)
    begun = first.operations
    return StepKernels(
        tuple(k.text for name, k in kernels.items() if name not in placed),
        {name: k.operations + begun * (name in rest) for name, k in kernels.items()},
        max(first.work + handed, *(k.work + handed * (name in rest) for name, k in kernels.items())),
        size["prepare"].numel_out(0),
        size["end"].numel_out("M"),
        size["newton"].numel_out("factors"),
        size["start"].numel_out("record"),
        deep=False,
        step=(
            *(kernels[name].text for name in ("prepare", "start")),
            "#ifdef STEP_ALONE",  # of 8 lanes, where what is handed on would leave the data cache
            *(kernel(size[name], f"{name}_kernel", shared=SHARED).text for name in ITERATIONS),
            "#else",
            *(first.text, *(kernels[name].text for name in ITERATIONS)),
            "#endif",
            kernels["velocity"].text,
        ),
        derivatives=tuple(kernels[name].text for name in LANES[STEP:] if name in kernels),
        sixth=tuple(k.text for k in by_lane),
        portable=(kernels["jacobian_alpha"].text,) if by_alpha else (),
    )


def _joined(graph: ca.Function, name: str, rest: ca.Function, shared: Container[str] | None, handed: int) -> Kernel:
    """The kernel of a graph that calls reach_kernel and then what is left of it; w holds what the one hands to the other."""
    left = kernel(rest, f"{name.removesuffix('_kernel')}_after_kernel", shared=shared)
    number = "double" if shared is None else "V"
    inputs, outputs = graph.name_in(), graph.name_out()
    formals = [f"const {'double' if k in (shared or ()) else number} *restrict {k}" for k in inputs]
    formals += [f"{number} *restrict {k}" for k in (*outputs, "w")]
    end = "iterate" if "iterate" in inputs else "p_next"
    text = (
        f"INLINE void {name}({', '.join(formals)}) {{\n"
        f"  reach_kernel({end}, p, record, terms, alpha, model, w, w + {handed});\n"
        f"  {left.name}(w, {', '.join((*inputs, *outputs))}, w + {handed});\n}}\n"
    )
    return Kernel(name, f"{left.text}\n{text}", tuple(inputs), tuple(outputs), left.work, left.operations)


class _Roll:
    """Collects the texts of a deep tree's kernels."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.writer = CallWriter("rolled")
        self.texts: list[str] = []
        self.operations: dict[str, int] = {}
        self.work = 0
        more_friction = forces.friction_names(model.tree.friction)[len(forces.FRICTION) :]
        held = ("held",) if forces.has_memory(model.tree.friction) else ()
        self.names: tuple[str, ...] = (*NUMBERS, *more_friction, *held, *stage.force_inputs(model.tree))
        self.offset: dict[str, int] = {}
        position = 0
        for name in self.names:
            self.offset[name] = position
            position += model.blocks[name].numel()
        self.size = position
        self._outlined: dict[int, Program] = {}

    def arguments(self, program: Program, renamed: Mapping[str, str]) -> list[str]:
        """C expressions for the inputs of a program: the model's numbers from their array, others by their own names."""
        return [f"model + {self.offset[k]}" if k in self.offset else renamed.get(k, k) for k in program.inputs]

    def outlined(self, program: Program) -> Program:
        """The program as calls of kernels, the robot's zeros and ones folded in."""
        if id(program) not in self._outlined:
            known = {}
            for name in self.offset:
                for symbol, value in zip(program.inputs.get(name, ()), self._rows(name), strict=False):
                    if value.is_constant() and float(value) in (-1.0, 0.0, 1.0):
                        known[symbol] = sp.Integer(int(float(value)))
            self._outlined[id(program)] = outlined(program, known)
        return self._outlined[id(program)]

    def _rows(self, name: str) -> list[Any]:
        block = ca.SX(self.model.blocks[name])
        return [block[i, j] for i in range(block.size1()) for j in range(block.size2())]

    def flush(self) -> None:
        """Take over what the writer has emitted."""
        self.texts += self.writer.texts
        self.writer.texts.clear()

    def forward(self, name: str, program: Program) -> None:
        """<name>_kernel: the program's own inputs, alpha, model, outputs, w."""
        rolled = self.outlined(program)
        routine = self.writer.forward(rolled)
        self.flush()
        own = [k for k in program.inputs if k not in self.offset]
        given = with_inputs((*own, "alpha", "model"), START_RATE.get(name, ()))
        formals = [f"const double *{k}" for k in given] + [f"double *{k}" for k in program.outputs]
        call = f"{routine.name}({', '.join([*self.arguments(rolled, {}), *program.outputs])}, w);"
        body = "\n".join([*unused(given, [call]), f"  {call}"])
        self.texts.append(f"static void {name}_kernel({', '.join(formals)}, double *w) {{\n{body}\n}}\n")
        self.count(name, routine)

    def count(self, name: str, routine: Routine, extra: int = 0) -> None:
        """Book a kernel's operations and work."""
        self.operations[name] = self.operations.get(name, 0) + routine.operations
        self.work = max(self.work, routine.work + extra)

    def prepare(self, table: Numbers) -> None:
        """prepare_kernel: alpha → model."""
        self.texts += [table.forward.text, table.reverse.text]
        count = len(table.where)
        self.texts.append(
            f"static const double numbers[{self.size}] = {{{', '.join(table.fixed)}}};\n"
            f"static const int changing[{count}] = {{{', '.join(map(str, table.where))}}};\n"
            "static void prepare_kernel(const double *alpha, double *model, double *w) {\n  int k;\n"
            "  memcpy(model, numbers, sizeof numbers);\n"
            f"  numbers_kernel(alpha, w, w + {count});\n"
            f"  for (k = 0; k < {count}; k++) model[changing[k]] = w[k];\n}}\n"
        )
        self.operations["prepare"] = table.forward.operations
        self.work = max(self.work, count + table.forward.work)

    def plain(self, text: Kernel, name: str) -> None:
        """A straight-line kernel."""
        self.texts.append(text.text)
        self.operations[name] = text.operations
        self.work = max(self.work, text.work)


def _rolled(model: Model, by_alpha: bool) -> StepKernels:
    tree, roll = model.tree, _Roll(model)
    table = numbers(model.alpha, [model.blocks[k] for k in roll.names], "numbers")
    roll.prepare(table)
    programs = joint_step.step_programs(tree)
    programs["joints"] = tree_jacobian.joints(tree)
    slopes = parameter_slopes(model, roll.offset, table.sparsity) if by_alpha else ()
    if slopes:
        programs["shares"] = link_shares.shares(tree)
    for name, program in programs.items():
        roll.forward(name, program)
    roll.plain(kernel(joint_step.node_torque(model), "node_torque_kernel"), "node_torque")
    _add_adjoint_parameters(roll, table, own=bool(slopes))
    if slopes:
        roll.plain(table.slopes, "slopes")
        roll.operations["parameters"] = operations(tree, slopes, len(model.entries))
    roll.operations |= tree_jacobian.operations(tree)
    return StepKernels(
        tuple(roll.texts), roll.operations, roll.work, roll.size,
        _size(programs["end"].outputs["M"]), _size(programs["newton"].outputs["factors"]),
        _size(programs["start"].outputs["record"]), deep=True,
        parents=tuple(parent if parent >= 0 else tree.n for parent in tree.parents),
        slopes=slopes, shares=share_numbers(tree) if slopes else 0,
    )  # fmt: skip


def _size(m: Any) -> int:
    return int(m.rows * m.cols)


def _active(program: Program, names: tuple[str, ...]) -> frozenset[Any]:
    return frozenset(s for k in names if k in program.inputs for s in program.inputs[k])


def _add_adjoint_parameters(roll: _Roll, table: Numbers, own: bool) -> None:
    """adjoint_parameters_kernel: −xᵀ ∂hF − yᵀ ∂hG by alpha and h, added to; with `own` own_kernel too: the sums over all rows
    of h F and of h G by the robot's numbers, of a joint's own number the change of that joint's row."""
    tree = roll.model.tree
    both = roll.outlined(joint_space.residuals(tree))
    active = ("h", *roll.names)
    routine = roll.writer.reverse(both, _active(both, active))
    roll.flush()
    n, count = tree.n, len(table.where)
    bars = 2 * n
    values = bars + roll.size
    inner = values + count
    gradients = [f"w + {bars + roll.offset[k]}" if k in roll.offset else "h_bar" for k in both.inputs if k in active]
    call = ", ".join([*roll.arguments(both, {}), "w", f"w + {n}", *gradients, f"w + {inner}"])
    roll.texts.append(
        f"""static void adjoint_parameters_kernel(const double *p, const double *pd, const double *u, const double *h,
                                 const double *p_next, const double *pd_next, const double *alpha, const double *model,
                                 const double *x, const double *y, double *alpha_bar, double *h_bar, double *w) {{
  int k;
  for (k = 0; k < {n}; k++) {{
    w[k] = -x[k];
    w[{n} + k] = -y[k];
  }}
  memset(w + {bars}, 0, {roll.size} * sizeof(double));
  {routine.name}({call});
  for (k = 0; k < {count}; k++) w[{values} + k] = w[{bars} + changing[k]];
  numbers_reverse_kernel(alpha, w + {values}, alpha_bar, w + {inner});
}}
"""
    )
    roll.count("adjoint_parameters", routine, inner)
    roll.work = max(roll.work, inner + table.reverse.work)
    if not own:
        return
    gradients = [f"to + {roll.offset[k]}" if k in roll.offset else "w" for k in both.inputs if k in active]
    call = ", ".join([*roll.arguments(both, {}), "w + 1", f"w + {n + 1}", *gradients, f"w + {bars + 1}"])
    roll.texts.append(
        f"""static void own_kernel(const double *p, const double *pd, const double *u, const double *h, const double *p_next,
                       const double *pd_next, const double *alpha, const double *model, double *own, double *w) {{
  int end, k;
  (void)alpha;
  memset(own, 0, 2 * {roll.size} * sizeof(double));
  for (end = 0; end < 2; end++) {{
    double *to = own + {roll.size} * end;
    w[0] = 0.0;
    for (k = 0; k < {bars}; k++) w[1 + k] = k / {n} == end ? 1.0 : 0.0;
    {routine.name}({call});
  }}
}}
"""
    )
    for _ in range(2):
        roll.count("own", routine, bars + 1)
