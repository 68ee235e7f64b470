"""What to generate for a robot: base and tip, default step, variants of it, which parameters are symbolic."""

from __future__ import annotations

import dataclasses
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from diffpbd.codegen.description.base import BASE_JOINTS, FIXED
from diffpbd.codegen.description.contact_shapes import ContactEntry
from diffpbd.codegen.description.contacts import PlaneEntry, Touching
from diffpbd.codegen.description.loops import LoopEntry, closing
from diffpbd.codegen.description.mjcf import file_defaults
from diffpbd.codegen.description.numerals import LARGEST
from diffpbd.codegen.description.report import quoted
from diffpbd.codegen.description.shapes import ShapeEntry, Shaping
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.names import IDENTIFIER, LONGEST, PUNCTUATION, RESERVED, strange_characters

INTEGRATORS: Final = ("variational", "paper")
SOLVERS: Final = ("direct", "gauss_seidel", "jacobi")
SYMBOLIC: Final = ("mass", "com", "inertia", "origin", "loop", "contact")
LOOP_ROWS: Final = ("kept", "all")
CONES: Final = ("smooth", "exact")
FRICTIONS: Final = ("none", "urdf")
FRICTION_LAWS: Final = ("asymmetric", "stribeck", "dahl")
SWEEP_ORDERS: Final = ("joints", "printed")
MULTIPLIERS: Final = ("block", "scalar")

DEFAULT_STEP: Final = 0.01
"""[s] The paper's time step."""

DEFAULT_GRAVITY: Final = (0.0, 0.0, -9.81)
"""[m/s²] In the frame of the root link."""

DEFAULT_SWEEPS: Final[Mapping[str, int]] = {
    "variational_direct": 3,
    "variational_gauss_seidel": 30,
    "variational_jacobi": 30,
    "paper_direct": 1,
    "paper_gauss_seidel": 30,
    "paper_jacobi": 30,
}
"""Newton iterations of the direct solve, sweeps of the others, for every `<integrator>_<solver>`."""

MOST_SWEEPS: Final = 1000
"""Beyond convergence of anything; a step makes them all."""

ALL: Final = "all"
"""As `variants` or `functions`: every one."""

DEFAULT: Final = "default"
"""As `functions`: those that are made where none is named."""

PUBLISHED: Final = "published"
"""As `variants`: `PUBLISHED_VARIANTS`."""

DEFAULT_VARIANTS: Final = ("variational_direct",)
PUBLISHED_VARIANTS: Final = (*DEFAULT_VARIANTS, "paper_direct", "paper_gauss_seidel", "paper_jacobi")
"""The steps that the paper compares, beside the default one."""

FURTHEST_TABLE: Final = 5.0
"""[m] Beyond any arm's reach; as of the option."""

AVERAGING: Final = "averaging"
Relaxation: TypeAlias = float | Literal["averaging"] | None
"""What Jacobi sweeps make of their corrections: a factor in (0, 2), an average for each link, or None for the default, see
codegen/method/relaxation.py."""

LARGEST_RELAXATION: Final = 2.0
"""From here on Jacobi sweeps diverge even for a joint alone."""


GROUND: Final = "ground"
"""Name of the plane of `ground`."""


def _entry(read: str, choices: tuple[str, ...] = ()) -> dict[str, Any]:
    """How a recipe's file reads an entry (a method of `recipe_file.Entries`), and its values."""
    return {"read": read, "choices": choices}


@dataclass(frozen=True)
class Recipe:
    """What to generate.

    `name` prefixes every C symbol and names the folder. `urdf` is where the description lies; a path never
    belongs into generated code. `base` and `tip` are link names; None and () leave the choice to the
    description (root, every end). Joints in `hold` are welded at their zero position. `h` [s] is only the
    default of the commands. `integrator` and `solver` name the default variant of `step`, `sweeps` counts the
    iterations of each variant, `relaxation` is what Jacobi sweeps make of their corrections, `sweep_order` says whether
    Gauss-Seidel sweeps close joint by joint or, as printed, all positional and then all angular constraints. `multiplier`: the
    sweeps of the paper's steps solve the rows of a joint as a block, or, as printed, along their length (scalar).
    `friction_law` adds parts to the law of friction: coefficients that differ by direction, Stribeck's part that falls with
    the rate. With `limits` joints stop at their limits in the steps on maximal states.
    `gravity` [m/s²] (3, root link frame) is the default of alpha. `springs` names the joints that carry springs,
    which `identify --fit spring` fits. `wrench` names moving links or tips at whose frames external wrenches act,
    `lever_springs` hinges between whose links straight springs act on lever arms.
    `table` is the height [m] over the root link of the description that `run`, `excite` and `mpc` keep the arm above.
    `base_joint` says whether the base is fixed, moves in a plane or is free (docs/bases.md).
    Joints in `passive` have no motor; every `loop` closes what the tree leaves open (docs/loops.md),
    by rows that are kept of it, or by `loop_rows` all of them. Every `contact` is a
    sphere, point, capsule or box that touches planes (`plane`) or others; words LINK, LINK=PLANE or LINK=LINK in
    `contact_from_collision` make
    such of the link's `<collision>` (docs/contact.md). With `cone` exact what sticks creeps at 1e-9 m/s, and derivatives are
    those at a slip of their own. Words LINK=LINK or LINK=LINK:TYPE in `close` are loops that keep two
    links' frames together; `ground` [m] is a plane of that name, across z at this height over the root or the world.
    `functions` names what to generate besides inverse dynamics and kinematics: functions of `capabilities.GROUPS`, DEFAULT
    or ALL; DEFAULT where it is empty. With `cuda` there is text for a GPU (docs/gpu.md), with `single` C over floats besides.
    `frames` names links whose pose the generated code knows beside the tips', ALL every one (docs/frames.md).
    With `clearance` there are distances of all `pairs` LINK/LINK (those that sampling and the `srdf` leave), of shapes of
    `<collision>` or every `shape`, and to as many `obstacles` as words KIND=COUNT say (docs/clearance.md).
    """

    name: str = field(metadata=_entry("text"))
    urdf: Path = field(metadata=_entry("text"))
    base: str | None = field(default=None, metadata=_entry("text"))
    tip: tuple[str, ...] = field(default=(), metadata=_entry("texts"))
    hold: tuple[str, ...] = field(default=(), metadata=_entry("texts"))
    h: float = field(default=DEFAULT_STEP, metadata=_entry("number"))
    integrator: str = field(default="variational", metadata=_entry("text", INTEGRATORS))
    solver: str = field(default="direct", metadata=_entry("text", SOLVERS))
    sweeps: Mapping[str, int] = field(
        default_factory=lambda: dict(DEFAULT_SWEEPS), hash=False, metadata=_entry("counts")
    )
    variants: tuple[str, ...] = field(
        default=DEFAULT_VARIANTS, metadata=_entry("texts", (*DEFAULT_SWEEPS, ALL, PUBLISHED))
    )
    symbolic: tuple[str, ...] = field(default=(), metadata=_entry("texts", SYMBOLIC))
    friction: str = field(default="none", metadata=_entry("text", FRICTIONS))
    friction_law: tuple[str, ...] = field(default=(), metadata=_entry("texts", FRICTION_LAWS))
    gravity: tuple[float, float, float] = field(default=DEFAULT_GRAVITY, metadata=_entry("vector"))
    springs: tuple[str, ...] = field(default=(), metadata=_entry("texts"))
    limits: bool = field(default=False, metadata=_entry("flag"))
    wrench: tuple[str, ...] = field(default=(), metadata=_entry("texts"))
    lever_springs: tuple[str, ...] = field(default=(), metadata=_entry("texts"))
    relaxation: Relaxation = field(default=None, metadata=_entry("relaxation"))
    functions: tuple[str, ...] = field(default=(), metadata=_entry("texts"))
    passive: tuple[str, ...] = field(default=(), metadata=_entry("texts"))
    loop: tuple[LoopEntry, ...] = field(default=(), metadata=_entry("loops"))
    loop_rows: str = field(default="kept", metadata=_entry("text", LOOP_ROWS))
    plane: tuple[PlaneEntry, ...] = field(default=(), metadata=_entry("planes"))
    contact: tuple[ContactEntry, ...] = field(default=(), metadata=_entry("contacts"))
    close: tuple[str, ...] = field(default=(), metadata=_entry("texts"))
    ground: float | None = field(default=None, metadata=_entry("number"))
    cone: str = field(default="smooth", metadata=_entry("text", CONES))
    contact_from_collision: tuple[str, ...] = field(default=(), metadata=_entry("texts"))
    table: float | None = field(default=None, metadata=_entry("number"))
    sweep_order: str = field(default="joints", metadata=_entry("text", SWEEP_ORDERS))
    multiplier: str = field(default="block", metadata=_entry("text", MULTIPLIERS))
    base_joint: str = field(default=FIXED, metadata=_entry("text", BASE_JOINTS))
    cuda: bool = field(default=False, metadata=_entry("flag"))
    single: bool = field(default=False, metadata=_entry("flag"))
    frames: tuple[str, ...] = field(default=(), metadata=_entry("texts"))
    clearance: bool = field(default=False, metadata=_entry("flag"))
    shape: tuple[ShapeEntry, ...] = field(default=(), metadata=_entry("shapes"))
    srdf: Path | None = field(default=None, metadata=_entry("text"))
    pairs: tuple[str, ...] = field(default=(), metadata=_entry("texts"))
    obstacles: tuple[str, ...] = field(default=(), metadata=_entry("texts"))

    @property
    def variant(self) -> str:
        """The variant that `step` is: `<integrator>_<solver>`."""
        return f"{self.integrator}_{self.solver}"

    @property
    def printed(self) -> tuple[str, ...]:
        """What of the paper's sweeps is as it is printed."""
        chosen = {"multiplier": self.multiplier == "scalar", "order": self.sweep_order == "printed"}
        return tuple(what for what, is_so in chosen.items() if is_so)

    def __post_init__(self) -> None:
        """Refuses what cannot be generated, naming the entry."""
        if not IDENTIFIER.fullmatch(self.name):
            raise InputError(
                f'recipe: name = "{self.name}" cannot prefix C symbols; letters, digits and _ are expected'
            )
        if self.name.lower() in RESERVED:
            raise InputError(
                f'recipe: name = "{self.name}" is a header of C or a target of CMake, which a robot would hide; '
                "choose another one"
            )
        for entry in dataclasses.fields(self):
            if choices := entry.metadata["choices"]:
                for value in as_names(getattr(self, entry.name)):
                    _expect_choice(entry.name, value, choices)
        words = {ALL: tuple(DEFAULT_SWEEPS), PUBLISHED: PUBLISHED_VARIANTS}
        chosen = dict.fromkeys(v for name in self.variants for v in words.get(name, (name,)))
        object.__setattr__(self, "variants", tuple(DEFAULT_SWEEPS) if ALL in self.variants else tuple(chosen))
        for variant in self.sweeps:
            _expect_choice("sweeps", variant, tuple(DEFAULT_SWEEPS))
        if self.variant not in self.variants:
            raise InputError(f'recipe "{self.name}": the default variant {self.variant} is not among variants')
        for variant, count in self.sweeps.items():
            if not 1 <= count <= MOST_SWEEPS:
                raise InputError(f'recipe "{self.name}": sweeps.{variant} = {count}; 1 to {MOST_SWEEPS} are expected')
        if not _is_relaxation(self.relaxation):
            raise InputError(
                f'recipe "{self.name}": relaxation = {self.relaxation}; a factor above 0 and below {LARGEST_RELAXATION:g}, or '
                f'"{AVERAGING}", is expected'
            )
        if not (math.isfinite(self.h) and self.h > 0.0):
            raise InputError(f'recipe "{self.name}": h = {self.h}; a positive step in seconds is expected')
        if self.table is not None and not abs(self.table) <= FURTHEST_TABLE:
            raise InputError(
                f'recipe "{self.name}": table = {self.table}; a height from {-FURTHEST_TABLE:g} to {FURTHEST_TABLE:g} m is '
                "expected"
            )
        if not all(math.isfinite(component) for component in self.gravity):
            raise InputError(f'recipe "{self.name}": gravity = {self.gravity}; finite numbers are expected')
        for kind in ("loops", "plane", "contact", "shape"):
            for k, entry_ in enumerate(getattr(self, kind)):
                self._expect_usable(entry_, f'recipe "{self.name}": {kind.rstrip("s")} {k + 1}')

    @property
    def loops(self) -> tuple[LoopEntry, ...]:
        """Loops of the recipe, then those of `close`."""
        return (*self.loop, *map(closing, self.close))

    @property
    def touching(self) -> Touching:
        """What the description needs to know about contact."""
        up = () if self.ground is None else (PlaneEntry(GROUND, (0.0, 0.0, self.ground), (0.0, 0.0, 1.0)),)
        return Touching((*self.plane, *up), self.contact, self.contact_from_collision)

    @property
    def shaping(self) -> Shaping:
        """What it needs to know about shapes."""
        return Shaping(self.clearance, self.shape)

    @staticmethod
    def _expect_usable(loop: LoopEntry | PlaneEntry | ContactEntry | ShapeEntry, where: str) -> None:
        """A name that may go into code and pages, and numbers that are some."""
        if not loop.name.strip() or len(loop.name) > LONGEST or strange_characters(loop.name):
            raise InputError(
                f"{where}: name = {quoted(loop.name)}; 1 to {LONGEST} letters, digits, spaces and {PUNCTUATION.strip()} are "
                "expected"
            )
        for entry in dataclasses.fields(loop):
            value = getattr(loop, entry.name)
            numbers = value if isinstance(value, tuple) else (value,)
            if any(isinstance(x, float) and not abs(x) <= LARGEST for x in numbers):
                raise InputError(f"{where}: {entry.name} = {value}; finite numbers are expected, up to {LARGEST:g}")


def default_recipe(
    urdf: str | os.PathLike[str], base: str | None = None, tip: str | Sequence[str] | None = None
) -> Recipe:
    """The recipe of a bare URDF or MJCF file; it is named after the file."""
    urdf = Path(urdf)
    name = re.sub(r"[^A-Za-z0-9_]", "_", urdf.stem)
    if not IDENTIFIER.fullmatch(name) or name.lower() in RESERVED:
        name = f"robot_{name}"
    return Recipe(name=name, urdf=urdf, base=base, tip=as_names(tip), **file_defaults(urdf))


def with_options(recipe: Recipe, **options: Any) -> Recipe:
    """The recipe with the options (entries of a recipe by name) that are not None replaced.

    A new default variant joins `variants`; `sweeps` is the count of the default variant, or counts by variant.
    """
    chosen = {name: value for name, value in options.items() if value is not None}
    for entry in dataclasses.fields(recipe):
        if entry.name in chosen and entry.metadata["read"] == "texts":
            chosen[entry.name] = as_names(chosen[entry.name])
    variant = f"{chosen.get('integrator', recipe.integrator)}_{chosen.get('solver', recipe.solver)}"
    variants = chosen.get("variants") or recipe.variants
    words = {ALL, PUBLISHED} if variant in PUBLISHED_VARIANTS else {ALL}
    chosen["variants"] = variants if variant in variants or words & set(variants) else (*variants, variant)
    if "sweeps" in chosen:
        counts = chosen["sweeps"]
        chosen["sweeps"] = {**recipe.sweeps, **(counts if isinstance(counts, Mapping) else {variant: counts})}
    made = dataclasses.replace(recipe, **chosen)
    for name, count in made.sweeps.items():
        if count != recipe.sweeps.get(name) and name not in made.variants:
            raise InputError(
                f"sweeps: {name} is not made, so nothing would count its sweeps; add it to variants, or leave it out."
            )
    return made


def as_names(names: str | Sequence[str] | None) -> tuple[str, ...]:
    """One name, several or none, as a tuple."""
    if names is None:
        return ()
    return (names,) if isinstance(names, str) else tuple(names)


def _is_relaxation(value: Relaxation) -> bool:
    return value is None or value == AVERAGING or (not isinstance(value, str) and 0.0 < value < LARGEST_RELAXATION)


def _expect_choice(entry: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise InputError(f'recipe: {entry} = "{value}" is not known; one of {", ".join(choices)} is expected')
