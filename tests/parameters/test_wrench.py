"""External wrenches: a force and a torque on a link, against pinocchio, Jᵀ w and differences, in every function."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio
import pytest
from support.branching import branching
from support.described import Described
from support.made.wrenched import FRAMES, TIPS, pushed_pendulum, wrenches
from support.maximal import Array, evaluate
from support.maximal_steps import check_acceleration, known_blocks
from support.peer import Peer
from support.programs import Programs
from support.robots import loaded_alpha

from diffpbd.codegen.description.front.resolve import find_recipe
from diffpbd.codegen.generate import generate
from diffpbd.codegen.method import kinematics, step
from diffpbd.runtime import Robot
from diffpbd.runtime.base.errors import InputError

H = 0.01


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("wrench") / "pushed.urdf"
    path.write_bytes(branching())
    return path


@pytest.fixture(scope="module")
def pushed(source: Path) -> Described:
    return Described.of(source, tip=TIPS, wrench=FRAMES)


@pytest.fixture(scope="module")
def plain(source: Path) -> Described:
    return Described.of(source, tip=TIPS)


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


@pytest.mark.parametrize("name", ["gravity", "coriolis", "mass_matrix", "spring_torque", "regressor"])
def test_what_a_wrench_does_not_change(pushed: Described, name: str) -> None:
    arguments = np.random.default_rng(2).uniform(-1.0, 1.0, (3, 4))[: pushed.functions[name].n_in() - 1]
    np.testing.assert_array_equal(pushed(name, *arguments, alpha=wrenches(FRAMES)), pushed(name, *arguments))


def test_entries(pushed: Described, plain: Described) -> None:
    """Six entries a frame and nothing else; none by default."""
    more = [name for name in pushed.alpha.names if name not in plain.alpha]
    assert more == [f"wrench.{f}.{k}.{a}" for f in FRAMES for k in ("force", "torque") for a in "xyz"]
    assert tuple(name for name in pushed.alpha.names if name in plain.alpha) == plain.alpha.names
    units = {entry.name: entry.unit for entry in pushed.model.entries}
    assert units["wrench.tool.force.x"] == "N" and units["wrench.tool.torque.z"] == "N·m"
    assert plain.model.tree.wrenches == () and "wrench" not in plain.model.blocks


def extended(pushed: Described, plain: Described) -> tuple[Array, Array]:
    """alpha with every force, without and with wrench entries (all zero)."""
    alpha = loaded_alpha(plain.alpha)
    return alpha, pushed.alpha.vector(plain.alpha.by_name(alpha))


@pytest.mark.thorough
def test_a_wrench_of_zero_changes_no_bit(pushed: Described, plain: Described) -> None:
    """Every plain function, joint_step and the maximal steps, against the robot without wrenches."""
    without, zero = extended(pushed, plain)
    rng = np.random.default_rng(4)
    assert list(pushed.functions) == list(plain.functions)
    for name, f in plain.functions.items():
        given = [rng.uniform(-1.0, 1.0, f.size_in(k)) for k in range(f.n_in()) if f.name_in(k) != "alpha"]
        at = f.name_in().index("alpha")
        one, two = (g.call([*given[:at], a, *given[at:]]) for g, a in ((f, without), (pushed.functions[name], zero)))
        for x, y in zip(one, two, strict=True):
            np.testing.assert_array_equal(np.array(x), np.array(y), err_msg=name)
    p, pd, u = rng.uniform(-1.0, 1.0, (3, 4))
    steps = (Programs(d.model).joint_step(p, pd, u, H, alpha) for d, alpha in ((plain, without), (pushed, zero)))
    np.testing.assert_array_equal(*steps)
    for make in (step.variational_direct, step.paper_direct):
        ends = []
        for d, alpha in ((plain, without), (pushed, zero)):
            known = known_blocks(d, alpha)
            xi = evaluate(kinematics.fk(d.model.tree), p=p, pd=pd, joint=known["joint"])["xi"]
            program = make(d.model.tree, 2, 3)
            given = {"xi": xi, "u": u, "h": H, "gravity": alpha[:3], **known}
            ends.append(evaluate(program, **{name: given[name] for name in program.inputs})["xi_next"])
        np.testing.assert_array_equal(*ends)


@pytest.mark.parametrize(("solver", "sweeps"), [("paper_direct", 1), ("variational_gauss_seidel", 60)])
def test_every_integrator_falls_as_pushed(solver: str, sweeps: int, pushed: Described) -> None:
    check_acceleration(pushed, pushed.alpha.vector(wrenches(FRAMES)), solver, sweeps)


# Compiled ---------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def arm(source: Path) -> Robot:
    return pushed_pendulum(source.parent)


def test_info_names_them(arm: Robot) -> None:
    from diffpbd.runtime.commands.info import describe

    text = describe(arm.manifest)
    assert "external wrench at the origin of tip, in world axes: wrench.tip.force [N], wrench.tip.torque [N·m]" in text
    assert "origin of upper, in world axes" in text


# Refusals ---------------------------------------------------------------------------------------------------------------


def test_generate_refuses_before_it_writes(source: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="claw"):
        generate(str(source), out=tmp_path / "out" / "arm", wrench=["claw"])
    assert list(tmp_path.iterdir()) == []


def test_the_recipe_and_the_option(source: Path) -> None:
    toml = source.with_suffix(".toml")
    toml.write_text('urdf = "pushed.urdf"\nwrench = ["d"]\n')
    assert find_recipe(str(toml)).wrench == ("d",)
    assert dataclasses.replace(find_recipe(str(toml)), wrench=()).wrench == ()
