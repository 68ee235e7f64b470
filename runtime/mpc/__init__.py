"""Predictive control. What is imported from here is the public surface (docs/mpc.md):

- `Mpc`, a planner with memory whose every tick gives a torque, its `MpcOptions`, `Weights` and `Bounds`, and what a tick is:
  `Tick`, `PlanSource`, `Plan`, `Status`;
- `GoalReference` and `LogReference`, what to follow over time;
- `DisturbanceObserver`, joint torques that the generated step does not explain;
- `MpcController`, the same as a controller of a run; `run_closed_loop`, the generated step as the robot.
"""

from diffpbd.runtime.mpc.controller import MpcController
from diffpbd.runtime.mpc.disturbance import DisturbanceObserver
from diffpbd.runtime.mpc.options import MpcOptions
from diffpbd.runtime.mpc.plan import PlanSource
from diffpbd.runtime.mpc.planner import Mpc, Tick
from diffpbd.runtime.mpc.problem import Bounds, Plan, Status, Weights
from diffpbd.runtime.mpc.reference import GoalReference, LogReference
from diffpbd.runtime.mpc.simulation import ClosedLoop, Plant, run_closed_loop

__all__ = [
    "Bounds", "ClosedLoop", "DisturbanceObserver", "GoalReference", "LogReference", "Mpc", "MpcController", "MpcOptions",
    "Plan", "PlanSource", "Plant", "Status", "Tick", "Weights", "run_closed_loop",
]  # fmt: skip
