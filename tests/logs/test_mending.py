"""Columns of a clock of their own."""

from __future__ import annotations

import numpy as np

from diffpbd.runtime.logs.mending import Mending, mended
from diffpbd.runtime.logs.recording import Recording

RATE = 100.0
FASTER = 1.03


def recorded(clock: float) -> Recording:
    """Ramps, which linear interpolation gives back exactly; the torque of `b` by a clock that counts `clock` s each second."""
    time = np.arange(400) / RATE
    q, tau = np.stack([time, time], 1), np.stack([time, time / clock], 1)
    return Recording("r.csv", time, ("a", "b"), q, None, None, tau)


def test_factors_of_a_quantity_and_of_its_column_multiply_and_no_sample_beyond_the_end_is_made_up() -> None:
    r = mended(recorded(1.01 * FASTER), Mending(stretch={"tau": 1.01, "tau_b": FASTER}))
    assert r.tau is not None and len(r) == np.floor(3.99 * RATE / (1.01 * FASTER)) + 1
    np.testing.assert_allclose(r.tau[:, 1], r.time, atol=1e-12)
    np.testing.assert_allclose(r.tau[:, 0], 1.01 * r.time, atol=1e-12)
