"""A PNG of a recording: its signals as they were read, and what the filter made of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from diffpbd.runtime.logs.processing import Motion, Samples
from diffpbd.runtime.report.figures import new_figure, panel, save

__all__ = ["plot_recording"]

COLUMN_INCH, ROW_INCH, HEAD_INCH = 4.6, 1.5, 1.0
DOTS_PER_INCH = 75
SIGNALS = (
    ("q", "position [rad or m]"), ("dq", "rate [rad/s or m/s]"), ("ddq", "acceleration [rad/s² or m/s²]"),
    ("tau", "torque [N·m or N]"),
)  # fmt: skip


def plot_recording(path: str | Path, raw: Motion, parts: Sequence[Samples], title: str) -> None:
    """A row a joint; a column a signal. Parts between gaps are drawn one by one."""
    shown = [(name, label) for name, label in SIGNALS if name != "tau" or raw.tau is not None]
    figure = new_figure(COLUMN_INCH * len(shown), HEAD_INCH + ROW_INCH * len(raw.joints))
    figure.suptitle(title)
    panels = figure.subplots(len(raw.joints), len(shown), sharex=True, squeeze=False)
    for j, row in enumerate(panels):
        for axes, (name, label) in zip(row, shown, strict=True):
            read = getattr(raw, name)
            if read is not None:
                axes.plot(raw.time, read[:, j], color="0.65", linewidth=1.6, label="as read")
            for k, part in enumerate(parts):
                values = part.trimmed(getattr(part, name))
                axes.plot(
                    part.trimmed(part.time), values[:, j], color="C0", linewidth=0.9,
                    label="filtered, derived" if k == 0 else None,
                )  # fmt: skip
            panel(axes, label if j == 0 else "", "time [s]" if j == len(panels) - 1 else "", raw.joints[j])
            if axes is not row[0]:
                axes.set_ylabel("")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    save(path, figure, DOTS_PER_INCH)
