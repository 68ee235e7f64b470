"""The contract between generator and runtime: `manifest.json` as frozen dataclasses, and a strict reader of them.

The runtime opens a generated folder from this file alone. SI units; every flat vector is in the order listed
here. The reader follows the types of the fields, so a field is declared in one place; every fault is named with its path in
the file, such as `functions[3].inputs[0].rows`.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
import sys
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.joint_types import EFFORT_UNITS, TURN
from diffpbd.runtime.base.names import FILE, IDENTIFIER, strange_characters

__all__ = [
    "ABI_VERSION",
    "MANIFEST_NAME",
    "MATRIX",
    "OBSTACLES",
    "POSITIONS",
    "SCALAR",
    "SCHEMA_VERSION",
    "VECTOR",
    "Argument",
    "Clearance",
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
    "Shape",
    "hash_of_content",
    "read_manifest",
]

SCHEMA_VERSION = 2
"""Version of the layout of manifest.json."""
ABI_VERSION = 1
"""Version of the C calling convention."""
MANIFEST_NAME = "manifest.json"

SCALAR, VECTOR, MATRIX = range(3)
"""Numbers of axes of an argument."""
MAX_SHOWN = 60  # characters of a wrong value in a message
AGAIN = "Generate the folder again."
OBSTACLES: Mapping[str, int] = {"spheres": 4, "capsules": 7, "boxes": 10, "planes": 4}
"""Numbers of an obstacle of each kind: centre, radius; both ends, radius; centre, quaternion wxyz, sides; normal, height."""
POSITIONS = ("p", "p0", "p_prev", "p_next", "P", "P_ref", "P_guess", "p_closed")
"""Arguments that are positions, which with a floating base have one number more than rates and seeds."""
_RARE: Mapping[str, Any] = {
    **dict.fromkeys(("loops", "passive", "contacts", "frames", "printed", "elements"), ()),
    **dict.fromkeys(("base_joint", "law", "zero"), ""), "spare_rows": 0, "table": None, "clearance": None,
}  # fmt: skip
"""Fields that are written where they are something else: what an open fixed tree with motors in free space has none of."""
_PLAIN: Mapping[type, tuple[str, Callable[[Any], bool]]] = {
    str: ("text", lambda value: type(value) is str),
    bool: ("true or false", lambda value: type(value) is bool),
    int: ("a whole number of at least 0", lambda value: type(value) is int and value >= 0),
    float: ("a finite number", lambda value: type(value) in (int, float) and abs(value) <= sys.float_info.max),
}
T = TypeVar("T")


@dataclass(frozen=True)
class Argument:
    """A named input or output, dense, column-major in C.

    `cols` is a number, or for rollouts the string "N" (steps) or "N+1" (nodes). `axes`, because sizes
    are ambiguous for a robot of one joint: SCALAR, VECTOR (one column), MATRIX (or trajectory).
    """

    name: str
    rows: int
    cols: int | str
    axes: int
    unit: str
    frame: str

    def size(self, steps: int = 0) -> int:
        """Number of doubles; a trajectory has `steps` steps."""
        return self.rows * self.columns(steps)

    def columns(self, steps: int = 0) -> int:
        """Number of columns; a trajectory has `steps` steps."""
        if isinstance(self.cols, int):
            return self.cols
        return steps if self.cols == "N" else steps + 1

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of a single value in Python; not for trajectories."""
        return (self.rows, self.columns())[: self.axes]


def family(function: str) -> str:
    """The function that a derivative or a variant of `step` or `rollout_step` belongs to."""
    plain = re.sub("^(jac_alpha_|jac_|vjp_)", "", function)
    return next((name for name in ("step", "rollout_step") if plain.startswith(name)), plain)


def families(function: str) -> tuple[str, ...]:
    """The names under which a function may be listed as left out: a variant's own with `step` for `rollout_step`, without
    a prefix of derivatives; then without the variant, and its family."""
    of = family(function)
    if not of:
        return (function,)
    head, _, variant = function.partition(of)
    return tuple(dict.fromkeys((*((f"{head}step{variant}", f"step{variant}") if variant else ()), head + of, of)))


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

    @property
    def signature(self) -> str:
        """Name and arguments in their order, as the library says them: `gravity(p 7x1, alpha 92x1) -> (u 7x1)`."""
        inputs, outputs = (
            ", ".join(f"{a.name} {a.rows}x{a.cols}" for a in group) for group in (self.inputs, self.outputs)
        )
        return f"{self.name}({inputs}) -> ({outputs})"


@dataclass(frozen=True)
class Parameter:
    """One entry of alpha; a bound may be None."""

    name: str
    unit: str
    default: float
    lower: float | None
    upper: float | None

    def in_unit(self, value: float) -> str:
        """A value with its unit for messages; dimensionless ones without."""
        return f"{value:g}" if self.unit == "1" else f"{value:g} {self.unit}"


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

    @property
    def effort_unit(self) -> str:
        """Unit of its effort: `N·m` or `N`."""
        return EFFORT_UNITS[self.unit]

    @property
    def turns(self) -> bool:
        """Whether its position is an angle."""
        return self.unit == TURN.unit

    @property
    def endless(self) -> bool:
        """Whether it is continuous."""
        return self.turns and self.lower is None and self.upper is None


@dataclass(frozen=True)
class Link:
    """A moving link; `merged` names the links of the description rigidly attached to it, which its mass, com and inertia
    include.

    Mass in kg, `com` [m] (3) and `inertia` [kg·m²] (xx, xy, xz, yy, yz, zz) about it, in link axes.
    """

    name: str
    mass: float
    merged: tuple[str, ...] = ()
    com: tuple[float, float, float] = (0.0, 0.0, 0.0)
    inertia: tuple[float, float, float, float, float, float] = (0.0,) * 6


@dataclass(frozen=True)
class Mimic:
    """A mimic joint: position = multiplier · position of `joint` + offset [rad or m]."""

    name: str
    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True)
class Loop:
    """A closed loop: a cut joint between two links, and its constraint rows, the independent and the redundant ones."""

    name: str
    type: str
    parent: str
    child: str
    kept: tuple[str, ...]
    dropped: tuple[str, ...]


@dataclass(frozen=True)
class Contact:
    """A sphere on `link` (radius 0 [m]: a point), or a capsule or box, that touches `against`, a plane, sphere, capsule or box
    (`shape`) on the link `other`; `rough`: with friction; `law`: the name of its entries in alpha, empty: its own name."""

    name: str
    link: str
    radius: float
    against: str
    shape: str
    other: str
    rough: bool
    law: str = ""


@dataclass(frozen=True)
class Shape:
    """A collision shape: a core swept by a sphere of `radius` [m] on `link`, in whose frame `centre` [m] (3) and `rotation`
    (9, by rows) are. The core is a point (sphere), a segment of one half [m] along the last axis (capsule), a box of three
    halves; a plane's last axis is its normal. `part` is the link of the description; fixed shapes are on
    `world`."""

    name: str
    part: str
    link: str
    kind: str
    centre: tuple[float, float, float]
    rotation: tuple[float, ...]
    halves: tuple[float, ...]
    radius: float


@dataclass(frozen=True)
class Clearance:
    """Shapes of a robot; `rows` names both sides of every distance in order, obstacles as `spheres 0`; `obstacles` counts them
    by kind; `reach` [m or 1] is how far a point of a shape moves at most per unit of every joint. Pairs that could move
    against each other and have no row are in `unwatched`, by the reason; `bare` are links without a shape."""

    shapes: tuple[Shape, ...]
    rows: tuple[tuple[str, ...], ...]
    obstacles: Mapping[str, int]
    reach: tuple[float, ...]
    unwatched: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    bare: tuple[str, ...] = ()


@dataclass(frozen=True)
class LeftOut:
    """`mass` [kg] of `links` beyond a joint that was not chosen, which is missing at the link `carrier`."""

    joint: str
    carrier: str
    links: tuple[str, ...]
    mass: float


@dataclass(frozen=True)
class Element:
    """Springs of one kind on chosen `joints`, whose entries of alpha are `name.number.joint`.

    Its torque vanishes without the numbers that are `linear`, in which it is linear. `scales` are sizes of the numbers that a
    search begins with; beside the number `zero` an offset of torque is hardly told apart."""

    name: str
    words: str
    numbers: tuple[str, ...]
    linear: tuple[str, ...]
    scales: tuple[float, ...]
    joints: tuple[str, ...]
    zero: str = ""

    def entries(self, joint: str, numbers: Sequence[str] = ()) -> list[str]:
        """Names in alpha of these numbers on a joint; none given, of all."""
        return [f"{self.name}.{number}.{joint}" for number in (numbers or self.numbers)]

    @property
    def geometry(self) -> tuple[str, ...]:
        """Numbers that its torque is not linear in."""
        return tuple(number for number in self.numbers if number not in self.linear)


@dataclass(frozen=True)
class RobotFacts:
    """The robot as generated, base to tip. Total mass of the moving links in kg.

    `joints` are the coordinates of every function; `mimics` are joints that follow them. Every joint of either kind moves
    one link of `links`. `squared` are the joints whose rotations had entries within `right_angle` of −1, 0 or 1 that were
    taken for these. `base_joint` says whether the base moves in a plane or floats: its freedoms are the first joints.
    `loops` are closed loops; `passive` joints have no motor;
    `contacts` are in the order of gaps and forces; `spare_rows` of the kept rows are redundant. `frames` are those of
    `frame_pose` and related functions, numbered in this order; the tips come first.
    """

    base: str
    tips: tuple[str, ...]
    joints: tuple[Joint, ...]
    links: tuple[Link, ...]
    total_mass: float
    mimics: tuple[Mimic, ...] = ()
    squared: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    rotors: Mapping[str, float] = field(default_factory=dict)
    loops: tuple[Loop, ...] = ()
    passive: tuple[str, ...] = ()
    contacts: tuple[Contact, ...] = ()
    base_joint: str = ""
    spare_rows: int = 0
    frames: tuple[str, ...] = ()

    @property
    def floating(self) -> bool:
        """Whether positions have a position and a quaternion for the base, one number more than there are joints."""
        return self.base_joint == "floating"

    @property
    def neutral(self) -> tuple[float, ...]:
        """The zero position, with the identity quaternion for a floating base."""
        return tuple(float(self.floating and k == 3) for k in range(len(self.positions)))

    @property
    def base_freedoms(self) -> tuple[str, ...]:
        """Names of the joints that are freedoms of a moving base."""
        count = {"planar": 3, "floating": 6}.get(self.base_joint, 0)
        return tuple(joint.name for joint in self.joints[:count])

    @property
    def positions(self) -> tuple[str, ...]:
        """Names of the numbers of a position: a floating base's position and quaternion wxyz, then the joints."""
        names = tuple(joint.name for joint in self.joints)
        return (*names[:3], *(f"base_q{part}" for part in "wxyz"), *names[6:]) if self.floating else names

    @property
    def mobility(self) -> int:
        """Freedoms that the rows of the loops leave."""
        return len(self.joints) - sum(len(loop.kept) for loop in self.loops) + self.spare_rows


@dataclass(frozen=True)
class Recipe:
    """The generator's choices; h is the default step [s], sweeps are by variant, springs the joints with one, `table` is the
    height [m] over the description's root that the arm is kept above; `printed`: parts of the paper's sweeps that are used as
    printed: "multiplier", "order"."""

    h: float
    integrator: str
    solver: str
    sweeps: Mapping[str, int]
    variants: tuple[str, ...]
    symbolic: tuple[str, ...]
    friction: str
    springs: tuple[str, ...] = ()
    table: float | None = None
    printed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Generator:
    """Versions that generated the folder, and the command as typed."""

    diffpbd: str
    casadi: str
    sympy: str
    command: str = ""


@dataclass(frozen=True)
class Manifest:
    """All of manifest.json. `files` maps relative paths to sha256; the compiled library is not among them.

    `content_hash` is the sha256 of everything else, so that an edited manifest, which would make calls write past their
    arrays, is refused; a manifest written by hand may leave it empty. `left_out`: why functions of the catalogue are
    missing, by a name of `families`; `graphs`: serialized CasADi graphs without a compiled function; `clearance`: for robots
    with distances; `elements`: springs on chosen joints.
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
    left_out: Mapping[str, str] = field(default_factory=dict)
    graphs: Mapping[str, str] = field(default_factory=dict)
    clearance: Clearance | None = None
    elements: tuple[Element, ...] = ()

    def why_not(self, function: str) -> str:
        """Why this robot has no such function, if the generator knew; else empty."""
        reason = next((self.left_out[name] for name in families(function) if name in self.left_out), "")
        return f"It was left out: {reason}." if reason else ""

    def again(self, more: str = "") -> str:
        """The command that generates the robot again, with `more` options."""
        return " ".join(filter(None, (self.generator.command or f"diffpbd generate {self.name}", more)))

    def sealed(self) -> Manifest:
        """Returns this manifest with its `content_hash`."""
        return dataclasses.replace(self, content_hash=hash_of_content(json.loads(self.to_json())))

    def to_json(self) -> str:
        """The text of manifest.json: sorted keys, indent 1, a newline at the end."""
        data = dataclasses.asdict(
            self, dict_factory=lambda items: {k: v for k, v in items if k not in _RARE or v != _RARE[k]}
        )
        return json.dumps(data, sort_keys=True, indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def hash_of_content(data: Mapping[str, Any]) -> str:
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
        named = Path(folder)
        what = (
            f"{named} is not a generated folder: it has no {MANIFEST_NAME}"
            if named.is_dir()
            else f"There is no folder {named}"
        )
        raise InputError(f"{what}. Make one with `diffpbd generate ROBOT` and pass generated/NAME.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}.") from None
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not JSON: {error}. {AGAIN}") from None
    reader = _Reader(path)
    for key, version, what in (("schema", SCHEMA_VERSION, "layout"), ("abi", ABI_VERSION, "C interface")):
        found = reader.get(data, "", key)
        if found != version:
            raise InputError(
                f"{path}: its {what} has version {found!r} ({key}), this diffpbd reads version {version}. "
                "Generate the folder again with this diffpbd, or use the diffpbd that made it."
            )
    manifest = reader.record(Manifest, data, "")
    for what, entries in (
        ("alpha", manifest.alpha), ("functions", manifest.functions), ("robot.joints", manifest.robot.joints),
    ):  # fmt: skip
        names = [entry.name for entry in entries]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise InputError(f"{path}: {what} lists {', '.join(twice)} more than once. {AGAIN}")
    _check_names(manifest, reader)
    if manifest.content_hash and manifest.content_hash != hash_of_content(data):
        raise InputError(
            f"{path} is not the manifest that was generated: its content has another hash than it says. "
            f"Generate the folder again: {manifest.again()}."
        )
    return manifest


def _check_names(manifest: Manifest, reader: _Reader) -> None:
    """Refuse names, files and symbols that the generator does not produce: they are shown, opened and called."""
    robot = manifest.robot
    parts: tuple[Joint | Mimic | Link | Parameter, ...] = (
        *robot.joints, *robot.mimics, *robot.links, *manifest.alpha,
    )  # fmt: skip
    for name in (
        robot.base,
        *robot.tips,
        *robot.frames,
        *(part.name for part in parts),
        *(n for k in robot.links for n in k.merged),
    ):
        if strange_characters(name):
            raise reader.fault(name, "a name", "letters, digits and few signs")
    for word in (manifest.name, *(text for f in manifest.functions for text in (f.name, f.symbol))):
        if not IDENTIFIER.fullmatch(word):
            raise reader.fault(word, "a function or the robot", "a name of C")
    for path in (
        *manifest.files,
        manifest.library,
        *(f.casadi for f in manifest.functions if f.casadi),
        *manifest.graphs.values(),
    ):
        if not FILE.fullmatch(path):
            raise reader.fault(path, "a file", "a path inside the folder")


@dataclass(frozen=True)
class _Reader:
    """Values of a JSON file by type; a key may be missing where the field's default is empty."""

    file: Path

    def fault(self, value: object, place: str, expected: str) -> InputError:
        found = repr(value)
        found = found if len(found) <= MAX_SHOWN else found[: MAX_SHOWN - 3] + "..."
        return InputError(f"{self.file}: {place or 'the file'}: expected {expected}, found {found}. {AGAIN}")

    def get(self, value: Any, place: str, key: str) -> Any:
        if not isinstance(value, dict):
            raise self.fault(value, place, "an object")
        if key not in value:
            raise InputError(f"{self.file}: {_inside(place, key)} is missing. {AGAIN}")
        return value[key]

    def record(self, kind: type[T], value: Any, place: str) -> T:
        """A dataclass."""
        hints = typing.get_type_hints(kind)
        found = {}
        for entry in dataclasses.fields(kind):  # type: ignore[arg-type]
            empty = entry.default_factory is not dataclasses.MISSING or not entry.default
            if empty and isinstance(value, dict) and entry.name not in value:
                continue
            found[entry.name] = self.value(
                hints[entry.name], self.get(value, place, entry.name), _inside(place, entry.name)
            )
        made = kind(**found)
        if isinstance(made, Function):
            for group in ("inputs", "outputs"):
                for k, argument in enumerate(getattr(made, group)):
                    self.check_argument(argument, made.rollout, f"{place}.{group}[{k}]")
        return made

    def check_argument(self, argument: Argument, rollout: bool, place: str) -> None:
        if not rollout:
            self.plain(int, argument.cols, f"{place}.cols")
        least = MATRIX if argument.cols != 1 else VECTOR if argument.rows != 1 else SCALAR
        if not least <= argument.axes <= MATRIX:
            raise self.fault(argument.axes, f"{place}.axes", f"at least {least} and at most {MATRIX}")

    def value(self, kind: Any, value: Any, place: str) -> Any:
        """A value of a field's type."""
        origin, parts = typing.get_origin(kind), typing.get_args(kind)
        if dataclasses.is_dataclass(kind):
            return self.record(kind, value, place)  # type: ignore[arg-type]
        if origin is UnionType and NoneType in parts:
            return None if value is None else self.value(parts[0], value, place)
        if origin is UnionType:  # columns
            return value if value in ("N", "N+1") else self.plain(int, value, place)
        if origin is tuple:
            if not isinstance(value, list):
                raise self.fault(value, place, "a list")
            if parts[-1] is not Ellipsis and len(value) != len(parts):
                raise self.fault(value, place, f"{len(parts)} numbers")
            return tuple(self.value(parts[0], item, f"{place}[{k}]") for k, item in enumerate(value))
        if origin is Mapping:
            if not isinstance(value, dict):
                raise self.fault(value, place, "an object")
            return {self.key(parts[0], k, place): self.value(parts[1], v, _inside(place, k)) for k, v in value.items()}
        return self.plain(kind, value, place)

    def key(self, kind: Any, key: str, place: str) -> Any:
        """A key of an object: text, or the status of a function."""
        if kind is str:
            return key
        if not key.lstrip("-").isdigit() or int(key) == 0:
            raise self.fault(key, place, "nonzero whole numbers as keys")
        return int(key)

    def plain(self, kind: type, value: Any, place: str) -> Any:
        expected, holds = _PLAIN[kind]
        if not holds(value):
            raise self.fault(value, place, expected)
        return kind(value)


def _inside(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key
