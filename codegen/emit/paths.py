"""Sources that are compiled for several instruction sets."""

from __future__ import annotations

from typing import Final

from diffpbd.codegen.emit.sources import Emission

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
) -> None:
    """src/<path>: the text of `source` once more, for processors that have all of `words`; `loops` are unrolled. `where`: the
    macro of templates/paths.h that is defined for them."""
    emission.add(
        f"src/{path}", "path.c",
        source=source, words=words[0], target=words[1], defined=defined, loops=loops, where=where,
    )  # fmt: skip


def add_second_path(emission: Emission, name: str, loops: bool = False) -> None:
    """src/<name>.c a second time, one state still; dispatch.c chooses. With `loops`, short ones take its time."""
    add_path(emission, f"{name}_v3.c", f"{name}.c", V3_OR_NEON, {"FOR_V3": ""}, loops, "DISPATCHED")


WRITTEN: Final = frozenset({"sign", "equal", "different", "less", "at_most", "both", "either", "where"})
"""Functions of lanes.h that are no function of the C library applied to each lane."""
