"""`--fit loop`: lengths of closed loops by the encoders alone, from poses of a mechanism whose lengths are other ones."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from support.small.closed_robots import case

from diffpbd.runtime import Robot
from diffpbd.runtime.base.errors import InputError, SolverError
from diffpbd.runtime.cli import cli
from diffpbd.runtime.identify import Wanted, identify, implausible, read_recordings
from diffpbd.runtime.identify.columns.design import on_loops
from diffpbd.runtime.logs.processing import Processing, Samples
from diffpbd.runtime.logs.recording import Reading
from diffpbd.runtime.model.closed import of

TRUTH = {
    "four_bar": {
        "loop.origin.four_bar.parent.x": 0.81, "loop.origin.four_bar.parent.z": 0.006,
        "loop.origin.four_bar.child.x": 0.593, "loop.origin.four_bar.child.z": -0.004,
    },
    "five_bar": {
        "loop.origin.five_bar.parent.x": 0.507, "loop.origin.five_bar.parent.z": -0.003,
        "loop.origin.five_bar.child.x": 0.496, "loop.origin.five_bar.child.z": 0.005,
    },
    "spatial_four_bar": {"loop.length.rod": 0.712},
}  # fmt: skip


def poses(robot: Robot, p: Any, truth: dict[str, float], count: int, seed: int = 0) -> Any:
    """Closed ones along a motion of all freedoms."""
    rng, alpha = np.random.default_rng(seed), robot.alpha.vector(truth)
    t = np.linspace(0, 2 * np.pi, count)
    swing = sum(rng.normal(size=robot.n) * np.sin(k * t + rng.uniform(0, 6))[:, None] for k in range(1, 6))
    return robot.close_loops(p + 0.12 * swing, np.zeros(robot.n), alpha)


def recorded(name: str, noise: float, count: int = 400, silent: tuple[str, ...] = (), seed: int = 0) -> Samples:
    """Readings of the encoders, but of joints that have none."""
    c, rng = case(name), np.random.default_rng(seed + 1)
    q = poses(c.robot, c.p, TRUTH[name], count, seed)
    read = q + noise * rng.standard_normal(q.shape)
    for joint in silent:  # what the loops of the description would make of it
        read[:, c.robot.joints.index(joint)] += 0.02
    zero, time = np.zeros_like(q), np.arange(count) / 100.0
    parts = (read, zero, zero, zero)
    return Samples("made", c.robot.joints, time, *parts, 100.0, Processing(None), derived=silent, read=parts[:3])


@pytest.mark.parametrize("name", list(TRUTH))
def test_lengths_come_back_exactly_from_exact_encoders(name: str) -> None:
    found = identify(case(name).robot, [recorded(name, 0.0)], list(TRUTH[name]))
    for entry, value in TRUTH[name].items():
        assert found.parameters[entry] == pytest.approx(value, abs=1e-9), entry
    assert found.rank == found.unknowns == len(TRUTH[name])
    assert found.compared == "position"
    assert max(found.train.rmse.values()) < 1e-10


@pytest.mark.thorough
@pytest.mark.parametrize("name", list(TRUTH))
def test_deviations_say_how_far_lengths_are_off(name: str) -> None:
    """Of 12 recordings with noise, errors over deviations are of one size: neither far below nor far above 1."""
    off = []
    for seed in range(12):
        found = identify(case(name).robot, [recorded(name, 1e-3, 100, seed=3 * seed)], list(TRUTH[name]))
        off += [(e.value - TRUTH[name][e.name]) / e.std for e in found.estimates if e.std is not None]
    assert len(off) == 12 * len(TRUTH[name])
    assert 0.5 < np.sqrt(np.mean(np.square(off))) < 1.4


def test_one_encoder_more_than_freedoms_is_enough_and_no_less() -> None:
    robot, (first, *names), truth = case("four_bar").robot, sorted(TRUTH["four_bar"], reverse=True), TRUTH["four_bar"]
    found = identify(robot, [recorded("four_bar", 0.0, silent=("j2",))], names, start={first: truth[first]})
    for entry in names:
        assert found.parameters[entry] == pytest.approx(truth[entry], abs=1e-8), entry
    # of the coupler's end only its distance from j2 counts then
    both = identify(robot, [recorded("four_bar", 0.0, silent=("j2",))], [first, *names])
    assert [item.name for item in both.lost] == [first]
    assert both.rank == 3
    assert any("j2, without an encoder, follow from the loops" in note for note in found.notes)


def test_a_start_from_which_nothing_closes_is_refused() -> None:
    far = {"loop.origin.four_bar.child.x": 5.0}
    with pytest.raises(InputError, match=r"at the start Sample \d+: no pose near what was read closes the loops"):
        identify(case("four_bar").robot, [recorded("four_bar", 0.0)], ["loop.origin.four_bar.parent.x"], start=far)


def test_what_no_angle_tells_is_named() -> None:
    robot = case("four_bar").robot
    samples = recorded("four_bar", 1e-4)
    # all lengths times a number make the same angles
    words = ["loop.origin.four_bar.parent.x", "loop.origin.four_bar.child.x", "origin.j2.x", "origin.j3.x"]
    with pytest.raises(
        InputError, match=r"none of them by itself, only 3 combinations of 4. Hold measured ones with --fix"
    ):
        identify(robot, [samples], words)
    more = ["loop.origin.four_bar.parent.z", "loop.origin.four_bar.child.z"]
    found = identify(robot, [samples], [*words, *more], fixed=["origin.j3.x"])
    assert found.lost == ()
    assert found.parameters["origin.j2.x"] == pytest.approx(0.3, abs=1e-3)
    turned = "loop.origin.four_bar.parent.pitch"
    if turned in robot.alpha.names:
        with pytest.raises(InputError, match=f"{turned}: these recordings determine none"):
            identify(robot, [samples], [turned])
    still = recorded("four_bar", 0.0)
    parts = tuple(np.tile(x[:1], (400, 1)) for x in (still.q, still.dq, still.ddq, still.tau))
    one = Samples("still", robot.joints, still.time, *parts, 100.0, Processing(None), read=parts[:3])
    with pytest.raises(InputError, match="only 2 combinations of 4"):  # a pose has two rows
        identify(robot, [one], list(TRUTH["four_bar"]))


def test_an_encoder_whose_zero_is_off_is_said_and_noise_is_not() -> None:
    robot, samples = case("four_bar").robot, recorded("four_bar", 1e-3, 100)
    names, start = list(TRUTH["four_bar"])[:1], TRUTH["four_bar"]
    assert implausible(robot, identify(robot, [samples], names, start=start)) == []
    turned = dataclasses.replace(samples, q=samples.q + [0.0, 0.1, 0.0], read=None)
    said = implausible(robot, identify(robot, [turned], names, start=start))
    assert said and all("an encoder's zero" in text and "torque" not in text for text in said)


def test_a_recording_that_was_not_fitted_is_judged() -> None:
    train, test = recorded("four_bar", 1e-3), recorded("four_bar", 1e-3, seed=7)
    found = identify(case("four_bar").robot, [train], list(TRUTH["four_bar"]), validate=[test])
    assert found.validate is not None
    for joint, rmse in found.validate.rmse.items():
        assert rmse == pytest.approx(found.train.rmse[joint], rel=0.3)
        assert rmse < 1.1e-3


@pytest.mark.thorough
def test_the_command_reads_tables_without_torques_and_its_file_serves_dynamics(tmp_path: Path) -> None:
    c = case("four_bar")
    robot, h = c.robot, 0.005
    alpha = robot.alpha.vector(TRUTH["four_bar"])
    q, dq = robot.close_loops(c.p, np.zeros(3), alpha), np.zeros(3)
    u, rows = np.zeros(3), []
    first, k1 = q.copy(), robot.joints.index("j1")
    for k in range(2400):
        last, t = u, k * h
        u = np.zeros(3)
        wanted = first[k1] + 0.8 * np.sin(1.1 * t) + 0.3 * np.sin(2.7 * t)
        u[k1] = robot.inverse_dynamics(q, np.zeros(3), np.zeros(3), alpha).u[k1] + 30 * (wanted - q[k1]) - 4 * dq[k1]
        rows.append((t, *q, *((u + last) / 2 if k else u)))
        q, dq = robot.joint_step(q, dq, u, h, alpha)
    header = ",".join(["time", *(f"q_{j}" for j in robot.joints), *(f"tau_{j}" for j in robot.joints)])
    table = np.array(rows)
    table[:, 1:4] += 2e-5 * np.random.default_rng(0).standard_normal((len(rows), 3))
    both, bare = tmp_path / "both.csv", tmp_path / "bare.csv"
    np.savetxt(both, table, delimiter=",", header=header, comments="")
    np.savetxt(bare, table[:, :4], delimiter=",", header=",".join(header.split(",")[:4]), comments="")
    out = tmp_path / "lengths.json"
    fit = ",".join(TRUTH["four_bar"])
    done = CliRunner().invoke(cli, ["identify", str(c.folder), str(bare), "--fit", fit, "--out", str(out)])
    assert done.exit_code == 0, done.output
    found = json.loads(out.read_text())["parameters"]
    for entry, value in TRUTH["four_bar"].items():
        assert entry in done.output
        assert found[entry]["value"] == pytest.approx(value, abs=1e-4)
        assert abs(found[entry]["value"] - value) < 4 * found[entry]["std"] < 1e-3
    assert "of RMS position" in done.output
    wanted = Wanted(Reading(), Processing(8.0, trim=0.5))
    (samples,), _ = read_recordings(robot, [str(both)], wanted)
    start = {name: entry["value"] for name, entry in found.items()}
    masses = identify(robot, [samples], ["mass.rocker"], start=start).parameters["mass.rocker"]
    without = identify(robot, [samples], ["mass.rocker"]).parameters["mass.rocker"]
    assert masses == pytest.approx(1.2, abs=4e-3)
    assert abs(without - 1.2) > 2 * abs(masses - 1.2)
    nowhere = tmp_path / "no.json"
    words = ["identify", str(c.folder), str(bare), "--fit", "loop,mass", "--out", str(nowhere)]
    refused = CliRunner().invoke(cli, words)
    assert refused.exit_code == 1
    assert "by the encoders alone" in str(refused.exception) + refused.output
    assert not nowhere.exists()


def test_a_step_that_cannot_close_is_halved() -> None:
    """From far away the first step goes where nothing closes; the fit comes back."""
    robot = case("four_bar").robot
    begin = {"loop.origin.four_bar.parent.x": 0.7, "loop.origin.four_bar.child.x": 0.75}
    try:
        found = identify(robot, [recorded("four_bar", 0.0)], list(TRUTH["four_bar"]), start=begin)
    except SolverError as error:
        pytest.fail(str(error))
    for entry, value in TRUTH["four_bar"].items():
        assert found.parameters[entry] == pytest.approx(value, abs=1e-8), entry


def test_motions_are_closed_as_they_were_read() -> None:
    """With other lengths a motion is not moved twice: onto the loops of the description and from there."""
    robot, own = case("four_bar").robot, of(case("four_bar").robot)
    assert own is not None
    alpha, samples = robot.alpha.vector(TRUTH["four_bar"]), recorded("four_bar", 2e-2, 50)
    q, dq, ddq = own.completed(samples.q, samples.dq, samples.ddq)
    moved = replace(samples, q=q, dq=dq, ddq=ddq, read=(samples.q, samples.dq, samples.ddq))
    wanted = own.completed(samples.q, samples.dq, samples.ddq, alpha=alpha)[0]
    np.testing.assert_allclose(on_loops(own, moved, alpha).q, wanted, rtol=0, atol=1e-12)
    assert np.abs(own.completed(q, dq, ddq, alpha=alpha)[0] - wanted).max() > 1e-4
    assert moved.disturbed(np.random.default_rng(0)).q is moved.q  # unfiltered: no noise is known
