"""A robot's numbers as one C array: a table of constants, and entries computed from alpha."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from diffpbd.codegen.emit.text.c_writer import Kernel, kernel, literal
from diffpbd.codegen.graph.expressions.translate import graph_of


@dataclass(frozen=True)
class Numbers:
    """`fixed`: every entry as C text, 0 where alpha decides; `where`: the places of those; `forward` (alpha → their values)
    and `reverse` (alpha, their seeds → alpha_bar, added to) as kernels; `slopes`: a kernel of alpha → what is not zero of their
    Jacobian, by column, of which `sparsity` has the place among all entries and the column."""

    fixed: list[str]
    where: list[int]
    forward: Kernel
    reverse: Kernel
    slopes: Kernel
    sparsity: list[tuple[int, int]]


def numbers(alpha: Any, blocks: Sequence[Any], name: str) -> Numbers:
    """The entries of `blocks` (SX of alpha, column-major, one after another).

    Its kernels are called <name>_kernel, <name>_reverse_kernel and slopes_kernel.
    """
    flat = ca.vertcat(*[ca.vec(b) for b in blocks])
    elements = [flat[k] for k in range(flat.numel())]
    where = [k for k, e in enumerate(elements) if not e.is_constant()]
    fixed = [literal(float(e)) if e.is_constant() else "0.0" for e in elements]
    changing = ca.vertcat(*[elements[k] for k in where])
    graph = graph_of("blocks", {"alpha": alpha}, {"values": changing})
    seed = ca.SX.sym("values_bar", len(where))
    pulled = ca.jtimes(changing, alpha, seed, True)
    reverse = graph_of("blocks", {"alpha": alpha, "values_bar": seed}, {"alpha_bar": pulled})
    jacobian = ca.jacobian(changing, alpha)
    places = list(zip(*jacobian.sparsity().get_triplet(), strict=True))
    found = ca.vertcat(*jacobian.nonzeros()) if places else ca.SX.zeros(0, 1)
    slopes = graph_of("blocks", {"alpha": alpha}, {"slopes": found})
    return Numbers(
        fixed,
        where,
        kernel(graph, f"{name}_kernel"),
        kernel(reverse, f"{name}_reverse_kernel", accumulate=True),
        kernel(slopes, "slopes_kernel"),
        [(where[row], column) for row, column in places],
    )
