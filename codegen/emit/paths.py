"""Sources that are compiled for several instruction sets, and rows of a batch side by side in their vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from diffpbd.codegen.emit.c_writer import LANES as EACH
from diffpbd.codegen.emit.constants import IN_C
from diffpbd.codegen.emit.kinds import COULOMB, FRICTION, PLAIN_FRICTION, starts
from diffpbd.codegen.emit.sources import Emission
from diffpbd.codegen.emit.step_kernels import MOST_LANES, StepKernels
from diffpbd.runtime.manifest import Parameter

V3: Final = ("AVX2 and FMA (x86-64-v3)", "avx2,fma")
V4: Final = ("AVX-512F (x86-64-v4)", "avx512f,avx2,fma")


def _add_path(
    emission: Emission, path: str, source: str, words: tuple[str, str], defined: dict[str, str], loops: bool = False
) -> None:
    """src/<path>: the text of `source` once more, for processors that have all of `words`; `loops` are unrolled."""
    emission.add(f"src/{path}", "path.c", source=source, words=words[0], target=words[1], defined=defined, loops=loops)


def add_second_path(emission: Emission, name: str, loops: bool = False) -> None:
    """src/<name>.c a second time, one state still; dispatch.c chooses. With `loops`, short ones take its time."""
    _add_path(emission, f"{name}_v3.c", f"{name}.c", V3, {"FOR_V3": ""}, loops)


def add_lanes(emission: Emission, kernels: StepKernels, n: int, links: int, alpha: Sequence[Parameter]) -> None:
    """The step and its derivatives for rows side by side: text over V, a file for 4 lanes and one for 8."""
    coulomb, *more_coulomb = starts(alpha, COULOMB)
    names = sorted({text[5 : text.index("(")] for text in EACH.values()} - WRITTEN)
    two = [name for name in names if f"each_{name}({{0}},{{1}})" in EACH.values()]
    emission.add("src/lanes.h", "lanes.h", one=[name for name in names if name not in two], two=two)
    emission.add(
        "src/joint_step_kernels.h",
        "joint_step_kernels.h",
        step=kernels.step,
        derivatives=kernels.derivatives,
        sixth=kernels.sixth,
    )
    emission.add(
        "src/joint_step_lanes.h", "joint_step_lanes.h",
        alone=emission.known("jac_kicked_step").work_size, n=n, links=links, alpha_size=len(alpha), coulomb=coulomb,
        more_coulomb=more_coulomb, varying=len(starts(alpha, FRICTION)) > PLAIN_FRICTION,
        model_size=kernels.model, record_size=kernels.record, factors_size=kernels.factors, mass_size=kernels.mass,
        kernel_work=kernels.work, sixth=bool(kernels.sixth), **IN_C,
    )  # fmt: skip
    for lanes, words in ((4, V3), (MOST_LANES, V4)):
        defined = {"LANES": str(lanes), "MANY(name)": f"name##_lanes{lanes}"}
        if lanes == MOST_LANES:
            defined["STEP_ALONE"] = ""  # more lanes gain nothing in the derivatives: their values leave the cache
        _add_path(emission, f"joint_step_lanes{lanes}.c", "joint_step_lanes.h", words, defined)
    emission.lanes += ["joint_step", "jac_joint_step", "vjp_joint_step"]


WRITTEN: Final = frozenset({"sign", "equal", "different", "less", "at_most", "both", "either", "where"})
"""Functions of lanes.h that are no function of the C library applied to each lane."""
