"""One body in contact, by symbols."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
from support.judges.closed import Judge

from diffpbd.codegen.description.robot.robot import Robot


class Body:
    """A link's point, its velocity and angular velocity per joint rate, by pinocchio in world axes."""

    def __init__(self, judge: Judge, robot: Robot, link: int, p: Any) -> None:
        self.R, self.o, self.J = np.eye(3), np.zeros(3), np.zeros((6, robot.n))
        if link >= 0:
            frame = judge.model.getFrameId(robot.links[link].name)
            jacobian = pin.computeFrameJacobian(
                judge.model, judge.data, judge.q(p), frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
            )
            pin.updateFramePlacement(judge.model, judge.data, frame)
            place = judge.data.oMf[frame]
            self.R, self.o, self.J = place.rotation, place.translation, jacobian[:, judge.v]

    def at(self, point: Any) -> Any:
        return self.o + self.R @ np.array(point)

    def motion(self, x: Any) -> Any:
        """3 × n: velocity of the material point that is at x."""
        return self.J[:3] - pin.skew(x - self.o) @ self.J[3:]
