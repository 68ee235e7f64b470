"""Generated steps with limits: parameters of the limits, compiled C against its graph, derivatives, the option."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.small.stopped import source, stopped_arm

from diffpbd.codegen.description.front.urdf import read_urdf
from diffpbd.codegen.description.recipe.recipe import default_recipe, with_options
from diffpbd.codegen.graph.model.parameters import is_limited
from diffpbd.runtime import Robot

VARIANTS = ("variational_direct", "paper_direct", "paper_gauss_seidel", "paper_jacobi")
Array = np.ndarray


@pytest.fixture
def arm() -> Robot:
    return stopped_arm()


def bounded(arm: Robot, p: Array, **more: float) -> Array:
    """alpha with swing 2 mrad from its lower limit and slide 1 mm from its upper."""
    near = {"limit.lower.swing": p[0] - 2e-3, "limit.upper.swing": p[0] + 1, "limit.lower.slide": p[1] - 1}
    return arm.alpha.vector({**near, "limit.upper.slide": p[1] + 1e-3, **more})


def test_entries_of_alpha(arm: Robot) -> None:
    kept = [name for name in arm.alpha.names if name.startswith("limit.")]
    ends = ["limit.lower.swing", "limit.lower.slide", "limit.upper.swing", "limit.upper.slide"]
    assert kept == [*ends, "limit.load", "limit.slip"]
    values = dict(zip(arm.alpha.names, arm.alpha.vector({}), strict=True))
    assert [values[k] for k in kept] == [-1, -1, 1, 1, 5, 1e-5]
    assert [is_limited(j) for j in read_urdf(source()).joints] == [True, True, False]


def test_limits_act_only_where_asked(tmp_path: Path) -> None:
    recipe = default_recipe(tmp_path / "arm.urdf")
    assert not recipe.limits and with_options(recipe, limits=True).limits
    assert not with_options(with_options(recipe, limits=True), limits=False).limits


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("friction", [0.0, 0.4])
def test_step_stops_and_its_derivatives_are_exact(arm: Robot, variant: str, friction: float) -> None:
    rng, h = np.random.default_rng(3), 0.01
    step, vjp = getattr(arm, f"step_{variant}"), getattr(arm, f"vjp_step_{variant}")
    p, pd, u = rng.uniform(-0.3, 0.3, 3), np.array([-1.0, 0.8, 0.5]), np.zeros(3)
    more = {f"friction.{kind}.{j}": friction for kind in ("coulomb", "viscous") for j in arm.joints}
    alpha = bounded(arm, p, **more, **{f"friction.transition_velocity.{j}": 0.1 for j in arm.joints})
    xi = arm.fk(p, pd, alpha=alpha)
    after = step(xi, u, h=h, alpha=alpha)
    p1, pd1 = arm.joint_state(after, p_ref=p)
    if "direct" in variant:  # sweeps are far from it after 30: the links weigh little against what they carry
        np.testing.assert_allclose(p1[:2], p[:2] + [-2e-3, 1e-3], atol=1e-12 if "variational" in variant else 1e-7)
        np.testing.assert_allclose(pd1[:2], 0, atol=1e-12)
        graph = arm.casadi(f"step_{variant}")
        np.testing.assert_allclose(np.array(graph(xi, u, h, alpha)).ravel(), after, atol=1e-10)
    seed = rng.normal(size=after.size)
    bars = vjp(xi, u, xi_next_bar=seed, h=h, alpha=alpha)
    where = [k for k, name in enumerate(arm.alpha.names) if name.startswith(("limit", "payload.com", "gravity"))]
    for k, bar in enumerate((bars[0], bars[1], np.atleast_1d(bars[2]), bars[3])):
        for i in where if k == 3 else range(bar.size):
            values = []
            for sign in (1, -1):
                given = [xi.copy(), u.copy(), np.array([h]), alpha.copy()]
                given[k][i] += sign * 1e-6
                values.append(seed @ step(given[0], given[1], h=float(given[2][0]), alpha=given[3]))
            slope = (values[0] - values[1]) / 2e-6
            assert bar[i] == pytest.approx(slope, rel=2e-6, abs=2e-5 * np.abs(bars[0]).max()), (k, i)
    assert np.abs(bars[3][[k for k, name in enumerate(arm.alpha.names) if name == "limit.upper.slide"]]) > 1e-3


@pytest.mark.parametrize("variant", VARIANTS)
def test_derivatives_are_finite_at_the_edge(arm: Robot, variant: str) -> None:
    """At rest exactly at a limit nothing tells whether the joint is about to leave it."""
    p = np.zeros(3)
    alpha = bounded(arm, p, **{"gravity.z": 0.0, "limit.lower.swing": 0.0})
    seed = np.ones(39)
    bars = getattr(arm, f"vjp_step_{variant}")(arm.fk(p, p), p, xi_next_bar=seed, h=0.01, alpha=alpha)
    assert all(np.isfinite(bar).all() for bar in bars)
