"""Small figures as inline SVG: curves and bars with axes, for pages that load nothing from elsewhere."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray

__all__ = ["Curve", "bars", "lines"]

HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 190, 58, 10, 8, 34
MOST_POINTS = 1500
"""[1] A curve is drawn with at most so many points: lowest and highest of each stretch, so that peaks stay."""
TICKS = 5
"""[1] About so many numbers on an axis."""

ROUNDING = 1e-9
"""[1] Values that differ by less than this share of themselves, or of 1, are drawn as a straight line."""


@dataclass(frozen=True)
class Curve:
    """Points (samples,) and a colour."""

    x: FloatArray
    y: FloatArray
    colour: str


def lines(curves: Sequence[Curve], x_label: str, y_label: str, *, width: int = 1000) -> str:
    """Curves over one another."""
    frame = _Frame([c.x for c in curves], [c.y for c in curves], width)
    return frame.svg("".join(frame.curve(c) for c in curves), x_label, y_label)


def bars(x: FloatArray, y: FloatArray, over: Curve, x_label: str, y_label: str, *, width: int = 460) -> str:
    """Bars of equal width from zero, and a curve over them."""
    frame = _Frame([x, over.x], [y, over.y, np.zeros(1)], width)
    step = frame.across(float(x[1])) - frame.across(float(x[0]))
    ground = frame.up(0.0)
    rectangles = "".join(
        f'<rect x="{frame.across(a) - step / 2:.1f}" y="{frame.up(b):.1f}" width="{step * 0.9:.1f}" '
        f'height="{max(ground - frame.up(b), 0.0):.1f}" fill="#aab7c4"/>'
        for a, b in zip(x.tolist(), y.tolist(), strict=True)
    )
    return frame.svg(rectangles + frame.curve(over), x_label, y_label)


class _Frame:
    """Axes around some data."""

    def __init__(self, xs: Sequence[FloatArray], ys: Sequence[FloatArray], width: int) -> None:
        self.width = width
        self.x0, self.x1 = _range(xs, 0.0)
        self.y0, self.y1 = _range(ys, 0.05)

    def across(self, x: float) -> float:
        return LEFT + (x - self.x0) / (self.x1 - self.x0) * (self.width - LEFT - RIGHT)

    def up(self, y: float) -> float:
        return HEIGHT - BOTTOM - (y - self.y0) / (self.y1 - self.y0) * (HEIGHT - TOP - BOTTOM)

    def curve(self, curve: Curve) -> str:
        x, y = _thinned(curve.x, curve.y)
        points = " ".join(f"{self.across(a):.1f},{self.up(b):.1f}" for a, b in zip(x.tolist(), y.tolist(), strict=True))
        return f'<polyline points="{points}" fill="none" stroke="{curve.colour}" stroke-width="1.1"/>'

    def svg(self, body: str, x_label: str, y_label: str) -> str:
        bottom, right = HEIGHT - BOTTOM, self.width - RIGHT
        parts = []
        for value in _ticks(self.x0, self.x1):
            a = self.across(value)
            parts.append(f'<line x1="{a:.1f}" x2="{a:.1f}" y1="{TOP}" y2="{bottom}" stroke="#eee"/>')
            parts.append(f'<text x="{a:.1f}" y="{bottom + 14}" text-anchor="middle">{value:.4g}</text>')
        for value in _ticks(self.y0, self.y1):
            b = self.up(value)
            parts.append(f'<line x1="{LEFT}" x2="{right}" y1="{b:.1f}" y2="{b:.1f}" stroke="#eee"/>')
            parts.append(f'<text x="{LEFT - 5}" y="{b + 4:.1f}" text-anchor="end">{value:.4g}</text>')
        middle = (TOP + bottom) / 2
        centre = (LEFT + right) / 2
        parts.append(f'<text x="{centre}" y="{HEIGHT - 4}" text-anchor="middle">{html.escape(x_label)}</text>')
        parts.append(
            f'<text transform="translate(11,{middle}) rotate(-90)" text-anchor="middle">{html.escape(y_label)}</text>'
        )
        parts.append(f'<path d="M{LEFT} {TOP}V{bottom}H{right}" fill="none" stroke="#888"/>')
        size = f'width="{self.width}" height="{HEIGHT}" viewBox="0 0 {self.width} {HEIGHT}"'
        return f'<svg {size} role="img">{"".join(parts)}{body}</svg>'


def _range(arrays: Sequence[FloatArray], margin: float) -> tuple[float, float]:
    low, high = min(float(a.min()) for a in arrays), max(float(a.max()) for a in arrays)
    if high - low <= ROUNDING * max(abs(low), abs(high), 1.0):  # rounding is no motion to be drawn large
        pad = abs(low) if abs(low) > ROUNDING else 1.0
        return low - pad, high + pad
    return low - margin * (high - low), high + margin * (high - low)


def _thinned(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    if len(x) <= MOST_POINTS:
        return x, y
    stretches = np.array_split(np.arange(len(x)), MOST_POINTS // 2)
    kept = sorted({int(s[f(y[s])]) for s in stretches for f in (np.argmin, np.argmax)})
    return x[kept], y[kept]


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers between two values."""
    raw = (high - low) / TICKS
    power = 10.0 ** np.floor(np.log10(raw))
    step = float(next(m * power for m in (1.0, 2.0, 5.0, 10.0) if m * power >= raw))
    return [float(k * step) for k in range(int(np.ceil(low / step)), int(np.floor(high / step)) + 1)]
