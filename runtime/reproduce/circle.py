"""The tip on a circle against MuJoCo's arm: undisturbed, pushed, and with a payload that differs."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from diffpbd.runtime.closed_loop import ComputedTorque, MujocoPlant, PlantFacts, Predictive, Track, circle, track
from diffpbd.runtime.control.controllers import FloatArray
from diffpbd.runtime.errors import InputError
from diffpbd.runtime.files import write_atomic
from diffpbd.runtime.reproduce.figures import new_figure, save
from diffpbd.runtime.robot import Robot

__all__ = ["LAWS", "START", "plant_alpha", "plot", "run", "summary", "write_tracks"]

START = {"s1": -0.9, "e1": 1.5, "w1": 0.97}
"""rad by the end of a joint's name, others 0: the hand points down, the circle stays clear of every limit."""
PUSH = ((0.0, 0.0, -30.0), 0.2, 2.0)  # N on the tip, for s, at s
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


LAWS = {"computed-torque": ComputedTorque, "mpc": Predictive}


def run(
    robot: Robot, urdf: str | Path, *, diameter: float = 0.3, lap: float = 4.0, law: str = "computed-torque"
) -> dict[str, Track]:
    """The runs by name, from `START`, under one of `LAWS`."""
    if len(robot.manifest.robot.tips) != 1:
        raise InputError(f"{robot.name} has {len(robot.manifest.robot.tips)} tips; expected one.")
    facts = PlantFacts()
    reference = circle(
        robot, [START.get(joint.split("_")[-1], 0.0) for joint in robot.joints], diameter=diameter, lap=lap,
        period=facts.period,
    )  # fmt: skip
    speed = [np.inf if joint.velocity is None else joint.velocity for joint in robot.manifest.robot.joints]
    plant = MujocoPlant(urdf, robot.manifest.robot.tips[0], facts)
    if plant.joints != robot.joints:
        raise InputError(f"The description's joints {list(plant.joints)} are not those of {robot.name}.")
    zero = np.zeros(robot.n)
    still = PlantFacts(coulomb={}, viscous={})
    force, duration, begin = PUSH
    found = {}
    for name, known, carried, pushed in (
        ("undisturbed", 0.0, 0.0, False),
        ("pushed", 0.0, 0.0, True),
        (f"{PAYLOAD:g} kg", PAYLOAD, 1.0, False),
        *((f"{PAYLOAD:g} kg, {100 * (share - 1):+.0f} %", PAYLOAD, share, False) for share in DIFFERENT),
    ):
        plant.payload(known * carried)
        controller = LAWS[law](robot, reference, plant_alpha(robot, facts, known), delay=facts.delay)
        hold = robot.inverse_dynamics(reference.p[0], zero, zero, plant_alpha(robot, still, known))
        events = {round(begin / facts.period): lambda plant: plant.push(force, duration)} if pushed else None
        found[name] = track(plant, controller, reference, hold=hold, events=events, speed=speed, rest=REST)
    return found


def summary(tracks: Mapping[str, Track]) -> tuple[list[str], list[list[str]]]:
    """Head and rows: errors of the tip, and how near to a limit the run came."""
    head = ["run", "tip error RMS [mm]", "largest [mm]", "at the end [mm]", "position", "speed", "torque"]
    return head, [
        [
            name, *(f"{1e3 * value:.2f}" for value in (found.rms(), found.error.max(), found.error[-1])),
            *(f"{found.limits[kind]:.2f}" for kind in ("position", "speed", "torque")),
        ]
        for name, found in tracks.items()
    ]  # fmt: skip


def plot(path: str | Path, title: str, tracks: Mapping[str, Track]) -> None:
    """PNG: the tip's path in the plane of the circle, and its error over time."""
    made = new_figure(10.0, 4.5)
    made.suptitle(title)
    path_panel, error_panel = made.subplots(1, 2)
    first = next(iter(tracks.values()))
    path_panel.plot(first.wanted[:, 1], first.wanted[:, 2], "k--", label="reference")
    for name, found in tracks.items():
        path_panel.plot(found.tip[:, 1], found.tip[:, 2], label=name)
        error_panel.semilogy(found.time, 1e3 * np.maximum(found.error, 1e-6), label=name)
    path_panel.set_aspect("equal")
    path_panel.set_xlabel("y [m]")
    path_panel.set_ylabel("z [m]")
    error_panel.set_xlabel("time [s]")
    error_panel.set_ylabel("tip error [mm]")
    for panel in (path_panel, error_panel):
        panel.grid(alpha=0.3)
        panel.legend(frameon=False, fontsize="small")
    save(path, made)


def write_tracks(path: str | Path, tracks: Mapping[str, Track]) -> None:
    """CSV: one row a run and tick."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    axes = [f"{what}_{axis}_m" for what in ("tip", "wanted") for axis in "xyz"]
    n = next(iter(tracks.values())).p.shape[1]
    writer.writerow(["run", "time_s", *axes, *(f"{what}_{k}" for what in ("p", "pd", "u") for k in range(n))])
    for name, found in tracks.items():
        for row in np.hstack([found.time[:, None], found.tip, found.wanted, found.p, found.pd, found.u]):
            writer.writerow([name, *(f"{value:.9g}" for value in row)])
    write_atomic(path, text.getvalue())
