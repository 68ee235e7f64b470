"""A free box thrown on a table: forces and momentum, derivatives by tangents, passivity, depth, levels of the solver."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.made.landing import STILL, G, H, landing, start, thrown
from support.small.random_scenes import Tally
from support.touching import MASS

from diffpbd.runtime import InputError, Robot, load
from diffpbd.runtime.folder.compiler import compile_library


def test_forces_change_the_momentum() -> None:
    robot = thrown()
    p, pd = start(np.random.default_rng(7))
    pressed = 0
    for _ in range(80):
        found = robot.contact_force(p, pd, STILL, h=H)
        p, pd_next = robot.joint_step(p, pd, STILL, h=H)
        total = found.contact_force.sum(axis=1)
        np.testing.assert_allclose(total, MASS * ((pd_next - pd)[:3] / H + [0, 0, G]), rtol=0, atol=1e-10)
        pressed += total[2] > 1.0
        pd = pd_next
    assert pressed > 20
    np.testing.assert_allclose(total, [0, 0, MASS * G], atol=1e-6)


def sliding(robot: Robot) -> tuple[Any, Any, Any]:
    """Poses, rates and counters of the box that slides and turns on its face; half a second."""
    p, pd = np.array([0.0, 0.0, 0.05, 1.0, 0.0, 0.0, 0.0]), np.array([3.0, 0.4, 0.0, 0.0, 0.0, 1.5])
    found = robot.rollout_impulses(p, pd, np.zeros((40, 6)), h=H)
    return found.P, found.PD, np.asarray(found.counters)


def test_a_rollout_goes_on_as_it_came() -> None:
    """Impulses that change alike save a third of the evaluations and, with how their changes change, half of the iterations;
    each step is the one from its start alone."""
    robot = thrown()
    P, PD, counters = sliding(robot)
    assert counters[5:, 4].mean() < 5.0  # 6.0 from the last impulses as they are
    assert counters[5:, :2].sum(axis=1).mean() < 2.5  # 3.0 from their last change alone
    for k in (3, 20, 39):
        alone = robot.joint_step(P[k], PD[k], STILL, h=H)
        np.testing.assert_allclose(alone.p_next, P[k + 1], rtol=0, atol=1e-12)
        np.testing.assert_allclose(alone.pd_next, PD[k + 1], rtol=0, atol=1e-10)


@pytest.mark.thorough
def test_every_path_gives_the_same_to_rounding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DIFFPBD_CFLAGS", raising=False)
    folder = tmp_path / thrown().folder.name
    shutil.copytree(thrown().folder, folder, ignore=shutil.ignore_patterns("*.so*"))
    compile_library(folder, thrown().manifest.library)
    robot, ends = load(folder), []
    for path in ("portable", "x86-64-v3"):
        try:
            robot.choose_instructions(path)
        except InputError:
            pytest.skip(f"no {path} here")
        P, PD, _ = sliding(robot)
        ends.append(np.hstack([P[-1], PD[-1]]))
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=1e-9)
    assert np.any(ends[1] != ends[0])  # the second path was taken


def test_what_forces_on_contacts_do_on_the_base() -> None:
    """Their sum, and their moment about the base, at the points midway between corners and table."""
    robot, rng = thrown(), np.random.default_rng(1)
    p, _ = landing(30)
    gaps, J = np.ravel(robot.contact_gap(p)), np.reshape(robot.contact_jacobian(p), (8, 3, 6))
    arms = np.stack([-J[:, 0, 4], J[:, 0, 3], gaps / 2 - p[2]], axis=1)  # the normal's moment is r × z
    F = rng.standard_normal((3, 8))
    found = np.ravel(robot.contact_torque(p, F))
    np.testing.assert_allclose(found[:3], F.sum(axis=1), rtol=0, atol=1e-12)
    np.testing.assert_allclose(found[3:], np.cross(arms, F.T).sum(axis=0), rtol=0, atol=1e-12)


@pytest.mark.thorough
def test_gradients_of_throws_that_come_to_rest() -> None:
    """Back along flight, impacts and rest, where four corners share the weight: as by the Jacobians of steps."""
    robot, steps, rng = thrown(), 100, np.random.default_rng(1)
    for seed in range(3):
        p, pd = start(np.random.default_rng(seed))
        U, seeds = np.zeros((steps, 6)), np.zeros((2, steps + 1, 6))
        P, PD = robot.rollout(p, pd, U, h=H)
        seeds[:, -1] = rng.standard_normal((2, 6))
        found = robot.vjp_rollout(p, pd, U, H, robot.alpha.vector(), *seeds)
        back = seeds[:, -1].ravel()
        for k in reversed(range(steps)):
            J = robot.jac_joint_step(P[k], PD[k], STILL, h=H)
            back = np.block([[J.dp_next_dp, J.dp_next_dpd], [J.dpd_next_dp, J.dpd_next_dpd]]).T @ back
        wanted = pytest.approx(back, rel=1e-3, abs=1e-3 * np.abs(back).max())  # hard contacts: to 1e-4
        assert np.concatenate([found.p0_bar, found.pd0_bar]) == wanted


@pytest.mark.parametrize("friction", [0.2, 0.5, 1.0, 2.0])
def test_thrown_boxes(friction: float, count: Callable[[int, int], int]) -> None:
    """No status, nothing sinks in, energy does not rise but by the step's own oscillation; Newton at the final slip mostly."""
    robot, rng, tally = thrown(), np.random.default_rng(11), Tally()
    alpha = {f"contact.friction.corner_{k}": friction for k in range(1, 9)}
    alpha |= {f"contact.load.corner_{k}": MASS * G / 8 for k in range(1, 9)}
    vector, rise = robot.alpha.vector(alpha), 0.0
    for _ in range(count(2, 125)):
        p, pd = start(rng)
        P, PD = robot.rollout(p, pd, np.zeros((200, 6)), h=H, alpha=vector)  # raises on a status
        energy = np.array([sum(robot.energy(*state, alpha=vector)) for state in zip(P, PD, strict=True)])
        rise = max(rise, float((energy - np.minimum.accumulate(energy)).max()))
        for p, pd in zip(P[:-1:10], PD[:-1:10], strict=True):
            found = robot.contact_force(p, pd, STILL, h=H, alpha=vector)
            pose, rate, first, second = (int(x) for x in found.iterations)
            tally.scenes += 1
            tally.levels["falling slip"] += first + second
            tally.total += pose + rate
            tally.most = max(tally.most, pose, rate)
        tally.deepest = max(tally.deepest, -min(float(robot.contact_gap(p, alpha=vector).min()) for p in P))
    print(f"{tally.line(f'friction {friction}')}, energy rises by {rise:.1e} J")
    assert tally.deepest < 0.5 * H * friction * 1e-5 * 1.001
    assert rise < 5e-4
    assert tally.levels["falling slip"] <= 3 + 0.02 * 2 * tally.scenes
