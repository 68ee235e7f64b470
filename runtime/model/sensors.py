"""Parameters of a robot's sensors: the gain and delay of a torque reading, the zero of an encoder."""

from __future__ import annotations

from collections.abc import Mapping

from diffpbd.runtime.model.robot import Robot

__all__ = ["DELAY", "GAIN", "SENSOR", "ZERO", "sensed", "sensor_names", "unit_of"]

GAIN, DELAY, ZERO = "sensor.gain", "sensor.delay", "sensor.zero"
SENSOR: Mapping[str, tuple[float, float, float, str]] = {
    GAIN: (1.0, 0.1, 10.0, "1"), DELAY: (0.0, -0.2, 0.2, "s"), ZERO: (0.0, -1.0, 1.0, "rad"),
}  # fmt: skip
"""Start, lower and upper bound, unit: a gain beyond a factor of ten is another unit, a longer delay another recording, a zero
farther off another pose."""


def sensor_names(robot: Robot) -> list[str]:
    """Names of the sensors' parameters. A joint without a motor has none; zeros are of hinges of open trees that stand."""
    facts = robot.manifest.robot
    driven = [joint for joint in facts.joints if joint.name not in facts.passive]
    open_tree = not facts.loops and not facts.base_freedoms
    turning = [joint.name for joint in driven if joint.turns and open_tree]
    return [f"{kind}.{joint.name}" for kind in (GAIN, DELAY) for joint in driven] + [
        f"{ZERO}.{name}" for name in turning
    ]


def sensed(robot: Robot) -> list[str]:
    """Joints with a torque sensor: those with a motor."""
    facts = robot.manifest.robot
    return [joint for joint in robot.joints if joint not in facts.passive and joint not in facts.base_freedoms]


def unit_of(name: str) -> str:
    """Unit of a sensor's parameter."""
    return SENSOR[name.rpartition(".")[0]][3]
