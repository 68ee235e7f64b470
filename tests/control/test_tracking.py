"""The law that follows a motion: its way there, its pieces, its end, what it refuses; and on the other arm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.arms.bench import Bench
from support.robots import loaded

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.control.laws.track import PEAK, SETTLE, TrackController
from diffpbd.runtime.loop.configuration import Configuration, limits_of
from diffpbd.runtime.loop.run import Run, RunOptions
from diffpbd.runtime.loop.stopping import Reason
from diffpbd.runtime.loop.supervisor import Settings

JOINTS = ("a", "b")
TIME = np.linspace(0.0, 2.0, 41)
WAVE = np.column_stack([0.3 * (1 - np.cos(np.pi * TIME)), -0.2 * (1 - np.cos(2 * np.pi * TIME))])
RATE = np.column_stack([0.3 * np.pi * np.sin(np.pi * TIME), -0.4 * np.pi * np.sin(2 * np.pi * TIME)])


def nothing(q: np.ndarray, dq: np.ndarray, ddq: np.ndarray) -> np.ndarray:
    return np.zeros_like(q)


def settings(**changed: Any) -> dict[str, Any]:
    reference = {"time": (TIME + 7.0).tolist(), "q": WAVE.tolist(), "dq": RATE.tolist()}
    return {
        "name": "track", "reference": reference, "stiffness": [50.0, 20.0], "damping": [5.0, 2.0],
        "goal_speed": 0.5, "reach": None, **changed,
    }  # fmt: skip


def started(q: list[float], **changed: Any) -> TrackController:
    law = TrackController(settings(**changed), nothing, JOINTS)
    law.start(np.array(q))
    return law


def test_the_way_to_the_first_sample_is_smooth_and_no_quicker_than_asked() -> None:
    law = started([0.4, -0.1])
    takes = PEAK * 0.4 / 0.5
    times = np.linspace(0.0, takes + SETTLE, 4001)
    q, dq, ddq = (np.array(rows) for rows in zip(*map(law.reference, times), strict=True))
    np.testing.assert_allclose(q[[0, -1]], [[0.4, -0.1], [0.0, 0.0]], atol=1e-15)
    assert np.abs(dq).max() == pytest.approx(0.5, rel=1e-5)
    np.testing.assert_allclose(np.gradient(q, times, axis=0)[2:-2], dq[2:-2], atol=2e-3)
    np.testing.assert_allclose(np.gradient(dq, times, axis=0)[2:-2], ddq[2:-2], atol=2e-2)
    assert (dq[times > takes] == 0.0).all()


def test_between_samples_positions_and_rates_go_on_smoothly() -> None:
    law = started([0.0, 0.0])
    for since in (1e-9, 0.01, 0.777, 1.2345, 1.999):
        q, dq, ddq = law.reference(SETTLE + since)
        exact = [0.3 * (1 - np.cos(np.pi * since)), -0.2 * (1 - np.cos(2 * np.pi * since))]
        np.testing.assert_allclose(q, exact, atol=2e-5)
        np.testing.assert_allclose(
            dq, [0.3 * np.pi * np.sin(np.pi * since), -0.4 * np.pi * np.sin(2 * np.pi * since)], atol=1.7e-2
        )
        wanted = [0.3 * np.pi**2 * np.cos(np.pi * since), -0.8 * np.pi**2 * np.cos(2 * np.pi * since)]
        np.testing.assert_allclose(ddq, wanted, atol=0.7 if since in (1e-9, 0.01, 1.999) else 0.15)


def test_it_is_finished_after_its_end_and_holds_the_last_sample() -> None:
    law = started([0.0, 0.0])
    end = SETTLE + 2.0 + SETTLE
    assert not law.finished(end - 1e-3) and law.finished(end)
    q, dq, ddq = law.reference(end + 5.0)
    np.testing.assert_array_equal(q, WAVE[-1])
    assert (dq == 0.0).all() and (ddq == 0.0).all()


def test_the_torque_is_the_models_and_the_springs() -> None:
    seen = []

    def model(q: np.ndarray, dq: np.ndarray, ddq: np.ndarray) -> np.ndarray:
        seen.append((q, dq, ddq))
        return np.array([7.0, 8.0])

    law = TrackController(settings(), model, JOINTS)
    law.start(np.zeros(2))
    time = SETTLE + 0.3
    q, dq, ddq = law.reference(time)
    u = law.output(time, q - [0.1, 0.2], dq + [0.3, -0.4])
    np.testing.assert_allclose(u, [7.0 + 50.0 * 0.1 - 5.0 * 0.3, 8.0 + 20.0 * 0.2 + 2.0 * 0.4], atol=1e-12)
    for mine, its in zip(seen[0], (q, dq, ddq), strict=True):
        np.testing.assert_array_equal(mine, its)
    np.testing.assert_array_equal(law.expected(time), q)


def test_a_start_far_from_the_motion_is_refused() -> None:
    with pytest.raises(InputError, match=r"b: the motion begins at -?0 rad, 0.21 from the start pose's -0.21"):
        started([0.1, -0.21], reach=0.2)
    started([0.19, -0.19], reach=0.2)


@pytest.mark.thorough
def test_it_follows_a_motion_on_a_baxter() -> None:
    pytest.importorskip("pinocchio")
    from support.arms.bench_baxter import BenchBaxter

    robot = loaded("baxter_bare")
    rest = np.array([0.1, -0.55, 0.1, 0.9, 0.0, 0.8, 0.0])
    time = np.arange(0.0, 3.005, 0.01)
    wave = 0.5 * (1 - np.cos(2 * np.pi * time / 3.0))[:, None] * [0.3, -0.25, 0.3, 0.25, 0.4, -0.3, 0.4]
    law = {
        "name": "track", "stiffness": [60.0, 60.0, 40.0, 40.0, 10.0, 10.0, 5.0], "damping": [6.0, 6.0, 3.0, 3.0, 0.4, 0.4, 0.1],
        "goal_speed": 0.4, "reach": 0.2,
        "reference": {"time": time.tolist(), "q": (rest + wave).tolist(), "dq": np.gradient(wave, time, axis=0).tolist()},
    }  # fmt: skip
    alpha = robot.alpha.vector({"spring.stiffness.left_s1": 24.0, "spring.rest.left_s1": -1.514})
    configuration = Configuration(
        robot.name, robot.manifest.abi_hash, robot.joints, law, GravityOwner.MODEL, alpha, limits_of(robot),
        Settings(0.01, ramp=0.2),
    )  # fmt: skip
    urdf = Path(__file__).parents[2] / "diffpbd" / "codegen" / "robots" / "baxter_bare.urdf"
    arm = BenchBaxter(str(urdf), configuration.limits, rest.tolist(), Bench(), rate=100.0)
    ran: list[tuple[float, np.ndarray]] = []
    supervisor = configuration.supervisor(robot)
    run = Run(arm, supervisor, RunOptions(), observer=lambda tick: ran.append((tick.time, np.array(tick.position))))
    report = run.execute()
    assert report.reason is Reason.FINISHED, report
    assert 3.0 < ran[-1][0] < 5.0
    expected = supervisor.controller.expected
    assert max(np.abs(q - expected(t)).max() for t, q in ran) < 0.12
    assert np.ptp([q for _, q in ran], axis=0).min() > 0.15
