"""What only other units explain is said, and what of a drive is missing is named; rotors begin at the description's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from support.motions import motion
from support.robots import generated

from diffpbd.runtime import Robot, load
from diffpbd.runtime.cli import cli
from diffpbd.runtime.identify import identify, implausible
from diffpbd.runtime.identify.settings.starting import starting_point
from diffpbd.runtime.logs.csv import Log, write_log
from diffpbd.runtime.logs.processing import Processing, Samples, process

FRICTION = {f"friction.{kind}.{joint}": 0.1 for kind in ("coulomb", "viscous") for joint in ("turn", "elbow")}


@pytest.fixture(scope="module")
def arm2(shared: Path) -> Robot:
    return load(generated(str(next((shared / "cases").glob("N02-*")) / "arm2.urdf")))


def recorded(robot: Robot, truth: dict[str, float], *, gain: float = 1.0, late: float = 0.0) -> Log:
    log = motion(robot, {**FRICTION, **truth}, seed=1, seconds=12.0, noise=0.01)
    assert log.tau is not None
    tau = np.column_stack([np.interp(log.time - late, log.time, column) for column in log.tau.T])
    tau[:, 1] *= gain
    return Log(log.time, log.joints, log.q, log.dq, None, tau)


def samples(log: Log) -> list[Samples]:
    return process("run", log, Processing(trim=0.5))


@pytest.mark.parametrize(
    ("truth", "gain", "late", "said"),
    [
        ({}, 1.0, 0.0, ""),
        ({"rotor_inertia.elbow": 0.05}, 1.0, 0.0, "a rotor of 0.0"),
        ({}, 1.3, 0.0, "sensor.gain.elbow"),
        ({}, 1.0, 0.05, "sensor.delay.elbow"),
    ],
)
def test_a_missing_rotor_gain_or_delay_is_named(
    arm2: Robot, truth: dict[str, float], gain: float, late: float, said: str
) -> None:
    found = identify(arm2, samples(recorded(arm2, truth, gain=gain, late=late)), ["friction"])
    hints = [note for note in found.notes if "joint elbow reads as if it had" in note]
    assert (len(hints) == 1 and said in hints[0]) if said else not hints, found.notes
    if said:
        name = {"a rotor of 0.0": "rotor_inertia.elbow"}.get(said, said)
        assert f"Try {name} in --fit" in hints[0]
        again = identify(arm2, samples(recorded(arm2, truth, gain=gain, late=late)), ["friction", name])
        assert not [note for note in again.notes if "joint elbow reads as if it had" in note], again.notes


def test_gains_at_their_bound_and_torques_that_nothing_explains(arm2: Robot) -> None:
    sound = identify(arm2, samples(recorded(arm2, {})), ["friction"])
    assert not implausible(arm2, sound)
    assert all(0.0 < share < 0.2 and explained > 0.95 for share, explained in sound.train.shares.values())
    strange = identify(arm2, samples(recorded(arm2, {}, gain=-1.0)), ["friction"])
    (said,) = implausible(arm2, strange)
    assert said.startswith("The torque of elbow is explained by nothing that was fitted (R² -")
    run = recorded(arm2, {})
    still = replace(run, q=0.0 * run.q + 0.1, dq=0.0 * run.dq, ddq=0.0 * run.q, tau=0.0 * run.q + [1.0, 0.5])
    rest = identify(arm2, samples(still), ["torque_offset"])
    assert not implausible(arm2, rest)  # an offset explains a torque that is constant, to rounding
    bound = identify(arm2, samples(recorded(arm2, {}, gain=0.02)), ["friction", "sensor.gain.elbow"])
    assert any(
        "sensor.gain.elbow is at its" in sentence and "--drive-gain" in sentence
        for sentence in implausible(arm2, bound)
    )


def test_the_table_has_the_share_of_the_torque(arm2: Robot, tmp_path: Path) -> None:
    write_log(tmp_path / "run.csv", recorded(arm2, {}, gain=0.3))
    done = CliRunner().invoke(cli, ["identify", str(arm2.folder), str(tmp_path / "run.csv"), "--fit", "friction"])
    assert done.exit_code == 0 and "of RMS torque" in done.output and "R²" in done.output, done.output
    assert "warning: The torque of elbow is explained by nothing" in done.output


def test_rotors_begin_at_what_the_transmission_says(arm2: Robot) -> None:
    geared = load(arm2.folder)
    facts = replace(geared.manifest.robot, rotors={"turn": 0.2, "elbow": 0.1})
    geared.manifest = replace(geared.manifest, robot=facts)

    def start(robot: Robot, fit: str, given: object = None, **fixed: float) -> tuple[float, float]:
        alpha = starting_point(robot, robot, fit.split(","), given, fixed)
        return tuple(alpha[list(robot.alpha.indices("rotor_inertia"))].tolist())

    assert start(geared, "rotor_inertia") == (0.2, 0.1)
    assert start(geared, "friction,rotor_inertia.elbow") == (0.0, 0.1)
    assert start(geared, "friction") == start(arm2, "rotor_inertia") == (0.0, 0.0)
    assert start(geared, "rotor_inertia", {"rotor_inertia.turn": 0.3}) == (0.3, 0.0), "what is given stands alone"
    assert start(geared, "rotor_inertia", **{"rotor_inertia.turn": 0.4}) == (0.4, 0.1), "what is fixed stands over it"
