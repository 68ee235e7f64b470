"""A spring and a friction law of a user, from two files: every function, step and derivative; closed forms; identification.

Judged by the robot without them, driven by their closed forms, under SciPy's integration.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from support import mechanisms
from support.free_flyer import position
from support.judges.properties import Scene, properties_of
from support.numeric import Array
from support.robots import generated

import diffpbd
from diffpbd.codegen.description.front.resolve import find_recipe
from diffpbd.codegen.generate import generate
from diffpbd.runtime import Robot, load
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.commands.info import describe
from diffpbd.runtime.identify import identify
from diffpbd.runtime.logs.csv import Log
from diffpbd.runtime.logs.processing import Processing, process

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
BUMPER, SWIRL = EXAMPLES / "bumper.py", EXAMPLES / "swirl.py"
K, CUBIC, REST, DRAG = 6.0, 20.0, 0.2, (0.3, 0.15)
VALUES = {
    "bumper.stiffness.elbow": K, "bumper.cubic.elbow": CUBIC, "bumper.rest.elbow": REST,
    "friction.swirl.shoulder": DRAG[0], "friction.swirl.elbow": DRAG[1],
}  # fmt: skip
H = 0.01


@pytest.fixture(scope="module")
def arm() -> Robot:
    return load(generated("double_pendulum", element=[f"{BUMPER}=elbow", str(SWIRL)]))


@pytest.fixture(scope="module")
def plain() -> Robot:
    return load(generated("double_pendulum"))


@pytest.fixture(scope="module")
def alpha(arm: Robot) -> Array:
    return arm.alpha.vector(VALUES)


def pull(p: Array) -> Array:
    """Torque of the spring (…, 2) by its closed form."""
    off = p[..., 1] - REST
    return np.stack([np.zeros_like(off), -(K * off + CUBIC * off**3)], axis=-1)


def drag(pd: Array) -> Array:
    return -np.array(DRAG) * pd * np.sqrt(pd**2 + 0.01**2)


def test_the_laws_are_in_every_function(arm: Robot, plain: Robot, alpha: Array) -> None:
    rng = np.random.default_rng(3)
    p, pd, pdd = rng.uniform(-1.5, 1.5, (3, 30, 2))
    np.testing.assert_allclose(arm.spring_torque(p, alpha), pull(p), atol=1e-12)
    np.testing.assert_allclose(arm.friction_torque(pd, alpha), drag(pd), atol=1e-12)
    more = arm.inverse_dynamics(p, pd, pdd, alpha) - plain.inverse_dynamics(p, pd, pdd)
    np.testing.assert_allclose(more, -pull(p) - drag(pd), atol=1e-11)
    off = p[:, 1] - REST
    stored = np.asarray(arm.energy(p, pd, alpha).potential) - np.asarray(plain.energy(p, pd).potential)
    np.testing.assert_allclose(stored, K * off**2 / 2 + CUBIC * off**4 / 4, atol=1e-11)
    nothing = arm.alpha.vector({})
    np.testing.assert_allclose(
        arm.inverse_dynamics(p, pd, pdd, nothing), plain.inverse_dynamics(p, pd, pdd), atol=1e-12
    )


def test_every_derivative_of_the_step(arm: Robot, alpha: Array) -> None:
    scene = Scene(arm, np.array([0.5, -0.4]), np.array([1.0, -2.0]), np.array([0.3, -0.2]), alpha, H)
    properties_of(scene, {"bumper": 1e-4, "friction.swirl": 1e-4})


def acting(robot: Robot) -> Array:
    """alpha with every spring and every drag, no two alike."""
    sizes = {"bumper.stiffness": K, "bumper.cubic": CUBIC, "bumper.rest": REST, "friction.swirl": DRAG[0]}
    names = enumerate(robot.alpha.names)
    own = ((k, name, sizes.get(name.rpartition(".")[0])) for k, name in names)
    return robot.alpha.vector({name: size * (1.0 + 0.03 * k) for k, name, size in own if size is not None})


LINK = """<link name="{}"><inertial><origin xyz="0.1 0 0.02"/><mass value="1"/>
<inertia ixx="0.01" iyy="0.02" izz="0.015" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/><origin xyz="0.2 0 0"/><axis xyz="{}"/>
<limit lower="-2" upper="2" effort="20" velocity="5"/></joint>"""


def flying(folder: Path) -> str:
    """A floating link with a hinge and a slide."""
    file = folder / "flying.urdf"
    joints = JOINT.format("hinge", "revolute", "b", "c", "0 1 0") + JOINT.format(
        "slide", "prismatic", "c", "d", "0 0 1"
    )
    file.write_text(f'<robot name="flying">{"".join(map(LINK.format, "bcd"))}{joints}</robot>', encoding="utf-8")
    return str(file)


@pytest.mark.parametrize("kind", ["slides", "limits", "loop", "floating"])
def test_with_what_else_a_robot_has(tmp_path: Path, kind: str) -> None:
    """On slides a number's N·m is N; a floating base takes springs."""
    words = [str(BUMPER), str(SWIRL)]
    functions = ("joint_step", "jac_alpha_joint_step", "mpc")
    if kind == "floating":
        robot = load(generated(flying(tmp_path), element=words[:1], base_joint="floating", functions=functions))
        rng = np.random.default_rng(0)
        state = position(rng, 2), *rng.uniform(-1.0, 1.0, (2, 8))
    elif kind == "loop":
        recipe = mechanisms.in_cache(mechanisms.four_bar(), "four_bar_own", sources="mechanisms")
        robot = load(generated(str(recipe), element=words, functions=functions))
        p = robot.close_loops(np.array([0.9, -0.483, 1.1991]), np.array([1.0, 0.0, 0.0]))
        state = p, robot.close_rates(p, np.array([1.0, 0.0, 0.0])), np.array([0.5, 0.0, 0.0])
    else:
        name = "prismatic_skew" if kind == "slides" else "double_pendulum"
        robot = load(generated(name, element=words, functions=functions, limits=kind == "limits"))
        state = np.full(robot.n, 0.2), np.linspace(-1.0, 1.0, robot.n), np.full(robot.n, 0.1)
    units = {entry.name: entry.unit for entry in robot.manifest.alpha}
    base = robot.manifest.robot.base_freedoms
    slides = [j.name for j in robot.manifest.robot.joints if j.type == "prismatic" and j.name not in base]
    assert all(units[f"bumper.stiffness.{joint}"] == "N/m" for joint in slides)
    assert bool(slides) == (kind in ("slides", "floating"))
    properties_of(Scene(robot, *state, acting(robot), H), {"bumper": 1e-4, "friction.swirl": 1e-4}, graph=None)


def test_a_swing_is_that_of_the_closed_forms(arm: Robot, plain: Robot, alpha: Array) -> None:
    """Friction is a kick of first order: half the error at half the step."""
    p, pd, end = np.array([0.9, -0.5]), np.zeros(2), 1.0

    def rate(_: float, x: Array) -> Array:
        return np.r_[x[2:], plain.forward_dynamics(x[:2], x[2:], pull(x[:2]) + drag(x[2:]))]

    true = solve_ivp(rate, (0.0, end), np.r_[p, pd], rtol=1e-10, atol=1e-12).y[:2, -1]
    off = []
    for h in (0.002, 0.001):
        P, _ = arm.rollout(p, pd, np.zeros((round(end / h), 2)), h, alpha)
        off.append(np.abs(P[-1] - true).max())
    assert off[1] < 2e-3 and 1.7 < off[0] / off[1] < 4.3


def test_the_step_on_states_of_links_is_the_same(arm: Robot, alpha: Array) -> None:
    p, pd, u = np.array([0.5, -0.4]), np.array([1.0, -2.0]), np.array([0.3, -0.2])
    q, dq = arm.joint_step(p, pd, u, 1e-3, alpha)
    xi = arm.fk(p, pd, alpha)
    found = arm.joint_state(arm.step_variational_direct(xi, u, 1e-3, alpha), alpha, p)
    np.testing.assert_allclose(np.ravel(found[0]), q, atol=1e-9)
    np.testing.assert_allclose(np.ravel(found[1]), dq, atol=1e-6)


def test_predictive_control_knows_them(arm: Robot) -> None:
    """At a goal where the spring pulls with 4 N·m."""
    run = diffpbd.Mpc(arm, alpha=VALUES, horizon=15).run_to(
        {"shoulder": 0.3, "elbow": 0.7}, plant=VALUES, duration=2.5, within=None
    )
    assert np.abs(run.q[-1] - run.reference[-1]).max() < 1e-3 and abs(pull(run.q[-1])[1]) > 4.0


def test_identification_finds_them(arm: Robot, alpha: Array) -> None:
    """From torques by the closed forms: the numbers that the torque is linear in, and the rest position, which it is not."""
    t = np.arange(0.0, 12.0, 0.01)
    q = np.stack([0.8 * np.sin(2.1 * t), 0.2 + 0.9 * np.sin(3.3 * t + 0.4)], axis=-1)
    dq = np.stack([0.8 * 2.1 * np.cos(2.1 * t), 0.9 * 3.3 * np.cos(3.3 * t + 0.4)], axis=-1)
    ddq = -np.stack([0.8 * 2.1**2 * np.sin(2.1 * t), 0.9 * 3.3**2 * np.sin(3.3 * t + 0.4)], axis=-1)
    torque = load(generated("double_pendulum")).inverse_dynamics(q, dq, ddq) - pull(q) - drag(dq)
    noise = 0.01 * np.random.default_rng(5).normal(size=q.shape)
    log = Log(t, arm.joints, q, dq, None, torque + noise)
    found = identify(arm, process("swing", log, Processing()), ["bumper", "friction.swirl"])
    assert set(found.parameters) == set(VALUES)
    for name, value in found.parameters.items():
        assert value == pytest.approx(VALUES[name], rel=0.02), name


def test_info_and_the_command_name_them(arm: Robot) -> None:
    told = describe(arm.manifest)
    assert (
        "bumper on elbow (a spring that grows stiffer with the way): stiffness [N·m/rad], cubic [N·m/rad^3], rest [rad]"
        in told
    )
    assert f"--element {BUMPER}=elbow --element {SWIRL}" in arm.manifest.again()


def test_the_text_decides(tmp_path: Path) -> None:
    """The same text is the same folder, wherever it lies; another one is another."""
    file = tmp_path / "bumper.py"
    shutil.copy(BUMPER, file)
    words = {"out": tmp_path / "arm", "functions": ["spring_torque"]}
    assert not generate("double_pendulum", element=[str(file)], **words).unchanged
    shutil.copy(BUMPER, tmp_path / "again.py")
    assert generate("double_pendulum", element=[str(tmp_path / "again.py")], **words).unchanged
    file.write_text(file.read_text(encoding="utf-8").replace("turned**4 / 4", "turned**4 / 8"), encoding="utf-8")
    assert not generate("double_pendulum", element=[str(file)], **words).unchanged
    robot = load(tmp_path / "arm")
    values = {"bumper.cubic.elbow": 2.0}
    assert robot.spring_torque([0.0, 1.0], robot.alpha.vector(values))[1] == pytest.approx(-1.0)


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ([f"{SWIRL}=elbow"], "friction is on every joint"),
        ([f"{BUMPER}=wrist"], 'has no moving joint "wrist"'),
        ([f"{BUMPER}=elbow", f"{BUMPER}=elbow"], "is named 2 times"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, words: list[str], what: str) -> None:
    with pytest.raises(InputError, match=what):
        generate("double_pendulum", element=words, out=tmp_path / "arm")
    assert not (tmp_path / "arm").exists()


def test_a_recipe_names_the_file_beside_it(tmp_path: Path) -> None:
    shutil.copy(BUMPER, tmp_path / "bumper.py")
    recipe = tmp_path / "arm.toml"
    urdf = find_recipe("double_pendulum").urdf
    recipe.write_text(f'urdf = "{urdf}"\ntip = "tip"\nelement = ["bumper.py=elbow"]\n', encoding="utf-8")
    made = generate(str(recipe), out=tmp_path / "arm", functions=["spring_torque"])
    assert [entry.joints for entry in made.manifest.elements] == [("elbow",)]
