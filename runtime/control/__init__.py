"""Control laws, and which side compensates gravity."""

from diffpbd.runtime.control.floating import GravityController
from diffpbd.runtime.control.gravity import GravityOwner, GravitySettings, check_gravity
from diffpbd.runtime.control.holding import HoldController
from diffpbd.runtime.control.impedance import ImpedanceController

__all__ = [
    "GravityController", "GravityOwner", "GravitySettings", "HoldController", "ImpedanceController", "check_gravity",
]  # fmt: skip
