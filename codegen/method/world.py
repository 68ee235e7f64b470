"""Joints that hang on the world: kernels of two bodies with the world in the place of the parent.

A kernel is written once, for two moving bodies a (parent) and b (child). For the world the parent's inputs are constants: it
does not move and has no inverse mass. SymPy folds them, and outputs for the parent are dropped.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import sympy as sp

from diffpbd.codegen.program.notation import STATE, WORLD, JointNumbers
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.tree import Tree

WORLD_POSE: Final = Matrix([0, 0, 0, 1, 0, 0, 0])

RESTING: Final[Mapping[str, Any]] = {
    "pose_a": WORLD_POSE,
    "weight_a": 0,
    "rotation_a": Matrix([1, 0, 0, 0, 1, 0, 0, 0, 1]),
    "x_a": 0,
    "gap_a": 0,
    "start_a": 0,
    "aim_a": Matrix([*WORLD_POSE, 0, 0, 0, 0, 0, 0]),
    "displacement_a": 0,
    "twist_a": 0,
    "parent": Matrix([0] * STATE),
}
"""The parent's inputs if it is the world; a number stands for all entries. Its offset: see `_offset`."""

OF_THE_PARENT: Final = ("move_a", "reaction", "carried_on", "row")
"""Outputs not needed if the parent is the world: its reaction, and the dependence on its motion."""

_bound: dict[int, tuple[Program, Program]] = {}


def kernel_at(kernel: Program, parent: int, slide: bool) -> Program:
    """The kernel, bound to the world if that is the parent."""
    if parent != WORLD:
        return kernel
    if id(kernel) not in _bound:
        known: dict[sp.Symbol, Any] = {}
        for name, symbols in kernel.inputs.items():
            values = _offset(kernel) if name == "offset_a" else RESTING.get(name)
            if values is not None:
                known |= dict(zip(symbols, [0] * len(symbols) if values == 0 else values, strict=True))
        if (
            not slide and "motion" in kernel.inputs
        ):  # the root of a tree is its origin: a hinge there causes no translation
            for name in ("motion", "start_motion"):
                known |= dict.fromkeys(kernel.inputs.get(name, [])[:3], 0)
        known = {symbol: sp.sympify(value) for symbol, value in known.items()}
        outputs = [name for name in kernel.outputs if name not in OF_THE_PARENT]
        _bound[id(kernel)] = (kernel, kernel.bound(f"{kernel.name}_root", known, outputs))
    return _bound[id(kernel)][1]


def call_at(
    program: Program, tree: Tree, j: int, kernel: Program, *known: Mapping[str, Any], **now: Any
) -> dict[str, Any]:
    """`call` of a kernel of joint j and the bodies that it joins."""
    return call(program, kernel_at(kernel, tree.parents[j], tree.slides[j]), *known, **now)


def _offset(kernel: Program) -> Any:
    """ρ of the world, whose origin replaces a COM: minus the vector from there to the joint."""
    return -JointNumbers.of(kernel.inputs["joint"]).r if "joint" in kernel.inputs else 0


def call(program: Program, kernel: Program, *known: Mapping[str, Any], **now: Any) -> dict[str, Any]:
    """Call with the kernel's inputs: those given by name, else the earlier `known` ones."""
    return program.call(kernel, **{k: next(m[k] for m in (now, *known) if k in m) for k in kernel.inputs})
