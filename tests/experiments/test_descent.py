from __future__ import annotations

import numpy as np
import pytest

from experiments.descent import descend

CURVATURE = np.array([[3.0, 0.4], [0.4, 0.5]])


def bowl(scale: float) -> object:
    def loss(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        slope = x @ CURVATURE
        return scale * 0.5 * (x * slope).sum(axis=-1), scale * slope

    return loss


def test_the_first_step_is_the_rate_whatever_the_gradient() -> None:
    """Kingma and Ba 2015, section 2.1: bias correction makes it rate × sign, but for ε."""
    for scale in (1e-3, 1.0, 1e6):
        start = np.array([[2.0, -1.0], [-3.0, 4.0]])
        end = descend(bowl(scale), start, 0.1, iterations=1).end
        np.testing.assert_allclose(end, start - 0.1 * np.sign(start @ CURVATURE), rtol=1e-4)


def test_the_second_step_is_that_of_the_moments_by_hand() -> None:
    """f = x: gradients 1, 1, so both moments stay (1, 1) after bias correction and every step is the rate."""
    found = descend(lambda x: (x.sum(axis=-1), np.ones_like(x)), np.array([5.0]), 0.25, iterations=8)
    np.testing.assert_allclose(found.losses, 5.0 - 0.25 * np.arange(9), rtol=1e-7)
    signs = iter([1.0, -1.0, 1.0])  # gradients 1, −1: mean (0.09 − 0.1)/(1 − 0.81), square 1
    found = descend(lambda x: (x.sum(axis=-1), np.array([next(signs)])), np.array([0.0]), 1.0, iterations=2)
    assert found.end[0] == pytest.approx(-1.0 + 0.01 / 0.19, rel=1e-6)


def test_rows_end_at_the_minimum_alone_and_together() -> None:
    start = np.array([[2.0, -1.0], [0.3, 0.2]])
    both = descend(bowl(1.0), start, 0.05, iterations=400)
    assert both.losses.shape == (401, 2) and both.losses[-1].max() < 1e-3 < both.losses[0].min()
    for row, begin in enumerate(start):
        alone = descend(bowl(1.0), begin, 0.05, iterations=400).end
        np.testing.assert_allclose(alone, both.end[row], rtol=0, atol=1e-12)


def test_bounds_are_kept() -> None:
    found = descend(bowl(1.0), np.array([1.0, 2.0]), 0.5, low=0.25, iterations=60)
    assert (found.end == 0.25).all()
