"""Which arm `diffpbd run` drives: by its joints, or by what is said; every arm says itself what is its own."""

from __future__ import annotations

import sys
from dataclasses import replace
from types import ModuleType

import pytest
from support.robots import loaded

from diffpbd.runtime.arms import attached
from diffpbd.runtime.arms.franka.run import KIND as FRANKA
from diffpbd.runtime.base.errors import InputError

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
