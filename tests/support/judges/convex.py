"""The identification's convex twin: the same cost over pseudo-inertia matrices, solved as a conic problem by Clarabel."""

from __future__ import annotations

import numpy as np
import pytest

from diffpbd.runtime import Robot
from diffpbd.runtime.identify.columns.design import KINDS, LINK_COLUMNS
from diffpbd.runtime.identify.torque.problem import Problem


def convex_optimum(robot: Robot, problem: Problem) -> float:
    """Least objective over positive definite pseudo-inertias and the bounds of the joint parameters."""
    cp = pytest.importorskip("cvxpy", reason="cvxpy with Clarabel is not installed")
    u, core = problem.unknowns, problem.core
    fixed = u.phi_at(u.start)
    bodies = {body.name: cp.Variable((4, 4), symmetric=True, name=body.name) for body in u.bodies}
    parts, divergence = [], 0.0
    for body in u.bodies:
        J = bodies[body.name]
        inverse = np.linalg.inv(body.reference)
        relative = inverse @ J @ inverse.T
        divergence += cp.trace(relative) - cp.log_det(relative) - 4.0
    for link in robot.links:
        J = bodies[link]
        S = J[:3, :3]
        moment = cp.trace(S) * np.eye(3) - S
        parts += [J[3, 3], J[0, 3], J[1, 3], J[2, 3]]
        parts += [moment[r, c] for r, c in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))]
    constraints = []
    for kind in KINDS:
        for joint in robot.joints:
            name = f"{kind}.{joint}"
            if name not in u.labels:
                parts.append(fixed[len(parts)])
                continue
            variable = cp.Variable(name=name)
            low = u.lower[u.labels.index(name)]
            if np.isfinite(low):
                constraints.append(variable >= low)
            parts.append(variable)
    assert len(parts) == LINK_COLUMNS * len(robot.links) + len(KINDS) * robot.n
    phi = cp.hstack([parts[k] for k in core.columns])
    cost = cp.sum_squares(core.rows @ phi - core.rights) / 2 + problem.prior * divergence
    found = cp.Problem(cp.Minimize(cost), constraints)
    found.solve(solver="CLARABEL")
    assert found.status == "optimal"
    return float(found.value)
