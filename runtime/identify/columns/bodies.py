"""Bodies with unknown inertias: the entries of alpha that describe one, and its log-Cholesky coordinates.

A body with fitted moments of inertia has the ten coordinates of `inertials`, which cover exactly the physically consistent
bodies; otherwise mass and COM are independent unknowns with bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi
import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, arg
from diffpbd.runtime.identify.columns import inertials
from diffpbd.runtime.model.robot import Robot

__all__ = [
    "AXES", "BARRIER", "DECIDED", "MOMENTS", "MOVES", "PAYLOAD", "PAYLOAD_MASS", "PRIOR", "WEAKER", "PhysicalBody",
    "check_prior", "decided_by_prior", "physical_bodies",
]  # fmt: skip

AXES = ("x", "y", "z")
MOMENTS = ("xx", "xy", "xz", "yy", "yz", "zz")
PAYLOAD = "payload"
PAYLOAD_MASS = 0.5
"""[kg] Start for a payload if alpha has no mass: a typical load."""
PAYLOAD_RADIUS = 0.1
"""[m] Radius of gyration of that start."""
PRIOR = 1e-2
"""[1] Weight of a body's divergence from its description, against half the weighted mean square residual of each joint."""
PRIORS = (1e-9, 1e6)
"""[1] Bounds of the prior's weight: beyond, either it or the recordings have no effect."""
WEAKER = 100.0
"""[1] Factor by which the prior is weakened to find parameters that depend on it."""
MOVES = 3.0
"""[1] Change with the weaker prior, in standard deviations, above which a parameter is not identifiable."""
DECIDED = 3.0
"""[1] Ratio of standard deviations without and with the prior above which the prior decides."""
SINGULAR = 1e-2
"""[1] Smallest eigenvalue of a body's pseudo-inertia, in units of the description's, below which it is said to be close to
its physical limit: a hundredth of the description's extent in some direction."""
BARRIER = 1e-3
"""[1] Weight of a body without a described reference, as part of the prior's: it keeps the body physical and no more."""


def check_prior(weight: float) -> None:
    """InputError for a weight of the prior outside of `PRIORS`."""
    if not PRIORS[0] <= weight <= PRIORS[1]:  # NaN too
        raise InputError(f"{arg.prior}: expected a weight from {PRIORS[0]:g} to {PRIORS[1]:g}, found {weight:g}.")


def decided_by_prior(alone: float) -> str:
    """Why a parameter that the prior decides has no deviation."""
    return (
        "only the prior decides it, directly or through inertias that it is correlated with; by the recordings alone its "
        f"standard deviation is {alone:.2g}"
    )


@dataclass(frozen=True)
class PhysicalBody:
    """A body in log-Cholesky coordinates: its entries of alpha, the span of its unknowns, the reference factor L₀."""

    name: str
    entries: tuple[str, ...]
    positions: tuple[int, ...]
    span: slice
    reference: FloatArray
    described: bool
    """Whether the reference is the description's, to which a prior may pull; a payload's is only a start."""

    def root(self, x: FloatArray) -> FloatArray:
        """U (4, 4) of unknowns: the pseudo-inertia is L₀ U Uᵀ L₀ᵀ."""
        return np.array(inertials.factor_of(casadi.DM(x[self.span])).full(), dtype=np.float64)

    def least_eigenvalue(self, x: FloatArray) -> float:
        """Smallest eigenvalue of the pseudo-inertia in units of the reference: L₀⁻¹ J L₀⁻ᵀ = U Uᵀ."""
        return float(np.linalg.svd(self.root(x), compute_uv=False)[-1] ** 2)

    def limited(self, x: FloatArray) -> bool:
        """Whether the body is close to its physical limit."""
        return self.least_eigenvalue(x) < SINGULAR

    def limit(self, x: FloatArray) -> str:
        """A sentence on that."""
        return (
            f"The pseudo-inertia of {self.name} is close to its physical limit (smallest eigenvalue "
            f"{self.least_eigenvalue(x):.2g} of the reference's): where the recordings do not determine an entry, this limit "
            "does; standard deviations are computed without it."
        )

    def curvature(self, x: FloatArray) -> FloatArray:
        """Second derivatives (10, 10) of the divergence by the body's ten coefficients."""
        root = self.reference @ self.root(x)
        return inertials.curvature(root @ root.T)


def physical_bodies(robot: Robot, names: Sequence[str], base: FloatArray, first: int) -> list[PhysicalBody]:
    """Bodies with a moment of inertia among `names`; their unknowns begin at the place `first`, `base` is the reference."""
    found = []
    for name in (*robot.links, PAYLOAD):
        entries = _entries(name)
        if not any(entry in names for entry in entries[4:]):
            continue
        values = [base[robot.alpha.index(entry)] for entry in entries]
        described = bool(values[0] > 0.0)
        if not described:
            moment = 2.0 / 3.0 * PAYLOAD_MASS * PAYLOAD_RADIUS**2
            values = [PAYLOAD_MASS, 0.0, 0.0, 0.0, moment, 0.0, 0.0, moment, 0.0, moment]
        J = inertials.pseudo_inertia(values[0], values[1:4], values[4:])
        span = slice(first, first + inertials.COORDINATES)
        positions = tuple(robot.alpha.index(entry) for entry in entries)
        found.append(PhysicalBody(name, entries, positions, span, inertials.factor(J), described))
        first = span.stop
    return found


def _entries(body: str) -> tuple[str, ...]:
    """The ten entries of alpha of a link, or of the payload."""
    if body == PAYLOAD:
        return ("payload.mass", *(f"payload.com.{a}" for a in AXES), *(f"payload.inertia.{m}" for m in MOMENTS))
    return (f"mass.{body}", *(f"com.{body}.{a}" for a in AXES), *(f"inertia.{body}.{m}" for m in MOMENTS))
