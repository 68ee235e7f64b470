"""`export-acados`: the model that is written is the robot's step; acados itself is a stand-in with its attributes."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np
import pytest
from click.testing import CliRunner
from support.robots import generated, loaded

from diffpbd.runtime.cli import cli

NAME = "double_pendulum"


def test_the_model_is_the_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fit.json").write_text(json.dumps({"payload.mass": 0.4}))
    words = [
        "export-acados",
        str(generated(NAME)),
        "--params",
        str(tmp_path / "fit.json"),
        "--out",
        str(tmp_path / "a"),
    ]
    done = CliRunner().invoke(cli, [*words, "--json"])
    assert done.exit_code == 0, done.output
    data = json.loads(done.stdout)
    assert data["x"] == 4 and [Path(path).name for path in data["written"]] == [
        f"{NAME}_acados.py",
        f"{NAME}_step.casadi",
    ]

    acados = ModuleType("acados_template")
    acados.AcadosModel = SimpleNamespace  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "acados_template", acados)
    spec = importlib.util.spec_from_file_location("exported", data["written"][0])
    assert spec is not None and spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    model, robot = module.acados_model(0.005), loaded(NAME)
    dynamics = ca.Function("f", [model.x, model.u, model.p], [model.disc_dyn_expr])
    x, u = np.array([0.3, -0.2, 0.5, 0.1]), np.array([1.0, -0.5])
    step = robot.joint_step(x[:2], x[2:], u, 0.005, {"payload.mass": 0.4})
    found = dynamics(x, u, module.parameter_values).full().ravel()
    np.testing.assert_allclose(found, [*step.p_next, *step.pd_next], rtol=1e-12)
    assert module.bounds["effort"].tolist() == [40.0, 20.0] and module.h == robot.h


def test_a_robot_without_the_graph_is_refused_with_the_command(tmp_path: Path) -> None:
    folder = generated(NAME, functions=("joint_step",), variants=("variational_direct",))
    done = CliRunner().invoke(cli, ["export-acados", str(folder), "--out", str(tmp_path / "a")])
    assert done.exit_code == 1 and "joint_step_unrolled" in done.output and "diffpbd generate" in done.output
    assert not (tmp_path / "a").exists()
