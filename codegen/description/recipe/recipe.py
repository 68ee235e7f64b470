"""A recipe: base and tip, default step, variants of it, which parameters are symbolic."""

from __future__ import annotations

import dataclasses
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from diffpbd.codegen.description.joints.base import BASE_JOINTS, FIXED
from diffpbd.codegen.description.joints.loops import LoopEntry, closing
from diffpbd.codegen.description.read.mjcf.document import file_defaults
from diffpbd.codegen.description.recipe.options import (
    MOST_SWEEPS,
    NAMES,
    Relaxation,
    as_names,
    choices_of,
    expect_choice,
    expect_relaxation,
    expect_usable,
    names_of,
    relaxation_of,
    sweeps_of,
)
from diffpbd.codegen.description.shapes.clearance import ShapeEntry, Shaping
from diffpbd.codegen.description.shapes.contact_shapes import ContactEntry
from diffpbd.codegen.description.shapes.contacts import PlaneEntry, Touching
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.names import IDENTIFIER, RESERVED
from diffpbd.runtime.base.options import option

SYMBOLIC: Final = ("mass", "com", "inertia", "origin", "loop", "contact")

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

GROUND: Final = "ground"
"""Name of the plane of `ground`."""
FURTHEST_GROUND: Final = 100.0  # m


@dataclass(frozen=True)
class Recipe:
    """A recipe: entries of its file, options of `diffpbd generate` and keywords of `diffpbd.generate`.

    `name` prefixes every C symbol and names the folder. `urdf` is where the description lies; a path never
    belongs into generated code. None and () leave `base` and `tip` to the description (root, every end). `h` [s] is only the
    default of the commands, `gravity` [m/s²] (3, root link frame) that of alpha. `springs` names the joints that carry springs,
    which `identify --fit spring` fits. `table` is the height [m] over the root link of the description that `run`, `excite` and
    `mpc` keep the arm above. Every `loop` closes what the tree leaves open (docs/loops.md), by rows that are kept of it, or by
    `loop_rows` all of them. Every `contact` touches planes (`plane`) or others (docs/contact.md). Distances are of all `pairs`
    LINK/LINK (those that sampling and the `srdf` leave), of shapes of `<collision>` or every `shape` (docs/clearance.md).
    """

    name: str
    urdf: Path
    base: str | None = option("Base link (default: the recipe's, or the root).", None, metavar="LINK")
    tip: tuple[str, ...] = option("Tip link; repeatable.", (), metavar="LINK", many=True)
    hold: tuple[str, ...] = option("Fix this joint at zero; repeatable.", (), metavar="JOINT", many=True)
    h: float = DEFAULT_STEP
    integrator: str = option("Integrator of `step`.", "variational", choices=("variational", "paper"))
    solver: str = option("Projection of `step`.", "direct", choices=("direct", "gauss_seidel", "jacobi"))
    sweeps: Mapping[str, int] = option(
        "Sweeps, or Newton iterations and linear solves of direct projections, of `step`, or by variant.",
        make=lambda: dict(DEFAULT_SWEEPS), metavar="N|VARIANT=N,…", parse=sweeps_of,
    )  # fmt: skip
    variants: tuple[str, ...] = option(
        "Steps on maximal states, INTEGRATOR_SOLVER by commas, published (the default one and the paper's three) or all "
        "(default: variational_direct).",
        DEFAULT_VARIANTS, choices=(*DEFAULT_SWEEPS, ALL, PUBLISHED), metavar="LIST", parse=names_of,
    )  # fmt: skip
    symbolic: tuple[str, ...] = option(
        "Make these run-time parameters: mass, com, inertia, origin (separated by commas).",
        (), choices=SYMBOLIC, metavar="LIST", parse=names_of,
    )  # fmt: skip
    friction: str = option("Default friction: none, or the file's.", "none", choices=("none", "urdf"))
    friction_law: tuple[str, ...] = option(
        "Parts of the friction law besides viscous and Coulomb friction, separated by commas: asymmetric (coefficients "
        "differ by direction), stribeck (more at rest, falling with speed), dahl (memory: turns over a way after a "
        "reversal).", (), choices=("asymmetric", "stribeck", "dahl"), metavar="LIST", parse=names_of,
    )  # fmt: skip
    gravity: tuple[float, float, float] = DEFAULT_GRAVITY
    springs: tuple[str, ...] = ()
    limits: bool = option("Joints stop at their limits.", False, flag="--limits/--no-limits")
    wrench: tuple[str, ...] = option(
        "External force [N] and torque [N·m] on this link or tip, as parameters; repeatable.", (), metavar="LINK", many=True,
    )  # fmt: skip
    lever_springs: tuple[str, ...] = option(
        "Parameters of a spring between two lever arms about this hinge (stiffness [N/m], arms and rest length [m], angle "
        "[rad]), may be given more than once.", (), flag="--lever-spring", metavar="JOINT", many=True,
    )  # fmt: skip
    element: tuple[str, ...] = option(
        "A force element of a Python file (docs/elements.md): on every joint that it fits, or a spring on one; repeatable.",
        (), metavar="FILE.py[=JOINT]", many=True,
    )  # fmt: skip
    relaxation: Relaxation = option(
        "Relaxation factor of Jacobi sweeps, between 0 and 2 (default: 1 in the printed order, else 1.8 over the most "
        "joints at a link, at most 1), or `averaging`, which loses momentum.", None, metavar="FACTOR", parse=relaxation_of,
    )  # fmt: skip
    functions: tuple[str, ...] = option(
        "Only these and their derivatives, by commas, besides inverse dynamics and kinematics: joint_step, step, mpc, …; "
        "`default,NAME` adds NAME to the default, all generates everything (`diffpbd info` names what is left out).",
        (), metavar="LIST", parse=names_of,
    )  # fmt: skip
    passive: tuple[str, ...] = option(
        "This joint has no motor; may be given more than once.", (), metavar="JOINT", many=True
    )
    loop: tuple[LoopEntry, ...] = ()
    loop_rows: str = dataclasses.field(default="kept", metadata={"choices": ("kept", "all")})
    plane: tuple[PlaneEntry, ...] = ()
    contact: tuple[ContactEntry, ...] = ()
    close: tuple[str, ...] = option(
        "Close a loop: the frames of both links stay together, by a ball (default), a hinge about z, or a weld; repeatable.",
        (), metavar="LINK=LINK[:TYPE]", many=True,
    )  # fmt: skip
    ground: float | None = option(
        "A plane called ground across z at this height [m], for --contact-from-collision; of a floating base in the world.",
        None, metavar="Z", span=(-FURTHEST_GROUND, FURTHEST_GROUND),
    )  # fmt: skip
    cone: str = option(
        "Contacts creep at contact.slip, 1e-5 m/s (smooth), or 1e-9 m/s, with derivatives at contact.slope_slip (exact).",
        "smooth", choices=("smooth", "exact"),
    )  # fmt: skip
    contact_from_collision: tuple[str, ...] = option(
        "Contacts of this link's <collision> (spheres, boxes, capsules, cylinders) against a plane of the recipe or another "
        "link's <collision>; may be given more than once.", (), metavar="LINK[=PLANE|LINK]", many=True,
    )  # fmt: skip
    table: float | None = None
    sweep_order: str = option(
        "Gauss-Seidel closes joint by joint (default), or as the paper prints all positional, then all angular constraints.",
        "joints", choices=("joints", "printed"),
    )  # fmt: skip
    multiplier: str = option(
        "Sweeps of paper_gauss_seidel and paper_jacobi solve a joint's rows together (default), or as printed along their "
        "length.", "block", choices=("block", "scalar"),
    )  # fmt: skip
    base_joint: str = option(
        "How the base moves: not (default), in the vertical plane of x and z, on the floor (x and y), or freely.",
        FIXED, choices=BASE_JOINTS,
    )  # fmt: skip
    cuda: bool = option("Also generate CUDA code, for batches on a GPU.", False, flag="--cuda/--no-cuda")
    single: bool = option(
        "Also generate C in single precision, for microcontrollers.", False, flag="--single/--no-single"
    )
    frames: tuple[str, ...] = option(
        "Further links whose pose, Jacobian, velocity and acceleration are available by name, by commas, or all.",
        (), metavar="LIST", parse=names_of,
    )  # fmt: skip
    clearance: bool = option(
        "Generate distances of links from each other and from obstacles, by their <collision> shapes.",
        False, flag="--clearance/--no-clearance",
    )  # fmt: skip
    shape: tuple[ShapeEntry, ...] = ()
    srdf: Path | None = None
    pairs: tuple[str, ...] = ()
    obstacles: tuple[str, ...] = option(
        "With --clearance: so many spheres, capsules, boxes or planes given at run time, may be given more than once.",
        (), metavar="KIND=COUNT", many=True,
    )  # fmt: skip

    @property
    def variant(self) -> str:
        """The variant that `step` is: `<integrator>_<solver>`."""
        return f"{self.integrator}_{self.solver}"

    @property
    def attached(self) -> tuple[tuple[str, str], ...]:
        """Element and joint of every spring on a chosen joint."""
        own = (word.partition("=")[::2] for word in self.element if "=" in word)
        return (*(("lever_spring", joint) for joint in self.lever_springs), *own)

    @property
    def printed(self) -> tuple[str, ...]:
        """Parts of the paper's sweeps that are as it prints them."""
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
            for value in as_names(getattr(self, entry.name)) if (choices := choices_of(entry)) else ():
                expect_choice(entry.name, value, choices)
        words = {ALL: tuple(DEFAULT_SWEEPS), PUBLISHED: PUBLISHED_VARIANTS}
        chosen = dict.fromkeys(v for name in self.variants for v in words.get(name, (name,)))
        object.__setattr__(self, "variants", tuple(DEFAULT_SWEEPS) if ALL in self.variants else tuple(chosen))
        for variant in self.sweeps:
            expect_choice("sweeps", variant, tuple(DEFAULT_SWEEPS))
        if self.variant not in self.variants:
            raise InputError(f'recipe "{self.name}": the default variant {self.variant} is not among variants')
        for variant, count in self.sweeps.items():
            if not 1 <= count <= MOST_SWEEPS:
                raise InputError(f'recipe "{self.name}": sweeps.{variant} = {count}; 1 to {MOST_SWEEPS} are expected')
        expect_relaxation(self.relaxation, f'recipe "{self.name}"')
        if not (math.isfinite(self.h) and self.h > 0.0):
            raise InputError(f'recipe "{self.name}": h = {self.h}; a positive step in seconds is expected')
        for height, z, far in (("table", self.table, FURTHEST_TABLE), ("ground", self.ground, FURTHEST_GROUND)):
            if z is not None and not abs(z) <= far:
                raise InputError(
                    f'recipe "{self.name}": {height} = {z}; a height from {-far:g} to {far:g} m is expected'
                )
        if not all(math.isfinite(component) for component in self.gravity):
            raise InputError(f'recipe "{self.name}": gravity = {self.gravity}; finite numbers are expected')
        for kind in ("loops", "plane", "contact", "shape"):
            for k, entry_ in enumerate(getattr(self, kind)):
                expect_usable(entry_, f'recipe "{self.name}": {kind.rstrip("s")} {k + 1}')

    @property
    def loops(self) -> tuple[LoopEntry, ...]:
        """Loops of the recipe, then those of `close`."""
        return (*self.loop, *map(closing, self.close))

    @property
    def touching(self) -> Touching:
        """Entries about contact, for the reader of the description."""
        up = () if self.ground is None else (PlaneEntry(GROUND, (0.0, 0.0, self.ground), (0.0, 0.0, 1.0)),)
        return Touching((*self.plane, *up), self.contact, self.contact_from_collision)

    @property
    def shaping(self) -> Shaping:
        """Entries about shapes, for the reader of the description."""
        return Shaping(self.clearance, self.shape)


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
        if entry.name in chosen and entry.type == NAMES:
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
