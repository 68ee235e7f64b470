from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from diffpbd.runtime.logs.csv import Log
from diffpbd.runtime.logs.processing import Processing, names_of, process

RATE = 100.0


def sine(samples: int = 600, hertz: float = 0.5) -> Log:
    t = np.arange(samples) / RATE
    w = 2.0 * np.pi * hertz
    return Log(t, ("a",), np.sin(w * t)[:, None], w * np.cos(w * t)[:, None], None, np.cos(w * t)[:, None])


def test_no_lag_and_no_loss_below_the_cutoff() -> None:
    log = sine()
    (samples,) = process("run", log, Processing(cutoff=5.0, trim=1.0))
    middle = slice(100, -100)
    w = np.pi
    assert np.abs(samples.q - log.q)[middle].max() < 1e-4
    assert np.abs(samples.dq - log.dq)[middle].max() < 3e-4
    assert np.abs(samples.ddq + w**2 * log.q)[middle].max() < 3e-3 * w**2
    assert len(samples) == 400 and len(samples.smooth(log.tau)) == 400
    assert samples.trimmed(samples.time)[0] == pytest.approx(1.0)


def test_noise_above_the_cutoff_goes() -> None:
    log = sine()
    noisy = replace(log, q=log.q + 0.1 * np.sin(2.0 * np.pi * 30.0 * log.time)[:, None])
    (samples,) = process("run", noisy, Processing())
    assert np.abs(samples.q - log.q)[100:-100].max() < 2e-4


def test_gaps_split_a_log() -> None:
    log = sine(900)
    keep = np.r_[0:300, 310:330, 400:900]
    gappy = Log(log.time[keep], log.joints, log.q[keep], log.dq[keep], None, log.tau[keep])
    first, second = process("run", gappy, Processing())
    assert (len(first), len(second)) == (300, 500) and second.name == "run part 2"
    assert "between 2 gaps" in first.notes[0] and "20 samples" in first.notes[1]
    assert np.abs(second.dq - log.dq[400:900])[100:-100].max() < 1e-3


def test_short_gaps_are_closed_on_request() -> None:
    log = sine(900)
    keep = np.setdiff1d(np.arange(900), [100, 200, 201, *range(400, 440)])
    gappy = Log(log.time[keep], log.joints, log.q[keep], log.dq[keep], None, log.tau[keep])
    assert len(process("run", gappy, Processing(), breaks=[100])) == 2  # two parts are too short
    first, second = process("run", gappy, Processing(bridge=0.035), breaks=[100])
    assert (len(first), len(second)) == (400, 460) and "2 gaps of up to 0.035 s closed" in first.notes[0]
    assert np.abs(first.q - log.q[:400])[50:-50].max() < 1e-4


def test_uneven_steps_are_resampled_and_said() -> None:
    log = sine()
    t = log.time + 0.002 * np.sin(np.arange(600.0))
    w = np.pi
    uneven = Log(t, ("a",), np.sin(w * t)[:, None], w * np.cos(w * t)[:, None], None, np.cos(w * t)[:, None])
    (samples,) = process("run", uneven, Processing())
    assert "resampled at" in samples.notes[0]
    assert np.abs(samples.q[:, 0] - np.sin(w * samples.time))[100:-100].max() < 1e-4


def test_the_log_s_own_accelerations_are_used_and_said() -> None:
    log = replace(sine(), ddq=np.full((600, 1), 3.0))
    (samples,) = process("run", log, Processing())
    assert samples.ddq == pytest.approx(3.0) and "ddq columns" in samples.notes[0]


def test_the_processing_is_described() -> None:
    assert "order 4 at 5 Hz" in Processing().describe() and "1 s cut" in Processing(trim=1.0).describe()
    assert "no filter" in Processing(cutoff=None).describe()
    assert names_of(["a/x.csv", "b/x.csv", "c/y.csv"]) == ["a/x.csv", "b/x.csv", "y.csv"]
