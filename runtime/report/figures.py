"""What every picture begins and ends with."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from diffpbd.runtime.errors import InputError
from diffpbd.runtime.files import write_atomic

__all__ = ["new_figure", "panel", "save"]

DOTS_PER_INCH = 100


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


def save(path: str | Path, figure: Any, dots_per_inch: float = DOTS_PER_INCH) -> None:
    """PNG, whole or not at all."""
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=dots_per_inch)
    write_atomic(path, content.getvalue())
