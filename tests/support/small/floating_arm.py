"""An arm of two hinges on a trunk that floats or moves in a plane: the smallest robot on which a base is felt."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from support.mechanisms import joint
from support.robots import CACHE, generated

from diffpbd.runtime import Robot, load

TRUNK = (
    '<link name="trunk"><inertial><origin xyz="{com}" rpy="{rpy}"/><mass value="3"/>'
    '<inertia ixx="0.10" iyy="0.14" izz="0.20" ixy="0" ixz="0" iyz="0"/></inertial></link>'
)
BONE = (
    '<link name="{name}"><inertial><origin xyz="{com}"/><mass value="{mass}"/>'
    '<inertia ixx="{slim}" iyy="{wide}" izz="{wide}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
)
UPPER = BONE.format(name="upper", com="0.15 0 0.02", mass=0.8, slim=0.001, wide=0.006)
LOWER = BONE.format(name="lower", com="0.12 {y} 0", mass=0.5, slim=0.0006, wide=0.003)


def urdf(folder: Path, name: str, flat: bool) -> Path:
    """The arm as a file; `flat`: it stays in the plane y = 0 if it starts there."""
    trunk = TRUNK.format(com="0.02 0 0.03" if flat else "0.02 -0.01 0.03", rpy="0 0 0" if flat else "0.2 -0.3 0.1")
    joints = [
        joint("shoulder", "trunk", "upper", (0.1, 0.0 if flat else 0.05, 0.1), (0, 1, 0)),
        joint("elbow", "upper", "lower", (0.3, 0, 0), (0, 1, 0) if flat else (0, 0.6, 0.8)),
    ]
    path = folder / f"{name}.urdf"
    path.write_text(
        f'<robot name="{name}">{trunk}{UPPER}{LOWER.format(y=0 if flat else 0.01)}{"".join(joints)}</robot>'
    )
    return path


def recipe(name: str, base: str, flat: bool = False, more: str = "") -> Path:
    """A recipe and its file among the sources of the tests."""
    folder = CACHE / "floating"
    folder.mkdir(parents=True, exist_ok=True)
    urdf(folder, name, flat)
    path = folder / f"{name}.toml"
    path.write_text(f'urdf = "{name}.urdf"\nbase_joint = "{base}"\n{more}\n')
    return path


@cache
def floating_arm() -> Robot:
    """In space, with gravity, friction and a wrench on the forearm; masses symbolic."""
    more = 'gravity = [0.3, -0.2, -9.81]\nwrench = ["lower"]\nsymbolic = ["mass"]'
    asked = ("joint_step", "jac_alpha_joint_step", "jac_forward_dynamics")
    return load(generated(str(recipe("floating_arm", "floating", more=more)), functions=asked, variants=()))


@cache
def flat_arms() -> tuple[Robot, Robot]:
    """The same flat arm on a floating and on a planar base."""
    asked: dict[str, Any] = {"functions": ("joint_step", "mpc", "torque_terms"), "variants": ()}
    found = [recipe(f"flat_{base}", base, True) for base in ("floating", "planar")]
    return load(generated(str(found[0]), **asked)), load(generated(str(found[1]), **asked))


@cache
def stopped_flap() -> Robot:
    """A trunk that floats with one hinge between two stops."""
    folder = CACHE / "floating"
    folder.mkdir(parents=True, exist_ok=True)
    trunk = TRUNK.format(com="0.02 -0.01 0.03", rpy="0.2 -0.3 0.1")
    limit = '<limit lower="-0.8" upper="0.6" effort="20" velocity="10"/>'
    hinge = joint("shoulder", "trunk", "upper", (0.1, 0.05, 0.1), (0, 1, 0), kind="revolute", limit=limit)
    (folder / "stopped_flap.urdf").write_text(f'<robot name="stopped_flap">{trunk}{UPPER}{hinge}</robot>')
    path = folder / "stopped_flap.toml"
    path.write_text('urdf = "stopped_flap.urdf"\nbase_joint = "floating"\nlimits = true\n')
    return load(
        generated(str(path), functions=("joint_step", "jac_alpha_joint_step", "mpc", "torque_terms"), variants=())
    )
