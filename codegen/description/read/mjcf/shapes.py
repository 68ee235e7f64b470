"""Colliding geoms of an MJCF, as the `<collision>` elements that a URDF has of them."""

from __future__ import annotations

from typing import Any

from diffpbd.codegen.description.geometry.rigid import rotation_from_quaternion, rpy_from_rotation
from diffpbd.codegen.description.read.mjcf.names import Names
from diffpbd.codegen.description.read.source import Element


def colliding_meshes(spec: Any) -> list[str]:
    """For every colliding mesh of an MjSpec the name of its body; what is compiled has lost those without mass."""
    import mujoco

    mesh = mujoco.mjtGeom.mjGEOM_MESH
    return [
        body.name
        for body in spec.bodies
        for geom in body.geoms
        if geom.type == mesh and (geom.contype or geom.conaffinity)
    ]


def collisions(model: Any, names: Names, meshes: list[str]) -> Element:
    """A root with a link for every body, and a `<collision>` in it for every geom that can touch; `meshes` by body."""
    shapes: dict[str, list[Element]] = {name: [] for name in names.bodies}
    for geom in range(model.ngeom):
        if model.geom_contype[geom] or model.geom_conaffinity[geom]:
            if shape := _shape(model, geom):
                element = _collision(shape, _origin(model, geom), **_surface(model, geom))
                shapes[names.bodies[model.geom_bodyid[geom]]].append(element)
    for body in meshes:
        if body in shapes:
            shapes[body].append(_collision(_element("mesh")))
    links = tuple(_element("link", *found, name=name) for name, found in shapes.items())
    return _element("mujoco", *links)


def vertices_by_body(model: Any, names: Names) -> dict[str, list[Any]]:
    """Vertices (k, 3) [m] of every colliding mesh in the frame of its body."""
    import mujoco
    import numpy as np

    found: dict[str, list[Any]] = {}
    for geom in range(model.ngeom):
        mesh = int(model.geom_dataid[geom])
        if int(model.geom_type[geom]) != mujoco.mjtGeom.mjGEOM_MESH or mesh < 0:
            continue
        if model.geom_contype[geom] or model.geom_conaffinity[geom]:
            first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
            w, x, y, z = (float(part) for part in model.geom_quat[geom])
            turn = np.array(rotation_from_quaternion((w, x, y, z)))
            points = np.asarray(model.mesh_vert[first : first + count], dtype=np.float64) @ turn.T
            found.setdefault(names.bodies[model.geom_bodyid[geom]], []).append(points + model.geom_pos[geom])
    return found


def _collision(shape: Element, *more: Element, **attributes: str) -> Element:
    return _element("collision", *more, _element("geometry", shape), **attributes)


def _surface(model: Any, geom: int) -> dict[str, str]:
    """Name and surface of a geom, as `surfaces` reads them; no URDF has these."""
    import mujoco

    return {
        "name": mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_GEOM, geom) or "",
        "friction": repr(float(model.geom_friction[geom][0])),
        "priority": str(int(model.geom_priority[geom])),
        "condim": str(int(model.geom_condim[geom])),
    }


def _shape(model: Any, geom: int) -> Element | None:
    """The geom as a URDF writes it; one of a kind that no URDF has by its own name, None for meshes (see `collisions`)."""
    import mujoco

    kinds, kind = mujoco.mjtGeom, int(model.geom_type[geom])
    a, b, c = (float(x) for x in model.geom_size[geom])
    if kind == kinds.mjGEOM_SPHERE:
        return _element("sphere", radius=repr(a))
    if kind == kinds.mjGEOM_BOX:
        return _element("box", size=" ".join(repr(2.0 * half) for half in (a, b, c)))
    if kind == kinds.mjGEOM_CAPSULE or kind == kinds.mjGEOM_CYLINDER:
        return _element("capsule" if kind == kinds.mjGEOM_CAPSULE else "cylinder", radius=repr(a), length=repr(2.0 * b))
    if kind == kinds.mjGEOM_MESH:
        return None
    return _element(mujoco.mjtGeom(kind).name.removeprefix("mjGEOM_").lower())


def _origin(model: Any, geom: int) -> Element:
    w, x, y, z = (float(part) for part in model.geom_quat[geom])
    rpy = rpy_from_rotation(rotation_from_quaternion((w, x, y, z)))
    place = (float(part) for part in model.geom_pos[geom])
    return _element("origin", xyz=" ".join(map(repr, place)), rpy=" ".join(map(repr, rpy)))


def _element(tag: str, *children: Element, **attributes: str) -> Element:
    return Element(tag, "", attributes, children, 0)
