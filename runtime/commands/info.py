"""`diffpbd info ROBOT`."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import click

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.commands.options.locate import open_manifest
from diffpbd.runtime.folder.library import PATH_VARIABLE, PORTABLE, Library
from diffpbd.runtime.folder.manifest import Argument, Clearance, Function, Manifest
from diffpbd.runtime.folder.unwatched import not_watched
from diffpbd.runtime.functions.parameters import ParameterVector
from diffpbd.runtime.model.inertia import LINEAR_FRAME, LINEAR_NAMES, LINEAR_UNITS, link_parameters
from diffpbd.runtime.report.tables import number, table

__all__ = ["command", "describe"]

REQUEST = re.compile(r"on request, by `([^`]+)`")


@click.command("info")
@click.argument("robot")
@click.option("--json", "as_json", is_flag=True, help="Print the manifest, or with --parameters the vectors, as JSON.")
@click.option("--parameters", is_flag=True, help="Print the linear inertial parameters of every link instead.")
@click.option("--params", metavar="FILE", help="With --parameters: values of alpha by name.")
def command(robot: str, as_json: bool, parameters: bool, params: str | None) -> None:
    """Print joints, limits, parameters (alpha) and functions of the generated ROBOT."""
    if params is not None and not parameters:
        raise click.UsageError("--params gives values to --parameters; add --parameters.")
    folder, manifest = open_manifest(robot)
    if parameters:
        click.echo(_parameters(manifest, params, as_json))
        return
    if as_json:
        click.echo(manifest.to_json(), nl=False)
    else:
        click.echo(f"{folder}\n{describe(manifest)}\n\n{_instructions(folder, manifest)}")


def _instructions(folder: Path, manifest: Manifest) -> str:
    """Which instruction sets the compiled library would use here."""
    try:
        used = Library(folder, manifest).instructions
    except InputError as error:
        return f"instruction sets: none, the library does not open ({error})"
    return f"instruction sets: {used} (set {PATH_VARIABLE}={PORTABLE} for the same bits on every machine)"


def _parameters(manifest: Manifest, params: str | None, as_json: bool) -> str:
    """θ of u = Y θ (`regressor`), link by link, with order, units and frame."""
    vectors = link_parameters(manifest, ParameterVector(manifest.alpha, manifest.name).vector(params))
    names = [link.name for link in manifest.robot.links]
    if as_json:
        links = {name: list(map(float, row)) for name, row in zip(names, vectors, strict=True)}
        facts = {"order": LINEAR_NAMES, "units": LINEAR_UNITS, "frame": LINEAR_FRAME, "links": links}
        return json.dumps(facts, indent=1, ensure_ascii=False)
    rows = [[name, *(number(float(x), 9) for x in row)] for name, row in zip(names, vectors, strict=True)]
    header = ["link", *(f"{name} [{unit}]" for name, unit in zip(LINEAR_NAMES, LINEAR_UNITS, strict=True))]
    return (
        f"{manifest.name}: u = Y theta of `regressor`; first moment and inertia {LINEAR_FRAME}\n\n{table(header, rows)}"
    )


def describe(manifest: Manifest) -> str:
    """All that `info` prints, without the folder."""
    robot, recipe = manifest.robot, manifest.recipe
    joints = [
        [
            j.name,
            j.type,
            j.parent,
            j.child,
            number(j.lower),
            number(j.upper),
            number(j.velocity),
            number(j.effort),
        ]
        for j in robot.joints
    ]
    alpha = [[p.name, number(p.default), number(p.lower), number(p.upper), p.unit] for p in manifest.alpha]
    functions = [[f"{f.operations:>10}", f.name, signature(f)] for f in manifest.functions]
    chain = (
        f"from {robot.base} to {', '.join(robot.tips)}" if robot.tips != (robot.base,) else f"that move {robot.base}"
    )
    return "\n\n".join(
        [
            f"{manifest.name}: {len(robot.joints)} joints {chain}, "
            f"moving mass {robot.total_mass:.6g} kg; h = {recipe.h:g} s, {recipe.integrator}, "
            f"{recipe.solver}; "
            f"made by diffpbd {manifest.generator.diffpbd}",
            table(["joint", "type", "parent", "child", "lower", "upper", "velocity", "effort"], joints, left=4),
            *_base(manifest),
            *_frames(manifest),
            *_undriven(manifest),
            *_mimics(manifest),
            *_loops(manifest),
            *_contacts(manifest),
            *_clearance(manifest),
            *_squared(manifest),
            *_wrenches(manifest),
            *_elements(manifest),
            *_left_out(manifest),
            table(["alpha", "default", "lower", "upper", "unit"], alpha),
            table(["operations", "function", "inputs -> outputs"], functions, left=3),
        ]
    )


def _base(manifest: Manifest) -> list[str]:
    """Lines about a base that moves."""
    robot = manifest.robot
    if not robot.base_joint:
        return []
    text = f"{robot.base_joint} base: no motor drives {', '.join(robot.base_freedoms)}"
    if robot.floating:
        text += f"; rates have {len(robot.joints)} numbers, velocity and angular velocity of {robot.joints[0].child} in world "
        text += f"axes, then the joints; positions have {len(robot.positions)}: {', '.join(robot.positions[:7])} (its place "
        text += "and unit quaternion), then the joints"
    return [text]


def _frames(manifest: Manifest) -> list[str]:
    """A line about the frames that can be asked for by name."""
    names = ", ".join(manifest.robot.frames)
    return [f"frames by name: {names} (`generate --frames all`: every link of the description)"] if names else []


def _undriven(manifest: Manifest) -> list[str]:
    """Parts of the description that are not in the dynamics: masses behind joints that were not chosen, rotors."""
    lines = []
    if branches := manifest.robot.left_out:
        held = " ".join(f"--hold {branch.joint}" for branch in branches)
        parts = ", ".join(f"{b.mass:.6g} kg behind {b.joint}, missing from {b.carrier}" for b in branches)
        lines.append(f"left out: {sum(b.mass for b in branches):.6g} kg ({parts}); `generate {held}` keeps it")
    for joint, inertia in manifest.robot.rotors.items():
        lines.append(f"rotor on {joint}: {inertia:.6g} kg·m² by the file's transmission, not in rotor_inertia.{joint}")
    return ["\n".join(lines)] if lines else []


def _mimics(manifest: Manifest) -> list[str]:
    """A table of the joints that follow others, where there are any."""
    rows = [[m.name, m.joint, number(m.multiplier), number(m.offset)] for m in manifest.robot.mimics]
    return [table(["mimic joint", "follows", "multiplier", "offset"], rows, left=2)] if rows else []


def _loops(manifest: Manifest) -> list[str]:
    """A table of the closed loops, and the joints without a motor, where there are any."""
    robot = manifest.robot
    rows = [[k.name, k.type, k.parent, k.child, ", ".join(k.kept), ", ".join(k.dropped)] for k in robot.loops]
    parts = [table(["loop", "type", "parent", "child", "rows kept", "rows dropped"], rows, left=6)] if rows else []
    lines = [f"mobility: {robot.mobility}"] if rows else []
    passive = [name for name in robot.passive if name not in robot.base_freedoms]
    lines += [f"passive joints: {', '.join(passive)}"] if passive else []
    return [*parts, "\n".join(lines)] if lines else parts


def _contacts(manifest: Manifest) -> list[str]:
    """A table of what can touch, where anything can."""
    rows = [
        [c.name, c.link, number(c.radius), f"{c.shape} {c.against}", c.other, "yes" if c.rough else "no"]
        for c in manifest.robot.contacts
    ]
    header = ["contact", "link", "radius", "against", "on", "friction"]
    return [table(header, rows, left=2)] if rows else []


def _clearance(manifest: Manifest) -> list[str]:
    """A table of the shapes that may not touch, and which of them are compared, where there are any."""
    found = manifest.clearance
    if found is None:
        return []
    rows = [
        [
            s.name,
            s.link,
            s.kind,
            " x ".join(number(2.0 * h) for h in s.halves if h),
            number(s.radius),
            others(s.name, found),
        ]
        for s in found.shapes
    ]
    placed = ", ".join(f"{n} {k}" for k, n in found.obstacles.items())
    lines = [*([f"obstacles at run time: {placed}"] if placed else []), *not_watched(found, most=None)]
    header = ["shape", "on", "kind", "length or sides", "radius", "kept from"]
    return [table(header, rows, left=3), *(["\n".join(lines)] if lines else [])]


def others(name: str, clearance: Clearance) -> str:
    """The shapes that one is compared with."""
    own = {s.name for s in clearance.shapes}
    pairs = [row for row in clearance.rows if name in row and own.issuperset(row)]
    return ", ".join(other for row in pairs for other in row if other != name) or "-"


def _squared(manifest: Manifest) -> list[str]:
    """A line for the joints whose right angles were taken as exact, where there are any."""
    within = next((c.value for c in manifest.constants if c.name == "right_angle"), 0.0)
    names = ", ".join(manifest.robot.squared)
    return [f"rotations whose entries within {within:g} of -1, 0, 1 were rounded to these: {names}"] if names else []


def _wrenches(manifest: Manifest) -> list[str]:
    """A line for every frame that an external wrench acts at, where there are any."""
    found = (re.fullmatch(r"wrench\.(.*)\.force\.x", entry.name) for entry in manifest.alpha)
    names = [match[1] for match in found if match]
    lines = [
        f"external wrench at the origin of {name}, in world axes: wrench.{name}.force [N], wrench.{name}.torque [N·m]"
        for name in names
    ]
    return ["\n".join(lines)] if lines else []


def _elements(manifest: Manifest) -> list[str]:
    """A line for every spring on a chosen joint, where there are any."""
    units = {entry.name: entry.unit for entry in manifest.alpha}
    lines = []
    for element in manifest.elements:
        for joint in element.joints:
            told = (f"{name.split('.')[1]} [{units[name]}]" for name in element.entries(joint))
            lines.append(f"{element.name} on {joint} ({element.words}): {', '.join(told)}")
    return ["\n".join(lines)] if lines else []


def _left_out(manifest: Manifest) -> list[str]:
    """A line for every reason why functions of the catalogue are not there, with what would make them; the reverse mode of a
    variant is told with `vjp_step` and the variant."""
    shown = {k: why for k, why in manifest.left_out.items() if not k.startswith("vjp_step_")}
    rows = {why: ", ".join(k for k, v in shown.items() if v == why) for why in dict.fromkeys(shown.values())}
    commands = {why: match[1] for why in rows if (match := re.search(REQUEST, why))}
    stem = os.path.commonprefix(list(commands.values())).rpartition(" --")[0]
    lines = [f"not generated: {names} ({why})" for why, names in rows.items() if why not in commands]
    if commands:
        lines.append(f"generated on request, by `{stem}` with" if stem else "generated on request, by")
        lines += [f"  {call.removeprefix(stem).strip()}: {rows[why]}" for why, call in commands.items()]
    return ["\n".join(lines)] if lines else []


def signature(function: Function) -> str:
    """`p[7], h -> xi[91]`; matrices as rows x columns, trajectories as rows x N."""

    def text(argument: Argument) -> str:
        sizes = (argument.rows, argument.cols)[: argument.axes]
        return f"{argument.name}[{'x'.join(map(str, sizes))}]" if sizes else argument.name

    return f"{', '.join(map(text, function.inputs))} -> {', '.join(map(text, function.outputs))}"
