"""Columns of the regressor for the base parameters: an independent set (Gautier 1991)."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.excite.envelope import Envelope
from diffpbd.runtime.model.robot import Robot

__all__ = ["IntArray", "base_columns"]

IntArray: TypeAlias = npt.NDArray[np.intp]

RANDOM_STATES = 400
"""[1] Random states for finding independent columns: several times more rows than any arm has parameters."""
RANK = 1e-8
"""[1] Relative residual of a column after projection on those before it, below which it depends on them; and length of a
column, relative to the longest, below which it is zero."""


def base_columns(robot: Robot, envelope: Envelope) -> IntArray:
    """Columns of the regressor that do not depend on those before them: those of the base parameters."""
    from scipy.linalg import qr

    rng = np.random.default_rng(0)
    n = robot.n
    q = envelope.lower + rng.random((RANDOM_STATES, n)) * (envelope.upper - envelope.lower)
    dq = rng.uniform(-1.0, 1.0, (RANDOM_STATES, n)) * envelope.speed
    ddq = rng.uniform(-1.0, 1.0, (RANDOM_STATES, n)) * envelope.speed * 2.0 * np.pi
    Y = robot.regressor(q, dq, ddq, envelope.alpha).reshape(RANDOM_STATES * n, -1)
    R = qr(Y, mode="r")[0]
    length = np.linalg.norm(Y, axis=0)
    independent = (np.abs(np.diag(R)) > RANK * length) & (length > RANK * length.max())
    return np.asarray(np.flatnonzero(independent), dtype=np.intp)
