"""An arm and a crank whose joints end."""

from __future__ import annotations

from functools import cache

from support.mechanisms import MECHANISMS, robot_of
from support.small.stopped import stopped_arm

from diffpbd.runtime import Robot


def arm() -> Robot:
    return stopped_arm(functions=("joint_step", "jac_alpha_joint_step", "mpc"), variants=(), friction_law=("stribeck",))


@cache
def crank() -> Robot:
    """A slider-crank whose slide has limits."""
    return robot_of(MECHANISMS["slider_crank"](), "stopped_crank", "limits = true", "mechanisms")
