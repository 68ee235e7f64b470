"""`python -m benchmarks.contact`: steps in contact beside MuJoCo's, on what mechanics gives in closed form, and thrown boxes.

A box (0.2 × 0.2 × 0.1 m, 1 kg, its corners points) slides to rest, sits on a slope that it should not move on, and is thrown; a
solid ball is set sliding and begins to roll. MuJoCo steps the same bodies with its cones (pyramidal, elliptic) at its
defaults and as stiff as it takes (`solref` 2 h, `solimp` 0.99 0.9999), and MJX where it is installed. Figures: error against
the closed form, what energy rises by over any stretch, depth, creep, error of the gradient (`contact_gradient.py`), times of a
step and of its derivatives on one core. Below stand figures that others have published.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import contact_cost, contact_gradient
from benchmarks.contact_gradient import Gradient
from benchmarks.standalone import Skipped
from diffpbd.codegen.generate import generate
from diffpbd.runtime import Robot, load
from diffpbd.runtime.base.errors import SolverError
from diffpbd.runtime.report.tables import table

GRAVITY, MASS, HALF, RADIUS = 9.81, 1.0, (0.1, 0.1, 0.05), 0.1
STEPS = (0.01, 0.0025)
"""[s]"""
SLIPS = (1e-3, 1e-5, 1e-7)
"""[m/s] What plans end with, the default, and less."""
FRICTION = {"slide": 0.5, "slope": 0.5, "ball": 0.2, "thrown": 0.5}
DRAKE_SIGMA, DRAKE_DEPTH = 1e-3, 2.5e-5
"""[1, m] Of Drake's SAP: regularisation of friction; depth of a point mass at rest at 10 ms, as rigid as it takes."""
RESULTS = Path(__file__).resolve().parent.parent / "bench-results"


@dataclass(frozen=True)
class Row:
    """`error` is that of the case's closed form (distance [m], speed [m/s]; None of a throw), `rise` of the energy [J] over any
    stretch, `depth` [m], `creep` [m/s] at the end of the slope, `gradient` the relative error of the derivative of the way by
    the speed, `time` and `slope_time` [µs] of a step and of its derivatives."""

    case: str
    what: str
    h: float
    error: float | None
    rise: float | None
    depth: float | None
    creep: float | None
    time: float | None
    gradient: float | None = None
    slope_time: float | None = None


def moments(shape: str) -> tuple[float, float, float]:
    a, b, c = HALF
    if shape == "ball":
        return (0.4 * MASS * RADIUS**2,) * 3
    return (MASS / 3 * (b * b + c * c), MASS / 3 * (a * a + c * c), MASS / 3 * (a * a + b * b))


def corners(lower: bool) -> list[tuple[float, float, float]]:
    a, b, c = HALF
    return [(x * a, y * b, z * c) for z in ((-1,) if lower else (-1, 1)) for x in (-1, 1) for y in (-1, 1)]


def ours(folder: Path, shape: str, lower: bool = True) -> Robot:
    """A free body over a table, as a generated robot."""
    name = shape if lower else f"{shape}_8"
    x, y, z = moments(shape)
    (folder / f"{name}.urdf").write_text(
        f'<robot name="{name}"><link name="body"><inertial><mass value="{MASS}"/><inertia ixx="{x}" iyy="{y}" izz="{z}" '
        'ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
    )
    points = [(0.0, 0.0, 0.0)] if shape == "ball" else corners(lower)
    lines = ['base_joint = "floating"', "[[plane]]", 'name = "table"', "point = [0, 0, 0]", "normal = [0, 0, 1]"]
    for k, point in enumerate(points):
        lines += ["[[contact]]", f'name = "c{k}"', 'link = "body"', f"point = {list(point)}", 'against = "table"']
        lines += [f"radius = {RADIUS if shape == 'ball' else 0.0}", "friction = 0.5"]
    (folder / f"{name}.toml").write_text("\n".join(lines) + "\n")
    return load(generate(str(folder / f"{name}.toml"), out=folder / f"made_{name}", functions=("joint_step",)).folder)


def energies(P: Any, PD: Any, shape: str, gravity: Any) -> Any:
    """Energies of states (x, q; v, ω world) [J]."""
    inertia = np.diag(moments(shape))
    found = []
    for p, v in zip(P, PD, strict=True):
        R = rotation(p[3:7])
        found.append(
            0.5 * MASS * v[:3] @ v[:3] + 0.5 * v[3:6] @ R @ inertia @ R.T @ v[3:6] - MASS * np.dot(gravity, p[:3])
        )
    return np.array(found)


def rotation(q: Any) -> Any:
    w, x, y, z = q
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


def rise(energy: Any) -> float:
    """The most by which it rises over any stretch."""
    return float((energy - np.minimum.accumulate(energy)).max())


def deepest(P: Any, shape: str) -> float:
    """[m] below the table."""
    if shape == "ball":
        return max(0.0, float(RADIUS - P[:, 2].min()))
    points = np.array(corners(False)).T
    return max(0.0, -min(float((p[2] + (rotation(p[3:7]) @ points)[2]).min()) for p in P))


@dataclass(frozen=True)
class Case:
    """A start, how long, under which gravity, and what is wrong with its end."""

    name: str
    shape: str
    p: Any
    pd: Any
    duration: float
    gravity: Any
    error: Callable[[Any, Any], float] | None = None


def cases(throws: int) -> list[Case]:
    level, height = np.array([0.0, 0.0, -GRAVITY]), HALF[2]
    speed, mu = math.hypot(0.93, 0.31), FRICTION["slide"]
    exact = speed**2 / (2 * mu * GRAVITY)
    angle = math.radians(20)
    tilted = GRAVITY * np.array([math.sin(angle), 0.0, -math.cos(angle)])
    rolled = 12 * 4 / (49 * FRICTION["ball"] * GRAVITY) + 5 / 7 * 2 * (1.0 - 4 / (7 * FRICTION["ball"] * GRAVITY))
    still = np.zeros(6)

    def flat(z: float) -> Any:
        return np.array([0.0, 0.0, z, 1.0, 0.0, 0.0, 0.0])

    found = [
        Case(
            "slide", "box", flat(height + 1e-7), np.array([0.93, 0.31, 0, 0, 0, 0]), 0.4, level,
            lambda p, pd: float(np.hypot(p[0], p[1]) - exact),
        ),
        Case("slope", "box", flat(height + 1e-7), still, 1.0, tilted, lambda p, pd: float(np.hypot(p[0], p[1]))),
        Case(
            "ball", "ball", flat(RADIUS + 1e-7), np.array([2.0, 0, 0, 0, 0, 0]), 1.0, level,
            lambda p, pd: float(p[0] - rolled),
        ),
    ]  # fmt: skip
    rng = np.random.default_rng(5)
    for k in range(throws):
        q = rng.standard_normal(4)
        start = np.concatenate([[0.0, 0.0, 0.5], q / np.linalg.norm(q)])
        thrown = np.concatenate([rng.standard_normal(3), 6 * rng.standard_normal(3)])
        found.append(Case(f"thrown {k + 1}", "box_8", start, thrown, 2.0, level))
    return found


def our_row(robot: Robot, case: Case, h: float, slip: float) -> Row:
    shape = case.shape.removesuffix("_8")
    steps, mu = round(case.duration / h), FRICTION[case.name.split()[0]]
    alpha = {f"gravity.{axis}": float(g) for axis, g in zip("xyz", case.gravity, strict=True)}
    count = len(robot.manifest.robot.contacts)
    alpha["contact.slip"] = slip
    alpha |= {f"contact.friction.c{k}": mu for k in range(count)}
    alpha |= {f"contact.load.c{k}": MASS * GRAVITY / count for k in range(count)}
    U = np.zeros((steps, robot.n))
    P, PD = robot.rollout(case.p, case.pd, U, h=h, alpha=alpha)
    spent = []
    for _ in range(5):
        start = time.thread_time()
        robot.rollout(case.p, case.pd, U, h=h, alpha=alpha)
        spent.append(time.thread_time() - start)
    slope = contact_gradient.ours(robot, case, h, alpha, mu, GRAVITY) if case.name != "slope" else None
    return row(f"ours, slip {slip:g}", case, h, np.asarray(P), np.asarray(PD), shape, min(spent) / steps, slope)


def row(
    what: str, case: Case, h: float, P: Any, PD: Any, shape: str, spent: float, slope: Gradient | None = None
) -> Row:  # fmt: skip
    return Row(
        case.name.split()[0], what, h, None if case.error is None else case.error(P[-1], PD[-1]),
        rise(energies(P, PD, shape, case.gravity)), deepest(P, shape),
        float(np.hypot(PD[-1, 0], PD[-1, 1])) if case.name == "slope" else None, 1e6 * spent,
        slope.error if slope else None, slope.time if slope else None,
    )  # fmt: skip


def mujoco_rows(case: Case, h: float) -> list[Row]:
    import mujoco

    shape = case.shape.removesuffix("_8")
    mu = FRICTION[case.name.split()[0]]
    geom = f'type="sphere" size="{RADIUS}"' if shape == "ball" else f'type="box" size="{" ".join(map(str, HALF))}"'
    found = []
    for what, cone, contact in (
        ("MuJoCo pyramidal", "pyramidal", ""),
        ("MuJoCo elliptic", "elliptic", ""),
        ("MuJoCo elliptic, stiff", "elliptic", f'solref="{2 * h} 1" solimp="0.99 0.9999 0.001 0.5 2"'),
    ):
        x, y, z = moments(shape)
        model = mujoco.MjModel.from_xml_string(
            f'<mujoco><option timestep="{h}" cone="{cone}" gravity="{" ".join(map(str, case.gravity))}" tolerance="1e-12" '
            f'iterations="100"/><worldbody><geom type="plane" size="50 50 .1" friction="{mu} 0 0" {contact}/>'
            f'<body><freejoint/><inertial pos="0 0 0" mass="{MASS}" diaginertia="{x} {y} {z}"/>'
            f'<geom {geom} friction="{mu} 0 0" condim="3" {contact}/></body></worldbody></mujoco>'
        )
        data = mujoco.MjData(model)
        data.qpos[:], data.qvel[:] = case.p, local(case.p, case.pd)
        steps = round(case.duration / h)
        P, PD = [case.p.copy()], [case.pd.copy()]
        start = time.thread_time()
        for _ in range(steps):
            mujoco.mj_step(model, data)
            P.append(data.qpos.copy())
            PD.append(np.concatenate([data.qvel[:3], rotation(data.qpos[3:7]) @ data.qvel[3:]]))
        data.qpos[:], data.qvel[:] = case.p, local(case.p, case.pd)
        start = time.thread_time()
        mujoco.mj_step(model, data, steps)
        spent = (time.thread_time() - start) / steps
        slope = None
        if case.name != "slope":
            slope = contact_gradient.mujocos(mujoco, model, case, mu, GRAVITY, local)
        found.append(row(what, case, h, np.array(P), np.array(PD), shape, spent, slope))
        if cone == "pyramidal" and h == STEPS[0] and case.name in ("slide", "ball"):
            found += mjx_rows(model, case, h, mu)
    return found


def local(p: Any, pd: Any) -> Any:
    """Rates with those of the turn in the body's axes."""
    return np.concatenate([pd[:3], rotation(p[3:7]).T @ pd[3:]])


def mjx_rows(model: Any, case: Case, h: float, mu: float) -> list[Row]:
    try:
        what, way, slope = contact_gradient.mjx(model, case, mu, GRAVITY, local)
    except Skipped as why:
        print(f"MJX: {why}", file=sys.stderr)
        return []
    assert case.error is not None
    end = np.concatenate([contact_gradient.along(case)[:2] * way, [0.0]])
    return [Row(case.name, what, h, case.error(end, end), None, None, None, None, slope.error, slope.time)]


def together(rows: Sequence[Row]) -> list[Row]:
    """Throws of one kind as one row: the largest of each figure, the median of the gradient's, the mean times."""
    kinds = dict.fromkeys((r.case, r.what, r.h) for r in rows)
    result = []
    for case, what, h in kinds:
        own = [r for r in rows if (r.case, r.what, r.h) == (case, what, h)]
        if len(own) == 1:
            result += own
            continue
        rises, depths, times, slopes, spent = (
            [x for r in own if (x := getattr(r, name)) is not None]
            for name in ("rise", "depth", "time", "gradient", "slope_time")
        )
        typical = float(np.median(np.abs(slopes)))
        mean, slope_mean = float(np.mean(times)), float(np.mean(spent))
        result.append(Row(case, what, h, None, max(rises), max(depths), None, mean, typical, slope_mean))
    return result


def text(rows: Sequence[Row]) -> str:
    def number(x: float | None) -> str:
        if x is None or math.isnan(x):
            return "" if x is None else "none"
        return f"{x:+.1e}" if not 0.1 <= abs(x) < 1e3 else f"{x:+.3f}"

    units = ["error [m]", "rise [J]", "depth [m]", "creep [m/s]", "gradient"]
    header = ["case", "what", "h [ms]", *units, "µs a step", "µs its slopes"]
    body = []
    for r in rows:
        figures = [number(x) for x in (r.error, r.rise, r.depth, r.creep, r.gradient)]
        times = ["" if x is None else f"{x:.1f}" for x in (r.time, r.slope_time)]
        body.append([r.case, r.what, f"{1e3 * r.h:g}", *figures, *times])
    return table(header, body, left=2) + "\n\n" + published()


def published() -> str:
    """Figures that others publish of theirs on such cases."""
    creep = DRAKE_SIGMA * FRICTION["slope"] * GRAVITY * STEPS[0]
    return (
        f"Published: Drake's SAP creeps at σ μ g h = {creep:.1e} m/s where it sticks (σ = {DRAKE_SIGMA:g}, "
        f"h = {1e3 * STEPS[0]:g} ms)\nand sinks in by {DRAKE_DEPTH:.1e} m at rest (Castro, Permenter, Han: An Unconstrained "
        "Convex Formulation\nof Compliant Contact, IEEE T-RO 39(2), 2023, section V-B)."
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.contact", description=__doc__)
    parser.add_argument("--throws", type=int, default=6, help="thrown boxes (default %(default)s)")
    parser.add_argument(
        "--no-arm", action="store_true", help="leave out what a contact costs an arm (a minute of generating)"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        robots = {"box": ours(Path(folder), "box"), "ball": ours(Path(folder), "ball")}
        robots["box_8"] = ours(Path(folder), "box", lower=False)
        rows = []
        for case in cases(options.throws):
            for h in STEPS:
                for slip in SLIPS:
                    try:
                        rows.append(our_row(robots[case.shape], case, h, slip))
                    except SolverError as error:
                        print(f"{case.name}, {1e3 * h:g} ms: {error}", file=sys.stderr)
                rows += mujoco_rows(case, h)
        arm = [] if options.no_arm else contact_cost.costs(Path(folder))
    rows = sorted(together(rows), key=lambda r: -r.h)
    rows = [r for case in FRICTION for r in rows if r.case == case]
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "contact.json").write_text(json.dumps([asdict(r) for r in rows], indent=1) + "\n")
    (RESULTS / "contact.txt").write_text(text(rows) + "\n")
    print(text(rows))
    if arm:
        (RESULTS / "contact_cost.json").write_text(json.dumps([asdict(r) for r in arm], indent=1) + "\n")
        print(contact_cost.text(arm))


if __name__ == "__main__":
    main()
