"""Mistakes that recordings really have, each with the kind of finding and the joint that must be named.

Sizes begin just beyond the thresholds of the causes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from diffpbd.runtime.logs.recording import Recording

__all__ = ["Corruption", "corruptions"]


@dataclass(frozen=True)
class Corruption:
    """`make` spoils a recording; one of `kinds` must be found, of `joint` ("": of any)."""

    name: str
    make: Callable[[Recording], Recording]
    kinds: tuple[str, ...]
    joint: str


def column(field: str, k: int, change: Callable[[np.ndarray], np.ndarray]) -> Callable[[Recording], Recording]:
    def make(r: Recording) -> Recording:
        values = getattr(r, field).copy()
        values[:, k] = change(values[:, k])
        return replace(r, **{field: values})

    return make


def whole(field: str, factor: float) -> Callable[[Recording], Recording]:
    return lambda r: replace(r, **{field: factor * getattr(r, field)})


def late(samples: float) -> Callable[[np.ndarray], np.ndarray]:
    def make(values: np.ndarray) -> np.ndarray:
        at = np.arange(len(values), dtype=np.float64)
        return np.interp(at - samples, at, values)

    return make


def frozen(share: float) -> Callable[[np.ndarray], np.ndarray]:
    """Still for a while from where the joint is quickest."""

    def make(values: np.ndarray) -> np.ndarray:
        values = values.copy()
        begin = int(np.argmax(np.abs(np.diff(values[: len(values) // 2]))))
        end = begin + 1
        while end < len(values) - 1 and abs(values[end] - values[begin]) < share:
            end += 1
        values[begin:end] = values[begin]
        return values

    return make


def clipped(share: float) -> Callable[[np.ndarray], np.ndarray]:
    """All that is above this quantile is at it."""
    return lambda values: np.minimum(values, np.quantile(values, share))


def stuck(rate: float) -> Callable[[np.ndarray], np.ndarray]:
    """For three seconds, from a value that is no extreme one."""

    def make(values: np.ndarray) -> np.ndarray:
        values, begin = values.copy(), len(values) // 3
        values[begin : begin + int(3.0 * rate)] = np.median(values)
        return values

    return make


def spiked(values: np.ndarray) -> np.ndarray:
    """Sixty single samples, a few in each hundred of a recording of twenty seconds."""
    values, rng = values.copy(), np.random.default_rng(8)
    at = rng.choice(len(values), 60, replace=False)
    values[at] += rng.choice([-1.0, 1.0], 60) * 3.0 * np.ptp(values)
    return values


def exchanged(i: int, j: int) -> Callable[[Recording], Recording]:
    def make(r: Recording) -> Recording:
        order = list(range(len(r.joints)))
        order[i], order[j] = j, i
        assert r.tau is not None
        return replace(r, tau=r.tau[:, order])

    return make


def corruptions(
    joints: tuple[str, ...], rate: float, heavy: Sequence[int], gain: float, turning: int | None
) -> list[Corruption]:
    """All of them for a recording at `rate` [Hz] of these joints, of which two are `heavy`: the rigid body makes their torque.

    `gain` is what the second's torque is of the description's; `turning` a joint without ends that passes ±π.
    """
    first, second = heavy
    found: list[Corruption] = []

    def add(name: str, make: Callable[[Recording], Recording], kinds: str, joint: int | None) -> None:
        found.append(Corruption(name, make, tuple(kinds.split()), "" if joint is None else joints[joint]))

    last = len(joints) - 1
    add("rates zero", column("dq", last, lambda v: 0.0 * v), "rates", last)
    add("rates constant", column("dq", first, lambda v: 0.0 * v + 0.3), "rates", first)
    for factor in (
        -1.0,
        -0.5,
        math.degrees(1.0),
        math.radians(1.0),
        30.0 / math.pi,
        0.5 / math.pi,
        101.0,
        2.2,
        0.45,
        1.25,
        0.8,
    ):
        add(f"rates times {factor:.3g}", column("dq", last, lambda v, f=factor: f * v), "rates", last)
    for seconds in (0.05, -0.05, 0.1, 0.2):
        add(f"rates {1e3 * seconds:g} ms late", column("dq", first, late(seconds * rate)), "lag rates", first)
    add("positions stand still", column("q", first, frozen(0.08)), "frozen jumps", first)
    add("positions stand still longer", column("q", second, frozen(0.15)), "frozen jumps", second)
    for factor, name in ((1e3, "ms"), (1e6, "µs"), (1e9, "ns")):
        add(f"clock in {name}", lambda r, f=factor: replace(r, time=f * r.time), "time", None)
    for step in (0.4, 1.5, -2.5):
        add(
            f"positions jump by {step:g}",
            column("q", second, lambda v, s=step: v + s * (np.arange(len(v)) > len(v) // 2)),
            "jumps",
            second,
        )
    add(
        "all in degrees",
        lambda r: whole("q", math.degrees(1.0))(whole("dq", math.degrees(1.0))(r)),
        "units speed limits",
        None,
    )
    add("positions in degrees", whole("q", math.degrees(1.0)), "rates", None)
    for share in (0.98, 0.9, 0.7):
        add(f"torque clipped at {share:g}", column("tau", second, clipped(share)), "saturated", second)
    add("torque constant", column("tau", second, lambda v: 0.0 * v + 2.0), "constant", second)
    for joint in heavy:
        add(f"torque of {joint} turned", column("tau", joint, lambda v: -v), "sign", joint)
    add("torques exchanged", exchanged(first, second), "swapped", first)
    for factor in (0.45, 0.25, 0.1, 0.01, 2.2, 10.0):
        add(f"torque times {factor:g}", column("tau", second, lambda v, f=factor / gain: f * v), "gain", second)
    for seconds in (0.06, 0.1, 0.2, -0.06):
        add(f"torque {1e3 * seconds:g} ms late", column("tau", second, late(seconds * rate)), "delay", second)
    for factor in (0.5, 2.0, 1.08):
        add(f"clock {factor:g} times as slow", lambda r, f=factor: replace(r, time=f * r.time), "time", None)
    add("torque stuck", column("tau", second, stuck(rate)), "stuck", second)
    add("torque with spikes", column("tau", second, spiked), "spikes", second)
    if turning is not None:
        add("turns within ±π", column("q", turning, lambda v: (v + math.pi) % math.tau - math.pi), "jumps", turning)
    return found
