"""The emitted predictive controller as a C programmer meets it: a program of its own, bad input, memory, any horizon."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.robots import generated, loaded

from diffpbd.runtime.functions.in_order import in_order
from diffpbd.runtime.functions.rollout import Rollout
from diffpbd.runtime.mpc.disturbance import TIME_CONSTANT
from diffpbd.runtime.mpc.options import MpcOptions
from diffpbd.runtime.mpc.planner import Mpc
from diffpbd.runtime.mpc.problem import Bounds, Status

ROOT = Path(__file__).resolve().parents[3]
STRICT = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O2"]
REST = np.array([0.1, -0.55, 0.1, 0.9, 0.0, 0.8, 0.0])
N = 20
GROWTH_KB = 256
"""What the system's own accounts of a process's memory vary by."""
AGREE = 1e-9
"""[N·m, rad] Between the C program and Python: the sine of the reference may differ in its last bit."""


@pytest.fixture(scope="module")
def track(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """docs/examples/mpc_c/track.c, against the library that was compiled from the folder's sources."""
    folder, program = generated("baxter_bare"), tmp_path_factory.mktemp("track") / "track"
    source, library = ROOT / "docs" / "examples" / "mpc_c" / "track.c", folder / "libbaxter_bare.so"
    command = [
        "cc",
        *STRICT,
        f"-I{folder}",
        "-o",
        str(program),
        str(source),
        str(library),
        f"-Wl,-rpath,{folder}",
        "-lm",
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return program


def rows(program: Path, ticks: int, every: int, *load: float) -> np.ndarray:
    words = [str(word) for word in (program, ticks, every, *load)]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return np.array([[float(word) for word in line.split()] for line in text.splitlines()])


def sine(time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    phase = 0.7 * np.arange(7)
    angle = 4.0 * time[:, None] + phase
    return REST + 0.05 * (np.sin(angle) - np.sin(phase)), 0.2 * np.cos(angle)


@pytest.mark.parametrize(("load", "lost"), [(None, (0, 0)), (-4.0, (0, 0)), (-1.0, (8, 14))])
def test_the_c_program_does_what_python_does(track: Path, load: float | None, lost: tuple[int, int]) -> None:
    """With a load [N·m] on s1 that only an observer knows, too, and with some ticks `lost` without a plan."""
    found = rows(track, 25, 1, *(() if load is None else (load, *lost)))
    robot = loaded("baxter_bare")
    effort = np.array([50.0, 50.0, 50.0, 50.0, 15.0, 15.0, 15.0])
    three, two = np.full(7, 3.0), np.full(7, 2.0)
    bounds = Bounds(-effort, effort, 0.1 * effort, -three, three, two)
    options = MpcOptions(disturbance=None if load is None else TIME_CONSTANT, reuse=0)
    mpc = Mpc(robot, N, bounds=bounds, options=options)
    unknown = np.array([0.0, load or 0.0, 0, 0, 0, 0, 0])
    p, pd = REST.copy(), np.zeros(7)
    mpc.start(robot.gravity(p))
    for tick, row in enumerate(found):
        P, PD = sine(0.01 * (tick + np.arange(N + 1)))
        without = lost[0] <= tick < lost[1]
        u = mpc.tick(0.01 * tick, p, pd, P * np.nan if without else P, PD, np.zeros(7)).torque
        p, pd = robot.joint_step(p, pd, u + unknown)
        assert row[0] == tick and row[1] == (Status.BAD_INPUT if without else Status.SOLVED)
        np.testing.assert_allclose(row[2:9], u, rtol=0, atol=AGREE)
        np.testing.assert_allclose(row[9:], p, rtol=0, atol=AGREE)
    if mpc.observer is not None and not any(lost):
        assert mpc.observer.estimate[1] == pytest.approx(unknown[1], rel=1e-3)


def measured(program: Path, ticks: int, every: int) -> tuple[np.ndarray, int]:
    """The rows and the most memory [kB] that the program held."""
    with tempfile.TemporaryFile("w+") as file:
        process = subprocess.Popen([str(program), str(ticks), str(every)], stdout=file)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        file.seek(0)
        return np.array([[float(word) for word in line.split()] for line in file]), usage.ru_maxrss


def test_the_c_program_runs_on(track: Path, count: Callable[[int, int], int]) -> None:
    """100 000 ticks in `make soak`: on the sine to the end, no status, no growth; the program checks every tick itself."""
    ticks = count(2000, 100_000)
    found, memory = measured(track, ticks, 97)
    _, memory_of_few = measured(track, 10, 1)
    assert found[-1, 0] == ticks - 1 and np.isfinite(found).all()
    P, _ = sine(0.01 * (found[:, 0] + 1))
    assert np.abs(found[:, 9:] - P)[found[:, 0] > 100].max() < 2e-3
    assert memory < memory_of_few + GROWTH_KB, (memory, memory_of_few)


@pytest.mark.parametrize("horizon", [1, 2, 7, 50])
def test_any_horizon_stays_in_its_memory(horizon: int) -> None:
    """Guards behind work and outputs survive, and results do not depend on what work and outputs held."""
    robot = loaded("double_pendulum")
    function = robot.function("mpc")
    assert isinstance(function, Rollout)
    values = arguments(horizon)
    results = []
    for fill in (777.0, -3e300):
        outputs = [np.full(a.size(horizon) + 2, fill) for a in function.facts.outputs]
        work = np.full(function._library.work_size(function.facts, horizon) + 2, fill)
        status = call(function, horizon, values, outputs, work)
        assert status == 0
        assert all((o[-2:] == fill).all() for o in outputs) and (work[-2:] == fill).all()
        results.append(np.concatenate([o[:-2] for o in outputs]))
    np.testing.assert_array_equal(*results)


def call(
    function: Rollout, horizon: int, values: dict[str, np.ndarray], outputs: list[np.ndarray], work: np.ndarray
) -> int:
    from diffpbd.runtime.functions.function import addresses

    given = in_order("mpc", function.facts.inputs, values, horizon)
    return int(function._call(horizon, addresses(given), addresses(outputs), work.ctypes.data))


def arguments(horizon: int) -> dict[str, np.ndarray]:
    """A double pendulum that is to go from rest to (0.3, −0.2)."""
    two, nodes = np.ones(2), np.ones((horizon + 1, 2))
    weights = np.array([1.0 * two, 0.02 * two, 0.0 * two, 1e-6 * two, 1.0 * two, 0.02 * two])
    bounds = np.array([-40.0 * two, 40.0 * two, 10.0 * two, -6.5 * two, 6.5 * two, 20.0 * two])
    alpha = loaded("double_pendulum").alpha.defaults
    return {
        "p": 0.0 * two, "pd": 0.0 * two, "u_last": 0.0 * two, "P_ref": nodes * [0.3, -0.2], "PD_ref": 0.0 * nodes,
        "U_ref": np.zeros((horizon, 2)), "tip_ref": np.zeros((horizon + 1, 3)), "weights": weights,
        "tip_weights": np.zeros((2, 3)), "bounds": bounds, "options": np.array([2.0, 20.0, 30.0, 1e-6, 1e-8, 1e3, 1e3]),
        "h": np.array([0.01]), "alpha": alpha, "P_guess": 0.0 * nodes, "PD_guess": 0.0 * nodes,
        "U_guess": np.zeros((horizon, 2)),
    }  # fmt: skip


ANY = st.floats(allow_nan=True, allow_infinity=True)


@given(st.lists(st.tuples(st.integers(0, 15), st.integers(0, 1000), ANY), min_size=1, max_size=6), st.booleans())
def test_no_input_makes_an_output_that_is_not_finite(changes: list[tuple[int, int, float]], warm: bool) -> None:
    values = {name: a.copy() for name, a in arguments(4).items()}
    options, names = values["options"], list(values)
    options[0] = 1.0 if warm else 2.0
    for which, entry, value in changes:
        changed = values[names[which]]
        changed.reshape(-1)[entry % changed.size] = value
    options[1:3] = np.clip(np.nan_to_num(options[1:3]), 1, 30)  # a budget of 1e300 iterations is one
    function = loaded("double_pendulum").function("mpc")
    assert isinstance(function, Rollout)
    outputs = {a.name: np.full(a.size(4), np.nan) for a in function.facts.outputs}
    status = function.fixed(4, values, outputs)()
    assert status in {*Status, 21}  # 21: h is none
    assert all(np.isfinite(o).all() for o in outputs.values()), (status, changes)
    low, high = values["bounds"][:2]
    if status in (Status.SOLVED, Status.LIMITED):
        assert (outputs["U"].reshape(4, 2) >= low).all() and (outputs["U"].reshape(4, 2) <= high).all()


@pytest.mark.parametrize(
    ("which", "entry", "value", "status"),
    [
        ("p", 0, np.nan, Status.BAD_INPUT), ("P_ref", 5, np.inf, Status.BAD_INPUT), ("weights", 0, -1.0, Status.BAD_INPUT),
        ("bounds", 0, 50.0, Status.BAD_INPUT), ("bounds", 4, 0.0, Status.BAD_INPUT), ("h", 0, 5.0, Status.STEP_FAILED),
    ],
)  # fmt: skip
def test_statuses(which: str, entry: int, value: float, status: Status) -> None:
    values = arguments(4)
    values["pd"][:] = 15.0
    values[which].reshape(-1)[entry] = value
    function = loaded("double_pendulum").function("mpc")
    assert isinstance(function, Rollout)
    outputs = {a.name: np.zeros(a.size(4)) for a in function.facts.outputs}
    assert function.fixed(4, values, outputs)() == status
