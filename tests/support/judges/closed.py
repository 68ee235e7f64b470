"""Accelerations of mechanisms with closed loops by pinocchio: every row of every hinge or distance, pseudo-inverted."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from scipy.integrate import solve_ivp

from diffpbd.codegen.description.robot.robot import Loop, LoopType, Robot

AXES = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED


class Judge:
    """Apart from the product: pinocchio's inertia, bias forces and frame Jacobians; the loops are pulled closed gently."""

    def __init__(self, urdf: Path, robot: Robot) -> None:
        self.robot = robot
        self.model = pin.buildModelFromUrdf(str(urdf))
        self.names = [joint.name for joint in robot.joints]
        self.loops = [(self._end(loop, True), self._end(loop, False), loop) for loop in robot.loops]
        self.data = self.model.createData()
        self.v = [self.model.joints[self.model.getJointId(k)].idx_v for k in self.names]

    def _end(self, loop: Loop, parent: bool) -> tuple[int | None, Any, Any]:
        """The cut frame as a frame of the model, or its place in the world."""
        link = loop.parent if parent else loop.child
        R = np.array(loop.parent_rotation if parent else loop.child_rotation)
        x = np.array(loop.parent_translation if parent else loop.child_translation)
        if link < 0:
            return None, x, R
        body = self.model.getFrameId(self.robot.links[link].name)
        frame = self.model.frames[body]
        made = pin.Frame(
            f"{loop.name}{parent}", frame.parentJoint, body, frame.placement * pin.SE3(R, x), pin.FrameType.OP_FRAME
        )
        return self.model.addFrame(made), x, R

    def q(self, p: Any) -> Any:
        found = np.zeros(self.model.nq)
        for name, x in zip(self.names, p, strict=True):
            joint = self.model.joints[self.model.getJointId(name)]
            found[joint.idx_q : joint.idx_q + joint.nq] = (math.cos(x), math.sin(x)) if joint.nq == 2 else x
        return found

    def _side(self, end: tuple[int | None, Any, Any]) -> tuple[Any, ...]:
        """Place and axes, Jacobian, velocity and acceleration at rest of the coordinates."""
        frame, x, R = end
        if frame is None:
            return x, R, np.zeros((6, self.model.nv)), np.zeros(6), np.zeros(6)
        J = pin.getFrameJacobian(self.model, self.data, frame, AXES)
        turned = self.data.oMf[frame]
        speed = pin.getFrameVelocity(self.model, self.data, frame, AXES).vector
        return turned.translation, turned.rotation, J, speed, pin.getFrameClassicalAcceleration(
            self.model, self.data, frame, AXES
        ).vector  # fmt: skip

    def _rows(self) -> tuple[Any, Any, Any]:
        """Residuals, Jacobian and acceleration at rest of every row."""
        g, J, c = [], [], []
        for one, other, loop in self.loops:
            (xa, Ra, Ja, va, aa), (xb, Rb, Jb, vb, ab) = self._side(one), self._side(other)
            gap, shift, fast, more = xb - xa, Jb[:3] - Ja[:3], vb[:3] - va[:3], ab[:3] - aa[:3]
            if loop.type is LoopType.DISTANCE:
                g.append([(gap @ gap - loop.length**2) / (2 * loop.length)])
                J.append((gap @ shift)[None] / loop.length)
                c.append([(gap @ more + fast @ fast) / loop.length])
                continue
            za, zb, skew = Ra @ np.array(loop.axis), Rb @ np.array(loop.axis), pin.skew
            da, db = np.cross(va[3:], za), np.cross(vb[3:], zb)
            dda, ddb = np.cross(aa[3:], za) + np.cross(va[3:], da), np.cross(ab[3:], zb) + np.cross(vb[3:], db)
            g += [gap, np.cross(za, zb)]
            J += [shift, -skew(za) @ skew(zb) @ Jb[3:] + skew(zb) @ skew(za) @ Ja[3:]]
            c += [more, np.cross(dda, zb) + 2 * np.cross(da, db) + np.cross(za, ddb)]
        return np.concatenate(g), np.vstack(J), np.concatenate(c)

    def acceleration(self, p: Any, pd: Any, u: Any, pull: float = 0.0) -> Any:
        """Accelerations of the joints; `pull` [1/s] is the rate at which gaps are closed (of an integration's rounding)."""
        model, data, q = self.model, self.data, self.q(p)
        v, push = np.zeros(model.nv), np.zeros(model.nv)
        v[self.v], push[self.v] = pd, u
        M = pin.crba(model, data, q)
        M = np.triu(M) + np.triu(M, 1).T
        push -= pin.nonLinearEffects(model, data, q, v)
        pin.forwardKinematics(model, data, q, v, 0 * v)
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        g, J, c = self._rows()
        c = c + 2 * pull * (J @ v) + pull**2 * g
        inverse = np.linalg.inv(M)
        force = np.linalg.lstsq(J @ inverse @ J.T, -(c + J @ inverse @ push), rcond=1e-9)[0]
        return (inverse @ (push + J.T @ force))[self.v]

    def swing(self, p: Any, pd: Any, u: Any, duration: float) -> Any:
        """State (2 n) after a time, by DOP853."""
        n = len(p)
        found = solve_ivp(
            lambda _, y: np.concatenate([y[n:], self.acceleration(y[:n], y[n:], u, 20.0)]),
            [0, duration], np.concatenate([p, pd]), method="DOP853", rtol=1e-12, atol=1e-12,
        )  # fmt: skip
        return found.y[:, -1]

    def energy(self, p: Any, pd: Any) -> float:
        v = np.zeros(self.model.nv)
        v[self.v] = pd
        q = self.q(p)
        kinetic = pin.computeKineticEnergy(self.model, self.data, q, v)
        return float(kinetic + pin.computePotentialEnergy(self.model, self.data, q))
