"""Robots with other parameters, written as URDF and read again."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from support.described import Described
from support.description import builders
from support.mechanisms import spatial_four_bar

from diffpbd.codegen.description.front.export import export, urdf_text
from diffpbd.codegen.description.front.resolve import resolve, shipped_robots
from diffpbd.codegen.description.front.urdf import read_urdf
from diffpbd.codegen.description.geometry.rigid import rotation_from_rpy, rpy_from_rotation
from diffpbd.codegen.description.recipe.recipe import SYMBOLIC, with_options
from diffpbd.codegen.description.robot.robot import Robot
from diffpbd.runtime import cli
from diffpbd.runtime.functions.parameters import ParameterVector
from diffpbd.runtime.model.inertia import inertial_from_linear, linear_from_log_cholesky

BAR = 1e-9
FUNCTION = ("inverse_dynamics",)


def random_parameters(alpha: ParameterVector, seed: int = 2) -> dict[str, float]:
    """Bodies that can exist, moved joint origins, a payload and friction."""
    rng = np.random.default_rng(seed)
    values = {}
    for link in [name.removeprefix("mass.") for name in alpha.names if name.startswith("mass.")]:
        mass, com, inertia = inertial_from_linear(linear_from_log_cholesky(rng.normal(0.0, 0.5, 10)))
        values[f"mass.{link}"] = float(mass)
        values |= {f"com.{link}.{k}": float(x) for k, x in zip("xyz", com, strict=True)}
        upper = inertia[np.triu_indices(3)]
        keys = ("xx", "xy", "xz", "yy", "yz", "zz")
        values |= {f"inertia.{link}.{k}": float(x) for k, x in zip(keys, upper, strict=True)}
    for name, default in zip(alpha.names, alpha.defaults, strict=True):
        if name.startswith("origin."):
            values[name] = float(default + rng.normal(0.0, 0.05))
        elif name.startswith(("friction.coulomb", "friction.viscous")):
            values[name] = float(rng.uniform(0.1, 2.0))
    mass, com, inertia = inertial_from_linear(linear_from_log_cholesky(rng.normal(0.0, 0.3, 10)))
    values["payload.mass"] = float(mass)
    values |= {f"payload.com.{k}": float(x) for k, x in zip("xyz", com, strict=True)}
    values |= {f"payload.inertia.{a}{a}": float(inertia[k, k]) for k, a in enumerate("xyz")}
    return values


@pytest.mark.thorough("baxter_dual", "baxter_right")
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.soak if n == "baxter_dual" else ()) for n in shipped_robots()]
)
def test_random_parameters_read_back_to_the_same_torques(name: str, tmp_path: Path) -> None:
    recipe, robot = resolve(name)
    symbolic = Described(with_options(recipe, symbolic=SYMBOLIC), robot, only=FUNCTION)
    values = random_parameters(symbolic.alpha)
    written = export(robot, values, symbolic.alpha.by_name(symbolic.alpha.defaults))
    (tmp_path / "robot.urdf").write_text(written.text, encoding="utf-8")
    tips = [tip.name for tip in robot.tips]
    again = Described.of(tmp_path / "robot.urdf", tip=tips, friction="urdf", gravity=recipe.gravity, only=FUNCTION)
    assert [j.name for j in again.robot.joints] == [j.name for j in robot.joints]
    assert [(t.name, t.link) for t in again.robot.tips] == [(t.name, t.link) for t in robot.tips]
    for key in ("type", "parent", "lower", "upper", "velocity", "effort", "axis"):
        assert [getattr(j, key) for j in again.robot.joints] == [getattr(j, key) for j in robot.joints]
    rng = np.random.default_rng(4)
    alpha = symbolic.alpha.vector(values)
    worst = 0.0
    for _ in range(20):
        state = rng.uniform(-2.0, 2.0, (3, robot.n))
        one, other = symbolic(*FUNCTION, *state, alpha=alpha), again(*FUNCTION, *state)
        worst = max(worst, float(np.max(np.abs(one - other))))
    print(f"{name}: torques of the exported robot differ by {worst:.1e}")
    assert worst <= BAR


@pytest.mark.parametrize("name", shipped_robots())
def test_nothing_changed_is_the_same_robot(name: str) -> None:
    _, robot = resolve(name)
    again = read_urdf(urdf_text(robot).encode(), tip=[tip.name for tip in robot.tips])
    for one, other in zip(robot.links, again.links, strict=True):
        assert (one.name, one.inertial) == (other.name, other.inertial)
    for joint, other_joint in zip(robot.joints, again.joints, strict=True):
        assert joint.translation == other_joint.translation
        np.testing.assert_allclose(joint.rotation, other_joint.rotation, rtol=0, atol=4e-16)


def test_rotations_come_back_at_any_pitch() -> None:
    rng = np.random.default_rng(0)
    steep = [np.pi / 2 - 10.0**-k for k in range(1, 17)]
    pitches = [*steep, *(-x for x in steep), np.pi / 2, -np.pi / 2, *rng.uniform(-1.5, 1.5, 20)]
    for pitch in pitches:
        roll, yaw = rng.uniform(-np.pi, np.pi, 2)
        R = rotation_from_rpy((float(roll), float(pitch), float(yaw)))
        np.testing.assert_allclose(rotation_from_rpy(rpy_from_rotation(R)), R, rtol=0, atol=2e-15)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli.cli, arguments)


def test_the_command_exports_named_parameters(tmp_path: Path) -> None:
    params = tmp_path / "params.json"
    values = {
        "mass.outer": 0.75, "spring.stiffness.elbow": 2.0, "torque_offset.shoulder": 0.1, "friction.viscous.elbow": 0.3,
        "gravity.z": -1.6,
    }  # fmt: skip
    robot = resolve("double_pendulum")[1]
    links = [link.name for link in robot.links]
    joints = [joint.name for joint in robot.joints]
    named = {"outer": links[1], "elbow": joints[1], "shoulder": joints[0]}
    renamed = {".".join(named.get(word, word) for word in name.split(".")): {"value": x} for name, x in values.items()}
    params.write_text(json.dumps({"parameters": renamed}), encoding="utf-8")
    out = tmp_path / "new.urdf"
    result = run("export", "double_pendulum", "--params", str(params), "--out", str(out))
    assert result.exit_code == 0, result.output
    for words in ("cannot hold a joint spring", "a sensor's torque offset", "cannot hold gravity: here 0 0 -1.6 m/s²"):
        assert words in result.output
    assert read_urdf(out).links[1].inertial.mass == 0.75
    assert read_urdf(out).joints[1].damping == 0.3


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"mass.nothing": 1.0}, "has no parameter 'mass.nothing'"),
        ({"mass.{link}": -1.0}, "expected at least 0"),
        ({"inertia.{link}.xy": 9.0}, "no negative principal moment"),
    ],
)
def test_impossible_parameters_are_refused(tmp_path: Path, values: dict[str, float], words: str) -> None:
    link = resolve("double_pendulum")[1].links[0].name
    params, out = tmp_path / "params.json", tmp_path / "new.urdf"
    params.write_text(json.dumps({k.format(link=link): v for k, v in values.items()}), encoding="utf-8")
    result = run("export", "double_pendulum", "--params", str(params), "--out", str(out))
    assert result.exit_code == 1 and words in result.output
    assert not out.exists()


def test_check_and_export_weld_what_is_held(tmp_path: Path) -> None:
    file, out = tmp_path / "floating.urdf", tmp_path / "held.urdf"
    floating = builders.joint("float", "base", "arm", "floating")  # which only a root may have
    bodies = [builders.link(name) for name in ("world", "base", "arm")]
    file.write_bytes(builders.robot(*bodies, builders.joint("ja", "world", "base"), floating))
    refused = run("check", str(file))
    assert refused.exit_code == 1 and "--hold" in refused.output
    assert run("check", str(file), "--hold", "float").exit_code == 0
    result = run("export", str(file), "--hold", "float", "--out", str(out))
    assert result.exit_code == 0, result.output
    assert [j.name for j in read_urdf(out).joints] == ["ja"]


LOOPED = """<mujoco><compiler angle="radian"/><worldbody>
  <body name="one"><joint name="j1" axis="0 1 0" armature="0.3"/><geom type="box" size="0.1 0.2 0.3"/>
    <body name="two" pos="0.3 0 0"><joint name="j2" axis="0 1 0" stiffness="2" springref="0.4"/><geom size="0.1"/></body></body>
  <body name="three" pos="0.6 0 0" euler="0.1 0.2 0.3"><joint name="j3" axis="0 1 0"/><geom size="0.1"/></body>
</worldbody><equality><connect name="pin" body1="two" body2="three" anchor="0.1 0 0"/>
  <weld name="glue" body1="three" body2="one"/></equality><actuator><motor joint="j1"/></actuator></mujoco>"""


def written_again(path: Path, **options: object) -> tuple[Robot, Robot, tuple[str, ...]]:
    """A robot, the same after an export, and what the export says."""
    _, robot = resolve(str(path), **options)
    found = export(robot, {}, {})
    again = path.with_suffix(".urdf")
    again.write_text(found.text, encoding="utf-8")
    return robot, resolve(str(again), tip=[tip.name for tip in robot.tips])[1], found.notices


def test_closed_loops_read_back_and_what_is_lost_is_said(tmp_path: Path) -> None:
    path = tmp_path / "looped.xml"
    path.write_text(LOOPED)
    robot, again, notices = written_again(path)
    assert [(k.name, k.type, k.parent, k.child) for k in again.loops] == [
        (k.name, k.type, k.parent, k.child) for k in robot.loops
    ]
    for key in ("parent_translation", "child_translation", "parent_rotation", "child_rotation"):
        for loop, other in zip(robot.loops, again.loops, strict=True):
            np.testing.assert_allclose(getattr(other, key), getattr(loop, key), rtol=0, atol=1e-15)
    told = "\n".join(notices)
    assert "rotor_inertia.j1 = 0.3" in told and "spring.stiffness.j2 = 2" in told and "spring.rest.j2 = 0.4" in told
    assert 'which joints have no motor: "j2", "j3"' in told


def test_a_distance_is_said_to_be_lost(tmp_path: Path) -> None:
    robot, again, notices = written_again(spatial_four_bar().write(tmp_path, "rssr"))
    assert (len(robot.loops), len(again.loops)) == (1, 0)
    assert any("loop rod, a distance of 0.7 m" in notice for notice in notices)


@pytest.mark.parametrize("kind", ["floating", "planar"])
def test_moving_bases_read_back(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "free.urdf"
    path.write_bytes(builders.robot(builders.link("a"), builders.link("b"), builders.joint("j", "a", "b")))
    robot, again, _ = written_again(path, base_joint=kind)
    assert again.base_joint == kind and again.n == robot.n
    assert [joint.axis for joint in again.joints] == [joint.axis for joint in robot.joints]
    assert [link.inertial for link in again.links] == [link.inertial for link in robot.links]


def exported_case(case: str, shared: Path, out: Path) -> str:
    result = run("export", str(shared / "cases" / case / "arm.xml"), "--out", str(out))
    assert result.exit_code == 0, result.output
    return result.output


def test_other_readers_take_what_is_written(shared: Path, tmp_path: Path) -> None:
    """Pinocchio reads by urdfdom, which demands bounds and knows no infinity; what stands in is named, and read as none."""
    pin = pytest.importorskip("pinocchio")
    out = tmp_path / "arm.urdf"
    told = exported_case("Q05-exported-urdf-lacks-velocity", shared, out)
    assert '1e+12 in <limit effort>, which readers demand: "a"' in told
    model = pin.buildModelFromUrdf(str(out))
    assert model.nv in (2, 3)
    (a, b, c) = read_urdf(out).joints
    assert (a.lower, a.upper, a.effort, a.velocity) == (-1.0, 1.5, None, None)
    assert (b.lower, b.effort, c.velocity) == (None, None, None)
    data = model.createData()
    robot = resolve(str(out))[1]
    assert sum(inertia.mass for inertia in model.inertias) == pytest.approx(robot.total_mass)
    assert pin.crba(model, data, pin.neutral(model)).shape == (model.nv, model.nv)


@pytest.mark.parametrize("kind", ["revolute", "continuous", "prismatic"])
@pytest.mark.parametrize("limit", ['lower="-1" upper="2"', 'lower="-1" upper="inf" effort="3"', 'velocity="2"', ""])
def test_any_bound_may_be_missing(kind: str, limit: str, tmp_path: Path) -> None:
    pin = pytest.importorskip("pinocchio")
    path = tmp_path / "one.urdf"
    inside = f"<limit {limit}/>" if limit else " "
    path.write_bytes(
        builders.robot(builders.link("a"), builders.link("b"), builders.joint("j", "a", "b", kind, more=inside))
    )
    robot, again, notices = written_again(path)
    assert again.joints == robot.joints
    out = path.with_suffix(".urdf")
    assert pin.buildModelFromUrdf(str(out)).nv == 1
    told = "\n".join(notices)
    for key in ("effort", "velocity", "lower", "upper"):
        there = f' {key}="1000000000000.0"' in out.read_text() or f' {key}="-1000000000000.0"' in out.read_text()
        assert (f"<limit {key}>" in told) is there


def test_a_gravity_that_readers_do_not_take_is_named(shared: Path, tmp_path: Path) -> None:
    assert "cannot hold gravity: here 0 3 -9 m/s²" in exported_case(
        "Q07-export-loses-gravity", shared, tmp_path / "a.urdf"
    )
    path = tmp_path / "one.urdf"
    path.write_bytes(builders.robot(builders.link("a"), builders.link("b"), builders.joint("j", "a", "b")))
    for words, expected in (("[0, 0, -9.81]", False), ("[0, 0, -9.8]", True), ("[0, 9.81, 0]", True)):
        (tmp_path / "one.toml").write_text(f'name = "one"\nurdf = "one.urdf"\ngravity = {words}\n')
        result = run("export", str(tmp_path / "one.toml"), "--out", str(tmp_path / "out.urdf"))
        assert result.exit_code == 0 and ("cannot hold gravity" in result.output) is expected, result.output
