"""External wrenches: a force and a torque on a link, against pinocchio, Jᵀ w and differences, in every function."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pinocchio
import pytest
from support.described import Described
from support.judges.peer import Peer
from support.made.wrenched import FRAMES, TIPS, wrenches
from support.maximal import Array
from support.small.branching import branching


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("wrench") / "pushed.urdf"
    path.write_bytes(branching())
    return path


@pytest.fixture(scope="module")
def pushed(source: Path) -> Described:
    return Described.of(source, tip=TIPS, wrench=FRAMES)


def pulled(file: Path, described: Any, frames: list[str], values: dict[str, float], p: Array) -> Array:
    """Jᵀ w of all wrenches, with pinocchio's Jacobians of the frames, world axes."""
    peer = Peer(file, described)
    torque = np.zeros(len(p))
    for name in frames:
        peer.frame = peer.model.getFrameId(name)
        w = [values[f"wrench.{name}.{k}.{a}"] for k in ("force", "torque") for a in "xyz"]
        torque += peer.tip_jacobian(p).T @ w
    return torque


def rnea(file: Path, described: Any, values: dict[str, float], p: Array, pd: Array, pdd: Array) -> Array:
    """Inverse dynamics of pinocchio with external forces at its joints."""
    peer = Peer(file, described)
    q = peer._q(p)
    pinocchio.framesForwardKinematics(peer.model, peer.data, q)
    forces = pinocchio.StdVec_Force()
    for _ in range(peer.model.njoints):
        forces.append(pinocchio.Force.Zero())
    for name in FRAMES:
        frame = peer.model.frames[peer.model.getFrameId(name)]
        f, t = ([values[f"wrench.{name}.{k}.{a}"] for a in "xyz"] for k in ("force", "torque"))
        at = pinocchio.SE3(np.eye(3), peer.data.oMf[peer.model.getFrameId(name)].translation)
        to_joint = peer.data.oMi[frame.parentJoint].inverse() * at
        forces[frame.parentJoint] += to_joint.act(pinocchio.Force(np.array(f), np.array(t)))
    every = pinocchio.rnea(peer.model, peer.data, q, peer._v(pd), peer._v(pdd), forces)
    return np.array(every[peer.columns])


def test_inverse_and_forward_dynamics_are_pinocchios(source: Path, pushed: Described) -> None:
    rng, values = np.random.default_rng(1), wrenches(FRAMES)
    for _ in range(10):
        p, pd, pdd = rng.uniform(-2.0, 2.0, (3, 4))
        torque = pushed("inverse_dynamics", p, pd, pdd, alpha=values)
        np.testing.assert_allclose(torque, rnea(source, pushed.robot, values, p, pd, pdd), rtol=0, atol=1e-11)
        bare = pushed("inverse_dynamics", p, pd, pdd)
        np.testing.assert_allclose(bare - torque, pulled(source, pushed.robot, FRAMES, values, p), rtol=0, atol=1e-12)
        np.testing.assert_allclose(pushed("forward_dynamics", p, pd, torque, alpha=values), pdd, rtol=0, atol=1e-10)
