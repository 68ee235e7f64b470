"""The net torque map: what the samples solve, interpolation in Python and in C, the command, the controller."""

from __future__ import annotations

import ctypes
import json
import math
import subprocess
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from support.robots import generated

from diffpbd.runtime import Robot, load
from diffpbd.runtime.base.errors import InputError, SolverError
from diffpbd.runtime.commands.net_torque_map import command
from diffpbd.runtime.control.laws.impedance import ImpedanceController
from diffpbd.runtime.control.net_torque import VELOCITY, NetTorqueMap, ReachNetTorque, sample_map, without_gravity
from diffpbd.runtime.control.net_torque_c import c_name, c_sources

POSE = [0.3, -0.7]


def uneven(rows: int = 5, columns: int = 4) -> NetTorqueMap:
    torque = np.random.default_rng(3).normal(0.0, 10.0, (rows, columns))
    return NetTorqueMap("arm", "left_s1", "joint_step", 0.01, np.zeros(1), 0.00625, 0.5, torque)


@pytest.mark.parametrize("joint", [0, 1])
def test_the_sampled_torque_takes_the_joint_there_and_no_other_joint_anywhere(pendulum: Robot, joint: int) -> None:
    table = sample_map(pendulum, pendulum.joints[joint], pose=POSE, grid=(5, 3))
    mass = pendulum.mass_matrix(np.array(POSE))
    displacement, velocity = np.meshgrid(table.displacements, table.velocities, indexing="ij")
    closed = 2.0 * mass[joint, joint] * (displacement / table.h - velocity) / table.h
    np.testing.assert_allclose(table.torque, closed, atol=2e-5 * np.abs(closed).max())
    # The other joint is locked by its row of M, to first order: then the step ends where the key says.
    alpha, pd = without_gravity(pendulum), np.zeros(2)
    pd[joint] = 0.4
    wanted = np.array(POSE)
    wanted[joint] += 0.005
    lock = 2.0 * mass @ ((wanted - POSE) / table.h - pd) / table.h + pendulum.coriolis(POSE, pd, alpha)
    lock[joint] = table(0.005, 0.4)
    reached = pendulum.joint_step(POSE, pd, lock, alpha=alpha).p_next
    np.testing.assert_allclose(reached, wanted, atol=1e-5)


def test_the_step_on_maximal_states_agrees_and_the_papers_takes_half_the_torque(pendulum: Robot) -> None:
    own = sample_map(pendulum, "elbow", pose=POSE, grid=(3, 3))
    maximal = sample_map(pendulum, "elbow", pose=POSE, grid=(3, 3), step="step_variational_direct")
    np.testing.assert_allclose(maximal.torque, own.torque, rtol=1e-5, atol=1e-3)
    one = load(generated("double_pendulum", hold=("elbow",)))
    paper = sample_map(one, "shoulder", grid=(3, 3), step="step_paper_direct")
    second_order = sample_map(one, "shoulder", grid=(3, 3))
    np.testing.assert_allclose(2.0 * paper.torque, second_order.torque, rtol=5e-3)


def test_payload_and_friction_are_in_the_map_where_the_step_has_them(pendulum: Robot) -> None:
    bare = sample_map(pendulum, "shoulder", grid=(2, 2))
    loaded_map = sample_map(pendulum, "shoulder", grid=(2, 2), alpha=pendulum.alpha.vector({"payload.mass": 1.0}))
    assert (np.abs(loaded_map.torque) > 1.2 * np.abs(bare.torque)).all()


def test_what_cannot_be_solved_or_read_is_refused(pendulum: Robot) -> None:
    with pytest.raises(SolverError, match="joints welded"):
        sample_map(pendulum, "elbow", step="step_paper_direct", extent=(3.0, VELOCITY), grid=(3, 3))
    with pytest.raises(SolverError):
        sample_map(pendulum, "elbow", extent=(3.0, 400.0), grid=(3, 3))


def test_interpolation_is_bilinear_and_clamped() -> None:
    table = uneven()
    rows, columns = table.displacements, table.velocities
    for k, displacement in enumerate(rows):
        for m, velocity in enumerate(columns):
            assert table(displacement, velocity) == pytest.approx(table.torque[k, m], abs=1e-9)
    middle = table((rows[1] + rows[2]) / 2, (columns[0] + columns[1]) / 2)
    assert middle == pytest.approx(table.torque[1:3, 0:2].mean())
    assert table(1.0, -9.0) == table(rows[-1], columns[0]) and table(-math.inf, 0.1) == table(rows[0], 0.1)
    assert math.isnan(table(math.nan, 0.0)) and math.isnan(table(0.0, math.nan))


def test_the_c_table_is_strict_c99_and_gives_the_same_numbers(tmp_path: Path) -> None:
    table = uneven(7, 6)
    for name, text in c_sources(table).items():
        (tmp_path / name).write_text(text)
    source, library = tmp_path / f"{c_name(table)}.c", tmp_path / "map.so"
    flags = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-O1", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, str(source), "-o", str(library)], check=True)
    symbols = subprocess.run(["nm", "-u", str(library)], capture_output=True, text=True, check=True).stdout
    assert "malloc" not in symbols
    function = getattr(ctypes.CDLL(str(library)), c_name(table))
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double] * 2
    rng = np.random.default_rng(4)
    points = [*(rng.uniform(-1.5, 1.5, (500, 2)) * (table.displacement, table.velocity)), (0.0, 0.0),
              (table.displacement, table.velocity), (-math.inf, math.inf)]  # fmt: skip
    for displacement, velocity in points:
        assert function(displacement, velocity) == pytest.approx(table(displacement, velocity), rel=1e-13, abs=1e-13)
    assert math.isnan(function(math.nan, 0.0)) and math.isnan(function(0.0, math.nan))


def test_the_c_table_is_not_read_beyond_its_edges(tmp_path: Path) -> None:
    table = uneven(3, 2)
    for name, text in c_sources(table).items():
        (tmp_path / name).write_text(text)
    name = c_name(table)
    (tmp_path / "main.c").write_text(f"""
#include <stdio.h>
#include "{name}.h"
int main(void)
{{
    for (int k = -2; k <= 2; ++k)
        for (int m = -2; m <= 2; ++m)
            printf("%.17g\\n", {name}(k * {table.displacement!r}, m * {table.velocity!r}));
    return 0;
}}
""")
    trap = ["-fsanitize=bounds", "-fsanitize-undefined-trap-on-error"]
    files = [str(tmp_path / "main.c"), str(tmp_path / f"{name}.c"), "-o", str(tmp_path / "main")]
    subprocess.run(["gcc", "-std=c99", "-g", *trap, *files], check=True)
    printed = subprocess.run([str(tmp_path / "main")], capture_output=True, text=True, check=True).stdout
    expected = [table(k * table.displacement, m * table.velocity) for k in range(-2, 3) for m in range(-2, 3)]
    np.testing.assert_allclose([float(line) for line in printed.split()], expected, rtol=1e-13)


def test_command_writes_c_json_and_picture(tmp_path: Path, pendulum: Robot) -> None:
    out, folder = tmp_path / "map", str(generated("double_pendulum"))
    picture = tmp_path / "map.png"
    words = [folder, "--joint", "elbow", "--pose", json.dumps(POSE), "--grid", "4", "3", "--out", str(out)]
    done = CliRunner().invoke(command, [*words, "--plot", str(picture)])
    assert done.exit_code == 0, done.output
    found = NetTorqueMap.from_json(json.loads((out / "double_pendulum_elbow_net_torque.json").read_text()))
    np.testing.assert_array_equal(found.torque, sample_map(pendulum, "elbow", pose=POSE, grid=(4, 3)).torque)
    assert {path.suffix for path in out.iterdir()} == {".c", ".h", ".json"}
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert isinstance(CliRunner().invoke(command, [folder, "--out", str(out)]).exception, InputError)


def test_the_controller_adds_the_scaled_map_of_its_joint_alone() -> None:
    table = uneven()
    net = ReachNetTorque(table, ("left_s0", "left_s1"))
    law = ImpedanceController([5.0, 30.0], [0.0, 0.01], [np.nan, -0.45], goal_speed=9.0, net_torque=net, scaling=0.6)
    q, dq = np.array([0.2, -0.446]), np.array([0.1, 0.3])
    law.start(np.array([0.2, -0.4]))
    plain = ImpedanceController([5.0, 30.0], [0.0, 0.01], [np.nan, -0.45], goal_speed=9.0)
    plain.start(np.array([0.2, -0.4]))
    part = law.output(1.0, q, dq) - plain.output(1.0, q, dq)
    np.testing.assert_allclose(part, [0.0, 0.6 * table(-0.004, 0.3)])
