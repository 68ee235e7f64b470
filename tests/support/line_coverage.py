"""Lines of the solvers' C that all C tests together run, counted by gcov: `python -m support.line_coverage` (`make coverage`).

The tests of the robots by hand in `tests/c`, and every function of generated robots at the states of `test_scenes` and on
numbers that nobody would send (`emit/text/test_sanitized.py`). A line counts once, whichever robot runs it.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
from pytest import MonkeyPatch

from diffpbd.runtime import Robot, load
from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import DiffpbdError
from diffpbd.runtime.folder.manifest import Argument
from diffpbd.runtime.functions.rollout import Rollout
from diffpbd.runtime.mpc.options import MpcOptions
from diffpbd.runtime.mpc.planner import Mpc
from support.arguments import arguments, effort, row_of
from support.judges.properties import Scene
from support.numeric import random_states
from support.plain_c import ROBOTS, TEMPLATES, includes, sources, write_numbers
from support.robots import generated, loaded, loaded_alpha
from support.small.floating_arm import stopped_flap

Lines = dict[str, dict[int, bool]]
"""By file of templates/ the lines that can run, and whether one did."""


def compiled_and_run(sources: Iterable[str], options: Iterable[str], folder: Path, given: bytes = b"") -> Lines:
    """Compiles a program with counters, runs it on what it is given, and reads them."""
    program = folder / "program"
    made = ["gcc", "-std=c99", "-O0", "-DDIFFPBD_PORTABLE", "--coverage", *options, *sources, "-lm", "-o", str(program)]
    subprocess.run(made, cwd=folder, check=True)
    subprocess.run([str(program)], cwd=folder, check=True, capture_output=True, input=given)
    notes = [path.name for path in folder.glob("*.gcno")]
    subprocess.run(["gcov", "--json-format", *notes], cwd=folder, check=True, capture_output=True)
    found: Lines = {}
    for path in folder.glob("*.gcov.json.gz"):
        for file in json.loads(gzip.decompress(path.read_bytes()))["files"]:
            source = folder / file["file"]
            if source.name not in TEMPLATES:
                continue
            above = _lines_above(source)
            for line in file["lines"]:  # several of a line that several functions are made from
                join(found, {source.name: {line["line_number"] - above: line["count"] > 0}})
    return found


def _lines_above(source: Path) -> int:
    """Lines of a generated folder's copy above the text of templates/: the banner."""
    whole, own = source.read_text(encoding="utf-8"), TEMPLATES[source.name].read_text(encoding="utf-8")
    return whole[: whole.index(own)].count("\n")


def join(found: Lines, more: Lines) -> None:
    """Adds lines to those found."""
    for name, lines in more.items():
        own = found.setdefault(name, {})
        for number, ran in lines.items():
            own[number] = own.get(number, False) or ran


def share(lines: dict[int, bool]) -> float:
    """The share of the lines that ran [%]."""
    return 100.0 * sum(lines.values()) / len(lines)


def table(found: Lines) -> str:
    """A line a file, with the lines that did not run, and the sum."""
    rows = []
    for name, lines in sorted(found.items(), key=lambda item: share(item[1])):
        left = " ".join(str(number) for number, ran in sorted(lines.items()) if not ran)
        rows.append(f"{share(lines):6.1f} % of {len(lines):4d}  {name}  {left}".rstrip())
    every = dict(enumerate(ran for lines in found.values() for ran in lines.values()))
    return "\n".join([*rows, f"{share(every):6.1f} % of {len(every):4d}  together"])


def by_hand(folder: Path) -> Lines:
    """The robots of tests/c."""
    write_numbers(folder)
    found: Lines = {}
    for robot in ROBOTS:
        own = folder / robot
        own.mkdir()
        join(found, compiled_and_run(sources(robot), includes(robot, folder), own))
    return found


CALL = """
  case {k}: {{
    const double *in[{inputs}];
    double *out[{outputs}], *work = malloc(sizeof(double) * ((size_t){work} + 1));
    {read}
    {results}
    {symbol}({steps}in, out, work);
    break;
  }}"""
STEPS = 3
"""Of a rollout at a scene."""


def size(argument: Argument) -> str:
    """Doubles of an argument over so many steps, in C."""
    return f"{argument.size(0)} + {argument.size(1) - argument.size(0)} * (size_t)steps"


def replayed(robot: Robot) -> str:
    """A C program that calls functions: each by its number, steps and arguments one after another on standard input."""
    calls = []
    for k, f in enumerate(robot.manifest.functions):
        steps = "steps" if f.rollout else ""
        calls.append(CALL.format(
            k=k, inputs=len(f.inputs), outputs=len(f.outputs), symbol=f.symbol, work=f"{f.symbol}_work_size({steps})",
            steps=steps and "steps, ", read="\n    ".join(f"in[{i}] = numbers({size(a)});" for i, a in enumerate(f.inputs)),
            results="\n    ".join(
                f"out[{i}] = calloc({size(a)} + 1, sizeof(double));" for i, a in enumerate(f.outputs)
            ),
        ))  # fmt: skip
    return (
        f'#include "{robot.name}.h"\n#include <stdio.h>\n#include <stdlib.h>\n'
        "static double *numbers(size_t count) {\n  double *x = malloc(sizeof(double) * (count + 1));\n"
        "  if (fread(x, sizeof *x, count, stdin) != count) exit(1);\n  return x;\n}\n"
        "int main(void) {\n  double call[2];\n  while (fread(call, sizeof call, 1, stdin) == 1) {\n"
        f"  const int steps = (int)call[1];\n  switch ((int)call[0]) {{{''.join(calls)}\n  }}\n  }}\n  return 0;\n}}\n"
    )


def numbers_of(scene: Scene) -> bytes:
    """Every function of the robot that takes a state, at this one."""
    robot, found = scene.robot, b""
    u = scene.u / effort(robot)
    values = {k: np.array([x]) for k, x in (("p", scene.p), ("pd", scene.pd), ("u", u), ("pdd", u))}
    for k, f in enumerate(robot.manifest.functions):
        try:
            given = arguments(robot, robot.functions[f.name], values, scene.alpha)
        except (KeyError, DiffpbdError):
            continue  # obstacles; plans are those of `planned`
        row = row_of(given, 0)
        flat = [np.ravel(np.asarray(row[a.name], float).T) for a in f.inputs]
        whole = [np.resize(x, a.size(STEPS)) for x, a in zip(flat, f.inputs, strict=True)]
        found += np.concatenate([[float(k), STEPS], *whole]).tobytes()
    return found


def planned(folder: Path) -> list[tuple[Robot, bytes]]:
    """Every call of `mpc` on some ways to a goal: around an obstacle, under tight bounds, with loops and a floating base."""
    from support.planning import around_a_ball, closed_loops, moving_bases, pendulum

    calls: list[tuple[Robot, bytes]] = []
    fixed = Rollout.fixed

    def recorded(robot: Robot) -> Callable[..., Callable[[], int]]:
        number = [f.name for f in robot.manifest.functions].index("mpc")

        def arrays(
            self: Rollout, steps: int, inputs: Sequence[FloatArray], outputs: Sequence[FloatArray]
        ) -> Callable[[], int]:
            call = fixed(self, steps, inputs, outputs)

            def one() -> int:
                flat = np.concatenate([[number, steps], *map(np.ravel, inputs)])
                calls.append((robot, flat.tobytes()))
                return call()

            return one

        return arrays

    arm = load(around_a_ball.planar(folder))
    five_bar, closed_pose, goal = closed_loops.five_bar()
    flap, (p, pd, turned) = stopped_flap(), moving_bases.tumbling()
    with MonkeyPatch.context() as patch:
        for hard in (False, True):
            patch.setattr(Rollout, "fixed", recorded(arm))
            around_a_ball.followed(arm, around_a_ball.planned(arm, clearance=around_a_ball.LEAST, clearance_hard=hard))
        weak = closed_loops.bounds(arm, 3.0)  # so many are active that the program is left to the interior point
        apart = MpcOptions(clearance=around_a_ball.LEAST)
        mpc = Mpc(arm, 40, h=0.02, weights=closed_loops.TIGHT, bounds=weak, options=apart)
        mpc.problem.apart.place({"spheres": [around_a_ball.BALL]})
        mpc.solve(mpc.task(around_a_ball.START, np.zeros(2), around_a_ball.GOAL))
        patch.setattr(Rollout, "fixed", recorded(loaded("double_pendulum")))
        swing, task = pendulum.pendulum()
        swing.solve(task)
        patch.setattr(Rollout, "fixed", recorded(five_bar))
        bars = closed_loops.bounds(five_bar, 5.0)
        mpc = Mpc(five_bar, 12, h=0.01, weights=closed_loops.TIGHT, bounds=bars)
        mpc.solve(mpc.task(closed_pose, np.zeros(4), goal))
        patch.setattr(Rollout, "fixed", recorded(flap))
        mpc = moving_bases.mpc_of(flap)
        mpc.solve(mpc.task(p, pd, turned))
    return calls


CHOSEN = (
    "a block, slide", "fingers", "a rod that", "rod_over_rod", "exact", "above", "flap pressed", "four_bar, friction 0.6",
    "stop", "in contact",
)  # fmt: skip
"""Words of the scenes whose robots are taken: every kind of what acts."""


def generated_ones(folder: Path) -> Lines:
    """The robots of `test_scenes`, at all scenes that are theirs, and with numbers that nobody would send."""
    from support.shared.extremes import driver
    from support.shared.scenes import LONG, SCENES

    scenes = [
        make().scene
        for name, make in SCENES.items()
        if any(word in name for word in CHOSEN) and not any(word in name for word in LONG)
    ]
    robots = {scene.robot.folder: scene.robot for scene in scenes}
    robots[generated("double_pendulum")] = pendulum = loaded("double_pendulum")
    state = random_states(pendulum.n, 1)
    scenes.append(Scene(pendulum, state["p"][0], state["pd"][0], state["u"][0], loaded_alpha(pendulum.alpha)))
    plans = planned(folder)
    robots |= {robot.folder: robot for robot, _ in plans}
    found: Lines = {}
    for k, (place, robot) in enumerate(robots.items()):
        given = b"".join(numbers_of(scene) for scene in scenes if scene.robot.folder == place)
        given += b"".join(call for robot, call in plans if robot.folder == place)
        for name, program in (("scenes", replayed(robot)), ("extremes", driver(robot.manifest))):
            own = folder / f"{k}_{name}"
            own.mkdir()
            (own / "driver.c").write_text(program)
            sources = [str(own / "driver.c"), *map(str, sorted((place / "src").glob("*.c")))]
            join(found, compiled_and_run(sources, [f"-I{place}", "-w"], own, given))
    return found


def main() -> None:
    found: Lines = {}
    with tempfile.TemporaryDirectory() as folder:
        for part in (by_hand, generated_ones):
            own = Path(folder) / part.__name__
            own.mkdir()
            join(found, part(own))
    print(table(found))


if __name__ == "__main__":
    main()
