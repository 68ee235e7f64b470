"""One self-contained HTML page about an identification: tables and figures, nothing loaded from elsewhere."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from importlib import resources
from string import Template

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.origin import origin
from diffpbd.runtime.identify.result.result import Errors, Identification, Trace
from diffpbd.runtime.report.figures import MEASURED, PREDICTED
from diffpbd.runtime.report.identification_text import at_bound
from diffpbd.runtime.report.svg import Curve, bars, lines
from diffpbd.runtime.report.tables import number

__all__ = ["page"]

LONGEST_LAG = 3.0
"""[s] Longest lag in the figures of autocorrelation: several times what filtered residuals remember."""
BINS = 41
"""[1] Bars of a histogram, an odd number so that one is centred at zero."""
PARTS = 60
"""[1] Parts of the range in the figures over position and speed."""
SPREAD = 4.0
"""[1] A histogram reaches to so many standard deviations."""


def page(result: Identification) -> str:
    """The page."""
    train, held = result.train, result.validate
    judged = [(j, joint) for j, joint in enumerate(result.joints) if joint in result.judged]
    shown = held.traces[0] if held is not None else train.traces[0]
    kind = "a recording not used for the fit" if held is not None else "a recording of the fit: no other was given"
    template = Template(
        resources.files("diffpbd.runtime.report").joinpath("identification.html").read_text(encoding="utf-8")
    )
    return template.substitute(
        robot=html.escape(result.robot),
        origin=html.escape(origin()),
        status=html.escape(result.status),
        iterations=result.iterations,
        processing=html.escape(result.processing.describe()),
        rank=result.rank,
        unknowns=result.unknowns,
        condition=f"{result.condition:.3g}",
        window=f"{result.window:.2g}",
        notes="".join(f'<p class="note">{html.escape(note[:1].upper() + note[1:])}</p>' for note in result.notes),
        parameters=_parameters(result),
        lost=_lost(result) + _base(result) + _essential(result),
        correlations=_correlations(result),
        errors=_errors(result.judged, train, held, result.left_out),
        recordings=_recordings(train, held),
        shown=f"{html.escape(shown.name)}, {kind}",
        compared=result.compared,
        torques="".join(_torque(joint, f"{result.compared} [{result.efforts[j]}]", j, shown) for j, joint in judged),
        residuals="".join(_residual(joint, result.efforts[j], j, train.traces) for j, joint in judged),
    )


def tables(result: Identification) -> str:
    """Parameters and errors by joint as HTML, for a notebook."""
    lost = (
        f"<p>Not identifiable: {html.escape(', '.join(item.name for item in result.lost))}.</p>" if result.lost else ""
    )
    return _parameters(result) + lost + _errors(result.joints, result.train, result.validate, result.left_out)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def _parameters(result: Identification) -> str:
    rows = [
        [e.name, number(e.value), number(e.std, 2), e.unit, at_bound(e, result.estimates)] for e in result.estimates
    ]
    return _table(["parameter", "value", "standard deviation", "unit", ""], rows)


def _lost(result: Identification) -> str:
    if not result.lost:
        return "<p>Nothing: the recordings determine every parameter that was fitted.</p>"
    return _table(["parameter", "reason"], [[item.name, item.reason] for item in result.lost])


def _base(result: Identification) -> str:
    """Combinations of inertial parameters that are determined."""
    if not result.base:
        return ""
    rows = [[e.name, number(e.value, 5), number(e.std, 2), e.unit] for e in result.base]
    header = ["combination (I about the link origin)", "value", "standard deviation by the recordings alone", "unit"]
    return f"<h2>{len(rows)} base parameters</h2>" + _table(header, rows)


def _essential(result: Identification) -> str:
    """The base parameters that matter, where they were sought."""
    own = result.essential
    if own is None:
        return ""
    rows = [[e.name, number(e.value, 5), number(e.std, 2), e.unit] for e in own.kept]
    errors = [[joint, *(number(value, 3) for value in both)] for joint, both in own.errors.items()]
    count = len(own.kept) + len(own.dropped)
    text = f"<h2>{len(own.kept)} of {count} parameters are essential</h2>"
    text += _table(["parameter", "value, without the others", "standard deviation", "unit"], rows)
    if own.dropped:
        text += f"<p>Without the others F = {own.statistic:.3g}, {own.quantile:.3g} allowed (level 5 %).</p>"
    return text + _table(["joint", f"RMSE on {own.held}, all", "essential"], errors)


def _correlations(result: Identification) -> str:
    if not result.correlations:
        return ""
    rows = [[c.first, c.second, f"{c.value:.4f}"] for c in result.correlations]
    return "<h2>Nearly collinear parameters</h2>" + _table(["parameter", "and", "correlation"], rows)


def _errors(joints: Sequence[str], train: Errors, held: Errors | None, left_out: Mapping[str, float] | None) -> str:
    header = ["joint", "fit: RMSE", "bias", "about the bias"]
    rows = [[j, number(train.rmse[j], 3), number(train.bias[j], 2), number(train.centred[j], 3)] for j in joints]
    if held is not None:
        header += ["validation: RMSE", "bias", "about the bias"]
        for row, j in zip(rows, joints, strict=True):
            row += [number(held.rmse[j], 3), number(held.bias[j], 2), number(held.centred[j], 3)]
    if left_out is not None:
        header.append("each left out: mean RMSE")
        for row, j in zip(rows, joints, strict=True):
            row.append(number(left_out[j], 3))
    return _table(header, rows)


def _recordings(train: Errors, held: Errors | None) -> str:
    rows = []
    for use, errors in (("fit", train), ("validation", held)):
        for trace in errors.traces if errors is not None else ():
            step = float(np.median(np.diff(trace.time)))
            rows.append([trace.name, use, str(len(trace.time)), f"{1.0 / step:.6g}", f"{len(trace.time) * step:.4g}"])
    return _table(["recording", "used for", "samples", "rate [Hz]", "length [s]"], rows)


def _torque(joint: str, what: str, j: int, trace: Trace) -> str:
    curves = [
        Curve(trace.time, trace.measured[:, j], MEASURED),
        Curve(trace.time, trace.predicted[:, j], PREDICTED),
    ]
    figure = lines(curves, "time [s]", what)
    return f"<figure><figcaption>{html.escape(joint)}</figcaption>{figure}</figure>"


def _over(values: FloatArray, residuals: FloatArray) -> list[Curve]:
    """Mean of the residuals, and mean ± deviation, in parts of equal count over what they may depend on."""
    parts = np.array_split(np.argsort(values, kind="stable"), min(PARTS, len(values)))
    middle = np.array([values[part].mean() for part in parts])
    mean, spread = (np.array([f(residuals[part]) for part in parts]) for f in (np.mean, np.std))
    return [Curve(middle, mean + side * spread, colour) for side, colour in ((-1, "#bbb"), (1, "#bbb"), (0, PREDICTED))]


def _residual(joint: str, unit: str, j: int, traces: Sequence[Trace]) -> str:
    """Distribution and autocorrelation of a joint's residuals, and their mean over position and speed."""
    motion = "rad" if unit in ("N·m", "rad") else "m"
    residuals = [t.measured[:, j] - t.predicted[:, j] for t in traces]
    together = np.concatenate(residuals)
    spread = float(together.std()) or 1.0
    edges = np.linspace(-SPREAD, SPREAD, BINS + 1) * spread
    counts, _ = np.histogram(together, edges)
    middle = 0.5 * (edges[1:] + edges[:-1])
    density = counts / (len(together) * (edges[1] - edges[0]))
    normal = np.exp(-0.5 * (middle / spread) ** 2) / (spread * np.sqrt(2.0 * np.pi))
    step = float(np.median(np.diff(traces[0].time)))
    count = min(int(LONGEST_LAG / step), min(len(r) for r in residuals) // 2)
    lags = np.arange(count + 1, dtype=np.float64) * step
    figures: tuple[str, ...] = (
        bars(middle, density, Curve(middle, np.asarray(normal), PREDICTED), f"residual [{unit}]", "density"),
        lines([Curve(lags, _autocorrelation(residuals, count), "#2c3e50")], "lag [s]", "autocorrelation", width=460),
    )
    for what, values in (
        (f"position [{motion}]", [t.q for t in traces]),
        (f"speed [{motion}/s]", [t.dq for t in traces]),
    ):
        over = _over(np.concatenate([v[:, j] for v in values]), together)
        figures += (lines(over, what, f"residual [{unit}]", width=460),)
    body = "".join(f"<figure>{figure}</figure>" for figure in figures)
    return f'<figcaption>{html.escape(joint)}</figcaption><div class="row">{body}</div>'


def _autocorrelation(series: Sequence[FloatArray], count: int) -> FloatArray:
    total = np.zeros(count + 1)
    for values in series:
        centred = values - values.mean()
        spectrum = np.fft.rfft(centred, 1 << (2 * len(values) - 1).bit_length())
        total += np.fft.irfft(np.abs(spectrum) ** 2)[: count + 1]
    return np.asarray(total / total[0] if total[0] > 0.0 else total, dtype=np.float64)
