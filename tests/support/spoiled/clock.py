"""Kinds of the clock."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy as np

from support.spoiled.arm import Array, Plant, Table, recorded, written
from support.spoiled.kind import Kind, changed, mapped

G = "clock"
EPOCH = 1_785_000_000.0


def stamps(change: Callable[[Array], Array]) -> Callable[[Table], Table]:
    return lambda t: replace(t, time=change(t.time))


def at_rate(rate: float) -> Callable[[Table], Table]:
    """The same motion at another sampling rate, by interpolation of the noisy samples."""

    def change(t: Table) -> Table:
        time = np.arange(int(t.time[-1] * rate)) / rate
        q, dq, tau = (np.column_stack([np.interp(time, t.time, c) for c in v.T]) for v in (t.q, t.dq, t.tau))
        return Table(time, q, dq, tau)

    return change


def epoch(unit: int) -> Callable[[Path], list[str]]:
    """Whole numbers of a unit since 1970."""

    def spoil(folder: Path) -> list[str]:
        table = recorded()
        path = written(folder / "log.csv", table)
        lines = path.read_text().splitlines()
        whole = [f"{round(EPOCH) * unit + round(t * unit)},{line.partition(',')[2]}"
                 for t, line in zip(table.time, lines[1:], strict=True)]  # fmt: skip
        path.write_text("\n".join([lines[0], *whole]) + "\n")
        return [str(path)]

    return spoil


def dated(folder: Path) -> list[str]:
    path = epoch(1000)(folder)[0]
    lines = Path(path).read_text().splitlines()
    begin = datetime(2026, 7, 25, 17, 20, tzinfo=timezone.utc)
    rows = []
    for line in lines[1:]:
        ms, _, rest = line.partition(",")
        rows.append(f"{(begin + timedelta(milliseconds=int(ms) - EPOCH * 1000)).isoformat()},{rest}")
    Path(path).write_text("\n".join([lines[0], *rows]) + "\n")
    return [path]


def order(of: Callable[[int], Array]) -> Callable[[Table], Table]:
    return lambda t: t.rows(of(len(t.time)))


def swapped_pairs(n: int) -> Array:
    rows = np.arange(n)
    for k in range(200, n - 200, 300):
        rows[[k, k + 1]] = rows[[k + 1, k]]
    return rows


def every_row_twice(n: int) -> Array:
    return np.repeat(np.arange(n), 2)


def without(first: int, count: int, each: int) -> Callable[[int], Array]:
    return lambda n: np.array([k for k in range(n) if not (k - first) % each < count or k < first])


def arrival(sigma: float) -> Callable[[Array], Array]:
    """Of messages that keep their order."""
    rng = np.random.default_rng(1)
    return lambda time: np.maximum.accumulate(time + np.abs(rng.normal(0.0, sigma, len(time))))


def standing(time: Array) -> Array:
    """A stamp that stays for a fifth of a second, once."""
    return np.where((time > 14.0) & (time < 14.2), time[1400], time)


def zeros(time: Array) -> Array:
    return np.where(np.arange(len(time)) % 700 == 350, 0.0, time)


def by_own_clock(factor: float) -> Callable[[Table], Table]:
    """Torques whose clock counts `factor` seconds a second."""
    return lambda t: replace(t, tau=np.column_stack([np.interp(t.time / factor, t.time, v) for v in t.tau.T]))


def slow_log(rate: float, plant: Plant) -> Callable[[Path], list[str]]:
    def spoil(folder: Path) -> list[str]:
        return [str(written(folder / "log.csv", at_rate(rate)(recorded(plant)))), "--cutoff", f"{0.4 * rate:g}"]

    return spoil


def recorded_faster(folder: Path, words: list[str], said: re.Match[str]) -> list[str]:
    """What the message asks for, a recording at that many Hz or more."""
    return [str(written(folder / "again.csv", recorded(Plant(faster=2.0))))] if float(said[1]) <= 100.0 else words


def merged(folder: Path) -> list[str]:
    """Positions and rates by one clock, torques by another, rows of both as they came."""
    t = recorded()
    names = list(t.columns())
    lines = [",".join(names)]
    for k in range(len(t.time)):
        lines.append(",".join([f"{t.time[k]:.6f}", *(f"{v:.8g}" for v in (*t.q[k], *t.dq[k])), "", "", ""]))
        lines.append(",".join([f"{t.time[k] + 0.004:.6f}", *6 * [""], *(f"{v:.8g}" for v in t.tau[k])]))
    (folder / "log.csv").write_text("\n".join(lines) + "\n")
    return [str(folder / "log.csv")]


def one_clock(folder: Path, words: list[str], said: re.Match[str]) -> list[str]:
    """Torques interpolated at the stamps of the positions."""
    values = np.genfromtxt(words[0], delimiter=",", names=True)
    there = np.isfinite(values["q_waist"])
    read = ~there
    lines = [",".join(values.dtype.names)]
    columns = [values[n][there] if not n.startswith("tau") else
               np.interp(values["time"][there], values["time"][read], values[n][read]) for n in values.dtype.names]  # fmt: skip
    np.savetxt(folder / "one.csv", np.column_stack(columns), delimiter=",", header=lines[0], comments="")
    return [str(folder / "one.csv")]


KINDS = [
    Kind(
        G,
        "--rate of a log without stamps is half of its own",
        changed(lambda t: t, None, "--rate", "50", without=("time",)),
        "at each of 3 joints: the clock counts …",
        "--rate … if",
        mend=lambda f, w, m: [w[0], "--rate", m[1]],
        cheap=True,
        cause="time",
    ),
    Kind(G, "twice too fast", changed(stamps(lambda t: 0.5 * t)), "the clock counts …", "--scale time=…", cause="time"),
    Kind(G, "8 % too slow", changed(stamps(lambda t: 1.08 * t)), "the clock counts …", "--scale time=…", cause="time"),
    Kind(
        G,
        "no stamps",
        changed(lambda t: t, without=("time",)),
        "no column time or t",
        "--rate HZ",
        mend=lambda f, w, m: [*w, "--rate", "100"],
    ),
    Kind(G, "stamps since 1970 [s]", changed(stamps(lambda t: EPOCH + t), digits="%.15g")),
    Kind(G, "stamps since 1970 [ms]", epoch(10**3), "not in seconds?", "--time-unit …"),
    Kind(G, "stamps since 1970 [µs]", epoch(10**6), "not in seconds?", "--time-unit …"),
    Kind(G, "stamps since 1970 [ns]", epoch(10**9), "not in seconds?", "--time-unit …"),
    Kind(
        G,
        "stamps since the start [ms]",
        changed(stamps(lambda t: 1e3 * t)),
        "not in seconds?",
        "--time-unit …",
        cause="time",
    ),
    Kind(
        G,
        "stamps since the start [µs]",
        changed(stamps(lambda t: 1e6 * t)),
        "not in seconds?",
        "--time-unit …",
        cause="time",
    ),
    Kind(
        G,
        "stamps since the start [ns]",
        changed(stamps(lambda t: 1e9 * t), digits="%.14g"),
        "not in seconds?",
        "--time-unit …",
        cause="time",
    ),
    Kind(G, "stamps are dates", dated),
    Kind(
        G,
        "stamps rounded to 10 ms, at 250 Hz",
        changed(lambda t: stamps(lambda s: np.round(s, 2))(at_rate(250.0)(t))),
        "rounded to 0.01 s",
        "--rate …",
    ),
    Kind(
        G,
        "stamps rounded to 10 ms, at 99 Hz",
        changed(lambda t: stamps(lambda s: np.round(s, 2))(at_rate(99.0)(t))),
        "steps of … split it",
        "--bridge …",
    ),
    Kind(G, "stamps rounded to 100 ms", changed(stamps(lambda t: np.round(t, 1))), "rounded to 0.1 s", "--rate …"),
    Kind(
        G,
        "stamps rounded to 1 s",
        changed(stamps(np.round)),
        "rounded to 1 s",
        "--rate … takes",
        mend=lambda f, w, m: [*w, "--rate", m[1]],
    ),
    Kind(G, "stamps of arrival, 1 ms late", changed(stamps(arrival(0.001))), noted="resampled"),
    Kind(G, "stamps of arrival, 5 ms late", changed(stamps(arrival(0.005))), "steps of … split it", "--bridge …"),
    Kind(G, "rows shuffled", changed(order(lambda n: np.random.default_rng(0).permutation(n))), "no order?", "--sort"),
    Kind(G, "rows from the last to the first", changed(order(lambda n: np.arange(n)[::-1])), "no order?", "--sort"),
    Kind(G, "neighbouring rows exchanged, now and then", changed(order(swapped_pairs))),
    Kind(G, "every row twice", changed(order(every_row_twice)), noted="repeated stamp (3000)"),
    Kind(G, "a gap of 2 s", changed(order(without(1400, 200, 10**6))), noted="between 1 gaps"),
    Kind(G, "one sample in fifty lost", changed(order(without(30, 1, 50))), "steps of … split it", "--bridge …"),
    Kind(
        G,
        "the clock starts again on the way",
        changed(stamps(lambda t: np.where(t > 14.0, t - 14.0, t))),
        noted="time steps back 1 times",
    ),
    Kind(
        G,
        "the clock is set back by 0.3 s on the way",
        changed(stamps(lambda t: np.where(t > 14.0, t - 0.3, t))),
        noted="time steps back 1 times",
    ),
    Kind(
        G,
        "the clock is set ahead by 5 s on the way",
        changed(stamps(lambda t: np.where(t > 14.0, t + 5.0, t))),
        noted="between 1 gaps",
    ),
    Kind(G, "a stamp stays for 0.2 s", changed(stamps(standing)), noted="repeated stamp"),
    Kind(G, "stamps of zero now and then", changed(stamps(zeros)), noted="zero stamp"),
    Kind(
        G,
        "too slow for the motion",
        slow_log(3.0, Plant(faster=2.0)),
        "is sampled at 3 Hz",
        "record at a sampling rate of … Hz or more",
        mend=recorded_faster,
        cause="sampling",
    ),
    Kind(
        G,
        "torques in rows of their own, by another clock",
        merged,
        "stand in different rows",
        "interpolate",
        mend=one_clock,
    ),
    *(
        Kind(
            G,
            f"torques of a clock that {gains} 1 %",
            changed(by_own_clock(factor)),
            "a clock of its own?",
            "--stretch …",
            cause="torque-clock",
        )
        for gains, factor in (("gains", 1.01), ("loses", 0.99))
    ),
    Kind(
        G,
        "the stamps' column is called timestamp",
        changed(lambda t: t, renamed={"time": "timestamp"}),
        "no column time or t",
        '{"timestamp": "time"}',
        mend=mapped({"timestamp": "time"}),
    ),
]
