"""`python -m benchmarks.ik`: reachable poses of arms, solved by `<robot>_ik`, Pink and mink in the same run.

Every solver gets the same goals, poses of random positions within the limits, and begins at the same random position, then at
others, ten in all. Pinocchio judges: a pose is solved where its placement of the tip is within 1e-4 m and 1e-4 rad of it and
every joint within its limits. Times are CPU time of the thread for a goal, all starts that it took included.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

import diffpbd
from benchmarks.native import compile_c

ROOT = Path(__file__).parent.parent
CLOSE = 1e-4
"""[m, rad] What counts as solved, for all."""
STARTS, STEPS = 10, 50
"""Starts of each solver, and steps of a peer's start."""
Array = Any


@dataclass(frozen=True)
class Case:
    """An arm: its description and the tip. Pinocchio, which reads this MJCF's base turned by half a turn, gets a URDF of it."""

    name: str
    file: Path
    tip: str

    def model(self, build: Path) -> pin.Model:
        file = self.file
        if file.suffix == ".xml":
            file = build / f"{self.name}.urdf"
            diffpbd.export_urdf(self.file, file, tip=[self.tip])
        return pin.buildModelFromUrdf(str(file))


def cases(panda: Path, ur5e: Path) -> list[Case]:
    return [
        Case("panda", panda, "panda_hand_tcp"), Case("ur5e", ur5e, "wrist_3_link"),
        Case("baxter", ROOT / "diffpbd" / "codegen" / "robots" / "baxter.urdf", "left_hand_link"),
    ]  # fmt: skip


@dataclass
class Goals:
    """Placements of the tip at random positions within the limits, and where searches begin (goals, n)."""

    model: pin.Model
    frame: int
    lower: Array
    upper: Array
    poses: list[pin.SE3]
    starts: Array

    @classmethod
    def of(cls, case: Case, joints: tuple[str, ...], count: int, build: Path) -> Goals:
        whole = case.model(build)
        others = [k for k, name in enumerate(whole.names) if k > 0 and name not in joints]
        model = pin.buildReducedModel(whole, others, pin.neutral(whole))
        if list(model.names)[1:] != list(joints):
            raise SystemExit(f"{case.name}: pinocchio and diffpbd order the joints differently.")
        rng, data, frame = np.random.default_rng(0), model.createData(), model.getFrameId(case.tip)
        lower, upper = np.maximum(model.lowerPositionLimit, -np.pi), np.minimum(model.upperPositionLimit, np.pi)
        poses = []
        for q in rng.uniform(lower, upper, (count, len(joints))):
            pin.framesForwardKinematics(model, data, q)
            poses.append(data.oMf[frame].copy())
        starts = rng.uniform(lower, upper, (count, len(joints)))
        return cls(model, frame, model.lowerPositionLimit, model.upperPositionLimit, poses, starts)

    def first(self, count: int) -> Goals:
        """The first `count` of them."""
        return replace(self, poses=self.poses[:count], starts=self.starts[:count])

    def misses(self, data: Any, k: int, q: Array) -> tuple[float, float]:
        pin.framesForwardKinematics(self.model, data, q)
        here, goal = data.oMf[self.frame], self.poses[k]
        turn = float(np.linalg.norm(pin.log3(goal.rotation @ here.rotation.T)))
        return float(np.linalg.norm(goal.translation - here.translation)), turn

    def judge(self, name: str, q: Array, seconds: Array, told: Array) -> dict[str, Any]:
        """`told`: which goals the solver says that it reached."""
        data = self.model.createData()
        found = np.array([self.misses(data, k, q[k]) for k in range(len(q))])
        inside = ((q >= self.lower - 1e-9) & (q <= self.upper + 1e-9)).all(axis=1)
        within = (found <= CLOSE).all(axis=1) & inside
        solved = within & told
        us = 1e6 * seconds
        return {
            "solver": name, "goals": len(q), "solved": float(solved.mean()), "median_us": float(np.median(us)),
            "p99_us": float(np.quantile(us, 0.99)), "mean_us": float(us.mean()),
            "worst_miss_of_solved": [float(x) for x in found[solved].max(axis=0)] if solved.any() else [],
            "missed_unsaid": int((told & ~within).sum()),
        }  # fmt: skip


def ours(case: Case, robot: diffpbd.Robot, goals: Goals, build: Path) -> dict[str, Any]:
    compile_c(Path(__file__).with_suffix(".c"), build / "ik.so")
    library, rows, n = ctypes.CDLL(str(build / "ik.so")), len(goals.poses), robot.n
    positions = np.array([pose.translation for pose in goals.poses])
    rotations = np.array([pose.rotation.T.ravel() for pose in goals.poses])  # column by column
    q, info, status, seconds = np.zeros((rows, n)), np.zeros((rows, 4)), np.zeros(rows, np.intc), np.zeros(rows)
    frame = np.array([float(robot.manifest.robot.frames.index(case.tip))])
    options, starts = np.array([0.0, 0.0, STARTS, 0.0, 0.0, 0.0]), np.ascontiguousarray(goals.starts)
    work = np.zeros((robot.functions["ik"].facts.work_size or 0) + 1)
    arrays = (positions, rotations, np.array([1.0, 0.3]), starts, np.zeros(n), frame, options, robot.alpha.defaults)
    own = ctypes.CDLL(str(robot.folder / robot.manifest.library))
    symbol = ctypes.cast(getattr(own, f"{robot.name}_ik"), ctypes.c_void_p)
    given = [np.ascontiguousarray(a) for a in arrays]
    outputs = (q, info, status, seconds, work)
    for _ in range(2):  # the first round warms the caches
        library.time_ik(
            symbol, ctypes.c_long(rows), ctypes.c_int(n),
            *(ctypes.c_void_p(a.ctypes.data) for a in (*given, *outputs)),
        )  # fmt: skip
    return goals.judge("diffpbd", q, seconds, status == 0)


Step = Callable[[Array], Array]


def stepped(name: str, goals: Goals, count: int, solver: Callable[[int], tuple[Callable[[Array], None], Step]]) -> Any:
    """A peer that makes steps: from the start and then from further random positions, `STEPS` each."""
    rng, data = np.random.default_rng(1), goals.model.createData()
    q, seconds, told = np.zeros((count, goals.model.nq)), np.zeros(count), np.zeros(count, np.bool_)
    lower, upper = np.maximum(goals.lower, -np.pi), np.minimum(goals.upper, np.pi)
    for k in range(count):
        begun, judged = time.thread_time(), 0.0
        begin, step = solver(k)
        best = (np.inf, goals.starts[k])
        for start in range(STARTS):
            here = goals.starts[k] if start == 0 else rng.uniform(lower, upper)
            begin(here)
            for _ in range(STEPS):
                here = step(here)
                aside = time.thread_time()
                miss = max(goals.misses(data, k, here))
                judged += time.thread_time() - aside  # the judge's time is not the peer's
                if miss < best[0]:
                    best = (miss, here.copy())
                if miss <= 0.5 * CLOSE:
                    break
            if best[0] <= 0.5 * CLOSE:
                break
        q[k], told[k], seconds[k] = best[1], best[0] <= CLOSE, time.thread_time() - begun - judged
    return goals.first(count).judge(name, q, seconds, told)


def pink_row(case: Case, goals: Goals, count: int) -> Any:
    import pink
    from pink.tasks import FrameTask

    data = goals.model.createData()

    def solver(k: int) -> tuple[Callable[[Array], None], Step]:
        task = FrameTask(case.tip, position_cost=1.0, orientation_cost=0.3, lm_damping=1e-3)
        task.set_target(goals.poses[k])
        configuration = pink.Configuration(goals.model, data, goals.starts[k], copy_data=False)
        limit = pink.limits.ConfigurationLimit(goals.model, config_limit_gain=1.0)

        def begin(q: Array) -> None:
            configuration.update(q)

        def step(_q: Array) -> Array:
            v = pink.solve_ik(configuration, [task], 1.0, solver="daqp", limits=[limit], safety_break=False)
            configuration.integrate_inplace(v, 1.0)
            return configuration.q

        return begin, step

    return stepped("pin-pink", goals, count, solver)


def mink_row(case: Case, goals: Goals, count: int) -> Any:
    import mink

    model = mujoco_model(case)
    names = list(goals.model.names)[1:]
    at = [int(model.joint(name).qposadr[0]) for name in names]
    frame = (case.tip, "body")
    check = mink.Configuration(model)
    place = np.zeros(model.nq)
    place[at] = goals.starts[0]
    check.update(place)
    data = goals.model.createData()
    pin.framesForwardKinematics(goals.model, data, goals.starts[0])
    theirs = check.get_transform_frame_to_world(*frame).translation()
    if np.abs(theirs - data.oMf[goals.frame].translation).max() > 1e-6:
        raise SystemExit(f"{case.name}: MuJoCo's tip is elsewhere than pinocchio's.")

    def solver(k: int) -> tuple[Callable[[Array], None], Step]:
        task = mink.FrameTask(*frame, position_cost=1.0, orientation_cost=0.3, lm_damping=1e-3)
        rotation = mink.SO3.from_matrix(goals.poses[k].rotation)
        task.set_target(mink.SE3.from_rotation_and_translation(rotation, goals.poses[k].translation))
        configuration, limit = mink.Configuration(model), mink.ConfigurationLimit(model, gain=1.0)
        whole = np.zeros(model.nq)

        def begin(q: Array) -> None:
            whole[at] = q
            configuration.update(whole)

        def step(_q: Array) -> Array:
            v = mink.solve_ik(configuration, [task], 1.0, solver="daqp", limits=[limit])
            configuration.integrate_inplace(v, 1.0)
            return configuration.q[at]

        return begin, step

    return stepped("mink", goals, count, solver)


def mujoco_model(case: Case) -> Any:
    """The same description in MuJoCo, without its shapes; fixed links stay bodies."""
    import re

    import mujoco

    if case.file.suffix == ".xml":
        return mujoco.MjModel.from_xml_path(str(case.file))
    text = re.sub(r"<(visual|collision)\b.*?</\1>", "", case.file.read_text(), flags=re.DOTALL)
    options = (
        '<mujoco><compiler fusestatic="false" boundmass="1e-6" boundinertia="1e-9" balanceinertia="true"/></mujoco>'
    )
    return mujoco.MjModel.from_xml_string(re.sub(r"(<robot\b[^>]*>)", rf"\1{options}", text, count=1))


PEERS = {"pin-pink": ("pink", pink_row), "mink": ("mink", mink_row)}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ik", description=__doc__)
    parser.add_argument("--goals", type=int, default=10_000, help="poses an arm (default %(default)s)")
    parser.add_argument("--peer-goals", type=int, help="the first of them that peers get (default: all)")
    parser.add_argument("--panda", type=Path, required=True, help="panda.urdf of example-robot-data")
    parser.add_argument("--ur5e", type=Path, required=True, help="ur5e.xml of MuJoCo Menagerie")
    parser.add_argument("--out", type=Path, default=ROOT / "bench-results")
    options = parser.parse_args()
    build = options.out / "build"
    build.mkdir(parents=True, exist_ok=True)
    rows = []
    for case in cases(options.panda, options.ur5e):
        folder = build / case.name
        robot = diffpbd.generate(case.file, tip=[case.tip], functions=["ik"], out=folder, all=True)
        goals = Goals.of(case, robot.joints, options.goals, build)
        found = []
        for count in sorted({options.goals, min(options.goals, options.peer_goals or options.goals)}):
            found.append(ours(case, robot, goals.first(count), build))
            said(case, found[-1])
        for name, (package, row) in PEERS.items():
            if find_spec(package) is None:
                print(f"{case.name}: {name} is not installed; its row is left out")
                continue
            found.append(row(case, goals, min(options.goals, options.peer_goals or options.goals)))
            said(case, found[-1])
        rows += [{"robot": case.name, **one} for one in found]
    (options.out / "ik.json").write_text(json.dumps(rows, indent=1))


def said(case: Case, row: dict[str, Any]) -> None:
    worst = ", ".join(f"{x:.1e}" for x in row["worst_miss_of_solved"])
    times = f"median {row['median_us']:.1f}, mean {row['mean_us']:.1f}, p99 {row['p99_us']:.1f} us"
    head = f"{case.name:7} {row['solver']:9} {row['goals']:6} goals: solved {100 * row['solved']:.2f} %"
    print(f"{head}, {times}, worst miss {worst} m, rad; missed unsaid {row['missed_unsaid']}", flush=True)


if __name__ == "__main__":
    main()
