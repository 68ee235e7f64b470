"""A planar arm of two links on its way around a ball, and its distance from it by plane geometry."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from support.robots import generated

from diffpbd.runtime import Robot
from diffpbd.runtime.mpc.options import MpcOptions
from diffpbd.runtime.mpc.planner import Mpc
from diffpbd.runtime.mpc.problem import Status

LENGTH, WIDTH = 0.4, 0.03  # m, of both links

LINK = """<link name="{0}"><inertial><origin xyz="0.2 0 0"/><mass value="1"/>
<inertia ixx="0.001" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><origin xyz="0.2 0 0" rpy="0 1.5707963267948966 0"/><geometry>
<capsule radius="0.03" length="0.4"/></geometry></collision>
</link>"""

JOINT = """<joint name="{0}" type="revolute"><parent link="{1}"/><child link="{2}"/><origin xyz="{3} 0 0"/><axis xyz="0 0 1"/>
<limit lower="-3" upper="3" effort="40" velocity="4"/></joint>"""

URDF = "\n".join([
    '<robot name="planar"><link name="base"/>', LINK.format("upper"), LINK.format("lower"),
    JOINT.format("shoulder", "base", "upper", 0), JOINT.format("elbow", "upper", "lower", LENGTH), "</robot>",
])  # fmt: skip

BALL = np.array([0.585, 0.545, 0.0, 0.08])

START, GOAL = np.array([-0.3, 0.2]), np.array([0.9, 1.6])

LEAST, STEPS, H = 0.03, 15, 0.02

CURVED = 1e-3  # m, what a program's straight rows and the way between two instants may miss


def planar(folder: Path, functions: tuple[str, ...] = ("mpc",), obstacles: tuple[str, ...] = ("spheres=1",)) -> Path:
    """The generated folder of the arm, whose description is written to `folder`."""
    (folder / "planar.urdf").write_text(URDF, encoding="utf-8")
    return generated(str(folder / "planar.urdf"), functions=functions, clearance=True, obstacles=obstacles)


def planned(arm: Robot, horizon: int = STEPS, **options: object) -> Mpc:
    mpc = Mpc(arm, horizon, h=H, options=MpcOptions(**options))  # type: ignore[arg-type]
    mpc.problem.apart.place({"spheres": [BALL]})
    return mpc


def apart(q: np.ndarray) -> float:
    """The least distance [m] of the links from the ball, of segments and a point in a plane."""
    elbow = LENGTH * np.array([np.cos(q[0]), np.sin(q[0])])
    tip = elbow + LENGTH * np.array([np.cos(q.sum()), np.sin(q.sum())])

    def to(a: np.ndarray, b: np.ndarray) -> float:
        s = np.clip((BALL[:2] - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
        return float(np.linalg.norm(a + s * (b - a) - BALL[:2]))

    return min(to(np.zeros(2), elbow), to(elbow, tip)) - BALL[3] - WIDTH


def followed(arm: Robot, mpc: Mpc, seconds: float = 2.0, way: float = 1.0) -> tuple[np.ndarray, list[Status]]:
    """Poses of a run to the goal, straight in joints, and statuses."""
    p, pd, poses, statuses = START.copy(), np.zeros(2), [START], []
    for k in range(round(seconds / H)):
        share = np.clip((k + np.arange(mpc.problem.horizon + 1)) * H / way, 0.0, 1.0)[:, None]
        tick = mpc.tick(k * H, p, pd, START + share * (GOAL - START))
        p, pd = arm.joint_step(p, pd, tick.torque, H)
        poses.append(p)
        statuses.append(tick.status)
    return np.array(poses), statuses
