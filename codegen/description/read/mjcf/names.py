"""Names of a compiled MuJoCo model's parts, where none is given made from those that are."""

from __future__ import annotations

from typing import Any

from diffpbd.codegen.description.geometry.rigid import AXES
from diffpbd.codegen.description.report import Finding
from diffpbd.codegen.description.tree.elements import strange_name


class Names:
    """`bodies`, `joints` and `equalities` by index, each name once; `faults` are names that cannot be used.

    An equality's name is no joint's either: it may become a loop. `parts` are the names of the joints that each joint
    becomes: its own, or three hinges of a ball.
    """

    def __init__(self, model: Any) -> None:
        import mujoco

        kinds = mujoco.mjtObj
        self.faults: list[Finding] = []
        self.bodies = self._named(model, "link", kinds.mjOBJ_BODY, [f"body_{i}" for i in range(model.nbody)], set())
        of = [self.bodies[i] for i in model.jnt_bodyid]
        self.joints = self._named(model, "joint", kinds.mjOBJ_JOINT, [f"{body}_joint" for body in of], set())
        taken = set(self.joints)
        self.equalities = self._named(
            model, "joint", kinds.mjOBJ_EQUALITY, [self._ends(model, k) for k in range(model.neq)], taken
        )
        self.taken = taken
        """Names of joints and loops; `fresh` adds to it."""
        balls = [int(kind) == mujoco.mjtJoint.mjJNT_BALL for kind in model.jnt_type]
        self.parts = [
            tuple(self.fresh(f"{name}.{axis}") for axis in AXES) if ball else (name,)
            for name, ball in zip(self.joints, balls, strict=True)
        ]

    def fresh(self, name: str) -> str:
        """The name, with as many underscores as make it a new one."""
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    def _named(self, model: Any, kind: str, of: Any, made: list[str], taken: set[str]) -> list[str]:
        import mujoco

        given = [mujoco.mj_id2name(model, of, k) or "" for k in range(len(made))]
        for name in filter(None, given):
            if finding := strange_name(kind, name):
                self.faults.append(finding)
        names = []
        known = taken | set(given)
        for name, other in zip(given, made, strict=True):
            chosen = name if name and name not in taken else other
            while chosen in known and chosen != name:
                chosen += "_"
            known.add(chosen)
            taken.add(chosen)
            names.append(chosen)
        return names

    def _ends(self, model: Any, k: int) -> str:
        """Name of an equality without one: both its ends."""
        import mujoco

        types = mujoco.mjtEq
        kind = int(model.eq_type[k])
        ends = [int(model.eq_obj1id[k]), int(model.eq_obj2id[k])]
        if kind == types.mjEQ_JOINT:
            return "-".join(self.joints[end] for end in ends if end >= 0)
        if kind in (types.mjEQ_CONNECT, types.mjEQ_WELD):
            return "-".join(self.bodies[end] for end in bodies_of(model, k))
        return f"equality_{k}"


def joints_of(model: Any, tendon: int) -> list[tuple[int, float]]:
    """The joints that a fixed tendon acts on, with their coefficients; none of a spatial one."""
    import mujoco

    first = int(model.tendon_adr[tendon])
    wraps = range(first, first + int(model.tendon_num[tendon]))
    joint = mujoco.mjtWrap.mjWRAP_JOINT
    return [(int(model.wrap_objid[w]), float(model.wrap_prm[w])) for w in wraps if int(model.wrap_type[w]) == joint]


def bodies_of(model: Any, k: int) -> tuple[int, int]:
    """The bodies that equality k of type connect or weld holds together; its ends may be sites."""
    import mujoco

    ends = (int(model.eq_obj1id[k]), int(model.eq_obj2id[k]))
    if int(model.eq_objtype[k]) == mujoco.mjtObj.mjOBJ_SITE:
        return int(model.site_bodyid[ends[0]]), int(model.site_bodyid[ends[1]])
    return ends


def present(model: Any, name: str, k: int) -> bool:
    """Whether number k of an array of the model is not zero; one that this MuJoCo does not have is."""
    values = getattr(model, name, None)  # polynomials came with MuJoCo 4
    if values is None:
        return False
    value = values[k]
    return bool(value.any()) if hasattr(value, "any") else bool(value)
