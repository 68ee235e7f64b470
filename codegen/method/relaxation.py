"""How much of its corrections a Jacobi sweep makes.

All joints are corrected from the same poses, so the links between two joints are moved twice. One factor θ for every correction
of every link keeps action and reaction equal: whatever the factor, momentum is kept and the sweeps end where the constraints
and the momentum balance hold.

Which factor converges: let A = J W Jᵀ and D its joint blocks, at most k joints meeting at a link. For any multipliers x

    xᵀ A x = Σ_links |W^½ Σ_joints Jᵀ x|² <= Σ_links k Σ_joints |W^½ Jᵀ x|² <= k xᵀ D x

(Cauchy and Schwarz), so the eigenvalues of D⁻¹ A lie in (0, k], and 1 - θ D⁻¹ A contracts for every θ < 2/k. The slow ones are
near 0 and go as 1 - θ·(eigenvalue): the larger θ the better, up to that bound. The same holds for scalar multipliers, each of
which lowers the same energy along its own direction.

`averaging` divides each link's corrections by their number instead, as particle systems do. Two links of one joint with
different numbers of joints then answer one impulse with different factors: momentum is lost, and the sweeps end at other
poses than the step's, whatever their number and however short the step. It is kept to reproduce what was computed with it.
"""

from __future__ import annotations

from typing import Final

from diffpbd.codegen.description.recipe.options import Relaxation
from diffpbd.codegen.program.notation import children
from diffpbd.codegen.program.tree import Tree

OF_THE_BOUND: Final = 0.9
"""Default factor over 2/k. On chains (k = 2) that makes 0.9: what overshoots most, at the eigenvalue k, still shrinks by 0.8 a
sweep, and what is slow goes nearly as fast as with any factor that converges."""


def meeting(tree: Tree, link: int) -> int:
    """Joints that correct a link: its own and those it carries."""
    return 1 + len(children(tree, link))


def default_factor(tree: Tree) -> float:
    """`OF_THE_BOUND` 2/k for k, the most joints that meet at a link; at most 1, which is exact for joints that meet none."""
    most = max(meeting(tree, link) for link in range(tree.n))
    return min(1.0, OF_THE_BOUND * 2 / most)


def factors(tree: Tree, relaxation: Relaxation) -> list[float]:
    """Factor of each link on the sum of its corrections; None is the `default_factor`."""
    if isinstance(relaxation, str):
        return [1 / meeting(tree, link) for link in range(tree.n)]
    return [default_factor(tree) if relaxation is None else relaxation] * tree.n
