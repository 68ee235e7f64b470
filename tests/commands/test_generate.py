from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from diffpbd.runtime import cli


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The options that reach the generator; its result says `unchanged` for the robot named old."""
    options: dict[str, Any] = {}

    def generate(robot: str, **given: Any) -> SimpleNamespace:
        options.update(given, robot=robot)
        given["progress"]("deriving")
        row = SimpleNamespace(name="fk", operations=1234, seconds=0.5, bytes=99)
        return SimpleNamespace(
            folder=Path("generated/new"),
            rows=[row],
            unchanged=robot == "old",
            seconds=2.0,
            compile_seconds=1.0,
            manifest=SimpleNamespace(robot=SimpleNamespace(left_out=()), library="libnew.so"),
        )

    module = ModuleType("diffpbd.codegen.generate")
    module.generate = generate
    monkeypatch.setitem(sys.modules, "diffpbd.codegen.generate", module)
    return options


def test_a_table_of_functions_and_the_times(seen: dict[str, Any]) -> None:
    result = CliRunner().invoke(cli.cli, ["generate", "new"])
    assert result.exit_code == 0 and result.stderr == "deriving\n"
    assert [line.split() for line in result.stdout.splitlines()[:2]] == [
        ["function", "operations", "seconds", "bytes", "of", "C"],
        ["fk", "1234", "0.5", "99"],
    ]
    assert "generated in 2.0 s, with compilers running for 1.0 s in parallel" in result.stdout
    assert seen["out"] is None and seen["tip"] is None and seen["symbolic"] is None


def test_every_option_reaches_the_generator(seen: dict[str, Any]) -> None:
    options = (
        "--base b --tip t --tip u --hold k --wrench t --lever-spring j --element e.py=j --limits "
        "--cuda --single --out d --integrator paper "
        "--solver jacobi --sweeps 30 --relaxation 0.7 --symbolic mass,com "
        "--variants paper_jacobi,paper_direct --sweep-order printed --multiplier scalar "
        "--functions mpc,step --friction-law asymmetric "
        "--base-joint floating --contact-from-collision l=p --ground 0.1 --cone exact --close a=b:hinge --passive j"
    )
    result = CliRunner().invoke(cli.cli, ["generate", "old", *options.split(), "--friction", "urdf", "--limits"])
    assert result.exit_code == 0 and "up to date" in result.stdout
    del seen["progress"]
    assert seen == {
        "robot": "old",
        "base": "b",
        "tip": ("t", "u"),
        "hold": ("k",),
        "wrench": ("t",),
        "lever_springs": ("j",),
        "element": ("e.py=j",),
        "out": Path("d"),
        "integrator": "paper",
        "solver": "jacobi",
        "sweeps": 30,
        "relaxation": 0.7,
        "variants": ["paper_jacobi", "paper_direct"],
        "sweep_order": "printed",
        "multiplier": "scalar",
        "cuda": True,
        "single": True,
        "functions": ["mpc", "step"],
        "friction_law": ["asymmetric"],
        "symbolic": ["mass", "com"],
        "friction": "urdf",
        "limits": True,
        "base_joint": "floating",
        "contact_from_collision": ("l=p",),
        "ground": 0.1,
        "cone": "exact",
        "close": ("a=b:hinge",),
        "passive": ("j",),
        "quick": True,
        "frames": None,
        "clearance": None,
        "obstacles": None,
    }


def test_closed_choices_are_wrong_usage(seen: dict[str, Any]) -> None:
    for options in (
        ["--solver", "magic"], ["--sweeps", "3,paper_direct=3"], ["--sweeps", "paper_direct=0"], ["--sweep-order", "x"],
        ["--multiplier", "x"],
 ["--sweeps", "0"], ["--friction", "some"], ["--relaxation", "2"],
        ["--sweeps", "paper_direct=3,paper_direct=4"], ["--variants", ""], ["--symbolic", ""], ["--functions", " , "],
    ):  # fmt: skip
        assert CliRunner().invoke(cli.cli, ["generate", "new", *options]).exit_code == 2


def test_sweeps_of_several_variants(seen: dict[str, Any]) -> None:
    assert CliRunner().invoke(cli.cli, ["generate", "old", "--sweeps", "paper_direct=3, paper_jacobi=9"]).exit_code == 0
    assert seen["sweeps"] == {"paper_direct": 3, "paper_jacobi": 9}


def test_printed_order_is_a_sweep_order(seen: dict[str, Any]) -> None:
    assert CliRunner().invoke(cli.cli, ["generate", "new", "--printed-order"]).exit_code == 0
    assert seen["sweep_order"] == "printed"
    both = ["generate", "new", "--printed-order", "--sweep-order", "joints"]
    assert "expected one of them" in CliRunner().invoke(cli.cli, both).output
