"""Judge whether a step is a motion, by the robot's own energy, gaps and rows of loops alone: nothing of how steps are solved.

Bars are those that a user of the result would set, not those of the emitted certificate: a turn of 1.5 times what the larger
rates lead to and 0.3 rad; energy up by 1 % at most (and by what a chord is short of its arc, turn²/12); 1 µm, and the energy
that it is worth; 1e-6 of impulses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from support.free_flyer import difference

from diffpbd.runtime import Robot

DEPTH, OPEN, MORE = 1e-6, 1e-6, 0.01
"""[m] of gaps, [m or rad] of rows; share of the energy that may come from nothing."""


@dataclass(frozen=True)
class Judge:
    """`turning`: 1 for coordinates that turn; `friction` of every contact; `alpha` of the robot."""

    robot: Robot
    turning: Any
    alpha: Any
    friction: Sequence[float] = ()
    bouncing: bool = False
    """What bounces may be about to meet something: gaps are judged alone."""

    def rejects(self, P: Any, PD: Any, U: Any, h: float, impulses: Sequence[Any] = ()) -> Counter[str]:
        """Grounds on which steps of a trajectory are none: P ((k+1) × n_p), PD ((k+1) × n), U (k × n); contacts' impulses."""
        P, PD = np.asarray(P), np.asarray(PD)
        if not (np.isfinite(P).all() and np.isfinite(PD).all()):
            return Counter(finite=1)
        floating = P.shape[1] != PD.shape[1]
        moved = np.array([difference(b, a) if floating else b - a for a, b in zip(P, P[1:], strict=False)])
        found: Counter[str] = Counter()
        most = h * (np.abs(PD[:-1]) + np.abs(PD[1:]))
        found["moved"] = int((np.abs(moved) > 1.5 * most + np.where(self.turning, 0.3, 0.15)).any(axis=1).sum())
        found["energy"] = self._richer(P, PD, U, moved, most)
        found["depth"] = self._deep(P, PD, h)
        found["rows"] = self._open(P, PD)
        for impulse in impulses if self.friction else ():
            found["cone"] += self._outside(impulse)
        return +found

    def _richer(self, P: Any, PD: Any, U: Any, moved: Any, most: Any) -> int:
        kinetic, potential = (np.ravel(x) for x in self.robot.energy(P, PD, alpha=self.alpha))
        scale = np.maximum(kinetic[:-1], kinetic[1:]) + np.abs(np.diff(potential))
        turn = (most * self.turning).sum(axis=1)
        allowed = (MORE + turn**2 / 12) * scale + np.abs(U * moved).sum(axis=1)
        allowed += DEPTH * np.abs(self.robot.gravity(P[0], alpha=self.alpha)).max()
        if self.friction:  # what was inside is pushed out
            allowed[np.min(self.robot.contact_gap(P[:-1], alpha=self.alpha), axis=1) < -DEPTH] = np.inf
        return int((np.diff(kinetic + potential) > allowed).sum())

    def _deep(self, P: Any, PD: Any, h: float) -> int:
        if not self.friction:
            return 0
        gaps = np.atleast_2d(self.robot.contact_gap(P[1:], alpha=self.alpha))
        deep = gaps.min(axis=1) < -DEPTH
        if self.bouncing:
            return int(deep.sum())
        J = np.reshape(self.robot.contact_jacobian(P[1:], alpha=self.alpha), (len(P) - 1, -1, 3, PD.shape[1]))
        closing = np.einsum("kcn,kn->kc", J[:, :, 0], PD[1:])
        rate = 1e-4 * (1.0 + np.abs(PD[1:]).max(axis=1))
        return int((deep | (closing < -2.0 * np.maximum(gaps, 0.0) / h - rate[:, None]).any(axis=1)).sum())

    def _open(self, P: Any, PD: Any) -> int:
        if not self.robot.manifest.robot.loops:
            return 0
        left = [self.robot.loop_residual(p, pd) for p, pd in zip(P[1:], PD[1:], strict=True)]
        return sum(
            np.abs(r.rows).max() > OPEN or np.abs(r.row_rates).max() > 1e-4 * (1.0 + np.abs(pd).max())
            for r, pd in zip(left, PD[1:], strict=True)
        )

    def _outside(self, impulse: Any) -> int:
        force = np.asarray(impulse).reshape(len(impulse), len(self.friction), -1)
        small = 1e-6 * np.abs(force).max(axis=(1, 2)) + 1e-12
        across = np.hypot(force[:, :, 1], force[:, :, 2])
        out = across > np.array(self.friction) * force[:, :, 0] + small[:, None]
        if force.shape[2] > 3:  # about the normal and across it, over their levers
            turning = np.maximum(np.abs(force[:, :, 3]), np.hypot(force[:, :, 4], force[:, :, 5]))
            out |= turning > force[:, :, 0] + small[:, None]
        return int(out.any(axis=1).sum())
