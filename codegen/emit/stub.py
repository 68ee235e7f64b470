"""`runtime/model/robot_functions.pyi`: every function that a robot may have, with its arguments, for editors and type checkers.

Written from `codegen/functions.py` by `python -m diffpbd.codegen.emit.stub`, and the tables of docs/c.md with it; tests hold
both against this.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from diffpbd.codegen.emit.tables.enumerators import status_table
from diffpbd.codegen.functions import FUNCTIONS, Declared, Slot, table
from diffpbd.codegen.graph.functions.catalogue import JOINTS, axes, unit_and_frame
from diffpbd.runtime.folder.manifest import SCALAR, VECTOR

__all__ = ["STUB", "stub"]

STUB: Final = Path(__file__).resolve().parents[2] / "runtime" / "model" / "robot_functions.pyi"
PAGE: Final = STUB.parents[2] / "docs" / "c.md"
OPTIONAL: Final = ("alpha", "h", "p_ref", "frame", "reference")
"""Inputs with a default, as in `runtime/functions/help_text.py`."""
ROLLOUTS: Final = ("rollout", "trajectory", "estimate_torque", "mpc")
"""Begins or ends of the names of functions over many steps."""
WIDTH: Final = 110

HEAD: Final = '''\
"""The generated functions as editors and type checkers see them. A robot has those that it was generated with (`diffpbd info`).

Made from codegen/functions.py by `python -m diffpbd.codegen.emit.stub`. Do not edit.
"""

# mypy: disable-error-code="override"

from typing import NamedTuple, overload

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.functions.function import Function
from diffpbd.runtime.functions.joint_values import JointValues
from diffpbd.runtime.functions.parameters import Alpha
from diffpbd.runtime.functions.rollout import Rollout as _Rollout
from diffpbd.runtime.functions.rollout import RolloutGradient as _RolloutGradient

class Number(float, npt.NDArray[np.float64]):  # type: ignore[misc]
    """A float; of a batch the array (rows,) of them."""

    def __add__(self, other: npt.ArrayLike) -> Number: ...
    def __radd__(self, other: npt.ArrayLike) -> Number: ...
    def __sub__(self, other: npt.ArrayLike) -> Number: ...
    def __rsub__(self, other: npt.ArrayLike) -> Number: ...
    def __mul__(self, other: npt.ArrayLike) -> Number: ...
    def __rmul__(self, other: npt.ArrayLike) -> Number: ...
    def __truediv__(self, other: npt.ArrayLike) -> Number: ...
    def __rtruediv__(self, other: npt.ArrayLike) -> Number: ...
    def __neg__(self) -> Number: ...
    def __abs__(self) -> Number: ...
'''


def stub() -> str:
    """The text of the file."""
    parts = [HEAD]
    for declared in FUNCTIONS.values():
        parts += [*_result(declared), _function(declared)]
    parts.append("class RobotFunctions:\n    " + '"""The attributes of a robot."""\n')
    for declared in FUNCTIONS.values():
        parts.append(f"    {declared.name}: {_class(declared)}\n" + _doc(declared.doc, "    "))
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def _class(declared: Declared) -> str:
    return "".join(word.capitalize() for word in declared.name.split("_"))


def _type(slot: Slot) -> str:
    return "Number" if axes(slot.name, 1) == SCALAR else "FloatArray"


def _result(declared: Declared) -> Iterator[str]:
    """The class of what a function gives, where it is not one array."""
    outputs = declared.outputs
    if len(outputs) == 1:
        return
    name = f"{_class(declared)}Result"
    certain = all(slot.always for slot in outputs)
    if certain:
        lines = [f"class {name}(NamedTuple):"]
        for slot in outputs:
            lines += [f"    {slot.name}: {_type(slot)}", _doc(_words(slot), "    ").rstrip("\n")]
    else:
        base = "FloatArray" if sum(slot.always for slot in outputs) == 1 else "tuple[FloatArray, ...]"
        what = (
            "The array alone, or with more than one output a named tuple of them; which those are depends on the robot."
        )
        lines = [f"class {name}({'npt.NDArray[np.float64]' if base == 'FloatArray' else base}):", _doc(what, "    ")]
        for slot in outputs:
            lines += [
                "    @property",
                f"    def {slot.name}(self) -> {_type(slot)}:",
                _doc(_words(slot), " " * 8).rstrip("\n"),
            ]
    yield "\n".join(lines)


def _function(declared: Declared) -> str:
    single = len(declared.outputs) == 1
    gives = _type(declared.outputs[0]) if single else f"{_class(declared)}Result"
    base = "Function"
    if declared.name.removeprefix("vjp_").startswith(ROLLOUTS):
        base = "_RolloutGradient" if declared.name.startswith("vjp_") else "_Rollout"
    words = [declared.doc, "", *(f"{slot.name}: {_words(slot)}" for slot in declared.inputs), ""]
    words.append("One more axis in front of an argument makes a batch; `threads` splits its rows.")
    lines, doc = [f"class {_class(declared)}({base}):"], _doc("\n".join(words), " " * 8)
    calls = _calls(declared, base)
    for parameters in calls:
        lines += ["    @overload"] if len(calls) > 1 else []
        lines += [f"    def __call__(self, {', '.join(parameters)}) -> {gives}:", doc.rstrip("\n")]
    return "\n".join(lines)


def _calls(declared: Declared, base: str) -> list[list[str]]:
    """Parameters as Python sees the call. Where inputs follow one with a default there are two ways: those by name, or all by
    position. Seeds of a rollout may be missing."""
    seeds = base == "_RolloutGradient"
    last = ["threads: int = 1", *(["segment: int | None = None"] if seeds else [])]
    optional = [
        slot.name in OPTIONAL or not slot.always or (seeds and slot.name.endswith("_bar")) for slot in declared.inputs
    ]
    kinds = [
        f"{slot.name}: {_taken(slot.name)}{' | None' if may else ''}"
        for slot, may in zip(declared.inputs, optional, strict=True)
    ]
    with_defaults = [f"{kind} = None" if may else kind for kind, may in zip(kinds, optional, strict=True)]
    needed = [k for k, may in enumerate(optional) if not may]
    first = optional.index(True) if True in optional else len(kinds)
    if not needed or needed[-1] < first:
        return [[*with_defaults, "*", *last]]
    apart = next(k for k in needed if k > first)
    ends = needed[-1] + 1
    return [
        [*with_defaults[:apart], "*", *with_defaults[apart:], *last],
        [*kinds[:ends], *with_defaults[ends:], "*", *last],
    ]


def _taken(name: str) -> str:
    """The type of an input; what has a number for every joint may be given by their names."""
    if name == "alpha":
        return "Alpha"
    by_name = axes(name, 1) == VECTOR and not name.endswith("_bar") and unit_and_frame(name)[1].startswith(JOINTS)
    return "JointValues" if by_name and name == name.lower() else "npt.ArrayLike"


def _words(slot: Slot) -> str:
    """Unit and frame."""
    if slot.name == "alpha":
        return "a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults"
    unit, frame = unit_and_frame(slot.name)
    return f"[{unit}]" + (f" {frame}" if frame else "")


def _doc(text: str, indent: str) -> str:
    lines = [row for line in text.split("\n") for row in textwrap.wrap(line, WIDTH) or [""]]
    if len(lines) == 1 and len(lines[0]) < WIDTH:
        return f'{indent}"""{lines[0]}"""\n'
    return (
        "\n".join([f'{indent}"""{lines[0]}', *(f"{indent}{line}".rstrip() for line in lines[1:]), f'{indent}"""'])
        + "\n"
    )


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    for written in (table(), status_table()):
        before, _, after = page.partition(written.split("\n")[0])
        page = before + written + "\n\n" + after.partition("\n\n")[2]
    PAGE.write_text(page, encoding="utf-8")
