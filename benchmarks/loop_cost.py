"""`python -m benchmarks.loop_cost`: what closing a loop costs, beside the same links and joints left open.

The four-bar and the five-bar of `benchmarks.connect`, each once with its pin and once without, at the same 256 states along a
swing of the closed mechanism, as on the page and with every mass, origin and anchor an entry of alpha. Times are CPU time of
the thread on one core, in slices of 2 ms, a loop's slice right after its tree's; figures are medians over the rounds, ratios
medians over the pairs. Operations are those of the C text that the manifest counts, one pass of every kernel of a step.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.connect import MECHANISMS, Case
from benchmarks.native import Native, stopwatch
from benchmarks.states import STATES, H
from benchmarks.timing import calls_in_a_slice, pin_to_one_core
from diffpbd.codegen.generate import generate
from diffpbd.runtime import Robot, load
from diffpbd.runtime.report.tables import table

ROUNDS, STARTS, STEPS = 31, 16, 10
"""Rounds, and rollouts of so many steps (left open, the five-bar is soon thrown about)."""
FUNCTIONS = ("joint_step", "jac_joint_step", "rollout")
SYMBOLIC = ("mass", "origin", "loop")
RESULTS = Path(__file__).resolve().parent.parent / "bench-results"


@dataclass(frozen=True)
class Row:
    """Times [us] and operations of the tree and of the loop (of a rollout those of a step), and the median ratio of times."""

    mechanism: str
    symbolic: bool
    function: str
    path: str
    tree: float
    loop: float
    ratio: float
    tree_operations: int
    loop_operations: int


class Timed:
    """A generated robot's functions through the C interface, on an instruction path (None: the one of this processor)."""

    def __init__(self, robot: Robot, path: str | None, folder: Path) -> None:
        copy = folder / f"{robot.name}_{path or 'own'}.so"  # a path is chosen for a library
        shutil.copy(robot.folder / robot.manifest.library, copy)
        self.robot, self.library = robot, ctypes.CDLL(str(copy))
        if path:
            getattr(self.library, f"{robot.name}_set_path")(path.encode())
        self.facts = {f.name: f for f in robot.manifest.functions}

    def function(self, name: str) -> Native:
        f = self.facts[name]
        steps = STEPS if f.rollout else None
        work = f.work_size if steps is None else getattr(self.library, f"{f.symbol}_work_size")(steps)
        columns = {"N": STEPS, "N+1": STEPS + 1}
        inputs, outputs = (
            tuple(a.rows * columns.get(a.cols, a.cols) for a in group) for group in (f.inputs, f.outputs)
        )
        return Native(self.library, f.symbol, inputs, outputs, work or 0, steps)

    def states(self, name: str, P: Any, PD: Any, u: Any) -> list[Any]:
        if self.facts[name].rollout:
            P, PD, u = P[:: STATES // STARTS], PD[:: STATES // STARTS], np.tile(u, STEPS)
        return [P, PD, u[None], np.array([[H]]), self.robot.alpha.defaults[None]]


def rows(name: str, symbolic: bool, folder: Path, watch: ctypes.CDLL, rounds: int) -> Iterator[Row]:
    """All functions and paths of a mechanism."""
    options = {"symbolic": SYMBOLIC} if symbolic else {}
    folder = folder / ("symbolic" if symbolic else "plain")
    folder.mkdir(parents=True, exist_ok=True)
    case = Case(name, folder, **options)
    P, PD = case.robot.rollout(case.p, case.pd, np.tile(case.u, (STATES - 1, 1)), h=H)
    path = folder / f"{name}_open.xml"
    path.write_text(re.sub("<equality>.*</equality>", "", MECHANISMS[name].text))
    options = {"symbolic": SYMBOLIC[:2]} if symbolic else {}
    twin = load(generate(str(path), out=folder / path.stem, functions=("joint_step", "rollout"), **options).folder)
    for way in (None, "portable"):
        pair = [Timed(robot, way, folder) for robot in (twin, case.robot)]
        for key in FUNCTIONS:
            made = [(t.function(key), t.states(key, P, PD, case.u)) for t in pair]
            counts = [t.facts[key].operations for t in pair]
            yield Row(name, symbolic, key, way or "own", *measured(made, watch, rounds), *counts)


def measured(made: list[tuple[Native, list[Any]]], watch: ctypes.CDLL, rounds: int) -> tuple[float, float, float]:
    """Median times of a step [us] of tree and loop, and of their ratio."""

    def once(k: int, calls: int) -> float:
        function, given = made[k]
        return function.microseconds(watch, given, calls)

    calls = [calls_in_a_slice(lambda _, count, k=k: once(k, count), H) for k in range(2)]
    found = np.array([[once(k, calls[k]) for k in range(2)] for _ in range(rounds)]) / (made[0][0].steps or 1)
    return float(np.median(found[:, 0])), float(np.median(found[:, 1])), float(np.median(found[:, 1] / found[:, 0]))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.loop_cost")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--robots", type=Path, metavar="DIR", help="keep the generated robots there")
    options = parser.parse_args()
    pin_to_one_core()
    with tempfile.TemporaryDirectory() as aside:
        folder = options.robots or Path(aside)
        folder.mkdir(parents=True, exist_ok=True)
        watch = stopwatch(folder)
        cases = [(name, symbolic) for symbolic in (False, True) for name in MECHANISMS]
        found = [row for case in cases for row in rows(*case, folder, watch, options.rounds)]
    head = ("mechanism", "symbolic", "path", "function", "tree us", "loop us", "ratio", "operations", "ratio")
    lines = [
        (
            r.mechanism, "yes" if r.symbolic else "no", r.path, r.function, f"{r.tree:.3f}", f"{r.loop:.3f}", f"{r.ratio:.2f}",
            f"{r.tree_operations} {r.loop_operations}", f"{r.loop_operations / r.tree_operations:.2f}",
        )
        for r in found
    ]  # fmt: skip
    print(table(head, lines))
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "loop_cost.json").write_text(json.dumps([asdict(r) for r in found], indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
