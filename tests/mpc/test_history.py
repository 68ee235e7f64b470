"""Which torque acted between two states."""

from __future__ import annotations

import numpy as np

from diffpbd.runtime.mpc.history import LENGTH, History

A, B, C = (np.array([value]) for value in (1.0, 3.0, -5.0))


def test_means_by_the_time_that_each_acted() -> None:
    history = History(A)
    history.begin(1.0, B)
    history.begin(2.0, C)
    assert history.mean(0.0, 1.0) == A
    assert history.mean(1.0, 2.0) == B
    assert history.mean(0.5, 1.5) == 2.0
    assert history.mean(0.5, 2.5) == (0.5 * 1.0 + 1.0 * 3.0 - 0.5 * 5.0) / 2.0
    assert history.mean(2.0, 9.0) == C
    assert history.mean(1.0, 1.0) is None and history.mean(2.0, 1.0) is None


def test_unknown_before_the_first() -> None:
    history = History(None)
    assert history.mean(0.0, 1.0) is None
    history.sent(B, 0.1)  # nothing to follow
    assert history.mean(0.0, 1.0) is None
    history.begin(1.0, A)
    assert history.mean(0.9, 2.0) is None
    assert history.mean(1.0, 2.0) == A
    for k in range(LENGTH):
        history.begin(2.0 + k, B)
    assert history.mean(1.5, 3.0) is None  # forgotten
    assert history.mean(2.0, 3.0) == B


def test_what_was_really_sent() -> None:
    history = History(A)
    history.begin(1.0, B)
    history.sent(C, None)
    assert history.mean(1.0, 2.0) == C
    history.sent(B, 0.5)  # a tick that the controller did not see
    assert history.mean(1.0, 2.0) == -1.0
    for bad in (1.5, 0.0, np.nan, np.inf):
        history.begin(bad, A)
    assert history.mean(1.0, 2.0) == -1.0
