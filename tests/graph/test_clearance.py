"""`clearance` where coordinates are not joints: floating bases, joints that mimic others, a base that is not the root."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import casadi as ca
import coal
import numpy as np
import pinocchio as pin
import pytest
from support.judges.coal import distance, geometry

from diffpbd.codegen.description.front.resolve import read_doubted
from diffpbd.codegen.description.recipe.recipe import default_recipe, with_options
from diffpbd.codegen.description.shapes.clearance import ShapeEntry, expect_shapes
from diffpbd.codegen.generate import generate
from diffpbd.codegen.graph.clearance import pairs as clearance_pairs
from diffpbd.codegen.graph.clearance.clearance import Clearance, counts_of, specs
from diffpbd.codegen.graph.clearance.pairs import choose, reach_of
from diffpbd.codegen.graph.loops.build import build
from diffpbd.codegen.graph.model.model import Model
from diffpbd.codegen.graph.solved.floating import graphs_of
from diffpbd.runtime.base.errors import InputError

LINK = """<link name="{0}"><inertial><mass value="1"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>
</inertial><collision><origin xyz="{1}" rpy="0.3 0.2 0.1"/><geometry>{2}</geometry></collision></link>"""
JOINT = """<joint name="{0}" type="revolute"><origin xyz="{3}" rpy="0.1 0.2 0.3"/><parent link="{1}"/><child link="{2}"/>
<axis xyz="{4}"/><limit lower="-2.5" upper="2.5" effort="9" velocity="9"/>{5}</joint>"""
URDF = "\n".join([
    '<robot name="tree">',
    LINK.format("trunk", "0 0 0.1", '<box size="0.3 0.2 0.2"/>'),
    LINK.format("left", "0 0 0.15", '<capsule radius="0.05" length="0.2"/>'),
    LINK.format("hand", "0 0 0.1", '<sphere radius="0.06"/>'),
    LINK.format("right", "0 0 0.15", '<capsule radius="0.04" length="0.2"/>'),
    JOINT.format("a", "trunk", "left", "0 0.2 0.2", "1 0 0", ""),
    JOINT.format("b", "left", "hand", "0 0 0.3", "0 1 0", ""),
    JOINT.format("c", "trunk", "right", "0 -0.2 0.2", "1 0 0", "{mimic}"),
    "</robot>",
])  # fmt: skip
PLANE = np.array([[0.0], [0.6], [0.8], [-0.4]])


def model(folder: Path, mimic: str = "", **options: Any) -> Model:
    (folder / "tree.urdf").write_text(URDF.format(mimic=mimic), encoding="utf-8")
    recipe = with_options(default_recipe(folder / "tree.urdf"), clearance=True, obstacles=("planes=1",), **options)
    return build(read_doubted(recipe)[0], recipe)


def functions(model: Model) -> dict[str, ca.Function]:
    graphs = graphs_of(model, forward=False)
    clearance = Clearance(graphs, choose(graphs).pairs, counts_of(model.recipe.obstacles))
    return {spec.name: spec.graph for spec in specs(clearance)} | {"rows": clearance.rows}


def by_coal(model: Model, frames: dict[str, Any], rows: Any) -> np.ndarray:
    """Distances with link frames of pinocchio, shapes as the description places them."""
    placed = []
    for s in model.robot.shapes:
        M = frames["trunk" if s.link < 0 else model.robot.links[s.link].name]
        R, x = np.array(M.rotation) @ np.array(s.rotation), M.translation + np.array(M.rotation) @ np.array(s.centre)
        placed.append((geometry(s.kind, s.halves, s.radius), R, x))
    half = coal.Halfspace(PLANE[:3, 0], PLANE[3, 0])
    return np.array([
        distance(*placed[r.one], *(placed[r.other] if not r.obstacle else (half, np.eye(3), np.zeros(3)))) for r in rows
    ])  # fmt: skip


def test_a_floating_base(tmp_path: Path) -> None:
    """Distances by coal at pinocchio's poses, derivatives along x + δ, (1, φ/2) ⊗ q and the joints by differences."""
    made = model(tmp_path, base_joint="floating")
    found = functions(made)
    alpha = [entry.default for entry in made.entries]
    free = pin.buildModelFromUrdf(str(tmp_path / "tree.urdf"), pin.JointModelFreeFlyer())
    data, rng = free.createData(), np.random.default_rng(0)
    kinds = {row.obstacle for row in found["rows"]}
    assert kinds == {"", "planes"}
    assert len([row for row in found["rows"] if row.obstacle]) == 4  # the trunk moves too
    for _ in range(20):
        q, angle = rng.normal(size=4), rng.uniform(-2.5, 2.5, 3)
        q /= np.linalg.norm(q)
        p = np.concatenate([rng.normal(size=3), q, angle])
        pin.framesForwardKinematics(free, data, np.concatenate([p[:3], q[1:], q[:1], angle]))
        frames = {f.name: M for f, M in zip(free.frames, data.oMf, strict=True)}
        d = np.array(found["clearance"](p, PLANE, alpha)).ravel()
        np.testing.assert_allclose(d, by_coal(made, frames, found["rows"]), atol=1e-8)
        J = np.array(found["jac_clearance"](p, PLANE, alpha)[1])
        for k in range(9):

            def at(h: float, k: int = k, p: np.ndarray = p) -> np.ndarray:
                way = h * np.eye(9)[k]
                turn = np.array(pin.Quaternion(pin.exp3(way[3:6])).coeffs())  # x y z w
                own = pin.Quaternion(turn[3], *turn[:3]) * pin.Quaternion(*p[3:7])
                moved = np.concatenate([p[:3] + way[:3], [own.w, own.x, own.y, own.z], p[7:] + way[6:]])
                return np.array(found["clearance"](moved, PLANE, alpha)).ravel()

            near, far = ((at(h) - at(-h)) / (2.0 * h) for h in (1e-4, 2e-4))
            smooth = np.abs(near - far) < 1e-5
            assert np.abs((4.0 * near - far) / 3.0 - J[:, k])[smooth].max() < 1e-8
        seed = rng.normal(size=len(d))
        np.testing.assert_allclose(
            np.array(found["vjp_clearance"](p, PLANE, alpha, seed)[0]).ravel(), J.T @ seed, atol=1e-12
        )


def test_a_joint_that_mimics_another(tmp_path: Path) -> None:
    """c = −1.5 a + 0.2: its column is in that of a."""
    made = model(tmp_path, mimic='<mimic joint="a" multiplier="-1.5" offset="0.2"/>')
    found, alpha = functions(made), [entry.default for entry in made.entries]
    plain = model(tmp_path)
    rng = np.random.default_rng(1)
    whole = functions(plain)
    own = [(r.one, r.other, r.obstacle) for r in found["rows"]]
    assert own == [(r.one, r.other, r.obstacle) for r in whole["rows"]] or len(own) > 3
    same = [k for k, r in enumerate(whole["rows"]) if (r.one, r.other, r.obstacle) in own]
    here = [own.index((whole["rows"][k].one, whole["rows"][k].other, whole["rows"][k].obstacle)) for k in same]
    for p in rng.uniform(-1.5, 1.5, (10, 2)):
        full = np.array([*p, -1.5 * p[0] + 0.2])
        d, J = (np.array(x) for x in found["jac_clearance"](p, PLANE, alpha))
        every, K = (np.array(x) for x in whole["jac_clearance"](full, PLANE, [e.default for e in plain.entries]))
        np.testing.assert_allclose(d[here], every[same], atol=1e-14)
        np.testing.assert_allclose(J[here], (K @ np.array([[1, 0], [0, 1], [-1.5, 0]]))[same], atol=1e-14)
    assert reach_of(made.robot)[0] > reach_of(plain.robot)[0]


def test_pairs_of_a_recipe_are_the_only_ones(tmp_path: Path) -> None:
    for words in ("hand/right", "hand/left"):  # the second are neighbours
        assert len([r for r in functions(model(tmp_path, pairs=(words,)))["rows"] if not r.obstacle]) == 1
    for words in ("hand/hand", "hand/nobody", "hand"):
        with pytest.raises(InputError, match=f'pairs: "{words}".*shapes are "trunk", "left", "hand", "right"'):
            functions(model(tmp_path, pairs=(words,)))


def test_a_robot_that_cannot_touch_itself_is_refused(tmp_path: Path) -> None:
    far = URDF.format(mimic="").replace('xyz="0 0.2 0.2"', 'xyz="0 2 0.2"')
    (tmp_path / "tree.urdf").write_text(far, encoding="utf-8")
    recipe = with_options(default_recipe(tmp_path / "tree.urdf"), clearance=True, tip=("left",))
    with pytest.raises(InputError, match="no two of its shapes may touch, and there are no --obstacles"):
        functions(build(read_doubted(recipe)[0], recipe))


def test_what_is_no_obstacle_is_refused() -> None:
    for words in (("spheres=0",), ("cones=1",), ("spheres",), ("spheres=1", "spheres=2"), ("spheres=99999",)):
        with pytest.raises(InputError, match="KIND=COUNT is expected"):
            counts_of(words)


def test_a_description_without_shapes_is_refused(tmp_path: Path) -> None:
    text = URDF.format(mimic="")
    bare = re.sub("<collision>.*?</collision>", "", text)
    (tmp_path / "bare.urdf").write_text(bare, encoding="utf-8")
    recipe = with_options(default_recipe(tmp_path / "bare.urdf"), clearance=True)
    robot, _ = read_doubted(recipe)
    with pytest.raises(
        InputError, match=r"bare: --clearance: the description has no <collision>, and the recipe no \[\[shape\]\]"
    ):
        expect_shapes(robot)
    lines: list[str] = []
    with pytest.raises(InputError, match="no <collision>"):
        generate(str(tmp_path / "bare.urdf"), out=tmp_path / "made", clearance=True, progress=lines.append)
    assert not any("deriving" in line for line in lines)


@pytest.mark.thorough("[4]")
@pytest.mark.parametrize("most", [1, 4])
def test_fitted_capsules_are_never_further_than_the_meshes(
    monkeypatch: pytest.MonkeyPatch, count: Callable[[int, int], int], most: int
) -> None:
    """A UR5 with meshes alone: coal's distance of these, by pinocchio's own reading of the file. The nearest of several
    capsules counts, with all pairs of two arms' links that have some."""
    share = Path(importlib.util.find_spec("cmeel").origin).parents[1] / "cmeel.prefix" / "share"
    file = share / "example-robot-data" / "robots" / "ur_description" / "urdf" / "ur5_robot.urdf"
    monkeypatch.setattr(clearance_pairs, "SAMPLES", 500)
    cut = tuple(ShapeEntry(link, link, capsules=most) for link in ("forearm_link", "upper_arm_link"))
    recipe = with_options(default_recipe(file), clearance=True, shape=cut if most > 1 else ())
    made = build(read_doubted(recipe)[0], recipe)
    found, alpha = functions(made), [entry.default for entry in made.entries]
    if most > 1:
        shapes = made.robot.shapes
        pairs = [
            (a, b) for a, one in enumerate(shapes) for b, other in enumerate(shapes[:a]) if one.link > other.link + 1
        ]
        clearance = Clearance(graphs_of(made, forward=False), pairs, {})
        found = {spec.name: spec.graph for spec in specs(clearance)} | {"rows": clearance.rows}
        assert len(shapes) > 9
    arm = pin.buildModelFromUrdf(str(file))
    meshes = pin.buildGeomFromUrdf(arm, str(file), pin.GeometryType.COLLISION, package_dirs=[str(share)])
    data, places = arm.createData(), meshes.createData()
    own = {arm.frames[o.parentFrame].name: k for k, o in enumerate(meshes.geometryObjects)}
    rng, compared = np.random.default_rng(2), 0
    for q in rng.uniform(-np.pi, np.pi, (count(10, 2000), 6)):
        pin.updateGeometryPlacements(arm, data, meshes, places, q)
        d = np.array(found["clearance"](q, alpha)).ravel()
        parts = [tuple(made.robot.shapes[s].part for s in (row.one, row.other)) for row in found["rows"]]
        for k, row in enumerate(found["rows"]):
            if parts.index(parts[k]) < k:
                continue
            near = min(value for value, of in zip(d, parts, strict=True) if of == parts[k])
            sides = [own[made.robot.shapes[s].part] for s in (row.one, row.other)]
            given = [x for s in sides for x in (meshes.geometryObjects[s].geometry, places.oMg[s])]
            result = coal.DistanceResult()
            exact = coal.distance(given[0], given[1], given[2], given[3], coal.DistanceRequest(), result)
            if exact > 0.0:
                compared += 1
                assert near <= exact
    assert compared > 50
