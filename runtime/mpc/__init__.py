"""Predictive control. What is imported from here is the public surface (docs/mpc.md):

- `Mpc`, a planner with warm starts that returns a torque every tick, its `MpcOptions`, `Weights`, `Bounds`, and results:
  `Tick`, `PlanSource`, `Plan`, `Status`;
- `GoalReference` and `LogReference`, references over time;
- `DisturbanceObserver`, which estimates joint torques missing in the model;
- `MpcController`, `Mpc` as a controller of a run; `run_closed_loop`, a simulation with the generated step.
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
