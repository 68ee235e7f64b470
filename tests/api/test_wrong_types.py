"""Values of a wrong type, for each argument of each function of the door: taken, or refused in words."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.robots import generated, loaded

import diffpbd
from diffpbd.codegen.description.front.resolve import find_recipe
from diffpbd.runtime.api.keywords import keywords
from diffpbd.runtime.base.fitting import KINDS, expect

ROBOT = loaded("double_pendulum")
URDF = str(find_recipe("double_pendulum").urdf)
JUNK = [
    None, 3, 1.5, -1, float("nan"), "x", "", b"x", True, [1], [None], (1, 2, 3), {}, {"x": "y"}, {1: 2}, object(),
    np.zeros((2, 2, 2)), np.array("x"), 1j, Path("/no/such"), 10**400, 10**30,
    np.int64(3), np.float32(1.5), [("a.csv", 0.0)],
]  # fmt: skip
RUN = diffpbd.simulate(ROBOT, "gravity", duration=0.05)
MPC = diffpbd.Mpc(ROBOT, 3)
Z = np.zeros(2)

CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any], Mapping[str, Any]]] = {
    "load": (diffpbd.load, {"robot": generated("double_pendulum")}, {}),
    "generate": (diffpbd.generate, {"robot": "no_such"}, keywords("GenerateOptions")),
    "check": (diffpbd.check, {"urdf": URDF}, keywords("GenerateOptions")),
    "export_urdf": (diffpbd.export_urdf, {"robot": URDF, "out": "out.urdf"}, keywords("GenerateOptions")),
    "read_log": (diffpbd.read_log, {"path": "run.csv"}, {}),
    "simulate": (diffpbd.simulate, {"robot": ROBOT, "duration": 0.02}, {}),
    "estimate_torque": (diffpbd.estimate_torque, {"robot": ROBOT, "log": RUN}, keywords("TorqueHow")),
    "excite": (diffpbd.excite, {"robot": "no_such"}, keywords("ExciteHow")),
    "identify": (diffpbd.identify, {"robot": ROBOT, "logs": RUN, "fit": "no_such"}, keywords("IdentifyHow")),
    "Mpc": (diffpbd.Mpc, {"robot": ROBOT, "horizon": 3}, keywords("MpcHow")),
    "Mpc.run_to": (MPC.run_to, {"goal": [0.0, 0.001], "duration": 0.02}, keywords("ApproachHow")),
    "Mpc.tick": (MPC.tick, {"time": 0.0, "p": Z, "pd": Z, "P": Z}, {}),
    "Mpc.start": (MPC.start, {}, {}),
    "Mpc.sent": (MPC.sent, {"torque": Z}, {}),
    "Plant": (diffpbd.Plant, {}, {}),
    "Robot": (diffpbd.Robot, {"folder": ROBOT.folder}, {}),
    "Robot.gpu": (ROBOT.gpu, {}, {}),
    "Robot.casadi": (ROBOT.casadi, {"name": "joint_step"}, {}),
    "Robot.function": (ROBOT.function, {"name": "joint_step"}, {}),
    "Robot.with_parameters": (ROBOT.with_parameters, {"values": {}}, {}),
    "Robot.choose_instructions": (loaded("double_pendulum").choose_instructions, {"name": "no_such"}, {}),
    "Robot.alpha.vector": (ROBOT.alpha.vector, {"values": {}}, {}),
    "Run.save": (RUN.save, {"path": "out.csv"}, {}),
    "ik": (diffpbd.ik, {"robot": "no_such"}, {}),
    "joint_step": (ROBOT.joint_step, {"p": Z, "pd": Z, "u": Z}, {}),
    "vjp_rollout": (ROBOT.vjp_rollout, {"p0": Z, "pd0": Z, "U": np.zeros((3, 2))}, {}),
}
"""What is called, with arguments that do as they are (or, where the call would take long, a name that is refused at the end),
and options that its signature does not show."""
LEFT = {"ClosedLoop", "DescriptionError", "DiffpbdError", "Excitation", "Identification", "Ik", "InputError", "Recording",
        "Run", "SolverError", "TorqueEstimate", "__version__"}  # fmt: skip
"""What users get and do not make."""


def test_every_function_of_the_door_is_here() -> None:
    assert set(diffpbd.__all__) == LEFT | {name for name in CALLS if name in diffpbd.__all__}
    assert not LEFT & set(CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_no_wrong_type_ends_in_an_error_of_python(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    RUN.save("run.csv")
    function, right, more = CALLS[name]
    own = [p.name for p in inspect.signature(function).parameters.values() if p.kind is not p.VAR_KEYWORD]
    wrong = []
    for argument in dict.fromkeys([*own, *more]):
        refused = 0
        for value in JUNK:
            try:
                function(**{**right, argument: value})
            except diffpbd.DiffpbdError:
                refused += 1
            except Exception as error:
                wrong.append(f"{argument}={value!r}: {type(error).__name__}: {error}")
        assert refused, f"{argument} takes everything"
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("call", "words"), [
    (lambda: diffpbd.Mpc(ROBOT, horizon="20"), "Mpc: horizon: expected a whole number, found '20'"),
    (lambda: diffpbd.Mpc(ROBOT, delay=1.5), "Mpc: delay: expected a whole number, found 1.5"),
    (lambda: diffpbd.Mpc(ROBOT, weights=3), "Mpc: weights: expected values by name or a Weights, found 3"),
    (lambda: diffpbd.load(3), "load: robot: expected a name or a path, found 3"),
    (lambda: ROBOT.gpu([1]), r"Robot.gpu: dtype: expected a string, found \[1\]"),
    (lambda: ROBOT.casadi(3), "Robot.casadi: name: expected a string, found 3"),
    (lambda: diffpbd.simulate(ROBOT, order="4"), "simulate: order: expected 2, 4 or 6, found '4'"),
    (lambda: diffpbd.generate(URDF, tip=[3]), r"generate: tip: expected names, found \[3\]"),
    (lambda: diffpbd.identify(ROBOT, RUN, "friction", fixed={"a": "b"}), "fixed: a: expected a number, found 'b'"),
    (lambda: diffpbd.excite(ROBOT, np.zeros((2, 2))), r"duration: expected a number, found an array of shape \(2, 2\)"),
    (lambda: diffpbd.Mpc(ROBOT, clearance=0.0), "^clearance: double_pendulum was generated without distances"),
    (lambda: diffpbd.Plant(noise=None), "Plant: noise: expected a number, found None"),
])  # fmt: skip
def test_the_words_name_the_argument_and_the_type(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(diffpbd.InputError, match=words):
        call()


@pytest.mark.parametrize(("annotation", "right", "wrong"), [
    ("int", [3, np.int32(3), 2**31 - 1], [3.0, True, "3", 2**31]),
    ("float", [3, 1.5, np.float32(1)], ["3", False, 1j, np.zeros(1)]),
    ("bool", [True, np.False_], [0, "yes", None]),
    ("str | Path", ["a", Path("a")], ["a\0", b"a", 3]),
    ("float | None", [None, 1.0], ["", []]),
    ("Sequence[str]", [["a"], ("a",), []], ["a", [1], {"a"}]),
    ("tuple[float, float]", [(1, 2), [1.0, 2], np.zeros(2)], [(1,), "ab", np.zeros(3)]),
    ("Callable[[str], None] | None", [print, None], ["print"]),
    ("npt.ArrayLike", [1, [1, 2], np.zeros((2, 2))], ["1", {"a": 1}, [[1], [1, 2]], [None, "x"]]),
])  # fmt: skip
def test_kinds(annotation: str, right: list[Any], wrong: list[Any]) -> None:
    for value in right:
        expect("it", value, annotation)
    for value in wrong:
        with pytest.raises(diffpbd.InputError, match="it: expected"):
            expect("it", value, annotation)
    assert all(kind.words for kind in KINDS.values())


def test_what_is_not_known_is_not_judged() -> None:
    expect("it", "x", "Something[int] | None")


def test_a_clock_that_goes_back_has_a_torque() -> None:
    """A failed tick before the last plan's time takes no row of it."""
    mpc = diffpbd.Mpc(ROBOT, 3)
    mpc.tick(1.0, Z, Z, Z)
    assert mpc.tick(0.0, Z, Z, np.nan).source.value == "fall back"


def test_no_forces_of_a_robot_that_touches_nothing() -> None:
    run = diffpbd.simulate(ROBOT, duration=0.2)
    found = diffpbd.estimate_torque(ROBOT, run, cutoff=None, forces={})
    np.testing.assert_array_equal(found.u, diffpbd.estimate_torque(ROBOT, run, cutoff=None).u)
