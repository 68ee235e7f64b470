"""Kernels of many contacts as C: a loop over a table that calls the kernel of each one's kind (`graph/model/alike.py`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from diffpbd.codegen.emit.text.c_writer import Kernel
from diffpbd.codegen.graph.model.alike import Kind

NAMES: Final = ("touch_start", "touch", "directions", "touch_slopes", "touch_curvature", "touch_parameters", "slid")
"""Kernels of contacts; a kind's have its number behind the name."""
PLACES: Final = {
    **dict.fromkeys(("gap", "gap_bar", "sign"), "k"),
    **dict.fromkeys(("J", "first", "last", "slopes", "S0", "S1", "R1"), "N * touch_row[k]"),
    **dict.fromkeys(("push", "push_rate", "slid_bar", "rates_bar", "rates"), "touch_row[k]"),
    "law_bar": "LAW * k", "frames": "9 * k", "numbers_bar": "MOST_NUMBERS * k",
}  # fmt: skip
"""Where a contact's part of an argument begins; others are of all contacts."""


def texts(kinds: Sequence[Kind], kernels: Mapping[str, Kernel]) -> list[str]:
    """The kernels of all contacts; `kernels` has those of the kinds by name."""
    return [_loop(name, kinds, kernels) for name in NAMES if f"{name}_0" in kernels]


def operations(kinds: Sequence[Kind], kernels: Mapping[str, Kernel]) -> dict[str, int]:
    """Operations of the kernels of all contacts."""
    return {
        name: sum(len(kind.members) * kernels[f"{name}_{k}"].operations for k, kind in enumerate(kinds))
        for name in NAMES
        if f"{name}_0" in kernels
    }


def table(kinds: Sequence[Kind]) -> list[int]:
    """The kind of every contact."""
    found = {member: k for k, kind in enumerate(kinds) for member in kind.members}
    return [found[member] for member in sorted(found)]


def _loop(name: str, kinds: Sequence[Kind], kernels: Mapping[str, Kernel]) -> str:
    one = kernels[f"{name}_0"]
    given = [k for k in one.inputs if k != "numbers"]
    found = [k for k in one.outputs if k != "numbers_bar"]
    formals = [f"const double *restrict {k}" for k in given] + [f"double *restrict {k}" for k in (*found, "w")]
    actuals = ", ".join(
        "model + NUMBERS + MOST_NUMBERS * k" if k == "numbers" else f"{k} + {PLACES[k]}" if k in PLACES else k
        for k in (*one.inputs, *one.outputs, "w")
    )
    lines = [f"static void {name}_kernel({', '.join(formals)}) {{", "  int k;"]
    bars = "numbers_bar" in one.outputs
    if bars:
        lines.insert(1, "  double numbers_bar[MOST_NUMBERS * CONTACTS] = {0.0};")
    for shared in ("C0", "C1"):
        lines += [f"  memset({shared}, 0, N * N * sizeof(double));"] * (shared in found)
    for rows in ("S0", "S1", "R1"):
        lines += [f"  memset({rows}, 0, N * TOUCHES * sizeof(double));"] * (rows in found)
    lines += ["  for (k = 0; k < CONTACTS; k++) {", "    switch (touch_kind[k]) {"]
    for k in range(len(kinds)):
        label = f"case {k}" if k + 1 < len(kinds) else "default"
        lines += [f"      {label}: {name}_{k}_kernel({actuals}); break;"]
    lines += ["    }", "  }"]
    if bars:
        lines.append("  numbers_parameters_kernel(numbers_bar, alpha, alpha_bar, w);")
    return "\n".join([*lines, "}\n"])
