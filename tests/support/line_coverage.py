"""Lines of the solvers' C that all C tests together run, counted by gcovr: `python -m support.line_coverage` (`make coverage`).

The tests of the robots by hand in `tests/c`, and every function of generated robots at the states of `test_scenes` and on
numbers that nobody would send (`emit/text/test_sanitized.py`). A line counts once, whichever robot runs it.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
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
from support.imports import ROOT
from support.judges.properties import Scene
from support.numeric import random_states
from support.plain_c import ROBOTS, ROOMS, TEMPLATES, includes, sources, write_numbers
from support.robots import generated, loaded, loaded_alpha
from support.small.floating_arm import stopped_flap


def compiled_and_run(sources: Iterable[str], options: Iterable[str], folder: Path, given: bytes = b"") -> Path:
    """Compiles a program with counters, runs it on what it is given, and has gcovr read them: a file for `report`."""
    program, counted = folder / "program", folder / "counted.json"
    made = ["gcc", "-std=c99", "-O0", "-DDIFFPBD_PORTABLE", "--coverage", *options, *sources, "-lm", "-o", str(program)]
    subprocess.run(made, cwd=folder, check=True)
    subprocess.run([str(program)], cwd=folder, check=True, capture_output=True, input=given)
    report([], "--json", str(counted), str(folder))
    return counted


def report(counted: Iterable[Path], *options: str) -> str:
    """What gcovr says of the files of templates/ in all of these together; a function of several robots has several places."""
    files = [word for path in counted for word in ("--add-tracefile", str(path))]
    merged = ["--root", str(ROOT / "templates"), "--merge-mode-functions", "separate", "--merge-lines"]
    command = [sys.executable, "-m", "gcovr", *merged, *files, *options]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def shares(counted: Iterable[Path]) -> dict[str, float]:
    """The share of the lines that ran [%], by file."""
    summary = json.loads(report(counted, "--json-summary", "-"))
    return {Path(file["filename"]).name: file["line_percent"] for file in summary["files"]}


def by_hand(folder: Path) -> Iterator[Path]:
    """The robots of tests/c."""
    write_numbers(folder)
    for robot in ROBOTS:
        own = folder / robot
        own.mkdir()
        yield compiled_and_run(sources(robot), includes(robot, folder), own)


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


def generated_ones(folder: Path) -> Iterator[Path]:
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
    for k, (place, robot) in enumerate(robots.items()):
        given = b"".join(numbers_of(scene) for scene in scenes if scene.robot.folder == place)
        given += b"".join(call for robot, call in plans if robot.folder == place)
        for name, program in (("scenes", replayed(robot)), ("extremes", driver(robot.manifest))):
            own = folder / f"{k}_{name}"
            own.mkdir()
            (own / "driver.c").write_text(program)
            yield compiled_and_run(*templated(place, own), own, given)


def templated(place: Path, folder: Path) -> tuple[list[str], list[str]]:
    """Sources and options of a generated robot and the driver in `folder`, with files of templates/ in place of their copies,
    so that a line is the same one whichever robot runs it."""
    for path in (place / "src").iterdir():
        if path.is_file() and path.name not in TEMPLATES:
            shutil.copy(path, folder)
    plain = [str(TEMPLATES[path.name]) for path in (place / "src").glob("*.c") if path.name in TEMPLATES]
    rooms = [f"-I{room}" for room in (*ROOMS, folder, place)]
    return [*map(str, sorted(folder.glob("*.c"))), *sorted(plain)], [*rooms, "-w"]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        counted: list[Path] = []
        for part in (by_hand, generated_ones):
            own = Path(folder) / part.__name__
            own.mkdir()
            counted += part(own)
        print(report(counted, "--txt", "-"))


if __name__ == "__main__":
    main()
