"""Kinds of what the arm met: loads, its base, a brake, a table; and recordings that are not its own."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from support.spoiled.arm import JOINTS, RATE, Plant, Table, recorded, written
from support.spoiled.kind import Kind, changed
from support.spoiled.quality import NO_OFFSET, cut

G = "the arm"


def same(t: Table) -> None:
    """Nothing but what the arm met."""


def parts(folder: Path, words: list[str], said: re.Match[str]) -> list[str]:
    """The first of the two parts."""
    at = float(said[1])
    t = recorded(Plant(load=1.0, since=16.0))
    return [str(written(folder / "part.csv", t.rows(slice(0, int((at - 1.5) * RATE)))))]


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


def still(folder: Path) -> list[str]:
    """Held at rest for 10 s before and after the motion."""
    t, n = recorded(), 1000
    hold = [np.concatenate([np.repeat(v[:1], n, axis=0), v, np.repeat(v[-1:], n, axis=0)]) for v in (t.q, 0.0 * t.dq, t.tau)]
    hold[1][n:-n] = t.dq
    rng = np.random.default_rng(9)
    for v, noise in zip(hold, (1e-5, 2e-3, 0.02), strict=True):
        v[:n] += noise * rng.standard_normal((n, 3))
        v[-n:] += noise * rng.standard_normal((n, 3))
    time = np.arange(len(hold[0])) / RATE
    return [str(written(folder / "log.csv", Table(time, *hold)))]


ELSE = tuple(f"{kind}.{j}" for kind in ("friction.coulomb", "friction.viscous") for j in JOINTS)

KINDS = [
    Kind(G, "a load at the tip", changed(same, Plant(load=0.8)), "it carried 0.8 kg at its tip", "Try payload in --fit", cheap=True),
    Kind(G, "a load taken up on the way", changed(same, Plant(load=1.0, since=16.0)), "a load were taken up or set down at about … s (", "--cut …"),
    Kind(G, "a hand that the description has and the arm has not", changed(same, Plant(lighter=0.6)), "masses, centres of mass or inertias were not the description's", "Try inertials in --fit", truth=NO_OFFSET),
    Kind(G, "the base is tilted by 5°", changed(same, Plant(tilt=np.radians(5.0))), "its base were tilted", "Try gravity_direction in --fit"),
    Kind(G, "a brake that holds a joint for 6 s", changed(same, Plant(braked=(12.0, 18.0))), "shoulder … stood still … for … s from … s on", "cut", mend=cut),
    Kind(G, "leaning on a table for 4 s", changed(same, Plant(leans=(12.0, 16.0))), "no known cause explains what is left", "cut", mend=cut),
    Kind(G, "ten seconds at rest at both ends", still, "rest", "--trim still"),
    Kind(G, "two logs of other rates", rates_two),
    Kind(G, "a log of another robot among them", other_robot, "no columns for the joints waist, shoulder, elbow; it has panda_joint1", "leave it out", mend=lambda f, w, m: w[:1]),
]  # fmt: skip
