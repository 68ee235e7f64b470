"""Kinds of what the arm met: loads, its base, a brake, a table; and recordings that are not its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from support.spoiled.arm import COULOMB, Plant, Table, recorded, written
from support.spoiled.kind import Kind, changed
from support.spoiled.quality import NO_OFFSET

G = "the arm"


def same(t: Table) -> None:
    """Nothing but what the arm met."""


def rates_two(folder: Path) -> list[str]:
    """One at 100 Hz, one at 50 Hz."""
    a, b = recorded(), recorded(seed=3).rows(slice(None, None, 2))
    return [str(written(folder / "a.csv", a)), str(written(folder / "b.csv", b))]


def other_robot(folder: Path) -> list[str]:
    """A recording of seven joints of another arm."""
    time = np.arange(2000) / 100.0
    names = ["time", *(f"{kind}_panda_joint{k}" for kind in ("q", "dq", "tau") for k in range(1, 8))]
    values = np.column_stack([time, *(np.sin(time + k) for k in range(21))])
    np.savetxt(folder / "panda.csv", values, delimiter=",", header=",".join(names), comments="")
    return [str(written(folder / "log.csv", recorded())), str(folder / "panda.csv")]


def still(t: Table) -> None:
    """At rest friction holds what it can."""
    rest = (t.time < 6.0) | (t.time > t.time[-1] - 6.0)
    t.tau[rest] += 0.8 * np.array(COULOMB)


KINDS = [
    Kind(
        G,
        "a load at the tip",
        changed(same, Plant(load=0.8)),
        "the robot reads as if it carried … kg at its tip",
        "Try payload in --fit",
        cause="load",
    ),
    Kind(
        G,
        "a load taken up on the way",
        changed(same, Plant(load=1.0, since=16.0)),
        "a load were taken up or set down at about … s (",
        "--cut …",
        cause="load-change",
    ),
    Kind(
        G,
        "a hand that the description has and the arm has not",
        changed(same, Plant(lighter=0.6)),
        "masses, centres of mass or inertias were not the description's",
        "Try inertials in --fit",
        truth=NO_OFFSET,
        cause="masses",
    ),
    Kind(
        G,
        "the base is tilted by 5°",
        changed(same, Plant(tilt=np.radians(5.0))),
        "its base were tilted",
        "Try gravity_direction in --fit",
        cause="tilt",
    ),
    Kind(
        G,
        "a brake that holds a joint for 6 s",
        changed(same, Plant(braked=(12.0, 18.0))),
        "shoulder reads as if something else acted on it from",
        "--cut …",
        cause="span",
    ),
    Kind(
        G,
        "leaning on a table for 4 s",
        changed(same, Plant(leans=(12.0, 16.0))),
        "elbow reads as if something else acted on it from",
        "--cut …",
        cause="span",
    ),
    Kind(
        G,
        "six seconds at rest at both ends",
        changed(still, Plant(rests=True)),
        "is at rest for",
        "--trim still",
        cause="rest",
    ),
    Kind(G, "two logs of other rates", rates_two),
    Kind(
        G,
        "a log of another robot among them",
        other_robot,
        "no columns for the joints waist, shoulder, elbow; it has panda_joint1",
        "leave it out",
        mend=lambda f, w, m: w[:1],
    ),
]
