"""Friction and linear springs of one joint. Torques are those *on the joint* [N·m] (forces [N] on a prismatic one)."""

from __future__ import annotations

from typing import Any

import sympy as sp

from diffpbd.codegen.program.program import Matrix, Program


def friction_torque(pd: Any, coulomb: Any, viscous: Any, transition: Any) -> Any:
    """Viscous plus smoothed Coulomb friction, odd in the joint rate pd [rad/s]; coefficients ≥ 0, transition > 0 [rad/s]."""
    return -(viscous * pd + coulomb * sp.tanh(pd / transition))


def friction_slope(pd: Any, coulomb: Any, viscous: Any, transition: Any) -> Any:
    """−∂(friction torque)/∂pd ≥ 0, written with tanh alone so that nothing overflows at absurd rates."""
    rate = sp.Dummy("pd", real=True)
    derivative = -sp.diff(friction_torque(rate, coulomb, viscous, transition), rate)
    return derivative.subs(rate, pd)


def friction_slopes(b: Program, pd: Any, coulomb: Any, viscous: Any, transition: Any) -> Any:
    """`friction_slope` of every joint (n)."""
    return b.each(len(pd), lambda i: friction_slope(pd[i], coulomb[i], viscous[i], transition[i]))


def spring_torque(p: Any, stiffness: Any, rest: Any) -> Any:
    """Linear spring at the joint: −k (p − rest)."""
    return -stiffness * (p - rest)


def spring_energy(p: Any, stiffness: Any, rest: Any) -> Any:
    """Potential of `spring_torque` [J]."""
    return stiffness * (p - rest) ** 2 / 2


def friction_program(n: int) -> Program:
    """pd and the friction parameters → torque on each joint."""
    b = Program("friction_torque")
    pd, coulomb, viscous, transition = (b.input(k, n) for k in ("pd", "coulomb", "viscous", "transition"))
    rows = [friction_torque(pd[i], coulomb[i], viscous[i], transition[i]) for i in range(n)]
    b.output("torque", b.let(Matrix(rows)))
    return b


def friction_slope_program(n: int) -> Program:
    """pd and the friction parameters → −∂(friction torque)/∂pd of each joint."""
    b = Program("friction_slope")
    pd, coulomb, viscous, transition = (b.input(k, n) for k in ("pd", "coulomb", "viscous", "transition"))
    rows = [friction_slope(pd[i], coulomb[i], viscous[i], transition[i]) for i in range(n)]
    b.output("slope", b.let(Matrix(rows)))
    return b


def spring_program(n: int) -> Program:
    """p and the spring parameters → torque on each joint."""
    b = Program("spring_torque")
    p, stiffness, rest = (b.input(k, n) for k in ("p", "stiffness", "rest"))
    b.output("torque", b.let(Matrix([spring_torque(p[i], stiffness[i], rest[i]) for i in range(n)])))
    return b
