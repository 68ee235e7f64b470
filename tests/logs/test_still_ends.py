"""`--trim still`: ends of a log at which nothing moves are cut, as long as each log has them, and nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from support.motions import motion
from support.robots import generated, loaded

from diffpbd.runtime.cli import cli
from diffpbd.runtime.identify import identify
from diffpbd.runtime.logs.csv import Log, write_log
from diffpbd.runtime.logs.processing import Processing, Samples, process
from diffpbd.runtime.logs.still_ends import HELD, SLOW, still_ends

RATE = 100.0
TRUTH = {"friction.coulomb.shoulder": 0.4, "friction.viscous.elbow": 0.2, "friction.coulomb.elbow": 0.3}


def held(seed: int, start: float, end: float, stiction: float = 0.8) -> Log:
    """A motion between rests of so many seconds, in which a joint is held by so much more torque [N·m]."""
    robot = loaded("double_pendulum")
    moved = motion(robot, TRUTH, seed=seed, seconds=4.0, noise=0.02)
    first, last = round(start * RATE), round(end * RATE)
    fade = np.concatenate([np.zeros(first), np.ones(len(moved.time)), np.zeros(last)])[:, None]
    at = np.clip(np.arange(first + len(moved.time) + last) - first, 0, len(moved.time) - 1)
    q, dq, ddq = moved.q[at], moved.dq[at] * fade, np.asarray(moved.ddq)[at] * fade
    tau = robot.inverse_dynamics(q, dq, ddq, robot.alpha.vector(TRUTH)) + stiction * (1.0 - fade)
    tau += 0.02 * np.random.default_rng(seed).normal(size=tau.shape)
    return Log(np.arange(len(q)) / RATE, moved.joints, q, dq, ddq, tau)


def samples(still: bool) -> list[Samples]:
    rests = ((3.0, 1.0), (0.0, 5.0), (0.5, 0.0))
    processing = Processing(cutoff=None, still=still)
    return [process(f"run {k}", held(k, *rest), processing)[0] for k, rest in enumerate(rests)]


def test_each_log_loses_its_own_ends() -> None:
    for (first, last), part in zip(((3.0, 1.0), (0.0, 5.0), (0.5, 0.0)), samples(True), strict=True):
        time = part.trimmed(part.time)
        assert time[0] == pytest.approx(first, abs=0.05) and len(part) == pytest.approx(400, abs=5)
        assert part.smooth(part.tau).shape == part.trimmed(part.q).shape == (len(part), 2)
        assert (f"still ends cut: {first:.3g}" in part.notes[-1]) or part.notes[-1].endswith("at its end")
        assert part.time[-1] - time[-1] == pytest.approx(last, abs=0.05)
    assert all(len(part) == len(part.time) and not any("still" in n for n in part.notes) for part in samples(False))
    assert "still ends cut" in samples(True)[0].processing.describe()


def test_what_holds_an_arm_at_rest_no_longer_hides_in_its_parameters() -> None:
    kept, cut = (identify(loaded("double_pendulum"), samples(still), ["friction"]) for still in (False, True))
    for e in cut.estimates:
        assert e.value == pytest.approx(TRUTH.get(e.name, 0.0), abs=0.02), e.name
    assert abs(kept.parameters["torque_offset.shoulder"]) > 0.1


@pytest.mark.parametrize(("share", "start"), [(0.95, 200), (1.05, 0)])
def test_how_slow_is_still(share: float, start: int) -> None:
    """A joint that creeps below or above the threshold before it moves."""
    dq = np.concatenate([np.full(200, share * SLOW), np.full(200, 1.0)])[:, None]
    q = np.cumsum(dq, axis=0) / RATE
    assert still_ends(q, dq, RATE) == (start, 0)


@pytest.mark.parametrize(("seconds", "start"), [(0.99 * HELD, 300), (1.01 * HELD, 100)])
def test_a_spike_is_no_motion(seconds: float, start: int) -> None:
    rate = 1000.0
    dq = np.zeros((600, 1))
    dq[100 : 100 + round(seconds * rate)], dq[300:] = 0.5, 1.0
    assert still_ends(np.cumsum(dq, axis=0) / rate, dq, rate) == (start, 0)


def test_nothing_moves_or_too_little() -> None:
    log = held(0, 1.0, 0.0)
    rest = Log(
        log.time, log.joints, 0.0 * log.q, 1e-4 * np.sin(50.0 * log.time)[:, None] + 0.0 * log.q, 0.0 * log.q, log.tau
    )
    (part,) = process("rest", rest, Processing(cutoff=None, still=True))
    assert len(part) == len(part.time) and part.notes[-1] == "no joint moves: its ends are kept"


def test_the_command_takes_the_word(tmp_path: Path) -> None:
    write_log(tmp_path / "run.csv", held(0, 2.0, 1.0))
    words = ["log", str(tmp_path / "run.csv"), "--cutoff", "0", "--trim"]
    done = CliRunner().invoke(cli, [*words, "still"])
    assert done.exit_code == 0 and "still ends cut: 2" in done.output, done.output
    assert CliRunner().invoke(cli, [*words, "0.2"]).exit_code == 0
    wrong = CliRunner().invoke(cli, [*words, "long"])
    assert wrong.exit_code == 2 and "long is neither a number of seconds nor `still`" in wrong.output
    words = ["identify", str(generated("double_pendulum")), str(tmp_path / "run.csv"), "--fit", "friction"]
    assert "still ends cut" in CliRunner().invoke(cli, [*words, "--trim", "still"]).output
