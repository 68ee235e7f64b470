"""Vertices of the mesh files that a description names. The only file of the generator that knows trimesh."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from diffpbd.codegen.description.read.numerals import read_vector
from diffpbd.codegen.description.read.source import Element
from diffpbd.codegen.description.report import quoted
from diffpbd.runtime.base.located import located, tried

Array = npt.NDArray[np.float64]

WIDEST: Final = 20.0
"""[m] Beyond any link: a larger mesh is in millimetres."""
NARROWEST: Final = 1e-4
"""[m] Below, a mesh is none, or was scaled twice."""
MOST: Final = 10_000_000
"""[1] Vertices; a file with more is a scan, not a shape to keep clear of."""


class MeshError(ValueError):
    """A mesh that cannot be read, with its file and what to do."""


def mesh_points(mesh: Element, source: Path | None, faces_too: bool) -> tuple[Array, Array, str]:
    """Vertices (k, 3) and, if asked for, triangles (m, 3, 3) [m] of a `<mesh>` in the shape's frame, scaled, and the file's
    name."""
    name = mesh.attributes.get("filename", "")
    file = None if source is None else located(name, source)
    if file is None:
        places = "" if source is None else f" (looked for: {', '.join(map(str, tried(name, source)))})"
        raise MeshError(f"mesh {quoted(name)}: no such file{places}; package:// is looked for in ROS_PACKAGE_PATH too")
    vertices, faces = _read(file)
    factors = read_vector(mesh.attributes["scale"]) if "scale" in mesh.attributes else (1.0, 1.0, 1.0)
    points = np.unique(vertices, axis=0) * np.array(factors)
    triangles = vertices[faces] * np.array(factors) if faces_too else np.empty((0, 3, 3))
    if not len(points) or not np.isfinite(points).all():
        raise MeshError(f"mesh {quoted(file.name)}: it has {'numbers that are none' if len(points) else 'no vertices'}")
    if len(points) > MOST:
        raise MeshError(f"mesh {quoted(file.name)}: {len(points)} vertices, at most {MOST} are read; simplify it")
    span = float(np.ptp(points, axis=0).max())
    if span > WIDEST:
        raise MeshError(
            f"mesh {quoted(file.name)}: it spans {span:g} m, at most {WIDEST:g} m are expected; is it in millimetres? "
            'scale="0.001 0.001 0.001" says so'
        )
    if span < NARROWEST:
        raise MeshError(f"mesh {quoted(file.name)}: it spans {span:g} m, at least {NARROWEST:g} m are expected")
    return points, triangles, file.name


def _read(file: Path) -> tuple[Array, Any]:
    try:
        import trimesh
    except ModuleNotFoundError:
        raise MeshError(
            f"mesh {quoted(file.name)}: reading it needs trimesh, which is not installed: pip install 'diffpbd[meshes]'; or "
            "write [[shape]] entries for the link"
        ) from None
    try:
        made: Any = trimesh.load(file, force="mesh", process=False)
        faces = np.asarray(getattr(made, "faces", ()), dtype=np.intp).reshape(-1, 3)
        return np.asarray(made.vertices, dtype=np.float64), faces
    except Exception as error:  # trimesh has no error of its own, and its readers raise whatever they meet
        more = "; COLLADA needs pycollada" if file.suffix.lower() == ".dae" else ""
        raise MeshError(f"mesh {quoted(file.name)}: trimesh cannot read it ({quoted(str(error))}){more}") from None


def hull(points: Array) -> tuple[Array, float]:
    """The points on the convex hull, and its volume [m³]; of flat sets all, and 0. Open meshes have one too."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        found: Any = ConvexHull(points)
    except (QhullError, ValueError):  # flat, or too few
        return points, 0.0
    return np.asarray(points[found.vertices]), float(found.volume)


def hull_triangles(points: Array) -> Array:
    """Triangles (m, 3, 3) of the convex hull; none of flat sets."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        found: Any = ConvexHull(points)
    except (QhullError, ValueError):
        return np.empty((0, 3, 3))
    return np.asarray(points[found.simplices])
