"""Control laws, and which side compensates gravity."""

from diffpbd.runtime.control.gravity import GravityOwner, GravitySettings, check_gravity
from diffpbd.runtime.control.laws.gravity import GravityController
from diffpbd.runtime.control.laws.hold import HoldController
from diffpbd.runtime.control.laws.impedance import ImpedanceController

__all__ = [
    "GravityController", "GravityOwner", "GravitySettings", "HoldController", "ImpedanceController", "check_gravity",
]  # fmt: skip
