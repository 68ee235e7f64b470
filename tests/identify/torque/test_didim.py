"""Motions simulated under the controller: on an arm that another integrator moves, with a coarse encoder and no rates."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from support.recordings import scenarios
from support.recordings.scenarios import RATE, Arm, N, Scenario, simulated
from support.robots import generated

from diffpbd.runtime import Robot, load
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.cli import cli
from diffpbd.runtime.identify import Identification, Settings, identify
from diffpbd.runtime.logs.processing import Processing, Samples, process
from diffpbd.runtime.logs.recording import Recording

ARM = Arm.of(5)
JOINTS = tuple(f"j{k}" for k in range(N))
SAMPLES = 500
COARSE = 0.01  # rad
GAINS = {"j0": (150.0, 15.0), "j1": (120.0, 12.0), "j2": (40.0, 4.0)}  # those of drawn_arm.c
WIDTHS = {f"friction.transition_velocity.{j}": scenarios.WIDTH for j in JOINTS}
Array = np.ndarray


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    urdf = tmp_path_factory.mktemp("drawn") / "followed.urdf"
    urdf.write_text(ARM.urdf)
    return load(generated(str(urdf), functions=("inverse_dynamics", "torque_terms", "joint_step", "mass_matrix")))


def columns(time: Array, **kinds: Array) -> tuple[list[str], Array]:
    names = ["time", *(f"{kind}_{joint}" for kind in kinds for joint in JOINTS)]
    return names, np.column_stack([time, *kinds.values()])


def write(path: Path, time: Array, **kinds: Array) -> str:
    names, rows = columns(time, **kinds)
    np.savetxt(path, rows, delimiter=",", header=",".join(names), comments="", fmt="%.17g")
    return str(path)


def command(seed: int) -> tuple[Array, Array, Array, Array]:
    """Time, positions, rates, and the torque that the controller adds: the wanted motion's, friction's too."""
    time = np.arange(SAMPLES) / RATE
    middle, size, omega, phase = scenarios._goal(np.random.default_rng(seed))
    angle = omega * time[:, None, None] + phase
    q, dq = middle + (size * np.sin(angle)).sum(1), (size * omega * np.cos(angle)).sum(1)
    ddq, torque, packed = -(size * omega**2 * np.sin(angle)).sum(1), np.zeros_like(q), ARM.packed(Scenario())
    for k in range(SAMPLES):
        rows = [np.ascontiguousarray(part[k]) for part in (q, dq, ddq)]
        out = np.zeros(N)
        scenarios._library().motors(*(scenarios._pointer(part) for part in (packed, *rows, out)))
        torque[k] = out + ARM.coulomb * np.tanh(dq[k] / 0.05) + ARM.viscous * dq[k]
    return time, q, dq, torque


def recorded(seed: int, quantum: float, noise: float) -> Recording:
    motions, rng = simulated(ARM, Scenario(), [seed]), np.random.default_rng(seed)
    q, torque = motions.q[0, :SAMPLES], motions.torque[0, :SAMPLES]
    torque = torque + ARM.offset + noise * torque.std(axis=0) * rng.normal(size=torque.shape)
    return Recording("run", motions.time[:SAMPLES], JOINTS, np.round(q / quantum) * quantum, None, None, torque)


def samples(seed: int, quantum: float, noise: float) -> list[Samples]:
    return process("run", recorded(seed, quantum, noise), Processing())


def fitted(robot: Robot, run: list[Samples], **how: object) -> Identification:
    return identify(robot, run, ["friction"], start=WIDTHS, settings=Settings(**how))


def off(result: Identification) -> tuple[Array, Array]:
    """Errors of the estimates, and in their deviations."""
    found = [
        (e.value - ARM.truth[e.name], e.std or e.formal or np.nan) for e in result.estimates if e.name in ARM.truth
    ]
    errors, stds = np.array(found).T
    return errors, errors / stds


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], str]:
    folder = tmp_path_factory.mktemp("commands")

    def written(seed: int) -> str:
        time, q, dq, torque = command(seed)
        return write(folder / f"{seed}.csv", time, q=q, dq=dq, tau=torque)

    return written


def test_a_coarse_encoder_without_rates(robot: Robot, reference: Callable[[int], str]) -> None:
    run = samples(1, COARSE, 0.02)
    plain, _ = off(fitted(robot, run))
    result = fitted(robot, run, form="didim", reference=(reference(1),), gains=GAINS)
    errors, z = off(result)
    assert np.sqrt(np.mean(errors**2)) < 0.3 * np.sqrt(np.mean(plain**2)), (errors, plain)
    assert np.abs(z).max() < 3.5, z
    (note,) = [note for note in result.notes if "motions are simulated" in note]
    assert "the controller of --gains; the parameters settled in" in note


def test_on_clean_data_both_are_right(robot: Robot, reference: Callable[[int], str]) -> None:
    run = samples(1, 1e-9, 1e-4)
    plain, _ = off(fitted(robot, run))
    errors, z = off(fitted(robot, run, form="didim", reference=(reference(1),), gains=GAINS))
    assert np.abs(plain).max() < 0.02 and np.abs(errors).max() < 0.02, (plain, errors)
    assert np.abs(z).max() < 3.0, z  # the error that steps leave is in the deviations


def test_a_controller_that_is_not_known(robot: Robot, reference: Callable[[int], str]) -> None:
    run = samples(1, COARSE, 0.02)
    plain, _ = off(fitted(robot, run))
    result = fitted(robot, run, form="didim", reference=(reference(1),))
    errors, z = off(result)
    assert np.sqrt(np.mean(errors**2)) < 0.3 * np.sqrt(np.mean(plain**2)) and np.abs(z).max() < 3.5
    assert any("a stiff controller that stands in" in note for note in result.notes)


def test_what_is_refused(robot: Robot, reference: Callable[[int], str], tmp_path: Path) -> None:
    run, right = samples(1, COARSE, 0.02), reference(1)
    time, q, _dq, _torque = command(1)

    def refused(match: str, *references: str, **how: object) -> None:
        with pytest.raises(InputError, match=match):
            fitted(robot, run, form="didim", reference=references, **how)

    refused("expected a --reference for each of the 1 recordings, those of --validate last, found 0")
    refused("the simulated j[012] is .* of its own deviation from run; that command, or --gains", reference(2))
    refused("it is from 1 to 5.99 s, the recording from 0 to 4.99 s", write(tmp_path / "late.csv", time + 1.0, q=q))
    refused("no column q_j0 was found", write(tmp_path / "rates.csv", time, dq=q))
    refused("--gains: expected KP:KD of every joint of followed, found no joint 'j9'", right, gains={"j9": (1.0, 1.0)})
    refused("found none of j1", right, gains={"j0": (1.0, 1.0)})
    refused("--gains: expected KP:KD from 0 to 1e.09, found nan:1", right, gains={"": (np.nan, 1.0)})
    refused("--gains j0: expected KP:KD from 0 to 1e.09, found 1:-1", right, gains={"j0": (1.0, -1.0)})


def test_the_command(robot: Robot, reference: Callable[[int], str], tmp_path: Path) -> None:
    run, out = recorded(1, COARSE, 0.02), tmp_path / "params.json"
    assert run.tau is not None
    log = write(tmp_path / "run.csv", run.time, q=run.q, tau=run.tau)
    words = ["identify", str(robot.folder), log, "--fit", "friction.viscous.j0", "--form", "didim", "--out", str(out)]
    gains = ",".join(f"{joint}={kp}:{kd}" for joint, (kp, kd) in GAINS.items())
    done = CliRunner().invoke(cli, [*words, "--reference", reference(1), "--gains", gains])
    assert done.exit_code == 0, done.output
    assert (
        "friction.viscous.j0" in json.loads(out.read_text())["parameters"]
        and "the controller of --gains" in done.output
    )
    for wrong, said in (("stiff", "expected KP:KD or JOINT=KP:KD"), ("", "found an empty string")):
        done = CliRunner().invoke(cli, [*words, "--reference", reference(1), "--gains", wrong])
        assert done.exit_code == 2 and "--gains" in done.output and said in done.output
