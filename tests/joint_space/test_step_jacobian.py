"""The assembled blocks of ∂(h F, h G) against CasADi's algorithmic differentiation of F and G."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from support.programs import Programs
from support.robots import alpha_of, loaded_alpha, model

from diffpbd.codegen.description.front.urdf import read_urdf
from diffpbd.codegen.description.recipe.recipe import default_recipe
from diffpbd.codegen.graph.loops.build import build
from diffpbd.codegen.joint_space import step as joint_space
from diffpbd.runtime.functions.parameters import ParameterVector

ROBOTS = ("double_pendulum", "prismatic_skew", "baxter_bare", "baxter_dual")
H = 0.01


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
