"""A name on which nothing hangs is a doubt, a change of the dynamics a fault, an omission named (N01, N06, N08, N10, N14)."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command import run
from support.described import Described
from support.description.builders import BODY, joint, link, robot
from support.description.reference import inverse_dynamics

import diffpbd.codegen.generate
from diffpbd.codegen.description.check.validate import check
from diffpbd.codegen.description.front.urdf import read_urdf
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.commands.info import describe
from diffpbd.runtime.folder.manifest import LeftOut, read_manifest


def case(shared: Path, name: str) -> Path:
    return next((shared / "cases").glob(f"{name}-*"))


def doubts(source: Path | bytes, **options: Any) -> dict[str, str]:
    """Messages by code; no fault."""
    report = check(source, **options)
    assert not report.faults, report.faults
    return {doubt.code: doubt.message for doubt in report.doubts}


def faults(source: bytes) -> set[str]:
    return {fault.code for fault in check(source).faults}


@pytest.mark.parametrize("name", ["follower_continuous.urdf", "both_continuous.urdf", "no_limit.urdf"])
def test_n01_followers_without_limits(shared: Path, name: str) -> None:
    path = case(shared, "N01") / name
    assert "mimic" in doubts(path) and run("check", path)[0] == 0
    expected = json.loads((case(shared, "N01") / "expected.json").read_text()).get(name, ())
    f = Described.of(path, only=("inverse_dynamics",))
    for state in expected:
        u = f("inverse_dynamics", state["p"], state["pd"], state["pdd"])
        np.testing.assert_allclose(u, state["u"][0], rtol=0, atol=1e-9)


def test_n06_an_undeclared_prefix_in_an_extension(shared: Path) -> None:
    path = case(shared, "N06") / "prefix.urdf"
    assert "<sensor:camera> at line 1: the prefix is not declared (xmlns:sensor)" in doubts(path)["undeclared-prefix"]
    described = read_urdf(path)
    for state in json.loads((case(shared, "N06") / "expected.json").read_text())["prefix.urdf"]:
        np.testing.assert_allclose(
            inverse_dynamics(described, state["p"], state["pd"], state["pdd"]), state["u"], atol=1e-9
        )
    content = path.read_bytes()
    for place in (
        b"<x:link name='hidden'/>",
        b"<x:joint name='j'/>",
    ):  # outside of extensions links could hide behind it
        assert faults(content.replace(b"<gazebo>", place + b"<gazebo>")) == {"undeclared-prefix"}
    assert faults(content.replace(b"<mass value", b"<mass x:y='1' value", 1)) == {"unknown-attribute"}
    assert faults(content.replace(b"</gazebo>", b"")) == {"source"}


def test_n08_xacro_left_where_no_link_can_hide(shared: Path) -> None:
    path = case(shared, "N08") / "xacro_visual.urdf"
    assert "stands where nothing concerns the dynamics" in doubts(path)["xacro"]
    content = path.read_bytes()
    leftover = b"<xacro:grey/>"
    assert content.count(leftover) == 1
    moved = content.replace(leftover, b"").replace(b'<link name="base"/>', b'<link name="base"/><xacro:arm/>')
    assert faults(moved) == {"xacro"}
    assert faults(content.replace(leftover, b"").replace(b"<inertial>", b"<inertial><xacro:m/>", 1)) == {"xacro"}
    assert "xacro" in doubts(
        content.replace(leftover, b"").replace(b"</robot>", b"<gazebo><xacro:g/></gazebo></robot>")
    )


@pytest.mark.parametrize("name", ["plain.urdf", "prefixed.urdf"])
def test_n10_rotors_of_transmissions(shared: Path, name: str) -> None:
    path = case(shared, "N10") / name
    value = json.loads((case(shared, "N10") / "expected.json").read_text())["rotor_inertia.j1"][name]
    described = read_urdf(path)
    assert described.rotors == (("j1", pytest.approx(value, rel=1e-12)),)
    code, text = run("check", path)
    assert code == 0 and f"turns with the joint as {value:g} kg·m²" in text and "rotor_inertia.j1 takes it" in text


def test_rotors_of_other_joints_and_without_numbers() -> None:
    body = (link("a"), link("b", BODY), joint("j", "a", "b"))
    wheel = (
        "<transmission><joint name='{}'/><actuator name='m'><motorInertia>{}</motorInertia></actuator></transmission>"
    )
    assert (
        "without a gear ratio, which turns with the joint as 0.002"
        in doubts(robot(*body, wheel.format("j", "2e-3")))["rotor"]
    )
    for name, number in (("other", "2e-3"), ("j", "much"), ("j", "0")):
        assert "rotor" not in doubts(robot(*body, wheel.format(name, number)))


def test_n14_what_a_tip_leaves_out(shared: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = case(shared, "N14") / "handed.urdf"
    assert [(b.joint, b.carrier, b.mass) for b in read_urdf(path, tip="hand").left_out] == [
        ("s1", "hand", 0.3),
        ("s2", "hand", 0.3),
    ]

    def stop() -> None:
        raise InputError("stopped before the work")

    monkeypatch.setattr(diffpbd.codegen.generate, "find_compiler", stop)
    code, text = run("generate", path, "--tip", "hand", "--out", tmp_path / "out")
    assert code == 1 and "stopped before the work" in text
    for name in ("s1", "s2"):
        assert (
            f'warning [unused-branch] joint "{name}" was not chosen: 1 link behind it' in text
            and f"--hold {name} keeps it" in text
        )
    assert "warning [placeholder]" in text  # everything that `check` says
    states = json.loads((case(shared, "N14") / "expected.json").read_text())
    for held, key in (((), "gravity_without"), (("s1", "s2"), "gravity_with_fingers")):
        described = read_urdf(path, tip="hand", hold=held)
        for state in states:
            zero = np.zeros(2)
            np.testing.assert_allclose(inverse_dynamics(described, state["p"], zero, zero), state[key], atol=1e-9)


def test_info_and_generate_name_the_mass_and_the_way(twin_folder: Path) -> None:
    manifest = read_manifest(twin_folder)
    assert "left out" not in describe(manifest).split("functions")[0].split("alpha")[0]
    branches = (LeftOut("s1", "hand", ("f1",), 0.3), LeftOut("s2", "hand", ("f2",), 0.25))
    facts = dataclasses.replace(manifest.robot, left_out=branches, rotors={"a": 0.1})
    text = describe(dataclasses.replace(manifest, robot=facts))
    assert "left out: 0.55 kg (0.3 kg behind s1, missing from hand" in text and "--hold s1 --hold s2" in text
    assert "rotor on a: 0.1 kg·m²" in text


def test_what_readers_pass_over() -> None:
    def of(more: str, body: str = BODY) -> bytes:
        return robot(link("a"), link("b", body), joint("j", "a", "b", more=more))

    turned = of('<limit lower="-1" upper="1" velocity="1" effort="1"/>').replace(b"<axis xyz", b'<axis rpy="0 0 0" xyz')
    assert '"rpy" of <axis> was ignored' in doubts(turned)["ignored"]
    nine = BODY.replace('ixy="0"', 'ixy="0" iyx="0" izx="0" izy="0"')
    assert '"iyx" of <inertia>, equal to ixy, was ignored' in " ".join(f.message for f in check(of("", nine)).doubts)
    assert faults(of("", nine.replace('iyx="0"', 'iyx="0.001"'))) == {"asymmetric-inertia"}


def test_check_takes_several_files(shared: Path, tmp_path: Path) -> None:
    good, bad = case(shared, "N10") / "plain.urdf", tmp_path / "bad.urdf"
    bad.write_text("<robot/>")
    code, text = run("check", good, case(shared, "N06") / "prefix.urdf")
    assert code == 0 and text.count("0 errors") == 2, text
    code, text = run("check", bad, tmp_path / "none.urdf", good)
    assert code == 1 and "no such file" in text and "bad.urdf" in text and "0 errors" in text
    code, text = run("check", "--json", good, good)
    assert code == 0 and [entry["name"] for entry in json.loads(text)] == ["r", "r"]
    code, text = run("check", "--json", good)
    assert code == 0 and json.loads(text)["name"] == "r"
