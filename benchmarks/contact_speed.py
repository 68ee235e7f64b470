"""A step in contact, and a step with its Jacobian, beside MuJoCo's: a cube tumbling, sliding on four corners and at rest, a
quadruped standing, an arm pressing.

    python -m benchmarks.contact_speed

The acrylic cube of docs/examples/contact with eight corners (h = 1/148 s, friction 0.18), Solo of stand.py there (5 ms),
Baxter's arm of `contact_cost` that presses with 20 N (10 ms). Steps: both continue with what the last step left (impulses
warm); thread time of rollouts from Python in one thread, by turns, less that of a rollout of one step, the least of 40.
Jacobians at the states that the rollouts pass: `jac_joint_step` of each from no impulses known (by pose, rates and
torques), beside `mjd_transitionFD` with one-sided differences (by pose and rates), which steps from warm forces.
"""

from __future__ import annotations

import runpy
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from mujoco import rollout

from benchmarks import contact_cost
from diffpbd.codegen.generate import generate
from diffpbd.runtime import Robot, load
from diffpbd.runtime.report.tables import table

H, HALF, FRICTION, ROUNDS, REPEATS, DIFFERENCE = 1 / 148, 0.0524, 0.18, 40, 5, 1e-6
EXAMPLES = Path(__file__).parents[1] / "docs" / "examples" / "contact"
TURN = np.array([0.9, 0.3, 0.2, 0.1]) / np.sqrt(0.95)
FLAT = (1.0, 0.0, 0.0, 0.0)
CUBES = {
    "cube tumbling": (90, [0, 0, 0.12, *TURN], [0.8, 0.3, -0.5, 6, -5, 4]),
    "cube sliding": (100, [0, 0, HALF, *FLAT], [1.5, 0.4, 0, 0, 0, 0]),
    "cube resting": (148, [0, 0, HALF, *FLAT], [0] * 6),
}
"""Steps, pose, rates."""
WORLD = """<mujoco><option timestep="{h}" cone="elliptic"/><worldbody>
<geom type="plane" size="9 9 .1" friction="{mu} 0 0" condim="3"/>
<body><freejoint/><inertial pos="{com}" mass="{mass}" diaginertia="{moments}"/>
<geom type="box" size="{half} {half} {half}" friction="{mu} 0 0" condim="3"/></body></worldbody></mujoco>"""


@dataclass(frozen=True)
class Scene:
    """A robot with its start, torques of every step (steps × n) and parameters, and MuJoCo's model of it."""

    name: str
    robot: Robot
    model: Any
    h: float
    p: Any
    pd: Any
    U: Any
    alpha: Any

    def state(self) -> Any:
        """MuJoCo's: time, pose, rates; angular velocities of a free body are in its own axes there."""
        v = np.array(self.pd, dtype=float)
        if len(self.p) > len(v):
            axes = np.zeros(9)
            mujoco.mju_quat2Mat(axes, self.p[3:7])
            v[3:6] = axes.reshape(3, 3).T @ v[3:6]
        return np.concatenate([[0.0], self.p, v])[None]


def cube(entries: dict[str, float]) -> Any:
    words = {
        "com": " ".join(str(entries[f"com.cube.{k}"]) for k in "xyz"),
        "moments": " ".join(str(entries[f"inertia.cube.{k}"]) for k in ("xx", "yy", "zz")),
    }
    return mujoco.MjModel.from_xml_string(WORLD.format(h=H, mu=FRICTION, half=HALF, mass=entries["mass.cube"], **words))


def cubes(folder: Path) -> list[Scene]:
    robot = load(generate(str(EXAMPLES / "cube.toml"), out=folder / "cube").folder)
    alpha = robot.alpha.vector({"contact.friction.cube": FRICTION})
    model = cube(dict(zip(robot.alpha.names, alpha.tolist(), strict=True)))
    return [
        Scene(name, robot, model, H, np.array(pose), np.array(rates, dtype=float), np.zeros((steps, 6)), alpha)
        for name, (steps, pose, rates) in CUBES.items()
    ]


def quadruped(folder: Path) -> Scene:
    """Springs and dampers hold its joints, as in the example."""
    stand = runpy.run_path(str(EXAMPLES / "stand.py"))
    robot, h = stand["make"](folder), stand["H"]
    joints = [j.name for j in robot.manifest.robot.joints][6:]
    rest = {name: (-1.4 if "K" in name else 0.7) * (1.0 if name.startswith("F") else -1.0) for name in joints}
    entries = {f"spring.stiffness.{name}": 6.0 for name in joints} | {
        f"friction.viscous.{name}": 0.5 for name in joints
    }
    entries |= {f"spring.rest.{name}": rest[name] for name in joints}
    entries |= {f"contact.load.{foot}": 9.81 * robot.manifest.robot.total_mass / 4 for foot in stand["FEET"]}
    alpha = robot.alpha.vector(entries)
    p = np.array([0.0, 0.0, 0.3, *FLAT, *rest.values()])
    p[2] -= robot.contact_gap(p, alpha=alpha).min() - 1e-3
    spec = mujoco.MjSpec.from_file(str(stand["DATA"] / "solo_description" / "robots" / "solo.urdf"))
    spec.option.cone, spec.option.timestep, spec.compiler.fusestatic = mujoco.mjtCone.mjCONE_ELLIPTIC, h, False
    for geom in list(spec.geoms):
        spec.delete(geom)
    for mesh in list(spec.meshes):
        spec.delete(mesh)
    spec.worldbody.first_body().add_freejoint()
    touch: dict[str, Any] = {"friction": [stand["FRICTION"], 0, 0], "condim": 3}
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[5, 5, 0.1], **touch)
    for foot in stand["FEET"]:
        spec.body(foot).add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[stand["RADIUS"], 0, 0], mass=0, **touch)
    model = spec.compile()
    model.dof_damping[6:], model.jnt_stiffness[1:], model.qpos_spring[7:] = 0.5, 6.0, list(rest.values())
    assert [model.joint(k).name for k in range(1, model.njnt)] == joints
    return Scene("quadruped standing", robot, model, h, p, np.zeros(robot.n), np.zeros((200, robot.n)), alpha)


def pressing(folder: Path) -> Scene:
    robot = contact_cost.arm(folder, "touching_arm")
    scene = next(k for k in contact_cost.scenes(robot) if k.name == "pressed")
    alpha = robot.alpha.vector({**contact_cost.viscous(robot), "plane.height.table": scene.height})
    model = contact_cost.twin(scene.height)
    return Scene("arm pressing", robot, model, contact_cost.H, contact_cost.START, scene.pd, scene.U, alpha)


def by_turns(*calls: tuple[Callable[[], object], float]) -> list[float]:
    """Least thread time of every call [µs], divided by its number."""
    least = [np.inf] * len(calls)
    for _ in range(ROUNDS):
        for k, (call, number) in enumerate(calls):
            begun = time.thread_time()
            for _ in range(REPEATS):
                call()
            least[k] = min(least[k], (time.thread_time() - begun) / REPEATS / number * 1e6)
    return least


def steps(s: Scene) -> tuple[float, float]:
    """Time of a step, ours and MuJoCo's [µs]."""
    data, state, push = mujoco.MjData(s.model), s.state(), mujoco.mjtState.mjSTATE_QFRC_APPLIED

    def ours(count: int) -> tuple[Callable[[], object], float]:
        return lambda: s.robot.rollout(s.p, s.pd, s.U[:count], h=s.h, alpha=s.alpha), 1.0

    def theirs(count: int) -> tuple[Callable[[], object], float]:
        control = np.array(s.U[:count])[None]
        return lambda: rollout.rollout(s.model, data, state, control, control_spec=push, nstep=count), 1.0

    n = len(s.U)
    a, b, one, other = by_turns(ours(n), theirs(n), ours(1), theirs(1))
    return (a - one) / (n - 1), (b - other) / (n - 1)


def slopes(s: Scene) -> tuple[float, float]:
    """Time of a step with its Jacobian, ours and MuJoCo's [µs]."""
    P, PD = s.robot.rollout(s.p, s.pd, s.U, h=s.h, alpha=s.alpha)
    (ours,) = by_turns((lambda: s.robot.jac_joint_step(P[:-1], PD[:-1], s.U, h=s.h, alpha=s.alpha), len(s.U)))
    data, state, nv, best = mujoco.MjData(s.model), s.state()[0], s.model.nv, np.inf
    A = np.zeros((2 * nv, 2 * nv))
    for _ in range(3):
        mujoco.mj_resetData(s.model, data)
        data.qpos[:], data.qvel[:], spent = state[1 : 1 + s.model.nq], state[1 + s.model.nq :], 0.0
        for u in s.U:
            data.qfrc_applied[:] = u
            begun = time.thread_time()
            mujoco.mjd_transitionFD(s.model, data, DIFFERENCE, False, A, None, None, None)
            spent += time.thread_time() - begun
            mujoco.mj_step(s.model, data)
        best = min(best, spent / len(s.U) * 1e6)
    return ours, best


def main() -> None:
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for s in (*cubes(folder), quadruped(folder), pressing(folder)):
            ours, theirs = steps(s)
            jac, transition = slopes(s)
            found = s.robot.rollout_impulses(s.p, s.pd, s.U, h=s.h, alpha=s.alpha)
            spent = np.asarray(found.counters)[:, 4].mean()
            rows.append(
                [
                    s.name, f"{ours:.2f}", f"{theirs:.2f}", f"{ours / theirs:.2f}", f"{spent:.1f}", f"{jac:.1f}",
                    f"{transition:.1f}", f"{jac / transition:.2f}",
                ]
            )  # fmt: skip
    head = ["scene", "step [µs]", "MuJoCo [µs]", "ratio", "evaluations", "Jacobian [µs]", "MuJoCo [µs]", "ratio"]
    print(table(head, rows))


if __name__ == "__main__":
    main()
