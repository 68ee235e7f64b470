"""An identification as text for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from diffpbd.runtime.functions.friction import mean_of
from diffpbd.runtime.identify.result.result import COMBINATION, Essential, Estimate, Identification
from diffpbd.runtime.report.tables import number, table

__all__ = ["at_bound", "summary"]

MOST_LINES = 6  # parameters that only combinations determine and that are explained one by one


def summary(result: Identification) -> str:
    """The result for people."""
    lines = [
        f"\nSolver: {result.status}, {result.iterations} iterations.",
        f"Processing: {result.processing.describe()}.",
    ]
    lines += [f"Note: {note}" for note in result.notes]
    rows = [
        [e.name, number(e.value), number(e.std, 2), e.unit, at_bound(e, result.estimates)] for e in result.estimates
    ]
    lines += ["", table(["parameter", "value", "std", "unit", ""], rows)]
    lines.append(
        f"\nRank {result.rank} of {result.unknowns}, condition {result.condition:.3g} (normalised columns). Standard "
        f"deviations allow for residuals correlated over up to {result.window:.2g} s."
    )
    if result.correlations:
        lines += ["\nNearly collinear:"]
        lines += [f"  {c.first} and {c.second}: correlation {c.value:.4f}" for c in result.correlations]
    if result.base:
        lines += [
            f"\n{len(result.base)} base parameters: combinations that the recordings determine, each named by one of its "
            "terms (I about the link origin; std without the prior):"
        ]
        lines += [f"{number(e.value, 5):>12} ± {number(e.std, 2):<8} {e.unit:<6} {e.name}" for e in result.base]
    if result.essential is not None:
        lines += _essential(result.essential)
    if result.lost:
        lines += ["\nNot identifiable:", *_lost(result)]
    lines += ["", _errors(result)]
    if result.generate is not None:
        lines += [
            f"\nThe robot's code has not all of these as parameters; to use these: {result.generate}",
            "(beside what it was generated with: its file, base, tips and other options).",
        ]
    return "\n".join(lines)


def _essential(own: Essential) -> list[str]:
    total = len(own.kept) + len(own.dropped)
    lines = [f"\nEssential: {len(own.kept)} of {total} parameters, fitted without the others and without the prior:"]
    lines += [f"{number(e.value, 5):>12} ± {number(e.std, 2):<8} {e.unit:<9} {e.name}" for e in own.kept]
    if own.dropped:
        lines.append(f"Without {len(own.dropped)}: F = {own.statistic:.3g}, {own.quantile:.3g} allowed (level 5 %).")
    rows = [[joint, *(number(value, 3) for value in both)] for joint, both in own.errors.items()]
    return [*lines, table(["joint", f"RMSE on {own.held}, all", "essential"], rows)]


def at_bound(e: Estimate, estimates: Sequence[Estimate]) -> str:
    """Which bound a parameter is on; of friction in both directions, in which there is none."""
    if not e.bound:
        return ""
    fitted = {other.name for other in estimates if other.std is not None or other.bound}
    if mean_of(e.name) in fitted:
        return "none in the negative direction"
    if any(mean_of(name) == e.name for name in fitted):
        return "none in the positive direction"
    return f"at its {e.bound} bound"


def _lost(result: Identification) -> list[str]:
    """A line each; of many that only combinations determine, their names: the base parameters say which."""
    combined = [item for item in result.lost if item.reason.startswith(COMBINATION)]
    many = len(combined) > MOST_LINES and bool(result.base)
    lines = [f"  {item.name}: {item.reason}" for item in result.lost if not (many and item in combined)]
    if many:
        lines.append(f"  {COMBINATION} (see the base parameters): {', '.join(item.name for item in combined)}")
    return lines


def _errors(result: Identification) -> str:
    joints, train, held = result.judged, result.train, result.validate
    header = ["joint", "train RMSE", f"of RMS {result.compared}", "R²", "bias"]
    shares = train.shares
    rows = [
        [j, number(train.rmse[j], 3), f"{100.0 * shares[j][0]:.3g} %", f"{shares[j][1]:.4g}", number(train.bias[j], 2)]
        for j in joints
    ]
    if held is not None:
        header += ["validate RMSE", "bias", "about the bias"]
        for row, j in zip(rows, joints, strict=True):
            row += [number(held.rmse[j], 3), number(held.bias[j], 2), number(held.centred[j], 3)]
    if result.left_out is not None:
        header.append("leave one out")
        for row, j in zip(rows, joints, strict=True):
            row.append(number(result.left_out[j], 3))
    return table(header, rows)
