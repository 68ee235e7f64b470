"""Entries of a recipe as options: of `diffpbd generate`, and as keywords of `diffpbd.generate`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from diffpbd.codegen.description.recipe import AVERAGING, LARGEST_RELAXATION, MOST_SWEEPS, Recipe
from diffpbd.runtime.base.options import Option

__all__ = ["OPTIONS", "option_words"]

HIGHEST: Final = 100.0
"""[m] Of the plane of `ground`."""


def _names(text: str) -> list[str]:
    """Names by commas."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise ValueError(f"expected names by commas, found {text!r}; leave it out for the default.")
    return names


def _relaxation(text: str) -> float | str:
    """A number, or the word `averaging`."""
    if text == AVERAGING:
        return text
    try:
        factor = float(text)
    except ValueError:
        factor = 0.0
    if not 0.0 < factor < LARGEST_RELAXATION:
        raise ValueError(f"{text} is neither a factor between 0 and {LARGEST_RELAXATION:g} nor `{AVERAGING}`.")
    return factor


def _sweeps(text: str) -> int | dict[str, int]:
    """A count, or counts by variant."""
    counts: dict[str, int] = {}
    for part in text.split(","):
        variant, _, count = part.strip().rpartition("=")
        if variant in counts:
            raise ValueError(f"{text}: {variant or 'the count'} is given twice.")
        counts[variant] = int(count) if count.isdecimal() else 0
        if not 1 <= counts[variant] <= MOST_SWEEPS:
            raise ValueError(f"{part.strip()}: a count N in 1<=x<={MOST_SWEEPS}, or VARIANT=N by commas, is expected.")
    if "" in counts and len(counts) > 1:
        raise ValueError(f"{text}: either one count, or a count for each variant.")
    return counts.get("", counts)


OPTIONS: Final[Mapping[str, Option]] = MappingProxyType({
    "base": Option("Base link (default: the recipe's, or the root).", metavar="LINK"),
    "tip": Option("Tip link; repeatable.", metavar="LINK", many=True),
    "hold": Option("Fix this joint at zero; repeatable.", metavar="JOINT", many=True),
    "integrator": Option("Integrator of `step`."),
    "solver": Option("Projection of `step`."),
    "sweeps": Option(
        "Sweeps, or Newton iterations and linear solves of direct projections, of `step`, or by variant.",
        metavar="N|VARIANT=N,…", parse=_sweeps,
    ),
    "variants": Option(
        "Steps on maximal states, INTEGRATOR_SOLVER by commas, published (the default one and the paper's three) or "
        "all (default: variational_direct).", metavar="LIST", parse=_names,
    ),
    "symbolic": Option(
        "Make these run-time parameters: mass, com, inertia, origin (separated by commas).", metavar="LIST", parse=_names,
    ),
    "friction": Option("Default friction: none, or the file's."),
    "friction_law": Option(
        "Parts of the friction law besides viscous and Coulomb friction, separated by commas: asymmetric "
        "(coefficients differ by direction), stribeck (more at rest, falling with speed), dahl (memory: turns over a way "
        "after a reversal).", metavar="LIST", parse=_names,
    ),
    "limits": Option("Joints stop at their limits.", flag="--limits/--no-limits"),
    "wrench": Option(
        "External force [N] and torque [N·m] on this link or tip, as parameters; repeatable.", metavar="LINK", many=True,
    ),
    "lever_springs": Option(
        "Parameters of a spring between two lever arms about this hinge (stiffness [N/m], arms and rest length [m], "
        "angle [rad]), may be given more than once.", flag="--lever-spring", metavar="JOINT", many=True,
    ),
    "relaxation": Option(
        "Relaxation factor of Jacobi sweeps, between 0 and 2 (default: 1.8 divided by the largest number of joints "
        "at a link, at most 1), or `averaging`, which loses momentum.", metavar="FACTOR", parse=_relaxation,
    ),
    "functions": Option(
        "Only these and their derivatives, by commas, besides inverse dynamics and kinematics: joint_step, step, "
        "mpc, …; `default,NAME` adds NAME to the default, all generates everything (`diffpbd info` names what is "
        "left out).", metavar="LIST", parse=_names,
    ),
    "passive": Option("This joint has no motor; may be given more than once.", metavar="JOINT", many=True),
    "close": Option(
        "Close a loop: the frames of both links stay together, by a ball (default), a hinge about z, or a weld; "
        "repeatable.", metavar="LINK=LINK[:TYPE]", many=True,
    ),
    "ground": Option(
        "A plane called ground across z at this height [m], for --contact-from-collision; of a floating base in the "
        "world.", metavar="Z", span=(-HIGHEST, HIGHEST),
    ),
    "cone": Option(
        "Contacts creep at contact.slip, 1e-5 m/s (smooth), or 1e-9 m/s, with derivatives at contact.slope_slip (exact).",
    ),
    "contact_from_collision": Option(
        "Contacts of this link's <collision> (spheres, boxes, capsules, cylinders) against a plane of the recipe or another "
        "link's <collision>; may be given more than once.", metavar="LINK[=PLANE|LINK]", many=True,
    ),
    "sweep_order": Option(
        "Gauss-Seidel closes joint by joint (default), or as the paper prints all positional, then all angular "
        "constraints.",
    ),
    "multiplier": Option(
        "Sweeps of paper_gauss_seidel and paper_jacobi solve a joint's rows together (default), or as printed along "
        "their length.",
    ),
    "base_joint": Option(
        "How the base moves: not (default), in the vertical plane of x and z, on the floor (x and y), or freely.",
    ),
    "cuda": Option("Also generate CUDA code, for batches on a GPU.", flag="--cuda/--no-cuda"),
    "single": Option("Also generate C in single precision, for microcontrollers.", flag="--single/--no-single"),
    "frames": Option(
        "Further links whose pose, Jacobian, velocity and acceleration are available by name, by commas, "
        "or all.", metavar="LIST", parse=_names,
    ),
    "clearance": Option(
        "Generate distances of links from each other and from obstacles, by their <collision> shapes.",
        flag="--clearance/--no-clearance",
    ),
    "obstacles": Option(
        "With --clearance: so many spheres, capsules, boxes or planes given at run time, may be given more than "
        "once.", metavar="KIND=COUNT", many=True,
    ),
})  # fmt: skip
"""By entry: those that an option sets."""


def option_words(recipe: Recipe, plain: Recipe) -> list[str]:
    """The options of `diffpbd generate` that make the one recipe of the other."""
    words: list[str] = []
    for entry in dataclasses.fields(recipe):
        value = getattr(recipe, entry.name)
        if entry.name not in OPTIONS or value == getattr(plain, entry.name):
            continue
        own = OPTIONS[entry.name]
        flag = own.word(entry.name)
        if isinstance(value, bool):
            words.append(flag if value else flag.replace("--", "--no-"))
        elif own.parse is _names:
            joined = entry.name == "variants" and value == (*plain.variants, recipe.variant)
            words += [] if joined else [flag, ",".join(value)]
        elif entry.name == "sweeps":
            changed = {k: count for k, count in value.items() if count != plain.sweeps.get(k)}
            alone = set(changed) == {recipe.variant}
            words += [flag, ",".join(str(count) if alone else f"{k}={count}" for k, count in changed.items())]
        elif isinstance(value, tuple):
            words += [word for name in value for word in (flag, name)]
        else:
            words += [flag, str(value)]
    return words
