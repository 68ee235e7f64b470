"""Contacts that bounce on a robot with a closed loop: Newton's law with the loop's rows, and energy, by pinocchio's tree."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pinocchio as pin
from support.robots import CACHE, generated
from support.touching import pressing_five_bar

from diffpbd.runtime import Robot, load
from diffpbd.runtime.base.errors import SolverError

RADIUS, TIP = 0.02, np.array([0.5, 0.0, 0.0])
SINGULAR, SLOWEST = 0.05, 0.05
"""Singular value of the loop's rows, and [m/s] of the tip towards the table, below which a state is not taken."""
LOAD, SLIP = 10.0, 1e-5
"""[N], [m/s] Defaults of the smoothing."""
LATE = 500.0
"""[1/s] Error of a jump of rates, over the jump and the step: the rates change within the step besides; 350 are seen."""


@cache
def made(friction: float = 0.0) -> tuple[Robot, pin.Model]:
    mechanism = pressing_five_bar()
    mechanism.contacts[0] |= {"restitution": 0.5, "friction": friction}
    path = mechanism.write(CACHE / "touching", f"bouncing_five_bar_{round(10 * friction)}")
    return load(generated(str(path), functions=("joint_step",))), pin.buildModelFromUrdf(str(path.with_suffix(".urdf")))


def circles(q: Any) -> Any:
    """Pinocchio's coordinates of hinges without ends."""
    return np.stack([np.cos(q), np.sin(q)], axis=1).ravel()


def seen(q: Any) -> tuple[Any, Any, Any]:
    """Height of the tip's centre, Jacobians of that height and of the loop's two rows, and the mass matrix, of the tree."""
    model = made()[1]
    data = model.createData()
    pin.computeJointJacobians(model, data, circles(q))
    ends = []
    for name in ("j2", "j4"):
        joint = model.getJointId(name)
        J, arm = pin.getJointJacobian(model, data, joint, pin.LOCAL_WORLD_ALIGNED), data.oMi[joint].rotation @ TIP
        ends.append((data.oMi[joint].translation + arm, J[:3] + np.cross(J[3:].T, arm).T))
    (x, J), (other, K) = ends
    assert np.abs(x - other).max() < 1e-9, "the loop is closed"
    upper = np.triu(pin.crba(model, data, circles(q)))
    return x[2], np.vstack([J[2], (J - K)[[0, 2]]]), upper + np.triu(upper, 1).T


def energy(q: Any, v: Any) -> tuple[float, float]:
    model = made()[1]
    data = model.createData()
    return pin.computeKineticEnergy(model, data, circles(q), v), pin.computePotentialEnergy(model, data, circles(q))


def states(rng: np.random.Generator, count: int) -> Any:
    """Closed poses away from singular ones, with rates at which the tip falls."""
    robot = made()[0]
    while count:
        try:
            q = np.asarray(robot.close_loops(rng.uniform(-2.5, 2.5, 4), np.zeros(4)))
        except SolverError:
            continue
        height, J, M = seen(q)
        _, values, rows = np.linalg.svd(J[1:])
        v = rows[2:].T @ rng.normal(size=2) * 10.0 ** rng.uniform(-0.5, 0.7)
        v = -np.sign(J[0] @ v) * v
        if values[-1] < SINGULAR or J[0] @ v > -SLOWEST or np.linalg.norm(J[0] @ rows[2:].T) < SINGULAR:
            continue
        count -= 1
        yield q, v, height, J, M


def over(robot: Robot, height: float, **more: float) -> Any:
    """alpha with the table at this height."""
    return robot.alpha.vector({"plane.height.table": height} | {k.replace("__", "."): x for k, x in more.items()})


def test_newtons_law_holds_with_the_loop(count: Any) -> None:
    """Without friction: impulses keep the loop's rows and turn the tip's rate round, at a pose that stands still."""
    robot, rng, h = made()[0], np.random.default_rng(0), 1e-5
    for q, v, height, J, M in states(rng, count(25, 2000)):
        e, fall = rng.uniform(0.05, 1.0), -J[0] @ v
        table = height - RADIUS - rng.uniform(0.2, 0.8) * h * fall
        alpha = over(robot, table, contact__restitution__tip=e, contact__slip=1e-7)
        p, pd = (np.asarray(x) for x in robot.joint_step(q, v, np.zeros(4), h=h, alpha=alpha))
        whole = np.block([[M, J.T], [J, np.zeros((3, 3))]])
        wanted = np.linalg.solve(whole, np.concatenate([M @ v, [e * fall, 0.0, 0.0]]))[:4]
        assert np.abs(pd - wanted).max() < LATE * h * np.abs(wanted - v).max()
        assert np.abs(seen(p)[1][1:] @ pd).max() < 1e-9


def test_no_bounce_gives_energy(count: Any) -> None:
    """Bound the energy that a step with a bounce gains beyond the same step without a table: a third of the squared
    turn, not the hundredth that rows of loops may give elsewhere, and what smoothing may."""
    rng, bounces = np.random.default_rng(1), 0
    for k, (q, v, height, _, _) in enumerate(states(rng, count(25, 2000))):
        robot, h = made(0.4 * (k % 2))[0], 10.0 ** rng.uniform(-2.6, -2.0)
        table, e = height - RADIUS - 10.0 ** rng.uniform(-5.0, -1.5), rng.uniform(0.9, 1.0)
        for _ in range(4):
            met, free = (
                [np.asarray(x) for x in robot.joint_step(q, v, np.zeros(4), h=h, alpha=alpha)]
                for alpha in (over(robot, at, contact__restitution__tip=e) for at in (table, -50.0))
            )
            before, after, flown = energy(q, v), energy(*met), energy(*free)
            if seen(q)[1][0] @ v < -SLOWEST and 0.0 < seen(met[0])[1][0] @ met[1]:
                bounces += 1
                turned = np.square(h * np.maximum(np.abs(v), np.abs(met[1]))).sum()
                allowed = (1e-6 + turned / 3.0) * max(before[0], after[0]) + 2.0 * h * LOAD * SLIP
                assert sum(after) - sum(before) <= max(sum(flown) - sum(before), 0.0) + allowed
            q, v = met
    assert bounces >= count(8, 1000)
