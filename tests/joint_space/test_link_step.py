"""Corrections at the end of a step in link frames; that the step is the one in world axes: tests/test_matrix.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.made.gantry import gantry
from support.programs import Array, Programs
from support.robots import loaded_alpha, model
from support.small.branching import branching

from diffpbd.codegen.description.front.resolve import read_robot, shipped_robots
from diffpbd.codegen.description.recipe.recipe import default_recipe, with_options
from diffpbd.codegen.graph.loops.build import build
from diffpbd.codegen.joint_space.links import link_rollout, link_step
from diffpbd.runtime.functions.parameters import ParameterVector

H = 0.01
CHORDS = 40


MADE: dict[str, tuple[bytes, dict[str, Any]]] = {
    "branching": (branching(), {"tip": ["tool", "d"], "wrench": ["tool", "b", "d"], "lever_springs": ["ja", "jd"]}),
    "gantry": (gantry(), {"tip": ["c", "d"], "wrench": ["c", "b"], "symbolic": ["mass", "com", "inertia", "origin"]}),
}


SHORT = ("baxter_bare", "prismatic_skew")
"""The other shipped robots are of the same kinds and take their turn in the long run."""


@pytest.fixture(
    scope="module",
    params=[*(k if k in SHORT else pytest.param(k, marks=pytest.mark.soak) for k in shipped_robots()), *MADE],
)
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Programs, Array]:
    """The programs of a robot, and an alpha with every parameter away from its default."""
    if request.param not in MADE:
        made = model(request.param)
        name = request.param
    else:
        name, (text, options) = request.param, MADE[request.param]
        path = tmp_path_factory.mktemp("link_step") / f"{name}.urdf"
        path.write_bytes(text)
        recipe = with_options(default_recipe(path), **options)
        made = build(read_robot(recipe), recipe)
    alpha = ParameterVector(made.entries, name)
    values, rng = loaded_alpha(alpha), np.random.default_rng(8)
    for k, key in enumerate(alpha.names):
        if key.startswith("wrench"):
            values[k] = rng.uniform(-5.0, 5.0)
        elif key.startswith("lever_spring.stiffness"):
            values[k] = 300.0
        elif key.startswith(("mass", "com", "origin")):
            values[k] += rng.uniform(0.01, 0.05)
    return Programs(made), values


def state(programs: Programs, seed: int) -> tuple[Array, Array, Array]:
    p, pd, u = np.random.default_rng(seed).uniform(-1.0, 1.0, (3, programs.n))
    return p, pd, u


def solved(programs: Programs, alpha: Array, p: Array, pd: Array, u: Array) -> tuple[Array, dict[str, Array]]:
    """p_next by chord iterations, and what the programs left."""
    begun = programs.run(link_step.start(programs.tree), alpha, p=p, pd=pd, u=u, h=H)
    mine = {"record": begun["record"], "terms": begun["terms"]}
    found = programs.run(link_step.newton(programs.tree), alpha, iterate=begun["guess"], p=p, **mine)
    mine["factors"] = found["factors"]
    for _ in range(CHORDS):
        found = programs.run(link_step.chord(programs.tree), alpha, iterate=found["next"], p=p, **mine)
        if np.abs(found["correction"]).max() < 1e-15:
            break
    return found["next"], mine


def test_the_end_corrects_what_it_is_given(pair: tuple[Programs, Array]) -> None:
    """A pose that is off gets its correction back, and a momentum that belongs to the corrected pose."""
    programs, alpha = pair
    p, pd, u = state(programs, 4)
    p_next, mine = solved(programs, alpha, p, pd, u)
    known = {"p": p, "u": u, "h": H, **mine}
    away = 1e-7 * np.random.default_rng(5).normal(size=(programs.n, 1))
    exact = programs.run(link_step.end(programs.tree), alpha, p_next=p_next, **known)
    found = programs.run(link_step.end(programs.tree), alpha, p_next=p_next + away, **known)
    assert np.abs(found["correction"] + away).max() <= 0.05 * np.abs(away).max()
    uncorrected = exact["M"] @ away / H
    gap = np.abs(found["momentum"] - exact["momentum"]).max()
    assert gap <= 0.1 * np.abs(uncorrected).max(), (gap, np.abs(uncorrected).max())


def test_a_corrected_pose_hands_on_its_record(pair: tuple[Programs, Array]) -> None:
    """The record of the next step belongs to the corrected pose, to the correction's square."""
    programs, alpha = pair
    p, pd, u = state(programs, 4)
    p_next, mine = solved(programs, alpha, p, pd, u)
    away = 1e-6 * np.random.default_rng(5).normal(size=(programs.n, 1))
    given = {"p_next": p_next + away, "p": p, "u": u, "u_next": u, "h": H, **mine}
    found = programs.run(link_rollout.onward(programs.tree), alpha, **given)
    exact = programs.run(link_rollout.inertia(programs.tree), alpha, p=found["next"].ravel())
    np.testing.assert_allclose(found["record_next"], exact["record"], rtol=0, atol=1e-10)
