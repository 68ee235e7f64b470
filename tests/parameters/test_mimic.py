"""Joints that mimic others: read, refused where they follow nothing, folded into every function."""

from __future__ import annotations

import numpy as np
import pinocchio
import pytest
from support.described import Described
from support.description.builders import chain, doubt_codes, joint, link, robot
from support.made.mimicked import follows, gripper
from support.robots import loaded_alpha

from diffpbd.codegen.description.front.export import urdf_text
from diffpbd.codegen.description.front.urdf import read_urdf
from diffpbd.codegen.description.robot.robot import Mimic
from diffpbd.codegen.description.robot.singular import singular_links
from diffpbd.codegen.graph.functions.derivatives import specs
from diffpbd.runtime.base.joint_types import type_of

BAR = 1e-11


@pytest.fixture(scope="module")
def folded(tmp_path_factory: pytest.TempPathFactory) -> Described:
    file = tmp_path_factory.mktemp("mimic") / "gripper.urdf"
    file.write_bytes(gripper())
    return Described.of(file, tip=["tip", "left", "right"])


@pytest.fixture(scope="module")
def free(tmp_path_factory: pytest.TempPathFactory) -> Described:
    """The same without the mimics."""
    file = tmp_path_factory.mktemp("free") / "gripper.urdf"
    text = gripper().decode()
    while "<mimic" in text:
        start = text.index("<mimic")
        text = text[:start] + text[text.index("/>", start) + 2 :]
    file.write_text(text, encoding="utf-8")
    return Described.of(file, tip=["tip", "left", "right"])


A = np.array([[1.0, 0.0], [-0.75, 0.0], [0.5, 0.0], [0.0, 1.0], [0.0, -2.0]])
B = np.array([0.0, 0.3 + 1.5 * 0.2, -0.2, 0.0, 0.01])


def test_chains_are_multiplied_out(folded: Described) -> None:
    joints = folded.robot.joints
    assert [j.name for j in joints] == ["ja", "jk", "jt", "jl", "jr"]
    assert [j.mimic for j in joints] == [
        None, Mimic(0, -0.75, pytest.approx(B[1])), Mimic(0, 0.5, -0.2), None, Mimic(3, -2.0, 0.01)
    ]  # fmt: skip
    assert folded.robot.independent == (0, 3)
    assert "torque_offset.jr" not in folded.alpha and "friction.viscous.jr" in folded.alpha


def shared_alpha(free: Described, folded: Described) -> tuple[np.ndarray, np.ndarray]:
    values = free.alpha.by_name(loaded_alpha(free.alpha))
    values |= {name: 0.0 for name in values if name.startswith("torque_offset") and name not in folded.alpha}
    return free.alpha.vector(values), folded.alpha.vector({k: v for k, v in values.items() if k in folded.alpha})


def test_every_function_is_the_free_ones_projected(free: Described, folded: Described) -> None:
    rng = np.random.default_rng(1)
    of_free, of_folded = shared_alpha(free, folded)
    for _ in range(20):
        p, pd, pdd, u = rng.uniform(-2.0, 2.0, (4, 2))
        every = A @ p + B, A @ pd, A @ pdd

        def same(name: str, given: tuple, wide: tuple, project: object) -> None:
            found = folded(name, *given, alpha=of_folded)
            np.testing.assert_allclose(found, project(free(name, *wide, alpha=of_free)), rtol=0, atol=BAR)

        def torques(value: np.ndarray) -> np.ndarray:
            return A.T @ value

        same("inverse_dynamics", (p, pd, pdd), every, torques)
        same("gravity", (p,), every[:1], torques)
        same("coriolis", (p, pd), every[:2], torques)
        same("mass_matrix", (p,), every[:1], lambda M: A.T @ M @ A)
        same("tip_jacobian", (p,), every[:1], lambda J: J @ A)
        same("regressor", (p, pd, pdd), every, torques)
        same("spring_torque", (p,), every[:1], torques)
        same("friction_torque", (pd,), every[1:2], torques)
        offset = np.array([of_folded[folded.alpha.index(f"torque_offset.{k}")] for k in ("ja", "jl")])
        acceleration = folded("forward_dynamics", p, pd, u, alpha=of_folded)
        again = folded("inverse_dynamics", p, pd, acceleration, alpha=of_folded)
        np.testing.assert_allclose(again - offset, u, rtol=0, atol=1e-9)
        one, other = folded.functions["energy"](p, pd, of_folded), free.functions["energy"](*every[:2], of_free)
        np.testing.assert_allclose([float(x) for x in one], [float(x) for x in other], rtol=1e-13)


def test_the_peer_folds_them_the_same_way(folded: Described) -> None:
    # Its own mimic joints are off by default and know no chains: its joints are free and projected here.
    model = pinocchio.buildModelFromXML(gripper().decode())
    data, rng = model.createData(), np.random.default_rng(5)
    columns = [model.joints[model.getJointId(j.name)].idx_v for j in folded.robot.joints]
    for _ in range(10):
        p, pd, pdd = rng.uniform(-2.0, 2.0, (3, 2))
        q, v, a = np.zeros((3, model.nv))
        q[columns], v[columns], a[columns] = A @ p + B, A @ pd, A @ pdd
        expected = A.T @ pinocchio.rnea(model, data, q, v, a)[columns]
        np.testing.assert_allclose(folded("inverse_dynamics", p, pd, pdd), expected, rtol=0, atol=1e-11)


def test_the_maximal_state_has_every_link(folded: Described) -> None:
    known = {spec.name: spec.graph for spec in specs(folded.graphs)}
    assert "constraints" not in known
    p, pd = [0.4, 0.02], [0.3, -0.1]
    xi = known["fk"](p, pd, folded.alpha.defaults)
    assert xi.shape == (13 * 5, 1)
    back, rate = known["joint_state"](xi, folded.alpha.defaults, np.zeros(2))
    np.testing.assert_allclose(np.array(back)[:, 0], p, rtol=0, atol=1e-14)
    np.testing.assert_allclose(np.array(rate)[:, 0], pd, rtol=0, atol=1e-14)


def test_export_keeps_them(folded: Described) -> None:
    again = read_urdf(urdf_text(folded.robot).encode(), tip=["tip", "left", "right"])
    assert [j.mimic for j in again.joints] == [j.mimic for j in folded.robot.joints]


def test_a_follower_may_be_held() -> None:
    sides = robot(*map(link, "cab"), joint("ja", "c", "a"), joint("jb", "c", "b", more=follows("ja")))
    assert read_urdf(sides, hold=["jb"]).n == 1
    assert doubt_codes(sides) == {"mimic"}


def test_a_massless_finger_that_follows_leaves_the_inertia_regular() -> None:
    source = robot(
        link("c"), link("a"), link("b", ""), joint("ja", "c", "a"), joint("jb", "a", "b", more=follows("ja"))
    )
    assert singular_links(read_urdf(source)) == ()
    free_end = robot(link("c"), link("a"), link("b", ""), joint("ja", "c", "a"), joint("jb", "a", "b"))
    assert singular_links(read_urdf(free_end)) == (("b", "jb"),)
    lone = robot(
        link("c"), link("a", ""), link("b", ""), joint("ja", "c", "a"), joint("jb", "a", "b", more=follows("ja"))
    )
    assert singular_links(read_urdf(lone)) == (("a", "ja"),)


def test_both_ways_of_finding_singular_joints_agree() -> None:
    from diffpbd.codegen.description.robot import singular

    for kinds in (("revolute", "prismatic", "continuous"), ("prismatic", "prismatic")):
        described = read_urdf(chain(*kinds))
        assert described.joints[0].type is type_of(kinds[0])
        np.testing.assert_allclose(
            singular._geared_pivot_shares(described, 0.7), singular._pivot_shares(described, 0.7), rtol=1e-9
        )
