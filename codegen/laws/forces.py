"""Friction and linear springs of one joint. Torques are those *on the joint* [N·m] (forces [N] on a prismatic one)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import sympy as sp

from diffpbd.codegen.laws import elements
from diffpbd.codegen.laws.elements.declaration import PARTS
from diffpbd.codegen.program.program import Matrix, Program

FRICTION: Final = ("coulomb", "viscous", "transition")
"""Numbers of friction that every joint has."""


def friction_names(laws: Sequence[str]) -> tuple[str, ...]:
    """Numbers of friction of a joint whose law has these parts beside the plain one, in the order that all functions take."""
    return (*FRICTION, *(number.name for law in laws for number in elements.friction(law).numbers))


def linear_names(laws: Sequence[str]) -> tuple[str, ...]:
    """Those of `friction_names` that the torque is linear in: all but velocities."""
    more = (name for law in laws for part in PARTS for name in elements.friction(law).linear(part))
    return (*FRICTION[:2], *more)


def has_memory(laws: Sequence[str]) -> bool:
    """Whether the law has a state of its own, the deflection of every joint."""
    return any(elements.friction(law).memory is not None for law in laws)


def lags(laws: Sequence[str]) -> bool:
    """Whether the law takes coefficients at the rates of a step's start."""
    return any(elements.friction(law).memory is None for law in laws)


def friction_torque(pd: Any, coulomb: Any, viscous: Any, transition: Any, *memory: Any) -> Any:
    """Viscous plus smoothed Coulomb friction, odd in the joint rate pd [rad/s]; coefficients ≥ 0, transition > 0 [rad/s].

    With a `memory` (deflection and per rate, see `elements.dahl`) Coulomb's part is what a step ending with this rate adds."""
    turned = elements.MEMORY.change(pd, transition, *memory) if memory else sp.tanh(pd / transition)
    return -(viscous * pd + coulomb * turned)


def friction_slope(pd: Any, *numbers: Any) -> Any:
    """−∂(friction torque)/∂pd ≥ 0 of what `friction_torque` takes, written so that nothing overflows at absurd rates."""
    rate = sp.Dummy("pd", real=True)
    derivative = -sp.diff(friction_torque(rate, *numbers), rate)
    return derivative.subs(rate, pd)


def coefficients(laws: Sequence[str], pd: Any, numbers: Sequence[Any], h: Any = None) -> tuple[Any, ...]:
    """Coulomb, viscous and transition of `friction_torque` at a joint rate pd, of the numbers that `friction_names` lists; with
    Dahl's law the memory over a step h too.."""
    own = dict(zip(friction_names(laws), numbers, strict=True))
    coulomb, viscous, transition = (own[name] for name in FRICTION)
    for law in map(elements.friction, laws):
        coulomb = coulomb + law.part("coulomb", pd, transition, own)
        viscous = viscous + law.part("viscous", pd, transition, own)
    if h is None or not has_memory(laws):
        return coulomb, viscous, transition
    return coulomb, viscous, transition, own[elements.MEMORY.state], elements.MEMORY.per(own, transition, h)


def friction_lag(laws: Sequence[str], pd: Any, pd_start: Any, numbers: Sequence[Any]) -> Any:
    """−∂(friction torque at pd)/∂pd_start where the `coefficients` are those at pd_start."""
    rate = sp.Dummy("pd", real=True)
    derivative = -sp.diff(friction_torque(pd, *coefficients(laws, rate, numbers)), rate)
    return derivative.subs(rate, pd_start)


def instant_torque(laws: Sequence[str], pd: Any, numbers: Sequence[Any]) -> Any:
    """Torque of friction at an instant: with Dahl's law Coulomb's part is that of the deflection, whatever the rate."""
    coulomb, viscous, transition = coefficients(laws, pd, numbers)
    if has_memory(laws):
        return -(viscous * pd + coulomb * dict(zip(friction_names(laws), numbers, strict=True))[elements.MEMORY.state])
    return friction_torque(pd, coulomb, viscous, transition)


def instant_slope(laws: Sequence[str], pd: Any, numbers: Sequence[Any]) -> Any:
    """−∂(`instant_torque`)/∂pd; what friction falls with the rate is in it, and it may be negative."""
    if has_memory(laws):
        return coefficients(laws, pd, numbers)[1]
    slope = friction_slope(pd, *coefficients(laws, pd, numbers))
    return slope + friction_lag(laws, pd, pd, numbers) if laws else slope


def spring_torque(p: Any, stiffness: Any, rest: Any) -> Any:
    """Linear spring at the joint: −k (p − rest)."""
    return -stiffness * (p - rest)


def friction_program(n: int, laws: Sequence[str] = ()) -> Program:
    """pd and the friction parameters → torque on each joint."""
    b = Program("friction_torque")
    pd, *numbers = (b.input(k, n) for k in ("pd", *friction_names(laws)))
    rows = [instant_torque(laws, pd[i], [k[i] for k in numbers]) for i in range(n)]
    b.output("torque", b.let(Matrix(rows)))
    return b


def friction_kick_program(n: int, laws: Sequence[str]) -> Program:
    """pd_start, pd and the friction parameters → torque on each joint at pd in a step from pd_start."""
    b = Program("friction_kick")
    start, pd, *numbers = (b.input(k, n) for k in ("pd_start", "pd", *friction_names(laws)))
    rows = [friction_torque(pd[i], *coefficients(laws, start[i], [k[i] for k in numbers])) for i in range(n)]
    b.output("torque", b.let(Matrix(rows)))
    return b


def friction_slope_program(n: int, laws: Sequence[str] = ()) -> Program:
    """pd and the friction parameters → −∂(friction torque)/∂pd of each joint."""
    b = Program("friction_slope")
    pd, *numbers = (b.input(k, n) for k in ("pd", *friction_names(laws)))
    rows = [instant_slope(laws, pd[i], [k[i] for k in numbers]) for i in range(n)]
    b.output("slope", b.let(Matrix(rows)))
    return b


def spring_program(n: int) -> Program:
    """p and the spring parameters → torque on each joint."""
    b = Program("spring_torque")
    p, stiffness, rest = (b.input(k, n) for k in ("p", "stiffness", "rest"))
    b.output("torque", b.let(Matrix([spring_torque(p[i], stiffness[i], rest[i]) for i in range(n)])))
    return b


def deflection_program(n: int, laws: Sequence[str]) -> Program:
    """pd_next, h and the friction parameters → deflection at the end of a step, of each joint."""
    b = Program("deflection_next")
    pd, h = b.input("pd_next", n), b.scalar("h")
    used = [name for name in friction_names(laws) if name not in FRICTION[:2]]
    numbers = {name: b.input(name, n) for name in used}
    rows = []
    for i in range(n):
        own = {name: column[i] for name, column in numbers.items()}
        transition, state = own["transition"], own[elements.MEMORY.state]
        per = elements.MEMORY.per(own, transition, h)
        rows.append(state + elements.MEMORY.change(pd[i], transition, state, per))
    b.output("deflection", b.let(Matrix(rows)))
    return b
