"""Poses of frames by pinocchio beside ours."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from support.judges.framed import Framed

DATA = Path(pin.__file__).parents[4] / "share" / "example-robot-data" / "robots"


@cache
def described(name: str) -> str:
    path = DATA / name
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    return str(path)


def squared(R: Any) -> Any:
    """A rotation with the right angles that the product takes for exact (RIGHT_ANGLE): a file's 1.57079632679 is 5e-12 off."""
    near = np.round(R)
    return np.where(np.abs(R - near) <= 1e-11, near, R)


class Peer:
    """Pinocchio's model with the coordinates of ours: A takes these to all of its joints."""

    def __init__(self, file: str, ours: Framed) -> None:
        whole = pin.buildModelFromUrdf(file)
        names = [joint.name for joint in ours.robot.joints]
        others = [k for k, name in enumerate(whole.names) if k > 0 and name not in names]
        self.model = pin.buildReducedModel(whole, others, pin.neutral(whole))
        for place in self.model.jointPlacements:
            place.rotation = squared(place.rotation)
        self.data = self.model.createData()
        n = len(ours.coordinates)
        self.A, self.b = np.zeros((self.model.nv, n)), np.zeros(self.model.nv)
        self.ours = ours
        column = {joint.name: k for k, joint in enumerate(ours.coordinates)}
        for joint in ours.robot.joints:
            row = self.model.joints[self.model.getJointId(joint.name)].idx_v
            if joint.mimic is None:
                self.A[row, column[joint.name]] = 1.0
            else:
                leader = ours.robot.joints[joint.mimic.joint].name
                self.A[row, column[leader]], self.b[row] = joint.mimic.multiplier, joint.mimic.offset

    def see(self, p: Any, pd: Any, pdd: Any) -> None:
        v = self.A @ p + self.b
        q = pin.neutral(self.model)
        for joint in self.model.joints[1:]:
            x = v[joint.idx_v]
            q[joint.idx_q : joint.idx_q + joint.nq] = [np.cos(x), np.sin(x)] if joint.nq == 2 else [x]
        pin.forwardKinematics(self.model, self.data, q, self.A @ pd, self.A @ pdd)
        pin.computeJointJacobians(self.model, self.data, q)
        pin.updateFramePlacements(self.model, self.data)

    def frame(self, name: str, reference: Any) -> tuple[Any, ...]:
        k = self.model.getFrameId(name, pin.BODY)
        M = self.data.oMf[k]
        J = pin.getFrameJacobian(self.model, self.data, k, reference) @ self.A
        moving = (pin.getFrameVelocity, pin.getFrameAcceleration, pin.getFrameClassicalAcceleration)
        return (M.translation, M.rotation, J, *(f(self.model, self.data, k, reference).vector for f in moving))
