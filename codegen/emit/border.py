"""The border of the C: header, public functions, common symbols, build files and an example."""

from __future__ import annotations

import hashlib
from collections.abc import Container, Sequence

from diffpbd.codegen.emit.c_writer import literal
from diffpbd.codegen.emit.enumerators import frames, parameters, statuses
from diffpbd.codegen.emit.sources import Emission
from diffpbd.runtime.folder.manifest import ABI_VERSION, Argument, Function, Parameter


def add_entries(emission: Emission, dispatched: Container[str] = ()) -> None:
    """src/entries.c: the public functions of all that is declared, which choose the instruction set in use where they are
    `dispatched` and end in a status where a result is not finite."""
    functions = [_entry(f, f.name in dispatched) for f in emission.functions]
    emission.add("src/entries.c", "entries.c", functions=functions, several=any(f["several"] for f in functions))
    emission.copy("finite.h")


def _entry(f: Function, several: bool) -> dict[str, object]:
    """A function as the template takes it."""
    return {"name": f.name, "symbol": f.symbol, "rollout": f.rollout, "several": several, "sizes": _sizes(f.outputs)}


def _sizes(outputs: Sequence[Argument]) -> list[str]:
    """How many numbers every output has: a fixed part, and that of each step."""
    return [f"{{{a.size(0)}, {a.size(1) - a.size(0)}}}" for a in outputs]


def add_header(emission: Emission, joints: Sequence[str], alpha: Sequence[Parameter]) -> list[dict[str, str]]:
    """The header of all functions that are declared so far; returns the parameters as templates take them."""
    numbers = parameters(alpha)
    emission.add(
        f"{emission.robot}.h", "header.h", joints=joints, alpha=numbers, functions=emission.functions,
        statuses=statuses(emission.functions), frames=frames(emission.frames),
    )  # fmt: skip
    return numbers


def add_frame(
    emission: Emission, joints: Sequence[str], alpha: Sequence[Parameter], work: int, h: float, start: Sequence[float]
) -> str:
    """Header, common symbols, build files, and an example that steps from `start`; returns the hash of all C text, which
    the library will report."""
    add_entries(emission, {f.name for f in emission.dispatched})
    emission.copy("common.c")
    sources = sorted(p for p in emission.files if p.endswith(".c"))
    numbers = add_header(emission, joints, alpha)
    digest = hashlib.sha256()
    for path in sorted(emission.files):
        digest.update(f"{path}\n{emission.files[path]}\n".encode())
    abi_hash = digest.hexdigest()
    most = max(max(len(f.inputs), len(f.outputs)) for f in emission.functions)
    emission.add(
        "src/common_model.h", "source_model.h", source="common", kernels="",
        values={
            "HASH": f'"{abi_hash}"', "ABI": ABI_VERSION, "MOST_ARGUMENTS": most, "SIDE_BY_SIDE(_)": " ".join(emission.lanes),
        },
        tables={
            "alpha_default": ("double", [a["default"] for a in numbers]),
            "signatures": ("char *const", [f'"{f.signature}"' for f in emission.functions]),
        },
    )  # fmt: skip
    stepping = any(f.name == "joint_step" for f in emission.functions)
    gravity = emission.known("gravity")
    emission.add(
        "main.c", "main.c", h=literal(h), stepping=stepping, start=[literal(x) for x in start],
        work=max(1, work if stepping else gravity.work_size or 0),
    )  # fmt: skip
    emission.add("Makefile", "Makefile", sources=sources)
    emission.add("CMakeLists.txt", "CMakeLists.txt", sources=sources)
    return abi_hash
