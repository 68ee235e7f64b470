"""The contract between generator and runtime: `manifest.json` as frozen dataclasses, with a strict reader.

The runtime opens a generated folder from this file alone. SI units; every flat vector is in the order listed
here.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from diffpbd.runtime.errors import InputError
from diffpbd.runtime.json_node import Node

__all__ = [
    "ABI_VERSION",
    "MANIFEST_NAME",
    "SCHEMA_VERSION",
    "MATRIX",
    "SCALAR",
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
    "read_manifest",
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
        return dataclasses.replace(self, content_hash=_content_hash(json.loads(self.to_json())))

    def to_json(self) -> str:
        """The text of manifest.json: sorted keys, indent 1, a newline at the end."""
        data = dataclasses.asdict(self)
        return json.dumps(data, sort_keys=True, indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def _content_hash(data: Mapping[str, Any]) -> str:
    """sha256 of a manifest's content in one canonical form, its own hash left out."""
    content = {key: value for key, value in data.items() if key != "content_hash"}
    return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def read_manifest(folder: str | Path) -> Manifest:
    """Read and check `manifest.json` of a generated folder, or that file itself."""
    path = Path(folder)
    if path.is_dir():
        path = path / MANIFEST_NAME
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(
            f"{path.parent} is not a generated folder: it has no {MANIFEST_NAME}. "
            "Make one with `diffpbd generate ROBOT` and pass generated/NAME."
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}.") from None
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not JSON: {error}. Generate the folder again.") from None
    manifest = _manifest(Node(data, path, ""))
    if manifest.content_hash and manifest.content_hash != _content_hash(data):
        raise InputError(
            f"{path} is not the manifest that was generated: its content has another hash than it says. "
            f"Generate the folder again: diffpbd generate {manifest.name}."
        )
    return manifest


def _number(node: Node) -> float | None:
    return node.optional(Node.number)


def _numbers(node: Node, count: int) -> tuple[float, ...]:
    values = node.items(Node.number)
    if len(values) != count:
        raise node.fault(f"{count} numbers")
    return values


def _columns(node: Node) -> int | str:
    return str(node.value) if node.value in ("N", "N+1") else node.integer(0)


def _axes(node: Node, rows: int, cols: int | str) -> int:
    least = MATRIX if cols != 1 else VECTOR if rows != 1 else SCALAR
    axes = node.integer(least)
    if axes > MATRIX:
        raise node.fault(f"at most {MATRIX}")
    return axes


def _argument(node: Node) -> Argument:
    rows, cols = node.get("rows").integer(0), _columns(node.get("cols"))
    return Argument(
        name=node.get("name").text(),
        rows=rows,
        cols=cols,
        axes=_axes(node.get("axes"), rows, cols),
        unit=node.get("unit").text(),
        frame=node.get("frame").text(),
    )


def _status(node: Node) -> dict[int, str]:
    status = {}
    for key, text in node.mapping(Node.text).items():
        if not key.lstrip("-").isdigit() or int(key) == 0:
            raise Node(key, node.file, node.place).fault("nonzero whole numbers as keys")
        status[int(key)] = text
    return status


def _function(node: Node) -> Function:
    rollout = node.find("rollout").value is True
    if not rollout:
        for group in ("inputs", "outputs"):
            for argument in node.get(group).items(lambda item: item):
                argument.get("cols").integer(0)
    return Function(
        name=node.get("name").text(),
        doc=node.get("doc").text(),
        symbol=node.get("symbol").text(),
        inputs=node.get("inputs").items(_argument),
        outputs=node.get("outputs").items(_argument),
        work_size=node.find("work_size").optional(lambda size: size.integer(0)),
        operations=node.get("operations").integer(0),
        casadi=node.find("casadi").optional(Node.text),
        status=node.find("status").optional(_status) or {},
        rollout=rollout,
    )


def _parameter(node: Node) -> Parameter:
    return Parameter(
        name=node.get("name").text(),
        unit=node.get("unit").text(),
        default=node.get("default").number(),
        lower=_number(node.get("lower")),
        upper=_number(node.get("upper")),
    )


def _constant(node: Node) -> Constant:
    return Constant(
        name=node.get("name").text(),
        value=node.get("value").number(),
        unit=node.get("unit").text(),
        reason=node.get("reason").text(),
    )


def _joint(node: Node) -> Joint:
    return Joint(
        name=node.get("name").text(),
        type=node.get("type").text(),
        parent=node.get("parent").text(),
        child=node.get("child").text(),
        unit=node.get("unit").text(),
        lower=_number(node.get("lower")),
        upper=_number(node.get("upper")),
        velocity=_number(node.get("velocity")),
        effort=_number(node.get("effort")),
    )


def _link(node: Node) -> Link:
    return Link(
        name=node.get("name").text(),
        mass=node.get("mass").number(),
        merged=node.get("merged").items(Node.text),
        com=_numbers(node.get("com"), 3),
        inertia=_numbers(node.get("inertia"), 6),
    )


def _mimic(node: Node) -> Mimic:
    return Mimic(
        name=node.get("name").text(),
        joint=node.get("joint").text(),
        multiplier=node.get("multiplier").number(),
        offset=node.get("offset").number(),
    )


def _robot(node: Node) -> RobotFacts:
    return RobotFacts(
        base=node.get("base").text(),
        tips=node.get("tips").items(Node.text),
        joints=node.get("joints").items(_joint),
        links=node.get("links").items(_link),
        total_mass=node.get("total_mass").number(),
        mimics=node.get("mimics").items(_mimic),
    )


def _recipe(node: Node) -> Recipe:
    return Recipe(
        h=node.get("h").number(),
        integrator=node.get("integrator").text(),
        solver=node.get("solver").text(),
        sweeps=node.get("sweeps").mapping(lambda item: item.integer(1)),
        variants=node.get("variants").items(Node.text),
        symbolic=node.get("symbolic").items(Node.text),
        friction=node.get("friction").text(),
        springs=node.find("springs").optional(lambda names: names.items(Node.text)) or (),
    )


def _manifest(node: Node) -> Manifest:
    for key, version, what in (("schema", SCHEMA_VERSION, "layout"), ("abi", ABI_VERSION, "C interface")):
        found = node.get(key).value
        if found != version:
            raise InputError(
                f"{node.file}: its {what} has version {found!r} ({key}), this diffpbd reads version "
                f"{version}. "
                "Generate the folder again with this diffpbd, or use the diffpbd that made it."
            )
    generator = node.get("generator")
    manifest = Manifest(
        name=node.get("name").text(),
        abi_hash=node.get("abi_hash").text(),
        generator=Generator(**{key: generator.get(key).text() for key in ("diffpbd", "casadi", "sympy")}),
        robot=_robot(node.get("robot")),
        recipe=_recipe(node.get("recipe")),
        alpha=node.get("alpha").items(_parameter),
        constants=node.get("constants").items(_constant),
        functions=node.get("functions").items(_function),
        files=node.get("files").mapping(Node.text),
        library=node.get("library").text(),
        options_hash=node.get("options_hash").text(),
        content_hash=node.find("content_hash").optional(Node.text) or "",
    )
    for what, names in (
        ("alpha", [entry.name for entry in manifest.alpha]),
        ("functions", [entry.name for entry in manifest.functions]),
        ("robot.joints", [entry.name for entry in manifest.robot.joints]),
    ):
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise InputError(
                f"{node.file}: {what} lists {', '.join(twice)} more than once. Generate the folder again."
            )
    return manifest
