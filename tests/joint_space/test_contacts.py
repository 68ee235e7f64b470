"""Contact in joint coordinates: closed forms, pinocchio's frame Jacobians, derivatives."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import casadi as ca
import numpy as np
import pytest
from support.judges.closed import Judge
from support.made.bodies import Body
from support.mechanisms import Mechanism
from support.touching import RADIUS, reaching_arm, two_arms, two_balls

from diffpbd.codegen.description.front.resolve import read_robot
from diffpbd.codegen.description.recipe.file import load_recipe
from diffpbd.codegen.description.robot.robot import Contact, Plane, Robot
from diffpbd.codegen.graph.contact.contact_kernels import Share, touch_curvature, touch_slopes
from diffpbd.codegen.graph.contact.contacts import rows_at
from diffpbd.codegen.graph.functions.derivatives import specs
from diffpbd.codegen.graph.functions.functions import Graphs
from diffpbd.codegen.graph.loops.build import build
from diffpbd.codegen.graph.model.model import Model, prepare
from diffpbd.codegen.joint_space.contact import contacts
from diffpbd.codegen.program.program import Program


@cache
def case(made: Callable[[], Mechanism] = reaching_arm) -> tuple[Model, Judge]:
    with TemporaryDirectory() as folder:
        recipe = load_recipe(made().write(Path(folder), "made"))
        robot = read_robot(recipe)
        return build(robot, recipe), Judge(recipe.urdf, robot)


@cache
def functions(made: Callable[[], Mechanism] = reaching_arm) -> dict[str, ca.Function]:
    return {spec.name: spec.graph for spec in specs(Graphs(case(made)[0])) if "contact" in spec.name}


def defaults(made: Callable[[], Mechanism] = reaching_arm) -> Any:
    return np.array([e.default for e in case(made)[0].entries])


def wanted(robot: Robot, judge: Judge, p: Any, own: Contact, other: Plane | Contact) -> tuple[float, Any, Any]:
    """Gap, normal and 3 × n relative motion at the point between, in world axes."""
    one, two = Body(judge, robot, own.link, p), Body(judge, robot, other.link, p)
    centre = one.at(own.point)
    if isinstance(other, Plane):
        normal = two.R @ np.array(other.normal)
        surface = two.o + two.R @ (np.array(other.normal) * other.height)
        gap = normal @ (centre - surface) - own.radius
    else:
        apart = centre - two.at(other.point)
        normal = apart / np.linalg.norm(apart)
        gap = np.linalg.norm(apart) - own.radius - other.radius
    x = centre - (own.radius + gap / 2) * normal
    return float(gap), normal, one.motion(x) - two.motion(x)


def poses(count: int = 20, joints: int = 3) -> Any:
    return np.random.default_rng(12).uniform(-2.5, 2.5, (count, joints))


@pytest.mark.parametrize("made", [reaching_arm, two_arms])
def test_gap_and_rates_are_those_of_pinocchio(made: Callable[[], Mechanism]) -> None:
    model, judge = case(made)
    alpha, n = defaults(made), model.robot.n
    for p in poses(20, n):
        gap = np.array(functions(made)["contact_gap"](p, alpha)).ravel()
        J = np.array(functions(made)["contact_jacobian"](p, alpha)).reshape(-1, 3, n)
        for k, pair in enumerate(model.robot.pairs):
            distance, normal, motion = wanted(model.robot, judge, p, pair.sphere, pair.other)
            assert gap[k] == pytest.approx(distance, abs=1e-14)
            np.testing.assert_allclose(J[k, 0], normal @ motion, rtol=0, atol=1e-14)
            # the tangents may be turned about the normal: what they make of two rates together may not
            flat = motion - np.outer(normal, normal @ motion)
            np.testing.assert_allclose(J[k, 1:].T @ J[k, 1:], flat.T @ flat, rtol=0, atol=1e-14)


def test_joints_that_move_both_alike_have_no_part() -> None:
    J = np.array(functions()["contact_jacobian"](poses(1)[0], defaults())).reshape(-1, 3, 3)
    names = [pair.name for pair in case()[0].robot.pairs]
    for name in ("hand/tray", "hand/knob"):
        assert (J[names.index(name), :, 0] == 0.0).all()
        assert (J[names.index(name), :, 1] != 0.0).any()


def test_tangents_in_every_direction() -> None:
    """Unit, across and right-handed with either sign, so that the other turns them about the normal and nothing else."""
    b = Program("tangents")
    n, sign = b.input("n", 3), b.scalar("sign")
    for name, t in zip(("t1", "t2"), contacts.tangents(b, n, sign), strict=True):
        b.output(name, t)
    run = b.numpy()
    rng = np.random.default_rng(1)
    directions = [*rng.standard_normal((50, 3)), *np.eye(3), *-np.eye(3), [1e-9, 0, -1], [1, 0, -1e-300]]
    for d in directions:
        n = np.array(d) / np.linalg.norm(d)
        for s in (1.0, -1.0):
            if abs(s + n[2]) < 1e-3:
                continue
            found = run(n=n, sign=s)
            t1, t2 = found["t1"].ravel(), found["t2"].ravel()
            frame = np.array([n, t1, t2])
            np.testing.assert_allclose(frame @ frame.T, np.eye(3), atol=1e-12)
            np.testing.assert_allclose(np.cross(t1, t2), n, atol=1e-12)


def test_signs_of_the_start_hold_at_the_end() -> None:
    """A normal that passes the level keeps its tangents on the way, which a sign of its own would turn over."""
    model = case()[0]
    names = [pair.name for pair in model.robot.pairs]
    k = names.index("hand/knob")
    sign, p = ca.SX.sym("sign", len(names)), ca.SX.sym("p", 3)
    rows = ca.Function("rows", [p, sign, model.alpha], [rows_at(model, p, sign)["J"]])
    signs = ca.Function("signs", [p, model.alpha], [rows_at(model, p)["sign"]])
    alpha = defaults()

    def of(p: Any) -> float:
        return float(np.array(signs(p, alpha)).ravel()[k])

    low, high = next((a, b) for a, b in zip(poses(40), poses(40)[1:], strict=False) if of(a) != of(b))
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if of(middle) == of(low) else (low, middle)
    start = np.array(signs(low, alpha))
    first = 3 * k  # only rough ones come before
    at_start, at_end = (np.array(rows(q, start, alpha))[first : first + 3] for q in (low, high))
    np.testing.assert_allclose(at_end, at_start, atol=1e-12)
    own = np.array(rows(high, np.array(signs(high, alpha)), alpha))[first : first + 3]
    assert np.abs(own - at_start).max() > 1e-3


def test_frictionless_contacts_have_one_row() -> None:
    model = case()[0]
    program = contacts.rows(model.tree)
    assert program.outputs["J"].shape == (3 * 5 + 1, 3)
    assert contacts.rows(model.tree, True).outputs["J"].shape == (3 * 6, 3)


def test_centres_at_one_point() -> None:
    """Two spheres have no normal there; all that a step asks of them is a number, next to it too."""
    model = case(two_balls)[0]
    whole = Share(model, prepare(model))
    for off in (0.0, 1e-13, 1e-9):
        p = np.r_[off, np.zeros(model.tree.freedoms - 1)]
        assert float(functions(two_balls)["contact_gap"](p, defaults(two_balls))) == pytest.approx(
            off - 2 * RADIUS, abs=2e-12
        )
        for f in (touch_slopes(whole), touch_curvature(whole), functions(two_balls)["contact_jacobian"]):
            given = {"p": p, "p_next": p, "sign": 1.0, "h": 0.01, "alpha": defaults(two_balls)}
            outputs = f.call([given.get(name, np.ones(f.size_in(name))) for name in f.name_in()])
            assert all(np.isfinite(np.array(x)).all() for x in outputs), (f.name(), off)
