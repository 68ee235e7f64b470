"""Kinds of units, gains and zeros."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from support.spoiled.arm import TRUTH, Table
from support.spoiled.kind import Kind, changed

G = "units"
DEGREES = math.degrees(1.0)
CONSTANTS = np.array([11.5, 11.5, 4.2])  # N·m/A


def times(factor: float, *fields: str, joint: int | None = None) -> Callable[[Table], None]:
    def change(t: Table) -> None:
        for name in fields:
            getattr(t, name)[:, slice(None) if joint is None else joint] *= factor

    return change


def plus(way: float, field: str, joint: int) -> Callable[[Table], None]:
    def change(t: Table) -> None:
        getattr(t, field)[:, joint] += way

    return change


def amperes(t: Table) -> None:
    t.tau /= CONSTANTS


NOT_WAIST = tuple(name for name in TRUTH if "waist" not in name)

KINDS = [
    Kind(
        G, "all in degrees", changed(times(DEGREES, "q", "dq")), "in degrees?", "--degrees", cheap=True, cause="units"
    ),
    Kind(
        G,
        "positions in degrees, rates not",
        changed(times(DEGREES, "q")),
        "in rad/s beside positions in degrees",
        "--scale q_…=…",
        cause="rates",
    ),
    Kind(
        G,
        "one joint's positions in degrees",
        changed(times(DEGREES, "q", joint=2)),
        "elbow: dq is … in rad/s beside positions in degrees",
        "--scale q_elbow=…",
        cause="rates",
    ),
    Kind(
        G,
        "rates in degrees a second",
        changed(times(DEGREES, "dq")),
        "in degrees a second",
        "--rates positions",
        cause="rates",
    ),
    Kind(
        G,
        "rates in revolutions a minute",
        changed(times(30.0 / math.pi, "dq")),
        "in revolutions a minute",
        "--rates positions",
        cause="rates",
    ),
    Kind(
        G,
        "rates of the motor's side",
        changed(times(101.0, "dq")),
        "of the motor's side of a gear",
        "--rates positions",
        cause="rates",
    ),
    Kind(
        G,
        "rates of one joint half of what they are",
        changed(times(0.45, "dq", joint=1)),
        "shoulder: dq is … times the slope of q",
        "--rates positions",
        cause="rates",
    ),
    Kind(
        G,
        "rates that are zero",
        changed(times(0.0, "dq")),
        "dq is 0 in all samples",
        "--rates positions",
        cause="rates",
    ),
    Kind(
        G,
        "all in revolutions",
        changed(times(0.5 / math.pi, "q", "dq")),
        "in revolutions",
        "--scale q=… --scale dq=…",
        cause="units",
    ),
    Kind(
        G,
        "all in thousandths",
        changed(times(1e3, "q", "dq")),
        "in thousandths",
        "--scale q=… --scale dq=…",
        cause="units",
    ),
    Kind(
        G,
        "positions in counts of the encoder",
        changed(times(4096 / math.tau, "q")),
        "times the slope of q",
        "--scale q_…=…",
        cause="rates",
    ),
    Kind(
        G,
        "an encoder's scale 20 % off",
        changed(times(1.25, "q", joint=2)),
        "elbow: dq is 0.8 times the slope of q",
        "if these are wrong, --scale q_elbow=…",
        mend=lambda f, w, m: [*w, "--scale", f"q_elbow={m[1]}"],
        cause="rates",
    ),
    Kind(
        G,
        "a gear ratio 10 % off, positions and rates",
        changed(times(1.1, "q", "dq", joint=2)),
        "elbow reads as if its encoder's scale",
        "--scale q_elbow=… --scale dq_elbow=…",
        cause="scale",
    ),
    Kind(
        G,
        "an encoder's zero off by 0.1 rad",
        changed(plus(0.1, "q", 2)),
        "elbow reads as if its encoder's zero were off by",
        "--shift …",
        cheap=True,
        cause="zero",
    ),
    Kind(
        G,
        "an encoder's zero off by −0.3 rad",
        changed(plus(-0.3, "q", 1)),
        "shoulder reads as if its encoder's zero were off by",
        "Try … in --fit",
        cause="zero",
    ),
    Kind(G, "the zero of a vertical joint's encoder off", changed(plus(0.3, "q", 0)), unseen="no torque depends on it"),
    Kind(G, "torques in N·mm", changed(times(1e3, "tau")), "(N·mm)", "--scale tau=…", cause="gain"),
    Kind(
        G,
        "one torque in N·mm",
        changed(times(1e3, "tau", joint=1)),
        "shoulder: its torque is … times the description's",
        "--drive-gain shoulder=…",
        cause="gain",
    ),
    Kind(G, "torques in lbf·in", changed(times(8.8507, "tau")), "(lbf·in)", "--scale tau=…", cause="gain"),
    Kind(
        G,
        "torques before a gear of 100",
        changed(times(0.01, "tau")),
        "times the description's",
        "--scale tau=…",
        cause="gain",
    ),
    Kind(
        G,
        "currents in place of torques",
        changed(amperes),
        "times the description's",
        "--drive-gain …;",
        truth=NOT_WAIST,
        cause="gain",
    ),
    Kind(
        G,
        "one current in place of a torque",
        changed(times(1 / 11.5, "tau", joint=1)),
        "shoulder: its torque is … times the description's",
        "--drive-gain shoulder=…",
        cause="gain",
    ),
    Kind(
        G,
        "a gain of 1.2 of a vertical joint's torque sensor",
        changed(times(1.2, "tau", joint=0)),
        "it lacks a gain of waist (t = …",
        "sensor.gain.… in --fit",
        cause="gain",
    ),
    Kind(
        G,
        "a torque sensor's gain of 1.2",
        changed(times(1.2, "tau", joint=1)),
        "shoulder reads as if it had a sensor gain of 1.2",
        "Try … in --fit",
        cause="gain",
    ),
]
