"""Torques of robots that touch something, from motion and the forces on their contacts; judged by pinocchio and own steps."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from click.testing import CliRunner
from support import touching
from support.mechanisms import in_cache
from support.robots import generated

import diffpbd
from diffpbd.runtime import InputError, Robot, load
from diffpbd.runtime.cli import cli
from diffpbd.runtime.logs.csv import Log, read_log, write_log

H = 0.01


def source(name: str) -> Path:
    return in_cache(getattr(touching, name)(), name)


@cache
def robot(name: str) -> Robot:
    return load(generated(str(source(name)), functions=("joint_step", "jac_alpha_joint_step")))


def arm_by_pinocchio() -> tuple[Any, Any]:
    model = pin.buildModelFromUrdf(str(source("reaching_arm").with_suffix(".urdf")))
    return model, model.createData()


def turned(q: Any) -> Any:
    """Angles as pinocchio has those of hinges without limits."""
    return np.stack([np.cos(q), np.sin(q)], axis=-1).reshape(-1)


def jacobian_at(model: Any, data: Any, q: Any, link: str, local: Any) -> Any:
    """Jacobian of a point of a link (its frame's axes), along world axes (3 × n)."""
    frame = model.getFrameId(link)
    J = pin.computeFrameJacobian(model, data, turned(q), frame, pin.LOCAL_WORLD_ALIGNED)
    pin.framesForwardKinematics(model, data, turned(q))
    arm = data.oMf[frame].rotation @ local
    return J[:3] - pin.skew(arm) @ J[3:]


def test_forces_act_as_pinocchio_says() -> None:
    """A plane of the world, one on a link, and a sphere of the world against the hand's: every pair at the point between."""
    r, (model, data) = robot("reaching_arm"), arm_by_pinocchio()
    names = [c.name for c in r.manifest.robot.contacts]
    rng = np.random.default_rng(2)
    for q in rng.uniform(-0.8, 0.8, (4, 3)):
        gaps = np.ravel(r.contact_gap(q))
        pin.framesForwardKinematics(model, data, turned(q))
        fore, turn = (data.oMf[model.getFrameId(link)] for link in ("fore", "turn"))
        centre = fore.act(np.array([0.3, 0.02, -0.01]))
        wall, tray = np.array([-2.0, 0.5, 1.0]), turn.rotation @ np.array([0.1, 0.0, 1.0])
        post = centre - np.array([0.4, 0.5, 0.3])
        for name, normal, other in (
            ("hand/table", np.array([0.0, 0.0, 1.0]), None), ("hand/wall", wall, None), ("hand/tray", tray, "turn"),
            ("hand/post", post, None),
        ):  # fmt: skip
            k = names.index(name)
            point = centre - (0.03 + gaps[k] / 2) * normal / np.linalg.norm(normal)
            force = np.zeros((3, len(names)))
            force[:, k] = f = rng.normal(size=3)
            J = jacobian_at(model, data, q, "fore", fore.actInv(point))
            if other is not None:
                J = J - jacobian_at(model, data, q, other, turn.actInv(point))
            np.testing.assert_allclose(r.contact_torque(q, force), J.T @ f, rtol=0, atol=1e-12)


def wandering(h: float) -> tuple[Any, Any, Any, Any]:
    """A motion of the arm with its rates and accelerations, and forces on the hand by the table and the tray."""
    t = np.arange(200) * h + 0.3
    waves = np.array([1.1, 1.7, 2.3])
    q, dq = 0.4 * np.sin(np.outer(t, waves)), 0.4 * waves * np.cos(np.outer(t, waves))
    forces = {
        "hand/table": np.stack([2 * np.sin(3 * t), np.cos(2 * t), 20 + 5 * np.sin(4 * t)], axis=1),
        "hand/tray": np.stack([np.cos(t), 0.3 * t, 4 * np.sin(2 * t)], axis=1),
    }
    return t, q, dq, forces


def test_torques_are_those_of_inverse_dynamics_less_the_forces() -> None:
    r, (model, data) = robot("reaching_arm"), arm_by_pinocchio()
    worst = []
    for h in (2e-3, 1e-3):
        t, q, dq, forces = wandering(h)
        waves = np.array([1.1, 1.7, 2.3])
        log = Log(t, r.joints, q, dq, None, None)
        found = diffpbd.estimate_torque(r, log, cutoff=None, loss="nodes", forces=forces)
        expected = []
        for k in range(1, len(t) - 1):
            tau = pin.rnea(model, data, turned(q[k]), dq[k], -(waves**2) * q[k])
            gaps = dict(zip([c.name for c in r.manifest.robot.contacts], np.ravel(r.contact_gap(q[k])), strict=True))
            pin.framesForwardKinematics(model, data, turned(q[k]))
            fore, turn = (data.oMf[model.getFrameId(link)] for link in ("fore", "turn"))
            centre, normal = fore.act(np.array([0.3, 0.02, -0.01])), turn.rotation @ np.array([0.1, 0.0, 1.0])
            on_table = centre - (0.03 + gaps["hand/table"] / 2) * np.array([0.0, 0.0, 1.0])
            on_tray = centre - (0.03 + gaps["hand/tray"] / 2) * normal / np.linalg.norm(normal)
            tau = tau - jacobian_at(model, data, q[k], "fore", fore.actInv(on_table)).T @ forces["hand/table"][k]
            J = jacobian_at(model, data, q[k], "fore", fore.actInv(on_tray))
            J = J - jacobian_at(model, data, q[k], "turn", turn.actInv(on_tray))
            expected.append(tau - J.T @ forces["hand/tray"][k])
        worst.append(np.abs(found.u - expected).max())
    assert worst[1] < 2e-5  # of torques of up to 20 N·m
    assert 3.8 < worst[0] / worst[1] < 4.2  # of second order


def pressed(h: float = H) -> tuple[Log, Any, Any]:
    """The block pressed and pushed about on the table by its own steps, the mean forces at nodes, and the torques."""
    r, count = robot("block"), round(1.0 / h)
    t = np.arange(count + 1) * h
    U = np.stack([4 * np.sin(6 * t) + 1, 2 * np.cos(5 * t), -3 * np.sin(3 * t) ** 2], axis=1)[:-1]
    P, PD = r.rollout(np.array([0.0, 0.0, 0.0]), np.array([0.8, 0.2, 0.0]), U, h=h)
    F = np.reshape(r.contact_force(P[:-1], PD[:-1], U, h=h).contact_force, (count, 3))
    f = np.vstack([F[:1], 0.5 * (F[1:] + F[:-1]), F[-1:]])
    return Log(t, r.joints, np.asarray(P), np.asarray(PD), None, np.vstack([U, U[-1:]])), f, U


def test_torques_of_own_steps_come_back() -> None:
    log, f, U = pressed()
    found = diffpbd.estimate_torque(robot("block"), log, cutoff=None, loss="nodes", forces={"block": f})
    off = np.abs(found.u - 0.5 * (U[1:] + U[:-1]))
    assert np.median(off) < 1e-4 and np.quantile(off, 0.9) < 5e-3
    assert off.max() < 2.0  # where it changes from sliding to sticking within a step
    bare = diffpbd.estimate_torque(robot("block"), log, cutoff=None, loss="nodes", forces={"block": 0.0 * f})
    assert np.median(np.abs(bare.u - found.u)[:, 2]) > 9.0  # the weight


def test_the_command_takes_columns(tmp_path: Path) -> None:
    log, f, U = pressed()
    path, out = tmp_path / "run.csv", tmp_path / "torques.csv"
    write_log(path, log)
    lines = path.read_text().splitlines()
    lines[0] += ",force_block_x,force_block_y,fz"
    lines[1:] = [f"{line},{','.join(map(repr, row))}" for line, row in zip(lines[1:], f.tolist(), strict=True)]
    path.write_text("\n".join(lines) + "\n")
    (tmp_path / "map.json").write_text('{"fz": "force_block_z"}')
    words = ["estimate-torque", str(robot("block").folder), str(path), "--out", str(out), "--cutoff", "0"]
    told = CliRunner().invoke(cli, [*words, "--loss", "nodes", "--map", str(tmp_path / "map.json")])
    assert told.exit_code == 0, told.output
    tau = read_log(out).tau
    assert tau is not None and np.median(np.abs(tau - 0.5 * (U[1:] + U[:-1]))) < 1e-4
    told = CliRunner().invoke(cli, [*words, "--loss", "nodes"])
    assert told.exit_code == 1 and "force_block_z are missing beside those of the same contact" in told.output
    told = CliRunner().invoke(cli, [*words, "--map", str(tmp_path / "map.json")])
    assert told.exit_code == 1 and "--loss nodes takes these from columns of forces" in told.output


def test_what_stays_away_needs_no_force() -> None:
    r = robot("block")
    U = np.zeros((60, 3))
    U[:, 2] = 9.81 + 1.0
    P, PD = r.rollout(np.array([0.0, 0.0, 2e-3]), np.zeros(3), U, h=H)
    log = Log(np.arange(61) * H, r.joints, np.asarray(P), np.asarray(PD), None, None)
    found = diffpbd.estimate_torque(r, log, cutoff=None, loss="nodes")
    np.testing.assert_allclose(found.u, U[1:], rtol=0, atol=1e-3)  # the smoothing pushes a little from afar
    low = Log(log.time, log.joints, log.q - np.array([0.0, 0.0, 1.5e-3]), log.dq, None, None)
    with pytest.raises(InputError, match="forces are missing"):
        diffpbd.estimate_torque(r, low, cutoff=None, loss="nodes")
