"""Evidence of each contact in a fitted motion: whether it touches, its least gap, how far it slides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.folder.manifest import Contact
from diffpbd.runtime.identify.motion.windows import Windows
from diffpbd.runtime.identify.settings.selection import FRICTION_OF_CONTACT, HEIGHT
from diffpbd.runtime.model.robot import Robot

__all__ = ["RESOLVED", "Touched", "nearest", "touched"]

CLOSE = 1e-5
"""[m] Gap below which a contact touches: what the smoothing leaves open at rest is far below."""
FARTHEST = 10.0
"""[1] Least displacement, in deviations of the positions."""
SHORTEST = 1e-4
"""[m] Least displacement: creep of a second at a slip of 1e-4 m/s."""


AWAY = 1e3
"""[m] Depth that disables a plane."""
SEEN = 100.0
"""[1] Rise of the sum of squares, in the variance of a residual, without which no contact is seen: ten standard deviations.
What grazes the last sample by its noise makes less."""
RESOLVED = 1e-12
"""[1] Half a mean square, in deviations of a millimetre, below which nothing is told: rounding."""


@dataclass(frozen=True)
class Touched:
    """A contact: the least gap [m] of the motion, the way [m] that it slides while it touches, and whether the motion would be
    another without."""

    contact: Contact
    least: float
    way: float
    matters: bool

    @property
    def touches(self) -> bool:
        """Whether it ever does, and shows."""
        return self.least < CLOSE and self.matters

    def slides(self, noise: float) -> bool:
        """Whether it slides by more than noise and creep."""
        return self.way > max(SHORTEST, FARTHEST * noise)

    def concerns(self, name: str) -> bool:
        """Whether an entry of alpha is its friction, or the height of its plane."""
        law = self.contact.law or self.contact.name.removesuffix(f"/{self.contact.against}")
        return name in (FRICTION_OF_CONTACT + law, HEIGHT + self.contact.against)


def nearest(own: Sequence[Touched]) -> str:
    """How near contacts come of which none touches."""
    gap = min(e.least for e in own)
    return f"the least gap is {gap:.3g} m" if gap > CLOSE else "the recordings are followed as well without"


def touched(robot: Robot, windows: Windows, theta: FloatArray, states: FloatArray) -> Sequence[Touched]:
    """Of every pair, over the motions of all windows."""
    contacts, alpha = robot.manifest.robot.contacts, windows.parameters.alpha(theta)
    least, way = np.full(len(contacts), np.inf), np.zeros(len(contacts))
    for run, (P, PD, _) in zip(windows.motions, windows.paths(theta, states), strict=True):
        gaps = np.reshape(robot.contact_gap(P, alpha=alpha), (len(P), -1))
        J = np.reshape(robot.contact_jacobian(P, alpha=alpha), (len(P), len(contacts), 3, robot.n))
        rates = np.linalg.norm(np.einsum("tckj,tj->tck", J[:, :, 1:], PD), axis=2)
        h = windows.step(run)
        least = np.minimum(least, gaps.min(axis=0))
        way += h * np.where(gaps < CLOSE, rates, 0.0).sum(axis=0)
    matters = {c.against: _matters(windows, theta, states, c) for c in contacts if c.shape == "plane"}
    return [Touched(c, float(least[k]), float(way[k]), matters.get(c.against, True)) for k, c in enumerate(contacts)]


def _matters(windows: Windows, theta: FloatArray, states: FloatArray, contact: Contact) -> bool:
    """Whether the recordings are missed without the plane."""
    parameters, name = windows.parameters, HEIGHT + contact.against
    best, base = windows.half_mean_square(theta, states), parameters.base.copy()
    without = theta.copy()
    if name in parameters.names:
        without[parameters.names.index(name)] -= AWAY
    else:
        base[windows.robot.alpha.index(name)] -= AWAY
    windows.parameters = replace(parameters, base=base)
    rest = windows.half_mean_square(without, states)
    windows.parameters = parameters
    return bool(rest > best * (1.0 + SEEN / windows.residuals) + RESOLVED)
