"""Reports of the solver of contacts: impulses and counters of rollouts, its cap, contacts that are far."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.mechanisms import robot_of
from support.robots import CACHE, generated
from support.touching import RADIUS, ball, block, box, two_balls

from diffpbd.runtime import Robot, load
from diffpbd.runtime.base.errors import SolverError

H = 0.01


def folder(name: str) -> Path:
    made = {"ball": ball, "tumbling_box": lambda: box("floating"), "stopped_block": lambda: (block(), "limits = true")}
    return robot_of(made[name](), name).folder


@cache
def robot(name: str) -> Robot:
    return load(folder(name))


@cache
def balls() -> Robot:
    """That of test_contact_impacts."""
    path = two_balls().write(CACHE / "touching", "two_balls", "")
    return load(generated(str(path), functions=("joint_step",)))


def left(r: Robot, p: Any, pd: Any, end: Any, pushes: Any, alpha: Any = None, h: float = H) -> float:
    """Largest entry of the equations of a step at its end: momenta, relative to 1, and rows of contacts."""
    found = r.contact_residual(p, pd, np.zeros(r.n), h, r.alpha.vector(alpha or {}), *end, *pushes)
    n = r.n
    return float(
        max(
            np.abs(found.pose_residual[:n]).max() / h, np.abs(found.rate_residual[:n]).max() / h,
            np.abs(found.pose_residual[n:]).max(), np.abs(found.rate_residual[n:]).max(),
        )
    )  # fmt: skip


def test_impulses_of_a_rollout_solve_its_equations() -> None:
    r, steps = robot("ball"), 60
    start = np.array([0.0, 0.3, 0.0]), np.array([1.0, -0.5, 2.0])
    found = r.rollout_impulses(*start, np.zeros((steps, 3)), h=H)
    P, PD = r.rollout(*start, np.zeros((steps, 3)), h=H)
    np.testing.assert_array_equal(found.P, P)
    np.testing.assert_array_equal(found.PD, PD)
    assert found.contact_impulse.shape == found.contact_impulse_next.shape == (steps, 3)
    assert found.counters.shape == (steps, 5)
    pushed = zip(found.contact_impulse, found.contact_impulse_next, strict=True)
    worst = max(left(r, P[k], PD[k], (P[k + 1], PD[k + 1]), push) for k, push in enumerate(pushed))
    assert worst < 1e-12
    both = found.contact_impulse[-1] + found.contact_impulse_next[-1]
    assert both[0] / H == pytest.approx(9.81, rel=1e-6)  # at rest it carries the weight of 1 kg
    assert set(found.counters[:, 2:4].ravel()) == {0.0}
    assert (found.counters[:, 4] >= found.counters[:, 0] + found.counters[:, 1]).all()


def test_limits_stand_in_the_equations_beside_contacts() -> None:
    """A block that slides into its stop at 9 m, on the table."""
    r, steps = robot("stopped_block"), 20
    start = np.array([8.9, 0.0, 1e-6]), np.array([3.0, 0.5, 0.0])
    found = r.rollout_impulses(*start, np.zeros((steps, 3)), h=H)
    names = [f"{kind}_impulse{end}" for kind in ("limit", "contact") for end in ("", "_next")]
    assert found.limit_impulse.shape == (steps, 6)
    for k in range(steps):
        end, pushes = (found.P[k + 1], found.PD[k + 1]), [getattr(found, name)[k] for name in names]
        assert left(r, found.P[k], found.PD[k], end, pushes) < 1e-12
    assert found.limit_impulse[:, 1].max() > 0.5 and found.P[:, 0].max() < 9.0  # N s: about half of what it carried


def test_impulses_of_a_floating_base() -> None:
    r, steps = robot("tumbling_box"), 40
    start = np.array([0.0, 0, 0.06, 1, 0, 0, 0]), np.array([0.5, 0, 0, 1.0, 2.0, 0])
    found = r.rollout_impulses(*start, np.zeros((steps, 6)), h=H)
    P, _ = r.rollout(*start, np.zeros((steps, 6)), h=H)
    np.testing.assert_array_equal(found.P, P)
    normal = (found.contact_impulse + found.contact_impulse_next)[:, ::3].sum(axis=1)
    np.testing.assert_allclose(H * 9.81 + found.PD[1:, 2] - found.PD[:-1, 2], normal, atol=1e-10)


@pytest.mark.parametrize("slip", [1e-5, 1e-2])
def test_what_is_far_is_in_the_equations_all_the_same(slip: float) -> None:
    """From 1e-7 to 10 m away, at rest and fast; what closes within the step is not missed."""
    r, rng, alpha = robot("ball"), np.random.default_rng(4), {"contact.slip": slip}
    for gap in 10.0 ** np.linspace(-7, 1, 33):
        for fall in (0.0, -3.0, -1.5 * gap / H):
            start = np.array([0.0, RADIUS + gap, 0.3]), np.array([rng.standard_normal(), max(fall, -20.0), 1.0])
            found = r.rollout_impulses(*start, np.zeros((1, 3)), h=H, alpha=alpha)
            end = found.P[1], found.PD[1]
            scale = 1 + np.abs(start[1]).max()
            pushes = found.contact_impulse[0], found.contact_impulse_next[0]
            assert left(r, *start, end, pushes, alpha) < 1e-11 * scale
            if end[0][1] > RADIUS + 0.05:  # a nanonewton second, and right
                rows = r.contact_residual(*start, np.zeros(3), H, r.alpha.vector(alpha), *end, *pushes)
                assert np.abs(rows.pose_residual[3:] / pushes[0][0]).max() < 1e-8
                assert np.abs(rows.rate_residual[3:] / pushes[1][0]).max() < 1e-8
            assert end[0][1] >= RADIUS - 0.5 * H * 0.2 * slip
            assert found.contact_impulse[0, 0] > 0.0


GIVING = (
    [0, 0, 0, -0.02138116, 0.19885624, 0], [0.19892582, 0.48560114, 0.03734831, -0.02272232, 0.08125904, -0.10630551],
    2.0285568e-4,
    {"contact.slip": 2.523398e-5, "contact.friction.a": 2.853541e-3, "contact.compliance.a": 3.84587e-5},
)  # fmt: skip
GRAZING = (
    [0, 0, 0, -0.07243973, -0.18642613, 0],
    [-37.00342158, -16.65186888, 3.9806873, -24.98067842, -6.23825668, -12.79260817], 6.41048352e-4,
    {"contact.slip": 5.69698399e-4, "contact.friction.a": 1.9111996},
)  # fmt: skip


@pytest.mark.parametrize("scene", [GIVING, GRAZING], ids=["giving_way", "grazing_fast"])
def test_a_step_ends_where_its_impulses_do(scene: Any) -> None:
    """Two balls that meet: one gives way, and was taken for far by an older impulse; in the other the last change of
    impulses was as large as they were, and friction more than twice what its cone allows."""
    r, (p, pd, h, alpha) = balls(), scene
    found = r.rollout_impulses(p, pd, np.zeros((1, r.n)), h=h, alpha=alpha)
    pushes = found.contact_impulse[0], found.contact_impulse_next[0]
    assert left(r, p, pd, (found.P[1], found.PD[1]), pushes, alpha, h) < 1e-7
    assert np.linalg.norm(pushes[0][1:]) <= alpha["contact.friction.a"] * pushes[0][0] * (1 + 1e-9)


def test_a_start_deep_inside_is_refused() -> None:
    r, still = robot("ball"), np.zeros(3)
    out = r.joint_step([0.0, RADIUS - 0.049, 0.0], still, still, h=H).p_next
    assert out[1] == pytest.approx(RADIUS, abs=1e-6)
    with pytest.raises(SolverError, match="inside a surface at the start.*status 15"):
        r.joint_step([0.0, RADIUS - 0.051, 0.0], still, still, h=H)


def test_a_cap_of_evaluations_ends_in_a_status_and_the_start(tmp_path: Path) -> None:
    """Steps that need no more are the same to the bit; others end in status 14 and hold the last good state."""
    free, cap, copy = robot("ball"), 12, shutil.copytree(folder("ball"), tmp_path / "ball")
    for source in copy.glob("src/constrained_step*"):
        os.utime(source)
    flags = f"CFLAGS=-O0 -DDIFFPBD_EVALUATIONS={cap}"
    subprocess.run(["make", "-C", copy, "shared", flags], check=True, capture_output=True)
    capped, ends = load(copy), []
    for height in (1e-3, 3e-3, 1e-2, 2e-2, 0.5):
        start = np.array([0.0, RADIUS + height, 0.0]), np.array([1.0, -0.5, 2.0])
        used = int(free.rollout_impulses(*start, np.zeros((1, 3)), h=H).counters[0, 4])
        inputs = {
            "p0": start[0],
            "pd0": start[1],
            "U": np.zeros((1, 3)),
            "h": np.array(H),
            "alpha": capped.alpha.vector({}),
        }
        P, PD = np.full((2, 2, 3), np.nan)
        ends.append(capped.rollout.fixed(1, inputs, {"P": P, "PD": PD})())
        assert ends[-1] == (0 if used <= cap else 14)
        wanted = free.joint_step(*start, np.zeros(3), h=H) if used <= cap else start
        np.testing.assert_array_equal(np.vstack([P[1], PD[1]]), np.vstack(wanted))
    assert set(ends) == {0, 14}
