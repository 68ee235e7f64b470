"""Right angles that a file writes with eleven digits are exact in every function, and listed."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from diffpbd.codegen.description.front.resolve import resolve
from diffpbd.codegen.description.recipe.recipe import with_options
from diffpbd.codegen.graph.expressions.geometry import RIGHT_ANGLE, squared
from diffpbd.codegen.graph.loops.build import build
from diffpbd.codegen.graph.model.model import squared_joints


@pytest.mark.parametrize("exact", [-1.0, 0.0, 1.0])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_both_sides_of_the_threshold(exact: float, sign: float) -> None:
    near, far = exact + 0.99 * sign * RIGHT_ANGLE, exact + 1.01 * sign * RIGHT_ANGLE
    found = squared(ca.DM([[near, far], [0.5, 0.7]]))
    assert float(found[0, 0]) == exact
    assert float(found[0, 1]) == far
    assert (float(found[1, 0]), float(found[1, 1])) == (0.5, 0.7)


def test_what_is_symbolic_stays() -> None:
    x = ca.SX.sym("x")
    found = squared(ca.vertcat(x, 1e-12))
    assert found[0].is_symbolic() and float(found[1]) == 0.0


def test_baxters_right_angles() -> None:
    recipe, robot = resolve("baxter_bare")
    written = np.array([joint.rotation for joint in robot.joints])
    names = squared_joints(robot, recipe)
    assert names == tuple(joint.name for joint in robot.joints[1:])
    blocks = build(robot, recipe).blocks
    for k, joint in enumerate(robot.joints):
        R = np.array(ca.DM(blocks["rotation"][:, k])).reshape(3, 3)
        off = np.abs(R - written[k]).max()
        assert (0.0 < off < RIGHT_ANGLE) == (joint.name in names)
        if joint.name in names:
            np.testing.assert_array_equal(np.abs(R).sum(axis=0), 1.0)


def test_symbolic_origins_are_what_they_were() -> None:
    recipe, robot = resolve("baxter_bare")
    recipe = with_options(recipe, symbolic=["origin"])
    assert squared_joints(robot, recipe) == ()
    model = build(robot, recipe)
    rotation = ca.Function("rotation", [model.alpha], [model.blocks["rotation"]])([e.default for e in model.entries])
    written = np.array([np.ravel(joint.rotation) for joint in robot.joints]).T
    np.testing.assert_allclose(np.array(rotation), written, rtol=0, atol=1e-15)
