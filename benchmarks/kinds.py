"""Tables of `make bench` by kind of processor, and `python -m benchmarks.kinds`, which prints and draws them together.

benchmarks/results/KIND.json holds what a run left: the processor, the path that was dispatched, and of every row the ratios to
the peer of the same run. Ratios compare processors, times do not.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.row import Row
from benchmarks.timing import Timing
from diffpbd.runtime.report.tables import table

RESULTS = Path(__file__).parent / "results"
SHOWN = (
    ("joint_step", "diffpbd joint_step", "step"),
    ("portable", "diffpbd joint_step, portable", "step"),
    ("value + Jacobian", "diffpbd joint_step", "jacobian"),
    ("gradient of 100 steps", "diffpbd joint_step", "gradient"),
    ("one of 256 in lanes", "diffpbd joint_step, one of 256 in lanes", "step"),
    ("its Jacobian", "diffpbd joint_step, one of 256 in lanes", "jacobian"),
    ("order 6", "diffpbd joint_step, order 6", "step"),
    ("RK4, AVX2 + FMA", "CasADi ABA RK4, AVX2 + FMA", "step"),
)
"""What is shown: label, row, key. Each is a ratio to the baseline's function of the same key."""


def write(
    folder: Path, facts: Mapping[str, Any], rows: Sequence[Row], timings: Mapping[str, Mapping[str, Timing]]
) -> Path:
    """KIND.json of this run; replaces that of an earlier one."""
    folder.mkdir(parents=True, exist_ok=True)
    ratios = {r.name: {k: round(t.ratio, 3) for k, t in timings[r.name].items()} for r in rows}
    times = {r.name: {k: round(t.median, 4) for k, t in timings[r.name].items()} for r in rows}
    path = folder / f"{facts['processor']['kind']}.json"
    kept = {name: fact for name, fact in facts.items() if name != "machine"}
    path.write_text(json.dumps({**kept, "ratios": ratios, "us": times}, indent=1) + "\n", encoding="utf-8")
    return path


def read(folder: Path) -> dict[str, dict[str, Any]]:
    """Tables by kind."""
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}


def ratio(found: Mapping[str, Any], row: str, key: str) -> float | None:
    value = found["ratios"].get(row, {}).get(key)
    return None if value is None else float(value)


def lines(tables: Mapping[str, Mapping[str, Any]]) -> list[list[str]]:
    """A line for each of SHOWN, a column for every kind."""
    return [
        [label, *("" if (x := ratio(found, row, key)) is None else f"{x:.2f}" for found in tables.values())]
        for label, row, key in SHOWN
    ]


def plot(path: Path, tables: Mapping[str, Mapping[str, Any]]) -> None:
    """Bars side by side, a colour for every kind."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(9, 4.5), layout="constrained")
    width = 0.8 / len(tables)
    for k, (kind, found) in enumerate(tables.items()):
        values = [ratio(found, row, key) or float("nan") for _, row, key in SHOWN]
        places = [i + (k - (len(tables) - 1) / 2) * width for i in range(len(values))]
        bars = axes.bar(places, values, width, label=kind)
        axes.bar_label(bars, fmt="%.2g", fontsize=8)
    axes.set_xticks(range(len(SHOWN)), [label.replace(" ", "\n", 1) for label, _, _ in SHOWN], fontsize=9)
    axes.set_ylabel("ratio to the peer's function of the same run")
    axes.set_yscale("log")
    axes.legend()
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kinds", description=__doc__)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--plot", type=Path, metavar="FILE")
    options = parser.parse_args()
    tables = read(options.results)
    if not tables:
        raise SystemExit(f"{options.results} holds no table of `make bench` yet.")
    print(table(["ratio to the peer", *tables], lines(tables)))
    for kind, found in tables.items():
        print(
            f"{kind}: {found['processor']['name']}, {found.get('path', 'unknown path')}, {found.get('rounds', '?')} rounds"
        )
    if options.plot:
        plot(options.plot, tables)


if __name__ == "__main__":
    main()
