"""Violent steps of closed mechanisms: no status 0 whose end is open, opens, or is not where its rates lead.

Starts all over a turn, rates up to some 60 rad/s, torques up to 30 N·m that change every ten steps, steps of 1 to 30 ms.
The judge is pinocchio's kinematics (`support.judges.loop`), which knows nothing of rows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support.judges.loop import LoopJudge
from support.mechanisms import MECHANISMS
from support.robots import CACHE, generated
from support.small.overclosed import wheels

from diffpbd.codegen.description.front.resolve import find_recipe, read_robot
from diffpbd.runtime import load
from diffpbd.runtime.base.errors import SolverError

OPEN, OPENING, OFF = 1e-8, 1e-6, 0.6
"""[m or rad], [relative to 1 + the largest rate], [rad] What no motion is beyond; the last beside the mean rate."""
DROPPED = ("third rocker", "wheels", "bennett")
"""With rows that say something and are dropped, or left out by pivoting."""
HELD = {0, 1, 2, 10, 12, 13, 14, 17}
"""Statuses in which a step may end."""


def status(error: SolverError) -> int:
    return int(re.findall(r"\(status (\d+)\)", str(error))[0])


def recipe(kind: str, shared: Path) -> Path:
    cases, own = shared / "cases", CACHE / "mechanisms"
    own.mkdir(parents=True, exist_ok=True)
    if kind == "third rocker":
        return cases / "C02-dropped-rows-open" / "triple.toml"
    if kind in ("slidecut", "weld4"):
        return cases / "C03-weld-half-a-turn-off" / f"{kind}.toml"
    if kind == "limits":
        return MECHANISMS["slider_crank"]().write(own, "stopped_crank", "limits = true")
    made = wheels() if kind == "wheels" else MECHANISMS[kind]()
    return made.write(own, f"{kind}_plain")


SOAK = [pytest.param(kind, marks=pytest.mark.soak) for kind in ("wheels", "bennett", "weld4", "limits")]


@pytest.mark.parametrize("kind", ["third rocker", "slidecut", *SOAK])
def test_no_status_0_is_wrong(kind: str, shared: Path, count: Callable[[int, int], int]) -> None:
    path = recipe(kind, shared)
    robot = load(generated(str(path), functions=("joint_step",)))
    described = read_robot(find_recipe(str(path)))
    judge = LoopJudge(path.with_suffix(".urdf"), described)
    hinge = np.array([joint.type.unit == "rad" for joint in described.joints])
    rng, n, found = np.random.default_rng(11), robot.n, Counter[int]()
    inside = described.joints if kind == "limits" else ()
    while sum(found.values()) < count(1000, 34_000 if kind in DROPPED else 50_000):
        p = rng.uniform(-3, 3, n)
        for k, joint in enumerate(inside):
            if joint.lower is not None and joint.upper is not None:
                p[k] = rng.uniform(joint.lower, joint.upper)
        try:
            p = robot.close_loops(p, np.zeros(n))
            pd = robot.close_rates(p, rng.standard_normal(n) * 10 ** rng.uniform(-1, 1.8))
        except SolverError as caught:
            assert status(caught) in (10, 13)
            continue
        gap, rate = judge.opened(p, pd)
        assert gap < OPEN and rate < OPENING * (1 + np.abs(pd).max())
        h = rng.choice([0.001, 0.003, 0.01, 0.02, 0.03])
        for k in range(50):
            if k % 10 == 0:
                u = rng.standard_normal(n) * 10 ** rng.uniform(-1, 1.5)
            try:
                q, qd = robot.joint_step(p, pd, u, h=h)
            except SolverError as caught:
                found[status(caught)] += 1
                break
            found[0] += 1
            gap, rate = judge.opened(q, qd)
            assert gap < OPEN and rate < OPENING * (1 + np.abs(qd).max()), (p, pd, u, h, gap, rate)
            assert np.abs(q - p - h * (pd + qd) / 2)[hinge].max() < OFF, (p, pd, u, h, q)
            p, pd = q, qd
    print(kind, dict(found))
    assert set(found) <= HELD
    assert found[0] > 0.95 * sum(found.values())
