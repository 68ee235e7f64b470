"""MJCF as a document of links and joints. MuJoCo's own compiler reads the file, so that defaults, classes, frames, angles,
inertias of geoms and meshes are what MuJoCo makes of them; here its numbers are put in the terms of a description.

The world body is the root link `world`. A body has its frame and its name. Positions of hinges and slides are MuJoCo's `qpos`.
Of several joints of a body, and of a ball joint, each has a link of its own, called BODY:JOINT; the body hangs on the last.
"""

from __future__ import annotations

import contextlib
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from diffpbd.codegen.description.read.mjcf.attributes import MJCF, WHY
from diffpbd.codegen.description.read.mjcf.bodies import read_bodies
from diffpbd.codegen.description.read.mjcf.equalities import read_equalities
from diffpbd.codegen.description.read.mjcf.limits import not_taken
from diffpbd.codegen.description.read.mjcf.motors import efforts, one_sided, without_motor
from diffpbd.codegen.description.read.mjcf.names import Names
from diffpbd.codegen.description.read.mjcf.shapes import colliding_meshes, collisions, vertices_by_body
from diffpbd.codegen.description.read.numerals import LARGEST
from diffpbd.codegen.description.read.source import Element, SourceError, parse, read_bytes
from diffpbd.codegen.description.read.unread import unread
from diffpbd.codegen.description.report import printable
from diffpbd.codegen.description.tree.elements import Document
from diffpbd.runtime.base.errors import InputError

ROOT: Final = "mujoco"
"""The root element of an MJCF."""

SIGN: Final = b"mujoco"
"""Text that every MJCF has; saves reading every URDF twice."""


NOT_A_NUMBER: Final = re.compile(
    rb"""\b(?!name|class)\w+\s*=\s*["'][-+.\deE\s]*(?<![^\s"'+-])nan(?=[\s"'])[^"']*["']""", re.IGNORECASE
)
"""An attribute with a NaN among its numbers."""
MEASURE: Final = re.compile(
    rb"""\b(?:pos|quat|axisangle|euler|xyaxes|zaxis|axis|ref|springref|gear|mass|density|(?:diag|full)?inertia|armature|damping"""
    rb"""|stiffness|fromto|size|kp|kv)\s*=\s*["']([^"']*)["']"""
)
"""An attribute whose numbers are calculated with; limits may be infinite."""
COMMENT: Final = re.compile(rb"<!--.*?-->", re.DOTALL)
OTHER_FILE: Final = re.compile(rb"""<(?:include|model)\b[^>]*?\bfile\s*=\s*["']([^"']+)["']""")
"""References of an MJCF to another file."""


def is_mjcf(root: Element) -> bool:
    """Whether a file with this root element is an MJCF."""
    return root.tag == ROOT and not root.namespace


def read_mjcf(source: str | os.PathLike[str] | bytes, frames: Sequence[str]) -> Document:
    """The links, joints, loops and motors of an MJCF; sites named in `frames` ("all": every one) become links.

    Raises SourceError where MuJoCo does not compile the file, InputError where MuJoCo is missing.
    """
    spec = _parsed(source)
    meshes = colliding_meshes(spec)
    try:
        with warnings.catch_warnings():  # of inertias, which the description is examined for
            warnings.simplefilter("ignore", UserWarning)
            model = stripped(spec).compile()
    except ValueError as error:
        raise SourceError(f"MuJoCo does not compile the file: {_one_line(error)}") from error
    names = Names(model)
    faults, doubts = not_taken(model, names)
    couplings = read_equalities(model, names)
    limits = efforts(model, names, couplings.mimics)
    links, joints = read_bodies(model, names, couplings.mimics, limits, frames)
    shaped = _of_shapes(spec, names)
    passive, more = without_motor(model, names, couplings.mimics)
    return Document(
        name=spec.modelname,
        links=tuple(replace(link, of_shapes=link.name in shaped) for link in links),
        joints=joints,
        faults=(*names.faults, *faults, *couplings.faults),
        doubts=(*unread(_roots(source), MJCF, WHY), *doubts, *couplings.doubts, *more, *one_sided(limits, names)),
        loops=couplings.loops,
        passive=passive,
        shapes=collisions(model, names, meshes),
        sites=frozenset(model.site(k).name for k in range(model.nsite)) - frozenset(names.bodies),
    )


def mesh_vertices(source: str | os.PathLike[str] | bytes) -> dict[str, list[Any]]:
    """Vertices (k, 3) [m] of every colliding mesh in its body's frame, by body, in the order of its `<mesh>` elements.

    A SourceError where the file has such and MuJoCo does not compile it with its meshes.
    """
    spec = _parsed(source)
    if not colliding_meshes(spec):
        return {}
    spec.compiler.fusestatic = False
    try:
        model = spec.compile()
    except ValueError as error:
        raise SourceError(f"MuJoCo does not compile the file with its meshes: {_one_line(error)}") from error
    return vertices_by_body(model, Names(model))


def _of_shapes(spec: Any, names: Names) -> set[str]:
    """Links whose inertia is that of their geoms; the spec is compiled, so that its bodies have their numbers."""
    import mujoco

    modes, mode = mujoco.mjtInertiaFromGeom, spec.compiler.inertiafromgeom
    if mode == modes.mjINERTIAFROMGEOM_FALSE:
        return set()
    every = mode == modes.mjINERTIAFROMGEOM_TRUE
    return {names.bodies[body.id] for body in spec.bodies if every or not body.explicitinertial}


def file_defaults(path: Path) -> dict[str, Any]:
    """Entries of a recipe that an MJCF says itself: its gravity [m/s²], and its friction, which belongs to the model there.

    Nothing where the file is none or cannot be read; who reads it for its robot says so.
    """
    try:
        content = read_bytes(path)[1]
        if SIGN not in content or not is_mjcf(parse(content)):
            return {}
        spec = _parsed(path)
        import mujoco
    except (SourceError, InputError):
        return {}
    off = int(spec.option.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)
    x, y, z = (0.0, 0.0, 0.0) if off else spec.option.gravity
    return {"friction": "urdf", "gravity": (float(x), float(y), float(z))}


def _parsed(source: str | os.PathLike[str] | bytes) -> Any:
    """The file as MuJoCo's MjSpec, not compiled yet."""
    try:
        import mujoco
    except ImportError:
        raise InputError(
            "an MJCF is read by MuJoCo, which is not installed: pip install 'diffpbd[mjcf]' (or mujoco itself)"
        ) from None
    _expect_numbers(_files(source))
    try:
        if isinstance(source, bytes):
            return mujoco.MjSpec.from_string(source.decode("utf-8"))
        return mujoco.MjSpec.from_file(os.fspath(source))
    except ValueError as error:
        raise SourceError(f"MuJoCo does not read the file: {_one_line(error)}") from error


def _expect_numbers(files: Iterable[tuple[bytes, str]]) -> None:
    """A SourceError at a NaN, which MuJoCo reads as what is not written, and at a number that no machine has."""
    for content, where in files:
        if found := NOT_A_NUMBER.search(content):
            text = printable(found.group().decode("utf-8", "replace"), 80)
            raise SourceError(f"{where}{text}: a number is expected, not NaN")
        for found in MEASURE.finditer(content):
            if any(map(_too_large, found[1].split())):
                text = printable(found.group().decode("utf-8", "replace"), 80)
                raise SourceError(f"{where}{text} is out of range: numbers of at most {LARGEST:g} in size are accepted")


def _too_large(word: bytes) -> bool:
    """Whether a word is a number beyond `LARGEST`."""
    try:
        return abs(float(word)) > LARGEST
    except ValueError:
        return False  # MuJoCo's to complain of


def _files(source: str | os.PathLike[str] | bytes) -> Iterator[tuple[bytes, str]]:
    """The file and those that it takes in, without comments, and what a message about each begins with.

    Names of files are relative to the main file's folder; a file that is not there is MuJoCo's to complain of.
    """
    folder = Path() if isinstance(source, bytes) else Path(source).parent
    waiting: list[tuple[bytes, str]] = [(read_bytes(source)[1], "")]
    known: set[Path] = set()
    while waiting:
        content, where = waiting.pop()
        content = COMMENT.sub(b"", content)
        yield content, where
        for match in OTHER_FILE.finditer(content):
            name = match.group(1).decode("utf-8", "replace")
            path = folder / name
            if path.is_file() and path not in known:
                known.add(path)
                waiting.append((read_bytes(path)[1], f"{printable(name, 80)}: "))


def _roots(source: str | os.PathLike[str] | bytes) -> Iterator[Element]:
    """The roots of all these files; one that is no XML by itself was MuJoCo's to judge."""
    for content, _ in _files(source):
        with contextlib.suppress(SourceError):
            yield parse(content)


def stripped(spec: Any) -> Any:
    """An MjSpec without what no mass comes from, so that neither time nor missing files of pictures matter."""
    import mujoco

    spec.compiler.fusestatic = False  # names of what is welded stay
    for kind in ("sensors", "keys", "cameras", "lights", "pairs", "excludes", "skins", "tuples"):
        for element in list(getattr(spec, kind)):
            spec.delete(element)
    of_files = (mujoco.mjtGeom.mjGEOM_MESH, mujoco.mjtGeom.mjGEOM_HFIELD, mujoco.mjtGeom.mjGEOM_SDF)
    from_geoms = spec.compiler.inertiafromgeom == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    for k, body in enumerate(spec.bodies):
        if k == 0 or (body.explicitinertial and not from_geoms):
            for geom in list(body.geoms):
                if geom.type in of_files:
                    spec.delete(geom)
    for element in (*spec.geoms, *spec.sites, *spec.tendons, *spec.flexes):
        element.material = ""
    for element in (*list(spec.materials), *list(spec.textures)):
        spec.delete(element)
    used = {geom.meshname for geom in spec.geoms}
    for mesh in list(spec.meshes):
        if mesh.name not in used:
            spec.delete(mesh)
    for field in list(spec.hfields):
        if not any(geom.hfieldname == field.name for geom in spec.geoms):
            spec.delete(field)
    return spec


def _one_line(error: Exception) -> str:
    return printable(" ".join(str(error).split()), 300)
