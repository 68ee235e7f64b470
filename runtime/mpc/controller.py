"""Predictive control as a controller: the law is the plan's first torque less the one that holds the arm.

The result does not depend on computing time: one real-time iteration a tick and no time limit, so a log replays bit for bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, SolverError
from diffpbd.runtime.interface.controller import Away, Mode, farthest
from diffpbd.runtime.model.limits import Limits
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.model.statics import holding_torque
from diffpbd.runtime.mpc.apart import place
from diffpbd.runtime.mpc.options import MpcOptions
from diffpbd.runtime.mpc.planner import Mpc
from diffpbd.runtime.mpc.problem import TRANSITION, Bounds, Weights
from diffpbd.runtime.mpc.profile import Approach
from diffpbd.runtime.mpc.reference import GoalReference, Reference, goal_reference, way_of, way_to

__all__ = ["MpcController"]

WRONG_SIGN = 0.5
"""Share of a speed limit. A wrist of 3e-4 kg m² whose friction is balanced two ticks late turns faster and faster without
such a bound; with it shoulders keep all of their disturbances that matter."""
LOAD_SHARE = 0.15
"""Share of an effort limit; the largest load that is held. One above it ends a run as CONTACT within three seconds."""
ROOM = 0.01
"""[m] Added in plans to the distance at which the reflex COLLISION stops the run."""
WEIGHTS = ("p", "pd", "u", "du", "end")
"""Settings of the cost, see `Weights`."""


class MpcController:
    """Torque mode; plans over `horizon` steps of one `period` [s] towards a goal or along a reference.

    The limits are the guard's: efforts, the law's share of them about the holding torque, torque rate, positions, speeds.
    A tick without a plan sends an old plan's torque or the damped hold, as `Mpc` decides. With `disturbance` an observer's
    estimate is in the plan.
    """

    name = "mpc"
    mode = Mode.TORQUE

    def __init__(
        self, robot: Robot, alpha: FloatArray, limits: Limits, period: float, settings: Mapping[str, Any]
    ) -> None:
        """`settings` as the law `mpc` has them: horizon, weights, goal or reference, goal_speed, delay,
        disturbance, the time constant [s] of the observer (None: no observer), and obstacles, rows by kind."""
        try:
            horizon, delay = int(settings["horizon"]), int(settings.get("delay", 0))
            speed = float(settings["goal_speed"])
            given = dict(settings.get("weights") or {})
            constant = settings.get("disturbance")
            constant = None if constant is None else float(constant)
            log, goal, reach = (settings.get(name) for name in ("reference", "goal", "reach"))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"The mpc controller's settings cannot be used: {error!r}.") from None
        unknown = sorted(set(given) - set(WEIGHTS))
        if unknown:
            raise InputError(f"MPC weights: there is no {', '.join(unknown)}; expected some of {', '.join(WEIGHTS)}.")
        approach = Approach(speed, **way_to(settings))
        self.reference: Reference
        if log is not None:
            time, q, dq = (np.array(log[key], dtype=np.float64) for key in ("time", "q", "dq"))
            self.reference = way_of(robot, time, q, dq, approach, np.inf if reach is None else float(reach))
        else:
            angles = [None] * robot.n if goal is None else goal
            wanted = np.array([np.nan if a is None else a for a in angles], dtype=np.float64)
            self.reference = goal_reference(robot, wanted, approach)
        self._robot, self._alpha, self._limits = robot, np.array(alpha), limits
        bounds = Bounds(
            -limits.effort, limits.effort, limits.torque_rate * period, limits.lower, limits.upper, limits.speed
        )
        self.mpc = Mpc(
            robot, horizon, weights=Weights(**given), bounds=bounds, h=period, alpha=self._alpha,
            options=MpcOptions(
                delay=delay, disturbance=constant, transition=0.0 if constant is None else TRANSITION, **_apart(settings)
            ),
        )  # fmt: skip
        place(robot, self.mpc.problem.apart, settings.get("obstacles", {}))
        if self.mpc.observer is not None:
            self.mpc.observer.most = LOAD_SHARE * limits.effort
        self._nodes: FloatArray = period * (np.arange(horizon + 1, dtype=np.float64) + delay)

    def start(self, q: FloatArray) -> None:
        """Start at the measured pose: no plan; the torques already sent are those that hold it."""
        self.reference.start(q)
        self._hold = holding_torque(self._robot, q, self._alpha)
        self.mpc.start(self._hold)
        self._stamp: float | None = None

    def measured(self, stamp: float) -> None:
        """When the state of the next `output` was measured [s], by the clock of its `time`."""
        self._stamp = stamp

    def output(self, time: float, q: FloatArray, dq: FloatArray) -> FloatArray:
        """The planned torque [N·m] less the one that holds q."""
        hold = holding_torque(self._robot, q, self._alpha)
        limits = self._limits
        lower = np.maximum(-limits.effort, hold - limits.law_effort)
        upper = np.minimum(limits.effort, hold + limits.law_effort)
        if not (lower < upper).all():
            raise SolverError("Holding the arm takes more than the effort limits: there is no torque to plan with.")
        self._hold = hold
        self.mpc.set_torque_bounds(lower, upper)
        if self.mpc.observer is not None:
            self.mpc.observer.limit = np.minimum(limits.effort, self._believable(q))
        P, PD = self.reference.at(np.asarray(time + self._nodes, dtype=np.float64))
        return self.mpc.tick(time, q, dq, P, PD, stamp=self._stamp).torque - hold

    def _believable(self, q: FloatArray) -> FloatArray:
        """The largest change of a disturbance [N·m] (n,) that is compensated at once: with the wrong sign until that is
        noticed, as for friction whenever a joint turns round, it changes the joint's speed by WRONG_SIGN of its limit."""
        inverse = np.linalg.inv(np.asarray(self._robot.mass_matrix(q, alpha=self._alpha), dtype=np.float64))
        noticed = (self.mpc.delay + 1) * self.mpc.problem.h
        return np.asarray(WRONG_SIGN * self._limits.speed / (noticed * np.diag(inverse)), dtype=np.float64)

    def expected(self, time: float) -> FloatArray:
        """The reference at `time` [s]."""
        positions, _ = self.reference.at(np.array([time]))
        return np.asarray(positions[0], dtype=np.float64)

    def away(self, time: float, q: FloatArray) -> Away | None:
        """From the goal, of the joints that have one, or from the reference."""
        if isinstance(self.reference, GoalReference):
            return farthest(self.reference.goal, q, "the goal")
        return farthest(self.expected(time), q, "its reference")

    def sent(self, law: FloatArray) -> None:
        """The torque [N·m] that was sent: ramp and guard may have changed the law's."""
        self.mpc.sent(self._hold + law)

    def remark(self) -> str | None:
        """The motion's objection to the delay that was told."""
        return self.mpc.remark


def _apart(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Options of the distance constraint; empty if the run has none."""
    least = settings.get("clearance")
    if least is None:
        return {}
    price, hard = settings.get("clearance_price"), bool(settings.get("clearance_hard"))
    return {"clearance": float(least) + ROOM, "clearance_price": price, "clearance_hard": hard}
