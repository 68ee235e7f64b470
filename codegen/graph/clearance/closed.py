"""Poses in which a robot's loops are closed, many at once: pairs of links are judged in poses that the robot can take."""

from __future__ import annotations

from typing import Final

import casadi as ca
import numpy as np
import numpy.typing as npt

from diffpbd.codegen.graph.functions.functions import Graphs
from diffpbd.codegen.graph.loops.poses import CUT_OFF, FAR
from diffpbd.codegen.graph.solved.floating import PLACE
from diffpbd.codegen.joint_space.loops import closures

Array = npt.NDArray[np.float64]

ITERATIONS: Final = 60
"""Gauss-Newton's; those that take more are few, and dropped."""
CLOSED: Final = 1e-6
"""[m, 1] Largest row of a pose that counts as closed: a thousandth of what distances are asked to."""


class Closing:
    """Moves poses (count, n_p) to the nearest closed ones within the limits `low`, `high` (n_p less a base's place)."""

    def __init__(self, graphs: Graphs, low: Array, high: Array) -> None:
        self._first = PLACE if graphs.model.robot.floating else 0
        self._low, self._high = low, high
        self._rows: ca.Function | None = None
        if graphs.model.tree.closures:
            rows = graphs.program(closures.rows(graphs.model.tree, True), p=graphs.p)
            alpha = [entry.default for entry in graphs.model.entries]
            found = ca.substitute([rows["g"], rows["A"]], [graphs.alpha], [ca.DM(alpha)])
            self._rows = ca.Function("rows", [graphs.p], found)

    def __call__(self, poses: Array) -> tuple[Array, npt.NDArray[np.bool_]]:
        """The poses, and which of them are closed; those of a robot without loops as they are."""
        if self._rows is None:
            return poses, np.ones(len(poses), dtype=bool)
        moved, joints = poses.copy(), slice(max(self._first - 1, 0), None)
        for _ in range(ITERATIONS):
            g, A = self._at(moved)
            if np.abs(g).max() < CLOSED:
                break
            change = -(np.linalg.pinv(A, rcond=CUT_OFF) @ g[:, :, None])[:, joints, 0]
            change *= np.minimum(1.0, FAR / np.maximum(np.abs(change).max(axis=1, keepdims=True), FAR))
            moved[:, self._first :] = np.clip(moved[:, self._first :] + change, self._low, self._high)
        return moved, np.abs(self._at(moved)[0]).max(axis=1) < CLOSED

    def _at(self, poses: Array) -> tuple[Array, Array]:
        """All rows (count, m) and their gradients (count, m, n)."""
        assert self._rows is not None
        g, A = (found.full() for found in self._rows(poses.T))
        return g.T, np.stack(np.hsplit(A, len(poses)))
