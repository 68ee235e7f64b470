"""`diffpbd generate ROBOT`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click

from diffpbd.runtime.api.robots import default_folder
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.commands.numbers import HEIGHT, MOST
from diffpbd.runtime.commands.progress import staged
from diffpbd.runtime.commands.results import as_json, finish, json_option, note, said
from diffpbd.runtime.folder.finish import begin, complete, is_quick
from diffpbd.runtime.report.tables import number, table

__all__ = ["command"]


def _relaxation(_ctx: click.Context, _param: click.Parameter, text: str | None) -> float | Literal["averaging"] | None:
    """A number, or the word `averaging`."""
    if text is None or text == "averaging":
        return text  # type: ignore[return-value]  # the word is what the type says
    try:
        factor = float(text)
    except ValueError:
        factor = 0.0
    if not 0.0 < factor < 2.0:
        raise click.BadParameter(f"{text} is neither a factor between 0 and 2 nor `averaging`.")
    return factor


def _sweeps(_ctx: click.Context, _param: click.Parameter, text: str | None) -> int | dict[str, int] | None:
    """A count, or counts by variant."""
    if text is None:
        return None
    counts: dict[str, int] = {}
    for part in text.split(","):
        variant, _, count = part.strip().rpartition("=")
        if variant in counts:
            raise click.BadParameter(f"{text}: {variant or 'the count'} is given twice.")
        try:
            counts[variant] = int(count)
        except ValueError:
            counts[variant] = 0
        if not 1 <= counts[variant] <= MOST:
            raise click.BadParameter(f"{part.strip()}: a count N in 1<=x<={MOST}, or VARIANT=N by commas, is expected.")
    if "" not in counts:
        return counts
    if len(counts) > 1:
        raise click.BadParameter(f"{text}: either one count, or a count for each variant.")
    return counts[""]


def _names(_ctx: click.Context, _param: click.Parameter, text: str | None) -> list[str]:
    """Names by commas, none without the option."""
    names = [name.strip() for name in (text or "").split(",") if name.strip()]
    if text is not None and not names:
        raise click.BadParameter(f"expected names by commas, found {text!r}; leave it out for the default.")
    return names


@click.command("generate")
@click.argument("robot")
@click.option("--base", metavar="LINK", help="Base link (default: the recipe's, or the root).")
@click.option("--tip", metavar="LINK", multiple=True, help="Tip link; repeatable.")
@click.option("--hold", metavar="JOINT", multiple=True, help="Fix this joint at zero; repeatable.")
@click.option(
    "--base-joint",
    type=click.Choice(["fixed", "planar", "floor", "floating"]),
    help="How the base moves: not (default), in the vertical plane of x and z, on the floor (x and y), or freely.",
)
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Folder (default: generated/NAME).")
@click.option("--integrator", type=click.Choice(["variational", "paper"]), help="Integrator of `step`.")
@click.option("--solver", type=click.Choice(["direct", "gauss_seidel", "jacobi"]), help="Projection of `step`.")
@click.option(
    "--sweeps",
    callback=_sweeps,
    metavar="N",
    help="Sweeps, or Newton iterations and linear solves of direct projections, of `step`; VARIANT=N by commas: of others too.",
)
@click.option(
    "--sweep-order",
    type=click.Choice(["joints", "printed"]),
    help="Gauss-Seidel closes joint by joint (default), or as the paper prints all positional, then all angular constraints.",
)
@click.option("--printed-order", is_flag=True, help="As --sweep-order printed.")
@click.option(
    "--multiplier",
    type=click.Choice(["block", "scalar"]),
    help="Sweeps of paper_gauss_seidel and paper_jacobi solve a joint's rows together (default), or as printed along their "
    "length.",
)
@click.option(
    "--relaxation",
    callback=_relaxation,
    metavar="FACTOR",
    help="Relaxation factor of Jacobi sweeps, between 0 and 2 (default: 1.8 divided by the largest number of joints at a link, "
    "at most 1), or `averaging`, which loses momentum.",
)
@click.option(
    "--variants",
    metavar="LIST",
    callback=_names,
    help="Steps on maximal states, INTEGRATOR_SOLVER by commas, published (the default one and the paper's three) or all "
    "(default: variational_direct).",
)
@click.option(
    "--functions",
    metavar="LIST",
    callback=_names,
    help="Only these and their derivatives, by commas, besides inverse dynamics and kinematics: joint_step, step, mpc, …; "
    "`default,NAME` adds to what is made anyway, all makes everything (`diffpbd info` names what is left out).",
)
@click.option(
    "--symbolic",
    metavar="LIST",
    callback=_names,
    help="Make these run-time parameters: mass, com, inertia, origin (separated by commas).",
)
@click.option("--friction", type=click.Choice(["none", "urdf"]), help="Default friction: none, or the file's.")
@click.option(
    "--friction-law",
    metavar="LIST",
    callback=_names,
    help="Parts of the friction law besides viscous and Coulomb friction, separated by commas: asymmetric (coefficients differ "
    "by direction), stribeck (more at rest, falling with speed).",
)
@click.option("--limits/--no-limits", default=None, help="Joints stop at their limits.")
@click.option(
    "--wrench",
    metavar="LINK",
    multiple=True,
    help="External force [N] and torque [N·m] on this link or tip, as parameters; repeatable.",
)
@click.option(
    "--contact-from-collision",
    metavar="LINK[=PLANE]",
    multiple=True,
    help="Contacts of this link's <collision> (spheres, boxes, capsules, cylinders) against a plane of the recipe, may be "
    "given more than once.",
)
@click.option(
    "--ground",
    type=HEIGHT,
    metavar="Z",
    help="A plane called ground across z at this height [m], for --contact-from-collision; of a floating base in the world.",
)
@click.option(
    "--close",
    metavar="LINK=LINK[:TYPE]",
    multiple=True,
    help="Close a loop: the frames of both links stay together, by a ball (default), a hinge about z, or a weld; repeatable.",
)
@click.option("--passive", metavar="JOINT", multiple=True, help="This joint has no motor; may be given more than once.")
@click.option(
    "--lever-spring",
    "lever_springs",
    metavar="JOINT",
    multiple=True,
    help="Parameters of a spring between two lever arms about this hinge (stiffness [N/m], arms and rest length [m], angle "
    "[rad]), may be given more than once.",
)
@click.option(
    "--frames",
    metavar="LIST",
    callback=_names,
    help="Links beside the tips whose pose, Jacobian, velocity and acceleration can be asked for by name, by commas, or all.",
)
@click.option(
    "--clearance/--no-clearance",
    default=None,
    help="Whether there are distances of links, from each other and from obstacles, of the shapes of <collision>.",
)
@click.option(
    "--obstacles",
    metavar="KIND=COUNT",
    multiple=True,
    help="With --clearance: so many spheres, capsules, boxes or planes given at run time, may be given more than once.",
)
@click.option("--cuda/--no-cuda", default=None, help="Also generate CUDA code, for batches on a GPU.")
@click.option(
    "--order",
    type=click.Choice(["2", "4", "6"]),
    default="2",
    help="6: also generate the step of sixth order, as --functions default,sixth_order_step; order 4 needs nothing more.",
)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Compile in full at once, as for a control PC or for timing; else quickly at first, and in full in the background.",
)
@json_option
def command(
    robot: str, out: Path | None, order: str, everything: bool, printed_order: bool, **options: Any
) -> None:  # fmt: skip
    """Derive, emit and compile the dynamics of ROBOT: a shipped name, a recipe (.toml), a URDF or MJCF file."""
    from diffpbd.codegen.generate import generate

    if order == "6":
        options["functions"] = [*(options["functions"] or ["default"]), "sixth_order_step"]
    if printed_order and options["sweep_order"] == "joints":
        raise InputError("--printed-order and --sweep-order joints: expected one of them.")
    options["sweep_order"] = "printed" if printed_order else options["sweep_order"]
    out = default_folder(robot) if out is None else out
    with staged() as say:
        made = generate(robot, out=out, progress=say, quick=not everything, **options)
        if everything:
            complete(made.folder, made.manifest.library, say)
    if is_quick(made.folder, made.manifest.library) and begin(made.folder, made.manifest.library):
        note("compiled quickly; the optimised library follows in the background (--all waits for it)")
    branches = made.manifest.robot.left_out
    if branches:
        note(
            f"left out: {sum(branch.mass for branch in branches):.6g} kg beyond the tip, which no torque will hold; "
            f"{' '.join(f'--hold {branch.joint}' for branch in branches)} keeps it"
        )
    rows = [[row.name, str(row.operations), number(row.seconds, 3), str(row.bytes)] for row in made.rows]
    words = table(["function", "operations", "seconds", "bytes"], rows) + (
        f"\n{made.folder}: generated in {made.seconds:.1f} s; compilers took {made.compile_seconds:.1f} s beside it."
    )
    if made.unchanged:
        words = f"{made.folder} is up to date ({made.seconds:.1f} s); nothing was regenerated."
    said(words)
    if as_json():
        left_out = [{"joint": branch.joint, "mass": branch.mass} for branch in branches]
        functions = {row.name: {"operations": row.operations, "bytes": row.bytes} for row in made.rows}
        finish({
            "robot": made.manifest.name, "folder": str(made.folder), "unchanged": made.unchanged, "seconds": made.seconds,
            "joints": [joint.name for joint in made.manifest.robot.joints], "left_out": left_out, "functions": functions,
        }, None if made.unchanged else str(made.folder))  # fmt: skip
