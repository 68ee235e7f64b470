"""Emission of formulas for one row and, over templates/base/lanes.h, for several rows of a batch in vector lanes."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Final

from diffpbd.codegen.emit.emission.model_header import Table, Value, add_source_model
from diffpbd.codegen.emit.emission.paths import add_lanes
from diffpbd.codegen.emit.emission.sources import Emission, add_leaves
from diffpbd.codegen.emit.text.c_writer import Kernel
from diffpbd.codegen.graph.functions.derivatives import RowSpec, Spec
from diffpbd.runtime.folder.manifest import Function

NAMES: Final = frozenset({
    "inverse_dynamics", "forward_dynamics", "jac_inverse_dynamics", "jac_forward_dynamics", "mass_matrix", "gravity",
    "tip_pose", "tip_jacobian",
})  # fmt: skip
"""Those with lanes; p is the first input, and alpha, which all rows share, the last."""
ROWS: Final = 4
"""Largest number of lanes; 8 with AVX-512 took 0.89 to 0.94 of the time, but 4 s more to compile an arm."""


def add_formulas(
    emission: Emission, deep: bool, graphs: Container[str], *groups: Sequence[Spec | RowSpec]
) -> Iterator[list[Spec | RowSpec]]:
    """src/formulas.c for one row, files of lanes for several; formulas_model.h has the kernels of both. Gives what is left of
    the groups; of a `deep` tree that is all.

    Lanes do not fuse products and sums, for 2 to 15 % of their time: a batch has the bits of its rows."""
    specs = [s for group in groups for s in group if isinstance(s, Spec) and s.name in NAMES and not deep]
    if specs:
        _add(emission, specs, graphs)
    return ([s for s in group if not any(s is one for one in specs)] for group in groups)


def _add(emission: Emission, specs: Sequence[Spec], graphs: Container[str]) -> None:
    entries = add_leaves(emission, "src/formulas.c", specs, graphs, model="formulas_model.h", lanes=ROWS)
    functions = [emission.known(spec.name) for spec in specs]
    tables: dict[str, Table] = {}
    listed, adapters = [], []
    for f, entry in zip(functions, entries, strict=True):
        given, found = ([a.size() for a in side] for side in (f.inputs[:-1], f.outputs))
        tables[f"{f.name}_size"] = ("int", [*given, *found])
        listed.append(f"_({f.name}, {len(given)}, {len(found)}, {sum(given)}, {sum(found)})")
        adapters.append(_adapter(f, entry.kernel))
        emission.lanes.append(f"_({f.name}, {len(given)}, 1, lanes4)")
    values: Mapping[str, Value | bool] = {
        "INPUTS": max(len(f.inputs) for f in functions), "OUTPUTS": max(len(f.outputs) for f in functions),
        "FORMULAS(_)": " ".join(listed),
    }  # fmt: skip
    kernels = "\n".join(
        ('#include "lanes.h"\n', *(e.kernel.text for e in entries), "#ifdef LANES", *adapters, "#endif\n")
    )
    add_source_model(emission, "formulas", values, tables, kernels)
    emission.copy("lanes.h")
    add_lanes(emission, "formula_lanes.h", "formulas", ("lanes2", "lanes4"), fused=False)


def _adapter(f: Function, kernel: Kernel) -> str:
    """The kernel under the signature that all formulas share: inputs but alpha one after another, outputs one after another."""
    actual, at = [], 0
    for argument in f.inputs[:-1]:
        actual.append(f"x + {at}")
        at += argument.size()
    actual.append("alpha")
    at = 0
    for argument in f.outputs:
        actual.append(f"y + {at}")
        at += argument.size()
    return (
        f"static void {f.name}_on_lanes(const V *x, const double *alpha, V *y, V *w) {{\n"
        f"  {kernel.name}({', '.join(actual)}, w);\n}}\n"
    )
