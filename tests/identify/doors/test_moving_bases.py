"""Identification and torque estimation of robots that fly: rows of the base, whose force is zero, tell of inertias."""

from __future__ import annotations

import dataclasses
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from support.free_flyer import FreeFlyer, difference, moved, position, product
from support.small.floating_arm import flat_arms, stopped_flap

import diffpbd
from diffpbd.runtime import Robot
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.quaternions import of_rotation, path_of, turned_by
from diffpbd.runtime.cli import cli
from diffpbd.runtime.logs.csv import Log, read_log, write_log
from diffpbd.runtime.logs.processing import Processing, process
from diffpbd.runtime.logs.recording import read_recording

Array = Any
H = 0.005
WEIGHTLESS = {f"gravity.{axis}": 0.0 for axis in "xyz"}
LOADED = WEIGHTLESS | {"payload.mass": 0.4, "payload.com.x": 0.1, "friction.viscous.shoulder": 0.05}


def flown(robot: Robot, start: Array, spin: Array, steps: int, push: float = 0.0, **alpha: float) -> Log:
    """A flight in which a law moves the joints and `push` [N and 0.1 N·m] the base; torques are those about each sample."""
    values = robot.alpha.vector(alpha)
    joints = robot.n - len(robot.manifest.robot.base_freedoms)
    P, PD, U = [start], [spin], []
    for k in range(steps):
        t = H * k
        wanted = 0.3 * np.sin(np.array([6.0, 9.0])[:joints] * t) + 0.15 * np.sin(14.0 * t + 1.0) - 0.1
        u = np.zeros(robot.n)
        if push:
            u[:6] = (
                push * np.array([1.0, 1.0, 1.0, 0.1, 0.1, 0.1]) * np.sin(np.array([5.0, 4.0, 3.0, 7.0, 5.5, 6.0]) * t)
            )
        u[-joints:] = 4.0 * (wanted - P[-1][-joints:]) - 0.3 * PD[-1][-joints:]
        q, qd = robot.joint_step(P[-1], PD[-1], u, H, values)
        P.append(q), PD.append(qd), U.append(u)
    U = np.array(U)
    tau = np.vstack([U[:1], 0.5 * (U[1:] + U[:-1]), U[-1:]])
    return Log(H * np.arange(steps + 1), robot.joints, np.array(P), np.array(PD), None, tau, robot.positions)


@cache
def flight() -> Log:
    start = position(np.random.default_rng(1), 1)
    start[7] = -0.1
    return flown(stopped_flap(), start, np.array([0.1, -0.2, 0.1, 1.5, -2.0, 1.0, 0.0]), 600, **LOADED)


def saved(folder: Path, log: Log, *without: str) -> str:
    path = folder / "flight.csv"
    write_log(path, log)
    if without:
        header, *rows = (line.split(",") for line in path.read_text().splitlines())
        kept = [k for k, name in enumerate(header) if not name.startswith(without)]
        path.write_text("\n".join(",".join(row[k] for k in kept) for row in (header, *rows)) + "\n")
    return str(path)


def test_terms_are_pinocchios_torques() -> None:
    robot, rng = stopped_flap(), np.random.default_rng(1)
    other = FreeFlyer(robot.folder.parent / "floating" / "stopped_flap.urdf", robot.joints[6:])
    alpha = robot.alpha.defaults
    phi = robot.torque_coefficients(alpha)
    for _ in range(3):
        p, (pd, pdd) = position(rng, 1), rng.uniform(-3, 3, (2, 7))
        terms = robot.torque_terms(p, pd, pdd, alpha)
        assert terms.shape == (7, 16 * len(robot.links)) and len(phi) == 32
        assert terms @ phi == pytest.approx(other.torque(p, pd, pdd), abs=1e-12)
        heavy = robot.alpha.vector(LOADED)
        both = robot.inverse_dynamics(p, pd, pdd, heavy)
        asked = robot.torque_terms(p, pd, pdd, heavy) @ robot.torque_coefficients(heavy)
        assert asked == pytest.approx(both.u + both.unbalanced, abs=1e-12)


def test_all_inertias_of_a_robot_that_flies() -> None:
    """Every base parameter, the trunk's too, which no robot that stands could tell."""
    robot = stopped_flap()
    found = diffpbd.identify(robot, flight(), ["inertials", "friction.viscous"], start=WEIGHTLESS, cutoff=None).result
    known = {e.name: (e.value, e.std) for e in found.base}
    m, x, z = 1.2, (0.8 * 0.15 + 0.4 * 0.1) / 1.2, 0.8 * 0.02 / 1.2
    about_y = 0.006 + 0.8 * (0.15**2 + 0.02**2) + 0.4 * 0.1**2
    wanted = {"m trunk + m upper": 4.2, "m·c.x upper": m * x, "m·c.z upper": m * z, "I.yy upper": about_y}
    for name, value in wanted.items():
        assert known[name][0] == pytest.approx(value, rel=0.01), name
    assert len(known) == 17 and found.rank == 18
    assert next(e.value for e in found.estimates if e.name == "friction.viscous.shoulder") == pytest.approx(
        0.05, rel=0.01
    )
    assert not any("base_" in note for note in found.notes), found.notes
    # Where a filter bends the motion the base's balance does not come out even: small inertias must not be the way out.
    bent = diffpbd.identify(robot, flight(), ["inertials", "friction.viscous"], start=WEIGHTLESS, cutoff=5.0, trim=0.3)
    assert 3.5 < bent.params["mass.trunk"] + bent.params["mass.upper"] < 4.3


def test_what_pushes_a_base_is_a_part_of_its_balance(tmp_path: Path) -> None:
    """Told by the recording it gives the masses; not told it is said that something is missing."""
    robot, start = stopped_flap(), position(np.random.default_rng(1), 1)
    start[7] = -0.1
    log = flown(robot, start, np.array([0.1, -0.2, 0.1, 1.5, -2.0, 1.0, 0.0]), 400, push=3.0, **LOADED)
    for without, mass, said in (((), 3.0, False), (("tau_base",), None, True)):
        found = diffpbd.identify(robot, saved(tmp_path, log, *without), ["mass"], start=LOADED, cutoff=None)
        assert any("does not close" in note for note in found.result.notes) == said
        if mass:
            assert found.params["mass.trunk"] == pytest.approx(mass, rel=0.01)


def test_the_command_finds_what_was_caught(tmp_path: Path) -> None:
    robot, weightless = stopped_flap(), tmp_path / "weightless.json"
    weightless.write_text(json.dumps(WEIGHTLESS))
    for without in ((), ("tau_base", "dq_", "ddq_")):
        log = saved(tmp_path, flight(), *without)
        words = [
            "--fit",
            "payload.mass,payload.com,friction.viscous",
            "--params",
            str(weightless),
            "--cutoff",
            "30",
            "--trim",
            "0.2",
        ]
        out = tmp_path / "params.json"
        done = CliRunner().invoke(
            cli, ["identify", str(robot.folder), log, *words, "--out", str(out)], catch_exceptions=False
        )
        assert done.exit_code == 0, done.output
        values = {name: entry["value"] for name, entry in json.loads(out.read_text())["parameters"].items()}
        assert values["payload.mass"] == pytest.approx(0.4, rel=0.01)
        assert values["payload.com.x"] == pytest.approx(0.1, abs=0.002)
        assert abs(values["payload.com.y"]) < 0.001


def test_torques_of_a_flight(tmp_path: Path) -> None:
    robot, log = stopped_flap(), flight()
    found = diffpbd.estimate_torque(robot, log, cutoff=None, loss="nodes", alpha=LOADED)
    assert found.u[:, 6] == pytest.approx(
        log.tau[1:-1, 6], abs=5e-4
    )  # friction acts at nodes here, at ends of steps there
    assert np.abs(found.u[:, :6]).max() < 1e-6 and found.q.shape == (599, 8)
    pushed = dataclasses.replace(log, q=log.q.copy())
    pushed.q[:, 0] += 0.5 * 0.3 * log.time**2
    mass = 4.2
    force = diffpbd.estimate_torque(robot, pushed, cutoff=None, loss="nodes", alpha=LOADED).u[:, :3]
    assert force == pytest.approx(np.tile([0.3 * mass, 0, 0], (599, 1)), abs=1e-6)
    params = tmp_path / "loaded.json"
    params.write_text(json.dumps(LOADED))
    out = tmp_path / "torques.csv"
    words = ["--loss", "nodes", "--params", str(params), "--cutoff", "0", "--out", str(out)]
    done = CliRunner().invoke(cli, ["estimate-torque", str(robot.folder), saved(tmp_path, log), *words])
    assert done.exit_code == 0, done.output
    written = read_log(out)
    assert written.turn is not None and written.tau[:, 6] == pytest.approx(found.u[:, 6], abs=1e-9)


def test_a_log_of_torques_is_simulated_from_its_first_sample(tmp_path: Path) -> None:
    robot, log = stopped_flap(), flight()
    params, out = tmp_path / "loaded.json", tmp_path / "again.csv"
    params.write_text(json.dumps(LOADED))
    held = dataclasses.replace(log, tau=np.vstack([np.zeros((1, 7)), log.tau[1:]]))
    words = ["--torque", saved(tmp_path, held, "tau_base"), "--params", str(params), "--h", str(H), "--duration", "0.5"]
    done = CliRunner().invoke(cli, ["simulate", str(robot.folder), *words, "--out", str(out)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    again = read_log(out)
    P, PD = robot.rollout(log.q[0], log.dq[0], held.tau[:100], H, robot.alpha.vector(LOADED))
    assert again.turn == pytest.approx(P[:, 3:7], abs=1e-9) and again.dq == pytest.approx(PD, abs=1e-9)
    blind = CliRunner().invoke(
        cli, ["simulate", str(robot.folder), "--torque", saved(tmp_path, held, "q_base_q"), "--out", str(out)]
    )
    assert blind.exit_code == 1 and "base_qw, base_qx, base_qy, base_qz" in blind.output.replace("\n", " ")


def test_turns_as_a_path() -> None:
    """However far it turns, the slope of the path is the angular velocity; what a filter takes the quaternion loses too."""
    time = np.linspace(0, 4, 801)
    axis = np.array([0.6, 0.0, 0.8])
    turn = product_rows(of_rotation(3.0 * time[:, None] * axis), np.array([0.5, 0.5, 0.5, 0.5]))
    turn[100:] *= -1.0  # the same turns
    path = path_of(turn)
    assert path[0] == pytest.approx(0) and path == pytest.approx(3.0 * time[:, None] * axis, abs=1e-12)
    p = np.r_[np.zeros(3), turn[5], 0.3]
    d = np.array([0, 0, 0, 0.02, -0.01, 0.03, 0])
    assert turned_by(turn[5], d[3:6]) == pytest.approx(moved(p, d)[3:7], abs=1e-15)
    samples = flight()
    made = process("flight", samples.select(samples.joints), Processing(cutoff=3.0))[0]
    assert np.abs(np.linalg.norm(made.turn, axis=1) - 1).max() < 1e-14
    inner = slice(60, -60)
    away = np.array([difference(a, b) for a, b in zip(made.p[inner], samples.q[inner], strict=True)])
    taken = (made.q - samples.select(samples.joints).q)[inner]
    assert away == pytest.approx(taken, rel=1e-3, abs=1e-7) and 1e-5 < np.abs(taken[:, 3:6]).max() < 0.05
    assert made.q.shape == (601, 7) and made.p.shape == (601, 8)
    noisy = made.disturbed(np.random.default_rng(0))
    change = np.array([difference(a, b) for a, b in zip(noisy.p, made.p, strict=True)])
    assert change == pytest.approx(noisy.q - made.q, rel=1e-3, abs=1e-7)


def product_rows(one: Array, other: Array) -> Array:
    return np.array([product(row, other) for row in one])


def test_columns_that_are_missing_or_wrong_are_named_as_they_are_recorded(tmp_path: Path) -> None:
    robot, log = stopped_flap(), flight()
    with pytest.raises(InputError) as error:
        read_recording(saved(tmp_path, log, "q_base_q"), robot.joints)
    assert (
        "base_qw, base_qx, base_qy, base_qz" in str(error.value) and "base_turn" not in str(error.value).split(";")[0]
    )
    for read in (read_recording, lambda path, joints: read_log(path)):
        with pytest.raises(InputError, match="q_base_qz of the base's quaternion .* is missing"):
            read(saved(tmp_path, log, "q_base_qz"), robot.joints)
    wrong = dataclasses.replace(log, q=log.q.copy())
    for size, good in ((1.009, True), (1.011, False)):
        wrong.q[7, 3:7] = size * log.q[7, 3:7]
        path = saved(tmp_path, wrong)
        if good:
            assert read_recording(path, robot.joints).turn[7] == pytest.approx(log.q[7, 3:7])
        else:
            with pytest.raises(
                InputError, match=r"sample 8: q_base_qw, .*: expected a unit quaternion, found one of length 1.011"
            ):
                read_recording(path, robot.joints)


def test_a_cleaned_log_has_the_quaternions_whatever_the_order_of_its_columns(tmp_path: Path) -> None:
    """The sum of the turns, which filters take, tells nobody how the base stood."""
    rows = [line.split(",") for line in Path(saved(tmp_path, flight())).read_text().splitlines()]
    other, clean = tmp_path / "reversed.csv", tmp_path / "clean.csv"
    other.write_text("\n".join(",".join(row[::-1]) for row in rows) + "\n")
    done = CliRunner().invoke(cli, ["log", str(other), "--cutoff", "20", "--out", str(clean)])
    assert done.exit_code == 0, done.output
    robot, log = stopped_flap(), flight()
    found = read_recording(clean, robot.joints)
    (wanted,) = process("flight", log.select(robot.joints), Processing(cutoff=20.0))
    assert found.turn == pytest.approx(wanted.turn, abs=1e-12)
    assert np.abs(found.turn - log.q[:, 3:7]).max() > 1e-6  # filtered
    done = CliRunner().invoke(cli, ["log", str(other), "--joints", "base_turn_x,shoulder", "--out", str(clean)])
    assert done.exit_code == 0, done.output
    assert clean.read_text().startswith("time,q_base_turn_x,q_shoulder,dq_")


@pytest.mark.soak
def test_a_planar_base_too() -> None:
    _, robot = flat_arms()
    with pytest.raises(diffpbd.InputError, match="a base that moves"):
        diffpbd.excite(robot, duration=2.0)
    start, spin = np.array([0.1, 0.3, 0.4, -0.1, -0.1]), np.array([0.1, 0.2, 1.5, 0.0, 0.0])
    log = flown(robot, start, spin, 800, **{k: v for k, v in LOADED.items() if "shoulder" not in k})
    found = diffpbd.identify(robot, log, "payload.mass,payload.com", start=WEIGHTLESS, cutoff=None)
    values = found.params
    assert values["payload.mass"] == pytest.approx(0.4, rel=0.01)
    assert values["payload.com.x"] == pytest.approx(0.1, rel=0.02)
