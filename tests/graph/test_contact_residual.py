"""Equations of a step in contact: zero along the oracle's steps, in every coordinate and impulse."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest
from support.shared.touch_run import oracle, run
from support.touch_oracle import End, Oracle

from diffpbd.codegen.graph.contact.contacts import normals, rows_at
from diffpbd.codegen.graph.model.meetings import inlined
from diffpbd.codegen.graph.solved.contact_residual import specs
from diffpbd.codegen.joint_space.contact import contacts


def turned(o: Oracle, impulses: Any, frames: Any, own: Any) -> Any:
    """The oracle's (λₙ, λₜ), along its tangents, along those of the product."""
    found = []
    for k, pair in enumerate(o.pairs):
        normal, *across = impulses[k]
        if pair.sphere.friction == 0.0:
            found.append([normal])
            continue
        world = frames[3:, k].reshape(2, 3).T @ np.array(across)
        found.append([normal, *(own[3:, k].reshape(2, 3) @ world)])
    return np.concatenate(found)


CASES = [
    ("block", [0.0, 0.0, 1e-7], [0.9, 0.3, 0.0], 3),
    ("ball", [0.0, 0.1 + 1e-7, 0.0], [1.0, 0.0, 0.0], 5),
    ("box", [0.0, 0.05 + 1e-7, 0.001], [0.7, 0.0, 0.0], 3),
    ("reaching_arm", [-0.6, 0.7, 0.1], [2.0, 0.0, 0.0], 32),
    (("ball", "planar", 0.0), [0.0, 0.1 + 1e-7, 0.0], [1.0, 0.0, 0.0], 5),  # one contact without friction, alone
]


@pytest.mark.parametrize(("name", "p", "pd", "steps"), CASES)
def test_zero_along_a_step(name: Any, p: Any, pd: Any, steps: int) -> None:
    o, h = oracle(name) if isinstance(name, str) else oracle(*name), 0.01
    p, pd, _ = run(o, p, pd, steps, h)
    alpha = o.defaults.copy()
    for k, entry in enumerate(o.model.entries):
        if "compliance" in entry.name:
            alpha[k] = 1e-5
    u = np.linspace(0.1, 0.4, o.n)
    end: End = o.step(p, pd, u, h, alpha)
    assert end.solved and np.abs(end.force).max() > 1.0
    (spec,) = specs(o.model)
    frames = Frames(o)
    at_start, at_end = frames(p, p, alpha), frames(end.p, p, alpha)
    push = turned(o, end.contacts[0], *at_start)
    push_rate = turned(o, end.contacts[1], *at_end)
    given = (p, pd, u, h, alpha, end.p, end.pd, push, push_rate)
    for residual in spec.graph(*given):
        assert np.abs(np.array(residual)).max() < 1e-13
    # every unknown matters
    for k in (5, 6, 7, 8):
        moved = [np.array(x, float) for x in given]
        moved[k] = moved[k] + 1e-3
        assert max(np.abs(np.array(x)).max() for x in spec.graph(*moved)) > 1e-6
    first = normals(o.model.tree)
    for k, contact in enumerate(o.model.tree.contacts):
        own, count = slice(first[k], first[k + 1]), contact.rows
        halves = zip((push, push_rate), (at_start[1], at_end[1]), strict=True)
        force = sum(impulse[own] @ frame[:, k].reshape(3, 3)[:count] for impulse, frame in halves) / h
        np.testing.assert_allclose(force, end.force[k], rtol=0, atol=1e-10)


class Frames:
    """Normal and tangents of every contact at a pose, the oracle's and the product's, both with the start's signs."""

    def __init__(self, o: Oracle) -> None:
        self.o = o
        n, c = o.n, len(o.pairs)
        p, sign = ca.SX.sym("p", n), ca.SX.sym("sign", c)
        own = inlined(contacts.directions(o.model.tree), o.model, {"p": p, "sign": sign})["frames"]
        self.signs = ca.Function("signs", [p, o.model.alpha], [rows_at(o.model, p)["sign"]])
        self.own = ca.Function("own", [p, sign, o.model.alpha], [own])

    def __call__(self, p: Any, start: Any, alpha: Any) -> tuple[Any, Any]:
        signs = np.array(self.signs(start, alpha)).ravel()
        return np.array(self.o.along(p, signs, alpha)), np.array(self.own(p, signs, alpha))
