"""Friction in both directions as unknowns of the torque form: a mean and half a difference that brake, and never push."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.functions.friction import ASYMMETRIES, mean_of
from diffpbd.runtime.functions.parameters import ParameterVector

__all__ = ["pairs", "put", "span"]


def pairs(names: Sequence[str]) -> list[tuple[str, str]]:
    """Mean and asymmetry of joints that both are wanted of."""
    found = ((mean_of(name), name) for name in names)
    return [(mean, name) for mean, name in found if mean is not None and mean in names]


def put(values: Any, alpha: ParameterVector, pair: tuple[str, str], positive: Any, negative: Any) -> None:
    """Friction in the positive and in the negative direction as the entries of alpha that make them."""
    mean, half = (alpha.index(name) for name in pair)
    values[mean], values[half] = (positive + negative) / 2, (positive - negative) / 2


def span(alpha: ParameterVector, name: str, base: FloatArray) -> tuple[float, float]:
    """Bounds of an entry of alpha while all others keep `base`."""
    position, mean = alpha.index(name), mean_of(name)
    if mean is not None:
        most = float(base[alpha.index(mean)])
        return -most, most
    low, high = float(alpha.lower[position]), float(alpha.upper[position])
    kind, _, joint = name.rpartition(".")
    for half, own in ASYMMETRIES.items():
        if kind == own and f"{half}.{joint}" in alpha:
            low = max(low, abs(float(base[alpha.index(f"{half}.{joint}")])))
    return low, high
