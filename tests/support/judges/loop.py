"""How far a closed mechanism is open, and how fast it opens: places, axes and velocities by pinocchio, angles by the logarithm.

Nothing of the product's rows: a hinge's axes and a weld's frames are compared as vectors and rotations, velocities as those of
two bodies at one place.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
from support.judges.closed import Judge

from diffpbd.codegen.description.robot.robot import LoopType


class LoopJudge(Judge):
    """Judges one state at a time."""

    def opened(self, p: Any, pd: Any) -> tuple[float, float]:
        """Largest gap [m or rad] of all loops, and its rate [m/s or rad/s]."""
        model, data = self.model, self.data
        v = np.zeros(model.nv)
        v[self.v] = pd
        pin.forwardKinematics(model, data, self.q(p), v, 0 * v)
        pin.computeJointJacobians(model, data, self.q(p))
        pin.updateFramePlacements(model, data)
        worst, rate = 0.0, 0.0
        for one, other, loop in self.loops:
            (xa, Ra, _, va, _), (xb, Rb, _, vb, _) = self._side(one), self._side(other)
            gap, turn = xb - xa, pin.log3(Ra.T @ Rb)
            fast, spin = vb[:3] - va[:3] - np.cross(va[3:], gap), vb[3:] - va[3:]
            axis = Ra @ np.array(loop.axis)
            across = np.eye(3) - np.outer(axis, axis)
            if loop.type is LoopType.DISTANCE:
                length = np.linalg.norm(gap)
                found = [[length - loop.length], [gap @ fast / length]]
            elif loop.type is LoopType.HINGE:
                tilted = Rb @ np.array(loop.axis)
                angle = np.arctan2(np.linalg.norm(np.cross(axis, tilted)), axis @ tilted)
                found = [[*gap, angle], [*fast, *(across @ spin)]]
            elif loop.type is LoopType.BALL:
                found = [gap, fast]
            elif loop.type is LoopType.SLIDE:
                found = [[*(across @ gap), *turn], [*(across @ fast), *spin]]
            else:
                found = [[*gap, *turn], [*fast, *spin]]
            worst = max(worst, float(np.abs(found[0]).max()))
            rate = max(rate, float(np.abs(found[1]).max()))
        return worst, rate
