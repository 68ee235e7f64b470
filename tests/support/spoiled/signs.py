"""Kinds of signs and of order."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from support.spoiled.arm import JOINTS, Table, recorded, written
from support.spoiled.kind import Kind, Spoil, changed, mapped
from support.spoiled.units import times

S, O = "signs", "order"  # noqa: E741
OTHER = ("j1", "j2", "j3")
WORDS = {
    f"{old}_{joint}": f"{joint}_{new}" for joint in JOINTS for old, new in (("q", "pos"), ("dq", "vel"), ("tau", "eff"))
}
SWAP = {"shoulder": "elbow", "elbow": "shoulder", "waist": "waist"}


def exchanged(*fields: str) -> Callable[[Table], Table]:
    return lambda t: replace(t, **{name: getattr(t, name)[:, [0, 2, 1]] for name in fields})


def told(folder: Path, words: list[str], said: re.Match[str]) -> list[str]:
    """With the names that the message prints."""
    return mapped(json.loads(said[1] + "}"))(folder, words, said)


def wrapped(joint: int, low: float) -> Callable[[Table], None]:
    def change(t: Table) -> None:
        t.q[:, joint] = (t.q[:, joint] - low) % math.tau + low

    return change


def more(**columns: float) -> Callable[[Table], Table]:
    return lambda t: replace(t, more={n: v + np.sin(t.time) for n, v in columns.items()})


def reordered(t: Table) -> Table:
    return t


def by_last_column(folder: Path) -> list[str]:
    names = list(recorded().columns())
    path = written(folder / "log.csv", recorded())
    values = np.loadtxt(path, delimiter=",", skiprows=1)[:, ::-1]
    np.savetxt(path, values, delimiter=",", header=",".join(names[::-1]), comments="", fmt="%.10g")
    return [str(path)]


def twice(folder: Path) -> list[str]:
    path = written(
        folder / "log.csv", replace(recorded(), more={"again": recorded().q[:, 2]}), renamed={"again": "q_elbow"}
    )
    return [str(path)]


def one_of_two(folder: Path, words: list[str], said: re.Match[str]) -> list[str]:
    return [str(written(folder / "one.csv", recorded()))]


def torques_as(*names: str) -> Spoil:
    """Torques are called otherwise, with a second signal beside them."""

    def change(t: Table) -> Table:
        own = {f"{names[0]}_{joint}": t.tau[:, k] for k, joint in enumerate(JOINTS)}
        return replace(
            t, more=own | {f"{n}_{joint}": 0.5 * t.tau[:, k] for n in names[1:] for k, joint in enumerate(JOINTS)}
        )

    return changed(change, without=tuple(f"tau_{joint}" for joint in JOINTS))


def turned(folder: Path, words: list[str], said: re.Match[str]) -> list[str]:
    """Without the turns; what is said then, whole turns that are left, is done too."""
    return [*words, "--unwrap", "--shift", f"q_shoulder={-math.tau:.9g}"]


KINDS = [
    Kind(
        S,
        "a torque's sign",
        changed(times(-1.0, "tau", joint=1)),
        "shoulder: its torque has the wrong sign",
        "--flip shoulder",
        cheap=True,
        cause="sign",
    ),
    Kind(
        S,
        "all torques' signs",
        changed(times(-1.0, "tau")),
        "all torques have the wrong sign",
        "--flip …",
        cause="sign",
    ),
    Kind(
        S,
        "a mirrored encoder",
        changed(times(-1.0, "q", "dq", joint=2)),
        "elbow: its positions and rates have the wrong sign",
        "--scale q_elbow=-1 --scale dq_elbow=-1",
        cause="mirrored",
    ),
    Kind(
        S,
        "a joint's axis: encoder and torque mirrored",
        changed(times(-1.0, "q", "dq", "tau", joint=2)),
        "elbow: its positions, rates and torque have the wrong sign",
        "--scale q_elbow=-1 --scale dq_elbow=-1 --flip elbow",
        cause="mirrored",
    ),
    Kind(
        S,
        "the sign of a joint's rates",
        changed(times(-1.0, "dq", joint=2)),
        "elbow: dq is -1 times the slope of q, reversed in sign",
        "--rates positions",
        cause="rates",
    ),
    Kind(
        S,
        "the sign of a joint's positions",
        changed(times(-1.0, "q", joint=2)),
        "elbow: dq is -1 times the slope of q, reversed in sign",
        "--scale q_elbow=-1",
        cause="rates",
    ),
    Kind(
        S,
        "the sign of a vertical joint's torque",
        changed(times(-1.0, "tau", joint=0)),
        "waist: its torque has the wrong sign",
        "--flip waist",
        cause="sign",
    ),
    Kind(
        O,
        "torques of two joints exchanged",
        changed(exchanged("tau")),
        "shoulder: its torque and that of elbow look exchanged",
        "--map FILE.json with …}",
        mend=told,
        cause="swapped",
    ),
    Kind(
        O,
        "all columns of two joints exchanged",
        changed(exchanged("q", "dq", "tau")),
        "all columns of shoulder and elbow look exchanged",
        "--map FILE.json with …}",
        mend=told,
        cause="swapped",
    ),
    Kind(
        O,
        "rates of two joints exchanged",
        changed(exchanged("dq")),
        "dq has nothing to do with the slope of q",
        "--rates positions",
        cause="rates",
    ),
    Kind(
        O,
        "joints have other names",
        changed(
            lambda t: t,
            renamed={f"{k}_{j}": f"{k}_{o}" for k in ("q", "dq", "tau") for j, o in zip(JOINTS, OTHER, strict=True)},
        ),
        "no columns for the joints waist, shoulder, elbow; it has j1, j2, j3",
        "--map FILE.json",
        mend=mapped({f"{k}_{o}": f"{k}_{j}" for k in ("q", "dq", "tau") for j, o in zip(JOINTS, OTHER, strict=True)}),
    ),
    Kind(
        O,
        "columns have other words",
        changed(lambda t: t, renamed=WORDS),
        "no column named q_<joint> was found",
        "--map FILE.json",
        mend=mapped({v: k for k, v in WORDS.items()}),
    ),
    Kind(
        O,
        "a column is misspelt",
        changed(lambda t: t, renamed={"tau_elbow": "tau_elbw"}),
        "tau_elbow are missing; tau_elbw have no q column",
        "--map FILE.json",
        mend=mapped({"tau_elbw": "tau_elbow"}),
    ),
    Kind(O, "columns in another order", by_last_column),
    Kind(O, "rates are missing", changed(lambda t: t, without=tuple(f"dq_{j}" for j in JOINTS)), noted="no dq columns"),
    Kind(
        O,
        "one joint's rates are missing",
        changed(lambda t: t, without=("dq_elbow",)),
        "dq_elbow are missing",
        "--rates positions",
    ),
    Kind(
        O,
        "one joint's positions are missing",
        changed(lambda t: t, without=("q_elbow",)),
        "no columns for the joints elbow",
        "a joint without a column has to be recorded",
        mend=one_of_two,
    ),
    Kind(
        O,
        "columns of other joints and quantities beside",
        changed(more(q_gripper=0.0, dq_gripper=0.0, tau_gripper=0.0, temperature=40.0)),
    ),
    Kind(O, "desired torques beside measured ones", changed(more(tau_des1=0.0)), noted="left alone: tau_des1"),
    Kind(O, "a column twice", twice, "appear more than once", "keep one", mend=one_of_two),
    Kind(
        O,
        "two signals that may be the torque",
        torques_as("actual_effort", "commanded_effort"),
        "2 signals that may be the torque",
        "--torque FIELD",
        mend=lambda f, w, m: [*w, "--torque", "actual_effort"],
    ),
    Kind(O, "torques are called effort", torques_as("effort"), noted="torque from effort"),
    Kind(
        O,
        "a joint without ends wrapped at ±π",
        changed(wrapped(0, -math.pi)),
        noted="steps of 2π are taken out",
        cheap=True,
    ),
    Kind(
        O,
        "a joint with ends wrapped at 0 and 2π",
        changed(wrapped(1, 0.0)),
        "of a turn of 2π",
        "--unwrap",
        mend=turned,
        cause="jumps",
    ),
]
