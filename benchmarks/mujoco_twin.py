"""MuJoCo on the file itself: what a robot read from an MJCF has to say, coordinate by coordinate."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import casadi as ca
import mujoco
import numpy as np

from diffpbd.codegen.description.recipe import Recipe
from diffpbd.codegen.description.robot import Robot
from diffpbd.codegen.graph.functions import Graphs
from diffpbd.codegen.graph.model import build

OFF = ("CONTACT", "LIMIT", "EQUALITY", "FRICTIONLOSS", "WARMSTART")
"""What is constrained softly there, or not part of the dynamics of a tree."""


class Judge:
    """The compiled model, whose `qpos` are set from p of all joints (n), mimics and hinges of balls included."""

    def __init__(self, source: Path | str, robot: Robot) -> None:
        of = mujoco.MjModel.from_xml_string if isinstance(source, str) else mujoco.MjModel.from_xml_path
        self.model = of(str(source))
        for name in OFF:
            self.model.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}"))
        self.data = mujoco.MjData(self.model)
        self.robot = robot
        index = {self.model.joint(k).name: k for k in range(self.model.njnt)}
        self.at = [index.get(joint.name, -1) for joint in robot.joints]
        self.v = [int(self.model.jnt_dofadr[k]) for k in self.at]
        self.q = [int(self.model.jnt_qposadr[k]) for k in self.at]

    def set(self, p: Any, pd: Any) -> None:
        """Positions and rates of all joints of the robot (n); every joint must be a hinge or slide of the file."""
        self.data.qpos[self.q] = p
        self.data.qvel[:] = 0.0
        self.data.qvel[self.v] = pd
        mujoco.mj_forward(self.model, self.data)

    def mass(self) -> Any:
        M = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, M)
        return M[np.ix_(self.v, self.v)]

    def torque(self, pdd: Any) -> Any:
        """M pdd + bias − springs and damping."""
        return self.mass() @ pdd + (self.data.qfrc_bias - self.data.qfrc_passive)[self.v]

    def pose(self, name: str) -> tuple[Any, Any]:
        """Place and rotation of a body or site in the world."""
        if mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, name) >= 0:
            there = self.data.body(name)
        else:
            there = self.data.site(name)
        return there.xpos.copy(), there.xmat.reshape(3, 3).copy()


class Functions:
    """Plain functions of a robot by numbers, without compiling anything; Coulomb friction is left out, as OFF says."""

    def __init__(self, robot: Robot, recipe: Recipe) -> None:
        graphs = Graphs(build(robot, recipe))
        self.model = graphs.model
        dry = "friction.coulomb."
        self.alpha = [0.0 if entry.name.startswith(dry) else entry.default for entry in graphs.model.entries]
        self.graphs = {name: (inputs, outputs) for name, inputs, outputs in graphs.values()}
        self.made: dict[str, Any] = {}

    def __call__(self, name: str, *arguments: Any) -> list[Any]:
        if name not in self.made:
            inputs, outputs = self.graphs[name]
            self.made[name] = ca.Function(name, [v for _, v in inputs], [ca.densify(v) for v in outputs.values()])
        found = self.made[name](*arguments, self.alpha)
        return [np.array(x).squeeze() for x in (found if isinstance(found, (tuple, list)) else [found])]


def gears(robot: Robot) -> tuple[Any, Any]:
    """A, b of p of all joints = A p + b."""
    A, b = np.zeros((robot.n, len(robot.independent))), np.zeros(robot.n)
    for i, joint in enumerate(robot.joints):
        leader = i if joint.mimic is None else joint.mimic.joint
        A[i, robot.independent.index(leader)] = 1.0 if joint.mimic is None else joint.mimic.multiplier
        b[i] = 0.0 if joint.mimic is None else joint.mimic.offset
    return A, b


def differences(judge: Judge, functions: Functions, states: int = 4) -> dict[str, float]:
    """Largest differences from MuJoCo over random states, relative to the largest entry."""
    robot, rng = judge.robot, np.random.default_rng(11)
    A, b = gears(robot)
    worst = {"mass": 0.0, "torque": 0.0, "place": 0.0, "turn": 0.0}
    tips = [tip.name for tip in robot.tips]
    for _ in range(states):
        p, pd, pdd = (rng.uniform(-size, size, A.shape[1]) for size in (math.pi, 2.0, 5.0))
        judge.set(A @ p + b, A @ pd)
        wanted = {"mass": A.T @ judge.mass() @ A, "torque": A.T @ judge.torque(A @ pdd)}
        wanted["place"], wanted["turn"] = judge.pose(tips[0])
        place, turn = functions("tip_pose", p)[:2]
        found = {"mass": functions("mass_matrix", p)[0], "torque": sum(functions("inverse_dynamics", p, pd, pdd))}
        found |= {"place": place, "turn": turn.reshape(3, 3) if turn.size == 9 else turn}
        for key, value in wanted.items():
            gap = np.max(np.abs(found[key].reshape(value.shape) - value))
            worst[key] = max(worst[key], float(gap / np.max(np.abs(value))))
    return worst
