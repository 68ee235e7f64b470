"""Derivatives of dynamics with closed loops at an instant, against differences and each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.closed_robots import case

from diffpbd.runtime import Robot
from diffpbd.runtime.base.errors import SolverError

NAMES = ("four_bar", pytest.param("five_bar", marks=pytest.mark.soak), "spatial_four_bar", "bennett")
OUTPUTS = {"forward_dynamics": ("pdd",), "inverse_dynamics": ("u", "loop_force", "unbalanced")}
LAST = {"forward_dynamics": "u", "inverse_dynamics": "pdd"}


def differences(f: Any, x: Any, step: float) -> Any:
    columns = []
    for d in step * np.eye(len(x)):
        columns.append((8 * (f(x + d) - f(x - d)) - f(x + 2 * d) + f(x - 2 * d)) / (12 * step))
    return np.array(columns).T


def state(name: str) -> tuple[Robot, dict[str, Any], Any]:
    """A robot, its state with a torque and an acceleration that do not match, and parameters that all matter."""
    c, rng = case(name), np.random.default_rng(5)
    n, alpha = c.robot.n, c.robot.alpha.vector({})
    for k, entry in enumerate(c.robot.alpha.names):
        if entry.startswith(
            ("friction.coulomb", "friction.viscous", "rotor", "spring", "torque_offset", "payload.mass")
        ):
            alpha[k] = rng.uniform(0.1, 0.5)
        if entry.startswith("friction.transition"):
            alpha[k] = 0.3
    return c.robot, {"p": c.p, "pd": c.pd, "u": rng.standard_normal(n), "pdd": rng.standard_normal(n)}, alpha


def flat(value: Any) -> Any:
    return np.concatenate([np.ravel(v) for v in (value if isinstance(value, tuple) else (value,))])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("function", OUTPUTS)
def test_jacobians(name: str, function: str) -> None:
    robot, at, alpha = state(name)
    inputs = ("p", "pd", LAST[function])
    call = getattr(robot, function)
    J = getattr(robot, f"jac_{function}")(*(at[k] for k in inputs), alpha)
    np.testing.assert_array_equal(
        flat(tuple(getattr(J, o) for o in OUTPUTS[function])), flat(call(*(at[k] for k in inputs), alpha))
    )
    worst = 0.0
    for by in inputs:
        found = np.vstack([getattr(J, f"d{o}_d{by}") for o in OUTPUTS[function]])
        by_differences = differences(
            lambda x, by=by: flat(call(*({**at, by: x}[k] for k in inputs), alpha)), at[by], 3e-4
        )
        worst = max(worst, float((np.abs(found - by_differences) / (np.abs(by_differences).max(axis=0) + 1e-3)).max()))
    by_alpha = getattr(robot, f"jac_alpha_{function}")(*(at[k] for k in inputs), alpha)
    found = by_alpha if len(OUTPUTS[function]) == 1 else np.vstack(by_alpha)
    for k, entry in enumerate(robot.alpha.names):
        if entry.startswith("payload.inertia"):
            continue  # at a bound
        step = 1e-4 if "origin" in entry or "length" in entry else 1e-3
        columns = []
        for shift in (step, -step, 2 * step, -2 * step):
            moved = alpha.copy()
            moved[k] += shift
            columns.append(flat(call(*(at[i] for i in inputs), moved)))
        slope = (8 * (columns[0] - columns[1]) - columns[2] + columns[3]) / (12 * step)
        worst = max(worst, float(np.abs(found[:, k] - slope).max() / (np.abs(slope).max() + 1e-3)))
    assert worst < 1e-6, worst


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("function", OUTPUTS)
def test_reverse_is_the_transpose(name: str, function: str) -> None:
    robot, at, alpha = state(name)
    inputs = ("p", "pd", LAST[function])
    given = [at[k] for k in inputs]
    J, A = getattr(robot, f"jac_{function}")(*given, alpha), getattr(robot, f"jac_alpha_{function}")(*given, alpha)
    rng = np.random.default_rng(2)
    seeds = {f"{o}_bar": rng.standard_normal(np.shape(getattr(J, o))) for o in OUTPUTS[function]}
    back, seed = getattr(robot, f"vjp_{function}")(*given, alpha, **seeds), flat(tuple(seeds.values()))
    for by in inputs:
        wanted = seed @ np.vstack([getattr(J, f"d{o}_d{by}") for o in OUTPUTS[function]])
        np.testing.assert_allclose(getattr(back, f"{by}_bar"), wanted, rtol=0, atol=1e-11 * (1 + np.abs(wanted).max()))
    wanted = seed @ (A if len(OUTPUTS[function]) == 1 else np.vstack(A))
    np.testing.assert_allclose(back.alpha_bar, wanted, rtol=0, atol=1e-11 * (1 + np.abs(wanted).max()))


def test_a_singular_pose_ends_in_a_status() -> None:
    robot, at, alpha = state("four_bar")
    flat_pose = np.zeros(3)  # stretched out: rows depend on each other there
    for function, last in LAST.items():
        for kind in ("jac_", "jac_alpha_"):
            with pytest.raises(SolverError, match="singular"):
                getattr(robot, kind + function)(flat_pose, at["pd"], at[last], alpha)
