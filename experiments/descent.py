"""ADAM, the paper's optimiser, on a loss with an exact gradient: its curve beside the solver that finds the optimum."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.torques.adam import DECAY, DECAY_SQUARE, EPSILON, LONG

__all__ = ["Curve", "descend"]


class Curve(NamedTuple):
    """Losses (iterations + 1, …) from the start on, and the last iterate (…, n)."""

    losses: FloatArray
    end: FloatArray


def descend(
    loss: Callable[[FloatArray], tuple[FloatArray, FloatArray]],
    start: FloatArray,
    rate: FloatArray | float,
    *,
    low: FloatArray | float = -np.inf,
    high: FloatArray | float = np.inf,
    iterations: int = LONG,
) -> Curve:
    """`iterations` steps of ADAM with the usual constants from `start` (…, n), kept within [low, high].

    `loss` gives values (…) and gradients (…, n); rows are independent of each other. `rate` is in units of the unknowns.
    """
    x = np.array(start, dtype=np.float64)
    mean, square = np.zeros_like(x), np.zeros_like(x)
    value, gradient = loss(x)
    losses = [np.asarray(value, dtype=np.float64)]
    for k in range(1, iterations + 1):
        mean = DECAY * mean + (1.0 - DECAY) * gradient
        square = DECAY_SQUARE * square + (1.0 - DECAY_SQUARE) * gradient**2
        step = (mean / (1.0 - DECAY**k)) / (np.sqrt(square / (1.0 - DECAY_SQUARE**k)) + EPSILON)
        x = np.clip(x - rate * step, low, high)
        value, gradient = loss(x)
        losses.append(np.asarray(value, dtype=np.float64))
    return Curve(np.array(losses), x)
