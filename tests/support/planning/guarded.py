"""Baxter's left arm beside its body: 20 pairs of shapes; MuJoCo as the robot, coal as the judge."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
from support.judges.coal import distance, of_shape, placed

import diffpbd
from diffpbd.runtime.folder.manifest import Shape
from diffpbd.runtime.model.clearance import Distances
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.model.statics import holding_torque
from diffpbd.runtime.mpc.planner import Mpc
from diffpbd.runtime.mpc.profile import Approach
from diffpbd.runtime.mpc.reference import goal_reference

URDF = Path(diffpbd.__file__).parent / "codegen" / "robots" / "baxter.urdf"
ARM = {  # name: link, ends [m], radius [m], as Rethink's description has them
    "shoulder": ("left_upper_shoulder", (0.0, 0.0, 0.01), (0.0, 0.0, 0.26), 0.061),
    "upper arm": ("left_lower_shoulder", (0.12, 0.0, 0.0), (0.37, 0.0, 0.0), 0.061),
    "forearm": ("left_lower_elbow", (0.1, 0.0, 0.0), (0.35, 0.0, 0.0), 0.061),
    "lower forearm": ("left_lower_forearm", (0.0, 0.0, -0.03), (0.0, 0.0, 0.03), 0.064),
    "wrist": ("left_wrist", (0.0, 0.0, -0.07), (0.0, 0.0, 0.07), 0.062),
    "hand": ("left_wrist", (0.0, 0.0, 0.09), (0.0, 0.0, 0.12), 0.046),
    "gripper": ("left_wrist", (0.0, -0.045, 0.139), (0.0, 0.045, 0.139), 0.03),
}
BODY = {
    "torso": ((0.05, 0.0, 0.0), (0.05, 0.0, 0.5), 0.17),
    "head": ((0.1, -0.06, 0.75), (0.1, 0.06, 0.75), 0.13),
    "pedestal": ((0.0, 0.0, -0.7), (0.0, 0.0, -0.25), 0.25),
}
MOVED = ("forearm", "lower forearm", "wrist", "hand", "gripper")
H, SUBSTEPS = 0.01, 10  # s of a tick, MuJoCo's steps in it


def recipe(folder: Path) -> Path:
    """The recipe's file."""
    shapes = [(name, link, *rest) for name, (link, *rest) in ARM.items()]
    shapes += [(name, "world", *rest) for name, rest in BODY.items()]
    pairs = [f"{one}/{other}" for one in MOVED for other in ("shoulder", *BODY)]
    lines = [
        'name = "guarded"', f'urdf = "{URDF}"', 'base = "torso"', 'tip = "left_hand_link"', f"h = {H}", "clearance = true",
        f"pairs = {pairs}", 'functions = ["mpc", "ik"]',
    ]  # fmt: skip
    for name, link, point, end, radius in shapes:
        lines += ["[[shape]]", f'name = "{name}"', f'link = "{link}"', f"point = {list(point)}", f"end = {list(end)}"]
        lines += [f"radius = {radius}"]
    path = folder / "guarded.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


class Judge:
    """Signed distances of the pairs by coal, at poses of Pinocchio."""

    def __init__(self, shapes: Sequence[Shape], pairs: Sequence[tuple[str, str]]) -> None:
        self.model = pin.buildModelFromUrdf(str(URDF))
        self.data, self.pairs = self.model.createData(), pairs
        self.shapes = {s.name: (s, of_shape(s)) for s in shapes}

    def least(self, q: np.ndarray) -> float:
        """[m]"""
        pin.framesForwardKinematics(self.model, self.data, q)
        at = {"world": (np.eye(3), np.zeros(3))}
        for shape, _ in self.shapes.values():
            if shape.link not in at:
                M = self.data.oMf[self.model.getFrameId(shape.link)]
                at[shape.link] = (np.array(M.rotation), np.array(M.translation))
        forms = {name: (form, *placed(s, *at[s.link])) for name, (s, form) in self.shapes.items()}
        return min(distance(*forms[a], *forms[b]) for a, b in self.pairs)


class Plant:
    """The arm in MuJoCo, torques held for a tick; no damping, friction, limits or contacts."""

    def __init__(self) -> None:
        self.model = mujoco.MjModel.from_xml_path(str(URDF))
        self.model.opt.timestep, self.model.opt.integrator = H / SUBSTEPS, mujoco.mjtIntegrator.mjINT_RK4
        self.model.dof_damping[:] = self.model.dof_frictionloss[:] = 0.0
        for name in ("CONTACT", "LIMIT"):
            self.model.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}"))
        self.data: Any = mujoco.MjData(self.model)

    def start(self, q: np.ndarray) -> None:
        self.data.qpos[:], self.data.qvel[:] = q, 0.0

    def step(self, torque: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """State (q, dq) at the end of a tick."""
        self.data.qfrc_applied[:] = torque
        for _ in range(SUBSTEPS):
            mujoco.mj_step(self.model, self.data)
        return self.data.qpos.copy(), self.data.qvel.copy()


def goals(robot: Robot, least: float, count: int, rng: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
    """Starts, and goals at most 1.2 rad away joint by joint whose pairs are 1 mm to 3 cm further apart than `least` [m], every
    other one with a straight way that is nearer; the motors hold both ends with 70 % of what they have."""
    near, found = Distances(robot, robot.alpha.defaults), []
    low, high, effort = robot.limits.lower + 0.05, robot.limits.upper - 0.05, robot.limits.effort
    while len(found) < count:
        start = low + (high - low) * rng.random(robot.n)
        goal = start + rng.uniform(-1.2, 1.2, robot.n)
        if (goal < low).any() or (goal > high).any():
            continue
        apart, there = near.at(start).min(), near.at(goal).min()
        if apart < least + 0.01 or not least + 0.001 < there < least + 0.03:
            continue
        blocked = near.at(np.linspace(start, goal, 100)).min() < least
        held = [abs(holding_torque(robot, q, robot.alpha.defaults)) for q in (start, goal)]
        if blocked == bool(len(found) % 2) and all((torque < 0.7 * effort).all() for torque in held):
            found.append((start, goal))
    return found


def connected(robot: Robot, least: float, start: np.ndarray, goal: np.ndarray, rng: np.random.Generator) -> bool:
    """Whether two trees that grow towards each other meet (RRT-Connect, Kuffner and LaValle 2000): a planner with time."""
    near = Distances(robot, robot.alpha.defaults)
    low, high = robot.limits.lower, robot.limits.upper

    def free(a: np.ndarray, b: np.ndarray) -> bool:
        count = int(np.ceil(abs(b - a).max() / 0.03)) + 1
        return bool((near.at(np.linspace(a, b, count)) > least).all())

    trees = [[start], [goal]]
    for _ in range(3000):
        one, other = trees
        wanted = low + (high - low) * rng.random(robot.n)
        for tree, connect in ((one, False), (other, True)):
            at = tree[int(np.argmin([abs(q - wanted).max() for q in tree]))]
            while True:
                way = wanted - at
                new = at + way * min(1.0, 0.3 / max(abs(way).max(), 1e-9))
                if not free(at, new):
                    break
                tree.append(new)
                at = new
                if not connect or abs(at - wanted).max() < 1e-9:
                    break
            if not connect:
                wanted = tree[-1]
            elif abs(at - wanted).max() < 1e-9:
                return True
        trees.reverse()
    return False


def driven(
    mpc: Mpc, plant: Plant, judge: Judge, start: np.ndarray, goal: np.ndarray, seconds: float = 4.0
) -> tuple[float, float]:
    """The least distance [m] of all ticks, and how far the goal is at the end [rad]."""
    reference = goal_reference(mpc.problem.robot, goal, Approach(0.8))
    reference.start(start)
    plant.start(start)
    mpc.start()
    q, dq, least = start, np.zeros(len(start)), np.inf
    nodes = H * np.arange(mpc.problem.horizon + 1)
    for k in range(round((reference.takes(start) + seconds) / H)):
        tick = mpc.tick(k * H, q, dq, *reference.at(k * H + nodes))
        q, dq = plant.step(tick.torque)
        least = min(least, judge.least(q))
        if k * H > reference.takes(start) and abs(q - goal).max() < 0.01 and abs(dq).max() < 0.05:
            break
    return least, float(abs(q - goal).max())
