"""A push is a push: arms of the reality bench, pushed at the hand at once, and led into a wall."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

pytest.importorskip("pinocchio")
pytest.importorskip("mujoco")

from support.arms.bench import Bench
from support.arms.bench_runs import run
from support.arms.sensors import Filtered
from support.reality.hand_pushes import PUSHED, Pushed, pushed, walled

from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.interface.controller import Mode
from diffpbd.runtime.loop.braking import YIELD_SHARE
from diffpbd.runtime.loop.reflexes import Reflex

WALL = 0.006
"""s from the touch of a wall of 75 N/mm to the stop, at 1 kHz and 0.5 m/s, where speeds are not filtered."""


def check(seen: list[Pushed], law: str) -> None:
    """No push ends as SPEED; a hand may lead a limp arm to a joint's limit."""
    seen = [one for one in seen if not one.early]
    allowed = (Reflex.POSITION,) if law == "gravity" else ()
    for one in seen:
        assert one.right or one.report.reflex in allowed, (one.force, one.found, str(one.report))
        assert one.yielded <= YIELD_SHARE + 0.05  # the rate limit spreads torques over the joints
        assert one.report.reflex not in PUSHED or "gave way" in one.report.ending or one.yielded == 0.0
    assert len(seen) > 1


@pytest.mark.thorough("1000", "ur5e", "track")
@pytest.mark.parametrize("rate", [100.0, 250.0, 1000.0])
@pytest.mark.parametrize("law", ["gravity", "impedance", "track"])
@pytest.mark.parametrize("name", ["baxter", "fr3", "ur5e"], ids=lambda name: f"a_{name}")
def test_a_push_is_no_speed(name: str, law: str, rate: float, count: Callable[[int, int], int]) -> None:
    """15 to 40 N, friction 0.3 to 3 times the model's, a kilogram more, states up to 10 ms old."""
    seen = [pushed(name, law, rate, seed) for seed in range(count(3, 20))]
    check(seen, law)
    assert name != "baxter" or any(one.report.reflex is Reflex.CONTACT for one in seen)


@pytest.mark.thorough("250")
@pytest.mark.parametrize("law, rate", [("cartesian", 100.0), ("cartesian", 250.0)])
def test_under_laws_with_the_model(law: str, rate: float, count: Callable[[int, int], int]) -> None:
    check([pushed("baxter", law, rate, seed) for seed in range(count(3, 8))], law)


@pytest.mark.parametrize("joint", [0, 1])
def test_a_wall_is_found_within_milliseconds(joint: int) -> None:
    """With noisy speeds; 75 N/mm at 0.5 m/s. By the difference of speeds over 0.03 s it took 6 and 10 ms, once as SPEED."""
    hit = walled("baxter", joint, 1000.0)
    assert hit.name == "CONTACT" and hit.found <= WALL + 1e-9 and 0.4 < hit.speed < 0.6, hit


@pytest.mark.thorough
@pytest.mark.parametrize("rate, within", [(1000.0, 0.018), (250.0, 0.025), (100.0, 0.03)])
@pytest.mark.parametrize("name", ["baxter", "fr3", "ur5e"])
def test_a_wall_is_a_contact_on_every_arm(name: str, rate: float, within: float) -> None:
    for lag in (0.0, 0.012):
        for joint in (0, 1):
            hit = walled(name, joint, rate, filter=lag)
            assert hit.name == "CONTACT" and hit.found <= within + 1e-9, hit


OWN: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "shoves one joint": lambda dq: np.array([35.0, 0.0]),
    "shoves the other": lambda dq: np.array([0.0, 12.0]),
    "shakes": lambda dq: np.array([3.0 - 300.0 * dq[0], 0.0]),
    "runs away": lambda dq: np.array([0.0, 1.0 + 8.0 * dq[1]]),
}
"""Torques [N·m] of laws that no arm should have."""


class Own:
    """One of them, from 0.3 s on."""

    mode = Mode.TORQUE

    def __init__(self, torque: Callable[[np.ndarray], np.ndarray]) -> None:
        self._torque = torque

    def start(self, q: np.ndarray) -> None: ...

    def output(self, time: float, q: np.ndarray, dq: np.ndarray) -> np.ndarray:
        return self._torque(dq) * (time > 0.3)

    def close(self) -> None: ...


@pytest.mark.parametrize("friction", [0.3, 1.0])
@pytest.mark.parametrize("states", [250.0, 1000.0])
@pytest.mark.parametrize("law", list(OWN))
def test_a_speed_of_the_law_is_no_push(law: str, states: float, friction: float) -> None:
    bench = Bench(coulomb=(0.8 * friction, 0.3 * friction), viscous=(0.7 * friction, 0.2 * friction), fault=Filtered())
    report, _ = run(Own(OWN[law]), bench=bench, owner=GravityOwner.MODEL, states=states, rate=states)
    assert report.reflex is Reflex.SPEED, report
