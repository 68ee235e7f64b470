"""The steps in maximal coordinates, `<integrator>_<solver>`: two integrators, each with three projections, as call programs.

Inputs of every step: xi (13 a link), u (n), h, gravity (3), body (7 a link), joint (28 a joint), friction (3 a joint), spring
(2 a joint); limit (2 a joint) where limits act, wrench (9 each) where external wrenches do, attached where chosen
springs do; output xi_next. Letters as in `notation`. Everything numeric happens in the leaf programs that the stages call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from diffpbd.codegen.method.algorithm_1 import paper_direct, paper_gauss_seidel, paper_jacobi
from diffpbd.codegen.method.variational import variational_direct, variational_gauss_seidel, variational_jacobi
from diffpbd.codegen.program.program import Program

__all__ = [
    "VARIANTS",
    "paper_direct",
    "paper_gauss_seidel",
    "paper_jacobi",
    "variational_direct",
    "variational_gauss_seidel",
    "variational_jacobi",
]

VARIANTS: Final[Mapping[str, Callable[..., Program]]] = {
    "variational_direct": variational_direct,
    "variational_gauss_seidel": variational_gauss_seidel,
    "variational_jacobi": variational_jacobi,
    "paper_direct": paper_direct,
    "paper_gauss_seidel": paper_gauss_seidel,
    "paper_jacobi": paper_jacobi,
}
"""Each of a tree, the number of sweeps (direct: of linear solves) and the iterations spent on friction."""
