"""Frames chosen at run time: pose, Jacobian, velocity and acceleration in the three references, against Pinocchio."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from support.free_flyer import FreeFlyer, position
from support.judges.framed import Framed
from support.made.mimicked import gripper
from support.mechanisms import four_bar
from support.robots import generated
from support.shared.framed_peers import Peer, described, squared

from diffpbd.runtime import load
from diffpbd.runtime.base.errors import InputError, SolverError

BAR = 1e-12
REFERENCES = (pin.WORLD, pin.LOCAL, pin.LOCAL_WORLD_ALIGNED)


def compare(ours: Framed, peer: Any, state: tuple[Any, Any, Any], alpha: Any = None) -> None:
    peer.see(*state)
    p, pd, pdd = state
    for name in ours.frames:
        for number, reference in enumerate(REFERENCES):
            x, R, J, v, a, c = peer.frame(name, reference)
            at = (name, float(number))
            found = [*ours.frame_pose(p, name, alpha=alpha), ours.frame_jacobian(p, *at, alpha=alpha)]
            found += [
                ours.frame_velocity(p, pd, *at, alpha=alpha),
                *ours.frame_acceleration(p, pd, pdd, *at, alpha=alpha),
            ]
            for mine, theirs in zip(found, (x, R, J, v, a, c), strict=True):
                assert np.abs(mine - theirs).max() <= BAR * max(1.0, np.abs(theirs).max()), (name, reference)


def moving(rng: np.random.Generator, n: int) -> tuple[Any, Any, Any]:
    p, pd, pdd = rng.uniform(-2.0, 2.0, (3, n))
    return p, pd, pdd


@pytest.mark.parametrize("name", ["panda_description/urdf/panda.urdf", "baxter_description/urdf/baxter.urdf"])
def test_fixed_robots(name: str, count: Any) -> None:
    file = described(name)
    ours = Framed(file, frames=["all"])
    peer, rng = Peer(file, ours), np.random.default_rng(0)
    assert len(ours.frames) > 10
    for _ in range(count(3, 200)):
        compare(ours, peer, moving(rng, len(ours.coordinates)))


def test_joints_that_mimic_others(tmp_path: Path, count: Any) -> None:
    file = tmp_path / "gripper.urdf"
    file.write_bytes(gripper())
    ours = Framed(file, frames=["all"])
    peer, rng = Peer(str(file), ours), np.random.default_rng(1)
    for _ in range(count(10, 300)):
        compare(ours, peer, moving(rng, 2))


def test_joints_of_closed_loops(tmp_path: Path) -> None:
    recipe = four_bar().write(tmp_path, "four_bar")
    ours = Framed(recipe, frames=["all"])
    peer, rng = Peer(str(recipe.with_suffix(".urdf")), ours), np.random.default_rng(2)
    for _ in range(5):
        compare(ours, peer, moving(rng, 3))


def test_origins_that_are_parameters(tmp_path: Path) -> None:
    file = tmp_path / "gripper.urdf"
    file.write_bytes(gripper())
    ours = Framed(file, frames=["all"], symbolic=["origin"])
    peer, rng = Peer(str(file), ours), np.random.default_rng(3)
    values = ours.alpha.by_name(ours.alpha.defaults)
    for joint in ours.robot.joints:
        place = rng.uniform(-0.3, 0.3, 6)
        words = ("x", "y", "z", "roll", "pitch", "yaw")
        values |= {f"origin.{joint.name}.{word}": x for word, x in zip(words, place, strict=True)}
        moved = pin.SE3(pin.rpy.rpyToMatrix(*place[3:]), place[:3])
        peer.model.jointPlacements[peer.model.getJointId(joint.name)] = moved
    peer.data = peer.model.createData()
    compare(ours, peer, moving(rng, 2), ours.alpha.vector(values))


class Flying(FreeFlyer):
    """A free flyer whose rates are ours, in world axes."""

    def __init__(self, urdf: Path, joints: tuple[str, ...]) -> None:
        super().__init__(urdf, joints)
        for place in self.model.jointPlacements:
            place.rotation = squared(place.rotation)

    def see(self, p: Any, pd: Any, pdd: Any) -> None:
        v, a = self.local(p, pd), self.local(p, pdd)
        a[:3] -= np.cross(v[3:6], v[:3])
        pin.forwardKinematics(self.model, self.data, self.q(p), v, a)
        pin.computeJointJacobians(self.model, self.data, self.q(p))
        pin.updateFramePlacements(self.model, self.data)
        self.T = np.array([self.local(p, e) for e in np.eye(len(pd))]).T

    def frame(self, name: str, reference: Any) -> tuple[Any, ...]:
        k = self.model.getFrameId(name, pin.BODY)
        M = self.data.oMf[k]
        J = pin.getFrameJacobian(self.model, self.data, k, reference) @ self.T
        moving = (pin.getFrameVelocity, pin.getFrameAcceleration, pin.getFrameClassicalAcceleration)
        return (M.translation, M.rotation, J, *(f(self.model, self.data, k, reference).vector for f in moving))


def test_a_quadruped_with_a_floating_base(count: Any) -> None:
    file = described("a1_description/urdf/a1.urdf")
    ours = Framed(file, frames=["all"], base_joint="floating")
    peer = Flying(Path(file), tuple(joint.name for joint in ours.coordinates[6:]))
    rng = np.random.default_rng(4)
    for _ in range(count(3, 100)):
        pd, pdd = rng.uniform(-2.0, 2.0, (2, 18))
        compare(ours, peer, (position(rng, 12), pd, pdd))


def test_what_is_no_frame_is_refused() -> None:
    robot = load(generated("double_pendulum"))
    p = [0.3, -0.2]
    assert robot.manifest.robot.frames == robot.manifest.robot.tips
    here = robot.tip_pose(p)
    for frame in (None, robot.manifest.robot.tips[0], 0):
        assert np.allclose(robot.frame_pose(p, frame).position, here.position, atol=1e-15)
    assert np.allclose(robot.frame_jacobian(p), robot.tip_jacobian(p), atol=1e-15)
    local = robot.frame_jacobian([p] * 2, reference=["local", "WORLD"])
    assert np.array_equal(local, robot.frame_jacobian([p] * 2, reference=np.array(["local", "world"])))
    assert np.allclose(local[0][:3], here.rotation.T @ robot.tip_jacobian(p)[:3], atol=1e-15)
    with pytest.raises(InputError, match=r"without a frame 'tipp'\. Did you mean tip\?"):
        robot.frame_pose(p, "tipp")
    with pytest.raises(InputError, match="one of world, local, local_world_aligned, found 'body'"):
        robot.frame_jacobian(p, reference="body")
    for bad in (1, -1, 0.5):
        with pytest.raises(SolverError, match="none of the header's"):
            robot.frame_pose(p, bad)
    with pytest.raises(SolverError, match="none of the header's"):
        robot.frame_jacobian(p, reference=3)


def test_frames_of_the_description_by_name() -> None:
    with pytest.raises(InputError, match='"panda_joint4" is a joint of panda; the link that it moves is "panda_link4"'):
        Framed(described("panda_description/urdf/panda.urdf"), frames=["panda_joint4"])
    with pytest.raises(InputError, match='is called "panda_hnd". Did you mean panda_hand'):
        Framed(described("panda_description/urdf/panda.urdf"), frames=["panda_hnd"])
