"""The table, the JSON file and the plot."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.row import Row
from benchmarks.swing import TIMES
from benchmarks.timing import Timing

HEADS = (
    ("", ("name",)),
    ("step", ("ops", "us", "x")),
    ("value + Jacobian", ("ops", "us", "x")),
    ("reverse step", ("us", "/ step")),
    ("rollout-100", ("us", "x")),
    ("its gradient", ("us", "x")),
    ("C", ("kB", "cc s")),
)
Errors = dict[str, dict[float, list[float]]]
"""Swing errors [rad] at TIMES, by row and h."""
Curves = dict[str, list[tuple[float, float, float]]]
"""(h, computing time per simulated second [us], error at the last of TIMES [rad]), by row."""
ACCURATE_H = (0.01, 0.001)
"""[s], the steps whose swing errors the table shows."""


def number(value: float | None, form: str = ".3g") -> str:
    return "" if value is None else format(value, form)


def cells(row: Row, timings: dict[str, Timing], errors: dict[float, list[float]]) -> list[list[str]]:
    """The cells of a row, grouped as HEADS and then a group for each of ACCURATE_H."""

    def timed(key: str) -> list[str]:
        t = timings.get(key)
        return ["", ""] if t is None else [microseconds(t.median), f"{t.ratio:.2f}"]

    vjp = timings.get("vjp")
    reverse = ["", ""] if vjp is None else [microseconds(vjp.median), f"{vjp.to_step:.1f}"]
    size = ["" if row.c_bytes is None else f"{row.c_bytes / 1e3:.0f}", number(row.compile_s, ".1f")]
    ops = [f"{row.operations[k]}" if k in row.operations else "" for k in ("step", "jacobian")]
    swing = [[f"{e:.1e}" for e in errors.get(h, [])] or [""] * len(TIMES) for h in ACCURATE_H]
    return [[row.name], [ops[0], *timed("step")], [ops[1], *timed("jacobian")], reverse, timed("rollout"),
            timed("gradient"), size, *swing]  # fmt: skip


def remarks(row: Row, timings: dict[str, Timing]) -> list[str]:
    """Remarks for which the table has no column."""
    found = [row.note] if row.note else []
    if "pullback" in timings:
        t = timings["pullback"]
        found.append(
            f"the reverse derivative of the rollout alone, seeds given, takes {microseconds(t.median)} us ({t.ratio:.2f} x); "
            "the gradient in the table runs forward once more, to have the end before the seeds"
        )
    return [f"{row.name}: {text}." for text in found]


def microseconds(value: float) -> str:
    return f"{value:.2f}" if value < 100 else f"{value:.0f}"


def table(lines: Sequence[list[list[str]]]) -> str:
    """Aligned columns under two lines of heads."""
    groups = [*HEADS, *((f"swing {1e3 * h:g} ms [rad]", tuple(f"{t:g} s" for t in TIMES)) for h in ACCURATE_H)]
    widths = [[max(len(g[c]) for g in ([list(heads)] + [line[k] for line in lines])) for c in range(len(heads))]
              for k, (_, heads) in enumerate(groups)]  # fmt: skip
    for (title, _), w in zip(groups, widths, strict=True):
        w[-1] += max(0, len(title) - sum(w) - 2 * (len(w) - 1))
    top = " | ".join(title.ljust(sum(w) + 2 * (len(w) - 1)) for (title, _), w in zip(groups, widths, strict=True))

    def line(values: Sequence[Sequence[str]]) -> str:
        out = []
        for k, (group, w) in enumerate(zip(values, widths, strict=True)):
            out.append("  ".join(v.ljust(x) if k == 0 else v.rjust(x) for v, x in zip(group, w, strict=True)))
        return " | ".join(out)

    head = line([heads for _, heads in groups])
    return "\n".join([top, head, "-" * len(head), *map(line, lines)])


def write_json(
    path: Path,
    facts: dict[str, Any],
    rows: list[Row],
    timings: dict[str, dict[str, Timing]],
    errors: Errors,
    curves: Curves,
) -> None:
    """Everything measured, for scripts; times in microseconds, errors in radians, h in seconds."""
    point = ("h", "us_per_simulated_s", "error_rad")
    entries = [
        {
            "name": row.name,
            "note": row.note,
            "operations": row.operations,
            "c_bytes": row.c_bytes,
            "compile_s": row.compile_s,
            "timings_us": {k: asdict(t) for k, t in timings[row.name].items()},
            "swing_error_rad": {
                f"{h:g}": dict(zip(map(str, TIMES), e, strict=True)) for h, e in errors.get(row.name, {}).items()
            },
            "error_versus_time": [dict(zip(point, c, strict=True)) for c in curves.get(row.name, [])],
        }
        for row in rows
    ]
    path.write_text(json.dumps({**facts, "rows": entries}, indent=1) + "\n")


DRAWN = (
    ("CasADi ABA Euler", "articulated body, Euler", "#777777", "s--", 0, (-40, 9)),
    ("CasADi ABA RK4", "articulated body, RK4", "#000000", "s--", 2, (-148, -5)),
    ("MuJoCo Euler", "MuJoCo", "#56B4E9", "s--", 0, (-4, 9)),
    ("diffpbd joint_step", "joint_step", "#D55E00", "o-", -1, (-30, -15)),
    ("diffpbd joint_step, order 4", "order 4", "#E69F00", "o-", -1, (7, -3)),
    ("diffpbd joint_step, order 6", "order 6", "#CC79A7", "o-", -1, (7, -3)),
    ("diffpbd step_variational_direct", "step, variational", "#0072B2", "o-", -1, (7, -4)),
    ("diffpbd step_paper_gauss_seidel", "Algorithm 1", "#009E73", "o-", -1, (-10, 9)),
)
"""Rows of the figure by the start of their name: label, colour (Okabe and Ito's), form; at which point the label stands, and
how far from it. Peers are shown with our instructions."""


def plot(path: Path, curves: Curves) -> None:
    """Error after the longest of TIMES over computing time per simulated second, a few rows, each with its label beside it."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(9, 6), layout="constrained")
    for name, label, colour, form, at, off in DRAWN:
        exact = [n for n in curves if n == name or n.startswith(f"{name} x ")]
        points = next((curves[n] for n in [f"{name}, AVX2 + FMA", *exact] if curves.get(n)), [])
        if not points:
            continue
        x, y = [c[1] / 1e3 for c in points], [c[2] for c in points]
        axes.loglog(x, y, form, color=colour, lw=2, ms=5)
        axes.annotate(label, (x[at], y[at]), xytext=off, textcoords="offset points", color=colour, fontsize=10)
    axes.set_xlabel("computing time per simulated second [ms], steps of 20 to 1 ms")
    axes.set_ylabel(f"joint-angle error after {max(TIMES):g} s of free swing [rad]")
    axes.margins(x=0.16)
    axes.grid(True, which="major", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)
    pyplot.close(figure)
