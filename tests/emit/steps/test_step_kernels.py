"""The two forms of the emitted joint-space step, straight-line and rolled along the tree, are one function."""

from __future__ import annotations

import ctypes
import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.robots import loaded, loaded_alpha, model
from support.small.rolled import rolled_step, run_rolled

from diffpbd.codegen.description.front.resolve import resolve
from diffpbd.codegen.emit.step.step_kernels import step_kernels
from diffpbd.codegen.graph.loops.build import build
from diffpbd.runtime.functions.parameters import ParameterVector

ROBOT = "prismatic_skew"


@pytest.fixture(scope="module")
def rolled(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return rolled_step(model(ROBOT), tmp_path_factory.mktemp("rolled"))


@pytest.fixture(scope="module", params=["smooth", "coulomb"])
def state(request: pytest.FixtureRequest) -> dict[str, Any]:
    robot, rng = loaded(ROBOT), np.random.default_rng(11)
    n = robot.n
    given = {"payload.mass": 0.7, "payload.com.x": 0.05}
    for joint in robot.joints:
        given |= {f"friction.viscous.{joint}": 0.3, f"rotor_inertia.{joint}": 0.02}
        given |= {f"spring.stiffness.{joint}": 4.0, f"spring.rest.{joint}": 0.2}
        if request.param == "coulomb":
            given[f"friction.coulomb.{joint}"] = 0.2
    alpha = robot.alpha.vector(given)
    p, pd, u = rng.uniform(-1, 1, n), rng.normal(size=n), rng.normal(size=n)
    return {"p": p, "pd": pd, "u": u, "h": 0.01, "alpha": alpha}


@pytest.mark.thorough("smooth")
def test_values_and_reverse_derivatives_agree(rolled: ctypes.CDLL, state: dict[str, Any]) -> None:
    robot, rng = loaded(ROBOT), np.random.default_rng(12)
    n, m = robot.n, len(state["alpha"])
    expected = robot.joint_step(**state)
    found = run_rolled(rolled, "joint_step", [*state.values()], [n, n])
    np.testing.assert_allclose(found[0], expected.p_next, atol=1e-12)
    np.testing.assert_allclose(found[1], expected.pd_next, atol=1e-9)
    bars = {"p_next_bar": rng.normal(size=n), "pd_next_bar": rng.normal(size=n)}
    reverse = robot.vjp_joint_step(**state, **bars)
    found = run_rolled(rolled, "vjp_joint_step", [*state.values(), *bars.values()], [n, n, n, 1, m])
    for value, want in zip(found, reverse, strict=True):
        np.testing.assert_allclose(value, np.ravel(want), rtol=1e-7, atol=1e-8 * np.abs(want).max())


def test_jacobians_agree(rolled: ctypes.CDLL, state: dict[str, Any]) -> None:
    robot = loaded(ROBOT)
    n, m = robot.n, len(state["alpha"])
    for name, sizes in (("jac_joint_step", [n, n] + [n * n] * 6), ("jac_alpha_joint_step", [n * m] * 2)):
        for value, want in zip(
            run_rolled(rolled, name, [*state.values()], sizes), getattr(robot, name)(**state), strict=True
        ):
            np.testing.assert_allclose(value, np.ravel(want, order="F"), rtol=1e-7, atol=1e-8 * np.abs(want).max())


KINDS = {
    "numbers": {"symbolic": ("mass", "com", "inertia"), "wrench": ("boom", "probe"), "lever_springs": ("wrist",)},
    "places": {"symbolic": ("origin",)},
}
"""What the parameters change: numbers of links and joints, summed along the tree; places of joints, row by row."""


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
def test_the_jacobian_by_every_parameter(kind: str, tmp_path: Path) -> None:
    """Beside differences of the step, and beside its reverse mode, which knows nothing of links."""
    recipe, robot = resolve(ROBOT)
    m = build(robot, dataclasses.replace(recipe, **KINDS[kind]))
    library, rng = rolled_step(m, tmp_path), np.random.default_rng(4)
    assert ("#define SLOPES 0\n" in (tmp_path / "joint_step_model.h").read_text()) is (kind == "places")
    n, alpha = m.tree.n, loaded_alpha(ParameterVector(m.entries))
    names = [entry.name for entry in m.entries]
    for k, name in enumerate(names):
        if name.split(".")[0] in ("wrench", "lever_spring"):
            alpha[k] += rng.uniform(0.1, 0.9)
    given = [rng.uniform(-1, 1, n), rng.normal(size=n), rng.normal(size=n), 0.01]

    def steps(k: int, by: float) -> np.ndarray:
        moved = alpha.copy()
        moved[k] += by
        return np.array(run_rolled(library, "joint_step", [*given, moved], [n, n]))

    blocks = run_rolled(library, "jac_alpha_joint_step", [*given, alpha], [n * len(names)] * 2)
    found = np.array([block.reshape(-1, n).T for block in blocks])  # 2 × n × entries
    silent = [name for k, name in enumerate(names) if not found[..., k].any()]
    assert {name.split(".")[0] for name in silent} <= {"torque_offset"}
    for row, seed in enumerate(np.eye(2 * n)):
        alpha_bar = run_rolled(
            library, "vjp_joint_step", [*given, alpha, seed[:n], seed[n:]], [n, n, n, 1, len(names)]
        )[4]
        own = found.reshape(2 * n, -1)[row]
        np.testing.assert_allclose(own, alpha_bar, rtol=1e-8, atol=1e-11 * np.abs(found).max())
    for k, name in enumerate(names):
        by = 1e-5 * max(1.0, abs(alpha[k]))
        slope = (steps(k, by) - steps(k, -by)) / (2.0 * by)
        largest = np.abs(found[..., k]).max(axis=1, keepdims=True)
        assert (np.abs(found[..., k] - slope) <= 2e-6 * largest + [[1e-9], [1e-7]]).all(), (name, found[..., k], slope)


def test_torques_at_nodes_agree(rolled: ctypes.CDLL, state: dict[str, Any]) -> None:
    robot = loaded(ROBOT)
    given = [state["p"], state["p"] + 0.01 * state["pd"], state["p"] + 0.021 * state["pd"], 0.01, state["alpha"]]
    (found,) = run_rolled(rolled, "node_torque", given, [robot.n])
    np.testing.assert_allclose(found, robot.node_torque(*given[:3], h=0.01, alpha=given[4]), rtol=1e-9, atol=1e-9)


@pytest.mark.soak
def test_rolled_text_is_compact(tmp_path: Path) -> None:
    """Each link's share is a call: twice the joints, far less than twice the text."""
    from benchmarks.scale import chain
    from diffpbd.codegen.description.front.resolve import resolve
    from diffpbd.codegen.graph.loops.build import build

    sizes = []
    for n in (13, 26):
        path = tmp_path / f"chain{n}.urdf"
        path.write_text(chain(n))
        recipe, robot = resolve(str(path))
        sizes.append(sum(map(len, step_kernels(build(robot, recipe)).texts)))
    assert sizes[1] < 1.6 * sizes[0]


@pytest.mark.soak
@pytest.mark.parametrize(("n", "deeper"), [(10, False), (14, True)])
def test_the_forms_are_exchanged_where_their_jacobians_cost_the_same(
    n: int, deeper: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On either side of `DENSE_DEPTH`, the sweeps counted by vectors of so many columns."""
    from benchmarks.scale import chain
    from diffpbd.codegen.description.front.resolve import resolve
    from diffpbd.codegen.graph.loops.build import build
    from diffpbd.codegen.joint_space.tree_jacobian import COLUMNS, SWEPT
    from diffpbd.codegen.program import store, tree

    assert (n > tree.DENSE_DEPTH) is deeper
    path = tmp_path / f"chain{n}.urdf"
    path.write_text(chain(n))
    recipe, robot = resolve(str(path))
    cost = {}
    for depth in (0, n):
        monkeypatch.setattr(tree, "DENSE_DEPTH", depth)
        store.forget()
        counted = step_kernels(build(robot, recipe), by_alpha=False).operations
        if depth == 0:
            swept = SWEPT * n * 3 * -(-n // COLUMNS)
            cost["deep"] = counted["joints"] + counted["tree_jacobian"] - (COLUMNS - 1) * swept
        else:
            cost["dense"] = counted["jacobian"]
    store.forget()
    assert (cost["deep"] < cost["dense"]) is deeper
