"""`import diffpbd`: light, whole, and what comes out of it is readable."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
from support.imports import ROOT
from support.robots import generated, loaded

import diffpbd
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.model.robot import Robot

LIGHT = 0.15  # s over numpy
SHORT = 200  # characters


@pytest.fixture(scope="module")
def robot() -> Robot:
    return loaded("double_pendulum")


def test_import_is_light() -> None:
    """Nothing but the package itself, so no time over numpy to speak of; half of the bar, as this machine may be busy."""
    code = "import time, sys, importlib; t = time.process_time(); import diffpbd; print(time.process_time() - t, *sys.modules)"
    run = [sys.executable, "-c", code]
    best, loaded_then = np.inf, set()
    for _ in range(3):
        seconds, *modules = subprocess.run(run, capture_output=True, text=True, check=True).stdout.split()
        best, loaded_then = min(best, float(seconds)), set(modules)
    assert best < LIGHT / 2
    assert not loaded_then & {"numpy", "click", "casadi", "scipy", "sympy", "diffpbd.runtime", "diffpbd.codegen"}


def test_opening_a_robot_needs_numpy_alone(robot: Robot) -> None:
    code = f"import sys, diffpbd; diffpbd.load({str(robot.folder)!r}); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(done.stdout.split()) & {"click", "casadi", "scipy", "sympy", "jinja2", "lxml", "matplotlib"}


@pytest.mark.parametrize("name", diffpbd.__all__)
def test_every_name_is_there_typed_and_documented(name: str) -> None:
    value = getattr(diffpbd, name)
    assert name in dir(diffpbd)
    if name != "__version__":
        assert value.__doc__
        text = (ROOT / "diffpbd" / "__init__.py").read_text(encoding="utf-8")
        typed = text.split("if TYPE_CHECKING:")[1].split("_HOMES")[0]
        assert name in typed.replace(",", " ").split(), "type checkers and editors do not see it"


def test_the_version_is_the_package_s() -> None:
    assert diffpbd.__version__ == version("diffpbd")


def test_a_name_that_is_not_there_is_answered() -> None:
    with pytest.raises(AttributeError, match="no attribute 'simulat'.*simulate"):
        diffpbd.simulat  # noqa: B018


def test_generated_functions_have_a_signature_and_a_page(robot: Robot) -> None:
    signature = inspect.signature(robot.joint_step)
    assert list(signature.parameters) == ["p", "pd", "u", "h", "alpha", "threads"]
    assert signature.parameters["h"].default is None and signature.parameters["p"].default is inspect.Parameter.empty
    assert str(signature.parameters["p"]) == "p: float[2]"
    assert str(signature).endswith("-> (p_next: float[2], pd_next: float[2])")
    assert str(inspect.signature(robot.rollout).parameters["U"]) == "U: float[N, 2]"
    back = inspect.signature(robot.vjp_joint_step).parameters
    assert back["p_next_bar"].kind is inspect.Parameter.KEYWORD_ONLY, "it follows inputs with defaults"
    page = robot.jac_joint_step.__doc__
    for words in (
        "dp_next_du[2, 2]",
        "derivative of a[i] by b[j]",
        "h (a number): s; default 0.01",
        "threads=N",
        "SolverError",
    ):
        assert words in page
    assert "one sample a row" in robot.rollout.__doc__ and "a[i]" not in robot.rollout.__doc__


def test_matrices_are_as_the_page_says(robot: Robot) -> None:
    p, pd, u, step = np.array([0.3, -0.2]), np.array([0.5, 0.1]), np.zeros(2), 1e-6
    J = robot.jac_joint_step(p, pd, u).dp_next_dpd
    moved = (robot.joint_step(p, pd + [0.0, step], u).p_next - robot.joint_step(p, pd, u).p_next) / step
    assert J[:, 1] == pytest.approx(moved, rel=1e-4)


def test_reprs_are_short(robot: Robot) -> None:
    mpc = diffpbd.Mpc(robot, 5)
    run = mpc.run_to([0.05, 0.0])
    tick = mpc.tick(0.0, run.q[-1], run.dq[-1], run.reference[-1])
    simulated = diffpbd.simulate(robot, duration=0.1)
    for value in (
        robot,
        robot.alpha,
        mpc,
        run,
        tick,
        simulated,
        diffpbd.estimate_torque(robot, simulated, cutoff=None),
    ):
        assert len(repr(value)) < SHORT and "\n" not in repr(value), repr(value)
    assert "27 parameters" in repr(robot.alpha) and "solved" in repr(tick) and "5 steps of 0.01 s" in repr(mpc)


def test_parameters_become_a_robot_s_defaults(robot: Robot) -> None:
    loaded_one = robot.with_parameters({"payload.mass": 0.5})
    p = np.array([0.4, 0.2])
    assert loaded_one.gravity(p) == pytest.approx(robot.gravity(p, {"payload.mass": 0.5}))
    assert np.abs(loaded_one.gravity(p) - robot.gravity(p)).max() > 0.1
    again = pickle.loads(pickle.dumps(loaded_one))
    assert again.gravity(p) == pytest.approx(loaded_one.gravity(p))
    assert pickle.loads(pickle.dumps(robot)).gravity(p) == pytest.approx(robot.gravity(p))
    with pytest.raises(InputError, match="payload.mass: expected at least 0"):
        robot.with_parameters({"payload.mass": -1.0})


def test_robots_are_found_by_name_in_the_environment_s_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, robot: Robot
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "swing").symlink_to(generated("double_pendulum"), target_is_directory=True)
    with pytest.raises(InputError, match=f"no generated robot 'swing' in {tmp_path / 'generated'}"):
        diffpbd.load("swing")
    monkeypatch.setenv("DIFFPBD_ROBOTS", f"{tmp_path / 'none'}:{tmp_path / 'mine'}")
    assert diffpbd.load("swing").n == 2
    with pytest.raises(InputError, match="There is no folder no/such.*Did you mean swing|There is no folder no/such"):
        diffpbd.load("no/such")
    with pytest.raises(InputError, match="It is shipped: `diffpbd generate baxter_right`"):
        diffpbd.load("baxter_right")
    with pytest.raises(InputError, match="Make one with `diffpbd generate FILE.urdf`.*Did you mean swing"):
        diffpbd.load("swin")
