"""Contacts of capsules and boxes: distances by coal, motions by pinocchio, derivatives, degenerate poses."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import casadi as ca
import numpy as np
import pytest
from support.judges.closed import Judge
from support.judges.coal import geometry, request
from support.made.bodies import Body
from support.small.shaped import shaped_arms

from diffpbd.codegen.description.front.resolve import read_robot
from diffpbd.codegen.description.recipe.file import load_recipe
from diffpbd.codegen.description.robot.robot import BOX, CAPSULE, SPHERE, Contact, Robot
from diffpbd.codegen.graph.functions.derivatives import specs
from diffpbd.codegen.graph.functions.functions import Graphs
from diffpbd.codegen.graph.loops.build import build
from diffpbd.codegen.graph.model.model import Model


@cache
def case() -> tuple[Model, Judge]:
    with TemporaryDirectory() as folder:
        recipe = load_recipe(shaped_arms().write(Path(folder), "made"))
        robot = read_robot(recipe)
        return build(robot, recipe), Judge(recipe.urdf, robot)


@cache
def functions() -> dict[str, ca.Function]:
    return {spec.name: spec.graph for spec in specs(Graphs(case()[0])) if "contact" in spec.name}


def alpha() -> Any:
    return np.array([e.default for e in case()[0].entries])


def poses(count: int) -> Any:
    return np.random.default_rng(3).uniform(-2.5, 2.5, (count, 4))


def solid(robot: Robot, shape: Contact, body: Body) -> tuple[Any, Any, Any]:
    """A contact's shape as coal has it, in world axes."""
    R, x = body.R, body.at(shape.point)
    if shape.core == BOX:
        return geometry("box", shape.halves, 0.0), R @ np.array(shape.axes), x
    if shape.core == SPHERE:
        return geometry("sphere", (), shape.radius), R, x
    one, other = (np.array(c.point) for c in robot.contacts if c.part == shape.part and c.core == SPHERE)
    half = np.linalg.norm(other - one) / 2
    z = (other - one) / (2 * half)
    x_axis = np.cross(np.eye(3)[np.argmin(np.abs(z))], z)
    x_axis /= np.linalg.norm(x_axis)
    return geometry("capsule", (half,), shape.radius), R @ np.array([x_axis, np.cross(z, x_axis), z]).T, x


def test_gap_and_rates_are_those_of_coal_and_pinocchio() -> None:
    """Judge every pair but those of planes: the gap, and the motion of both bodies against each other at the nearest points."""
    model, judge = case()
    n, seen = model.robot.n, 0
    for p in poses(40):
        gap = np.array(functions()["contact_gap"](p, alpha())).ravel()
        J = np.array(functions()["contact_jacobian"](p, alpha())).reshape(-1, 3, n)
        for k, pair in enumerate(model.robot.pairs):
            if not isinstance(pair.other, Contact):
                continue
            crossing = pair.sphere.core == pair.other.core == CAPSULE
            one, two = Body(judge, model.robot, pair.sphere.link, p), Body(judge, model.robot, pair.other.link, p)
            found = request(*solid(model.robot, pair.sphere, one), *solid(model.robot, pair.other, two))
            distance = found.min_distance
            assert gap[k] == pytest.approx(distance, abs=5e-4 if crossing else 1e-9)
            if distance < 0.02 or crossing:  # coal's points are those of shapes that are apart
                continue
            seen += 1
            ends = found.getNearestPoint1(), found.getNearestPoint2()
            x, normal = (ends[0] + ends[1]) / 2, (ends[0] - ends[1]) / distance
            motion = one.motion(x) - two.motion(x)
            np.testing.assert_allclose(J[k, 0], normal @ motion, rtol=0, atol=1e-6)
            flat = motion - np.outer(normal, normal @ motion)
            np.testing.assert_allclose(J[k, 1:].T @ J[k, 1:], flat.T @ flat, rtol=0, atol=1e-6)
    assert seen > 300
