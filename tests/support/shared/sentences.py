"""Messages of a run, without its figures."""

from __future__ import annotations

from support.arms.bench import Bench
from support.arms.sensors import Filtered


def normal() -> Bench:
    """Sensors, link and friction of an arm in which nothing is wrong."""
    return Bench(jitter=1e-3, noise=0.05, fault=Filtered())
