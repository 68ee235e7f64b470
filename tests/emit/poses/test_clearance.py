"""Distances of a generated robot: beside coal at poses of pinocchio, with derivatives beside differences and CasADi's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import coal
import numpy as np
import pinocchio as pin
import pytest
from support.judges.coal import distance, geometry, of_shape, placed
from support.made.obstacles import OBSTACLES, obstacles
from support.robots import generated
from support.small import arm_of_shapes

from diffpbd.codegen.description.front.resolve import read_doubted
from diffpbd.codegen.description.recipe.recipe import default_recipe, with_options
from diffpbd.runtime import InputError, Robot, load
from diffpbd.runtime.model.clearance import obstacles as rows_of

EXACT = 1e-9  # m, of spheres and capsules
OF_BOXES = 1e-8  # m


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return arm_of_shapes.write(tmp_path_factory.mktemp("shapes"))


@pytest.fixture(scope="module")
def robot(file: Path) -> Robot:
    return load(generated(str(file), functions=("inverse_dynamics",), clearance=True, obstacles=OBSTACLES))


Frames = dict[str, tuple[np.ndarray, np.ndarray]]


class Judge:
    """Link frames by pinocchio, distances by coal."""

    def __init__(self, robot: Robot, file: Path) -> None:
        self.robot, self.clearance = robot, robot.manifest.clearance
        self.model = pin.buildModelFromUrdf(str(file))
        self.data = self.model.createData()
        assert self.clearance is not None
        self.shapes = {s.name: s for s in self.clearance.shapes}
        self.forms = {s.name: of_shape(s) for s in self.clearance.shapes}

    def frames(self, q: np.ndarray) -> Frames:
        pin.framesForwardKinematics(self.model, self.data, q)
        found = zip(self.model.frames, self.data.oMf, strict=True)
        at = {f.name: (np.array(M.rotation), np.array(M.translation)) for f, M in found}
        return {"world": (np.eye(3), np.zeros(3)), **at}

    def place(self, name: str, frames: Frames, given: Mapping[str, np.ndarray]) -> tuple[Any, np.ndarray, np.ndarray]:
        if name in self.shapes:
            own = self.shapes[name]
            return self.forms[name], *placed(own, *frames[own.link])
        kind, number = name.split()
        x = given[kind][:, int(number)]
        if kind == "spheres":
            return geometry("sphere", (), x[3]), np.eye(3), x[:3]
        if kind == "planes":
            n = x[:3] / np.linalg.norm(x[:3])
            return coal.Halfspace(n, x[3]), np.eye(3), np.zeros(3)
        if kind == "boxes":
            return (
                geometry("box", x[7:10] / 2, 0.0),
                np.array(pin.Quaternion(*(x[3:7] / np.linalg.norm(x[3:7]))).matrix()),
                x[:3],
            )
        way = x[3:6] - x[:3]
        R = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), way).matrix()
        return geometry("capsule", [np.linalg.norm(way) / 2], x[6]), np.array(R), (x[:3] + x[3:6]) / 2

    def distances(self, q: np.ndarray, given: Mapping[str, np.ndarray]) -> np.ndarray:
        frames = self.frames(q)
        return np.array([
            distance(*self.place(one, frames, given), *self.place(other, frames, given)) for one, other in self.clearance.rows
        ])  # fmt: skip


@pytest.fixture(scope="module")
def judge(robot: Robot, file: Path) -> Judge:
    return Judge(robot, file)


def poses(robot: Robot, rng: np.random.Generator, count: int) -> np.ndarray:
    return rng.uniform(robot.limits.lower, robot.limits.upper, (count, robot.n))


def test_every_distance_is_coals(robot: Robot, judge: Judge, count: Callable[[int, int], int]) -> None:
    rng = np.random.default_rng(0)
    kinds = {name: s.kind for name, s in judge.shapes.items()}
    boxed = np.array([any(kinds.get(name, name)[:3] == "box" for name in row) for row in judge.clearance.rows])
    worst = np.zeros(len(boxed))
    for q in poses(robot, rng, count(40, 5000)):
        given = obstacles(rng)
        worst = np.maximum(worst, np.abs(robot.clearance(q, **given) - judge.distances(q, given)))
    assert worst[~boxed].max() < EXACT
    assert worst[boxed].max() < OF_BOXES


def test_points_lie_on_both_surfaces(robot: Robot, judge: Judge) -> None:
    rng = np.random.default_rng(1)
    for q in poses(robot, rng, 20):
        given, frames = obstacles(rng), judge.frames(q)
        found = robot.clearance_points(q, **given)
        for k, names in enumerate(judge.clearance.rows):
            n = found.normal[:, k]
            assert np.linalg.norm(n) == pytest.approx(1.0, abs=1e-6)
            np.testing.assert_allclose(found.point[:, k] - found.other_point[:, k], found.distance[k] * n, atol=1e-6)
            for name, point in zip(names, (found.point[:, k], found.other_point[:, k]), strict=True):
                form, R, x = judge.place(name, frames, given)
                if found.distance[k] > 1e-3:
                    assert abs(distance(geometry("sphere", (), 1e-3), np.eye(3), point, form, R, x) + 1e-3) < 1e-5


def test_pairs_are_those_that_may_touch(robot: Robot, judge: Judge) -> None:
    """Shapes that touch in poses that the generator did not draw are compared, or said to touch always."""
    clearance, rng, touched = judge.clearance, np.random.default_rng(4), set()
    names = list(judge.shapes)
    for q in poses(robot, rng, 300):
        frames = judge.frames(q)
        for k, one in enumerate(names):
            for other in names[:k]:
                if distance(*judge.place(one, frames, {}), *judge.place(other, frames, {})) < -EXACT:
                    touched.add(frozenset((one, other)))
    pairs = {frozenset(row) for row in clearance.rows if " " not in row[1]}
    links = {s.name: s.link for s in clearance.shapes}
    order = ["world", "one", "two", "three", "slid", "hand"]

    def apart(pair: frozenset[str]) -> int:
        return abs(int(np.subtract(*(order.index(links[name]) for name in pair))))

    unwatched = {why: {frozenset(row) for row in rows} for why, rows in clearance.unwatched.items()}
    always = unwatched["touch by their make, in 95 % of poses or more"]
    close = unwatched.get("neighbours that are never more than 3 cm apart", set())
    assert always and all(apart(pair) == 1 for pair in close)
    assert touched <= pairs | always | close | {frozenset(("hand.1", "hand.2"))}  # these are one link
    moving = {frozenset((a, b)) for a in names for b in names if links[a] != links[b]}
    assert set().union(pairs, *unwatched.values()) == moving
    assert sum(map(len, unwatched.values())) + len(pairs) == len(moving)  # each once
    assert len(touched & pairs) > 3
    assert len([row for row in clearance.rows if row[1].startswith("spheres")]) == 2 * 6


def test_without_the_option_nothing_is_there(file: Path) -> None:
    described = read_doubted(default_recipe(file))[0]
    assert described.shapes == ()
    named = read_doubted(with_options(default_recipe(file), clearance=True))[0]
    assert [s.name for s in named.shapes] == ["base", "one", "two", "three", "slid", "hand.1", "hand.2"]


@pytest.mark.parametrize(
    ("kind", "given", "words"),
    [
        ("spheres", np.ones((4, 2)), r"expected a row of 4 numbers each \(centre, radius\), found shape \(4, 2\)"),
        ("spheres", [1, 2, 3], r"found shape \(1, 3\)"),
        ("spheres", [[0, 0, np.nan, 1]], "expected finite numbers"),
        ("spheres", "ball", "expected numbers in a regular array"),
        ("spheres", [[0, 0, 0, 1], [0, 0, 1, -0.1]], "row 1: a length below 0 m, -0.1"),
        ("capsules", [[0, 0, 0, 0, 0, 1, -0.1]], "a length below 0 m"),
        ("boxes", [[0, 0, 0, 0, 0, 0, 0, 1, 1, 1]], "no direction"),
        ("boxes", [[0, 0, 0, 1, 0, 0, 0, 1, -1, 1]], "a length below 0 m"),
        ("planes", [[0, 0, 0, 1]], "no direction"),
    ],
)
def test_what_is_no_solid_is_refused(robot: Robot, kind: str, given: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        rows_of(robot, **{kind: given})


def test_one_row_may_stand_alone(robot: Robot) -> None:
    assert (rows_of(robot, planes=[0, 0, -2, -1])["planes"][:, 0] == [0, 0, -2, -1]).all()
    assert rows_of(robot, spheres=[])["spheres"].shape == (4, 2)
