"""Declarations of force elements: numbers, and a formula. Everything else is derived from that (`forces`, `attached`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import sympy as sp

PARTS: Final = ("coulomb", "viscous")
"""Coefficients that a friction law adds to."""


@dataclass(frozen=True)
class Number:
    """An entry of alpha for every joint that has the element. `unit` is that of a hinge: on a slide N·m is N and rad is m.
    `words` say what it is; it lies between `least` and `most` where they are given."""

    name: str
    unit: str
    words: str
    default: float = 0.0
    least: float | None = None
    most: float | None = None
    scale: float = 1.0
    """A usual size, which identification begins with where the number is zero."""

    def unit_on(self, effort: str, position: str) -> str:
        """The unit on a joint with these units of effort and position."""
        return self.unit.replace("N·m", effort).replace("rad", position)


@dataclass(frozen=True)
class Memory:
    """A state of its own that a friction law has on every joint, the number `state`, within ±1.

    Coulomb's part is −c z. `change(pd, transition, z, per)` is what z changes by in a step that ends with the rate pd, monotone
    in pd; `per(numbers, transition, h)` is what it takes of the law's numbers over a step h."""

    state: str
    change: Callable[..., Any]
    per: Callable[..., Any]


@dataclass(frozen=True)
class Friction:
    """A part of the friction law beside viscous and Coulomb's, on every joint.

    `coulomb` [N·m] and `viscous` [N·m·s/rad] are functions of (rate, transition, *numbers): what is added to these coefficients
    at the joint rate of a step's start. So a step's kick stays convex, dissipative and differentiable whatever the law. Both
    are linear in some of the numbers, without which they vanish. The entries of alpha are `friction.<number>.<joint>`."""

    name: str
    words: str
    numbers: tuple[Number, ...]
    coulomb: Callable[..., Any] | None = None
    viscous: Callable[..., Any] | None = None
    memory: Memory | None = None

    def part(self, which: str, rate: Any, transition: Any, own: dict[str, Any]) -> Any:
        """The addend of a coefficient (`coulomb` or `viscous`), zero where the law adds nothing."""
        added = getattr(self, which)
        return (
            sp.Integer(0) if added is None else added(rate, transition, *(own[number.name] for number in self.numbers))
        )

    def linear(self, which: str) -> tuple[str, ...]:
        """Names of the numbers that `part` is linear in, found by differentiation."""
        symbols = {number.name: sp.Symbol(number.name, real=True) for number in self.numbers}
        rate, transition = sp.symbols("rate transition", real=True)
        value = sp.sympify(self.part(which, rate, transition, symbols))
        slopes = {name: sp.diff(value, symbol) for name, symbol in symbols.items()}
        return tuple(k for k, slope in slopes.items() if slope != 0 and symbols[k] not in slope.free_symbols)


@dataclass(frozen=True)
class Spring:
    """A force on chosen joints that depends on their position alone, such as a spring's.

    `potential` [J] is a function of (position, *numbers) [rad or m]; torque and slope are its derivatives. `on` says which
    joints it fits: "hinge", "slide" or "any". `shared` is an expression of the same arguments that potential, torque and slope
    have in common and that is worked out once. Steps on states of links know the angle of a hinge within π of the number
    `around`, or of zero. The entries of alpha are `<name>.<number>.<joint>`."""

    name: str
    words: str
    numbers: tuple[Number, ...]
    potential: Callable[..., Any]
    on: str = "any"
    shared: Callable[..., Any] | None = None
    around: str = ""
    zero: str = ""
    """The number beside which an offset of the torque is hardly told apart."""

    @property
    def linear(self) -> tuple[str, ...]:
        """Names of the numbers that the potential is linear in, found by differentiation; without them it vanishes."""
        symbols = [sp.Symbol(number.name, real=True) for number in self.numbers]
        value = sp.sympify(self.potential(sp.Symbol("position", real=True), *symbols))
        slopes = [sp.diff(value, symbol) for symbol in symbols]
        return tuple(
            str(s) for s, slope in zip(symbols, slopes, strict=True) if slope != 0 and s not in slope.free_symbols
        )

    def fits(self, slides: bool) -> bool:
        """Whether it can hang on a joint that slides, or that turns."""
        return self.on in ("any", "slide" if slides else "hinge")

    def centre(self, numbers: Sequence[Any]) -> Any:
        """The number `around`, of all in order."""
        own = dict(zip((number.name for number in self.numbers), numbers, strict=True))
        return own.get(self.around, sp.Integer(0))
