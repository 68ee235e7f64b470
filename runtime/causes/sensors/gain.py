"""A gain of a torque sensor."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.causes.cause import Finding, Findings
from diffpbd.runtime.causes.measured import Measured
from diffpbd.runtime.causes.missing import Missing
from diffpbd.runtime.causes.motion import Motion, Torques
from diffpbd.runtime.model.sensors import GAIN, SENSOR

GAIN_OFF = 2.0
"""[1] Measured torque over that of the description (or its inverse). Baxter 0.68 to 1.02, Panda 0.66 to 0.91. A motor's
current in amperes is a tenth of it, its torque before the gear a hundredth."""
SHARE = 0.7
"""[1] Least part of a torque's deviation from the rigid body for a check of its gain: light joints are all friction."""
ALIKE = 1.05
"""[1] Largest over smallest gain of joints that one unit tells."""
UNITS = {1e3: "N·mm", 100.0: "N·cm", 10.197: "kgf·cm", 8.8507: "lbf·in", 141.61: "ozf·in", 0.73756: "lbf·ft"}
CARRIED = 0.5
"""[1] Part of a torque's deviation that rigid bodies must make for a gain to be judged: of the rest it is friction's."""


class Gain(Missing):
    """Its figure is the gain less one. It has the last rank, since a load or wrong masses look like a gain."""

    kind, word, lacking, says, parameter = "gain", "a sensor gain", "a gain", "it had {word} of {ratio:.3g}", GAIN
    order, of_torque = 4, True
    means = (
        "the torque is a multiple of the description's: amperes, before a gear, masses far off; of several joints alike, the "
        "unit's name"
    )
    mends = "`--scale tau=…`, `--drive-gain`, `sensor.gain`"
    rank, of_reading, least, most = 5, True, SENSOR[GAIN][1] - 1.0, SENSOR[GAIN][2] - 1.0

    def columns(self, m: Motion, joint: str, size: float) -> Torques:
        bodies = m.layout.bodies[-1].stop
        return (m.own[..., :bodies] @ m.phi[:bodies] * m.alone(joint))[..., None]

    def nameable(self, carried: float) -> bool:
        return carried > CARRIED

    def measured(self, torques: Measured) -> Findings:
        own = {torques.robot.joints[k]: torques.explained(k) for k in torques.told()}
        off = {n: e.gain for n, e in own.items() if e.share > SHARE and not 1.0 / GAIN_OFF <= e.gain <= GAIN_OFF}
        drives = f"{arg.drive_gain} {','.join(f'{name}={1.0 / gain:.4g}' for name, gain in off.items())}"
        causes = "amperes, before gears, or masses far off?"
        if len(off) == 1:
            ((name, gain),) = off.items()
            message = f"its torque is {gain:.3g} times the description's: amperes, before a gear, or masses far off?"
            yield Finding(self, name, message, f"{drives}, {arg.fit} …,sensor.gain.{name}")
        elif off and max(off.values()) > ALIKE * min(off.values()):
            rest = ", ".join(joint for joint in torques.robot.joints if joint not in off)
            more = (
                f"; of {rest} by runs with a payload, see `diffpbd drive-gain`"
                if rest
                else f"; or {arg.fit} …,sensor.gain"
            )
            gains = " and ".join(f"{gain:.3g}" for gain in off.values())
            yield Finding(
                self, "", f"torques of {' and '.join(off)} are {gains} times the description's: {causes}", drives + more
            )
        elif off:
            yield self._of_one_unit(off, drives)

    def _of_one_unit(self, off: Mapping[str, float], drives: str) -> Finding:
        """All gains are wrong by the same factor: it is the unit of all torques."""
        factor = float(np.exp(np.mean(np.log(list(off.values())))))
        exact = next((own for own in UNITS if 1.0 / ALIKE < factor / own < ALIKE), factor)
        unit = f" ({UNITS[exact]})" if exact in UNITS else ""
        message = (
            f"torques of {' and '.join(off)} are {factor:.3g} times the description's{unit}, so probably all of this "
            "recording; or masses far off?"
        )
        return Finding(self, "", message, f"{arg.scale} tau={1.0 / exact:.6g}; where currents, {drives}")
