"""Emission of float/: a folder's C once more in single precision (`--single`), for processors whose unit computes in it alone.

The text is that of the double sources with other words: the type, the ends of numbers, names of libm, and what is exported,
`<robot>_single_...`, so that a program may link both. Tolerances that depend on rounding are in `TOLERANCES`; sine and
cosine have their own series.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from diffpbd.codegen.emit.border import add_entries, add_header
from diffpbd.codegen.emit.emission.sources import Emission
from diffpbd.codegen.emit.tables.constants import STATUS_NAMES
from diffpbd.codegen.emit.text.c_writer import literal
from diffpbd.codegen.emit.text.environment import plain
from diffpbd.codegen.graph.functions.capabilities import Capabilities
from diffpbd.codegen.graph.model.model import Model
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.folder.manifest import Constant, Parameter, family

FOLDER: Final = "float"
LEAST_STEP: Final = 1e-4
"""[s] Shortest step: rates are then off by 1e-3 rad/s of an angle of 1 rad."""
TOLERANCES: Final[Mapping[str, float]] = {
    "large_angle": 5e3,  # [rad] twelve bits of quarter turns: what is left of an angle has its own rounding alone
    "pose_tolerance": 1e-7,  # [rad or m] one unit of rounding
    "stall": 2e-4,  # [rad or m] what rounding of heavy links makes of a light one's pose behind them
    "last_correction": 1e-5,  # [rad or m]
    "onward_correction": 1e-4,  # [rad or m] its square is below rounding
    "rate_tolerance": 1e-5,  # [1] its square is below rounding
    "least_step": LEAST_STEP,
    "body_rounding": 1e-5,  # [1]
}
"""Constants with another value in single precision."""
SOURCES: Final = ("joint_step", "formulas", "functions", "derivatives", "frames", "entries", "parameters", "common")
"""C files that exist in single precision, with all that they include."""
REFUSED: Final = (
    "step",
    "rollout_step",
    "ik",
    "mpc",
    "damped_hold",
    "estimate_torque",
    "sixth_order_step",
    "sixth_order_rollout",
    "fourth_order_step",
    "fourth_order_rollout",
    "clearance",
    "clearance_points",
)
"""Features without single precision: rows kept to 1e-9 m, cancelling sums, factorisations of ill-conditioned matrices."""
LIBM: Final = (
    "acos", "asin", "atan", "atan2", "cos", "cosh", "exp", "fabs", "floor", "fmax", "fmin", "hypot", "log", "pow", "sin",
    "sinh", "sqrt", "tan", "tanh",
)  # fmt: skip
LEAST, MOST = 2.0**-126, 3.4e38
"""Magnitudes between which a float has all its digits."""

_WORD = re.compile(
    r"(?P<kept>/\*.*?\*/|//[^\n]*|\"[^\"\n]*\"|\#include[^\n]*)"
    r"|(?P<number>(?<![\w.])(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?(?![\w.]))"
    r"|(?P<name>[A-Za-z_]\w*)",
    re.DOTALL,
)


def check_single(model: Model, found: Capabilities) -> None:
    """Refuses features without single precision, by name."""
    reasons = [found.lacking[need] for need in ("open", "unlimited", "free") if need in found.lacking]
    if model.robot.floating:
        reasons.append("a floating base")
    if not found.has("joint_step"):
        reasons.append(found.left_out["joint_step"])
    if reasons:
        raise InputError(
            f"{model.recipe.name}: --single is for open trees on a fixed or planar base, without limits and contacts, "
            f"that step in joint space: here {'; '.join(reasons)}. Leave --single out."
        )


def single(text: str, other: Mapping[str, str] = MappingProxyType({})) -> str:
    """C text over double as text over float; `other` has names and included files that are called something else there."""

    def word(match: re.Match[str]) -> str:
        kept, number, name = match["kept"], match["number"], match["name"]
        if kept is not None and kept.startswith("/"):
            return re.sub(r"\bdouble(s?)\b(?! precision)", r"float\1", kept)
        if kept is not None:
            return other.get(kept, kept)
        if number is not None:
            return _number(number)
        return "float" if name == "double" else f"{name}f" if name in LIBM else other.get(name, name)

    return _WORD.sub(word, text)


def _number(text: str) -> str:
    size = abs(float(text))
    if size > MOST:
        raise ValueError(f"{text} has no single precision")
    return f"{text}f" if size >= LEAST else "0.0f"


def add_single(
    emission: Emission, constants: Sequence[Constant], joints: Sequence[str], alpha: Sequence[Parameter],
) -> list[str]:  # fmt: skip
    """float/ from the emission in double precision; returns missing functions. The model has passed `check_single`."""
    robot, name = emission.robot, f"{emission.robot}_single"
    own = Emission(name, emission.banner, frames=emission.frames, hash=emission.hash)
    kept = [f for f in emission.functions if family(f.name) not in REFUSED]
    own.functions += [dataclasses.replace(f, symbol=f"{name}_{f.name}") for f in kept]
    called = [f"{f.name}{end}" for f in kept for end in ("", "_unjudged", "_work_size")]
    called += ["hash", "alpha_defaults", "alpha_check", "alpha_name"]
    macros = ["ALPHA", "JOINTS", "HASH", *(f"{f.name}_WORK".upper() for f in kept)]
    other = {f"{robot}_{k}": f"{name}_{k}" for k in called}
    other |= {f"{robot.upper()}_{k}": f"{name.upper()}_{k}" for k in macros}
    other["DBL_MAX"] = "FLT_MAX"
    other[f'#include "{robot}.h"'] = f'#include "{name}.h"'
    own.files["src/model.h"] = ""
    add_entries(own)
    own.add("src/sine_series.h", "plain", text=plain("sine_series_single.h"), source=False)
    add_header(own, joints, alpha, f"{LEAST_STEP:g} s")
    sources = [f"src/{source}.c" for source in SOURCES]
    for build in ("Makefile", "CMakeLists.txt"):
        own.add(build, build, sources=sources)
    waiting = ["main.c", *sources]
    while waiting:
        path = waiting.pop()
        own.files.setdefault(path, emission.files.get(path, ""))
        included = re.findall(r'#include "(\w+\.h)"', own.files[path])
        waiting += [f"src/{k}" for k in included if f"src/{k}" in emission.files and f"src/{k}" not in own.files]
    words = set(re.findall(r"C_[A-Z0-9_]+", "".join(own.files.values())))
    numbers = {f"C_{c.name.upper()}": literal(TOLERANCES.get(c.name, c.value)) for c in constants}
    counts = {f"C_{c.name.upper()}": c.value for c in constants if isinstance(c.value, int)}
    used = {k: v for k, v in (numbers | counts).items() if k in words}
    own.add("src/model.h", "model.h", numbers={"DIFFPBD_PORTABLE": 1, **used}, statuses=STATUS_NAMES)
    model = own.files["src/joint_step_model.h"]
    own.files["src/joint_step_model.h"] = model.replace("#define SIXTH 1", "#define SIXTH 0")
    for path, text in own.files.items():
        of_c = path.endswith((".c", ".h"))
        emission.files[f"{FOLDER}/{path}"] = single(text, other) if of_c else text
    return [f.name for f in emission.functions if f not in kept]
