"""How every picture begins and ends."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from diffpbd.runtime.errors import InputError
from diffpbd.runtime.files import write_atomic

__all__ = ["new_figure", "save"]

DOTS_PER_INCH = 100


def new_figure(width: float, height: float) -> Any:
    """An empty matplotlib figure [inch] that needs no display."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("the picture needs matplotlib, which is not installed: pip install 'diffpbd[plot]'.") from None
    made = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(made)
    return made


def save(figure: Any, path: str | Path, dots_per_inch: int = DOTS_PER_INCH) -> None:
    """A figure as a PNG, whole or not at all."""
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=dots_per_inch)
    write_atomic(path, content.getvalue())
