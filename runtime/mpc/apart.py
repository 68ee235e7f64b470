"""Distance constraints of a plan: least distance of links from each other and from obstacles, and its price."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.model.clearance import least_distance, obstacles
from diffpbd.runtime.model.robot import Robot

__all__ = ["HARD_PRICE", "SOFT_PRICE", "Apart", "kept_apart", "place"]

SOFT_PRICE = 1e4
"""[cost per m] Price of a violation: above the multipliers of ordinary tracking costs, as that of a joint's bound is where a
radian moves a distance by 10 cm."""
HARD_PRICE = 1e5
"""[cost per m] Price of a hard constraint; a higher one would only lose digits."""


PARTING = ("mpc_parting", "mpc_parting_price")
"""The manifest's constants [m/s, cost per m] for what is nearer at the start than asked."""


class Apart:
    """Inputs of the emitted solver: `numbers` (least distance [m], price, whether it is hard) and obstacles, columns one after
    another. All are changed in place, so that back ends may hold them."""

    def __init__(self, robot: Robot, alpha: FloatArray, least: float, price: float | None, hard: bool) -> None:
        """For a robot that was generated with `--clearance`; without obstacles."""
        self.robot, self.alpha = robot, alpha
        own = HARD_PRICE if hard else SOFT_PRICE
        self.numbers = np.array([least, own if price is None else price, float(hard)])
        if not (np.isfinite(self.numbers).all() and self.numbers[1] > 0.0):
            raise InputError(
                f"MPC: clearance {least!r} at clearance_price {price!r}; expected a finite number [m] and one above 0 "
                "[cost per m]."
            )
        known = {constant.name: constant.value for constant in robot.manifest.constants}
        if not set(PARTING) <= known.keys():
            raise InputError(
                f"MPC: {robot.name} was generated before plans part; generate it again: {robot.manifest.again()}."
            )
        self._parting, self._parting_price = (known[name] for name in PARTING)
        self.obstacles = {kind: np.ascontiguousarray(x.T) for kind, x in obstacles(robot).items()}

    @classmethod
    def none(cls, robot: Robot, alpha: FloatArray) -> Apart:
        """No distance constraint."""
        found = cls(robot, alpha, 0.0, None, hard=False)
        found.numbers[1] = 0.0
        return found

    def place(self, given: Mapping[str, npt.ArrayLike]) -> None:
        """Replace all obstacles; rows as in `diffpbd.runtime.model.clearance.obstacles`."""
        for kind, x in obstacles(self.robot, **given).items():
            self.obstacles[kind][:] = x.T

    def distances(self, P: FloatArray) -> FloatArray:
        """(poses, distances) [m] at P (poses, n_p)."""
        given: dict[str, Any] = {k: np.broadcast_to(x.T, (len(P), *x.T.shape)) for k, x in self.obstacles.items()}
        found: FloatArray = np.asarray(self.robot.function("clearance")(P, **given, alpha=self.alpha))
        return found

    def asked(self, p: FloatArray, count: int, h: float) -> tuple[FloatArray, FloatArray]:
        """Distances [m] (count, distances) that nodes 1 … count of a plan from p are asked for, and what a metre less costs.

        What is nearer at the start has to part at a stated rate, for a limited price."""
        first, (least, price) = self.distances(p[None]), self.numbers[:2]
        grown: FloatArray = first + self._parting * h * np.arange(1, count + 1)[:, None]
        prices = np.where(first[0] < least, np.minimum(price, self._parting_price), price)
        return np.minimum(grown, least), np.broadcast_to(prices, grown.shape)

    def penalty(self, P: FloatArray, h: float) -> float:
        """Cost of violated distances of a plan's nodes P, the first of which is the start."""
        if not self.numbers[1]:
            return 0.0
        asked, prices = self.asked(P[0], len(P) - 1, h)
        return float((prices * np.maximum(asked - self.distances(P[1:]), 0.0)).sum())


def kept_apart(robot: Robot, alpha: FloatArray, least: float | None, price: float | None, hard: bool) -> Apart | None:
    """The constraint; None for a robot without distances, which is refused if a distance is asked for."""
    if robot.manifest.clearance is None and least is None:
        return None
    least_distance(robot, least)  # refuses one of a robot without distances
    return Apart.none(robot, alpha) if least is None else Apart(robot, alpha, least, price, hard)


def place(robot: Robot, apart: Apart | None, given: Mapping[str, npt.ArrayLike]) -> None:
    """`Apart.place`; an InputError if obstacles are given to a robot without distances."""
    if apart is not None:
        apart.place(given)
    elif given:
        obstacles(robot, **given)
