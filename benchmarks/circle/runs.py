"""The tip on a circle against MuJoCo's arm: undisturbed, pushed from six sides, and with a payload that differs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.circle.reference import circle
from benchmarks.circle.tracking import ComputedTorque, Predictive, Track, track
from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.options import option
from diffpbd.runtime.base.rows import write_rows
from diffpbd.runtime.folder.locate import find_description
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.report.figures import legend_below, new_figure, panel, save, stroke
from diffpbd.runtime.simulate.plant import MujocoPlant, PlantFacts

__all__ = ["LAWS", "PUSHES", "START", "Circle", "plant_alpha", "plot", "pushes", "run", "summary", "write_tracks"]

START = {"s1": -0.9, "e1": 1.5, "w1": 0.97}
"""rad by the end of a joint's name, others 0: the hand points down, the circle stays clear of every limit."""
TIME_CONSTANT = 0.01  # s, of the disturbance observers: half the usual, as the rates of MuJoCo's arm have no noise
FORCE, DURATION, BEGIN = 30.0, 0.2, 2.0  # N on the tip, s, s
PUSHES = {f"pushed {sign}{axis}": (k, float(f"{sign}1")) for k, axis in enumerate("xyz") for sign in "+-"}
"""World axis and sign by the run's name."""
PAYLOAD = 1.0  # kg that the law knows
DIFFERENT = (0.8, 1.2)  # of it in the hand
REST = 1.0  # s at the end


def plant_alpha(robot: Robot, facts: PlantFacts, payload: float = 0.0) -> FloatArray:
    """alpha of the generated robot for what the plant has: friction, spring, payload [kg] at the tip."""
    values = {"payload.mass": payload}
    for joint in robot.joints:
        end = joint.split("_")[-1]
        values[f"friction.coulomb.{joint}"] = facts.coulomb.get(joint, facts.coulomb.get(end, 0.0))
        values[f"friction.viscous.{joint}"] = facts.viscous.get(joint, facts.viscous.get(end, 0.0))
        stiffness, rest = facts.spring.get(joint, facts.spring.get(end, (0.0, 0.0)))
        values[f"spring.stiffness.{joint}"], values[f"spring.rest.{joint}"] = stiffness, rest
    return robot.alpha.vector(values)


LAWS: Mapping[str, type[ComputedTorque] | type[Predictive]] = {"computed-torque": ComputedTorque, "mpc": Predictive}


@dataclass(frozen=True, kw_only=True)
class Circle:
    """Choices of a run: MuJoCo's arm, the circle, the law that follows it, when pushes begin."""

    description: str = option(
        "Of MuJoCo's arm: a name or a URDF file.", "baxter", metavar="ROBOT", reads=find_description
    )
    diameter: float = option("Of the circle [m].", 0.3, span=(0.0, 10.0), open=True)
    lap: float = option("Of a round [s].", 4.0, span=(0.0, 1e7), open=True)
    law: str = option("Inverse dynamics with feedback, or predictive control.", "computed-torque", choices=tuple(LAWS))
    disturbance: bool = option(
        "Estimate and compensate unmodelled joint torques.", True, flag="--disturbance/--no-disturbance"
    )
    push_at: float = option("When the pushes begin [s].", BEGIN, span=(0.0, 1e3))


def run(
    robot: Robot, urdf: str | Path, own: Circle = Circle(), only: Collection[str] | None = None
) -> dict[str, Track]:
    """The runs by name (those of `only`), from `START`."""
    if len(robot.manifest.robot.tips) != 1:
        raise InputError(f"{robot.name} has {len(robot.manifest.robot.tips)} tips; expected one.")
    facts = PlantFacts()
    reference = circle(
        robot, [START.get(joint.split("_")[-1], 0.0) for joint in robot.joints], diameter=own.diameter,
        lap=own.lap, period=facts.period,
    )  # fmt: skip
    if not 0.0 <= own.push_at <= reference.time[-1]:
        raise InputError(
            f"The pushes must begin within the {reference.time[-1]:g} s of the circle, found {own.push_at:g} s."
        )
    speed = robot.limits.speed
    plant = MujocoPlant(urdf, robot.manifest.robot.tips[0], facts)
    if plant.joints != robot.joints:
        raise InputError(f"The description's joints {list(plant.joints)} are not those of {robot.name}.")
    zero = np.zeros(robot.n)
    still = PlantFacts(coulomb={}, viscous={})
    known = dict.fromkeys(("undisturbed", *PUSHES), 0.0)
    carried = dict(known)
    for share in (1.0, *DIFFERENT):
        name = f"{PAYLOAD:g} kg" + ("" if share == 1.0 else f", {100 * (share - 1):+.0f} %")
        known[name], carried[name] = PAYLOAD, share * PAYLOAD
    found = {}
    for name, payload in known.items():
        if only is not None and name not in only:
            continue
        plant.payload(carried[name])
        controller = LAWS[own.law](
            robot, reference, plant_alpha(robot, facts, payload), delay=facts.delay,
            disturbance=TIME_CONSTANT if own.disturbance else None,
        )  # fmt: skip
        hold = robot.inverse_dynamics(reference.p[0], zero, zero, plant_alpha(robot, still, payload))
        events: dict[int, Callable[[MujocoPlant], None]] = {}
        if name in PUSHES:
            events[_tick(own.push_at, facts)] = partial(_push, force=_force(name))
        found[name] = track(plant, controller, reference, hold=hold, events=events, speed=speed, rest=REST)
    return found


def _push(plant: MujocoPlant, force: FloatArray) -> None:
    plant.push(force, DURATION)


def _tick(begin: float, facts: PlantFacts) -> int:
    return round(begin / facts.period)


def _force(name: str) -> FloatArray:
    axis, sign = PUSHES[name]
    return np.array(sign * FORCE * np.eye(3)[axis])


def summary(robot: Robot, tracks: Mapping[str, Track]) -> tuple[list[str], list[list[str]]]:
    """Head and rows: errors of the tip, and how near to a limit the run came."""
    head = ["run", "tip error RMS [mm]", "largest [mm]", "at the end [mm]", "position", "speed", "torque"]
    return head, [
        [
            name, *(f"{1e3 * value:.2f}" for value in (found.rms(), found.error.max(), found.error[-1])),
            f"{found.limits['position']:.2f}",
            f"{found.limits['speed']:.2f} {_short(robot, found.nearest['speed'])}", f"{found.limits['torque']:.2f}",
        ]
        for name, found in tracks.items()
    ]  # fmt: skip


def pushes(robot: Robot, tracks: Mapping[str, Track], begin: float = BEGIN) -> tuple[list[str], list[list[str]]]:
    """Head and rows of what no law can change: the push's torques, and the room left to speed limits when a law first acts.

    A push that begins with a tick's torque is in the next measurement, and what a law makes of that acts a delay later.
    """
    facts = PlantFacts()
    first = _tick(begin, facts)
    joints = robot.manifest.robot.joints
    effort, speed = robot.limits.effort, robot.limits.speed
    rows = []
    for name in PUSHES:
        if name not in tracks:
            continue
        found = tracks[name]
        torque = robot.tip_jacobian(found.p[first])[:3].T @ _force(name)
        room = 1.0 - found.fastest[first : first + facts.delay + 1].max(axis=0) / speed
        loaded, fast = int(np.argmax(np.abs(torque) / effort)), int(np.argmin(room))
        rows.append([
            name, *(f"{value:.1f}" for value in torque), f"{abs(torque[loaded]) / effort[loaded]:.2f} {_short(robot, loaded)}",
            f"{room[fast]:.2f} {_short(robot, fast)}", f"{found.limits['speed']:.2f}",
        ])  # fmt: skip
    names = [f"{joint.name.split('_')[-1]} [N·m]" for joint in joints]
    return ["run", *names, "of effort", "speed, unavoidable", "speed, found"], rows


def _short(robot: Robot, joint: int) -> str:
    return robot.joints[joint].split("_")[-1]


def plot(path: str | Path, title: str, tracks: Mapping[str, Track]) -> None:
    """PNG: the tip's path in the plane of the circle, and its error over time."""
    made = new_figure(10.0, 4.5)
    made.suptitle(title)
    path_panel, error_panel = made.subplots(1, 2)
    panel(path_panel, "", "y [m]", "z [m]").set_aspect("equal")
    panel(error_panel, "", "time [s]", "tip error [mm]")
    first = next(iter(tracks.values()))
    path_panel.plot(first.wanted[:, 1], first.wanted[:, 2], "0.6", linewidth=3.0, label="reference")
    for k, (name, found) in enumerate(tracks.items()):
        path_panel.plot(found.tip[:, 1], found.tip[:, 2], **stroke(k), label=name)
        error_panel.semilogy(found.time, 1e3 * np.maximum(found.error, 1e-6), **stroke(k), label=name)
    legend_below(made, path_panel, columns=6)
    save(path, made)


def write_tracks(path: str | Path, tracks: Mapping[str, Track]) -> None:
    """CSV: one row a run and tick."""
    axes = [f"{what}_{axis}_m" for what in ("tip", "wanted") for axis in "xyz"]
    n = next(iter(tracks.values())).p.shape[1]
    header = ["run", "time_s", *axes, *(f"{what}_{k}" for what in ("p", "pd", "u") for k in range(n))]
    rows = (
        [name, *row]
        for name, found in tracks.items()
        for row in np.hstack([found.time[:, None], found.tip, found.wanted, found.p, found.pd, found.u])
    )
    write_rows(path, header, rows, digits=9)
