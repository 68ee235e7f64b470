"""Straight-line SymPy programs: the one form in which everything derived is kept.

A `Program` has named inputs (matrices of symbols), an ordered list of statements, and named outputs. A statement is an
assignment of a scalar expression to a fresh symbol, or a call of another program whose outputs become fresh symbols. The
same program gives the CasADi graph (`diffpbd.codegen.graph.expressions.translate`), the C sources and the NumPy reference
(`Program.numpy`).

Nothing grows: `let` names every intermediate result and reuses the name when the same expression comes again, so
expressions stay a few nodes deep and structurally equal work is done once.
"""

from __future__ import annotations

import contextlib
import keyword
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import sympy as sp

Matrix = sp.ImmutableDenseMatrix
Scalar: TypeAlias = Any

# Functions a program may use, and what they are called in NumPy. One table: graph/expressions/translate.py has its CasADi twin.
NUMPY_NAMES: Mapping[type[sp.Function], str] = {
    sp.sin: "sin",
    sp.cos: "cos",
    sp.tanh: "tanh",
    sp.exp: "exp",
    sp.log: "log",
    sp.atan2: "arctan2",
    sp.sign: "sign",
    sp.Abs: "abs",
}


@dataclass(frozen=True)
class Assign:
    """`symbol = expression`; `part` numbers the stretch of the program it stands in, `link` the link or joint that this one is
    about, −1 for none (`Program.part`)."""

    symbol: sp.Symbol
    expression: Scalar
    part: int = 0
    link: int = -1


@dataclass(frozen=True)
class Call:
    """`outputs = program(arguments)`; both by the callee's names, outputs are fresh symbols of the caller."""

    program: Program
    arguments: Mapping[str, Any]
    outputs: Mapping[str, Any]


Statement = Assign | Call


@dataclass
class Program:
    """A straight-line program. Build it with `input`, `let`, `call`, `output`; read it with the rest."""

    name: str
    doc: str = ""
    inputs: dict[str, Any] = field(default_factory=dict)
    statements: list[Statement] = field(default_factory=list)
    outputs: dict[str, Any] = field(default_factory=dict)
    _known: dict[Scalar, sp.Symbol] = field(default_factory=dict, repr=False)
    _count: int = 0
    _part: int = 0
    _link: int = -1
    digits: int = 0
    """Names are padded to so many digits, so that sorting by name (SymPy does) keeps the order of their making."""

    # building -----------------------------------------------------------------------------------------------------

    def input(self, name: str, rows: int = 1, cols: int = 1) -> Any:
        """Declare an input of the given shape and return its matrix of symbols."""
        if name in self.inputs or not name.isidentifier() or keyword.iskeyword(name):
            raise ValueError(f"program {self.name}: bad or repeated input name {name!r}")
        symbols = Matrix(rows, cols, [self._symbol(f"{name}_", k) for k in range(rows * cols)])
        self.inputs[name] = symbols
        return symbols

    def scalar(self, name: str) -> sp.Symbol:
        """Declare a 1×1 input and return its symbol."""
        return self.input(name)[0, 0]

    def _fresh(self) -> sp.Symbol:
        self._count += 1
        return self._symbol("t", self._count)

    def _symbol(self, name: str, number: int) -> sp.Symbol:
        return sp.Symbol(f"{name}{number:0{self.digits}d}" if self.digits else f"{name}{number}", real=True)

    def let(self, value: Any) -> Any:
        """Name every element of a matrix or a scalar that is more than an atom; returns what stands for the value."""
        if isinstance(value, sp.MatrixBase):
            return Matrix(value.rows, value.cols, [self._let(e) for e in value])
        return self._let(sp.sympify(value))

    def _let(self, expression: Scalar) -> Scalar:
        if expression.is_Atom:
            return expression
        sign, positive = (-1, -expression) if is_negative(expression) else (1, expression)
        if positive.is_Atom:
            return expression
        symbol = self._known.get(positive)
        if symbol is None:
            symbol = self._fresh()
            self._known[positive] = symbol
            self.statements.append(Assign(symbol, positive, self._part, self._link))
        return symbol if sign == 1 else -symbol

    @contextlib.contextmanager
    def part(self, link: int) -> Iterator[None]:
        """A stretch that is about one link or joint: `outline` looks for the same stretch at others."""
        self._part, self._link = self._part + 1, link
        yield
        self._part, self._link = self._part + 1, -1

    def each(self, count: int, entry: Callable[[int], Scalar]) -> Any:
        """A column of named values, one part for each."""
        values = []
        for i in range(count):
            with self.part(i):
                values.append(self.let(entry(i)))
        return Matrix(values)

    def call(self, program: Program, **arguments: Any) -> dict[str, Any]:
        """Call another program; arguments by its input names (matrices or scalars of the right shape)."""
        given: dict[str, Any] = {}
        if set(arguments) != set(program.inputs):
            raise ValueError(
                f"{self.name} calls {program.name} with {sorted(arguments)}, expected {sorted(program.inputs)}"
            )
        for name, formal in program.inputs.items():
            actual = arguments[name]
            actual = Matrix(actual) if isinstance(actual, sp.MatrixBase) else Matrix(1, 1, [sp.sympify(actual)])
            if actual.shape != formal.shape:
                raise ValueError(f"{self.name} calls {program.name}: {name} is {actual.shape}, expected {formal.shape}")
            given[name] = actual
        results = {
            name: Matrix(m.rows, m.cols, [self._fresh() for _ in range(m.rows * m.cols)])
            for name, m in program.outputs.items()
        }
        self.statements.append(Call(program, given, results))
        return results

    def output(self, name: str, value: Any) -> None:
        """Declare an output; scalars become 1×1."""
        if name in self.outputs:
            raise ValueError(f"program {self.name}: repeated output {name!r}")
        self.outputs[name] = Matrix(value) if isinstance(value, sp.MatrixBase) else Matrix(1, 1, [sp.sympify(value)])

    # reading ------------------------------------------------------------------------------------------------------

    def callees(self) -> Iterator[Program]:
        """Every program called, directly or not, each once, callees before callers."""
        seen: dict[int, Program] = {}

        def visit(program: Program) -> None:
            for statement in program.statements:
                if isinstance(statement, Call) and id(statement.program) not in seen:
                    visit(statement.program)
                    seen[id(statement.program)] = statement.program

        visit(self)
        yield from seen.values()

    def calls(self) -> list[Call]:
        """The statements of a program that holds nothing but calls; arithmetic among them is an error."""
        calls = [s for s in self.statements if isinstance(s, Call)]
        if len(calls) != len(self.statements):
            raise TypeError(f"program {self.name} holds arithmetic beside its calls")
        return calls

    @property
    def is_leaf(self) -> bool:
        """True when the program calls nothing."""
        return not any(isinstance(s, Call) for s in self.statements)

    def operations(self) -> int:
        """Number of assignments when flattened (a machine-independent measure of size)."""
        return sum(s.program.operations() if isinstance(s, Call) else 1 for s in self.statements)

    def leaf_calls(self) -> int:
        """Number of leaf calls that running a call program comes to."""
        return sum(1 if c.program.is_leaf else c.program.leaf_calls() for c in self.calls())

    def expanded(self) -> Program:
        """A call program that calls leaves only: calls of call programs are replaced by what they call."""
        result = Program(f"{self.name}_expanded", self.doc, dict(self.inputs))

        def expand(program: Program, binding: dict[sp.Symbol, Scalar]) -> dict[str, Any]:
            for call in program.calls():
                arguments = {k: m.xreplace(binding) for k, m in call.arguments.items()}
                if call.program.is_leaf:
                    values = result.call(call.program, **arguments)
                else:
                    inner = {
                        f: a
                        for k, m in call.program.inputs.items()
                        for f, a in zip(m.flat(), arguments[k].flat(), strict=True)
                    }
                    values = expand(call.program, inner)
                for k, fresh in call.outputs.items():
                    binding.update(dict(zip(fresh.flat(), values[k].flat(), strict=True)))
            return {k: m.xreplace(binding) for k, m in program.outputs.items()}

        for key, value in expand(self, {s: s for m in self.inputs.values() for s in m}).items():
            result.output(key, value)
        return result

    def flatten(
        self, name: str | None = None, digits: int = 0, known: Mapping[sp.Symbol, Scalar] | None = None
    ) -> Program:
        """The same program as one list of assignments: every call expanded in place. Parts stay parts.

        Inputs with `known` numbers stay inputs, but nothing reads them.
        """
        flat = Program(name or f"{self.name}_flat", self.doc, digits=digits)
        inputs = {k: flat.input(k, m.rows, m.cols) for k, m in self.inputs.items()}

        def expand(program: Program, binding: dict[sp.Symbol, Scalar]) -> dict[str, Any]:
            part = -1
            for statement in program.statements:
                if isinstance(statement, Assign):
                    if statement.part != part:
                        part = statement.part
                        flat._part, flat._link = flat._part + 1, statement.link
                    binding[statement.symbol] = flat._let(statement.expression.xreplace(binding))
                else:
                    inner: dict[sp.Symbol, Scalar] = {}
                    for arg_name, formal in statement.program.inputs.items():
                        actual = statement.arguments[arg_name]
                        inner.update({f: a.xreplace(binding) for f, a in zip(formal, actual, strict=True)})
                    results = expand(statement.program, inner)
                    part = -1
                    for out_name, fresh in statement.outputs.items():
                        binding.update(dict(zip(fresh, results[out_name], strict=True)))
            return {k: m.xreplace(binding) for k, m in program.outputs.items()}

        binding = {s: new for k, m in self.inputs.items() for s, new in zip(m, inputs[k], strict=True)}
        for key, value in expand(self, binding | dict(known or {})).items():
            flat.output(key, flat.let(value))
        return flat

    def bound(self, name: str, known: Mapping[sp.Symbol, Scalar], outputs: Sequence[str]) -> Program:
        """The same program as a leaf with some inputs' symbols known, these outputs alone, and what they read."""
        flat = self.flatten(name, known=known)
        flat.outputs = {k: flat.outputs[k] for k in outputs}
        needed = {s for m in flat.outputs.values() for s in m.free_symbols}
        kept: list[Statement] = []
        for statement in reversed(flat.statements):
            if isinstance(statement, Assign) and statement.symbol in needed:
                needed |= statement.expression.free_symbols
                kept.append(statement)
        flat.statements = kept[::-1]
        flat.inputs = {k: m for k, m in flat.inputs.items() if any(s in needed for s in m)}
        return flat

    def numpy(self) -> Callable[..., dict[str, npt.NDArray[np.float64]]]:
        """The NumPy reference: a function of keyword arrays (by input names) that returns a dict of arrays by output names."""
        compiled: dict[int, Any] = {}
        for program in [*self.callees(), self]:
            compiled[id(program)] = _compile(program, compiled)
        run = compiled[id(self)]

        def evaluate(**arrays: Any) -> dict[str, npt.NDArray[np.float64]]:
            flat = {
                k: np.asarray(arrays[k], dtype=float).reshape(m.shape, order="C").ravel()
                for k, m in self.inputs.items()
            }
            results = run(*flat.values())
            return {
                k: np.array(r, dtype=float).reshape(m.shape)
                for (k, m), r in zip(self.outputs.items(), results, strict=True)
            }

        return evaluate


def is_negative(expression: Scalar) -> bool:
    """Whether −e rather than e is given a name: true of exactly one of the two, so that both find the same one.

    A sum goes with most of its terms, and with its first one by structure where signs are in balance. SymPy's
    `could_extract_minus_sign` decides that case by sort keys, which takes half of a derivation's time.
    """
    if not expression.is_Add:
        return bool(expression.as_coeff_Mul()[0] < 0)
    coefficients, terms = zip(*(term.as_coeff_Mul() for term in expression.args), strict=True)
    negative = [bool(c < 0) for c in coefficients]
    balance = 2 * sum(negative) - len(negative)
    if balance != 0:
        return balance > 0
    first = 0
    for k in range(1, len(terms)):
        if terms[k].compare(terms[first]) < 0:
            first = k
    return negative[first]


def number(value: float) -> Scalar:
    """A Python number as a SymPy one: whole numbers exactly (so that 0 and 1 fold), others with their 53 bits."""
    value = float(value)
    if not math.isfinite(value):
        raise ValueError(f"not a finite number: {value}")
    return sp.Integer(int(value)) if value.is_integer() else sp.Float(value)


def numbers(values: Sequence[Any]) -> Any:
    """A column (flat sequence) or matrix (nested sequence) of `number`s."""
    if values and isinstance(values[0], (list, tuple)):
        return Matrix([[number(e) for e in row] for row in values])
    return Matrix([number(e) for e in values])


def _compile(program: Program, compiled: Mapping[int, Any]) -> Any:
    """Python source of one program, executed; symbols become local names, functions NumPy's."""
    from sympy.printing.numpy import NumPyPrinter

    printer = NumPyPrinter({"fully_qualified_modules": False})
    names: dict[str, Any] = {name: getattr(np, name) for name in NUMPY_NAMES.values()}
    names["sqrt"], names["pi"] = np.sqrt, np.pi
    lines = [f"def run({', '.join('in_' + k for k in program.inputs)}):"]
    for key, matrix in program.inputs.items():
        targets = ", ".join(s.name for s in matrix)
        lines.append(f"    {targets}, = in_{key}")
    for statement in program.statements:
        if isinstance(statement, Assign):
            lines.append(f"    {statement.symbol.name} = {printer.doprint(statement.expression)}")
        else:
            callee = f"call_{statement.program.name}_{len(names)}"
            names[callee] = compiled[id(statement.program)]
            arguments = ", ".join(
                "(" + ", ".join(printer.doprint(e) for e in m) + ",)" for m in statement.arguments.values()
            )
            targets = ", ".join("(" + ", ".join(s.name for s in m) + ",)" for m in statement.outputs.values())
            lines.append(f"    {targets}, = {callee}({arguments})")
    results = ", ".join("(" + ", ".join(printer.doprint(e) for e in m) + ",)" for m in program.outputs.values())
    lines.append(f"    return ({results},)")
    exec(
        compile("\n".join(lines), f"<program {program.name}>", "exec"), names
    )  # source is printed from SymPy just above
    return names["run"]
