"""The border of the C: header, public functions, common symbols, build files and an example."""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterable, Sequence
from typing import Final

from diffpbd.codegen.emit.emission.model_header import Value, add_source_model
from diffpbd.codegen.emit.emission.sources import Emission
from diffpbd.codegen.emit.tables.enumerators import frames, parameters, statuses
from diffpbd.codegen.emit.text.c_writer import literal
from diffpbd.runtime.folder.manifest import ABI_VERSION, Argument, Function, Joint, Parameter
from diffpbd.runtime.folder.parameter_rules import rules

MOMENTS: Final = 6
"""Most entries of a rule between parameters: a matrix of inertia."""


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


def add_parameters(emission: Emission, alpha: Sequence[Parameter], joints: Sequence[Joint]) -> None:
    """src/parameters.c: parameters with bounds, what judges a vector of them, and limits of joints."""
    every = list(rules([a.name for a in alpha]))
    values: dict[str, Value | bool] = {
        "ALPHA": len(alpha), "RULES": len(every),
        "ALPHA_NAME": _array(f'"{a.name}"' for a in alpha), "ALPHA_DEFAULT": _array(literal(a.default) for a in alpha),
        **{f"ALPHA_{side.upper()}": _limits(alpha, side) for side in ("lower", "upper")},
        "JOINT_NAME": _array(f'"{j.name}"' for j in joints),
        **{f"JOINT_{side.upper()}": _limits(joints, side) for side in ("lower", "upper", "velocity", "effort")},
    }  # fmt: skip
    table = [k for rule in every for k in (int(rule.fault), *rule.entries, *(-1,) * (MOMENTS - len(rule.entries)))]
    add_source_model(emission, "parameters", values, {"rules": ("int", table)}, "")
    emission.copy("parameters.c")


def _array(entries: Iterable[str]) -> str:
    return f"{{{', '.join(entries)}}}"


def _limits(of: Sequence[Parameter] | Sequence[Joint], side: str) -> str:
    """Each one's `side`; one without has the largest number, since not every compiler takes an infinite constant."""
    none = "-DBL_MAX" if side == "lower" else "DBL_MAX"
    values = (getattr(one, side) for one in of)
    return _array(none if value is None else literal(value) for value in values)


def add_header(
    emission: Emission, joints: Sequence[str], alpha: Sequence[Parameter], least_step: str = "1e-9 s"
) -> None:
    """The header of all functions that are declared so far, at the end with the hash of the code; `least_step` is that of
    its precision."""
    emission.add(
        f"{emission.robot}.h", "header.h", joints=joints, alpha=parameters(alpha), functions=emission.functions,
        statuses=[(k, name, said.replace("1e-9 s", least_step)) for k, name, said in statuses(emission.functions)],
        frames=frames(emission.frames), abi=ABI_VERSION, hash=emission.hash,
    )  # fmt: skip


def add_frame(
    emission: Emission, joints: Sequence[str], limits: Sequence[Joint], alpha: Sequence[Parameter], h: float,
    start: Sequence[float],
) -> None:  # fmt: skip
    """Header, common symbols, build files, and an example that steps from `start`; the hash of all C text, which the
    library will report, is known then."""
    add_entries(emission, {f.name for f in emission.dispatched})
    add_parameters(emission, alpha, limits)
    emission.copy("common.c")
    sources = sorted(p for p in emission.files if p.endswith(".c"))
    add_header(emission, joints, alpha)
    digest = hashlib.sha256()
    for path in sorted(emission.files):
        digest.update(f"{path}\n{emission.files[path]}\n".encode())
    emission.hash = digest.hexdigest()
    add_header(emission, joints, alpha)
    most = max(max(len(f.inputs), len(f.outputs)) for f in emission.functions)
    emission.add(
        "src/common_model.h", "source_model.h", source="common", kernels="",
        values={
            "HASH": f'"{emission.hash}"', "ABI": ABI_VERSION, "MOST_ARGUMENTS": most,
            "SIDE_BY_SIDE(_)": " ".join(emission.lanes),
        },
        tables={"signatures": ("char *const", [f'"{f.signature}"' for f in emission.functions])},
    )  # fmt: skip
    stepping = any(f.name == "joint_step" for f in emission.functions)
    emission.add("main.c", "main.c", h=literal(h), stepping=stepping, start=[literal(x) for x in start])
    emission.add("Makefile", "Makefile", sources=sources)
    emission.add("CMakeLists.txt", "CMakeLists.txt", sources=sources)
