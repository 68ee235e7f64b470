"""Goals of predictive control among obstacles, for arms that are not their model: distances by coal, ends, times of ticks.

    cd tests; python -m support.planning.tasks --count 200 --out tasks.csv

Plans keep 20 mm, hard; friction, load, rotors, encoder and noise are the reality bench's, the delay is told.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from support.judges.coal import distance, geometry, of_shape, placed
from support.planning.planned import Course, follow, model_of, planner, real
from support.reality import kind_of
from support.robots import generated

from diffpbd.runtime import Robot, load
from diffpbd.runtime.model.obstacles import obstacles
from diffpbd.runtime.model.statics import holding_torque

LEAST = 0.02
"""m; kept by plans."""
FREE = 0.04
"""m; of starts and goals from every obstacle."""
OBSTACLES = ("spheres=2", "capsules=1", "boxes=1", "planes=1")
ROTORS = {
    "baxter": (0.1, 0.1, 0.1, 0.1, 0.03, 0.03, 0.03), "fr3": (0.195, 0.195, 0.195, 0.195, 0.074, 0.074, 0.074),
    "ur5e": (0.1,) * 6,
}  # fmt: skip
"""kg·m², which the models know: MuJoCo Menagerie's for FR3 and UR5e, of a likely size for Baxter. Without rotors an FR3's last
joint has 1.2e-4 kg·m² below 0.4 N·m of friction: no arm."""
SHAPES = {  # link, ends [m], radius [m]
    "baxter": (
        ("left_lower_shoulder", (0.12, 0, 0), (0.37, 0, 0), 0.061), ("left_lower_elbow", (0.1, 0, 0), (0.35, 0, 0), 0.061),
        ("left_wrist", (0, 0, -0.05), (0, 0, 0.12), 0.05),
    ),
    "fr3": (
        ("fr3_link2", (0, 0, 0), (0, -0.25, 0), 0.07), ("fr3_link4", (-0.08, 0.08, 0), (-0.0825, 0.33, 0), 0.06),
        ("fr3_link7", (0, 0, 0.05), (0, 0, 0.2), 0.05),
    ),
    "ur5e": (
        ("shoulder_lift_link", (0, 0, 0.13), (-0.425, 0, 0.13), 0.06), ("elbow_link", (0, 0, 0), (-0.39, 0, 0), 0.05),
        ("wrist_3_link", (0, 0, 0), (0, 0, 0.08), 0.045),
    ),
}  # fmt: skip


def recipe(kind: str, folder: Path) -> Path:
    """The arm's capsules, each beside every obstacle."""
    lines = [
        f'name = "{kind}_tasks"', f'urdf = "{kind_of(kind).urdf()}"', "h = 0.01", "clearance = true",
        f"obstacles = {list(OBSTACLES)}", "pairs = []", 'functions = ["mpc"]',
    ]  # fmt: skip
    for k, (link, point, end, radius) in enumerate(SHAPES[kind]):
        lines += ["[[shape]]", f'name = "part {k}"', f'link = "{link}"', f"point = {list(map(float, point))}"]
        lines += [f"end = {list(map(float, end))}", f"radius = {radius}"]
    path = folder / f"{kind}_tasks.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


class Judge:
    """Signed distances of the arm from obstacles by coal, at poses of Pinocchio."""

    def __init__(self, robot: Robot, kind: str) -> None:
        self.model = pin.buildModelFromUrdf(str(kind_of(kind).urdf()))
        self.data = self.model.createData()
        assert robot.manifest.clearance is not None
        self.shapes = [(s, of_shape(s)) for s in robot.manifest.clearance.shapes if s.name.startswith("part")]

    def least(self, q: np.ndarray, around: dict[str, list[list[float]]]) -> float:
        """[m]"""
        pin.framesForwardKinematics(self.model, self.data, q)
        others = [_form(kind, row) for kind, rows in around.items() for row in rows]
        found = []
        for shape, form in self.shapes:
            M = self.data.oMf[self.model.getFrameId(shape.link)]
            here = placed(shape, np.array(M.rotation), np.array(M.translation))
            found += [distance(form, *here, *other) for other in others]
        return min(found)


def _along(z: np.ndarray) -> np.ndarray:
    """A rotation whose third column is along z."""
    return np.array(pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), z / np.linalg.norm(z)).matrix())


def _form(kind: str, row: Sequence[float]) -> tuple[Any, np.ndarray, np.ndarray]:
    x = np.array(row)
    if kind == "spheres":
        return geometry("sphere", (), x[3]), np.eye(3), x[:3]
    if kind == "capsules":
        way = x[3:6] - x[:3]
        return geometry("capsule", (0.5 * np.linalg.norm(way),), x[6]), _along(way), 0.5 * (x[:3] + x[3:6])
    if kind == "boxes":
        rotation = pin.Quaternion(*x[3:7]).matrix()
        return geometry("box", 0.5 * x[7:10], 0.0), np.array(rotation), x[:3]
    return geometry("plane", (), 0.0), _along(x[:3]), x[3] * x[:3]


@dataclass(frozen=True)
class Task:
    """An arm, its way, what is around, and how it differs from its model."""

    kind: str
    start: np.ndarray
    goal: np.ndarray
    around: dict[str, list[list[float]]]
    differences: dict[str, Any]


def draw(kind: str, robot: Robot, judge: Judge, seed: int) -> Task:
    """Obstacles of all kinds, the spheres beside the straight way; start and goal are free and can be held."""
    rng = np.random.default_rng([seed, 5])
    alpha = model_of(robot, kind)
    ready, limits = np.array(kind_of(kind).ready), robot.limits
    while True:
        start, goal = ready + rng.uniform(-0.4, 0.4, robot.n), ready + rng.uniform(-0.8, 0.8, robot.n)
        ways = [np.asarray(robot.tip_pose(start + s * (goal - start)).position) for s in (0.35, 0.65)]
        spheres = [[*(way + rng.normal(size=3) * 0.1), rng.uniform(0.04, 0.1)] for way in ways]
        at = ways[0] + rng.normal(size=3) * 0.3
        turn = rng.normal(size=4)
        around = {
            "spheres": spheres, "capsules": [[*at, *(at + rng.normal(size=3) * 0.2), 0.05]],
            "boxes": [[*(ways[1] + rng.normal(size=3) * 0.4), *(turn / np.linalg.norm(turn)), *rng.uniform(0.05, 0.3, 3)]],
            "planes": [[0.0, 0.0, 1.0, min(way[2] for way in ways) - rng.uniform(0.1, 0.4)]],
        }  # fmt: skip
        own = min(np.asarray(robot.clearance(q, **obstacles(robot))).min() for q in (start, goal))
        inside = own > FREE and all(((q > limits.lower + 0.1) & (q < limits.upper - 0.1)).all() for q in (start, goal))
        held = all((np.abs(holding_torque(robot, q, alpha)) < 0.7 * limits.effort).all() for q in (start, goal))
        if inside and held and min(judge.least(q, around) for q in (start, goal)) > FREE:
            different = {
                "friction": tuple(np.exp(rng.uniform(np.log(0.5), np.log(2.0), 8)).tolist()),
                "load": rng.uniform(0.0, 1.0),
                "encoder": 1e-4,
                "noise": 5e-4,
                "seed": seed,
            }
            different["rotor"] = tuple((rng.uniform(0.7, 1.3, robot.n) * ROTORS[kind]).tolist())  # fmt: skip
            return Task(kind, start, goal, around, different)


def told(robot: Robot, kind: str) -> np.ndarray:
    """alpha of a model that knows friction, spring and rotors."""
    alpha, names = model_of(robot, kind), list(robot.alpha.names)
    for joint, rotor in zip(robot.joints, ROTORS[kind], strict=True):
        alpha[names.index(f"rotor_inertia.{joint}")] = rotor
    return alpha


def run(robot: Robot, task: Task, seconds: float = 6.0) -> Course:
    """From start to goal, with the observer and 20 mm kept hard."""
    mpc = planner(robot, told(robot, task.kind), clearance=LEAST, clearance_hard=True)
    assert mpc.problem.apart is not None
    obstacles(robot, **task.around)  # refuses what cannot be placed
    mpc.problem.apart.place(task.around)
    return follow(mpc, real(task.kind, **task.differences), task.start, task.goal, seconds)


def main() -> None:
    """Prints the figures; a row a task goes to --out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("tasks.csv"))
    given = parser.parse_args()
    folder = given.out.resolve().parent
    robots = {kind: load(generated(str(recipe(kind, folder)), quick=False, functions=("mpc",))) for kind in SHAPES}
    judges = {kind: Judge(robot, kind) for kind, robot in robots.items()}
    spent: dict[str, list[np.ndarray]] = {kind: [] for kind in SHAPES}
    statuses: Counter[str] = Counter()
    with given.out.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["task", "arm", "least_mm", "away_mrad", "fastest", "statuses"])
        for seed in range(given.first, given.first + given.count):
            kind = tuple(SHAPES)[seed % len(SHAPES)]
            robot, judge = robots[kind], judges[kind]
            task = draw(kind, robot, judge, seed)
            course = run(robot, task)
            least = 1e3 * min(judge.least(q, task.around) for q in course.q)
            away = 1e3 * np.abs(course.q[-50:] - task.goal).max()
            fastest = (course.fastest / robot.limits.speed).max()
            counts = {status.name.lower(): n for status, n in course.statuses.items()}
            statuses.update(counts)
            spent[kind].append(np.column_stack([course.seconds, course.rounds]))
            rows.writerow([seed, kind, f"{least:.2f}", f"{away:.3f}", f"{fastest:.3f}", counts])
            file.flush()
    for kind, parts in ((kind, parts) for kind, parts in spent.items() if parts):
        seconds, rounds = 1e6 * np.vstack(parts).T[0], np.vstack(parts).T[1]
        for what, chosen in (("all", rounds >= 0), ("bounds act", rounds > 0)):
            part = seconds[chosen & np.isfinite(seconds)]
            if part.size:
                middle, high = np.median(part), np.quantile(part, 0.99)
                print(
                    f"{kind}, {what}: {part.size} ticks, median {middle:.0f} µs, p99 {high:.0f} µs, ratio {high / middle:.2f}"
                )
    print(dict(statuses))


if __name__ == "__main__":
    sys.exit(main())
