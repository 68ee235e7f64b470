"""What a control PC needs: load, evaluate, simulate and control with generated dynamics."""

from diffpbd.runtime.errors import DiffpbdError, InputError, SolverError
from diffpbd.runtime.manifest import Manifest, read_manifest
from diffpbd.runtime.parameters import ParameterVector
from diffpbd.runtime.robot import Robot, load

__all__ = [
    "DiffpbdError",
    "InputError",
    "Manifest",
    "ParameterVector",
    "Robot",
    "SolverError",
    "load",
    "read_manifest",
]
