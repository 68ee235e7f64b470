"""Payload, tilted base, direction of gravity and the file's friction: the same robot said in two ways, in every family."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.described import Described
from support.description.builders import TENSOR, joint, link, robot
from support.judges.families import Families
from support.maximal import Array
from support.numeric import Worst

from diffpbd.codegen.description.geometry.rigid import rotation_from_rpy

MERGED = 1e-12
"""Merging a payload by hand and by the description round differently."""
DYNAMICS = '<limit lower="-1" upper="1" effort="5" velocity="2"/><dynamics damping="0.4" friction="0.3"/>'
TIP = (
    '<joint name="bolt" type="fixed"><origin xyz="0.1 -0.2 0.3" rpy="0.4 0.5 0.6"/>'
    '<parent link="c"/><child link="tool"/></joint>'
)
PAYLOAD = {
    "payload.mass": 0.8, "payload.com.x": 0.03, "payload.com.y": -0.02, "payload.com.z": 0.07,
    "payload.inertia.xx": 0.004, "payload.inertia.xy": 0.0003, "payload.inertia.xz": -0.0002,
    "payload.inertia.yy": 0.005, "payload.inertia.yz": 0.0001, "payload.inertia.zz": 0.003,
}  # fmt: skip
CARRIED = (
    '<inertial><origin xyz="0.03 -0.02 0.07"/><mass value="0.8"/>'
    '<inertia ixx="0.004" ixy="0.0003" ixz="-0.0002" iyy="0.005" iyz="0.0001" izz="0.003"/></inertial>'
)
TILT = "0 1.2 0.4"


def source(tool: str = "", tilt: str = "") -> bytes:
    """A hinge, a slide and a hinge, axes askew, with friction; a tool bolted on askew; the root bolted to a tilted base."""
    body = f'<inertial><origin xyz="0.1 0.02 0.05"/><mass value="1.5"/>{TENSOR}</inertial>'
    made = robot(
        link("root", ""), link("base", ""), link("a", body), link("b", body), link("c", body), link("tool", tool),
        f'<joint name="tilt" type="fixed"><origin rpy="{tilt or "0 0 0"}"/><parent link="root"/><child link="base"/></joint>',
        joint("ja", "base", "a", more=DYNAMICS), joint("jb", "a", "b", "prismatic", DYNAMICS, at="0.1 0.2 0.3"),
        joint("jc", "b", "c", more=DYNAMICS, at="0 0.1 0.2"), TIP,
    ).decode()  # fmt: skip
    return made.replace('xyz="0.1 0.2 0.3"/>', 'xyz="0.1 0.2 0.3" rpy="0.3 -0.8 0.2"/>').encode()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("families")


def of(folder: Path, name: str, text: bytes, **options: object) -> Families:
    file = folder / f"{name}.urdf"
    file.write_bytes(text)
    return Families(Described.of(file, tip="tool", **options))


@pytest.fixture(scope="module")
def plain(folder: Path) -> Families:
    return of(folder, "plain", source())


def states() -> list[Array]:
    return list(np.random.default_rng(3).uniform(-1.0, 1.0, (4, 3, 3)))


@pytest.mark.thorough
def test_a_payload_is_the_body_merged(folder: Path, plain: Families) -> None:
    """And without it again, wherever it sits, not one bit is another."""
    merged = of(folder, "merged", source(CARRIED))
    bare, loaded = plain.d.alpha.defaults, plain.d.alpha.vector(PAYLOAD)
    nothing = plain.d.alpha.vector({"payload.com.x": 0.4, "payload.com.z": -0.1})
    worst = Worst("payload in alpha against the body merged", MERGED)
    for row, state in enumerate(states()):
        before, after = plain(*state, bare), merged(*state, bare)
        for name, value in plain(*state, loaded).items():
            worst.see(value, after[name], f"row {row} {name}")
            assert np.abs(value - before[name]).max() > 1e-6, name
        for name, value in plain(*state, nothing).items():
            np.testing.assert_array_equal(value, before[name], err_msg=name)
    worst.close()


def test_a_tilted_base_is_gravity_turned(folder: Path, plain: Families) -> None:
    tilted = of(folder, "tilted", source(tilt=TILT))
    turned = np.array(rotation_from_rpy(tuple(map(float, TILT.split())))).T @ [0.0, 0.0, -9.81]
    alpha = plain.d.alpha.vector({f"gravity.{k}": float(x) for k, x in zip("xyz", turned, strict=True)})
    worst = Worst("gravity turned against the base tilted", MERGED)
    for row, state in enumerate(states()):
        expected = tilted(*state, tilted.d.alpha.defaults)
        for name, value in plain(*state, alpha).items():
            worst.see(value, expected[name], f"row {row} {name}")
    worst.close()


def test_friction_of_the_file_is_that_of_alpha(folder: Path, plain: Families) -> None:
    """Where asked the file's numbers are the defaults, bit for bit; where not, there is none."""
    asked = of(folder, "asked", source(), friction="urdf")
    joints = ("ja", "jb", "jc")
    by_hand = {f"friction.{kind}.{j}": x for kind, x in (("viscous", 0.4), ("coulomb", 0.3)) for j in joints}
    alpha = plain.d.alpha.vector(by_hand)
    without = ("mass_matrix", "gravity", "coriolis", "energy")
    for state in states():
        bare, expected = plain(*state, plain.d.alpha.defaults), plain(*state, alpha)
        for name, value in asked(*state, asked.d.alpha.defaults).items():
            np.testing.assert_array_equal(value, expected[name], err_msg=name)
            assert (np.abs(value - bare[name]).max() > 1e-6) == (name not in without), name
