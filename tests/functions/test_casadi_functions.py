from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import casadi
import numpy as np
import pytest

from diffpbd.runtime import InputError, Robot, load
from diffpbd.runtime.functions.function import Function

RNG = np.random.default_rng(3)


@pytest.fixture
def point(twin: Robot) -> list[Any]:
    return [*RNG.normal(size=(3, 2)), 0.02, twin.alpha.vector({"payload.mass": 0.3, "friction.viscous.a": 0.2})]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    names: list[str] = []
    original = Function.__call__

    def counted(self: Function, *args: Any, **named: Any) -> Any:
        names.append(self.name)
        return original(self, *args, **named)

    monkeypatch.setattr(Function, "__call__", counted)
    return names


def test_graph_and_compiled_agree_with_numpy(twin: Robot, point: list[Any]) -> None:
    expected = twin.joint_step(*point)
    for external in (False, True):
        function = twin.casadi("joint_step", external=external)
        assert function.name_in() == ["p", "pd", "u", "h", "alpha"]
        assert function.name_out() == ["p_next", "pd_next"]
        for got, want in zip(function(*point), expected, strict=True):
            np.testing.assert_allclose(np.array(got).ravel(), want, rtol=1e-14)


def test_every_block_of_the_compiled_jacobian_is_exact(twin: Robot, point: list[Any]) -> None:
    graph = twin.casadi("joint_step").jacobian()
    compiled = twin.casadi("joint_step", external=True).jacobian()
    assert compiled.name_out() == graph.name_out()
    for name, a, b in zip(graph.name_out(), graph(*point, 0, 0), compiled(*point, 0, 0), strict=True):
        np.testing.assert_allclose(np.array(casadi.DM(b)), np.array(casadi.densify(a)), atol=1e-14, err_msg=name)


def test_blocks_that_nobody_asks_for_are_not_computed(twin: Robot, point: list[Any], calls: list[str]) -> None:
    p = casadi.MX.sym("p", 2)
    p_next, _ = twin.casadi("joint_step", external=True)(p, *point[1:])
    jacobian = casadi.Function("J", [p], [casadi.jacobian(p_next, p)])
    np.testing.assert_allclose(np.array(jacobian(point[0])), twin.jac_joint_step(*point).dp_next_dp)
    assert "jac_alpha_joint_step" not in calls[:-1] and "vjp_joint_step" not in calls


def test_inside_an_nlp(twin: Robot) -> None:
    solutions = []
    for external in (False, True):
        step = twin.casadi("joint_step", external=external)
        steps = 10
        torques = casadi.MX.sym("U", 2, steps)
        p, pd = casadi.DM([0.3, -0.2]), casadi.DM([0, 0])
        cost: Any = 0
        for k in range(steps):
            p, pd = step(p, pd, torques[:, k], 0.05, twin.alpha.defaults)
            cost += 1e-3 * casadi.sumsqr(torques[:, k])
        problem = {"x": casadi.vec(torques), "f": cost + casadi.sumsqr(p), "g": pd}
        options: dict[str, Any] = {
            "ipopt.hessian_approximation": "limited-memory",
            "ipopt.print_level": 0,
            "ipopt.sb": "yes",
            "print_time": False,
        }
        solver = casadi.nlpsol("solver", "ipopt", problem, options)
        solutions.append(np.array(solver(x0=0, lbg=0, ubg=0)["x"]).ravel())
        assert solver.stats()["success"]
    np.testing.assert_allclose(solutions[0], solutions[1], atol=1e-6)


def test_matrices_keep_their_orientation(twin: Robot) -> None:
    A = RNG.normal(size=(2, 3))
    B, s = twin.casadi("shapes", external=True)([1, 2], A)
    np.testing.assert_allclose(np.array(B), 2 * A.T)
    assert float(s) == 3.0


def test_a_missing_derivative_is_named(twin: Robot, capfd: pytest.CaptureFixture[str]) -> None:
    p = casadi.MX.sym("p", 2)
    u = twin.casadi("gravity", external=True)(p, twin.alpha.defaults)
    with pytest.raises(RuntimeError, match="derivative of u by p was not generated"):
        casadi.jacobian(u, p)
    capfd.readouterr()


def test_an_edited_graph_is_refused(twin_folder: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(twin_folder, tmp_path / "twin"))
    graph = folder / "casadi" / "joint_step.casadi"
    graph.write_bytes(graph.read_bytes() + b" ")
    with pytest.raises(InputError, match=r"joint_step\.casadi is not the file that was generated"):
        load(folder).casadi("joint_step")


def test_an_unreadable_graph_names_both_versions(twin_folder: Path, tmp_path: Path) -> None:
    import hashlib

    folder = Path(shutil.copytree(twin_folder, tmp_path / "twin"))
    (folder / "casadi" / "joint_step.casadi").write_bytes(b"jvnothing")
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    manifest["files"]["casadi/joint_step.casadi"] = hashlib.sha256(b"jvnothing").hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(InputError, match=r"written by casadi 3\.8\.2 and cannot be read by casadi"):
        load(folder).casadi("joint_step")
