"""Friction with memory: its state in closed form, on arms that another integrator moves, and where there is none."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from support.recordings.scenarios import SCENARIOS, WAY, Arm, sets
from support.robots import generated

from diffpbd.runtime import Robot, load
from diffpbd.runtime.identify import Identification, Settings, identify
from diffpbd.runtime.identify.choices import dahl
from diffpbd.runtime.identify.choices.left_out import Parts, triangle
from diffpbd.runtime.identify.columns.design import turned
from diffpbd.runtime.identify.settings.selection import Selection
from diffpbd.runtime.identify.settings.standin import with_friction
from diffpbd.runtime.identify.torque.solving import Question
from diffpbd.runtime.logs.processing import Processing, Samples, process

ARM = Arm.of(3)
WIDTHS = {f"friction.transition_velocity.j{k}": 0.05 for k in range(3)}


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    urdf = tmp_path_factory.mktemp("drawn") / "turning.urdf"
    urdf.write_text(ARM.urdf)
    return load(generated(str(urdf), functions=("inverse_dynamics", "torque_terms")))


def recorded(scenario: str, number: int = 0) -> list[Samples]:
    logs = sets(ARM, SCENARIOS[scenario], number + 1)[number]
    return [s for k, log in enumerate(logs) for s in process(f"run {k}", log, Processing())]


def fitted(robot: Robot, run: list[Samples], model: str, **more: object) -> Identification:
    return identify(robot, run, ["friction"], start=WIDTHS, settings=Settings(friction_model=model), **more)  # type: ignore[arg-type]


def test_the_state_is_the_law_integrated() -> None:
    way, t = 0.03, np.linspace(0.0, 6.0, 3001)

    def position(t: np.ndarray) -> np.ndarray:
        return 0.2 * np.sin(2.0 * t) + 0.05 * np.sin(9.0 * t)

    def law(t: float, z: np.ndarray) -> np.ndarray:
        rate = 0.4 * np.cos(2.0 * t) + 0.45 * np.cos(9.0 * t)
        return rate / way * (1.0 - z * np.sign(rate))

    exact = solve_ivp(law, (0.0, 6.0), [0.0], t_eval=t, rtol=1e-9, atol=1e-9, max_step=1e-3).y[0]
    found = turned(position(t), [way, 1e-9])
    np.testing.assert_allclose(found[:, 0], exact, atol=3e-4)  # a reversal is between samples
    sign = np.sign(np.diff(position(t)))
    assert np.array_equal(found[1:, 1], sign)  # a way of nothing is Coulomb's law


def test_an_arm_with_memory(robot: Robot) -> None:
    run, held = recorded("hysteresis"), recorded("hysteresis", 1)[:1]
    plain, own = (fitted(robot, run, model, validate=held) for model in ("plain", "dahl"))
    assert set(own.presliding) == set(robot.joints)
    for joint, way in own.presliding.items():
        assert way == pytest.approx(WAY, rel=0.05)
        assert any(f"Friction of {joint}: with memory over {way:.2g} rad; errors" in note for note in own.notes)
    for name, value in ARM.truth.items():
        if name.startswith("friction"):
            assert own.parameters[name] == pytest.approx(value, rel=0.03), name
            assert abs(plain.parameters[name] - value) > 0.3 * value
    assert plain.validate is not None and own.validate is not None
    assert all(own.validate.rmse[j] < 0.2 * plain.validate.rmse[j] for j in robot.joints)
    assert not any("reads as if" in note for note in own.notes) and any("reads as if" in note for note in plain.notes)
    withheld = [e for e in own.estimates if e.name.startswith(("friction.coulomb", "friction.viscous"))]
    assert all(e.std is None and e.rejected for e in withheld)
    assert json.loads(own.to_json())["presliding"] == dict(own.presliding)
    assert {f"friction.way.{j}": way for j, way in own.presliding.items()}.items() <= own.parameters.items()
    assert own.generate == "diffpbd generate turning --friction-law dahl"


def test_to_a_robot_that_steps_with_it(robot: Robot, tmp_path: Path) -> None:
    """What was found, in the robot that the command makes: its torques along a recording are those of the fit; joints without
    memory have no way, and another law of friction stays in the way."""
    run, held = recorded("hysteresis"), recorded("hysteresis", 1)[:1]
    found = fitted(robot, run, "dahl", validate=held)
    (tmp_path / "turning.urdf").write_text(ARM.urdf)
    remembering = load(
        generated(str(tmp_path / "turning.urdf"), friction_law=["dahl"], functions=("joint_step", "inverse_dynamics"))
    )
    (tmp_path / "params.json").write_text(found.to_json())
    alpha = remembering.alpha.vector(str(tmp_path / "params.json"))
    rows = np.tile(alpha, (len(held[0].q), 1))
    for joint, at in zip(robot.joints, remembering.alpha.indices("friction.deflection"), strict=True):
        state = held[0].smooth(turned(held[0].q[:, robot.joints.index(joint)], [found.presliding[joint]]))
        rows[:, at] = np.clip(state[:, 0], -1.0, 1.0)
    left = held[0].tau - remembering.inverse_dynamics(held[0].q, held[0].dq, held[0].ddq, rows)
    assert found.validate is not None
    for j, joint in enumerate(robot.joints):
        assert np.sqrt(np.mean(left[:, j] ** 2)) == pytest.approx(
            found.validate.rmse[joint], rel=0.2
        )  # of 1 N·m and more
    question = Question(robot, Selection(()), robot.alpha.defaults, 0.0, False, presliding=(0.02, 0.0, 0.0))
    own = dahl.handed_over(question, found)
    assert [e.value for e in own.estimates[-3:]] == [0.02, 0.0, 0.0]
    asymmetric = with_friction(robot, ["asymmetric"])
    refused = dahl.handed_over(replace(question, robot=asymmetric), found)
    assert (
        refused.generate == found.generate and "stands alone, and turning was generated with asymm" in refused.notes[-1]
    )


@pytest.mark.parametrize("scenario", ["healthy", pytest.param("stribeck", marks=pytest.mark.thorough)])
def test_where_there_is_none(robot: Robot, scenario: str) -> None:
    own = fitted(robot, recorded(scenario), "dahl")
    assert not own.presliding and "presliding" not in own.to_json()
    assert sum("plain; with memory" in note for note in own.notes) == robot.n


def test_memory_that_a_third_of_the_positions_contradicts_is_none() -> None:
    rng, ways = np.random.default_rng(2), dahl.WAYS
    p = 0.3 * np.sin(np.linspace(0.0, 60.0, 3000))
    side, state = np.sign(np.gradient(p)), turned(p, ways)

    def rows(torque: np.ndarray) -> np.ndarray:
        return np.column_stack([side, state, torque + 0.05 * rng.normal(size=len(p))])

    parts = [triangle(rows(state[:, 6])) for _ in range(6)]
    told = Parts(parts, np.full(6, float(len(p))), {"j": [triangle(rows(state[:, 6]))] * 3})
    own = dahl._Joint(told, ways, 1, 0, [0])
    assert dahl._judged(own, "rad")[0] == ways[6]
    plain = triangle(rows(side))
    other = replace(own, parts=replace(told, kinds={"j": [plain, parts[0], parts[1]]}))
    way, text = dahl._judged(other, "rad")
    assert way == 0.0 and "on a third of j's positions left out" in text
    longest = replace(own, parts=replace(told, triangles=[triangle(rows(state[:, -1])) for _ in range(6)]))
    assert dahl._judged(longest, "rad") == (0.0, dahl._judged(longest, "rad")[1])
    assert "another effect than presliding" in dahl._judged(longest, "rad")[1]
