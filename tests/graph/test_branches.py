"""Branching trees: a hand with three fingers and a thumb, and two arms that must not know of each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.described import Described
from support.description.builders import TENSOR, joint, link, robot
from support.judges.families import Families
from support.judges.peer import Peer
from support.maximal import Array
from support.numeric import Worst
from support.programs import Programs
from support.robots import alpha_of, call, graphs, loaded_alpha, model

from diffpbd.codegen.joint_space import step as joint_space

H = 0.01
FINGERS = ("one", "two", "three")
TIPS = [*(f"{f}_3" for f in FINGERS), "thumb"]
PEERS = (
    "inverse_dynamics",
    "forward_dynamics",
    "mass_matrix",
    "gravity",
    "coriolis",
    "energy",
    "tip_pose",
    "tip_jacobian",
)


def hand() -> bytes:
    """A wrist that turns a palm; three fingers of three hinges on it, and a thumb that slides."""
    body = f'<inertial><origin xyz="0.02 0.01 0.05"/><mass value="0.4"/>{TENSOR}</inertial>'
    parts = [link("base"), link("palm", body), joint("wrist", "base", "palm")]
    for k, finger in enumerate(FINGERS):
        for joint_number in range(1, 4):
            name = f"{finger}_{joint_number}"
            parent = "palm" if joint_number == 1 else f"{finger}_{joint_number - 1}"
            at = f"{0.1 * k - 0.1} 0.02 0.1" if joint_number == 1 else "0 0.01 0.08"
            parts += [link(name, body), joint(f"j_{name}", parent, name, at=at)]
    parts += [link("thumb", body), joint("j_thumb", "palm", "thumb", "prismatic", at="0.05 -0.04 0.02")]
    text = robot(*parts).decode()
    for at, rpy in (
        ("-0.1 0.02 0.1", "0.2 0.3 -0.4"),
        ("0.1 0.02 0.1", "-0.2 0.1 0.9"),
        ("0.05 -0.04 0.02", "0.7 0.8 0.2"),
    ):
        text = text.replace(f'xyz="{at}"/>', f'xyz="{at}" rpy="{rpy}"/>')
    return text.encode()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hand") / "hand.urdf"
    path.write_bytes(hand())
    return path


@pytest.fixture(scope="module")
def fingers(file: Path) -> Families:
    return Families(Described.of(file, tip=TIPS), steps=("variational_direct",))


def test_the_hand_is_pinocchios(file: Path, fingers: Families) -> None:
    d = fingers.d
    assert [t.name for t in d.robot.tips] == TIPS and d.robot.n == 11
    assert d.model.tree.parents == (-1, 0, 1, 2, 0, 4, 5, 0, 7, 8, 0)
    peer, worst = Peer(file, d.robot), Worst("the hand against pinocchio", 1e-11)
    for row, values in enumerate(np.random.default_rng(1).uniform(-1.5, 1.5, (5, 3, d.robot.n))):
        known = dict(zip(("p", "pd", "pdd"), values, strict=True)) | {"u": values[2], "alpha": d.alpha.defaults}
        for name in PEERS:
            f = d.functions[name]
            names = [k for k in f.name_in() if k != "alpha"]
            expected = getattr(peer, name)(*(known[k] for k in names))
            expected = expected if isinstance(expected, tuple) else (expected,)
            for found, value in zip(f.call([known[k] for k in f.name_in()]), expected, strict=True):
                scale = max(1.0, float(np.abs(value).max()))
                worst.see(np.array(found).ravel(), np.ravel(np.asarray(value), order="C"), f"row {row} {name}", scale)
    worst.close()


def test_regressor_of_the_hand(fingers: Families) -> None:
    d = fingers.d
    theta = fingers.programs.blocks(d.alpha.defaults)["body"].T.ravel()
    p, pd, pdd = np.random.default_rng(2).uniform(-1.0, 1.0, (3, d.robot.n))
    np.testing.assert_allclose(
        d("regressor", p, pd, pdd) @ theta, d("inverse_dynamics", p, pd, pdd), rtol=0, atol=1e-11
    )


# Two arms ---------------------------------------------------------------------------------------------------------------


@pytest.mark.soak
def test_one_arm_does_not_know_of_the_other() -> None:
    """Baxter's two arms: whatever the right one does or weighs at its joints, not one bit of the left one's results changes.

    joint_step iterates until all joints are done, so the right arm may ask for one iteration more; each iteration is the same
    to the bit.
    """
    m, layout = model("baxter_dual"), alpha_of("baxter_dual")
    names = [j.name for j in m.robot.joints]
    left = [k for k, name in enumerate(names) if name.startswith("left")]
    right = [k for k in range(len(names)) if k not in left]
    assert len(left) == len(right) == 7
    programs, rng = Programs(m), np.random.default_rng(6)
    alpha = loaded_alpha(layout)
    other = alpha.copy()
    for kind in ("friction.viscous", "rotor_inertia", "spring.stiffness", "torque_offset"):
        other[np.array(layout.indices(kind))[right]] *= 1.7
    state = rng.uniform(-1.0, 1.0, (4, 14))
    changed = state.copy()
    changed[:, right] = rng.uniform(-1.0, 1.0, (4, 7))

    def results(p: Array, pd: Array, x: Array, p_next: Array, alpha: Array) -> dict[str, Any]:
        torque = call(graphs("baxter_dual")["inverse_dynamics"], p, pd, x, alpha)
        acceleration = call(graphs("baxter_dual")["forward_dynamics"], p, pd, x, alpha)
        begun = programs.run(joint_space.start(m.tree), alpha, p=p, pd=pd, u=0.1 * x, h=H)
        fixed = {k: begun[k] for k in ("record", "terms")}
        newton = programs.run(joint_space.newton(m.tree), alpha, iterate=begun["guess"], p=p, **fixed)
        ended = programs.run(joint_space.end(m.tree), alpha, p_next=p_next, p=p, u=x, h=H, record=begun["record"])
        rate = programs.run(joint_space.velocity(m.tree), alpha, M=ended["M"], momentum=ended["momentum"], h=H)
        exact = {"inverse_dynamics": torque, "forward_dynamics": acceleration, "pd_next": rate["pd_next"].ravel()}
        exact |= {k: newton[k].ravel() for k in ("next", "correction")} | {"guess": begun["guess"].ravel()}
        return exact | {"joint_step": programs.joint_step(p, pd, 0.01 * x, H, alpha)[0]}

    one, two = results(*state, alpha), results(*changed, other)
    for name, value in one.items():
        if name == "joint_step":
            np.testing.assert_allclose(value[left], two[name][left], rtol=0, atol=1e-14, err_msg=name)
        else:
            np.testing.assert_array_equal(value[left], two[name][left], err_msg=name)
        assert np.abs(value[right] - two[name][right]).min() > 0.0, name


@pytest.mark.thorough
def test_the_maximal_step_of_one_arm_does_not_know_of_the_other() -> None:
    """As many iterations for both arms, so the whole step is the same to the bit."""
    d = object.__new__(Described)
    d.model, d.robot, d.alpha = model("baxter_dual"), model("baxter_dual").robot, alpha_of("baxter_dual")
    arms = Families(d, plain=())
    left = np.array([j.name.startswith("left") for j in d.robot.joints])
    rng, alpha = np.random.default_rng(7), d.alpha.vector({"gravity.x": 1.0})
    state = rng.uniform(-0.5, 0.5, (3, 14))
    changed = np.where(left, state, rng.uniform(-0.5, 0.5, (3, 14)))
    for name in ("variational_direct", "paper_direct"):
        one, two = (arms.maximal_step(name, *x, alpha).reshape(2, 14) for x in (state, changed))
        np.testing.assert_array_equal(one[:, left], two[:, left])
        assert np.abs(one - two)[:, ~left].min() > 0.0
