"""Begins and ends every picture."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.extras import missing
from diffpbd.runtime.base.files import write_atomic

__all__ = [
    "MEASURED",
    "PREDICTED",
    "Target",
    "beside",
    "curve",
    "legend_below",
    "marks",
    "new_figure",
    "panel",
    "reached_limits",
    "save",
    "stroke",
]

Target: TypeAlias = "str | Path | io.BytesIO"
"""Where a picture goes: a file, or memory."""
DOTS_PER_INCH = 100
MOST_POINTS = 2000
"""[1] Samples of a curve beyond which it is a band: about two a column of a picture."""
LABEL_INCH = 0.15
"""Height of a name beside a curve."""
NEAR = 0.05
"""[1] Part of a joint's range at a limit in which the limit is drawn."""
MEASURED, PREDICTED = "#808080", "#c0392b"
"""Colours of a recording and of what a model says, in every picture and page."""
COLOURS, STROKES = (0, 1, 2, 3, 4, 5, 6, 8, 9), ("-", "--", "-.", (0, (1, 1.2)))
"""Colours of matplotlib's cycle but for the grey of what was measured; lines that print in grey tells apart."""


def new_figure(width: float, height: float) -> Any:
    """An empty matplotlib figure [inch] that needs no display."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise missing("a figure", "matplotlib") from None
    made = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(made)
    return made


def panel(axes: Any, title: str, x: str, y: str) -> Any:
    """Title, labels and a light grid."""
    axes.set_title(title, fontsize="medium")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(alpha=0.3)
    return axes


def stroke(k: int) -> dict[str, Any]:
    """Colour and line of the curve numbered k; neighbours differ in both, so that print tells them apart."""
    return {"color": f"C{COLOURS[k % len(COLOURS)]}", "linestyle": STROKES[k % len(STROKES)]}


def marks(axes: Any, values: Sequence[float], label: str) -> None:
    """Thin grey lines at a goal, or at both limits."""
    for k, value in enumerate(values):
        axes.axhline(value, color="0.4", linewidth=0.8, linestyle=(0, (6, 2)), label=label if k == 0 else None)


def curve(axes: Any, x: FloatArray, y: FloatArray, **style: Any) -> None:
    """A curve; of a recording longer than the picture has columns, the band between lowest and highest of each column."""
    style = {"linewidth": 1.2, **style}
    if len(x) <= MOST_POINTS:
        axes.plot(x, y, **style)
        return
    edges = np.linspace(0, len(x), MOST_POINTS // 2 + 1).astype(int)[:-1]
    low, high = np.minimum.reduceat(y, edges), np.maximum.reduceat(y, edges)
    axes.fill_between(x[edges], low, high, color=style["color"], alpha=0.35, linewidth=0.0)
    axes.plot(x[edges], 0.5 * (low + high), **style)


def beside(axes: Any, labels: Sequence[str], ends: FloatArray, colours: Sequence[str]) -> None:
    """Names at the right ends of curves, in their colours, moved apart where they would cover each other."""
    axes.margins(x=0.0)
    low, high = axes.get_ylim()
    inches = axes.get_position().height * axes.figure.get_size_inches()[1]
    apart = LABEL_INCH / max(inches, LABEL_INCH) * (high - low)
    order = np.argsort(ends, kind="stable")
    places = np.array([float(np.clip(ends[k], low, high)) for k in order])
    for k in range(1, len(places)):
        places[k] = max(places[k], places[k - 1] + apart)
    above = high
    for k in range(len(places) - 1, -1, -1):
        places[k] = min(places[k], above)
        above = places[k] - apart
    for k, place in zip(order, places, strict=True):
        axes.annotate(
            labels[k], (1.0, (place - low) / (high - low)), xycoords="axes fraction", xytext=(6, 0),
            textcoords="offset points", va="center", color=colours[k], fontsize="small", annotation_clip=False,
        )  # fmt: skip


def reached_limits(axes: Any, values: FloatArray, lower: float | None, upper: float | None, colour: str) -> None:
    """Limits of a joint that its curve comes near, as thin lines; others would only be in the way."""
    room = NEAR * (upper - lower) if lower is not None and upper is not None else 0.0
    for limit, near in ((lower, lower is not None and values.min() < lower + room),
                        (upper, upper is not None and values.max() > upper - room)):  # fmt: skip
        if near:
            axes.axhline(limit, color=colour, linewidth=0.8, linestyle=(0, (6, 2)))


def legend_below(figure: Any, axes: Any, columns: int = 4) -> None:
    """The legend of `axes` under all panels, where no curve is."""
    handles, labels = axes.get_legend_handles_labels()
    columns = min(columns, len(labels))
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize="small")


def save(path: Target, figure: Any, dots_per_inch: float = DOTS_PER_INCH) -> None:
    """PNG, whole or not at all."""
    content = path if isinstance(path, io.BytesIO) else io.BytesIO()
    figure.savefig(content, format="png", dpi=dots_per_inch)
    if not isinstance(path, io.BytesIO):
        write_atomic(path, content.getvalue())
