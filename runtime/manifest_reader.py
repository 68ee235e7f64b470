"""`manifest.json` of a generated folder read strictly: every fault is named with its place in the file."""

from __future__ import annotations

import json
from pathlib import Path

from diffpbd.runtime.errors import InputError
from diffpbd.runtime.json_node import Node
from diffpbd.runtime.manifest import (
    ABI_VERSION,
    MANIFEST_NAME,
    MATRIX,
    SCALAR,
    SCHEMA_VERSION,
    VECTOR,
    Argument,
    Constant,
    Function,
    Generator,
    Joint,
    Link,
    Manifest,
    Mimic,
    Parameter,
    Recipe,
    RobotFacts,
    hash_of_content,
)

__all__ = ["read_manifest"]


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
    if manifest.content_hash and manifest.content_hash != hash_of_content(data):
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
            raise InputError(f"{node.file}: {what} lists {', '.join(twice)} more than once. Generate the folder again.")
    return manifest
