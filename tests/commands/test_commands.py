from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from diffpbd.runtime import Robot, cli
from diffpbd.runtime.logs.csv import read_log


@pytest.fixture
def here(tmp_path: Path, twin_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(twin_folder, tmp_path / "generated" / "twin")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli.cli, arguments)


def done(*arguments: str) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(*arguments: str, code: int = 1) -> str:
    result = run(*arguments)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.stderr
    return result.stderr


def evaluated(function: str, data: Any, *options: str) -> Any:
    Path("in.json").write_text(json.dumps(data), encoding="utf-8")
    return json.loads(done("eval", "twin", function, "--json", "in.json", *options))


STATE = {"p": [0.1, 0.2], "pd": [0.3, 0.4]}


def test_robots_by_name_folder_and_manifest(here: Path) -> None:
    for robot in ("twin", "generated/twin", str(here / "generated" / "twin"), "generated/twin/manifest.json"):
        assert "twin: 2 joints from base to mass_b" in done("info", robot)
    Path("arm.urdf").write_text("<robot/>", encoding="utf-8")
    Path("empty").mkdir()
    assert "Run `diffpbd generate arm.urdf`" in refused("info", "arm.urdf")
    assert "Did you mean twin?" in refused("info", "twim")
    assert "empty is not a generated folder" in refused("info", "empty")


def test_info(here: Path) -> None:
    text = done("info", "twin")
    for words in ("prismatic", "payload.mass", "N·s/m", "U[2xN]", "P[2xN+1]", "h = 0.01 s"):
        assert words in text
    assert json.loads(done("info", "twin", "--json"))["name"] == "twin"


def test_eval_single(here: Path, twin: Robot) -> None:
    result = evaluated("joint_step", {**STATE, "u": [0, 0]})
    assert result == {
        "p_next": twin.joint_step(STATE["p"], STATE["pd"], [0, 0]).p_next.tolist(),
        "pd_next": twin.joint_step(STATE["p"], STATE["pd"], [0, 0]).pd_next.tolist(),
    }
    assert evaluated("shapes", {"p": [1, 2], "A": [[1, 2, 3], [4, 5, 6]]})["B"] == [[2, 8], [4, 10], [6, 12]]
    assert evaluated("energy", STATE) == dict(zip(("kinetic", "potential"), twin.energy(*STATE.values()), strict=True))


def test_eval_batches(here: Path) -> None:
    single = evaluated("energy", STATE)
    assert evaluated("energy", {**STATE, "p": [STATE["p"]] * 2}) == {k: [v] * 2 for k, v in single.items()}
    assert evaluated("energy", [STATE] * 3) == [single] * 3
    heavy = {"payload.mass": 1}
    assert evaluated("gravity", {"p": [0, 0], "alpha": [{}, heavy]}) == {"u": [[-0.5, -0.5], [-1, -1]]}
    assert evaluated("gravity", [{"p": [0, 0], "alpha": heavy}]) == [{"u": [-1, -1]}]


def test_eval_with_parameters_and_a_file(here: Path) -> None:
    Path("params.json").write_text('{"parameters": {"payload.mass": {"value": 1}}}', encoding="utf-8")
    assert evaluated("gravity", {"p": [0, 0]}, "--params", "params.json") == {"u": [-1, -1]}
    data = {"p": [0, 0], "alpha": {"gravity.x": 2}}
    assert evaluated("gravity", data, "--params", "params.json") == {"u": [-4, -4]}
    assert done("eval", "twin", "gravity", "--json", "in.json", "--out", "out.json") == ""
    assert json.loads(Path("out.json").read_text(encoding="utf-8")) == {"u": [-2, -2]}


def test_eval_gives_gradients_of_alpha_by_name(here: Path) -> None:
    zero = [0, 0]
    data = {"p0": zero, "pd0": zero, "U": [zero] * 4, "P_bar": [[1, 0]] * 5, "PD_bar": [zero] * 5}
    result = evaluated("vjp_rollout", data)
    assert list(result["alpha_bar"])[:2] == ["gravity.x", "payload.mass"]
    assert len(result["U_bar"]) == 4


def test_simulate(here: Path, twin: Robot) -> None:
    text = done("simulate", "twin", "--duration", "2", "--q0", '{"a": 0.9}', "--dq0", "[1, 0]", "--out", "run.csv")
    assert "200 steps of 0.01 s by joint_step" in text and "% of the kinetic energy's range" in text
    assert "note: a went from" in text and "final state" in text
    log = read_log("run.csv")
    assert log.joints == ("a", "b") and len(log) == 201 and log.tau is not None
    assert log.q[0].tolist() == [0.9, 0] and log.dq[0].tolist() == [1, 0]
    assert (log.q[1] == twin.joint_step(log.q[0], log.dq[0], [0, 0]).p_next).all()


def test_simulate_again_from_its_own_log(here: Path) -> None:
    done("simulate", "twin", "--q0", "[0.5, 0.1]", "--torque", "gravity", "--h", "0.02", "--out", "run.csv.gz")
    done("simulate", "twin", "--torque", "run.csv.gz", "--h", "0.02", "--out", "again.csv")
    first, again = read_log("run.csv.gz"), read_log("again.csv")
    assert (first.q == again.q).all()
    Path("torque.csv").write_text("tau_a,tau_b\n0,0\n1,1\n", encoding="utf-8")
    assert "--rate" in refused("simulate", "twin", "--torque", "torque.csv", "--out", "x.csv")
    done("simulate", "twin", "--torque", "torque.csv", "--rate", "50", "--q0", "[1, 1]", "--out", "x.csv")
    assert read_log("x.csv").q[0].tolist() == [1, 1]


def test_simulate_in_maximal_coordinates_with_a_plot(here: Path) -> None:
    pytest.importorskip("matplotlib")
    text = done("simulate", "twin", "--maximal", "--duration", "0.1", "--out", "run.csv", "--plot", "run.png")
    assert "by step" in text and "joint gaps: at most 1e-06" in text
    assert Path("run.png").read_bytes().startswith(b"\x89PNG")
