"""What every picture begins and ends with."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

from diffpbd.runtime.errors import InputError
from diffpbd.runtime.files import write_atomic

__all__ = ["Target", "legend_below", "marks", "new_figure", "panel", "save", "stroke"]

Target: TypeAlias = "str | Path | io.BytesIO"
"""Where a picture goes: a file, or memory."""
DOTS_PER_INCH = 100
COLOURS, STROKES = (0, 1, 2, 3, 4, 5, 6, 8, 9), ("-", "--", "-.", (0, (1, 1.2)))
"""Colours of matplotlib's cycle but for the grey of what was measured; lines that print in grey tells apart."""


def new_figure(width: float, height: float) -> Any:
    """An empty matplotlib figure [inch] that needs no display."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError(
            "a figure needs matplotlib, which is not installed: pip install '.[plot]' in a checkout of diffpbd."
        ) from None
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
