"""The search for states that tosses begin with: how far it looks."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from diffpbd.runtime.identify.contact.toss_solve import FARTHEST, solve
from diffpbd.runtime.identify.contact.toss_windows import BODY, Linear, States


class Tempting:
    """Two windows, followed the better the further their rates are from the recorded ones; their slopes ask for all at once."""

    count, residuals = 2, np.full(2, 60.0)

    def __init__(self) -> None:
        self.asked: list[States] = []

    def squares(self, _alpha: Any, states: States) -> Any:
        self.asked.append(states)
        return 1e6 / (1.0 + np.abs(states.pd).sum(axis=1))

    def linear(self, _parameters: Any, theta: Any, _states: States) -> Linear:
        size = len(theta) + 2 * BODY
        gradient = np.zeros((2, size))
        gradient[:, -BODY:] = [[-1.0], [1.0]]
        return Linear(np.zeros(2), gradient, np.tile(1e-6 * np.eye(size), (2, 1, 1)))


class Free:
    lower, upper = np.array([-1.0]), np.array([1.0])

    def alpha(self, theta: Any) -> Any:
        return theta


def test_trial_states_stay_near() -> None:
    windows = Tempting()
    still = np.zeros((2, 7))
    still[:, 3] = 1.0
    found = solve(cast(Any, windows), cast(Any, Free()), np.zeros(1), States(still, np.zeros((2, BODY))), 40)
    rates = np.array([states.pd for states in windows.asked])
    assert np.all(np.abs(rates) <= 10.0 * FARTHEST[BODY:] * (1.0 + 1e-12))
    assert np.abs(rates[1]).max() <= FARTHEST[BODY:].max()  # the first trial
    assert np.abs(found.states.pd).max() > 2.0 * FARTHEST[BODY]  # and they do move on
