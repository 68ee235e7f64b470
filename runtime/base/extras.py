"""Optional packages: which extra installs each, and what is said where one is missing."""

from __future__ import annotations

from typing import Final

from diffpbd.runtime.base.errors import InputError

__all__ = ["EXTRAS", "extra_of", "missing"]

EXTRAS: Final = {
    **dict.fromkeys(("sympy", "jinja2", "lxml", "tomli"), "codegen"),
    **dict.fromkeys(("casadi", "scipy", "rich"), "solve"),
    **dict.fromkeys(("matplotlib", "PIL"), "plot"),
    **dict.fromkeys(("pinocchio", "mujoco"), "simulated"),
    "franky": "franka",
    "franky_sim": "franka-sim",
    "cyclonedds": "ros2",
    **dict.fromkeys(("viser", "trimesh"), "view"),
    "distributed": "cluster",
    "rosbags": "bags",
    "ruckig": "ruckig",
    "torch": "torch",
    "jax": "jax",
    "gymnasium": "gym",
}
"""Import name to the extra that installs it."""


def extra_of(name: str | None) -> str | None:
    """The extra with the module of this name, such as `scipy.linalg`; None where it is in none."""
    return EXTRAS.get((name or "").split(".")[0])


def missing(what: str, name: str) -> InputError:
    """That `what` needs a package which is not there. pip adds an extra's packages to diffpbd as it is installed, from a wheel
    or a checkout."""
    module = name.split(".")[0]
    return InputError(f"{what} needs {module}, which is not installed: pip install 'diffpbd[{EXTRAS[module]}]'.")
