"""diffpbd: differentiable position-based dynamics of robots, generated from a description.

    import diffpbd

    robot = diffpbd.generate("arm.urdf")  # once; then diffpbd.load("arm"), with numpy alone
    run = diffpbd.simulate(robot, "gravity", duration=1.0)
    robot.joint_step(run.q[-1], run.dq[-1], run.tau[-1])  # help(robot.joint_step) says shapes, units and frames

Everywhere: SI units and radians; joints base to tip, by name in `robot.joints`; a trajectory has one sample a row; the matrix
da_db[i, j] is the derivative of a[i] by b[j]; one more axis in front of an argument makes a batch. In C the same numbers lie
column by column.

`diffpbd.runtime` loads and runs what `diffpbd.codegen` derives and `diffpbd.templates` shape. In a checkout the three are links
to the folders at the top; in a wheel and in a source distribution the folders themselves.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diffpbd.codegen.description.report import DescriptionError
    from diffpbd.runtime.api.control import ClosedLoop, Mpc, Plant
    from diffpbd.runtime.api.excitation import Excitation, excite
    from diffpbd.runtime.api.identification import Identification, identify
    from diffpbd.runtime.api.kinematics import Ik, ik
    from diffpbd.runtime.api.recordings import read_log
    from diffpbd.runtime.api.robots import check, export_urdf, generate, load
    from diffpbd.runtime.api.simulation import Run, simulate
    from diffpbd.runtime.api.torques import TorqueEstimate, estimate_torque
    from diffpbd.runtime.base.errors import DiffpbdError, InputError, SolverError
    from diffpbd.runtime.logs.recording import Recording
    from diffpbd.runtime.model.robot import Robot

    __version__: str

_HOMES = {
    "codegen.description.report": ("DescriptionError",),
    "runtime.api.control": ("ClosedLoop", "Mpc", "Plant"),
    "runtime.api.excitation": ("Excitation", "excite"),
    "runtime.api.identification": ("Identification", "identify"),
    "runtime.api.kinematics": ("Ik", "ik"),
    "runtime.api.recordings": ("read_log",),
    "runtime.api.robots": ("check", "export_urdf", "generate", "load"),
    "runtime.api.simulation": ("Run", "simulate"),
    "runtime.api.torques": ("TorqueEstimate", "estimate_torque"),
    "runtime.base.errors": ("DiffpbdError", "InputError", "SolverError"),
    "runtime.logs.recording": ("Recording",),
    "runtime.model.robot": ("Robot",),
}
"""Where each name is, in `diffpbd`; imported when it is asked for."""
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "ClosedLoop", "DescriptionError", "DiffpbdError", "Excitation", "Identification", "Ik", "InputError", "Mpc", "Plant",
    "Recording", "Robot", "Run", "SolverError", "TorqueEstimate", "__version__", "check", "estimate_torque", "excite",
    "export_urdf", "generate", "identify", "ik", "load", "read_log", "simulate",
]  # fmt: skip


if not TYPE_CHECKING:  # so that a type checker finds names that are not there

    def __getattr__(name: str) -> Any:
        if name == "__version__":
            value: Any = _version()
        elif name in _HOME:
            value = getattr(importlib.import_module(f"diffpbd.{_HOME[name]}"), name)
        else:
            raise AttributeError(f"module 'diffpbd' has no attribute {name!r}; it has {', '.join(__all__)}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return [*__all__, *(name for name in globals() if name.startswith("__"))]


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("diffpbd")
    except PackageNotFoundError:
        return "unknown (not installed: imported from its source folder)"
