"""Settings of torque estimation, and the first guess of a window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, arg
from diffpbd.runtime.base.options import expect, option

__all__ = ["FRICTIONS", "LOSSES", "NODES", "OPTIMIZERS", "STARTS", "Settings", "window_start"]

LOSSES = {"angle": (1.0, 0.0, 0.0), "omega": (0.0, 1.0, 0.0), "angle+omega": (1.0, 0.02, 0.0)}
"""Weights λ₁ [1/rad²], λ₂ [s²/rad²], λ₃ [1/(N·m)²] of the named losses, as published."""
NODES = "nodes"
"""Not a loss: discrete inverse dynamics at a node, from three poses."""
STARTS = ("zero", "previous", "gravity")
OPTIMIZERS = ("gauss-newton", "adam")
FRICTIONS = ("recorded", "step")
"""Rate at which a step evaluates joint friction: the recorded one at its end, or that of the simulated step."""
MOST_WEIGHT = 1e12
"""[1/rad², …] Largest weight; beyond it rounding swamps the other terms."""
LONGEST_HORIZON = 1000
"""[1] Steps of a window; each costs some kilobytes and a window's work grows with it."""


@dataclass(frozen=True)
class Settings:
    """Settings of torque estimation; refuses contradictions.

    `loss` angle, omega, angle+omega or nodes; `weights` (λ₁, λ₂, λ₃) in place of the loss's own; `start` of a window's
    torques; `horizon` [steps]; `carry`: windows start from the state that the estimated torques led to, not from the
    recorded one; `friction`: see `estimate`.
    """

    loss: str = option("See above.", "angle+omega", choices=(*LOSSES, NODES))
    start: str = option("First guess of a window's torques.", "zero", choices=STARTS)
    horizon: int = option("Number of steps of a window.", 1, span=(1, LONGEST_HORIZON), unit="steps", metavar="N")
    weights: tuple[float, float, float] | None = option(
        "Weights of positions [1/rad²], angular velocities [s²/rad²], torque changes [1/(N·m)²].", None, metavar="λ1,λ2,λ3",
        parse=lambda text: _weights(text),
    )  # fmt: skip
    carry: bool = option("Start windows from the estimated state, not from the recorded one.", False)
    optimizer: str = option("See above.", "gauss-newton", choices=OPTIMIZERS)
    friction: str = option(
        "Friction at recorded rates, or at those of the simulated step.", FRICTIONS[0], choices=FRICTIONS
    )

    def __post_init__(self) -> None:
        """Refuses unknown names, a horizon below 1, and weights that are negative or all zero."""
        expect(self)
        if self.loss == NODES and (self.weights is not None or self.horizon != 1 or self.carry):
            raise InputError(
                f"{arg.loss('nodes')} takes torques from three recorded poses, without a window: {arg.weights}, {arg.horizon} "
                f"and {arg.carry} have no meaning for it; leave them out."
            )
        if self.loss == NODES and (self.optimizer != OPTIMIZERS[0]):
            raise InputError(f"{arg.loss('nodes')} is a formula, not a minimum: leave {arg.optimizer} out.")
        if self.weights is not None:
            _check_weights(self.weights)

    @property
    def lambdas(self) -> FloatArray:
        """λ₁, λ₂, λ₃ (3,)."""
        return np.array(LOSSES[self.loss] if self.weights is None else self.weights, dtype=np.float64)


def _weights(text: str) -> tuple[float, ...]:
    """Three numbers of a command line."""
    try:
        values = tuple(float(word) for word in text.split(","))
    except ValueError:
        values = ()
    if len(values) != 3:
        raise ValueError(f"expected three numbers such as 1,0.02,0, found {text!r}.")
    return values


def _check_weights(weights: Sequence[float]) -> None:
    if len(weights) != 3 or not all(0.0 <= w <= MOST_WEIGHT for w in weights):  # NaN too
        raise InputError(
            f"{arg.weights}: expected three numbers from 0 to {MOST_WEIGHT:g} (of positions, of angular velocities, of torque "
            f"changes), found {', '.join(f'{w:g}' for w in weights)}."
        )
    if not (weights[0] or weights[1]):
        raise InputError(
            f"{arg.weights}: the weights of positions and of angular velocities are both zero, so no torque depends on the "
            "recording; give at least one of them."
        )


def window_start(start: str, held: FloatArray, before: FloatArray, window: FloatArray | None, steps: int) -> FloatArray:
    """First guess (steps, n) of a window's torques.

    `held` (steps, n) holds the recorded poses at rest; `before` (n,) is the torque kept last, `window` the torques of the
    window before. `previous` is the latter shifted by a step, its last step from gravity; with a horizon of one it is
    `before`.
    """
    if start == "zero":
        return np.zeros((steps, held.shape[-1]))
    result = np.array(held[:steps], dtype=np.float64)
    if start == "gravity":
        return result
    if steps == 1:
        return np.array(before[None] if window is None or len(window) < 2 else window[1:2], dtype=np.float64)
    if window is not None:
        known = window[1 : 1 + steps]
        result[: len(known)] = known
    return result
