"""Predictive control: tick by tick on a robot, or in closed loop with the simulated one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.api.keywords import keywords
from diffpbd.runtime.api.picture import Picture, drawn
from diffpbd.runtime.api.words import expect_options, in_python, values_of
from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.fitting import expect, number
from diffpbd.runtime.base.html import html_table, motion_table
from diffpbd.runtime.base.names import hint
from diffpbd.runtime.functions.joint_values import JointValues, by_joint
from diffpbd.runtime.functions.parameters import AlphaOrFile
from diffpbd.runtime.logs.csv import write_log
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.mpc import planner, simulation
from diffpbd.runtime.mpc.apart import place
from diffpbd.runtime.mpc.options import MpcOptions
from diffpbd.runtime.mpc.passive import arrived, closed_start, expect_motors
from diffpbd.runtime.mpc.problem import Bounds, Weights, bounds_by_name
from diffpbd.runtime.mpc.profile import Approach
from diffpbd.runtime.mpc.reference import goal_reference
from diffpbd.runtime.mpc.reference_check import check_goal
from diffpbd.runtime.mpc.tip_goal import pose_at

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from diffpbd.runtime.api.keyword_types import ApproachHow, MpcHow

__all__ = ["ClosedLoop", "Mpc", "Plant"]


WITHIN = 2e-3
"""[rad or m] From the goal at which a run to it ends."""


@dataclass(frozen=True, eq=False, repr=False)
class ClosedLoop(simulation.ClosedLoop):
    """A run: `time` (ticks + 1,) [s], `q`, `reference` (ticks + 1, n_p), `dq`, `tau` (ticks + 1, n), `seconds` (ticks,) of each
    tick."""

    robot: Robot = field(kw_only=True)
    bounds: FloatArray = field(kw_only=True)

    def _repr_html_(self) -> str:
        caption = f"{self.robot.name}: {len(self.seconds)} ticks to {self.time[-1]:g} s"
        return motion_table(caption, self.robot.joints, self.q, self.tau, self.robot.positions)

    @in_python
    def plot(self, path: str | Path | None = None) -> Picture:
        """Positions with their references and limits, torques with their bounds, tick times; also written to `path`."""
        from diffpbd.runtime.report.mpc_plot import plot_closed_loop

        return drawn(lambda file: plot_closed_loop(self, file, title=self.robot.name, bounds=self.bounds), path)

    @in_python
    def save(self, path: str | Path) -> None:
        """A log as CSV (`.gz` allowed): time, q_, dq_ and tau_ columns."""
        write_log(path, self.log())


@dataclass(frozen=True, eq=False)
class Plant(simulation.Plant):
    """The simulated robot where it is not what the plan knows: its own `alpha`, a `load` (n,) [N·m or N] on the joints all
    the time, and noise of what is measured, standard deviations of positions [rad or m] and of rates, from `seed`."""

    @in_python
    def __post_init__(self) -> None:
        """Refuses noise that is none."""
        super().__post_init__()


class Mpc(planner.Mpc):
    """Predictive control of `robot` over `horizon` steps of `h` [s] (the recipe's).

    `tick(time, p, pd, goal)` gives the torque for a measured state; `run_to(goal)` tries the whole on the simulated robot.
    `weights` {"p": 1, "pd": 0.02, "u": 0, "du": 2e-7, "tip": 0, "end": 1}, `bounds` {"u": [60, 30]} within the description's
    (u, du, pd: a number or n of them) and `alpha` as a vector or by name are what the plan knows. `options`: `backend`
    "embedded" or "ipopt", `programs`, `time_limit` [s], `delay` [steps], `disturbance` [s], the time constant of an observer
    whose estimate is compensated, `clearance` [m] that links keep from each other and from obstacles, see docs/mpc.md.
    """

    @in_python
    def __init__(
        self,
        robot: Robot,
        horizon: int = 20,
        *,
        weights: Mapping[str, npt.ArrayLike] | Weights | None = None,
        bounds: Mapping[str, npt.ArrayLike] | Bounds | None = None,
        h: float | None = None,
        alpha: AlphaOrFile | None = None,
        **options: Unpack[MpcHow],
    ) -> None:
        """See the class."""
        expect_options("Mpc", options, keywords("MpcHow"))
        if isinstance(bounds, Mapping):
            bounds = bounds_by_name(robot, robot.h if h is None else h, bounds, "Mpc: bounds")
        chosen = weights if isinstance(weights, Weights) or weights is None else _weights(weights)
        super().__init__(
            robot,
            horizon,
            weights=chosen,
            bounds=bounds,
            h=h,
            alpha=values_of(robot, alpha),
            options=MpcOptions(**options),
        )

    @in_python
    def place_obstacles(self, **given: npt.ArrayLike) -> None:
        """Obstacles that the next plans keep away from, `spheres`, `capsules`, `boxes`, `planes`, rows
        as in `diffpbd.runtime.model.clearance.obstacles`."""
        apart = self.problem.apart
        if apart is not None and given and not apart.numbers[1]:
            raise InputError(
                "Mpc: obstacles are kept apart from only with a clearance; expected Mpc(…, clearance=…) beside them."
            )
        place(self.problem.robot, apart, given)

    def _least(self) -> float | None:
        """The distance [m] that plans keep."""
        apart = self.problem.apart
        return None if apart is None or not apart.numbers[1] else float(apart.numbers[0])

    def _repr_html_(self) -> str:
        robot, bounds = self.problem.robot, self.problem.bounds
        rows = [
            (name, f"{low:.4g} … {high:.4g}", f"{pd:.4g}")
            for name, low, high, pd in zip(robot.joints, bounds[0], bounds[1], bounds[5], strict=True)
        ]
        caption = f"{robot.name}: plan of {self.problem.horizon} steps of {self.problem.h:g} s"
        return html_table(("joint", "torque", "largest rate"), rows, caption)

    @in_python
    def run_to(
        self,
        goal: JointValues | None = None,
        *,
        tip: npt.ArrayLike | None = None,
        q0: JointValues | None = None,
        duration: float | None = None,
        within: float | None = WITHIN,
        plant: simulation.Plant | Mapping[str, float] | None = None,
        **approach: Unpack[ApproachHow],
    ) -> ClosedLoop:
        """The simulated robot from rest at `q0` (zero) to `goal` at `speed` [rad/s] (0.5); a run that can be plotted and saved.

        `goal` is a pose (n_p,) [rad or m], or by name of `robot.positions` (other joints stay, a base drifts), and so is
        `q0`; or `tip` (3,) [m], where the tip's origin shall be in the world. The run ends when every joint rests `within`
        [rad or m] of the goal, or after `duration` [s] (default: the way and 1 s). `profile` is "smooth",
        with bounded acceleration and jerk, "ruckig", the shortest time within the same bounds (extra ruckig), or "ramp", at
        constant speed; `acceleration` [rad/s²] and `jerk` [rad/s³] are its bounds (10 and 200 times the speed). `plant` is the
        robot where it differs from what the plan knows, a `Plant` or alpha by name.
        """
        expect_options("Mpc.run_to", approach, keywords("ApproachHow"))
        robot = self.problem.robot
        within = None if within is None else number("Mpc.run_to: within", within, 0.0)
        duration = None if duration is None else number("Mpc.run_to: duration", duration)
        start = closed_start(robot, None if q0 is None else _pose(robot, "q0", q0), self.problem.alpha)
        check_goal(robot, start, "q0")
        if (goal is None) == (tip is None):
            raise InputError("Mpc.run_to: expected one of goal and tip.")
        wanted = _goal(robot, goal) if tip is None else pose_at(robot, tip, start, self.problem.alpha, self._least())
        expect_motors(robot, wanted)
        check_goal(robot, wanted, "goal")
        reference = goal_reference(robot, wanted, Approach(**approach))
        if plant is not None and not isinstance(plant, simulation.Plant):
            plant = simulation.Plant(alpha=robot.alpha.vector(plant, base=self.alpha))
        run = simulation.run_closed_loop(
            self, reference, start, reference.takes(start) + simulation.SETTLING if duration is None else duration, plant=plant,
            stop=None if within is None else arrived(robot, reference, within),
        )  # fmt: skip
        own = {f.name: getattr(run, f.name) for f in fields(run)}
        return ClosedLoop(**own, robot=robot, bounds=self.problem.bounds.copy())


def _weights(given: Mapping[str, Any]) -> Weights:
    known = [f.name for f in fields(Weights)]
    for name in given:
        if name not in known:
            raise InputError(f"Mpc: weights: there is no {name!r}. {hint(name, known)}")
    return Weights(**given)


def _pose(robot: Robot, name: str, value: JointValues) -> FloatArray:
    if isinstance(value, Mapping):
        return by_joint(f"Mpc.run_to: {name}", value, robot.positions, robot.neutral)
    expect(f"Mpc.run_to: {name}", value, "npt.ArrayLike")
    pose = np.asarray(value, dtype=np.float64)
    if pose.shape != (robot.n_p,):
        raise InputError(f"Mpc.run_to: {name}: expected shape ({robot.n_p},), found {pose.shape}.")
    if not np.isfinite(pose).all():
        raise InputError(f"Mpc.run_to: {name}: expected finite numbers, found {pose.tolist()}.")
    return pose


def _goal(robot: Robot, goal: Any) -> FloatArray:
    """A pose; NaN where a joint stays."""
    if not isinstance(goal, Mapping):
        return _pose(robot, "goal", goal)
    return by_joint("Mpc.run_to: goal", goal, robot.positions, np.full(robot.n_p, np.nan))
