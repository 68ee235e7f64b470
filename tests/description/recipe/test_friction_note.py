"""Friction of a file that is not used is named by `check` and `generate`, with the way to use it."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from diffpbd.codegen.description.front.resolve import resolve
from diffpbd.codegen.description.recipe.friction_note import friction_notes
from diffpbd.codegen.generate import generate
from diffpbd.runtime import cli
from diffpbd.runtime.api.robots import check

URDF = """<robot name="slider"><link name="base"/>
<joint name="{name}" type="prismatic"><parent link="base"/><child link="sled"/><axis xyz="1 0 0"/>{dynamics}
<limit lower="-1" upper="1" velocity="1" effort="10"/></joint>
<link name="sled"><inertial><origin xyz="0.2 0 0"/><mass value="1"/>
<inertia ixx="0.002" iyy="0.003" izz="0.004" ixy="0" ixz="0" iyz="0"/></inertial></link>
</robot>"""
NOTE = 'damping and friction of joint "rail" in the file are not used, friction is zero by default: generate with '


def written(folder: Path, dynamics: str) -> str:
    path = folder / "slider.urdf"
    path.write_text(URDF.format(name="rail", dynamics=dynamics), encoding="utf-8")
    return str(path)


def test_it_is_named_where_it_is_not_zero_and_not_taken(tmp_path: Path) -> None:
    for dynamics in ('<dynamics damping="0.5"/>', '<dynamics friction="2"/>', '<dynamics damping="1" friction="2"/>'):
        file = written(tmp_path, dynamics)
        report = check(file)
        assert report.notes == (f"{NOTE}friction='urdf' takes them over",)
        assert report.notes[0] in report.text() and report.passed(strict=True)
        assert json.loads(report.json())["notes"] == list(report.notes)
        assert not check(file, friction="urdf").notes
    for dynamics in ("", "<dynamics/>", '<dynamics damping="0" friction="0.0"/>'):
        report = check(written(tmp_path, dynamics))
        assert not report.notes and "notes" not in json.loads(report.json()) and "not used" not in report.text()


def test_generate_says_it_with_the_option(tmp_path: Path) -> None:
    file = written(tmp_path, '<dynamics damping="0.5"/>')
    said: list[str] = []
    options = {"out": tmp_path / "out", "functions": ("gravity",), "variants": (), "progress": said.append}
    generate(file, **options)
    assert said.count(f"{NOTE}--friction urdf takes them over") == 1
    said.clear()
    generate(file, friction="urdf", **options)
    assert not any("not used" in line for line in said)
    found = CliRunner().invoke(cli.cli, ["check", "--strict", file])
    assert found.exit_code == 0 and f"{NOTE}--friction urdf takes them over\n" in found.output


def test_a_joint_that_is_held_is_not_named() -> None:
    recipe, robot = resolve("prismatic_skew")
    (every,) = friction_notes(robot, recipe)
    assert all(f'"{joint.name}"' in every for joint in robot.joints)
    (others,) = friction_notes(*resolve("prismatic_skew", hold=(robot.joints[1].name,))[::-1])
    assert f'"{robot.joints[1].name}"' not in others and f'"{robot.joints[2].name}"' in others
