"""Building blocks of a step's stages: flat columns, link by link."""

from __future__ import annotations

from typing import Any, Final

from diffpbd.codegen.laws import attached, forces
from diffpbd.codegen.laws.cuts import LOOP_ROWS
from diffpbd.codegen.method import bodies, wrenches
from diffpbd.codegen.program.notation import (
    BODY,
    JOINT,
    LIMIT,
    POSE,
    POSE_POSITION,
    POSE_QUATERNION,
    SPRING,
    STATE,
    WRENCH,
    part,
)
from diffpbd.codegen.program.program import Program
from diffpbd.codegen.program.tree import Tree

SIZES: Final = {
    "xi": STATE,
    "pose": POSE,
    "u": 1,
    "body": BODY,
    "joint": JOINT,
    "spring": SPRING,
    "weight": 7,
    "rotation": 9,
    "turning": 9,
    "target": 3,
    "spin": 3,
    "motion": 6,
    "offset": 3,
    "effort": 1,
    "limit": LIMIT,
    "angle": 1,
    "lock": 1,
    "multiplier": 1,
    "aim": 13,
}
"""Numbers a link or joint of every flat column."""


def friction_size(tree: Tree) -> int:
    """Numbers of friction a joint."""
    return len(forces.friction_names(tree.friction))


def columns(program: Program, tree: Tree, names: str) -> tuple[Any, ...]:
    """Declare inputs by name: `SIZES` a link, or friction (`friction_size` a joint), gravity (3), h (1), wrench (9 an external
    wrench), attached (numbers of the springs on chosen joints)."""
    single = {"gravity": 3, "h": 1, "friction": friction_size(tree) * tree.n}
    single |= {"wrench": WRENCH * len(tree.wrenches), attached.BLOCK: tree.attached_size}
    return tuple(program.input(k, single[k] if k in single else SIZES[k] * tree.n) for k in names.split())


def limit_columns(program: Program, tree: Tree, names: str) -> tuple[Any, ...]:
    """`columns` where limits act, None each where none do."""
    return columns(program, tree, names) if tree.limits else (None,) * len(names.split())


def force_inputs(tree: Tree) -> tuple[str, ...]:
    """Names of what a stage takes of external wrenches and springs on chosen joints, if the tree has any."""
    return (*wrenches.wrench_names(tree), *attached.attached_names(tree))


def force_columns(program: Program, tree: Tree) -> tuple[Any, Any]:
    """`wrench` and `attached`, each None where there is none."""
    wrench = columns(program, tree, "wrench")[0] if tree.wrenches else None
    return wrench, columns(program, tree, attached.BLOCK)[0] if tree.attached else None


def loop_column(program: Program, tree: Tree) -> Any:
    """`loop` (25 a loop: the cut frames in world axes or those of the links, from their COM), None where no loop closes."""
    return program.input("loop", LOOP_ROWS * len(tree.closures)) if tree.closures else None


def each(column: Any, size: int, tree: Tree, within: slice | None = None) -> list[Any]:
    """The blocks of a flat column, link by link."""
    return [part(column, size, i, within) for i in range(tree.n)]


def places(program: Program, tree: Tree, pose: Any) -> tuple[list[Any], list[Any]]:
    """COM positions x (3) and rotations R (9, calls) of a flat column of poses."""
    x = each(pose, POSE, tree, POSE_POSITION)
    return x, rotations(program, each(pose, POSE, tree, POSE_QUATERNION))


def rotations(program: Program, quaternions: list[Any]) -> list[Any]:
    """Calls: R (9) of every quaternion."""
    return [program.call(bodies.rotation_kernel(), q=q)["rotation"] for q in quaternions]
