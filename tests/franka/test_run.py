"""`diffpbd run fr3`: options that do not fit, and what the robot says of its flange."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from support.arms.lone_fr3 import Lone, ticking
from support.made.carrying import HAND, REACH, TURN, carrying
from support.robots import generated

from diffpbd.runtime import Robot
from diffpbd.runtime.arms.franka.load import Body, difference, payload_of
from diffpbd.runtime.arms.franka.run import _loaded
from diffpbd.runtime.base.errors import ArgumentError, InputError, RefusedError
from diffpbd.runtime.commands.run import command

HOST = ("--host", "127.200.0.1")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "give its address with --host, or --sim"),
        ((*HOST, "--sim"), "--host and --sim are two robots"),
        ((*HOST, "--bring-in"), "led back by hand"),
        ((*HOST, "--controller", "track"), "--controller track needs --reference LOG"),
        ((*HOST, "--controller", "impedance", "--reference", "x.csv"), "--reference is for"),
    ],
)
def test_options_that_do_not_fit(
    fr3_folder: Path, words: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FR3_HOST", raising=False)
    done = CliRunner().invoke(command, [str(fr3_folder), *words])
    by_name = isinstance(done.exception, ArgumentError) and said in str(done.exception)  # `diffpbd` exits with 2, too
    assert by_name or (done.exit_code == 2 and said in done.output), done.output


def test_the_address_may_come_from_the_environment(fr3_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FR3_HOST", HOST[1])
    done = CliRunner().invoke(command, [str(fr3_folder)])
    assert isinstance(done.exception, RefusedError) and "The robot at 127.200.0.1 cannot be used" in str(done.exception)


def test_gravity_stays_the_robots(fr3_folder: Path) -> None:
    words = (*HOST, "--controller", "impedance", "--gravity", "model")
    done = CliRunner().invoke(command, [str(fr3_folder), *words])
    assert isinstance(done.exception, RefusedError) and "always compensates gravity itself" in str(done.exception)


def test_an_address_is_no_baxters(twin_folder: Path) -> None:
    unknown = CliRunner().invoke(command, [str(twin_folder), *HOST])
    assert isinstance(unknown.exception, InputError) and "driven with --ros2" in str(unknown.exception)
    done = CliRunner().invoke(command, [str(generated("baxter_bare")), *HOST])
    assert done.exit_code == 2 and "--host is for a Franka Research 3" in done.output


def loaded(alone: Lone, robot: Robot, alpha: np.ndarray, **options: bool) -> np.ndarray:
    with ticking(alone.simulation):
        return _loaded(alone.driver, robot, alpha, {"set_load": False, "allow_mismatch": False, **options})


def test_the_payload_comes_from_the_robot(alone: Lone, fr3: Robot, capsys: pytest.CaptureFixture) -> None:
    alpha = loaded(alone, fr3, fr3.alpha.defaults)
    assert difference(payload_of(fr3, alpha).seen(TURN, REACH), HAND) == ""
    assert "its flange carries 0.730 kg" in capsys.readouterr().err
    np.testing.assert_array_equal(loaded(alone, fr3, carrying(fr3, HAND)), carrying(fr3, HAND))


def test_another_payload_than_the_robots_is_refused_or_told_to_it(
    alone: Lone, fr3: Robot, capsys: pytest.CaptureFixture
) -> None:
    heavier = Body(0.73 + 0.3, HAND.com, HAND.inertia)
    alpha = carrying(fr3, heavier)
    with pytest.raises(RefusedError, match="in [1-9] points"):
        loaded(alone, fr3, alpha)
    assert (
        "the payload of --params is not what the robot knows of: 1.030 kg against 0.730 kg" in capsys.readouterr().err
    )
    np.testing.assert_array_equal(loaded(alone, fr3, alpha, allow_mismatch=True), alpha)
    try:
        np.testing.assert_array_equal(loaded(alone, fr3, alpha, set_load=True), alpha)
    finally:
        loaded(alone, fr3, carrying(fr3, HAND), set_load=True)


def test_the_hand_of_the_examples_is_the_drivers(root: Path, fr3: Robot) -> None:
    values = json.loads((root / "docs" / "examples" / "fr3" / "hand.json").read_text(encoding="utf-8"))
    np.testing.assert_allclose(fr3.alpha.vector(values), carrying(fr3, HAND), rtol=0, atol=1e-15)
