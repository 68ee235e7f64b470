"""`run --clearance` on a simulated Baxter: what is refused, and the reflex on measured poses, which coal judges."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from support.arms.bench import Bench
from support.robots import generated

from diffpbd.runtime import Robot, load
from diffpbd.runtime.arms.attached import kind_of
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.cli import cli
from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.logs.csv import Log, write_log
from diffpbd.runtime.loop.configuration import Configuration, limits_of
from diffpbd.runtime.loop.reflexes import Reflex
from diffpbd.runtime.loop.run import Run, RunOptions
from diffpbd.runtime.loop.supervisor import Settings
from diffpbd.runtime.model.clearance import Distances

pytest.importorskip("coal")
pytest.importorskip("pinocchio")

from support.arms.bench_baxter import BenchBaxter
from support.arms.bench_runs import execute
from support.planning import guarded
from support.reality import BenchReal, Differences
from support.reality.baxter_runs import PLANTS

LEAST, RATE = 0.02, 250.0  # m, Hz
URDF = Path(__file__).parents[3] / "diffpbd" / "codegen" / "robots" / "baxter_bare.urdf"


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    return load(
        generated(str(guarded.recipe(tmp_path_factory.mktemp("guarded"))), functions=("mpc", "ik"), quick=False)
    )


def way_in(robot: Robot, depth: float) -> tuple[np.ndarray, np.ndarray]:
    """A start 4 cm or more from any touch, and the pose to which one joint turns until the links are `depth` [m] apart."""
    near, rng, limits = Distances(robot, robot.alpha.defaults), np.random.default_rng(3), limits_of(robot)
    while True:
        start = limits.lower + 0.3 + (limits.upper - limits.lower - 0.6) * rng.random(robot.n)
        goal, joint = start.copy(), int(rng.integers(4))
        goal[joint] += rng.choice([-0.7, 0.7])
        if not limits.lower[joint] + 0.1 < goal[joint] < limits.upper[joint] - 0.1:
            continue
        way = start + np.linspace(0.0, 1.0, 701)[:, None] * (goal - start)
        least = near.at(way).min(axis=1)
        if least[0] > 0.06 and least[-1] < 0.0:
            return start, way[int(np.argmax(least < depth))]


def configuration(robot: Robot, law: dict[str, Any]) -> Configuration:
    gains = {
        "stiffness": [100.0] * 4 + [5.0] * 3,
        "damping": [10.0] * 4 + [0.2] * 3,
        "goal_speed": 0.5,
        "net_torque": None,
    }
    return Configuration(
        robot.name, robot.manifest.abi_hash, robot.joints, {"name": "impedance", **gains, **law}, GravityOwner.ROBOT,
        robot.alpha.defaults, limits_of(robot), Settings(1.0 / RATE, ramp=0.1), None, (), LEAST,
    )  # fmt: skip


@pytest.mark.thorough("seed 1")
@PLANTS
@pytest.mark.parametrize("depth, stopped", [(LEAST - 0.01, True), (LEAST + 0.005, False)])
def test_the_reflex_stops_what_comes_too_near(
    robot: Robot, depth: float, stopped: bool, differences: Differences | None
) -> None:
    start, end = way_in(robot, depth)
    law = {"goal": [None if to == at else float(to) for at, to in zip(start, end, strict=True)]}
    setup = configuration(robot, law)
    setup.check_goals(robot)  # a goal that does not name every joint is not judged
    arm, poses = BenchBaxter(str(URDF), setup.limits, start, Bench(), rate=RATE), []
    if differences is not None:
        arm = BenchReal("baxter", setup.limits, start, differences, rate=RATE)
    options = RunOptions(duration=4.0, allow_mismatch=True)
    report = execute(Run(arm, setup.supervisor(robot), options, observer=lambda _: poses.append(np.array(arm.q))))
    clearance = robot.manifest.clearance
    assert clearance is not None
    judge = guarded.Judge(clearance.shapes, clearance.rows)
    least = min(judge.least(q) for q in poses)
    assert report.reflex is (Reflex.COLLISION if stopped else None), report
    assert abs(poses[-1] - start).max() > 0.1
    if stopped:
        assert "asked" in report.text and LEAST - 0.002 < least < LEAST + 0.01
    else:
        assert LEAST < least < depth + 0.01


def test_goals_and_references_are_refused_with_the_pair(
    robot: Robot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, inside = way_in(robot, LEAST - 0.005)
    outside = way_in(robot, LEAST + 0.005)[1]
    near = Distances(robot, robot.alpha.defaults)
    words = near.words(near.at(inside))
    for q, refused in ((inside, True), (outside, False)):
        rows = {"time": [0.0, 1.0], "q": [start.tolist(), q.tolist()], "dq": [[0.0] * robot.n] * 2}
        for law in ({"goal": q.tolist()}, {"name": "mpc", "reference": rows}):
            if not refused:
                configuration(robot, law).check_goals(robot)
                continue
            with pytest.raises(InputError, match="cannot be reached: ") as told:
                configuration(robot, law).check_goals(robot)
            assert f"{words}, {LEAST:g} m are asked" in str(told.value)
    time = np.linspace(0.0, 10.0, 1001)
    q = start + (0.5 - 0.5 * np.cos(np.pi * time / 10.0))[:, None] * (inside - start)
    write_log(tmp_path / "in.csv", Log(time, robot.joints, q, np.gradient(q, time, axis=0)))
    goal = ["--goal", json.dumps(dict(zip(robot.joints, inside.tolist(), strict=True)))]
    reference = ["--reference", str(tmp_path / "in.csv")]

    @contextlib.contextmanager
    def attach(robot: Robot, configuration: Configuration, options: object) -> Iterator[Any]:
        yield SimpleNamespace(configuration=configuration)

    kind = dataclasses.replace(
        kind_of(robot, {"ros2": False}), attach=attach
    )  # a robot that answers, and is not reached
    monkeypatch.setattr("diffpbd.runtime.commands.run.kind_of", lambda *_: kind)
    for law, more in (("impedance", goal), ("mpc", goal), ("mpc", reference), ("track", reference)):
        line = ["run", str(robot.folder), "--controller", law, "--clearance", str(LEAST), *more]
        found = CliRunner().invoke(cli, line)
        assert found.exit_code == 1 and f"cannot be reached: {words}"[:45] in found.output, (law, found.output)
