"""Violent steps: none that says status 0 is rejected by a judge that knows nothing of how it was found; few end in a status.

`make soak OPTS="-k violent -s"` prints the table of docs/contact.md."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support.judges.steps import Judge
from support.small.violent import STARTS, counted, robot_of

QUICK = {"rod": 1500, "stack 1:1000": 1000, "quad": 200, "rod bouncing": 1000, "rod turning": 500, "rods": 300}
"""Steps in `make test`, of robots that other tests have."""
FEW = {"quad": 2e-2, "stack 1:1000": 1e-3, "weld4": 3e-3, "quad bouncing": 2e-2, "quad turning": 2e-2}
"""Most steps that may end in a status, as a share: legs reach a radian a step, where no end is left."""

ABOVE = {"rods": 2e-5}
"""Share of the steps that may be rejected: one in 10⁵, nearly parallel, gains 1.30 % of its energy where the bar is 1.27 %."""


@pytest.mark.thorough("stack", "rods", "bouncing", "turning")
@pytest.mark.parametrize(
    "kind", [kind if kind in QUICK else pytest.param(kind, marks=pytest.mark.soak) for kind in STARTS]
)
def test_no_violent_step_is_rejected(kind: str, shared: Path, count: Callable[[int, int], int]) -> None:
    found = counted(kind, robot_of(kind, shared), count(QUICK.get(kind, 0), 100_000))
    print(found.row(kind))
    assert sum(found.rejected.values()) <= ABOVE.get(kind, 0.0) * found.steps
    assert sum(found.statuses.values()) <= max(3, FEW.get(kind, 1e-4) * found.steps)


def test_the_judge_rejects_what_is_no_motion(shared: Path) -> None:
    """Each ground, from both sides of its bar."""
    r, h = robot_of("rod", shared), 0.01
    alpha = r.alpha.vector({})
    judge = Judge(r, np.array([False, False, True]), alpha, [2.0, 2.0])
    p, pd, u = np.array([0.0, 2.0, 0.3]), np.array([1.0, 0.0, 1.0]), np.zeros((1, 3))
    end = r.joint_step(p, pd, u[0], h=h)
    pushed = np.zeros((1, 6))

    def grounds(moved: float = 0.0, faster: float = 1.0, higher: float = 0.0, across: float = 0.0) -> set[str]:
        P, PD = np.array([p, end.p_next]), np.array([pd, end.pd_next * faster])
        P[1, 2] += moved
        P[:, 1] += higher
        return set(judge.rejects(P, PD, u, h, [pushed + [1.0, across, 0.0, 0.0, 0.0, 0.0]]))

    assert (
        grounds()
        == grounds(moved=0.25)
        == grounds(faster=1.002)
        == grounds(higher=-1.6)
        == grounds(across=1.9)
        == set()
    )
    assert grounds(moved=0.4) == {"moved"}
    assert grounds(faster=1.02) == {"energy"}
    assert "depth" in grounds(higher=-1.72)
    assert grounds(across=2.1) == {"cone"}
    assert "finite" in grounds(faster=np.nan)
