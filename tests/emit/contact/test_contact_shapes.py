"""Steps of capsules and boxes in contact, compiled: closed forms, momentum, restitution, derivatives, degenerate poses."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from support.made.shaped_scenes import OFF, G, at, shaped
from support.small.shaped import LENGTH, ROD_MOMENTS, THICK, moments
from support.touching import MASS

from diffpbd.runtime import Robot


def force(r: Robot, p: Any, pd: Any) -> np.ndarray:
    return np.asarray(r.contact_force(p, pd, np.zeros(len(pd))).contact_force)


def test_a_box_rests_on_its_corners() -> None:
    """A quarter of its weight on each, whatever face is below."""
    r = shaped("cube")
    for turn in ((1, 0, 0, 0), (1, 1, 0, 0), (1, 0, -1, 0), (0, 1, 0, 0)):
        P, PD = r.rollout(at(0, 0, 0.1 + 1e-4, turn), np.zeros(6), np.zeros((50, 6)))
        carried = force(r, P[-1], PD[-1])[2]
        assert np.sort(carried)[4:] == pytest.approx([MASS * G / 4] * 4, abs=1e-5)
        assert P[-1][2] == pytest.approx(0.1, abs=2e-7)


def test_a_capsule_lies_on_its_ends_and_rolls_without_slip() -> None:
    """Down no slope, from sliding to rolling: v = v₀/(1 + I/(m r²)); the ends share the weight by the lever."""
    r = shaped("rod")
    P, PD = r.rollout(at(0, 0, THICK), np.array([0, 1.0, 0, 0, 0, 0]), np.zeros((100, 6)))
    inertia = ROD_MOMENTS[0]
    assert PD[-1][1] == pytest.approx(1.0 / (1.0 + inertia / (MASS * THICK**2)), abs=2e-3)
    assert PD[-1][3] == pytest.approx(-PD[-1][1] / THICK, abs=1e-3)
    F = force(r, P[-1], PD[-1])
    assert F[2] == pytest.approx([MASS * G / 2] * 2, abs=1e-6)


def test_a_capsule_slides_and_turns_on_its_ends() -> None:
    """By the equations of Newton and Euler of a rod on two ends that slide: their normal forces follow from its not tipping."""
    r, mu, reach = shaped("rod"), 0.5, LENGTH / 2
    around, across = ROD_MOMENTS[:2]

    def rates(_: float, s: Any) -> Any:
        e, n = np.array([np.cos(s[2]), np.sin(s[2])]), np.array([-np.sin(s[2]), np.cos(s[2])])
        slips = [s[3:5] + (k * reach * s[5] + THICK * s[6]) * n for k in (1, -1)]
        ways = [-mu * v / np.linalg.norm(v) for v in slips]
        A = [[1.0, 1.0], [-reach - THICK * ways[0] @ e, reach - THICK * ways[1] @ e]]
        one, two = (N * w for N, w in zip(np.linalg.solve(A, [MASS * G, around * s[6] * s[5]]), ways, strict=True))
        turns = [reach * (one - two) @ n / across, THICK * (one + two) @ n / around]
        return [*s[3:6], *(one + two) / MASS, *turns]

    found = solve_ivp(rates, (0.0, 0.1), [0, 0, 0, 0.5, 0.4, 3.0, 0.0], rtol=1e-9, atol=1e-12).y[:, -1]
    alpha = r.alpha.vector({"contact.friction.body": mu})
    P, PD = r.rollout(at(0, 0, THICK), np.array([0.5, 0.4, 0, 0, 0, 3.0]), np.zeros((100, 6)), h=1e-3, alpha=alpha)
    assert P[-1][:2] == pytest.approx(found[:2], abs=1e-5)
    assert PD[-1][:2] == pytest.approx(found[3:5], abs=3e-4)
    assert PD[-1][5] == pytest.approx(found[5], abs=3e-3)


@pytest.mark.parametrize("offset", [0.0, 0.05])
def test_a_capsule_lies_along_another(offset: float) -> None:
    """At rest for a second, its weight and its moment carried, in equilibrium about the middle."""
    r = shaped("rod_over_rod")
    P, PD = r.rollout(at(offset, 0, 2 * THICK), np.zeros(6), np.zeros((100, 6)))
    assert np.abs(PD[-1]).max() < 1e-6
    assert P[-1][:3] == pytest.approx([offset, 0, 2 * THICK], abs=1e-5)
    assert force(r, P[-1], PD[-1])[2].sum() == pytest.approx(MASS * G, abs=1e-6)
    assert r.contact_torque(P[-1], force(r, P[-1], PD[-1]))[:6] == pytest.approx([0, 0, MASS * G, 0, 0, 0], abs=1e-6)


def test_a_capsule_across_another_rests_where_they_cross() -> None:
    r = shaped("rod_over_rod")
    turn = (np.cos(np.pi / 4), 0, 0, np.sin(np.pi / 4))
    P, PD = r.rollout(at(0, 0, 2 * THICK, turn), np.zeros(6), np.zeros((100, 6)))
    names = [c.name for c in r.manifest.robot.contacts]
    carried = force(r, P[-1], PD[-1])[2]
    assert carried[names.index("body/stand")] == pytest.approx(MASS * G, abs=1e-4)
    assert carried.sum() == pytest.approx(MASS * G, abs=1e-6)


def test_crossed_capsules_bounce_as_newton_says() -> None:
    """Off centre by a: momentum and angular momentum as by the closed form of one impulse, the rate of parting −e times."""
    r, e, v = shaped("crossed"), 0.6, 1.0
    (m1, m2), inertia = (1.0, 3.0), ROD_MOMENTS[1]
    x = r.manifest.robot  # one: along x, on z and pitch; two: across, on z, and 0.1 m along x of the first
    assert len(x.contacts) == 5
    p, pd = np.array([0.1004, 0.0, 0.0]), np.array([-v, 0.0, 0.0])
    P, PD = r.rollout(p, pd, np.zeros((3, 3)), h=1e-3)
    impulse = (1 + e) * v / (1 / m1 + 1 / m2 + OFF**2 / inertia)
    assert PD[-1] == pytest.approx([-v + impulse / m1, -OFF * impulse / inertia, -impulse / m2], abs=1e-3)
    assert m1 * PD[-1][0] + m2 * PD[-1][2] == pytest.approx(-m1 * v, abs=1e-12)
    assert inertia * PD[-1][1] == pytest.approx(-OFF * m1 * (PD[-1][0] + v), rel=2e-3)


@pytest.mark.parametrize("place", [(0.0, 0.0, 0.2), (0.105, 0.02, 0.19), (0.17, 0.17, 0.17)])
def test_a_ball_on_a_face_an_edge_and_a_corner(place: tuple[float, float, float]) -> None:
    """It leaves the box along the line from its nearest point, wherever that is."""
    r = shaped("ball_over_cube")
    place_ = np.array(place)
    near = np.clip(place_, -0.1, 0.1)
    n = (place_ - near) / np.linalg.norm(place_ - near)
    centre = near + 0.1 * n
    J = np.asarray(r.contact_jacobian(at(*centre))).reshape(3, 6)
    assert r.contact_gap(at(*centre)) == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(J[0], [*n, 0, 0, 0], atol=1e-12)
    end = r.joint_step(at(*(centre + 1e-5 * n)), np.r_[-n, 0, 0, 0], np.zeros(6), h=1e-3)
    F = force(r, at(*(centre + 1e-5 * n)), np.r_[-n, 0, 0, 0])[:, 0]
    assert np.cross(F / np.linalg.norm(F), n) == pytest.approx([0, 0, 0], abs=0.1)
    assert end.pd_next[:3] @ n == pytest.approx(0.0, abs=0.02)


GEOMS = {
    "rod": f'type="capsule" fromto="{-LENGTH / 2} 0 0 {LENGTH / 2} 0 0" size="{THICK}"',
    "ball": 'type="sphere" size="0.1"',
    "cube": 'type="box" size="0.1 0.1 0.1"',
    "table": 'type="plane" size="9 9 1"',
}
STIFF = 'friction="0.5 0 0" condim="3" solref="0.0004 1" solimp="0.99 0.9999 0.0001"'


def by_mujoco(kind: str, other: str, p: Any, pd: Any, time: float) -> np.ndarray:
    """Place of a free body after a time, in steps of 0.1 ms with contacts as stiff as they may be."""
    x, y, z = moments(kind)
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="0.0001" cone="elliptic" gravity="0 0 -{G}"/><worldbody><geom {GEOMS[other]} {STIFF}/>'
        f'<body><freejoint/><inertial pos="0 0 0" mass="{MASS}" diaginertia="{x} {y} {z}"/><geom {GEOMS[kind]} {STIFF}/>'
        "</body></worldbody></mujoco>"
    )
    data = mujoco.MjData(model)
    turn = np.empty(9)
    mujoco.mju_quat2Mat(turn, np.array(p[3:7]))
    data.qpos[:], data.qvel[:] = p, np.r_[pd[:3], turn.reshape(3, 3).T @ pd[3:]]
    for _ in range(round(time / 1e-4)):
        mujoco.mj_step(model, data)
    return np.array(data.qpos)


@pytest.mark.parametrize(
    ("name", "kind", "other", "p", "pd", "time"),
    [
        ("cube", "cube", "table", at(0, 0, 0.1), (0.8, 0.3, 0, 0, 0, 0), 0.5),  # slides to rest
        ("ball_over_cube", "ball", "cube", at(0.05, 0.02, 0.2), (0.6, 0.1, 0, 0, 0, 0), 0.3),  # rolls off an edge
        ("rod_over_rod", "rod", "rod", at(0, 0, 2 * THICK, (1, 0, 0, 1)), (0, 0.4, 0, 0, 0, 1.0), 0.3),  # slides across
    ],
)
def test_motions_are_those_of_mujoco(name: str, kind: str, other: str, p: Any, pd: Any, time: float) -> None:
    r, h = shaped(name), 2e-3
    alpha = r.alpha.vector({"contact.friction.body": 0.5})
    P, _ = r.rollout(p, np.array(pd), np.zeros((round(time / h), 6)), h=h, alpha=alpha)
    end, wanted = P[-1], by_mujoco(kind, other, p, np.array(pd), time)
    moved_ = np.linalg.norm(wanted[:3] - p[:3])
    assert np.linalg.norm(end[:3] - wanted[:3]) < 2e-2 * moved_
    assert abs(abs(end[3:7] @ wanted[3:7]) - 1.0) < 1e-4
