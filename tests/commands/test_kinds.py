"""Which arm `diffpbd run` drives: by its joints, or by what is said; every arm says itself what is its own."""

from __future__ import annotations

import sys
from dataclasses import replace
from types import ModuleType

import pytest
from click.testing import CliRunner
from support.robots import generated, loaded

from diffpbd.runtime.arms import attached
from diffpbd.runtime.arms.franka.run import KIND as FRANKA
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.cli import cli

NOBODY = {"ros2": False}


def test_known_arms_and_others() -> None:
    assert attached.kind_of(loaded("baxter_bare"), NOBODY).title == "a Baxter"
    assert attached.kind_of(loaded("baxter_bare"), {"ros2": True}).title == "an arm over ROS 2"
    with pytest.raises(InputError, match=r"double_pendulum: the joints .* are of no arm .*a Baxter.*--ros2"):
        attached.kind_of(loaded("double_pendulum"), NOBODY)


def test_a_third_arm_is_a_folder_and_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("third")
    module.KIND = replace(FRANKA, title="a third arm", meant=lambda robot, words: robot.name == "double_pendulum")
    monkeypatch.setitem(sys.modules, "diffpbd.runtime.arms.third.run", module)
    monkeypatch.setattr(attached, "ARMS", ("third", *attached.ARMS))
    assert attached.kind_of(loaded("double_pendulum"), NOBODY) is module.KIND
    assert attached.kind_of(loaded("baxter_bare"), NOBODY).title == "a Baxter"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--host", "1.2.3.4"), "--host is for a Franka Research 3; baxter_bare is driven as a Baxter."),
        (("--states", "/s"), "--states is for an arm over ROS 2; baxter_bare is driven as a Baxter."),
        (
            ("--ros2", "--gravity", "robot", "--master", "x"),
            "--master is for a Baxter; baxter_bare is driven as an arm over",
        ),
    ],
)
def test_options_of_another_arm(words: tuple[str, ...], said: str) -> None:
    result = CliRunner().invoke(cli, ["run", str(generated("baxter_bare")), *words])
    assert result.exit_code == 2 and said in " ".join(result.output.replace("│", " ").split()), result.output
