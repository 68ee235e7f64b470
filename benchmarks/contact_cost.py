"""Cost of one contact beside the same arm without it: the arm of Baxter, a sphere at its wrist over a table.

Scenes of 100 steps of 10 ms (viscous friction of 2 N·m s): in flight far above the table, pressed on it with 20 N, pressed and
pushed along it, and hit upon it again and again by random torques. Of the states that each passes, `joint_step` is timed one by
one (impulses unknown) for the arm with the contact and for the arm without it, under the same torques, a slice of the one right
after a slice of the other; MuJoCo steps the same scene (elliptic cone, its sphere on its plane, warm).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.loop_cost import Timed, measured
from benchmarks.native import stopwatch
from diffpbd.codegen.description.front.resolve import ROBOTS
from diffpbd.codegen.generate import generate
from diffpbd.runtime import Robot, load
from diffpbd.runtime.report.tables import table

H, STEPS, ROUNDS, RADIUS, FRICTION, VISCOUS, PLACE = 0.01, 100, 15, 0.03, 0.4, 2.0, (0.0, 0.0, 0.1)
START = np.array([0.0, -0.55, 0.0, 1.28, 0.0, 0.84, 0.0])
"""[rad] Elbow up, the wrist over the table."""
ARM, LINK = "baxter_bare", "left_wrist"


@dataclass(frozen=True)
class Cost:
    """Times of a step [µs] and their ratio, mean iterations of the stages, mean and most evaluations of a step."""

    scene: str
    free: float
    touching: float
    ratio: float
    mujoco: float
    pose: float
    rate: float
    evaluations: float
    most: int


TOUCHING = (
    '[[plane]]\nname = "table"\npoint = [0, 0, 0]\nnormal = [0, 0, 1]\n'
    f'[[contact]]\nname = "tip"\nlink = "{LINK}"\npoint = {list(PLACE)}\nradius = {RADIUS}\nagainst = "table"\n'
    f"friction = {FRICTION}\n"
)


def arm(folder: Path, name: str, more: str = TOUCHING) -> Robot:
    """With the contact, or with what `more` of a recipe says."""
    recipe = folder / f"{name}.toml"
    recipe.write_text(f'name = "{name}"\nurdf = "{source()}"\nbase = "torso"\ntip = "{LINK}"\nsprings = []\n{more}')
    return load(generate(str(recipe), out=folder / name, functions=("joint_step", "rollout")).folder)


def source() -> Path:
    return ROBOTS / f"{ARM}.urdf"


@dataclass(frozen=True)
class Scene:
    """Start rates, torques of every step (STEPS × n) and height of the table."""

    name: str
    pd: Any
    U: Any
    height: float


def scenes(touching: Robot) -> list[Scene]:
    rng, n = np.random.default_rng(0), touching.n
    level = float(np.ravel(touching.contact_gap(START))[0])
    J = np.reshape(touching.contact_jacobian(START), (3, n))
    held, moving, still = np.tile(touching.gravity(START), (STEPS, 1)), 0.3 * rng.standard_normal(n), np.zeros(n)
    random = 2.0 * np.random.default_rng(1).standard_normal((STEPS, n))
    return [
        Scene("flight", moving, held, level - 5.0),
        Scene("pressed", still, held - 20 * J[0], level - 1e-3),
        Scene("pushed along", moving, held - 20 * J[0] + 30 * J[1], level - 1e-3),
        Scene("hit", moving, held - 15 * J[0] + random, level - 1e-3),
    ]


def viscous(robot: Robot) -> dict[str, float]:
    return {name: VISCOUS for name in robot.alpha.names if name.startswith("friction.viscous")}


def costs(folder: Path) -> list[Cost]:
    """Costs of every scene; generates two arms in `folder`."""
    free, touching = arm(folder, "free_arm", ""), arm(folder, "touching_arm")
    watch, timed, found = stopwatch(folder), [Timed(robot, None, folder) for robot in (free, touching)], []
    for scene in scenes(touching):
        alphas = [{**viscous(robot)} for robot in (free, touching)]
        alphas[1]["plane.height.table"] = scene.height
        P, PD = touching.rollout(START, scene.pd, scene.U, h=H, alpha=alphas[1])
        counters = np.array(
            [
                touching.rollout_impulses(p, pd, u[None], h=H, alpha=alphas[1]).counters[0]
                for p, pd, u in zip(P[:-1], PD[:-1], scene.U, strict=True)
            ]
        )
        made = [
            (t.function("joint_step"), [P[:-1], PD[:-1], scene.U, np.array([[H]]), t.robot.alpha.vector(alpha)[None]])
            for t, alpha in zip(timed, alphas, strict=True)
        ]
        times = measured(made, watch, ROUNDS)
        found.append(
            Cost(
                scene.name, *times, mujoco_step(scene), *counters[:, [0, 1, 4]].mean(axis=0), int(counters[:, 4].max())
            )
        )
    return found


def twin(height: float) -> Any:
    """MuJoCo's model of the arm over its table."""
    import mujoco

    spec = mujoco.MjSpec.from_file(str(source()))
    spec.option.cone, spec.option.timestep = mujoco.mjtCone.mjCONE_ELLIPTIC, H
    for geom in list(spec.geoms):
        spec.delete(geom)
    plane, ball = mujoco.mjtGeom.mjGEOM_PLANE, mujoco.mjtGeom.mjGEOM_SPHERE
    friction = [FRICTION, 0, 0]
    spec.worldbody.add_geom(type=plane, size=[5, 5, 0.1], pos=[0, 0, height], friction=friction)
    spec.body(LINK).add_geom(type=ball, size=[RADIUS, 0, 0], pos=list(PLACE), friction=friction, mass=0)
    model = spec.compile()
    model.dof_damping[:] = VISCOUS
    return model


def mujoco_step(scene: Scene) -> float:
    """Mean time [µs] of MuJoCo's step along the scene, the least of some runs."""
    import mujoco

    model = twin(scene.height)
    data, best = mujoco.MjData(model), np.inf
    for _ in range(5):
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.qvel[:], spent = START, scene.pd, 0.0
        for u in scene.U:
            data.qfrc_applied[:] = u
            start = time.thread_time_ns()
            mujoco.mj_step(model, data)
            spent += time.thread_time_ns() - start
        best = min(best, 1e-3 * spent / STEPS)
    return float(best)


def text(rows: list[Cost]) -> str:
    head = (
        "arm with one contact",
        "free us",
        "touching us",
        "ratio",
        "MuJoCo us",
        "ours/its",
        "iterations",
        "evaluations, most",
    )
    return table(
        head,
        [
            [
                r.scene, f"{r.free:.2f}", f"{r.touching:.2f}", f"{r.ratio:.2f}", f"{r.mujoco:.2f}",
                f"{r.touching / r.mujoco:.2f}", f"{r.pose:.2f} + {r.rate:.2f}", f"{r.evaluations:.1f}, {r.most}",
            ]
            for r in rows
        ],
    )  # fmt: skip
