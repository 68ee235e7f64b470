"""What a user may well type wrongly is refused in words, by every function of the door."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.robots import generated, loaded

import diffpbd
from diffpbd.codegen.description.resolve import find_recipe

ROBOT = loaded("double_pendulum")
URDF = find_recipe("double_pendulum").urdf
NAN = float("nan")


def _mpc() -> diffpbd.Mpc:
    return diffpbd.Mpc(ROBOT, 5)


WRONG: list[tuple[Callable[[], Any], str]] = [
    (lambda: diffpbd.simulate("arm"), "robot: expected what diffpbd.load"),  # type: ignore[arg-type]
    (lambda: diffpbd.Mpc("arm"), "robot: expected what diffpbd.load"),  # type: ignore[arg-type]
    (lambda: diffpbd.excite("arm"), "robot: expected what diffpbd.load"),  # type: ignore[arg-type]
    (lambda: diffpbd.identify("arm", "run.csv", "friction"), "robot: expected"),  # type: ignore[arg-type]
    (lambda: diffpbd.estimate_torque("arm", "run.csv"), "robot: expected"),  # type: ignore[arg-type]
    (lambda: diffpbd.read_log("run.csv", "arm"), "robot: expected"),  # type: ignore[arg-type]
    (lambda: diffpbd.read_log(["a.csv"]), "read_log: path: expected a name or a path, found"),  # type: ignore[arg-type]
    (lambda: diffpbd.simulate(ROBOT, duration="1"), "duration: expected a number"),  # type: ignore[arg-type]
    (lambda: diffpbd.simulate(ROBOT, alpha=[1.0]), r"expected shape \(27,\), found \(1,\)"),
    (lambda: diffpbd.simulate(ROBOT, alpha={1: 2.0}), "no parameter '1'"),
    (lambda: diffpbd.Mpc(ROBOT, alpha=3), r"expected shape \(27,\), found \(\)"),
    (lambda: diffpbd.estimate_torque(ROBOT, "run.csv", alpha=[NAN] * 27), "finite numbers, found nan"),
    (lambda: diffpbd.estimate_torque(ROBOT, "run.csv", lose="angle"), "no argument 'lose'. Did you mean loss"),
    (
        lambda: diffpbd.identify(ROBOT, "run.csv", "friction", drive_gain=0),
        "drive_gain: expected a number other than 0",
    ),
    (lambda: diffpbd.identify(ROBOT, "run.csv", "friction", time_unit="x"), "time_unit: expected s or ms"),
    (
        lambda: diffpbd.identify(ROBOT, "run.csv", "friction", starts=0),
        "starts: expected a finite number of at least 1",
    ),
    (lambda: ROBOT.with_parameters([1.0]), "expected numbers by name or a name or a path, found"),  # type: ignore[arg-type]
    (lambda: diffpbd.Mpc(ROBOT, bounds={"torque": 1}), "Mpc: bounds: expected an object with some of u, du, pd"),
    (lambda: _mpc().run_to({"elbow": NAN}), "goal: elbow: expected a finite number"),
    (lambda: _mpc().run_to([0.1, NAN]), "goal: expected finite numbers"),
    (lambda: _mpc().run_to({"elbow": "x"}), "goal: elbow: expected a number"),  # type: ignore[dict-item]
    (lambda: _mpc().run_to("elbow"), "goal: expected numbers or numbers by name, found 'elbow'"),  # type: ignore[arg-type]
    (lambda: _mpc().run_to(tip="x"), "tip: expected numbers, found 'x'"),  # type: ignore[arg-type]
    (lambda: _mpc().run_to({"elbow": 0.1}, q0=[NAN, 0]), "q0: expected finite numbers"),
    (lambda: _mpc().run_to({"elbow": 0.1}, duration=NAN), "duration: expected a finite number"),
    (lambda: _mpc().run_to({"elbow": 0.1}, within=-1.0), "within: expected a finite number of at least 0"),
    (lambda: diffpbd.excite(ROBOT, harmonic=3), "no argument 'harmonic'. Did you mean harmonics"),
    (lambda: diffpbd.excite(ROBOT, acceleration=[1, 2, 3]), "acceleration: expected a number or 2"),
    (lambda: diffpbd.excite(ROBOT, acceleration=0.0), "acceleration: expected numbers above 0"),
    (lambda: diffpbd.check(URDF, bas="x"), "check: there is no argument 'bas'"),  # type: ignore[call-arg]
    (lambda: diffpbd.check(URDF, hold=3), "hold: expected names, found 3"),  # type: ignore[arg-type]
    (lambda: diffpbd.export_urdf(URDF, "o.urdf", h="x"), "h: expected a number"),  # type: ignore[arg-type]
    (lambda: diffpbd.generate(URDF, limits="no"), "limits: expected True or False"),  # type: ignore[arg-type]
    (lambda: diffpbd.generate(URDF, gravity=3), "gravity: expected three numbers"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("call", "words"), WRONG, ids=[words for _, words in WRONG])
def test_it_is_refused_in_words(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(diffpbd.InputError, match=words):
        call()


def test_bounds_by_name_are_those_of_the_command() -> None:
    """One number for all joints, or one each; never wider than the description's."""
    own = diffpbd.Mpc(ROBOT, 5).problem.bounds
    given = diffpbd.Mpc(ROBOT, 5, bounds={"u": [1.0, 1e9], "pd": 2.0}).problem.bounds
    np.testing.assert_array_equal(given[:2, 0], [-1.0, 1.0])
    np.testing.assert_array_equal(given[:2, 1], own[:2, 1])
    np.testing.assert_array_equal(given[5], [2.0, 2.0])
    np.testing.assert_array_equal(given[2:5], own[2:5])


def test_an_option_may_be_left_to_the_recipe() -> None:
    assert diffpbd.check(URDF, base=None, tip=None).passed()  # type: ignore[arg-type]
    assert diffpbd.load(generated("double_pendulum")).name == "double_pendulum"
