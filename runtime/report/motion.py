"""One self-contained HTML page about a motion: what was said of it, every position and every torque over time."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from string import Template

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.origin import origin
from diffpbd.runtime.report.figures import MEASURED, PREDICTED
from diffpbd.runtime.report.svg import Curve, lines

__all__ = ["Signal", "motion_page"]

WIDTH = 520
NEAR = 0.1
"""[1] Part of the range between two bounds in which one of them is drawn."""


@dataclass(frozen=True)
class Signal:
    """A position or torque (samples,) of `name`, its `unit`, what it should be, and its bounds; None: there is none."""

    name: str
    unit: str
    values: FloatArray
    wanted: FloatArray | None = None
    bounds: tuple[float | None, float | None] = (None, None)


def motion_page(
    title: str, words: str, time: FloatArray, positions: Sequence[Signal], torques: Sequence[Signal]
) -> str:
    """The page; `words` is what the command prints."""
    template = Template(resources.files("diffpbd.runtime.report").joinpath("motion.html").read_text(encoding="utf-8"))
    followed = any(signal.wanted is not None for signal in positions)
    return template.substitute(
        title=html.escape(title),
        origin=html.escape(origin()),
        words=html.escape(words),
        legend=f'<span style="color:{PREDICTED}">Motion</span>'
        + (f', <span style="color:{MEASURED}">reference</span>. ' if followed else ". ")
        + "Limits in grey where they are near.",
        positions="".join(_figure(time, signal) for signal in positions),
        torques="".join(_figure(time, signal) for signal in torques),
    )


def _figure(time: FloatArray, signal: Signal) -> str:
    curves = [] if signal.wanted is None else [Curve(time, signal.wanted, MEASURED)]
    curves.append(Curve(time, signal.values, PREDICTED))
    curves += [Curve(time[[0, -1]], np.full(2, bound), "#bbb") for bound in _near(signal)]
    figure = lines(curves, "time [s]", f"[{signal.unit}]", width=WIDTH)
    return f"<figure><figcaption>{html.escape(signal.name)}</figcaption>{figure}</figure>"


def _near(signal: Signal) -> list[float]:
    """Bounds that the values come near."""
    low, high = signal.bounds
    room = NEAR * (high - low) if low is not None and high is not None else 0.0
    found = [low] if low is not None and signal.values.min() <= low + room else []
    return [*found, *([high] if high is not None and signal.values.max() >= high - room else [])]
