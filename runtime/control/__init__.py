"""Controllers and what stands between them and a motor: gravity ownership, guard, supervisor, plan reuse."""

from diffpbd.runtime.control.controllers import Controller, GravityController, HoldController, Mode
from diffpbd.runtime.control.gravity import GravityOwner, GravitySettings, check_gravity
from diffpbd.runtime.control.guard import Guard, Limits, TickStatus
from diffpbd.runtime.control.impedance import ImpedanceController
from diffpbd.runtime.control.plan import PlanReuse, PlanSource
from diffpbd.runtime.control.supervisor import Decision, Settings, Supervisor

__all__ = [
    "Controller", "Decision", "GravityController", "GravityOwner", "GravitySettings", "Guard",
    "HoldController", "ImpedanceController", "Limits", "Mode", "PlanReuse", "PlanSource", "Settings",
    "Supervisor", "TickStatus", "check_gravity",
]  # fmt: skip
