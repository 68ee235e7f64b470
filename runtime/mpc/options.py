"""How a predictive controller solves, and what it does between solves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.fitting import shown
from diffpbd.runtime.mpc.problem import PRICE

__all__ = ["BACKENDS", "Backend", "MpcOptions"]

Backend = Literal["embedded", "ipopt"]
BACKENDS: tuple[Backend, ...] = ("embedded", "ipopt")


@dataclass(frozen=True)
class MpcOptions:
    """How `Mpc` solves and what it does between solves.

    `programs` quadratic programs a tick (1: a real-time iteration) within `time_limit` [s]; `delay`: steps between measuring a
    state and the torque planned from it acting; `reuse`: failed ticks in a row that go on with an old plan; `price` [cost per
    rad, per rad/s] of broken bounds; `damping` [N·m·s/rad] of the fall-back torque, a number or one a joint; `disturbance` [s]:
    time constant of the observer whose estimate the plan takes for a constant torque on the joints (None: no observer);
    `transition` [rad/s]: the least width over which the plan lets Coulomb friction turn round, since a program knows nothing
    beyond the slope that it is linearised with.

    `clearance` [m]: links stay so far from each other and from obstacles (None: distances are not looked at), of a robot that
    was generated with `--clearance`; a metre less costs `clearance_price` (None: 1e4, of `clearance_hard` 1e5). With
    `clearance_hard` a plan that is nearer, and nearer than the robot is now, by more than 1 mm is none (TOO_NEAR).
    """

    backend: Backend = "embedded"
    programs: int = 1
    time_limit: float | None = None
    delay: int = 0
    reuse: int = 5
    price: tuple[float, float] = (PRICE, PRICE)
    damping: npt.ArrayLike | None = None
    disturbance: float | None = None
    transition: float = 0.0
    clearance: float | None = None
    clearance_price: float | None = None
    clearance_hard: bool = False

    def __post_init__(self) -> None:
        if str(self.backend) not in BACKENDS:
            raise InputError(f"MPC: there is no back end {shown(self.backend)}; expected one of {', '.join(BACKENDS)}.")
        limit = self.time_limit
        if self.programs < 1 or self.delay < 0 or self.reuse < 0 or (limit is not None and not limit > 0):
            raise InputError(
                f"MPC: expected at least 1 program, delay and reuse of at least 0 and a time limit above 0 s, found "
                f"{self.programs}, {self.delay}, {self.reuse}, {limit}."
            )
        if not 0.0 <= self.transition < np.inf:  # NaN too
            raise InputError(f"MPC: transition: expected a finite number of at least 0, found {self.transition:g}.")
