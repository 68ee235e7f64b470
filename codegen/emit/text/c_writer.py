"""C99 text of CasADi SX functions: one static function per graph, cut into pieces that compile quickly.

CasADi keeps an SX function as a list of instructions on a small set of registers; each becomes one C statement. A list
longer than `PIECE` is cut: registers that live across a cut travel through a work array, so every piece is an ordinary
small function and compile time stays linear in the size of the graph.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

import casadi as ca

PIECE = 3000
"""Largest number of operations in one C function; gcc's time grows superlinearly beyond some thousands."""

UNARY: Mapping[int, str] = {
    ca.OP_NEG: "-{0}",
    ca.OP_SQRT: "sqrt({0})",
    ca.OP_SQ: "{0}*{0}",
    ca.OP_TWICE: "{0}+{0}",
    ca.OP_INV: "1.0/{0}",
    ca.OP_SIN: "sin{0}",
    ca.OP_COS: "cos{0}",
    ca.OP_TAN: "tan({0})",
    ca.OP_TANH: "tanh({0})",
    ca.OP_EXP: "exp({0})",
    ca.OP_LOG: "log({0})",
    ca.OP_FABS: "fabs({0})",
    ca.OP_ASSIGN: "{0}",
    ca.OP_SIGN: "(({0}>0.0)-({0}<0.0))",
    ca.OP_NOT: "({0}==0.0)",
    ca.OP_ACOS: "acos({0})",
    ca.OP_ASIN: "asin({0})",
    ca.OP_ATAN: "atan({0})",
    ca.OP_COSH: "cosh({0})",
    ca.OP_SINH: "sinh({0})",
}
BINARY: Mapping[int, str] = {
    ca.OP_ADD: "{0}+{1}",
    ca.OP_SUB: "{0}-{1}",
    ca.OP_MUL: "{0}*{1}",
    ca.OP_DIV: "{0}/{1}",
    ca.OP_ATAN2: "atan2({0},{1})",
    ca.OP_POW: "pow({0},{1})",
    ca.OP_CONSTPOW: "pow({0},{1})",
    ca.OP_LT: "({0}<{1})",
    ca.OP_LE: "({0}<={1})",
    ca.OP_EQ: "({0}=={1})",
    ca.OP_NE: "({0}!={1})",
    ca.OP_AND: "({0}!=0.0&&{1}!=0.0)",
    ca.OP_OR: "({0}!=0.0||{1}!=0.0)",
    ca.OP_IF_ELSE_ZERO: "({0}!=0.0?{1}:0.0)",
    ca.OP_FMIN: "fmin({0},{1})",
    ca.OP_FMAX: "fmax({0},{1})",
    ca.OP_HYPOT: "hypot({0},{1})",
}

LANES: Mapping[int, str] = {
    op: f"each_{text}" for op, text in {**UNARY, **BINARY}.items() if text[0].isalpha() and "(" in text
} | {
    ca.OP_INV: "B(1.0)/{0}",
    ca.OP_SIGN: "each_sign({0})",
    ca.OP_NOT: "each_equal({0},B(0.0))",
    ca.OP_LT: "each_less({0},{1})",
    ca.OP_LE: "each_at_most({0},{1})",
    ca.OP_EQ: "each_equal({0},{1})",
    ca.OP_NE: "each_different({0},{1})",
    ca.OP_AND: "each_both({0},{1})",
    ca.OP_OR: "each_either({0},{1})",
    ca.OP_IF_ELSE_ZERO: "each_where({0},{1})",
}
"""Functions of templates/base/lanes.h that a kernel over V (one value or several lanes) calls instead."""

MOST_LANES = 8
"""Largest number of lanes in a V."""

TURNS = (ca.OP_SIN, ca.OP_COS)
"""Operations that `sine_cosine` of templates/base/sine_cosine.h does, both of one angle in one call."""


class UnknownOperation(TypeError):
    """A CasADi operation without C text."""


@dataclass(frozen=True)
class Kernel:
    """C text of one graph.

    `name(in_0, …, out_0, …, w)`: a pointer for each dense column-major input and output, and `work` doubles at w.
    """

    name: str
    text: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    work: int
    operations: int


@dataclass(frozen=True)
class _Statement:
    """`text` with the registers read in the places of {0}, {1}; of a sine or cosine (`turns`), with the number of its angle."""

    write: int | None
    reads: tuple[int, ...]
    text: str
    turns: bool = False


def literal(value: float) -> str:
    """A double as C text that reads back to the same bits, whatever the locale."""
    text = repr(float(value))
    if "e" not in text and "." not in text:
        raise ValueError(f"a non-finite number cannot be emitted: {text}")
    return f"({text})" if text.startswith("-") else text


def _statements(f: ca.Function, accumulate: bool, shared: Container[str] | None) -> list[_Statement]:
    result = []
    forms = LANES if shared is not None else {}
    single = "B({0})" if shared is not None else "{0}"
    ins, outs = f.name_in(), f.name_out()
    sign = "+=" if accumulate else "="
    for k in range(f.n_instructions()):
        op = f.instruction_id(k)
        i, o = f.instruction_input(k), f.instruction_output(k)
        if op == ca.OP_CONST:
            result.append(_Statement(o[0], (), single.format(literal(f.instruction_constant(k)))))
        elif op == ca.OP_INPUT:
            read = f"{ins[i[0]]}[{i[1]}]"
            result.append(_Statement(o[0], (), single.format(read) if ins[i[0]] in (shared or ()) else read))
        elif op == ca.OP_OUTPUT:
            result.append(_Statement(None, (i[0],), f"{outs[o[0]]}[{o[1]}]{sign}{{0}};"))
        elif op in UNARY:
            result.append(_Statement(o[0], (i[0],), forms.get(op, UNARY[op]), op in TURNS))
        elif op in BINARY:
            result.append(_Statement(o[0], (i[0], i[1]), forms.get(op, BINARY[op])))
        else:
            raise UnknownOperation(f"no C text for CasADi operation {op} in {f.name()}")
    return result


def _one_division(
    f: ca.Function, statements: Sequence[_Statement], shared: Container[str] | None
) -> tuple[list[_Statement], int]:
    """Statements for f's instructions, with one reciprocal for quotients of a common divisor, and products with it; and
    the number of registers.

    CasADi writes x (1 / y) as x / y; a division takes a processor the time of four to sixteen products."""
    value: dict[int, int] = {}  # register → instruction that wrote it
    divisor: dict[int, int] = {}  # instruction → that which wrote what it divides by
    for k in range(f.n_instructions()):
        op = f.instruction_id(k)
        if op in (ca.OP_DIV, ca.OP_INV):
            divisor[k] = value[f.instruction_input(k)[-1]]
        if op != ca.OP_OUTPUT:
            value[f.instruction_output(k)[0]] = k
    times = Counter(divisor.values())
    inverse: dict[int, int] = {}  # a divisor's instruction → register of its reciprocal
    result: list[_Statement] = []
    count = f.sz_w()
    for k, s in enumerate(statements):
        if times[divisor.get(k, -1)] < 2:
            result.append(s)
            continue
        if divisor[k] not in inverse:
            inverse[divisor[k]] = count
            result.append(_Statement(count, s.reads[-1:], "B(1.0)/{0}" if shared is not None else "1.0/{0}"))
            count += 1
        reciprocal = inverse[divisor[k]]
        if f.instruction_id(k) == ca.OP_INV:
            result.append(_Statement(s.write, (reciprocal,), "{0}"))
        else:
            result.append(_Statement(s.write, (s.reads[0], reciprocal), "{0}*{1}"))
    return result, count


def _pieces(statements: Sequence[_Statement], size: int) -> list[Sequence[_Statement]]:
    count = max(1, -(-len(statements) // size))
    step = max(1, -(-len(statements) // count))
    return [statements[k : k + step] for k in range(0, len(statements), step)] or [[]]


def _live_in(piece: Sequence[_Statement], live_out: set[int]) -> set[int]:
    live = set(live_out)
    for s in reversed(piece):
        if s.write is not None:
            live.discard(s.write)
        live.update(s.reads)
    return live


def kernel(
    f: ca.Function,
    name: str,
    *,
    accumulate: bool = False,
    piece: int = PIECE,
    shared: Container[str] | None = None,
    device: bool = False,
    also: Sequence[str] = (),
) -> Kernel:
    """C text of an SX function with dense arguments, under a C name. With `accumulate` it adds to its outputs.

    With `shared` the text is over the type V of templates/base/lanes.h, a double or several side by side; inputs of
    these names hold doubles, one for all. With `device` it is over the V of templates/gpu/gpu_device.cuh: one function whatever
    its length, whose arguments are anything that has a V under an index; it leaves w alone. `also`: inputs before alpha
    that kernels of this name have for every robot, even if the graph does not.
    """
    if device:
        shared = ()
    for k in range(f.n_in()):
        if not f.sparsity_in(k).is_dense():
            raise ValueError(f"{f.name()}: input {f.name_in(k)} is not dense")
    for k in range(f.n_out()):
        if not f.sparsity_out(k).is_dense():
            raise ValueError(f"{f.name()}: output {f.name_out(k)} is not dense")
    statements, registers = _one_division(f, _statements(f, accumulate, shared), shared)
    number = "double" if shared is None else "V"
    pieces = _pieces(statements, max(1, len(statements)) if device else piece)
    inputs = with_inputs(f.name_in(), also)
    arguments = [*inputs, *f.name_out(), "w"]
    formals = ", ".join(
        [f"const {'double' if n in (shared or ()) else number} *restrict {n}" for n in inputs]
        + [f"{number} *restrict {n}" for n in f.name_out()]
    )
    formals += f", {number} *restrict w"
    if device:
        formals = ", ".join(f"auto {n}" for n in arguments)
    actuals = ", ".join(arguments)
    lives: list[set[int]] = [set()]
    for part in reversed(pieces):
        lives.append(_live_in(part, lives[-1]))
    lives.reverse()
    texts = []
    for k, part in enumerate(pieces):
        part_name = name if len(pieces) == 1 else f"{name}_{k}"
        own = "INSIDE" if device else "static NOINLINE"
        texts.append(
            _piece_text(f"{own} void {part_name}({formals})", () if device else arguments, part, lives[k + 1], number)
        )
    if len(pieces) > 1:
        calls = "\n".join(f"  {name}_{k}({actuals});" for k in range(len(pieces)))
        texts.append(f"static void {name}({formals}) {{\n{calls}\n}}\n")
    arithmetic = sum(1 for s in statements if s.write is not None and s.reads)
    return Kernel(
        name,
        "\n".join(texts),
        tuple(inputs),
        tuple(f.name_out()),
        registers if len(pieces) > 1 else 0,
        arithmetic,
    )


def with_inputs(names: Sequence[str], also: Sequence[str]) -> list[str]:
    """Names of inputs, and before alpha those of `also` that are not among them."""
    at = list(names).index("alpha") if also else len(names)
    return [*names[:at], *(k for k in also if k not in names), *names[at:]]


def unused(parameters: Sequence[str], lines: Sequence[str]) -> list[str]:
    """`(void)x;` for each unused parameter, against warnings of `-Wextra`."""
    words = {word for line in lines for word in re.findall(r"[A-Za-z_]\w*", line)}
    return [f"  (void){name};" for name in parameters if name not in words]


def _piece_text(head: str, parameters: Sequence[str], part: Sequence[_Statement], after: set[int], number: str) -> str:
    """One C function: it loads what it reads and did not write, and stores what it wrote and is read `after` it."""
    before = _live_in(part, set())
    registers = sorted({s.write for s in part if s.write is not None} | before)
    lines = [f"{head} {{"]
    for k in range(0, len(registers), 16):
        lines.append(f" {number} " + ",".join(f"a{r}" for r in registers[k : k + 16]) + ";")
    lines += [f" a{r}=w[{r}];" for r in sorted(before)]
    turn = "sine_cosine" if number == "double" else "each_sine_cosine"
    angles: dict[int, int] = {}  # register of an angle whose sine and cosine are known → their number
    made = 0
    for s in part:
        if s.turns:
            if s.reads[0] not in angles:
                angles[s.reads[0]] = made
                lines.append(f" {number} sin{made},cos{made}; {turn}(a{s.reads[0]},&sin{made},&cos{made});")
                made += 1
            body = s.text.format(angles[s.reads[0]])
        else:
            body = s.text.format(*(f"a{r}" for r in s.reads))
        lines.append(f" {body}" if s.write is None else f" a{s.write}={body};")
        if s.write is not None:
            angles.pop(s.write, None)
    written = {s.write for s in part if s.write is not None}
    lines += [f" w[{r}]=a{r};" for r in sorted(after & written)]
    return "\n".join([lines[0], *unused(parameters, lines[1:]), *lines[1:], "}\n"])
