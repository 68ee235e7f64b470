"""Options of predictive control: solver, delay, failures, disturbance, distances."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, Literal

from diffpbd.runtime.base.errors import ArgumentError, InputError, arg
from diffpbd.runtime.base.options import expect, option
from diffpbd.runtime.base.states import json_or_file, state_file
from diffpbd.runtime.model.clearance import distance_option
from diffpbd.runtime.mpc.disturbance import TIME_CONSTANT
from diffpbd.runtime.mpc.problem import PRICE, Weights

__all__ = ["BACKENDS", "Backend", "MpcOptions", "parse_weights"]

Backend = Literal["embedded", "ipopt"]
BACKENDS: tuple[Backend, ...] = ("embedded", "ipopt")
MOST = 1000
"""Largest number of programs per tick, of delay steps, of failed ticks."""
LONGEST = 1e7
"""[s] About four months."""
WEIGHTS = tuple(field.name for field in fields(Weights))
DEAREST = 1e5
"""Price of a metre."""
TICK_ITERATIONS = 10
"""Rounds, without the interior point, which takes 0.1 ms an iteration (Baxter's arm, 20 steps)."""
NEAR_ITERATIONS = 25
"""The same with distance constraints: a plan that stops early breaks them, so the interior point goes on."""


@dataclass(frozen=True)
class MpcOptions:
    """Options of `Mpc`.

    `programs` quadratic programs a tick (1: a real-time iteration) within `time_limit` [s]; `iterations` of one program: up to
    10 rounds, whose work is bounded, after which the plan stops early within its torque bounds (LIMITED); more let the
    interior point go on (None: 10, with `clearance` 25); `delay`: steps between measuring a
    state and the torque planned from it acting; `reuse`: failed ticks in a row that go on with an old plan; `price` [cost per
    rad, per rad/s] of broken bounds; `disturbance` [s]: time constant of the observer whose estimate is a constant joint
    torque in the plan (None: no observer); `transition` [rad/s]: the least width in the plan of the sign change of Coulomb
    friction, because a program only sees the slope at its linearisation.

    `clearance` [m]: least distance of links from each other and from obstacles (None: no constraint), for a robot that was
    generated with `--clearance`; a metre of violation costs `clearance_price` (None: 1e4, with `clearance_hard` 1e5). With
    `clearance_hard` a plan that falls short of it, and of the robot's present distance, by more than 1 mm fails (TOO_NEAR).
    """

    backend: Backend = option("Solver of a tick.", "embedded", choices=BACKENDS)
    programs: int = option("Quadratic programs per tick.", 1, span=(1, MOST))
    iterations: int | None = None
    time_limit: float | None = option(
        "No quadratic program of a tick starts later than this.",
        None,
        span=(0.0, LONGEST),
        open=True,
        unit="s",
        metavar="S",
    )
    delay: int = option("Delay in steps until a torque acts, which is compensated.", 0, span=(0, 10), unit="steps")
    reuse: int = 5
    price: tuple[float, float] = (PRICE, PRICE)
    disturbance: float | None = option(
        "Estimate and compensate unmodelled joint torques.", None, flag="--disturbance/--no-disturbance",
        parse=lambda on: TIME_CONSTANT if on else None,
    )  # fmt: skip
    transition: float = 0.0
    clearance: float | None = distance_option(0.0)
    clearance_price: float | None = option(
        "Cost per metre of violation of --clearance (1e4; hard: 1e5).",
        None,
        span=(0.0, DEAREST),
        open=True,
        metavar="W",
    )
    clearance_hard: bool = option(
        "A plan that violates --clearance by more than 1 mm is rejected, and the last plan continues.", False
    )

    @property
    def rounds(self) -> int:
        """`iterations`, or the default."""
        return self.iterations or (TICK_ITERATIONS if self.clearance is None else NEAR_ITERATIONS)

    def __post_init__(self) -> None:
        """Refuses numbers out of range, and options of distances without `clearance`."""
        expect(self)
        if self.iterations is not None and not 1 <= self.iterations <= MOST:
            raise InputError(f"MPC: iterations: expected 1 to {MOST}, found {self.iterations}.")
        if self.reuse < 0:
            raise InputError(f"MPC: reuse: expected at least 0, found {self.reuse}.")
        if not 0.0 <= self.transition < math.inf:  # NaN too
            raise InputError(f"MPC: transition: expected a finite number of at least 0, found {self.transition:g}.")
        if self.clearance is None and (self.clearance_price is not None or self.clearance_hard):
            raise InputError(
                f"{arg.clearance_price} and {arg.clearance_hard} are of a distance; expected {arg.clearance} M with them."
            )


def parse_weights(text: str) -> dict[str, Any]:
    """An object of cost weights by name."""
    data, wrong = json_or_file(text, str(arg.weights)), InputError if state_file(text) else ArgumentError
    if not isinstance(data, dict) or set(data) - set(WEIGHTS):
        raise wrong(f"{arg.weights}: expected an object with some of {', '.join(WEIGHTS)}, found {data!r}.")
    for name, value in data.items():
        numbers = value if isinstance(value, list) and name != "end" else [value]
        if any(isinstance(x, bool) or not isinstance(x, (int, float)) or not 0 <= x < math.inf for x in numbers):
            raise wrong(
                f"{arg.weights}: {name}: expected a number or a list of numbers of at least 0, found {value!r}."
            )
    return data
