"""The contract between generator and runtime: `manifest.json` as frozen dataclasses; `manifest_reader.py` reads them.

The runtime opens a generated folder from this file alone. SI units; every flat vector is in the order listed
here.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = [
    "ABI_VERSION",
    "MANIFEST_NAME",
    "MATRIX",
    "SCALAR",
    "SCHEMA_VERSION",
    "VECTOR",
    "Argument",
    "Constant",
    "Function",
    "Generator",
    "Joint",
    "Link",
    "Manifest",
    "Mimic",
    "Parameter",
    "Recipe",
    "RobotFacts",
    "hash_of_content",
]

SCHEMA_VERSION = 2
"""Version of the layout of manifest.json."""
ABI_VERSION = 1
"""Version of the C calling convention."""
MANIFEST_NAME = "manifest.json"

SCALAR, VECTOR, MATRIX = range(3)
"""Numbers of axes of an argument."""


@dataclass(frozen=True)
class Argument:
    """A named input or output, dense, column-major in C.

    `cols` is a number, or for rollouts the string "N" (steps) or "N+1" (nodes). `axes` says what it is, which its sizes
    do not where a robot has one joint: SCALAR, VECTOR (one column), MATRIX (or trajectory).
    """

    name: str
    rows: int
    cols: int | str
    axes: int
    unit: str
    frame: str

    def size(self, steps: int = 0) -> int:
        """Number of doubles, with `steps` steps where the argument is a trajectory."""
        return self.rows * self.columns(steps)

    def columns(self, steps: int = 0) -> int:
        """Number of columns, with `steps` steps where the argument is a trajectory."""
        if isinstance(self.cols, int):
            return self.cols
        return steps if self.cols == "N" else steps + 1

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of a single value in Python; not for trajectories."""
        return (self.rows, self.columns())[: self.axes]


@dataclass(frozen=True)
class Function:
    """A generated function: `int symbol(const double *const *in, double *const *out, double *work)`.

    With `rollout` the C function takes `int steps` first and so does its `_work_size`. `work_size` is in
    doubles (None for rollouts), `casadi` the path of the serialized graph inside the folder, `status` the
    meaning of every nonzero return value.
    """

    name: str
    doc: str
    symbol: str
    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    work_size: int | None
    operations: int
    casadi: str | None = None
    status: Mapping[int, str] = field(default_factory=dict)
    rollout: bool = False


@dataclass(frozen=True)
class Parameter:
    """One entry of alpha; a bound of None is no bound."""

    name: str
    unit: str
    default: float
    lower: float | None
    upper: float | None


@dataclass(frozen=True)
class Constant:
    """A named constant of the generated code, with the reason for its value."""

    name: str
    value: float
    unit: str
    reason: str


@dataclass(frozen=True)
class Joint:
    """A joint; `unit` is "rad" or "m"; limits in it, its rate, and N·m or N; None is unlimited."""

    name: str
    type: str
    parent: str
    child: str
    unit: str
    lower: float | None
    upper: float | None
    velocity: float | None
    effort: float | None


@dataclass(frozen=True)
class Link:
    """A moving link; `merged` names the links of the description rigidly attached to it, which the numbers include.

    Mass in kg, `com` [m] (3) and `inertia` [kg·m²] (xx, xy, xz, yy, yz, zz) about it, in link axes.
    """

    name: str
    mass: float
    merged: tuple[str, ...] = ()
    com: tuple[float, ...] = (0.0, 0.0, 0.0)
    inertia: tuple[float, ...] = (0.0,) * 6


@dataclass(frozen=True)
class Mimic:
    """A joint without freedom of its own: position = multiplier · position of `joint` + offset [rad or m]."""

    name: str
    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True)
class RobotFacts:
    """The robot as generated, base to tip. Total mass of the moving links in kg.

    `joints` are the coordinates of every function; `mimics` are joints that follow them. Every joint of either kind moves
    one link of `links`.
    """

    base: str
    tips: tuple[str, ...]
    joints: tuple[Joint, ...]
    links: tuple[Link, ...]
    total_mass: float
    mimics: tuple[Mimic, ...] = ()


@dataclass(frozen=True)
class Recipe:
    """The generator's choices; h is the default step [s], sweeps are by variant, springs the joints with one."""

    h: float
    integrator: str
    solver: str
    sweeps: Mapping[str, int]
    variants: tuple[str, ...]
    symbolic: tuple[str, ...]
    friction: str
    springs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Generator:
    """Versions of what generated the folder."""

    diffpbd: str
    casadi: str
    sympy: str


@dataclass(frozen=True)
class Manifest:
    """All of manifest.json. `files` maps relative paths to sha256; the compiled library is not among them.

    `content_hash` is the sha256 of everything else, so that an edited manifest, which would make calls write past their
    arrays, is refused; a manifest written by hand may leave it empty.
    """

    name: str
    abi_hash: str
    generator: Generator
    robot: RobotFacts
    recipe: Recipe
    alpha: tuple[Parameter, ...]
    constants: tuple[Constant, ...]
    functions: tuple[Function, ...]
    files: Mapping[str, str]
    library: str
    options_hash: str
    schema: int = SCHEMA_VERSION
    abi: int = ABI_VERSION
    content_hash: str = ""

    def sealed(self) -> Manifest:
        """The same with its `content_hash`."""
        return dataclasses.replace(self, content_hash=hash_of_content(json.loads(self.to_json())))

    def to_json(self) -> str:
        """The text of manifest.json: sorted keys, indent 1, a newline at the end."""
        data = dataclasses.asdict(self)
        return json.dumps(data, sort_keys=True, indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def hash_of_content(data: Mapping[str, Any]) -> str:
    """sha256 of a manifest's content in one canonical form, its own hash left out."""
    content = {key: value for key, value in data.items() if key != "content_hash"}
    return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
