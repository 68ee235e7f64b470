"""Many contacts are a table: the same numbers as a text for each one, and C that hardly grows with their number."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import touching
from support.mechanisms import Mechanism, in_cache
from support.robots import generated
from support.touching import TABLE, contact, presser

from diffpbd.codegen.graph.model import alike
from diffpbd.runtime import Robot, load

FUNCTIONS = ("joint_step", "jac_alpha_joint_step")
H = 0.005


def pressing(count: int) -> Mechanism:
    """Two hinges whose last link has spheres along it, some without friction, some that turn with it, over a table and a
    ball."""
    plain = presser()
    points = [(0.4 * (k + 1) / count, 0.01 * (k % 5 - 2), 0.0) for k in range(count)]
    spheres = [
        contact(
            f"c{k}",
            "fore",
            points[k],
            0.01 + 0.001 * (k % 3),
            ["table", "post"] if k % 5 == 0 else "table",
            0.3 * (k % 3 > 0),
        )
        | ({"torsional": 0.005} if k % 12 == 4 else {})
        for k in range(count)
    ]
    plain.planes[:] = [TABLE]
    plain.contacts[:] = [*spheres, {"name": "post", "link": "world", "point": (0.3, 0.1, 0.0), "radius": 0.09}]
    return plain


def thrown() -> tuple[Mechanism, str]:
    """A free box with a sphere in each corner, and two more."""
    made, line = touching.box("floating", 0.5, True)
    made.contacts.append(contact("more", "box", (0.01, 0.0, 0.0), 0.02))
    made.contacts.append(contact("last", "box", (0.0, 0.01, 0.0), 0.03))
    return made, line


def folder(made: Any, name: str, several: int, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Its folder, with texts for up to so many contacts."""
    monkeypatch.setattr(alike, "SEVERAL", several)
    return generated(str(in_cache(made, f"{name}_{several}")), functions=FUNCTIONS)


@cache
def states(robot: Robot, count: int) -> list[tuple[Any, Any, Any]]:
    """Some where anything touches."""
    rng, found = np.random.default_rng(5), []
    while len(found) < count:
        p = np.array([0.6, -1.5]) + rng.standard_normal(2)
        if -1e-3 < robot.contact_gap(p).min() < 2e-3:
            found.append((p, 2.0 * rng.standard_normal(2), 4.0 * rng.standard_normal(2)))
    return found


def alike_steps(one: Robot, other: Robot, state: tuple[Any, Any, Any]) -> float:
    """Compares what both say of a step, and returns the largest force of a contact."""
    np.testing.assert_allclose(one.contact_jacobian(state[0]), other.contact_jacobian(state[0]), rtol=0, atol=1e-14)
    for a, b in zip(one.joint_step(*state, H), other.joint_step(*state, H), strict=True):
        np.testing.assert_array_equal(a, b)  # an ulp of p moves derivatives of a stiff one by up to 1e-7
    force = one.contact_force(*state, H).contact_force
    np.testing.assert_allclose(
        force, other.contact_force(*state, H).contact_force, rtol=0, atol=1e-8 * (1 + np.abs(force).max())
    )
    bars = {"p_next_bar": state[1], "pd_next_bar": state[2]}
    for name, more in (("jac_joint_step", {}), ("jac_alpha_joint_step", {}), ("vjp_joint_step", bars)):
        for a, b in zip(getattr(one, name)(*state, H, **more), getattr(other, name)(*state, H, **more), strict=True):
            scale = 1.0 + np.abs(a).max(initial=0.0)
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-13 * scale, err_msg=name)
    return float(np.abs(force).max())


def test_table_and_texts_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, table = (load(folder(pressing(12), "pressing", n, monkeypatch)) for n in (99, 8))
    forces = [alike_steps(whole, table, state) for state in states(whole, 12)]
    assert sum(force > 1.0 for force in forces) >= 4, forces


def test_table_of_a_floating_base(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, table = (load(folder(thrown(), "thrown", n, monkeypatch)) for n in (99, 8))
    p, pd, u = np.array([0.0, 0.0, 0.06, 1.0, 0.0, 0.0, 0.0]), np.array([3.0, 0.4, -0.3, 0.0, 0.0, 1.5]), np.zeros(6)
    worst = 0.0
    for _ in range(12):
        worst = max(worst, float(np.abs(whole.contact_force(p, pd, u, H).contact_force).max()))
        ends = whole.joint_step(p, pd, u, H)
        for a, b in zip(ends, table.joint_step(p, pd, u, H), strict=True):
            np.testing.assert_array_equal(a, b)
        for a, b in zip(whole.jac_joint_step(p, pd, u, H), table.jac_joint_step(p, pd, u, H), strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-11 * (1 + np.abs(a).max()))
        p, pd = ends
    assert worst > 1.0


def test_c_grows_by_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """One contact more, in the step's C and in derivatives [bytes]."""
    model, derivatives = [], []
    for count in (12, 36):
        source = folder(pressing(count), f"grown{count}", 8, monkeypatch) / "src"
        model.append((source / "constrained_step_model.h").stat().st_size)
        derivatives.append((source / "derivatives.c").stat().st_size)
    assert (model[1] - model[0]) / 24 < 3000, model
    assert (derivatives[1] - derivatives[0]) / 24 < 20000, derivatives
