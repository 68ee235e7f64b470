"""A four-bar and a five-bar by MuJoCo's `connect` and by `joint_step`, from one MJCF each, against the exact dynamics.

    python -m benchmarks.connect [--plot connect.png]

Both swing for a second from rates that the loop allows; the five-bar's motors hold its start against gravity. Exact is the
equation of motion with MuJoCo's inertias and bias forces and every row of the loop pseudo-inverted, integrated by DOP853 to
1e-12 (`mujoco_twin.Judge.swing`). MuJoCo runs with its defaults (`solref` 0.02 s) and as stiff as it allows (2 h), solver
tolerance 1e-12. Times are of one step in C, the fastest of five runs.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from benchmarks.mujoco_twin import Judge
from diffpbd.codegen.description.front.resolve import resolve
from diffpbd.codegen.generate import generate
from diffpbd.runtime import Robot, load

STEPS = (0.02, 0.01, 0.005, 0.0025, 0.00125)
INTEGRATORS = ("Euler", "RK4")
"""Without damping implicitfast is Euler."""
STIFF = (0.99, 0.9999, 0.001, 0.5, 2.0)
RUNS = 5


def bar(name: str, joint: str, at: float, mass: float, length: float, inside: str = "") -> str:
    """A bar along x that turns in the x-z plane."""
    half = length / 2
    return (
        f'<body name="{name}" pos="{at} 0 0"><joint name="{joint}" axis="0 -1 0"/>'
        f'<geom type="box" size="{half} 0.02 0.02" pos="{half} 0 0" mass="{mass}" contype="0" conaffinity="0"/>'
        f'<site name="end of {name}" pos="{length} 0 0"/>{inside}</body>'
    )


def file_of(one: str, other: str, ends: tuple[str, str], motors: tuple[str, ...]) -> str:
    loop = f'<connect name="pin" site1="end of {ends[0]}" site2="end of {ends[1]}"/>'
    driven = "".join(f'<motor joint="{joint}"/>' for joint in motors)
    parts = f"<worldbody>{one}{other}</worldbody><equality>{loop}</equality><actuator>{driven}</actuator>"
    return f'<mujoco><compiler angle="radian"/>{parts}</mujoco>'


@dataclass(frozen=True)
class Mechanism:
    """`text` of the file, a pose near the start, the rates of the driven joints."""

    text: str
    guess: dict[str, float]
    rates: dict[str, float]
    held: bool


MECHANISMS = {
    "four_bar": Mechanism(
        file_of(
            bar("crank", "j1", 0.0, 1.0, 0.3, bar("coupler", "j2", 0.3, 1.5, 0.8)),
            bar("rocker", "j3", 0.7, 1.2, 0.6), ("coupler", "rocker"), ("j1",),
        ),
        {"j1": 0.9, "j2": -0.483, "j3": 1.1991}, {"j1": 2.0}, False,
    ),
    "five_bar": Mechanism(
        file_of(
            bar("l1", "j1", 0.0, 1.0, 0.3, bar("l2", "j2", 0.3, 0.8, 0.5)),
            bar("r1", "j3", 0.2, 1.0, 0.3, bar("r2", "j4", 0.3, 0.8, 0.5)), ("l2", "r2"), ("j1", "j3"),
        ),
        {"j1": 2.2, "j2": -1.2, "j3": 0.9, "j4": 0.2}, {"j1": 1.0, "j3": -1.0}, True,
    ),
}  # fmt: skip


class Case:
    """A mechanism by both, its start, its torques and where it is after a second; `options` go to `generate`."""

    def __init__(self, name: str, folder: Path, **options: Any) -> None:
        mechanism = MECHANISMS[name]
        self.text = mechanism.text
        path = folder / f"{name}.xml"
        path.write_text(mechanism.text)
        generate(str(path), out=folder / name, functions=("joint_step", "rollout", "inverse_dynamics"), **options)
        self.robot: Robot = load(folder / name)
        self.judge = Judge(mechanism.text, resolve(str(path))[1])
        joints, n = [joint.name for joint in self.robot.manifest.robot.joints], self.robot.n
        fixed = np.array([float(joint in mechanism.rates) for joint in joints])
        self.p = self.robot.close_loops([mechanism.guess[joint] for joint in joints], fixed)
        A = np.array([self.robot.loop_residual(self.p, e).row_rates for e in np.eye(n)]).T
        self.pd = np.array([mechanism.rates.get(joint, 0.0) for joint in joints])
        self.pd[fixed == 0.0] = -np.linalg.lstsq(A[:, fixed == 0.0], A @ self.pd, rcond=None)[0]
        self.u = np.zeros(n)
        if mechanism.held:
            still = np.zeros(n)
            self.u = self.robot.inverse_dynamics(self.p, still, still).u
        self.end = self.judge.swing(self.p, self.pd, self.u, 1.0)[:n]

    def ours(self, h: float) -> tuple[float, float, float]:
        """Error [rad] and largest gap [m] after a second, time of a step [s]."""
        U = np.tile(self.u, (round(1.0 / h), 1))
        P, PD = self.robot.rollout(self.p, self.pd, U, h=h)
        gap = max(float(np.abs(self.robot.loop_residual(p, pd).rows).max()) for p, pd in zip(P, PD, strict=True))
        seconds = fastest(lambda: self.robot.rollout(self.p, self.pd, U, h=h))
        return float(np.abs(P[-1] - self.end).max()), gap, seconds / len(U)

    def mujocos(self, h: float, integrator: str, stiff: bool) -> tuple[float, float, float]:
        """The same by MuJoCo."""
        model = mujoco.MjModel.from_xml_string(self.text)
        model.opt.timestep, model.opt.tolerance = h, 1e-12
        model.opt.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator.upper()}")
        if stiff:
            model.eq_solref[0], model.eq_solimp[0] = (2.0 * h, 1.0), STIFF
        data, count = mujoco.MjData(model), round(1.0 / h)

        def start() -> None:
            mujoco.mj_resetData(model, data)
            data.qpos[self.judge.q], data.qvel[self.judge.v] = self.p, self.pd
            data.qfrc_applied[self.judge.v] = self.u

        def run() -> None:
            start()
            mujoco.mj_step(model, data, count)

        start()
        gap = 0.0
        for _ in range(count):
            mujoco.mj_step(model, data)
            gap = max(gap, float(np.abs(data.efc_pos[:3]).max()))
        turns = data.qpos[self.judge.q] - self.end
        return float(np.abs(turns).max()), gap, fastest(run) / count


def fastest(run: Callable[[], Any]) -> float:
    """Least time [s] of some runs."""
    times = []
    for _ in range(RUNS):
        begun = time.perf_counter()
        run()
        times.append(time.perf_counter() - begun)
    return min(times)


def rows(case: Case) -> Iterator[tuple[str, float, float, float, float]]:
    """Name, step, error, gap and time of everything."""
    for h in STEPS:
        yield "joint_step", h, *case.ours(h)
        for stiff in (False, True):
            for integrator in INTEGRATORS:
                name = f"MuJoCo {integrator}, {'stiff' if stiff else 'default'}"
                yield name, h, *case.mujocos(h, integrator, stiff)


def picture(path: Path, found: dict[str, list[tuple[str, float, float, float, float]]]) -> None:
    """Error over step, a panel a mechanism."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(found), figsize=(9, 4), sharey=True)
    for ax, (mechanism, table) in zip(axes, found.items(), strict=True):
        for name in dict.fromkeys(row[0] for row in table):
            ours = name == "joint_step"
            points = [(1e3 * h, error) for other, h, error, *_ in table if other == name]
            style = "--" if "default" in name else "-"
            ax.loglog(*zip(*points, strict=True), style, marker="o", ms=4, lw=2.5 if ours else 1, label=name)
        ax.xaxis.set_minor_formatter("")
        ax.set_xticks([1e3 * h for h in STEPS], [f"{1e3 * h:g}" for h in STEPS])
        ax.set(title=mechanism.replace("_", "-"), xlabel="step [ms]")
        ax.grid(True, which="both", alpha=0.3)
    axes[0].set_ylabel("error of the angles after 1 s [rad]")
    axes[-1].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.connect")
    parser.add_argument("--plot", type=Path, metavar="FILE.png", help="error over step")
    options = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in MECHANISMS:
            found[name] = list(rows(Case(name, Path(folder))))
            print(f"{name}\n{'':30} step [ms]  error [rad]  gap [m]  time [us]")
            for row, h, error, gap, seconds in found[name]:
                print(f"{row:30} {1e3 * h:9g}  {error:11.1e}  {gap:7.0e}  {1e6 * seconds:9.2f}", flush=True)
    if options.plot:
        picture(options.plot, found)


if __name__ == "__main__":
    main()
