"""Code for several instruction sets, and rows of a batch side by side: one robot on every path of this processor."""

from __future__ import annotations

import ctypes
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support.robots import generated
from support.shared.code_paths import paths

from diffpbd.runtime import Robot, load
from diffpbd.runtime.base.errors import InputError, SolverError
from diffpbd.runtime.commands.info import command as info
from diffpbd.runtime.folder.compiler import compile_library
from diffpbd.runtime.folder.library import PATHS, PORTABLE

ROBOT = "double_pendulum"
STEPS = ("joint_step", "jac_joint_step", "vjp_joint_step")
FORMULAS = ("inverse_dynamics", "forward_dynamics", "jac_forward_dynamics", "mass_matrix", "tip_pose")
NAMES = (*STEPS, *FORMULAS)


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Robot]:
    """Compiled as users do: no flag of the suite's own."""
    folder = tmp_path_factory.mktemp("paths") / ROBOT
    shutil.copytree(
        generated(ROBOT, functions=("mpc", "sixth_order_step", *FORMULAS)),
        folder,
        ignore=shutil.ignore_patterns("*.so*"),
    )
    flags = os.environ.pop("DIFFPBD_CFLAGS", None)
    try:
        compile_library(folder, f"lib{ROBOT}.so")
    finally:
        if flags is not None:
            os.environ["DIFFPBD_CFLAGS"] = flags
    yield load(folder)


ARM = platform.machine() in ("aarch64", "arm64")


@pytest.fixture(params=[path for path in PATHS if path == PORTABLE or (path == "neon") == ARM])
def on_path(robot: Robot, request: pytest.FixtureRequest) -> Iterator[Robot]:
    if request.param not in paths(robot):
        pytest.skip(f"no {request.param} here")
    robot.choose_instructions(request.param)
    yield robot
    robot.choose_instructions(PORTABLE)


def given(robot: Robot, name: str, rows: int, alpha: Any = None, seed: int = 4) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    n = robot.n
    found = {
        "p": rng.uniform(-3, 3, (rows, n)),
        "pd": rng.uniform(-4, 4, (rows, n)),
        "u": rng.uniform(-9, 9, (rows, n)),
        **{k: rng.normal(size=(rows, n)) for k in ("p_next_bar", "pd_next_bar", "pdd")},
        "h": 0.01,
        "alpha": robot.alpha.vector(alpha),
    }
    return {a.name: found[a.name] for a in robot.functions[name].facts.inputs}


def many(result: Any) -> tuple[Any, ...]:
    """Outputs of a function that may have one."""
    return result if isinstance(result, tuple) else (result,)


def row_of(values: dict[str, Any], rows: Any) -> dict[str, Any]:
    return {k: v[rows] if np.ndim(v) == 2 else v for k, v in values.items()}


def rubbed(robot: Robot) -> dict[str, float]:
    """Coulomb friction, for which every row searches its rate alone."""
    return {f"friction.coulomb.{joint}": 0.3 for joint in robot.joints}


@pytest.mark.thorough("portable")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("friction", [False, True])
def test_rows_side_by_side_are_rows_alone(on_path: Robot, name: str, friction: bool) -> None:
    """Every length up to two vectors and one more; formulas, and all on the portable path, to the bit."""
    f = on_path.functions[name]
    alpha = rubbed(on_path) if friction else None
    whole = given(on_path, name, 17, alpha)
    alone = [many(f(**row_of(whole, k))) for k in range(17)]
    for rows in range(1, 18):
        batch = many(f(**row_of(whole, slice(0, rows))))
        for k, values in enumerate(batch):
            want = np.array([np.asarray(row[k]) for row in alone[:rows]])
            if on_path.instructions == PORTABLE or name in FORMULAS:
                np.testing.assert_array_equal(values, want)
            else:
                np.testing.assert_allclose(values, want, rtol=1e-9, atol=1e-11 * (1.0 + np.abs(want).max()))


def test_every_path_gives_the_same_to_rounding(robot: Robot) -> None:
    found = {}
    for path in paths(robot):
        robot.choose_instructions(path)
        assert robot.instructions == path
        found[path] = {name: robot.functions[name](**row_of(given(robot, name, 3), 1)) for name in STEPS}
        P, PD = robot.rollout(np.zeros(robot.n) + 0.4, np.zeros(robot.n), np.ones((50, robot.n)), 0.01)
        found[path]["rollout"] = (P, PD)
    robot.choose_instructions(PORTABLE)
    for path, results in found.items():
        for name, values in results.items():
            for one, want in zip(values, found[PORTABLE][name], strict=True):
                np.testing.assert_allclose(one, want, rtol=1e-9, atol=1e-9, err_msg=f"{path} {name}")
        if path != PORTABLE:
            same = [np.array_equal(a, b) for a, b in zip(results["rollout"], found[PORTABLE]["rollout"], strict=True)]
            assert not all(same), f"{path} runs the portable code"


@pytest.mark.parametrize("name", NAMES)
def test_a_lane_does_not_see_its_neighbours(on_path: Robot, name: str) -> None:
    """One row among all kinds of others has the same bits: mild ones, wild ones that iterate longer, fast and far ones."""
    f = on_path.functions[name]
    rows = 16
    mild = given(on_path, name, rows, seed=7)
    want = many(f(**mild))
    wild = row_of(mild, slice(None))
    kept = [0, 5, 9, 15]
    others = [k for k in range(rows) if k not in kept]
    wild = {k: np.array(v) for k, v in wild.items()}
    if "pd" in wild:
        wild["pd"][others] *= 12.0
    wild["p"][others[::3]] += 3e5
    for values, reference in zip(many(f(**wild)), want, strict=True):
        np.testing.assert_array_equal(values[kept], reference[kept])


@pytest.mark.parametrize("name", NAMES)
def test_rows_that_are_no_states_leave_the_others_alone(on_path: Robot, name: str) -> None:
    """NaN and infinities beside good states, through the C interface, and nothing written behind the work array."""
    f = on_path.functions[name]
    rows = 9
    values = given(on_path, name, rows, seed=8)
    want = many(f(**values))
    for argument, row, joint, bad in (("p", 2, 0, np.nan), ("pd", 3, 1, np.inf), ("u", 6, 0, -np.inf)):
        if argument in values:
            values[argument][row, joint] = bad
    inputs = [np.ascontiguousarray(values[a.name], dtype=float) for a in f.facts.inputs]
    outputs = [np.zeros((rows, a.size())) for a in f.facts.outputs]
    work = np.full((f.facts.work_size or 0) + 2, 777.0)
    in_sizes = [x.shape[1] if np.ndim(values[a.name]) == 2 else 0 for a, x in zip(f.facts.inputs, inputs, strict=True)]
    failed = on_path._library.map_rows(
        f._pointer, in_sizes, [x.ctypes.data for x in inputs], [a.size() for a in f.facts.outputs],
        [x.ctypes.data for x in outputs], rows, work[:-2],
    )  # fmt: skip
    wrong = sum(not all(np.isfinite(x[row]).all() for x in outputs) for row in (2, 3, 6))
    assert failed == (3 if name in STEPS else wrong)  # a formula does not take u, or does not depend on all of a row
    assert failed >= (name not in ("gravity", "tip_pose", "tip_jacobian", "mass_matrix")) + 1
    assert (work[-2:] == 777.0).all()
    good = [0, 1, 4, 5, 7, 8]
    for argument, found, reference in zip(f.facts.outputs, outputs, want, strict=True):
        expected = np.asarray(reference)
        expected = expected.swapaxes(-1, -2) if expected.ndim == 3 else expected
        np.testing.assert_array_equal(found[good], expected.reshape(rows, -1)[good], err_msg=argument.name)
        if name in FORMULAS:
            assert np.isnan(found[2]).any() and (name != "forward_dynamics" or np.isnan(found[6]).any())


def test_a_row_that_fails_is_named(on_path: Robot) -> None:
    values = given(on_path, "joint_step", 11) | {"h": 0.01}
    values["pd"][7] = 1e8
    with pytest.raises(SolverError, match="row 7"):
        on_path.joint_step(**values)


def test_parameters_of_every_row_are_taken_one_by_one(on_path: Robot) -> None:
    """Lanes share alpha and h; where each row has its own, each is computed with its own."""
    values = given(on_path, "joint_step", 6)
    values["h"] = np.linspace(0.001, 0.02, 6)
    values["alpha"] = np.tile(values["alpha"], (6, 1))
    values["alpha"][:, list(on_path.alpha.names).index("gravity.z")] = np.linspace(-12.0, 3.0, 6)
    for k in range(6):
        alone = on_path.joint_step(**{name: v[k] for name, v in values.items()})
        for one, many in zip(alone, on_path.joint_step(**values), strict=True):
            np.testing.assert_array_equal(one, many[k])


def test_symbols_of_paths_are_hidden(robot: Robot) -> None:
    """Symbols that only serve to choose are not offered, and none is wanted but of libm and libc."""
    text = subprocess.run(
        ["nm", "-D", "--defined-only", str(robot.folder / robot.manifest.library)],
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    offered = {line.split()[-1] for line in text.splitlines() if f" {ROBOT}_" in line}
    declared = set(re.findall(rf"\b({ROBOT}_\w+)[(\[]", (robot.folder / f"{ROBOT}.h").read_text()))
    assert offered == declared


def test_the_environment_chooses(robot: Robot) -> None:
    program = f"from diffpbd.runtime import load; print(load({str(robot.folder)!r}).instructions)"

    def run(**variables: str) -> subprocess.CompletedProcess[str]:
        environment = {k: v for k, v in os.environ.items() if k != "DIFFPBD_PATH"} | variables
        return subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)

    assert run(DIFFPBD_PATH=PORTABLE).stdout.strip() == PORTABLE
    assert run().stdout.strip() == paths(robot)[-1]
    bad = run(DIFFPBD_PATH="x86-64-v9")
    assert bad.returncode != 0 and "DIFFPBD_PATH" in bad.stderr and "x86-64-v9" in bad.stderr


def test_what_is_not_to_be_had_is_refused(robot: Robot) -> None:
    with pytest.raises(InputError, match="expected one of portable"):
        robot.choose_instructions("sse9")
    library = ctypes.CDLL(str(robot.folder / robot.manifest.library))
    assert library.double_pendulum_set_path(b"sse9") == 1
    assert robot.instructions == PORTABLE


def test_a_library_of_portable_code_alone_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    """The suite's own libraries are compiled with -DDIFFPBD_PORTABLE."""
    if "DIFFPBD_PORTABLE" not in os.environ.get("DIFFPBD_CFLAGS", ""):
        pytest.skip("the suite compiles all paths")
    alone = load(generated(ROBOT, functions=("mpc",)))
    assert alone.instructions == PORTABLE
    with pytest.raises(InputError, match="compiled without it"):
        alone.choose_instructions("x86-64-v3")
    info.main([str(alone.folder)], standalone_mode=False)
    assert "instruction sets: portable" in capsys.readouterr().out


@pytest.mark.parametrize("rate_bars", [True, False])
@pytest.mark.parametrize("friction", [{}, {"friction.viscous.shoulder": 0.3, "friction.coulomb.elbow": 0.1}])
def test_trajectories_are_the_same(on_path: Robot, friction: dict[str, float], rate_bars: bool) -> None:
    """Nodes and steps stand side by side in fours: fewer, whole fours, what is left over; an angle out of range."""
    path, rng = on_path.instructions, np.random.default_rng(9)
    alpha = on_path.alpha.vector(friction)
    for steps in (1, 3, 4, 5, 8, 11):
        p, pd = rng.uniform(-1, 1, (2, 2))
        p = p + (4e5 * np.pi if steps == 11 else 0.0)
        U, P_bar, PD_bar = rng.uniform(-3, 3, (steps, 2)), *rng.normal(size=(2, steps + 1, 2))
        PD_bar[1:] *= rate_bars
        both = []
        for name in (PORTABLE, path):
            on_path.choose_instructions(name)
            P, PD = on_path.rollout(p, pd, U, 0.01, alpha)
            both.append([P - p, PD, *on_path.vjp_trajectory(U, 0.01, alpha, P, PD, P_bar, PD_bar)])
        for want, found in zip(*both, strict=True):
            np.testing.assert_allclose(found, want, rtol=1e-8, atol=1e-9 * max(1.0, np.abs(want).max()))


def test_derivatives_of_higher_order_are_the_same(on_path: Robot) -> None:
    path, rng = on_path.instructions, np.random.default_rng(11)
    for row in range(8):
        p, pd, u = rng.uniform(-1, 1, (3, 2))
        U, seeds = rng.uniform(-1, 1, (4, 2)), rng.normal(size=(2, 5, 2))
        for order in ("fourth_order", "sixth_order"):
            both = []
            for name in (PORTABLE, path):
                on_path.choose_instructions(name)
                both.append(
                    [
                        *on_path.function(f"jac_{order}_step")(p, pd, u, 0.01),
                        *on_path.function(f"{order}_rollout")(p, pd, U, 0.01),
                        *on_path.function(f"vjp_{order}_rollout")(p, pd, U, 0.01, None, *seeds),
                    ]
                )
            for want, found in zip(*both, strict=True):
                np.testing.assert_allclose(
                    found, want, rtol=1e-8, atol=1e-9 * max(1.0, np.abs(want).max()), err_msg=f"{row}"
                )


def test_the_step_of_sixth_order_is_the_same(on_path: Robot) -> None:
    """Its chains stand side by side where vectors are; a long step wants Newton twice, an angle may be out of their range."""
    path, rng = on_path.instructions, np.random.default_rng(10)
    for row in range(24):
        p, pd, u = rng.uniform(-2, 2, (3, 2))
        p, h = p + (4e5 * np.pi if row == 5 else 0.0), 0.1 if row % 4 == 0 else 0.02
        both = []
        for name in (PORTABLE, path):
            on_path.choose_instructions(name)
            both.append(on_path.functions["sixth_order_step"](p, pd, u, h))
        np.testing.assert_allclose(both[1].p_next, both[0].p_next, rtol=1e-14, atol=1e-11)
        np.testing.assert_allclose(both[1].pd_next, both[0].pd_next, rtol=0, atol=1e-9)
