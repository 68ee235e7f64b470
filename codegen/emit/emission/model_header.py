"""Headers with a robot's data for plain C: src/model.h for every source, src/<source>_model.h for one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from diffpbd.codegen.emit.emission.sources import Emission
from diffpbd.codegen.emit.tables.constants import LAST_OF_FLOATING, STATUS_NAMES
from diffpbd.codegen.emit.text.c_writer import literal
from diffpbd.runtime.folder.manifest import Constant

COMMON = ("sine_series.h", "sine_cosine.h", "paths.h", "on_path.h")
"""Plain C beside model.h that sources include."""

Value = int | str
"""A number as it is, or C text."""
Table = tuple[str, Sequence[Value]]
"""C type and entries."""


def add_model(emission: Emission, constants: Sequence[Constant], floating: bool = False) -> None:
    """src/model.h (names, named numbers, statuses) and what all sources include beside it."""
    numbers = {f"C_{c.name.upper()}": c.value if isinstance(c.value, int) else literal(c.value) for c in constants}
    if floating:
        numbers["C_LAST_CORRECTION"] = literal(LAST_OF_FLOATING)
    emission.add("src/model.h", "model.h", numbers=numbers, statuses=STATUS_NAMES)
    for name in COMMON:
        emission.copy(name)


def add_source_model(
    emission: Emission,
    source: str,
    values: Mapping[str, Value | bool],
    tables: Mapping[str, Table],
    kernels: str,
) -> None:
    """src/<source>_model.h: `values` (sizes, places, which parts exist), `tables` (C type, entries) and kernels' text."""
    emission.add(
        f"src/{source}_model.h",
        "source_model.h",
        source=source,
        values={k: int(v) if isinstance(v, bool) else v for k, v in values.items()},
        tables=tables,
        kernels=kernels,
    )
