"""Runtime of a control PC: load, evaluate, simulate and control with generated dynamics."""

from diffpbd.runtime.base.errors import DiffpbdError, InputError, SolverError
from diffpbd.runtime.folder.manifest import Manifest, read_manifest
from diffpbd.runtime.functions.parameters import ParameterVector
from diffpbd.runtime.model.robot import Robot, load

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
