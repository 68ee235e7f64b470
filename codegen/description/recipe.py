"""What to generate for a robot: base and tip, default step, variants of it, which parameters are symbolic."""

from __future__ import annotations

import dataclasses
import math
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast

from diffpbd.runtime.errors import InputError
from diffpbd.runtime.naming import IDENTIFIER, RESERVED

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

INTEGRATORS: Final = ("variational", "paper")
SOLVERS: Final = ("direct", "gauss_seidel", "jacobi")
SYMBOLIC: Final = ("mass", "com", "inertia", "origin")
FRICTIONS: Final = ("none", "urdf")

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

DEFAULT_VARIANTS: Final = ("variational_direct", "paper_direct", "paper_gauss_seidel", "paper_jacobi")

AVERAGING: Final = "averaging"
Relaxation: TypeAlias = float | Literal["averaging"] | None
"""What Jacobi sweeps make of their corrections: a factor in (0, 2), an average for each link, or None for the default, see
codegen/method/relaxation.py."""

LARGEST_RELAXATION: Final = 2.0
"""From here on Jacobi sweeps diverge even for a joint alone."""


@dataclass(frozen=True)
class Recipe:
    """What to generate.

    `name` prefixes every C symbol and names the folder. `urdf` is where the description lies; a path never
    belongs into generated code. `base` and `tip` are link names; None and () leave the choice to the
    description (root, every end). Joints in `hold` are welded at their zero position. `h` [s] is only the
    default of the commands. `integrator` and `solver` name the default variant of `step`, `sweeps` counts the
    iterations of each variant, `relaxation` is what Jacobi sweeps make of their corrections.
    With `limits` joints stop at their limits in the steps on maximal states.
    `gravity` [m/s²] (3, root link frame) is the default of alpha. `springs` names the joints that carry springs,
    which `identify --fit spring` fits. `wrench` names moving links or tips at whose frames external wrenches act,
    `lever_springs` hinges between whose links straight springs act on lever arms.
    """

    name: str
    urdf: Path
    base: str | None = None
    tip: tuple[str, ...] = ()
    hold: tuple[str, ...] = ()
    h: float = DEFAULT_STEP
    integrator: str = "variational"
    solver: str = "direct"
    sweeps: Mapping[str, int] = field(default_factory=lambda: dict(DEFAULT_SWEEPS), hash=False)
    variants: tuple[str, ...] = DEFAULT_VARIANTS
    symbolic: tuple[str, ...] = ()
    friction: str = "none"
    gravity: tuple[float, float, float] = DEFAULT_GRAVITY
    springs: tuple[str, ...] = ()
    limits: bool = False
    wrench: tuple[str, ...] = ()
    lever_springs: tuple[str, ...] = ()
    relaxation: Relaxation = None

    @property
    def variant(self) -> str:
        """The variant that `step` is: `<integrator>_<solver>`."""
        return f"{self.integrator}_{self.solver}"

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
        _expect_choice("integrator", self.integrator, INTEGRATORS)
        _expect_choice("solver", self.solver, SOLVERS)
        _expect_choice("friction", self.friction, FRICTIONS)
        for kind in self.symbolic:
            _expect_choice("symbolic", kind, SYMBOLIC)
        for variant in (*self.variants, *self.sweeps):
            _expect_choice("variants", variant, tuple(DEFAULT_SWEEPS))
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
        if not all(math.isfinite(component) for component in self.gravity):
            raise InputError(f'recipe "{self.name}": gravity = {self.gravity}; finite numbers are expected')


def load_recipe(path: str | os.PathLike[str]) -> Recipe:
    """Reads a TOML recipe; `urdf` in it is relative to the file. Unknown entries are refused."""
    path = Path(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: the recipe cannot be read: {error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: the recipe is not valid TOML: {error}") from error
    known = {entry.name for entry in dataclasses.fields(Recipe)}
    unknown = sorted(set(content) - known)
    if unknown:
        raise InputError(f"{path}: unknown {', '.join(unknown)}; a recipe knows {', '.join(sorted(known))}")
    entries = _Entries(path, content)
    options: dict[str, Any] = {
        "name": entries.text("name", path.stem),
        "urdf": path.parent / entries.text("urdf", f"{path.stem}.urdf"),
        "base": entries.text("base", "") or None,
        "tip": entries.texts("tip", ()),
        "hold": entries.texts("hold", ()),
        "h": entries.number("h", DEFAULT_STEP),
        "integrator": entries.text("integrator", "variational"),
        "solver": entries.text("solver", "direct"),
        "sweeps": {**DEFAULT_SWEEPS, **entries.counts("sweeps")},
        "variants": entries.texts("variants", DEFAULT_VARIANTS),
        "symbolic": entries.texts("symbolic", ()),
        "friction": entries.text("friction", "none"),
        "limits": entries.flag("limits", False),
        "gravity": entries.vector("gravity", DEFAULT_GRAVITY),
        "springs": entries.texts("springs", ()),
        "wrench": entries.texts("wrench", ()),
        "lever_springs": entries.texts("lever_springs", ()),
        "relaxation": entries.relaxation("relaxation"),
    }
    try:
        return Recipe(**options)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def default_recipe(
    urdf: str | os.PathLike[str], base: str | None = None, tip: str | Sequence[str] | None = None
) -> Recipe:
    """The recipe of a bare URDF file; it is named after the file."""
    urdf = Path(urdf)
    name = re.sub(r"[^A-Za-z0-9_]", "_", urdf.stem)
    if not IDENTIFIER.fullmatch(name) or name.lower() in RESERVED:
        name = f"robot_{name}"
    return Recipe(name=name, urdf=urdf, base=base, tip=as_names(tip))


def with_options(
    recipe: Recipe,
    *,
    name: str | None = None,
    base: str | None = None,
    tip: str | Sequence[str] | None = None,
    hold: Sequence[str] | None = None,
    h: float | None = None,
    integrator: str | None = None,
    solver: str | None = None,
    sweeps: int | None = None,
    symbolic: Sequence[str] | None = None,
    friction: str | None = None,
    limits: bool | None = None,
    gravity: tuple[float, float, float] | None = None,
    wrench: Sequence[str] | None = None,
    lever_springs: Sequence[str] | None = None,
    relaxation: Relaxation = None,
) -> Recipe:
    """The recipe with the options that are not None replaced.

    A new default variant joins `variants`; `sweeps` is the count of the default variant.
    """
    integrator = recipe.integrator if integrator is None else integrator
    solver = recipe.solver if solver is None else solver
    _expect_choice("integrator", integrator, INTEGRATORS)
    _expect_choice("solver", solver, SOLVERS)
    variant = f"{integrator}_{solver}"
    variants = recipe.variants if variant in recipe.variants else (*recipe.variants, variant)
    counts = dict(recipe.sweeps)
    if sweeps is not None:
        counts[variant] = sweeps
    return Recipe(
        name=recipe.name if name is None else name,
        urdf=recipe.urdf,
        base=recipe.base if base is None else base,
        tip=recipe.tip if tip is None else as_names(tip),
        hold=recipe.hold if hold is None else tuple(hold),
        h=recipe.h if h is None else h,
        integrator=integrator,
        solver=solver,
        sweeps=counts,
        variants=variants,
        symbolic=recipe.symbolic if symbolic is None else tuple(symbolic),
        friction=recipe.friction if friction is None else friction,
        limits=recipe.limits if limits is None else limits,
        gravity=recipe.gravity if gravity is None else gravity,
        springs=recipe.springs,
        wrench=recipe.wrench if wrench is None else tuple(wrench),
        lever_springs=recipe.lever_springs if lever_springs is None else tuple(lever_springs),
        relaxation=recipe.relaxation if relaxation is None else relaxation,
    )


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


@dataclass(frozen=True)
class _Entries:
    """Typed access to a TOML table; a value of another type is refused with its name."""

    path: Path
    content: Mapping[str, Any]

    def text(self, key: str, default: str) -> str:
        value = self.content.get(key, default)
        return str(value) if isinstance(value, str) else self._refuse(key, value, "a string")

    def texts(self, key: str, default: tuple[str, ...]) -> tuple[str, ...]:
        value = self.content.get(key, default)
        if isinstance(value, str):
            return (value,)
        if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
            self._refuse(key, value, "a list of strings")
        return tuple(value)

    def flag(self, key: str, default: bool) -> bool:
        value = self.content.get(key, default)
        return value if isinstance(value, bool) else bool(self._refuse(key, value, "true or false"))

    def number(self, key: str, default: float) -> float:
        value = self.content.get(key, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self._refuse(key, value, "a number")
        return float(value)

    def relaxation(self, key: str) -> Relaxation:
        value = self.content.get(key)
        if value is None or value == AVERAGING:
            return cast("Relaxation", value)
        return float(value) if type(value) in (int, float) else self._refuse(key, value, f'a number or "{AVERAGING}"')

    def vector(self, key: str, default: tuple[float, float, float]) -> tuple[float, float, float]:
        value = self.content.get(key, default)
        numbers = value if isinstance(value, (list, tuple)) else ()
        if len(numbers) != 3 or not all(type(x) in (int, float) for x in numbers):
            self._refuse(key, value, "a list of 3 numbers")
        x, y, z = (float(component) for component in numbers)
        return (x, y, z)

    def counts(self, key: str) -> dict[str, int]:
        value = self.content.get(key, {})
        if not isinstance(value, dict) or not all(type(count) is int for count in value.values()):
            self._refuse(key, value, "a table of whole numbers")
        return dict(value)

    def _refuse(self, key: str, value: object, expected: str) -> Any:
        raise InputError(f"{self.path}: {key} = {value!r}; {expected} is expected")
