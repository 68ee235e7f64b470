"""Sources that are compiled for several instruction sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from diffpbd.codegen.emit.emission.sources import Emission
from diffpbd.codegen.emit.text.c_writer import MOST_LANES

V3: Final = ("AVX2 and FMA (x86-64-v3)", "avx2,fma")
NEON: Final = ("NEON (aarch64)", "")
V3_OR_NEON: Final = (f"{V3[0]}, or {NEON[0]}", V3[1])
V4: Final = ("AVX-512F and VL (x86-64-v4)", "avx512f,avx512vl,avx2,fma")


def add_path(
    emission: Emission,
    path: str,
    source: str,
    words: tuple[str, str],
    defined: dict[str, str],
    loops: bool = False,
    where: str = "ON_X86",
    fused: bool = True,
) -> None:
    """src/<path>: the text of `source` once more, for processors that have all of `words`; `loops` are unrolled. `where`: the
    macro of templates/base/paths.h that is defined for them. `fused`: products and sums are rounded once."""
    emission.add(
        f"src/{path}", "path.c",
        source=source, words=words[0], target=words[1], defined=defined, loops=loops, where=where,
        fused=fused,
    )  # fmt: skip


def add_second_path(emission: Emission, name: str, loops: bool = False) -> None:
    """src/<name>.c a second time, one state still; entries.c chooses. With `loops`, short ones take its time."""
    add_path(emission, f"{name}_v3.c", f"{name}.c", V3_OR_NEON, {"FOR_V3": ""}, loops, "DISPATCHED")


LANES: Final = {"lanes2": (2, NEON), "lanes4": (4, V3), "lanes4_v4": (4, V4), "lanes8": (MOST_LANES, V4)}
"""Rows side by side: 4, 4 with twice as many registers (AVX-512), 8, and the 2 of NEON."""


def add_lanes(
    emission: Emission, source: str, stem: str, names: Sequence[str], alone: str = "", fused: bool = True
) -> None:
    """src/<stem>_<name>.c for these of `LANES`: `source` and its functions under the ending <name>. `alone` is defined for the
    most lanes; `fused` as of `add_path`."""
    emission.copy(source)
    for name in names:
        count, words = LANES[name]
        defined = {"LANES": str(count), "MANY(name)": f"name##_{name}"}
        if alone and count == MOST_LANES:
            defined[alone] = ""
        where = "ON_ARM" if words is NEON else "ON_X86"
        add_path(emission, f"{stem}_{name}.c", source, words, defined, where=where, fused=fused)


WRITTEN: Final = frozenset({"sign", "equal", "different", "less", "at_most", "both", "either", "where"})
"""Functions of lanes.h that are no function of the C library applied to each lane."""
