"""The worst of many stops, law by law and rate by rate: what tests/loop/test_calm_stop.py judges, as a table.

cd tests; python -m support.reality.calm_table --poses 20 --rates 100 250 [--laws gravity track] [--arm right] [--first 0]
`--real baxter`, `fr3` or `ur5e` stops arms of the reality bench, which differ from their model in everything; laws that need
no generated functions are then pinocchio's, unless `--generated`. `--stops 10000` stops all three of them by turns.
"""

from __future__ import annotations

import argparse
import time
from itertools import chain, product
from pathlib import Path

import numpy as np

from diffpbd.runtime import load
from diffpbd.runtime.loop.stopping import Reason
from support.reality import KINDS
from support.reality.calm_stops import LAWS, MOST_HELD, NotRun, Stopped, generated_laws, real_stop, stopped
from support.robots import generated, loaded

GAIN = 0.2
"""rad/s; above it a stop is counted."""
EVERY = 100
"""Stops between two rows of `by_turns`."""
MODELS = 4
"""What a model knows of an arm, by the seed (`real_stop`)."""
ROBOTS = Path(__file__).parents[3] / "diffpbd" / "codegen" / "robots"
NEEDED = ("inverse_dynamics", "mass_matrix", "tip_pose", "tip_jacobian", "mpc")
ARMS = {
    "left": (ROBOTS / "baxter_bare.urdf", lambda: loaded("baxter_bare")),
    "right": (ROBOTS / "baxter_right.urdf", lambda: load(generated("baxter_right", functions=NEEDED, variants=()))),
}


def row(name: str, stops: list[Stopped], seconds: float | None = None) -> str:
    """`seconds`: what they took in all."""
    led, gave = len(stops), sum(one.gave for one in stops)
    stops = [one for one in stops if one.held <= MOST_HELD and not one.gave]
    if not stops:
        return f"{name}: none of {led} stops to judge, {gave} gave way"
    asked = [one for one in stops if one.report.reason is Reason.INTERRUPTED]
    gained = np.array([one.gained.max() for one in stops])
    worst = int(gained.argmax())
    speeds, beyond = (np.array([getattr(one, of).max() for one in stops]) for of in ("speed", "beyond"))
    missed = sum("hold the measured pose" not in one.report.ending for one in stops)
    return (
        f"{name}: {len(stops)} stops of {led} ({len(asked)} asked for, median {np.median(speeds):.2f} rad/s), "
        f"{gave} gave way, gained {gained.max():.3f} (stop {worst}; nine in ten {np.quantile(gained, 0.9):.3f}; above "
        f"{GAIN:g}: {(gained > GAIN).sum()}) rad/s, beyond "
        f"{beyond.max():.3f} rad ({(beyond > 0.0).sum()}), torque {max(one.torque.max() for one in stops):.1f} N·m, "
        f"{missed} not held" + ("" if seconds is None else f", {seconds / led:.2f} s a stop")
    )


def by_turns(seeds: range, laws: list[str], rates: list[float]) -> None:
    """A row of all after every hundred, and in the end one for each arm, law and rate."""
    kinds = list(product(KINDS, laws, rates))
    needed = bool({"cartesian", "mpc"}.intersection(laws))
    robots = {
        name: load(generated(str(KINDS[name].robot()), functions=NEEDED, variants=())) if needed else None
        for name in KINDS
    }
    begin, found = time.process_time(), [[] for _ in kinds]  # type: tuple[float, list[list[Stopped]]]
    for count, seed in enumerate(seeds, start=1):
        kind = seed // MODELS % len(kinds)
        name, law, rate = kinds[kind]
        try:
            found[kind].append(real_stop(name, law, rate, seed, robot=robots[name]))
        except NotRun as refused:
            print(f"stop {seed} of {name} under {law}: {refused}", flush=True)
        if count % EVERY == 0 or count == len(seeds):
            print(row("all", list(chain(*found)), time.process_time() - begin), flush=True)
    for kind, stops in zip(kinds, found, strict=True):
        if stops:
            print(row("{} {} {:g} Hz".format(*kind), stops))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--poses", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--rates", type=float, nargs="+", default=[100.0, 250.0])
    parser.add_argument("--laws", nargs="+", default=list(LAWS))
    parser.add_argument("--arm", choices=list(ARMS), default="left")
    parser.add_argument("--real", choices=list(KINDS))
    parser.add_argument("--generated", action="store_true")
    parser.add_argument("--stops", type=int, help="so many of all arms of the reality bench, laws and rates by turns")
    words = parser.parse_args()
    if words.stops:
        by_turns(range(words.first, words.first + words.stops), words.laws, words.rates)
        return
    if words.real is None:
        urdf, opened = ARMS[words.arm]
        robot = opened()
    elif words.generated or {"cartesian", "mpc"}.intersection(words.laws):
        robot = load(generated(str(KINDS[words.real].robot()), functions=NEEDED, variants=()))
    else:
        robot = None
    for law in words.laws:
        for rate in words.rates:
            begin, stops = time.process_time(), []
            for seed in range(words.first, words.first + words.poses):
                if words.real is None:
                    stops.append(stopped(urdf, *generated_laws(robot, known=bool(seed % 2)), law, rate, seed))
                else:
                    stops.append(real_stop(words.real, law, rate, seed, robot=robot))
            print(row(f"{words.real or words.arm} {law} {rate:g} Hz", stops, time.process_time() - begin), flush=True)


if __name__ == "__main__":
    main()
