"""Force elements of a user: read from a Python file, and checked before anything is derived from them."""

from __future__ import annotations

import hashlib
import itertools
import keyword
import re
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import sympy as sp

from diffpbd.codegen.laws.elements.declaration import PARTS, Friction, Number, Spring
from diffpbd.runtime.base.errors import InputError

NAME: Final = "ELEMENT"
"""Name that the file assigns its element to."""
KNOWN: Final = (sp.sin, sp.cos, sp.tanh, sp.exp, sp.log, sp.atan2, sp.sign, sp.Abs)
"""Functions that are emitted, beside sums, products and powers."""
UNITS: Final[Mapping[str, tuple[int, int, int]]] = {
    "1": (0, 0, 0), "rad": (0, 0, 0), "m": (1, 0, 0), "kg": (0, 1, 0), "s": (0, 0, 1), "N": (1, 1, -2), "J": (2, 1, -2),
}  # fmt: skip
"""Powers of m, kg and s."""
SCALES: Final = (2.0, 3.0, 5.0)
"""A metre, a kilogram and a second counted in other units: what is declared in the right ones scales with them."""
SAMPLES: Final = 40
"""Random values of the numbers, besides their defaults."""
SPAN: Final = 3.0
"""[rad or m, rad/s or m/s] Positions and rates from minus to plus this are tried,"""
GRID: Final = 13
"""at so many, zero among them."""


def read(path: Path) -> tuple[str, Friction | Spring]:
    """A key that names the element and its text, and the element; InputError for a file without one that can be used."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--element {path}: cannot be read: {error}.") from None
    found: dict[str, Any] = {"__name__": path.stem, "__file__": str(path)}
    try:
        exec(compile(text, str(path), "exec"), found)
    except Exception as error:
        lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
        line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else 1
        raise InputError(f"--element {path}: line {line}: {type(error).__name__}: {error}.") from None
    element = found.get(NAME)
    if not isinstance(element, (Friction, Spring)):
        raise InputError(
            f"--element {path}: {NAME} = {type(element).__name__}; the file must assign {NAME} = Friction(…) or Spring(…) of "
            "diffpbd.codegen.laws.elements.declaration."
        )
    try:
        check(element)
    except ValueError as error:
        raise InputError(f"--element {path}: {error}.") from None
    return f"{element.name}#{hashlib.sha256(text.encode()).hexdigest()[:12]}", element


def check(element: Friction | Spring) -> None:
    """ValueError for the first thing that is wrong."""
    _check_names(element)
    if isinstance(element, Spring):
        _check_spring(element)
    else:
        _check_friction(element)


def _check_names(element: Friction | Spring) -> None:
    names = [number.name for number in element.numbers]
    for name in (element.name, *names):
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
            raise ValueError(f'the name "{name}" is expected to have small letters, digits and _ only')
    if not names or len(set(names)) < len(names):
        raise ValueError(f"numbers {', '.join(names) or '(none)'}: one or more of different names are expected")
    for number in element.numbers:
        _dimension(number.unit, number.name)
        least, most = number.least, number.most
        if not all(np.isfinite([v for v in (number.default, least, most) if v is not None])):
            raise ValueError(f"{number.name}: default and bounds must be finite")
        if (least is not None and number.default < least) or (most is not None and number.default > most):
            raise ValueError(f"{number.name}: the default {number.default:g} lies outside its bounds {least} to {most}")


def _dimension(unit: str, what: str) -> np.ndarray[Any, Any]:
    """Powers of m, kg and s of a unit such as N·m·s/rad or kg·m^2."""
    total = np.zeros(3)
    for k, part in enumerate(unit.split("/")):
        for factor in part.split("·"):
            base, _, power = factor.partition("^")
            if base not in UNITS or (power and not re.fullmatch(r"\d", power)):
                raise ValueError(f'{what}: unit "{unit}"; {", ".join(UNITS)} are expected, joined by ·, / and ^')
            total += (1 if k == 0 else -1) * int(power or 1) * np.array(UNITS[base])
    return total


def _points(numbers: tuple[Number, ...]) -> Iterator[list[float]]:
    """Values of the numbers within their bounds: defaults, then random ones."""
    random = np.random.default_rng(1)
    yield [number.default for number in numbers]
    for _ in range(SAMPLES):
        found = []
        for number in numbers:
            size = abs(number.default) or 1.0
            least = -size if number.least is None else number.least
            most = max(least, 0.0) + 2.0 * size if number.most is None else number.most
            found.append(float(random.uniform(least, most)))
        yield found


def _function(arguments: list[sp.Symbol], value: Any, what: str) -> Callable[..., float]:
    """An expression as a function; ValueError where it holds what is not emitted."""
    value = sp.sympify(value)
    for node in sp.preorder_traversal(value):
        good = isinstance(node, (sp.Symbol, sp.Number, sp.NumberSymbol, sp.Add, sp.Mul, sp.Pow)) or node.func in KNOWN
        if not good or (isinstance(node, sp.Pow) and not node.exp.is_Rational):
            named = ", ".join(function.__name__ for function in KNOWN)
            raise ValueError(f"{what} holds {node}; sums, products, powers by numbers and {named} are expected")
    if strangers := value.free_symbols - set(arguments):
        raise ValueError(f"{what} holds {', '.join(map(str, strangers))}, which is none of its numbers")
    made: Callable[..., float] = sp.lambdify(arguments, value, "math")
    return made


def _value(function: Callable[..., float], at: list[float], what: str, names: list[str]) -> float:
    try:
        found = float(function(*at))
    except (ArithmeticError, ValueError, TypeError):
        found = np.nan
    if not np.isfinite(found):
        raise ValueError(f"{what} is not finite at {_told(names, at)}; numbers that it divides by need bounds")
    return found


def _told(names: list[str], at: list[float]) -> str:
    return ", ".join(f"{name} = {value:.4g}" for name, value in zip(names, at, strict=True))


def _scaled(at: list[float], units: list[str]) -> list[float]:
    """The same values in units of `SCALES`."""
    return [
        value * float(np.prod(np.array(SCALES) ** _dimension(unit, ""))) for value, unit in zip(at, units, strict=True)
    ]


def _check_unit(
    function: Callable[..., float], at: list[float], units: list[str], unit: str, what: str, names: list[str]
) -> None:
    """ValueError where a value does not scale as its unit while its arguments scale as theirs."""
    here, there = _value(function, at, what, names), _value(function, _scaled(at, units), what, names)
    expected = _scaled([here], [unit])[0]
    if abs(there - expected) > 1e-6 * max(abs(there), abs(expected)):
        raise ValueError(
            f"{what} does not have the unit {unit} when its numbers have theirs: check the units and the formula"
        )


def _check_spring(element: Spring) -> None:
    if element.on not in ("hinge", "slide", "any"):
        raise ValueError(f'on = "{element.on}"; hinge, slide or any is expected')
    for word in ("around", "zero"):
        named = getattr(element, word)
        if named and named not in [number.name for number in element.numbers]:
            raise ValueError(f'{word} = "{named}", which is none of its numbers')
    names = ["position", *(number.name for number in element.numbers)]
    symbols = [sp.Symbol(name, real=True) for name in names]
    potential = sp.sympify(element.potential(*symbols))
    linear = [sp.Symbol(name, real=True) for name in element.linear]
    if sp.simplify(potential - sum(symbol * sp.diff(potential, symbol) for symbol in linear)) != 0:
        raise ValueError("the potential must be a sum of numbers times functions of the position and the others")
    laws = {"the potential": potential, "the torque": -sp.diff(potential, symbols[0])}
    laws["the slope of the torque"] = sp.diff(laws["the torque"], symbols[0])
    functions = {what: _function(symbols, law, what) for what, law in laws.items()}
    if element.shared is not None:
        _function(symbols, element.shared(*symbols), "what is shared")
    for (numbers, p), (what, function) in itertools.product(
        itertools.product(_points(element.numbers), np.linspace(-SPAN, SPAN, GRID).tolist()), functions.items()
    ):
        _value(function, [p, *numbers], what, names)
    for effort, position in {"hinge": (("N·m", "rad"),), "slide": (("N", "m"),)}.get(
        element.on, (("N·m", "rad"), ("N", "m"))
    ):
        units = [position, *(number.unit_on(effort, position) for number in element.numbers)]
        for numbers in itertools.islice(_points(element.numbers), 1, 4):
            _check_unit(functions["the potential"], [0.7, *numbers], units, "J", "the potential", names)


def _check_friction(element: Friction) -> None:
    if element.memory is not None:
        raise ValueError("memory: a law with a state of its own cannot be given by a file")
    if strangers := [number.name for number in element.numbers if not number.name.startswith(element.name)]:
        raise ValueError(f"the number {strangers[0]}: names that begin with the law's, {element.name}, are expected")
    if element.coulomb is None and element.viscous is None:
        raise ValueError("coulomb and viscous are both missing; one is expected at least")
    own = [number.name for number in element.numbers]
    names = ["rate", "transition", *own]
    symbols = [sp.Symbol(name, real=True) for name in names]
    units = ["rad/s", "rad/s", *(number.unit for number in element.numbers)]
    for part, unit in zip(PARTS, ("N·m", "N·m·s/rad"), strict=True):
        if getattr(element, part) is None:
            continue
        value = sp.sympify(element.part(part, symbols[0], symbols[1], dict(zip(own, symbols[2:], strict=True))))
        linear = [sp.Symbol(name, real=True) for name in element.linear(part)]
        if sp.simplify(value - sum(symbol * sp.diff(value, symbol) for symbol in linear)) != 0:
            raise ValueError(
                f"{part} must be a sum of numbers times functions of the rate, and zero where these are zero"
            )
        functions = {
            f"{part}": _function(symbols, value, part),
            f"the slope of {part}": _function(symbols, sp.diff(value, symbols[0]), f"the slope of {part}"),
        }
        rates = np.linspace(-SPAN, SPAN, GRID).tolist()
        for numbers, rate in itertools.product(_points(element.numbers), rates):
            at = [rate, 0.01, *numbers]
            found = [_value(function, at, what, names) for what, function in functions.items()]
            if found[0] < 0.0:
                raise ValueError(
                    f"{part} is {found[0]:.3g} at {_told(names, at)}: friction below zero pushes; give its numbers bounds"
                )
        for numbers in itertools.islice(_points(element.numbers), 1, 4):
            _check_unit(functions[part], [0.7, 0.01, *numbers], units, unit, part, names)
