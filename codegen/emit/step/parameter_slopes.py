"""Dependence of a deep tree's numbers on parameters, for the step's Jacobian by them (templates/step/tree_parameters.h)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from diffpbd.codegen.graph.model.model import Model
from diffpbd.codegen.joint_space.link_shares import NUMBERS, PUSHES, SHARE
from diffpbd.codegen.joint_space.tree_jacobian import COLUMNS, SWEPT
from diffpbd.codegen.laws import attached
from diffpbd.codegen.program.tree import Tree

OWN, SHARED, GRAVITY = range(3)
PLACES: Final = ("before", "after")
"""Blocks whose numbers move what a joint carries, and so change what every joint adds to the equations."""


class Slope(NamedTuple):
    """A number that an entry of alpha (`column`) changes: one of a joint's own (`at` among the model's numbers), of a link or
    an external wrench (`at` among the shares, `joint` the link's), or an axis of gravity."""

    column: int
    kind: int
    at: int
    joint: int


def parameter_slopes(model: Model, offset: Mapping[str, int], sparsity: Sequence[tuple[int, int]]) -> tuple[Slope, ...]:
    """A slope of every place and column of `sparsity` (`numbers`), the blocks at their `offset`; none where a joint's place
    changes."""
    tree, blocks = model.tree, model.blocks
    result = []
    for place, column in sparsity:
        name = max((k for k in offset if offset[k] <= place and blocks[k].numel()), key=offset.__getitem__)
        col, row = divmod(place - offset[name], blocks[name].size1())
        if name in PLACES or (name == "wrench" and row < 3):
            return ()
        if name == "body":
            slope = Slope(column, SHARED, SHARE * (NUMBERS * col + row), col)
        elif name == "wrench":
            before = SHARE * NUMBERS * tree.n
            slope = Slope(column, SHARED, before + SHARE * (PUSHES * col + row - 3), tree.wrenches[col])
        elif name == "gravity":
            slope = Slope(column, GRAVITY, row, 0)
        else:
            slope = Slope(column, OWN, place, _joint(tree, name, row))
        result.append(slope)
    return tuple(result)


def _joint(tree: Tree, name: str, row: int) -> int:
    """The joint of a number of a block of joints' own."""
    if name != attached.BLOCK:
        return row
    return next(a.joint for a, at in zip(tree.attached, tree.attached_places, strict=True) if at.start <= row < at.stop)


def share_numbers(tree: Tree) -> int:
    """Numbers of all shares."""
    return SHARE * (NUMBERS * tree.n + PUSHES * len(tree.wrenches))


ADDED: Final = (4, 26, 6)
"""Operations of a slope, by its kind, at each joint that it adds to."""


def operations(tree: Tree, slopes: Sequence[Slope], entries: int) -> int:
    """Operations of templates/step/tree_parameters.h with its solves, beside those of kernels."""
    sums = sum(ADDED[s.kind] * (1, len(tree.ancestors(s.joint)), tree.n)[s.kind] for s in slopes)
    return sums + SWEPT * tree.n * COLUMNS * -(-entries // COLUMNS)
