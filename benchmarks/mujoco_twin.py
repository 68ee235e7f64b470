"""MuJoCo on the file itself: what a robot read from an MJCF has to say, coordinate by coordinate."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import casadi as ca
import mujoco
import numpy as np
from scipy.integrate import solve_ivp

from diffpbd.codegen.description.read.mjcf.names import Names
from diffpbd.codegen.description.recipe.recipe import Recipe
from diffpbd.codegen.description.robot.robot import Robot
from diffpbd.codegen.graph.functions.functions import Graphs
from diffpbd.codegen.graph.loops.build import build

OFF = ("CONTACT", "LIMIT", "EQUALITY", "FRICTIONLOSS", "WARMSTART")
"""What is constrained softly there, or not part of the dynamics of a tree."""


class Judge:
    """The compiled model, whose `qpos` are set from p of all joints (n), mimics and hinges of balls included."""

    def __init__(self, source: Path | str | mujoco.MjModel, robot: Robot) -> None:
        """`source` is a file, its text, or a compiled model."""
        of = mujoco.MjModel.from_xml_string if isinstance(source, str) else mujoco.MjModel.from_xml_path
        self.model = source if isinstance(source, mujoco.MjModel) else of(str(source))
        for name in OFF:
            self.model.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}"))
        self.model.body_gravcomp[:] = 0.0  # as a controller's it is left out
        self.data = mujoco.MjData(self.model)
        self.robot = robot
        names = Names(self.model)  # of what has none in the file
        self.bodies = names.bodies
        self.at = [names.joints.index(joint.name) for joint in robot.joints]
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

    def acceleration(self, p: Any, pd: Any, u: Any, pull: float = 0.0) -> Any:
        """Accelerations of all joints of the robot under torques u, equalities held exactly: all rows, pseudo-inverted.

        `pull` [1/s] is the rate at which gaps are closed (of an integration's rounding).
        """
        self.set(p, pd)
        gaps, J, bias = (np.concatenate(parts) for parts in zip(*self._equalities(), strict=True))
        J = J[:, self.v]
        bias = bias + 2.0 * pull * (J @ pd) + pull**2 * gaps
        push = u + (self.data.qfrc_passive - self.data.qfrc_bias)[self.v]
        inverse = np.linalg.inv(self.mass())
        force = np.linalg.lstsq(J @ inverse @ J.T, -(bias + J @ inverse @ push), rcond=1e-9)[0]
        return inverse @ (push + J.T @ force)

    def _equalities(self) -> Iterator[tuple[Any, Any, Any]]:
        """Gaps, Jacobian (rows × nv) and its rate times the rates, of every connect and coupling of joints."""
        model, data, nv = self.model, self.data, self.model.nv
        for k in range(model.neq):
            kind, one, other = (int(x[k]) for x in (model.eq_type, model.eq_obj1id, model.eq_obj2id))
            if kind == mujoco.mjtEq.mjEQ_JOINT:
                row = np.zeros(nv)
                q = [int(model.jnt_qposadr[j]) for j in (one, other)]
                a0, a1 = model.eq_data[k][:2]
                row[model.jnt_dofadr[one]], row[model.jnt_dofadr[other]] = 1.0, -a1
                turns = data.qpos[q] - model.qpos0[q]
                yield np.array([turns[0] - a0 - a1 * turns[1]]), row[None], np.zeros(1)
                continue
            sides = []
            ends = [(one, model.eq_data[k][0:3]), (other, model.eq_data[k][3:6])]
            if int(model.eq_objtype[k]) == mujoco.mjtObj.mjOBJ_SITE:
                ends = [(int(model.site_bodyid[site]), model.site_pos[site]) for site in (one, other)]
            for body, anchor in ends:
                point = data.xpos[body] + data.xmat[body].reshape(3, 3) @ anchor
                J, rate = np.zeros((3, nv)), np.zeros((3, nv))
                mujoco.mj_jac(model, data, J, None, point, body)
                mujoco.mj_jacDot(model, data, rate, None, point, body)
                sides.append((point, J, rate @ data.qvel))
            yield tuple(b - a for a, b in zip(*sides, strict=True))

    def swing(self, p: Any, pd: Any, u: Any, duration: float) -> Any:
        """State (2 n) of all joints after a time under constant torques, by DOP853."""
        n = len(p)
        return solve_ivp(
            lambda _, y: np.concatenate([y[n:], self.acceleration(y[:n], y[n:], u, 20.0)]),
            [0, duration], np.concatenate([p, pd]), method="DOP853", rtol=1e-12, atol=1e-12,
        ).y[:, -1]  # fmt: skip

    def pose(self, name: str) -> tuple[Any, Any]:
        """Place and rotation of a body or site in the world."""
        there = self.data.body(self.bodies.index(name)) if name in self.bodies else self.data.site(name)
        return there.xpos.copy(), there.xmat.reshape(3, 3).copy()


def hinged(spec: mujoco.MjSpec) -> mujoco.MjSpec:
    """The file with three hinges in the place of every ball, as diffpbd takes it."""
    for body in list(spec.bodies):
        for joint in list(body.joints):
            if joint.type == mujoco.mjtJoint.mjJNT_BALL:
                name, place = joint.name, joint.pos
                spec.delete(joint)
                for axis, letter in zip(np.eye(3), "xyz", strict=True):
                    body.add_joint(name=f"{name}.{letter}", type=mujoco.mjtJoint.mjJNT_HINGE, axis=axis, pos=place)
    for key in list(spec.keys):
        spec.delete(key)
    return spec


class Functions:
    """Plain functions of a robot by numbers, without compiling anything; Coulomb friction is left out, as OFF says."""

    def __init__(self, robot: Robot, recipe: Recipe) -> None:
        graphs = Graphs(build(robot, recipe), forward=False)
        self.model = graphs.model
        dry = "friction.coulomb."
        self.alpha = [0.0 if entry.name.startswith(dry) else entry.default for entry in graphs.model.entries]
        self.values = graphs.values()
        """Derived as far as what is asked for."""
        self.made: dict[str, Any] = {}

    def __call__(self, name: str, *arguments: Any) -> list[Any]:
        while name not in self.made:
            made, inputs, outputs = next(self.values)
            self.made[made] = ca.Function(made, [v for _, v in inputs], [ca.densify(v) for v in outputs.values()])
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
