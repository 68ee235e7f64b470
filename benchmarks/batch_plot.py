"""The picture of `benchmarks.batch`: steps a second over the size of the batch."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.batch_row import LONG


def plot(source: Path, target: Path) -> None:
    """Two log-log panels, steps and gradients, from the JSON of a run."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    facts = json.loads(source.read_text())
    titles = {"step": "steps", "gradient": f"gradients of {facts['rollout']} steps", LONG: "gradients of 100 steps"}
    titles = {k: v for k, v in titles.items() if any(row["rates"].get(k) for row in facts["rows"])}
    figure, axes = pyplot.subplots(
        1, len(titles), figsize=(5.5 * len(titles), 4.6), layout="constrained", sharey=True, squeeze=False
    )
    axes = axes[0]
    for ax, (kind, title) in zip(axes, titles.items(), strict=True):
        for k, row in enumerate(facts["rows"]):
            rates = row["rates"].get(kind, {})
            if rates:
                sizes = [int(size) for size in rates]
                form = "o-" if row["name"].startswith("diffpbd") else "s--"
                label = f"{row['name']}, {row['precision']}"
                ax.loglog(sizes, list(rates.values()), form, color=f"C{k}", ms=4, label=label)
        ax.set_title(title)
        ax.set_xlabel("batch")
        ax.grid(alpha=0.3)
    axes[0].set_ylabel("steps a second")
    axes[0].legend(
        fontsize=7, loc="upper left", bbox_to_anchor=(0.0, -0.16), ncols=3, frameon=False
    )  # below the curves
    figure.savefig(target, dpi=110, metadata={"Software": None})
    pyplot.close(figure)
