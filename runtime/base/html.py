"""Tables that a notebook shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from diffpbd.runtime.base.arrays import FloatArray

__all__ = ["html_table", "motion_table"]


def html_table(heads: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """A table with a head row; every text is escaped."""

    def row(cells: Sequence[str], kind: str) -> str:
        return "<tr>" + "".join(f"<{kind}>{escape(cell)}</{kind}>" for cell in cells) + "</tr>"

    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    body = "".join(row(cells, "td") for cells in rows)
    return f"<table>{title}<thead>{row(heads, 'th')}</thead><tbody>{body}</tbody></table>"


def motion_table(
    caption: str, joints: Sequence[str], q: FloatArray, tau: FloatArray, positions: Sequence[str] = ()
) -> str:
    """Table of a motion q (samples, n_p) [rad or m] with torques tau (samples, n) [N·m or N]: start, end and range of every
    position, and the largest torque of those that are joints."""
    rows = []
    for k, name in enumerate(positions or joints):
        most = f"{abs(tau[:, joints.index(name)]).max():.4g}" if name in joints else ""
        rows.append((name, f"{q[0, k]:.4g}", f"{q[-1, k]:.4g}", f"{q[:, k].min():.4g} … {q[:, k].max():.4g}", most))
    return html_table(("position", "start", "end", "range", "largest torque"), rows, caption)
