"""Types of the door for editors and type checkers: mistakes are found where they are, nowhere else; hover says no `Any`."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.robots import loaded

import diffpbd
import diffpbd.runtime.commands.estimate_torque
import diffpbd.runtime.commands.excite
import diffpbd.runtime.commands.generate
import diffpbd.runtime.commands.identify
from diffpbd.codegen.description.recipe.recipe import DEFAULT_SWEEPS
from diffpbd.codegen.emit.stub import STUB, stub
from diffpbd.codegen.functions import FUNCTIONS, VARIANTS, expect_declared
from diffpbd.codegen.graph.functions.capabilities import GROUPS

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = Path(__file__).with_name("users_script.py")
PLANTED = {k for k, line in enumerate(SCRIPT.read_text(encoding="utf-8").splitlines(), 1) if line.endswith("# found")}


def test_mypy_finds_what_is_wrong_and_nothing_else() -> None:
    pytest.importorskip("mypy")
    cache = ["--cache-dir", str(ROOT / ".test-cache" / "mypy")]
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", *cache, str(SCRIPT)]
    done = subprocess.run(command, cwd=SCRIPT.parent, text=True, capture_output=True, check=False)
    found = re.findall(r"users_script.py:(\d+): error: (.*)", done.stdout)
    assert {int(line) for line, _ in found} == PLANTED, done.stdout + done.stderr
    assert len(PLANTED) >= 10


def test_pyright_finds_the_same() -> None:
    if shutil.which("pyright") is None:
        pytest.skip("pyright is not installed")
    command = ["pyright", "--outputjson", "--pythonpath", sys.executable, str(SCRIPT)]
    done = subprocess.run(command, cwd=SCRIPT.parent, text=True, capture_output=True, check=False)
    found = {entry["range"]["start"]["line"] + 1 for entry in json.loads(done.stdout)["generalDiagnostics"]}
    assert found == PLANTED, done.stdout


def test_the_stub_is_that_of_the_table() -> None:
    assert STUB.read_text(encoding="utf-8") == stub(), "python -m diffpbd.codegen.emit.stub writes it anew"


def test_no_public_name_is_any() -> None:
    """A function of the door says what it takes and gives; containers of `Any` count too, numpy's own shapes do not."""
    for name in diffpbd.__all__:
        thing = getattr(diffpbd, name)
        hints = getattr(thing.__init__ if isinstance(thing, type) else thing, "__annotations__", {})
        vague = {k: v for k, v in hints.items() if re.search(r"\bAny\b", str(v))}
        assert not vague, f"{name}: {vague}"
    assert not re.search(r"\bAny\b", stub())


def test_the_table_is_of_what_is_made() -> None:
    """A robot's functions are those of the table with their arguments in that order; the table knows every group."""
    for function in loaded("double_pendulum").functions.values():
        facts = function.facts
        expect_declared(facts.name, [a.name for a in facts.inputs], [a.name for a in facts.outputs])
        assert facts.doc.endswith(FUNCTIONS[facts.name].doc) or facts.name.startswith(("step", "rollout_step", "vjp"))
    graphs = {"derivative_graphs", "joint_step_unrolled", "kicked_step", "trajectory"}  # of no C function
    assert {name for group in GROUPS for name in group.functions} - graphs <= set(FUNCTIONS)
    assert tuple(DEFAULT_SWEEPS) == VARIANTS
    with pytest.raises(LookupError, match="with inputs"):
        expect_declared("gravity", ["alpha", "p"], ["u"])
    with pytest.raises(LookupError, match="not declared"):
        expect_declared("gravty", ["p", "alpha"], ["u"])


def test_joints_by_name() -> None:
    robot = loaded("double_pendulum")
    named, plain = {robot.joints[1]: 0.3}, np.array([0.0, 0.3])
    assert np.array_equal(robot.gravity(named), robot.gravity(plain))
    step = robot.joint_step(named, {robot.joints[0]: 1.0}, {})
    assert np.array_equal(step.p_next, robot.joint_step(plain, [1.0, 0.0], [0.0, 0.0]).p_next)
    run = diffpbd.simulate(robot, duration=0.1, q0=named, dq0={robot.joints[0]: 1.0})
    assert np.array_equal(run.q[0], plain) and np.array_equal(run.dq[0], [1.0, 0.0])
    for call in (lambda: robot.gravity({"elbw": 1.0}), lambda: diffpbd.simulate(robot, q0={"elbw": 1.0})):
        with pytest.raises(diffpbd.InputError, match="there is no joint 'elbw'. Did you mean elbow"):
            call()
    with pytest.raises(diffpbd.InputError, match="gravity: p: elbow: expected a number"):
        robot.gravity({"elbow": "bent"})


def test_alpha_is_read_by_name_and_shown() -> None:
    robot = loaded("double_pendulum")
    assert dict(robot.alpha) == dict(zip(robot.alpha.names, robot.alpha.defaults.tolist(), strict=True))
    assert list(robot.alpha) == list(robot.alpha.names)
    heavy = robot.with_parameters({"payload.mass": 0.5})
    assert (robot.alpha["payload.mass"], heavy.alpha["payload.mass"]) == (0.0, 0.5)
    with pytest.raises(diffpbd.InputError, match=r"no parameter 'payload\.mas'. Did you mean payload\.mass"):
        robot.alpha["payload.mas"]
    page = robot._repr_html_()
    assert "<caption>double_pendulum: " in page and all(f"<td>{joint}</td>" in page for joint in robot.joints)
    assert "<td>payload.mass</td><td>0.5</td><td>kg</td>" in heavy.alpha._repr_html_()


def test_a_notebook_shows_what_there_is() -> None:
    robot = loaded("double_pendulum")
    run = diffpbd.simulate(robot, duration=0.1, q0={"elbow": 0.3})
    assert "10 steps of 0.01 s" in run._repr_html_() and "<td>elbow</td><td>0.3</td>" in run._repr_html_()
    controller = diffpbd.Mpc(robot, horizon=5, bounds={"u": 7.0})
    assert "5 steps of 0.01 s" in controller._repr_html_() and "<td>-7 … 7</td>" in controller._repr_html_()


def test_a_graph_without_casadi_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = loaded("double_pendulum")
    monkeypatch.setitem(sys.modules, "casadi", None)
    monkeypatch.delitem(sys.modules, "diffpbd.runtime.functions.casadi_functions", raising=False)
    with pytest.raises(
        diffpbd.InputError, match=r"double_pendulum\.casadi needs casadi.*pip install 'diffpbd\[solve\]'"
    ):
        robot.casadi("joint_step")
