"""The paper's robot design: the lengths of a double pendulum that follows a circle, by IPOPT through the generated step.

The closed loop of generated step and stiffness controller is one CasADi graph of the two lengths, so the gradient is exact.
The loss has other minima, where the arm does not reach the whole circle. What the paper leaves open is in `ASSUMPTIONS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np

from diffpbd.runtime.base import ipopt
from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.report.tables import number
from experiments.descent import descend
from experiments.one_step import JOINT, function_of

__all__ = ["ASSUMPTIONS", "PAPER", "Design", "Task", "Walk", "alpha_of_lengths", "improve", "summary"]

# The shipped pendulum: square aluminium tubes with a point mass at the end of the first, a ball at the end of the second.
TUBE = 0.821  # kg/m
WIDTH = 0.04  # m
ELBOW = 0.35  # kg
BALL = 0.25  # kg
BALL_MOMENT = 6.25e-5  # kg·m²
BUILT = 1.0
"""[m] Length of both tubes in the description; its tip frame is this far from the elbow."""

BOUNDS = ((0.5, 0.05), (4.0, 1.0))
"""[m] Shortest and longest l1, l2: well around what reaches the circle at all."""
OPTIONS = {"tol": 1e-6, "max_iter": 200, "hessian_approximation": "limited-memory"}
"""Of a loss of order one: lengths to a micrometre. Exact Hessians halve the iterations and take twice the time."""

ADAM_RATE = 0.02
"""[m] Learning rate: 0.3 m, about what the first length changes by, in 15 steps. The paper gives none for this experiment."""
PAPER = {"before": (3.0, 0.1, 51.716, 1.475), "after": (2.7026, 0.3074, 14.448, 0.368)}
"""l1 [m], l2 [m], loss, work [J] of the paper's table; its text says 2.707 and 0.302 m."""

ASSUMPTIONS = (
    "one turn of the circle in 3 s (--period), counter-clockwise, beginning at its farthest point",
    "the arm starts at rest and stretched towards that point",
    "gravity does not act: the arm moves in a horizontal plane (the controller has no gravity compensation)",
    "the shipped pendulum's masses: tubes of 0.821 kg/m, 0.35 kg at the elbow, 0.25 kg at the end, so links weigh with length",
    "no friction; the torque is held during a step of 10 ms",
    "the norm in the loss is the distance, not its square; work is the sum of angle change times torque of both joints",
)


@dataclass(frozen=True)
class Task:
    """Circle [m], its period [s], controller (N/m, N·s/m), weight of the work [1/J] and step [s]."""

    distance: float = 2.7
    radius: float = 0.3
    period: float = 3.0
    stiffness: float = 60.0
    damping: float = 6.0
    weight: float = 25.0
    h: float = 0.01
    heavier: float = 1.0
    """[1] All masses and inertias over those of the shipped pendulum."""
    gravity: float = 0.0
    """[m/s²] Along the arm as it starts."""

    @property
    def steps(self) -> int:
        """Steps of one turn."""
        return round(self.period / self.h)


@dataclass(frozen=True)
class Walk:
    """One turn with given lengths: angles (steps + 1, 2) [rad], torques and powers (steps, 2) [N·m, W], tip and elbow
    (steps + 1, 2) [m] in the plane of motion: along the stretched arm, and across."""

    lengths: FloatArray
    loss: float
    work: float
    angles: FloatArray
    torques: FloatArray
    powers: FloatArray
    tip: FloatArray
    elbow: FloatArray


@dataclass(frozen=True)
class Design:
    """Lengths before and after, the circle (steps + 1, 2) [m], and how the solver came there."""

    task: Task
    before: Walk
    after: Walk
    circle: FloatArray
    status: str
    iterations: int
    descent: FloatArray | None = None
    """Losses over ADAM's iterations from the same start, if it was asked for."""


def alpha_of_lengths(robot: Robot, lengths: Any, heavier: float = 1.0, gravity: float = 0.0) -> Any:
    """alpha (SX) of the shipped double pendulum with these tube lengths [m], masses times `heavier`, gravity [m/s²] along it.

    Needs the robot generated with `--symbolic origin,mass,com,inertia`; at (1 m, 1 m) it is the description's.
    """
    l1, l2 = lengths[0], lengths[1]
    values = casadi.SX(casadi.DM(robot.alpha.defaults))
    for link, length, end, end_moment in (("upper", l1, ELBOW, 0.0), ("lower", l2, BALL, BALL_MOMENT)):
        tube = TUBE * length
        mass = tube + end
        com = (tube * length / 2 + end * length) / mass
        across = tube * length**2 / 12 + tube * WIDTH**2 / 6 + end_moment
        across += tube * (length / 2 - com) ** 2 + end * (length - com) ** 2
        entries = {"mass": mass, "com": -com, "xx": across, "yy": across, "zz": tube * WIDTH**2 / 3 + end_moment}
        names = {
            "mass": f"mass.{link}",
            "com": f"com.{link}.z",
            **{k: f"inertia.{link}.{k}" for k in ("xx", "yy", "zz")},
        }
        for key, name in names.items():
            values[robot.alpha.index(name)] = entries[key] * (1.0 if key == "com" else heavier)
    values[robot.alpha.index("origin.elbow.z")] = -l1
    values[robot.alpha.index("gravity.z")] = -gravity
    return values


def improve(
    robot: Robot, task: Task, start: tuple[float, float] = (3.0, 0.1), progress: Callable[[str], None] | None = None,
    step: str = JOINT, adam: bool = False,
) -> Design:  # fmt: skip
    """Lengths of least loss Σ ‖p_ee − p_des‖ + weight Σ Δθ·τ over one turn by `step`, from `start` [m], by IPOPT; with `adam`
    also the curve of the paper's optimiser."""
    if "origin.elbow.z" not in robot.alpha or "mass.upper" not in robot.alpha:
        raise InputError(
            f"{robot.name}: its lengths are numbers in the generated code. Generate it with "
            "`diffpbd generate double_pendulum --symbolic origin,mass,com,inertia`."
        )
    if task.steps < 2:
        raise InputError(f"--period: expected at least two steps of {task.h:g} s, found {task.period:g} s.")
    lower, upper = (np.array(bound) for bound in BOUNDS)
    if not ((lower <= start) & (start <= upper)).all():
        raise InputError(f"--start: expected lengths from {lower} to {upper} m, found {start}.")
    turn = closed_loop(robot, task, step)
    before = walked(turn, np.array(start))
    if progress is not None:
        progress(f"IPOPT on {task.steps} steps, from a loss of {before.loss:.4g}")
    lengths = casadi.MX.sym("lengths", 2)
    problem = {"x": lengths, "f": turn(lengths)[0] / before.loss}
    found = ipopt.solve("Design", problem, np.array(start), lower, upper, options=OPTIONS)
    walk = walked(turn, found.x)
    nodes = np.arange(task.steps + 1) * task.h
    circle = np.array([np.array(_target(t, task)[0]).ravel() for t in nodes])
    return Design(
        task, before, walk, circle, found.status, found.iterations, _descent(turn, np.array(start)) if adam else None
    )


def _descent(turn: Any, start: FloatArray) -> FloatArray:
    """Losses of ADAM's iterates."""
    lengths = casadi.MX.sym("lengths", 2)
    loss = turn(lengths)[0]
    graph = casadi.Function("loss", [lengths], [loss, casadi.gradient(loss, lengths)])

    def evaluated(x: FloatArray) -> tuple[FloatArray, FloatArray]:
        value, gradient = graph(x)
        return np.array(float(value)), np.array(gradient, dtype=np.float64).ravel()

    return descend(evaluated, start, ADAM_RATE, low=np.array(BOUNDS[0]), high=np.array(BOUNDS[1])).losses


def _target(t: Any, task: Task) -> tuple[Any, Any]:
    """Where the tip should be at a time [s], along the stretched arm and across [m], and its rate [m/s]."""
    rate = 2.0 * np.pi / task.period
    c, s = casadi.cos(rate * t), casadi.sin(rate * t)
    at = casadi.vertcat(task.distance + task.radius * c, task.radius * s)
    return at, task.radius * rate * casadi.vertcat(-s, c)


def _kinematics(robot: Robot, p: Any, alpha: Any, lengths: Any) -> tuple[Any, Any]:
    """Tip and elbow relative to the shoulder (2 each) [m]: the arm hangs along −z and turns about y."""
    position, rotation = robot.casadi("tip_pose")(p, alpha)
    elbow = position + rotation[:, 2] * BUILT
    tip = elbow - rotation[:, 2] * lengths[1]
    shoulder = alpha[robot.alpha.index("origin.shoulder.z")]

    def plane(point: Any) -> Any:
        return casadi.vertcat(shoulder - point[2], -point[0])

    return plane(tip), plane(elbow)


def closed_loop(robot: Robot, task: Task, name: str = JOINT) -> Any:
    """lengths → loss, work, angles (2 × N+1), torques (2 × N), powers (2 × N), tip and elbow (2 × N+1 each)."""
    size, p, pd, t = casadi.SX.sym("size", 2), casadi.SX.sym("p", 2), casadi.SX.sym("pd", 2), casadi.SX.sym("t")
    alpha = casadi.Function("alpha", [size], [alpha_of_lengths(robot, size, task.heavier, task.gravity)])
    tip, elbow = _kinematics(robot, p, alpha(size), size)
    jacobian = casadi.jacobian(tip, p)
    aim, aim_rate = _target(t, task)
    pull = task.stiffness * (aim - tip) + task.damping * (aim_rate - casadi.mtimes(jacobian, pd))
    control = casadi.Function("control", [p, pd, t, size], [casadi.mtimes(jacobian.T, pull)])
    place = casadi.Function("place", [p, size], [tip, elbow])

    time, lengths = casadi.MX.sym("time"), casadi.MX.sym("lengths", 2)
    start, advance = _mover(robot, name, alpha(lengths), task.h)
    state = casadi.MX.sym("state", start.numel())
    torque = control(state[:2], state[2:4], time, lengths)
    step = casadi.Function("step", [state, time, lengths], [advance(state, torque), torque])
    times = casadi.DM(np.arange(task.steps) * task.h).T
    states, torques = step.mapaccum(task.steps)(start, times, casadi.repmat(lengths, 1, task.steps))
    angles = casadi.horzcat(casadi.MX.zeros(2, 1), states[:2, :])
    works = (angles[:, 1:] - angles[:, :-1]) * torques
    tips, elbows = place.map(task.steps + 1)(angles, casadi.repmat(lengths, 1, task.steps + 1))
    aims = casadi.DM(np.hstack([np.array(_target(k * task.h, task)[0]) for k in range(1, task.steps + 1)]))
    off = casadi.sqrt(casadi.sum1((tips[:, 1:] - aims) ** 2))
    work = casadi.sum1(casadi.sum2(works))
    loss = casadi.sum2(off) + task.weight * work
    return casadi.Function("turn", [lengths], [loss, work, angles, torques, works / task.h, tips, elbows])


def _mover(robot: Robot, name: str, alpha: Any, h: float) -> tuple[Any, Callable[[Any, Any], Any]]:
    """The state at rest and stretched, which begins with p and pd, and how a torque moves it on."""
    if name == JOINT:
        joint_step = robot.casadi("joint_step")
        return casadi.MX.zeros(4), lambda state, u: casadi.vertcat(*joint_step(state[:2], state[2:4], u, h, alpha))
    step, joint_state = robot.casadi(function_of(robot, name)), robot.casadi("joint_state")

    def advance(state: Any, u: Any) -> Any:
        xi = step(state[4:], u, h, alpha)
        return casadi.vertcat(*joint_state(xi, alpha, state[:2]), xi)

    zero = casadi.MX.zeros(2)
    return casadi.vertcat(zero, zero, robot.casadi("fk")(zero, zero, alpha)), advance


def walked(turn: Any, lengths: FloatArray) -> Walk:
    loss, work, *paths = turn(lengths)
    return Walk(lengths, float(loss), float(work), *(np.array(path, dtype=np.float64).T for path in paths))


def summary(found: Mapping[str, Design]) -> tuple[list[str], list[list[str]]]:
    """Head and rows: lengths, loss and work before and after as printed in the paper, and by each step; what was gained."""
    rows = []
    for word, printed in PAPER.items():
        walks = [getattr(design, word) for design in found.values()]
        for k, what in enumerate(("l1 [m]", "l2 [m]", "loss", "work [J]")):
            ours = [(*walk.lengths, walk.loss, walk.work)[k] for walk in walks]
            rows.append([word, what, *(number(float(x), 5) for x in (printed[k], *ours))])
    for k, what in ((2, "loss"), (3, "work")):
        gains = [getattr(d.before, what) / getattr(d.after, what) for d in found.values()]
        rows.append(["gain", what, *(f"{x:.2f}×" for x in (PAPER["before"][k] / PAPER["after"][k], *gains))])
    return ["", "", "paper", *found], rows
