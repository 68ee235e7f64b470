"""Kinds of sensors: stuck, noisy, late, drifting; samples that are lost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.signal import lfilter

from support.spoiled.arm import JOINTS, RATE, Table, recorded, written
from support.spoiled.kind import Kind, Spoil, changed

G = "sensors"


def stuck(field: str, joint: int) -> Callable[[Table], None]:
    def change(t: Table) -> None:
        values = getattr(t, field)
        values[1000:1700, joint] = values[1000, joint]

    return change


def spikes(field: str, joint: int, size: float, count: int = 60) -> Callable[[Table], None]:
    def change(t: Table) -> None:
        rng = np.random.default_rng(3)
        getattr(t, field)[rng.choice(len(t.time), count, replace=False), joint] += size

    return change


def marked(value: float, *fields: str) -> Callable[[Table], None]:
    """What a driver writes where it has no value."""

    def change(t: Table) -> None:
        for name in fields:
            getattr(t, name)[400::437, 2] = value

    return change


def rounded(field: str, step: float) -> Callable[[Table], None]:
    def change(t: Table) -> None:
        values = getattr(t, field)
        values[:] = step * np.round(values / step)

    return change


def noisy(field: str, size: float) -> Callable[[Table], None]:
    def change(t: Table) -> None:
        values = getattr(t, field)
        values += size * np.random.default_rng(4).standard_normal(values.shape)

    return change


def late(field: str, seconds: float, joint: int | None = None) -> Callable[[Table], None]:
    def change(t: Table) -> None:
        values = getattr(t, field)
        for k in range(3):
            if joint in (None, k):
                values[:, k] = np.interp(t.time - seconds, t.time, values[:, k])

    return change


def smoothed(field: str, hertz: float) -> Callable[[Table], None]:
    """A filter of first order, as drivers have."""

    def change(t: Table) -> None:
        values, share = getattr(t, field), 1.0 - np.exp(-2.0 * np.pi * hertz / RATE)
        for k in range(3):
            values[:, k] = lfilter([share], [1.0, share - 1.0], values[:, k], zi=[(1.0 - share) * values[0, k]])[0]

    return change


def clipped(share: float) -> Callable[[Table], None]:
    def change(t: Table) -> None:
        t.tau[:, 1] = np.minimum(t.tau[:, 1], np.quantile(t.tau[:, 1], share))

    return change


def drifting(rate: float) -> Callable[[Table], None]:
    def change(t: Table) -> None:
        t.tau[:, 1] += rate * t.time

    return change


def stepping(size: float) -> Callable[[Table], None]:
    def change(t: Table) -> None:
        t.tau[:, 1] += np.where(t.time > 14.0, size, 0.0)

    return change


def words_for(text: str, *, columns: tuple[str, ...] = ("tau_elbow",)) -> Spoil:
    """Cells without a number, as tools write them, every 437th sample."""

    def spoil(folder: Path) -> list[str]:
        path = written(folder / "log.csv", recorded())
        lines = path.read_text().splitlines()
        at = [lines[0].split(",").index(name) for name in columns]
        for k in range(401, len(lines), 437):
            cells = lines[k].split(",")
            for column in at:
                cells[column] = text
            lines[k] = ",".join(cells)
        path.write_text("\n".join(lines) + "\n")
        return [str(path)]

    return spoil


def zeros_apart(folder: Path) -> list[str]:
    words = []
    for seed, zero in ((2, 0.0), (3, 0.6), (4, -0.5)):
        t = recorded(seed=seed)
        t.tau[:, 1] += zero
        words.append(str(written(folder / f"log{seed}.csv", t)))
    return words


def constant(t: Table) -> Table:
    """The measured torque stands under another name; the first column of torques is the commanded one, never set."""
    own = {f"measured_effort_{j}": t.tau[:, k] for k, j in enumerate(JOINTS)}
    return replace(t, tau=np.zeros_like(t.tau), more=own)


def all_of(*fields: str) -> tuple[str, ...]:
    return tuple(f"{f}_{j}" for f in fields for j in JOINTS)


LOST = "of 3000 samples are left out"
NO_OFFSET = tuple(f"friction.{kind}.{joint}" for kind in ("coulomb", "viscous") for joint in JOINTS)
NOT_SHOULDER = tuple(
    f"{kind}.{joint}"
    for kind in ("friction.coulomb", "friction.viscous", "torque_offset")
    for joint in ("waist", "elbow")
) + ("friction.coulomb.shoulder", "friction.viscous.shoulder")

KINDS = [
    Kind(
        G,
        "a torque stuck for 7 s",
        changed(stuck("tau", 2)),
        "elbow: its torque stays at …: stuck?",
        "--cut …",
        cheap=True,
        cause="stuck",
    ),
    Kind(G, "an encoder stuck for 7 s", changed(stuck("q", 2)), "elbow: q stands still", "--cut …", cause="frozen"),
    Kind(
        G,
        "torques that are never set",
        changed(constant),
        "all torques are zero in all",
        "--torque chooses another signal",
        mend=lambda f, w, m: [*w, "--torque", "measured_effort"],
        cause="constant",
    ),
    Kind(
        G,
        "a torque with spikes",
        changed(spikes("tau", 1, 60.0)),
        "shoulder: its torque jumps for single samples 60 times",
        "--despike",
        cause="spikes",
    ),
    Kind(
        G,
        "positions with spikes",
        changed(spikes("q", 2, 0.7)),
        "elbow: its position jumps for single samples 60 times",
        "--despike",
        cause="spikes",
    ),
    Kind(
        G,
        "rates with spikes",
        changed(spikes("dq", 2, 20.0)),
        "elbow: its rate jumps for single samples 60 times",
        "--despike",
        cause="spikes",
    ),
    Kind(
        G,
        "−999 where a torque is missing",
        changed(marked(-999.0, "tau")),
        "elbow: its torque jumps for single samples",
        "--despike",
        cause="spikes",
    ),
    Kind(
        G,
        "9999 where a position is missing",
        changed(marked(9999.0, "q")),
        "elbow: its position jumps for single samples",
        "--despike",
        cause="spikes",
    ),
    Kind(G, "torques in steps of 0.3 N·m", changed(rounded("tau", 0.3)), loose=2.0),
    Kind(G, "positions in steps of 0.5°", changed(rounded("q", np.radians(0.5))), loose=2.0),
    Kind(G, "rates in steps of 0.05 rad/s", changed(rounded("dq", 0.05)), loose=2.0),
    Kind(G, "noise of 0.5 N·m on torques", changed(noisy("tau", 0.5)), loose=3.0),
    Kind(G, "noise of 0.2 rad/s on rates", changed(noisy("dq", 0.2)), "noise of its rates", "--rates positions"),
    Kind(G, "noise of 0.01 rad on positions", changed(noisy("q", 0.01)), loose=2.0),
    Kind(G, "NaN in a torque", words_for("NaN"), noted=LOST),
    Kind(G, "inf in a position", words_for("inf", columns=("q_waist",)), noted=LOST),
    Kind(G, "empty cells", words_for("", columns=all_of("q", "dq")), noted=LOST),
    Kind(G, "words for a missing number (N/A)", words_for("N/A"), noted=LOST),
    Kind(G, "words for a missing number (null)", words_for("null", columns=("dq_waist", "tau_elbow")), noted=LOST),
    Kind(G, "#DIV/0! of a spreadsheet", words_for("#DIV/0!"), noted=LOST),
    Kind(G, "stamps are missing now and then", words_for("", columns=("time",)), noted=LOST),
    Kind(
        G,
        "a torque sensor that saturates",
        changed(clipped(0.9)),
        "shoulder: its torque is at its largest value",
        "--cut …",
        cause="saturated",
    ),
    Kind(
        G,
        "rates of a slow filter (1 Hz)",
        changed(smoothed("dq", 1.0)),
        "dq … the slope of q",
        "--rates positions",
        cause="lag",
    ),
    Kind(
        G,
        "rates of a filter (3 Hz)",
        changed(smoothed("dq", 3.0)),
        "dq comes … ms after the slope of q",
        "--rates positions",
        cause="lag",
    ),
    Kind(
        G,
        "rates 50 ms late",
        changed(late("dq", 0.05)),
        "dq comes … ms after the slope of q",
        "--rates positions",
        cause="lag",
    ),
    Kind(
        G,
        "rates 50 ms early",
        changed(late("dq", -0.05)),
        "dq comes … ms before the slope of q",
        "--rates positions",
        cause="lag",
    ),
    Kind(
        G,
        "torques 20 ms late",
        changed(late("tau", 0.02)),
        "reads as if it had a delay of",
        "Try sensor.delay.… in --fit",
        cause="delay",
    ),
    Kind(
        G,
        "torques 100 ms late",
        changed(late("tau", 0.1)),
        "its torque comes 100 ms after the motion",
        "--fit …,sensor.delay.…",
        cause="delay",
    ),
    Kind(
        G,
        "one torque 60 ms early",
        changed(late("tau", -0.06, 1)),
        "shoulder: its torque comes … ms before the motion",
        "--fit …,sensor.delay.…",
        cause="delay",
    ),
    Kind(
        G,
        "torques of a filter (8 Hz)",
        changed(smoothed("tau", 8.0)),
        "reads as if it had a delay of",
        "Try sensor.delay.… in --fit",
        loose=2.0,
        cause="delay",
    ),
    Kind(
        G,
        "a torque's zero that drifts",
        changed(drifting(0.05)),
        "shoulder reads as if its torque's zero drifted",
        "--drift …",
        cause="drift",
    ),
    Kind(
        G,
        "a torque's zero that steps",
        changed(stepping(1.0)),
        "shoulder reads as if its torque's zero",
        "--cut …",
        truth=NO_OFFSET,
        cause="drift",
    ),
    Kind(
        G,
        "another zero of a torque in each log",
        zeros_apart,
        "shoulder reads as if its torque's zero were another one in each recording",
        "Fit the recordings apart",
        mend=lambda f, w, m: w[:1],
        cause="other-zero",
    ),
]
