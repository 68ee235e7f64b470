"""The assembled blocks of ∂(h F, h G) against CasADi's algorithmic differentiation of F and G."""

from __future__ import annotations

import dataclasses
from functools import cache

import casadi as ca
import numpy as np
import pytest
from support.blocks import step_blocks
from support.numeric import Worst
from support.programs import Programs
from support.robots import alpha_of, loaded_alpha, model

from diffpbd.codegen.description.recipe import default_recipe
from diffpbd.codegen.description.urdf import read_urdf
from diffpbd.codegen.graph.model import build
from diffpbd.codegen.joint_space import step as joint_space
from diffpbd.runtime.functions.parameters import ParameterVector

ROBOTS = ("double_pendulum", "prismatic_skew", "baxter_bare", "baxter_dual")
H = 0.01
ROUNDING = 1e-12


@cache
def both(name: str) -> tuple[ca.Function, ca.Function]:
    """(blocks by assembly, blocks by AD) as functions of p, pd, u, h, p_next, pd_next, alpha."""
    m = model(name)
    r, assembled = step_blocks(m, ("D", "K0", "M0", "K1", "M1"))
    inputs = [*r.inputs.values(), m.alpha]
    D = ca.jacobian(r.F, r.p_next)
    by_ad = {
        "D": D,
        "K0": ca.jacobian(r.F, r.p),
        "M0": -ca.jacobian(r.F, r.pd) / r.h,
        "K1": ca.jacobian(r.G, r.p_next),
        "M1": ca.jacobian(r.G, r.pd_next) / r.h,
        "dG_dp": ca.jacobian(r.G, r.p),
        "dF_du": ca.jacobian(r.F, r.u),
        "dG_du": ca.jacobian(r.G, r.u),
    }
    ours = {**assembled, "dG_dp": assembled["D"].T}
    half = -r.h * r.h / 2 * ca.SX.eye(r.n)
    ours |= {"dF_du": half, "dG_du": half}
    f, g = ([ca.densify(ca.SX(found[k])) for k in by_ad] for found in (ours, by_ad))
    return ca.Function("ours", inputs, f, {"cse": True}), ca.Function("ad", inputs, g, {"cse": True})


@pytest.mark.thorough("baxter")
@pytest.mark.parametrize("parameters", ["default", "loaded"])
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.soak if n == "baxter_dual" else ()) for n in ROBOTS]
)
def test_blocks_are_the_derivatives(name: str, parameters: str) -> None:
    """At steps that solve F and G, and at rest; relative to the largest entry of each block."""
    m = model(name)
    programs = Programs(m)
    alpha = alpha_of(name).defaults if parameters == "default" else loaded_alpha(alpha_of(name))
    ours, by_ad = both(name)
    rng = np.random.default_rng(5)
    n = programs.n
    worst = Worst(f"{name}: blocks against AD, {parameters}", ROUNDING)
    effort = np.diag(programs.mass_matrix(np.zeros(n), alpha))
    for row in range(6):
        p, pd, u = rng.uniform(-1.0, 1.0, (3, n)) * [[2.0], [2.0], [5.0]] * (row > 0)
        if row == 1:
            pd, u = 0.0 * pd, 0.0 * u
        if row == 5:
            # Far from a solution the assembled blocks are still the derivatives.
            p_next, pd_next = p + 0.1 * rng.normal(size=n), rng.normal(size=n)
        else:
            p_next, pd_next = programs.joint_step(p, pd, effort * u, H, alpha)
        arguments = (p, pd, effort * u, H, p_next, pd_next, alpha)
        for k, (a, b) in enumerate(zip(ours(*arguments), by_ad(*arguments), strict=True)):
            worst.see(np.array(a), np.array(b), f"row {row} block {k}")
    worst.close()


@pytest.mark.parametrize("name", ROBOTS[:-1])
def test_residuals_vanish_at_the_step(name: str) -> None:
    """F and G at the step that start, newton, end and velocity work out: one statement of the method, two uses."""
    programs = Programs(model(name))
    alpha = loaded_alpha(alpha_of(name))
    rng = np.random.default_rng(6)
    n = programs.n
    p, pd = rng.uniform(-1.0, 1.0, (2, n))
    u = np.diag(programs.mass_matrix(p, alpha)) * rng.uniform(-5.0, 5.0, n)
    p_next, pd_next = programs.joint_step(p, pd, u, H, alpha)
    found = programs.run(
        joint_space.residuals(programs.tree), alpha, p=p, pd=pd, u=u, h=H, p_next=p_next, pd_next=pd_next
    )
    scale = np.abs(programs.mass_matrix(p, alpha)).max()
    np.testing.assert_allclose(found["F"], 0.0, atol=1e-13 * scale)
    np.testing.assert_allclose(found["G"], 0.0, atol=1e-13 * scale)


@pytest.mark.parametrize("gravity", [0.0, -9.81])
def test_a_slide_moves_along_its_parabola(gravity: float) -> None:
    """One mass on one slide: p and ṗ of a step are exact, whatever h."""
    text = b"""<robot name="lift"><link name="base"/><link name="car"><inertial><origin xyz="0.1 0.2 0.3"/>
    <mass value="3"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
    <joint name="rail" type="prismatic"><parent link="base"/><child link="car"/><axis xyz="0 0 1"/>
    <limit lower="-9" upper="9" effort="1" velocity="1"/></joint></robot>"""
    m = build(read_urdf(text), dataclasses.replace(default_recipe("lift.urdf"), gravity=(0.0, 0.0, gravity)))
    programs = Programs(m)
    alpha = ParameterVector(m.entries).defaults
    for h in (1e-3, 0.5):
        p, pd = programs.joint_step(np.array([0.4]), np.array([0.7]), np.array([6.0]), h, alpha)
        pull = gravity + 6.0 / 3.0
        assert p[0] == pytest.approx(0.4 + 0.7 * h + 0.5 * pull * h * h, rel=1e-14)
        assert pd[0] == pytest.approx(0.7 + pull * h, rel=1e-13)
