"""`--fit contact`: friction and height of the table from motion in contact, of our own step and of MuJoCo."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from support.mechanisms import robot_of
from support.touching import MASS, RADIUS, ball, block

import diffpbd
from diffpbd.runtime import InputError, Robot
from diffpbd.runtime.commands.identify import command
from diffpbd.runtime.folder.manifest import Contact
from diffpbd.runtime.identify import Identification, identify
from diffpbd.runtime.identify.contact.touched import Touched
from diffpbd.runtime.identify.motion.trajectory import motions, parameters_of
from diffpbd.runtime.identify.motion.windows import Windows
from diffpbd.runtime.identify.settings.selection import select
from diffpbd.runtime.logs.csv import Log
from diffpbd.runtime.logs.processing import Processing, Samples, process

STEP = 0.01
FRICTION, HEIGHT = "contact.friction.block", "plane.height.table"
TRUTH = {FRICTION: 0.3, HEIGHT: 0.02}
NOISE = 2e-4


@cache
def robot(name: str) -> Robot:
    mechanism, line = {"block": (block(), ""), "ball": ball(), "rolled_ball": ball(friction=0.3)}[name]
    if name == "rolled_ball":
        mechanism.contacts[0]["rolling"] = 0.002
    return robot_of((mechanism, line), name)


def pushed(
    h: float, noise: float, start: Any = (0.0, 0.0, 0.1), rate: Any = (0.8, 0.2, 0.0), seconds: float = 1.0,
    push: float = 4.0, truth: dict[str, float] = TRUTH,
) -> Log:  # fmt: skip
    """The block dropped on the table and pushed about on it, in steps of h, a sample every 10 ms."""
    r, every = robot("block"), round(STEP / h)
    t = np.arange(round(seconds / STEP) + 1) * STEP
    U = np.zeros((len(t) - 1, 3))
    U[:, 0], U[:, 1] = push * np.sin(6 * t[:-1]) + 0.25 * push, 0.5 * push * np.cos(5 * t[:-1])
    P, PD = r.rollout(np.array(start), np.array(rate), np.repeat(U, every, axis=0), h=h, alpha=truth)
    P = np.asarray(P)[::every] + noise * np.random.default_rng(0).standard_normal((len(t), 3))
    return Log(t, r.joints, P, np.asarray(PD)[::every], None, np.vstack([U, U[-1:]]))


def samples(log: Log, cutoff: float | None = None) -> list[Samples]:
    return process("run", log, Processing(cutoff=cutoff))


def found(result: Identification, name: str) -> tuple[float, float | None]:
    estimate = next(e for e in result.estimates if e.name == name)
    return estimate.value, estimate.std


def test_our_own_step_gives_the_truth() -> None:
    result = identify(robot("block"), samples(pushed(STEP, 0.0)), ["contact"])
    assert result.compared == "position" and result.efforts == ("m", "m", "m")
    assert result.rank == 2 and not result.lost
    for name, value in TRUTH.items():
        assert found(result, name)[0] == pytest.approx(value, abs=1e-9)


def test_the_word_contact_has_all_of_a_law() -> None:
    names = select(robot("rolled_ball"), ["contact"]).names
    assert names == ("contact.friction.ball", "contact.rolling.ball", HEIGHT)


@pytest.mark.thorough
def test_rolling_friction_is_found() -> None:
    """Of a ball that falls, slides and rolls on, with all else of its contact."""
    r, t = robot("rolled_ball"), np.arange(81) * STEP
    truth = {"contact.friction.ball": 0.2, "contact.rolling.ball": 0.0035, HEIGHT: 0.01}
    P, PD = r.rollout([0.0, 0.112, 0.0], [1.0, 0.0, 0.0], np.zeros((80, 3)), h=STEP, alpha=truth)
    result = identify(r, samples(Log(t, r.joints, P, PD, None, np.zeros((81, 3)))), ["contact"])
    assert not result.lost
    for name, value in truth.items():
        assert found(result, name)[0] == pytest.approx(value, abs=1e-7)


@pytest.mark.thorough
def test_noise_stays_within_its_deviations() -> None:
    own = samples(pushed(0.5e-3, NOISE))
    start = {FRICTION: 1.5, HEIGHT: -0.1}
    result = identify(robot("block"), own, ["contact"], validate=own, start=start)
    for name, bar in ((FRICTION, 1e-3), (HEIGHT, 2e-4)):
        value, std = found(result, name)
        assert std is not None and 1e-6 < std < bar
        assert abs(value - TRUTH[name]) < 4.0 * std
    assert result.validate is not None
    for errors in (result.train, result.validate):
        assert list(errors.rmse.values()) == pytest.approx([NOISE] * 3, rel=0.2)
    assert all(0.9 * NOISE < e for e in result.train.centred.values())


def test_windows_of_several_steps_have_exact_gradients() -> None:
    r = robot("block")
    runs = motions(samples(pushed(0.5e-3, NOISE, seconds=0.3)), "shooting")
    parameters = parameters_of(r, [FRICTION, HEIGHT], r.alpha.vector({"contact.slip": 1e-2}), "shooting")
    weight = np.array([[1e3] * 3 + [1.0] * 3, [1e3] * 3 + [0.0] * 3])
    windows = Windows(r, runs, parameters, 0.15, every=4, weight=weight)
    assert windows.residuals == 2 * 6 + 30 * 3
    theta, states = np.array([0.28, 0.021]), windows.states
    at = windows.condense(theta, states)
    assert at.value == pytest.approx(windows.half_mean_square(theta, states), rel=1e-12)
    for k, size in enumerate((1e-6, 1e-8)):
        d = size * np.eye(2)[k]
        slope = np.subtract(*(windows.half_mean_square(theta + sign * d, states) for sign in (1, -1))) / (2 * size)
        assert at.by_theta[k] == pytest.approx(slope, rel=1e-4)
    for k in (0, 3, 5):
        d = np.zeros_like(states)
        d[1, k] = 1e-6
        slope = np.subtract(*(windows.half_mean_square(theta, states + sign * d) for sign in (1, -1))) / 2e-6
        assert at.by_states[1, k] == pytest.approx(slope, rel=1e-4)
    moves = np.eye(2)
    total = windows.influence_by_sample(at, theta, states, moves).total
    after = np.linalg.solve(at.blocks[:, 2:, 2:], at.blocks[:, 2:, :2])
    spare = np.sqrt(windows.residuals / (windows.residuals - 2 - states.size))
    expected = (at.by_theta - np.einsum("wi,wij->j", at.by_states, after)) * windows.residuals * spare
    assert total == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("noise", [0.0, NOISE])
def test_a_flight_tells_nothing(noise: float) -> None:
    log = pushed(STEP, noise, truth={HEIGHT: -9.0}, seconds=0.3)
    log.q[-1, 2] += 3.0 * noise  # as if something held it up at last: no more than noise
    with pytest.raises(
        InputError, match=r"contact\.friction\.block: nothing is seen to touch.*plane\.height\.table: nothing"
    ):
        identify(robot("block"), samples(log), ["contact"])


def stuck() -> list[Samples]:
    """The block pushed by at most 0.13 of its weight."""
    return samples(pushed(0.5e-3, NOISE, (0.0, 0.0, 0.0201), (0.0, 0.0, 0.0), 0.3, 1.0))


def test_what_only_sticks_is_refused_with_a_bound() -> None:
    with pytest.raises(InputError, match="only sticks or rolls, which bounds the friction: at least 0") as told:
        identify(robot("block"), stuck(), ["contact.friction"], start={HEIGHT: 0.02})
    assert 0.05 < float(str(told.value).rstrip(".").rpartition(" ")[2]) < 0.3


def test_the_bound_of_a_recording_without_noise_is_below_the_truth() -> None:
    """A ball that rolls on at once, by our own step: at another friction it creeps by less than a micrometre more or less."""
    r, t = robot("ball"), np.arange(81) * STEP
    P, PD = r.rollout([0.0, 0.3, 0.0], [1.0, 0.0, 0.0], np.zeros((80, 3)), h=STEP, alpha={"contact.friction.ball": 0.3})
    found = identify(r, samples(Log(t, r.joints, P, PD, None, np.zeros((81, 3)))), ["contact"])
    (lost,) = found.lost
    assert 0.143 < float(lost.reason.rpartition(" ")[2]) < 0.25  # 2/7 of its speed over twice that of the fall


@pytest.mark.soak
def test_what_only_sticks_bounds_the_friction_beside_the_height() -> None:
    result = identify(robot("block"), stuck(), ["contact"])
    assert [item.name for item in result.lost] == [FRICTION]
    assert "only sticks or rolls" in result.lost[0].reason
    assert found(result, FRICTION) == (0.5, None)  # its default, which the recording allows
    assert found(result, HEIGHT)[0] == pytest.approx(0.02, abs=1e-3)


def thrown() -> Any:
    """The ball by MuJoCo, at steps of 0.1 ms, as stiff as it does not bounce."""
    mujoco = pytest.importorskip("mujoco")
    surface = 'friction="0.22 0 0" solref="4e-4 3" solimp="0.99 0.9999 0.001 0.5 2"'
    moment = 0.4 * MASS * RADIUS**2
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><option timestep="1e-4" cone="elliptic"/><worldbody>'
        f'<geom type="plane" size="9 9 .1" pos="0 0 0.013" {surface}/><body>'
        '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/><joint type="hinge" axis="0 1 0"/>'
        f'<inertial pos="0 0 0" mass="{MASS}" diaginertia="{moment} {moment} {moment}"/>'
        f'<geom type="sphere" size="{RADIUS}" condim="3" {surface}/></body></worldbody></mujoco>'
    )
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = (0.0, 0.25, 0.0), (1.3, 0.4, -6.0)
    P = [data.qpos.copy()]
    for _ in range(60):
        mujoco.mj_step(model, data, 100)
        P.append(data.qpos.copy())
    return np.array(P)


def test_a_ball_thrown_by_mujoco(tmp_path: Path) -> None:
    """By the command, from positions alone: its softened contact reads as 0.4 % less friction and 0.1 mm more height."""
    P, r = thrown(), robot("ball")
    lines = ["time," + ",".join(f"q_{joint}" for joint in r.joints)]
    lines += [",".join(map(repr, [k * STEP, *p])) for k, p in enumerate(P.tolist())]
    (tmp_path / "throw.csv").write_text("\n".join(lines) + "\n")
    out = tmp_path / "params.json"
    told = CliRunner().invoke(
        command, [str(r.folder), str(tmp_path / "throw.csv"), "--fit", "contact", "--out", str(out)]
    )
    assert told.exit_code == 0, told.output
    assert "of RMS position" in told.output and "unfiltered" in told.output
    params = json.loads(out.read_text())["parameters"]
    assert params["contact.friction.ball"]["value"] == pytest.approx(0.2191, abs=5e-4)
    assert params["plane.height.table"]["value"] == pytest.approx(0.01307, abs=5e-5)
    assert 0.0 < params["contact.friction.ball"]["std"] < 1e-3


def test_a_log_in_python() -> None:
    found = diffpbd.identify(robot("block"), pushed(STEP, 0.0), "contact,friction.viscous.x", split=0.5)
    assert found.params[FRICTION] == pytest.approx(0.3, abs=1e-6)
    assert found.params["friction.viscous.x"] == pytest.approx(0.0, abs=1e-6)
    assert max(found.rmse.values()) < 1e-6  # of positions in the second half


def test_contacts_of_a_shape_or_surface_concern_its_friction() -> None:
    own = Touched(Contact("rod.1/table", "arm", 0.05, "table", "plane", "base", True, "rod"), 1.0, 0.0, True)
    assert own.concerns("contact.friction.rod")
    assert not own.concerns("contact.friction.rod.1")
    plain = Touched(Contact("tip/table", "arm", 0.05, "table", "plane", "base", True), 1.0, 0.0, True)
    assert plain.concerns("contact.friction.tip")
    assert plain.concerns("plane.height.table")
