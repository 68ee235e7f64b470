"""The paper's two impedance experiments: what the laws do to a pushed joint, tables and pictures."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from support.command import experiment
from support.robots import generated

from diffpbd.runtime import Robot, load
from diffpbd.runtime.control.net_torque import NetTorqueMap, sample_map
from experiments.__main__ import command
from experiments.control.impedance import PHASES, Experiment, run
from experiments.control.joint_law import Merit, merits

URDF = Path(__file__).parents[2] / "codegen" / "robots" / "baxter.urdf"
MASS = 3.09  # kg·m² about s1, arm stretched out


@pytest.fixture(scope="module")
def one() -> Robot:
    return load(generated("double_pendulum", hold=("elbow",)))


@pytest.fixture(scope="module")
def table(one: Robot) -> NetTorqueMap:
    return sample_map(one, "shoulder", grid=(5, 5), step="step_paper_direct")


def by_law(robot: Robot, table: NetTorqueMap, experiment: Experiment) -> dict[str, dict[str, Merit]]:
    return {
        trace.name: {merit.phase: merit for merit in merits(trace, experiment.goal, PHASES)}
        for trace in run(robot, table, experiment)
    }


def test_springs_yield_by_what_they_say_and_the_map_does_not_yield(one: Robot, table: NetTorqueMap) -> None:
    found = by_law(one, table, Experiment(coulomb=0.0, viscous=0.0))
    for phase, torque in (("5 N·m", 5.0), ("10 N·m", 10.0)):
        assert found["PD, critically damped"][phase].offset == pytest.approx(torque / 30.0, abs=1e-3)
        assert found["PD, critically damped"][phase].overshoot < 1e-3
        assert found["PD"][phase].overshoot > 0.15 * torque / 30.0 and found["PD"][phase].settling is None
        mass = one.mass_matrix(np.zeros(1)).item()
        stiff = torque / (30.0 + mass / one.h**2)
        assert found["impedance"][phase].offset == pytest.approx(stiff, rel=0.01)
        assert found["impedance"][phase].settling == 0.0


def test_friction_holds_the_joint_off_its_goal_and_calms_pd(one: Robot, table: NetTorqueMap) -> None:
    found = by_law(one, table, Experiment(coulomb=0.8, viscous=0.7))
    free = by_law(one, table, Experiment(coulomb=0.0, viscous=0.0))
    assert found["PD"]["10 N·m"].overshoot < free["PD"]["10 N·m"].overshoot
    assert abs(found["PD"]["5 N·m"].offset - 5.0 / 30.0) < 0.8 / 30.0


@pytest.mark.thorough
def test_the_command_writes_tables_and_pictures(one: Robot, tmp_path: Path) -> None:
    out, drawn = tmp_path / "impedance.png", tmp_path / "map.png"
    code, text = experiment("impedance", one.folder, "--map", drawn, "--out", out)
    assert code == 0 and "settling [s]" in text and "none" in text and "off a plane" in text, text
    assert out.read_bytes().startswith(b"\x89PNG") and drawn.read_bytes().startswith(b"\x89PNG")
    with out.with_suffix(".csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == 3 * 3500


def test_a_robot_that_does_not_fit_is_refused_with_the_command_that_helps() -> None:
    done = CliRunner().invoke(command, ["impedance", str(generated("double_pendulum"))])
    assert done.exit_code == 1 and "--hold left_s0" in done.output


def test_locked_joints_stay_and_the_free_one_has_its_own_inertia() -> None:
    pytest.importorskip("pinocchio")
    from diffpbd.runtime.arms.baxter.simulated.plant import STEP, PlantSettings
    from experiments.control.push import LockedPlant

    still = PlantSettings((0.0,) * 7, (0.0,) * 7, spring_stiffness=0.0)
    plant = LockedPlant(URDF, "left_s1", still)
    for _ in range(50):
        mass, bias = plant.mass_and_bias()
        push = 10.0 * np.eye(7)[plant.moving]  # N·m
        plant.advance(plant.compensation(plant.q) + push, mass, bias)
    assert np.abs(np.delete(plant.q, plant.moving)).max() < 1e-6
    assert plant.dq[plant.moving] == pytest.approx(10.0 * 50 * STEP / MASS, rel=0.01)


@pytest.mark.thorough
def test_a_hand_moves_the_joint_and_lets_it_go() -> None:
    pytest.importorskip("pinocchio")
    from experiments.control.push import GOAL, Hand, run_all

    grid = np.meshgrid(np.linspace(-0.00625, 0.00625, 5), np.linspace(-0.5, 0.5, 5), indexing="ij")
    closed = NetTorqueMap("arm", "left_s1", "closed", 0.01, np.zeros(7), 0.00625, 0.5,
                          MASS * (grid[0] / 0.01 - grid[1]) / 0.01)  # fmt: skip
    traces = {trace.name: trace for trace in run_all(URDF, closed, MASS, 0.6, Hand())}
    for name, trace in traces.items():
        held = (trace.time > 6.0) & (trace.time < 7.0)
        assert abs(trace.angle[held].mean()) < 0.03, name
        assert abs(trace.angle[-100:].mean() - GOAL) < 0.8 / 30.0 + 2e-3, name  # as far as friction may hold it
        assert np.abs(trace.motor).max() <= 50.0
    hands = {name: trace.external[held].mean() for name, trace in traces.items()}
    assert hands["PD"] == pytest.approx(30.0 * 0.45, abs=1.5)
    assert hands["impedance"] > 2 * hands["PD"]
    assert (np.diff(traces["PD, critically damped"].angle[traces["PD"].time > 7.3]) < 2e-3).all()
