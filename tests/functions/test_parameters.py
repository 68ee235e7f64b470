from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from support.robots import loaded

from diffpbd.runtime import InputError, Robot


def test_layout(twin: Robot) -> None:
    alpha = twin.alpha
    assert alpha.names == (
        "gravity.x",
        "payload.mass",
        "friction.viscous.a",
        "spring.stiffness.a",
        "spring.stiffness.b",
    )
    assert alpha.defaults.tolist() == [0.5, 0, 0, 4, 9]
    assert alpha.lower.tolist() == [-np.inf, 0, 0, 0, 0] and (alpha.upper == np.inf).all()
    assert alpha.units[0] == "m/s^2" and len(alpha) == 5 and "payload.mass" in alpha
    assert alpha.indices("spring") == (3, 4) and alpha.indices("spring.stiffness.b") == (4,)


def test_vectors_by_name(twin: Robot) -> None:
    vector = twin.alpha.vector({"spring.stiffness.b": 1})
    assert vector.tolist() == [0.5, 0, 0, 4, 1]
    assert twin.alpha.vector({"gravity.x": 1}, base=vector).tolist() == [1, 0, 0, 4, 1]
    assert twin.alpha.by_name(vector)["spring.stiffness.b"] == 1.0
    assert twin.alpha.defaults.tolist() == [0.5, 0, 0, 4, 9]


def test_vectors_from_files(twin: Robot, tmp_path: Path) -> None:
    plain, identified = tmp_path / "plain.json", tmp_path / "params.json"
    plain.write_text('{"payload.mass": 2}', encoding="utf-8")
    entry = {"value": 2.0, "std": 0.1, "unit": "kg"}
    identified.write_text(json.dumps({"status": "ok", "parameters": {"payload.mass": entry}}), encoding="utf-8")
    assert twin.alpha.vector(plain)[1] == twin.alpha.vector(str(identified))[1] == 2.0


def test_whole_vectors_are_held_to_the_bounds_of_names() -> None:
    """But for a little, because differences step over a bound; not where a step divides by the entry."""
    robot = loaded("double_pendulum")
    zero, names = np.zeros(2), robot.alpha.names

    def given(name: str, value: float) -> np.ndarray:
        alpha = robot.alpha.defaults
        alpha[names.index(name)] = value
        return alpha

    hinge = robot.joints[0]
    for name, value, word in (
        ("payload.mass", -0.01, "payload.mass: expected at least 0 kg, found -0.01"),
        (f"friction.viscous.{hinge}", -2e-3, "expected at least 0"),
        (f"friction.transition_velocity.{hinge}", 0.0, "expected at least 0.0001 rad/s, found 0"),
        (f"friction.transition_velocity.{hinge}", 11.0, "expected at most 10 rad/s, found 11"),
    ):
        alpha = given(name, value)
        for way in (
            lambda alpha=alpha: robot.joint_step(zero, zero, zero, alpha=alpha),
            lambda alpha=alpha: robot.gravity(np.zeros((2, 2)), alpha=np.array([robot.alpha.defaults, alpha])),
            lambda alpha=alpha: robot.rollout(zero, zero, np.zeros((2, 2)), alpha=list(alpha)),
        ):
            with pytest.raises(InputError, match=re.escape(word)):
                way()
    robot.joint_step(zero, zero, zero, alpha=given("payload.mass", -1e-3))
    robot.gravity(zero, alpha=given("gravity.z", -1e6))  # has no bound
