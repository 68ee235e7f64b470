"""Lever springs from recordings: what the torque determines, to the truth; what it does not, named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import casadi
import numpy as np
import pytest
from click.testing import CliRunner
from support.motions import motion, samples
from support.small.sprung import SPRING, springs, sprung_pendulum

from diffpbd.runtime import InputError, Robot
from diffpbd.runtime.cli import cli
from diffpbd.runtime.identify import identify
from diffpbd.runtime.identify.columns.attached_springs import AttachedSpring
from diffpbd.runtime.identify.columns.lever_springs import combinations
from diffpbd.runtime.identify.settings.selection import select

TRUTH = springs(**{"friction.coulomb.shoulder": 0.4, "friction.viscous.shoulder": 0.3, "torque_offset.elbow": -0.6})
REST = "lever_spring.rest.shoulder"
ALL = ["friction", "lever_spring"]


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    return sprung_pendulum(tmp_path_factory.mktemp("sprung"))


def test_all_numbers_once_one_length_is_known(arm: Robot) -> None:
    """x_rest measured, as the paper has it from the manual; from the defaults, also on another recording."""
    runs = [s for seed in (1, 2) for s in samples(arm, TRUTH, seed=seed)]
    result = identify(arm, runs[:1], ALL, start={REST: SPRING[4]}, fixed=[REST], validate=runs[1:])
    assert not result.lost and result.rank == result.unknowns == 9
    for name, value in TRUTH.items():
        if name == REST:
            continue
        assert result.parameters[name] == pytest.approx(value, abs=1e-6 * max(1.0, abs(value))), name
    assert result.validate is not None and max(result.validate.rmse.values()) < 1e-6


@pytest.mark.thorough
def test_without_a_length_the_scale_is_named_and_the_rest_is_found(arm: Robot) -> None:
    result = identify(arm, samples(arm, TRUTH, seed=1), ALL)
    traded = ("stiffness", "arm_1", "arm_2", "rest")
    assert {item.name for item in result.lost} == {f"lever_spring.{part}.shoulder" for part in traded}
    assert result.rank == result.unknowns - 1
    assert any("--fix lever_spring.arm_1.shoulder" in note for note in result.notes)
    assert any("torque offset of shoulder is fixed" in note for note in result.notes)
    assert result.parameters["lever_spring.angle.shoulder"] == pytest.approx(SPRING[3], rel=1e-6)
    k, l1, l2, _, rest = SPRING
    expected = {
        "stiffness·arm_1·arm_2": k * l1 * l2,
        "arm_2/arm_1": l2 / l1,
        "rest/√(arm_1·arm_2)": rest / np.sqrt(l1 * l2),
    }
    found = {item.name.split(" of ")[0]: item for item in result.base}
    for name, value in expected.items():
        inverse = name == "arm_2/arm_1" and found[name].value < 1.0  # arms in the inverse ratio have the same torque
        assert found[name].value == pytest.approx(1.0 / value if inverse else value, rel=1e-6), name


@pytest.mark.thorough
def test_the_papers_order(arm: Robot) -> None:
    """Lengths and α first, then k alone: and k alone with all of them measured."""
    run = samples(arm, TRUTH, seed=1)
    lengths = {n: v for n, v in TRUTH.items() if n.startswith("lever_spring") and ".stiffness." not in n}
    stiffness = "lever_spring.stiffness.shoulder"
    only = identify(arm, run, ["friction", "lever_spring.stiffness"], start=lengths)
    assert only.parameters[stiffness] == pytest.approx(SPRING[0], rel=1e-9)
    off = {n: v * (1.02 if "arm" in n else 1.0) for n, v in lengths.items()} | {stiffness: 250.0}
    fit = ["friction", "lever_spring.arm_1", "lever_spring.arm_2", "lever_spring.angle", stiffness]
    first = identify(arm, run, fit, start=off)
    again = identify(arm, run, ["friction", stiffness], start={**first.parameters, stiffness: 250.0})
    assert again.parameters[stiffness] == pytest.approx(SPRING[0], rel=1e-6)


def test_noise_is_covered_by_the_deviations(arm: Robot) -> None:
    result = identify(arm, samples(arm, TRUTH, seed=1, noise=0.01), ALL, start={REST: SPRING[4]}, fixed=[REST])
    stds = {e.name: e.std for e in result.estimates}
    for part in ("stiffness", "angle"):
        name = f"lever_spring.{part}.shoulder"
        assert abs(result.parameters[name] - TRUTH[name]) < 4.0 * (stds[name] or 0.0)
        assert (stds[name] or 1.0) < 0.2 * TRUTH[name]


def test_a_spring_that_is_not_fitted_is_taken_off(arm: Robot) -> None:
    known = {n: v for n, v in TRUTH.items() if n.startswith("lever_spring")}
    result = identify(arm, samples(arm, TRUTH), ["friction"], start=known)
    assert result.parameters["friction.coulomb.shoulder"] == pytest.approx(0.4, rel=1e-6)
    assert result.parameters["torque_offset.shoulder"] == pytest.approx(0.0, abs=1e-6)


def test_the_series_is_the_law(arm: Robot) -> None:
    """To rounding over the angles; where the spring closes it is said."""
    alpha = arm.alpha.vector(TRUTH)
    q = np.linspace(-1.3, 1.4, 50)
    others = arm.alpha.indices("spring.stiffness")
    lever = AttachedSpring(arm.manifest.elements[0], "shoulder", 0, (), others, -1.3, 1.4, 64)
    coefficients = casadi.DM(lever.coefficients(arm, alpha)).full().ravel()
    law = np.asarray(arm.spring_torque(np.column_stack([q, 0 * q]), alpha))[:, 0]
    np.testing.assert_allclose(lever.columns(arm, q, alpha) @ coefficients, -law, rtol=0, atol=1e-12)
    assert lever.note(arm, coefficients, alpha) == []
    closing = arm.alpha.vector(springs(**{"lever_spring.arm_1.shoulder": 0.15}))
    coefficients = casadi.DM(lever.coefficients(arm, closing)).full().ravel()
    assert "has a kink" in lever.note(arm, coefficients, closing)[0]


def test_gradients_of_the_combinations() -> None:
    names = [f"lever_spring.{part}.j" for part in ("stiffness", "arm_1", "arm_2", "rest")]
    values = np.array([300.0, 0.06, 0.15, 0.2])

    def at(x: np.ndarray) -> list[float]:
        return [c.value for c in combinations(names, dict(zip(names, x.tolist(), strict=True)))]

    exact = np.array([c.gradient for c in combinations(names, dict(zip(names, values.tolist(), strict=True)))])
    for k, step in enumerate(1e-6 * values):
        move = step * np.eye(4)[k]
        np.testing.assert_allclose(
            (np.array(at(values + move)) - at(values - move)) / (2 * step), exact[:, k], rtol=1e-8
        )
    scaled = values * np.array([1 / 9.0, 3.0, 3.0, 3.0])
    np.testing.assert_allclose(at(scaled), at(values), rtol=1e-12)


def test_selection(arm: Robot) -> None:
    assert len(select(arm, ["lever_spring"]).names) == len(select(arm, ["lever_spring.shoulder"]).names) == 5
    assert select(arm, ["lever_spring.rest"]).names == (REST,)
    assert REST not in select(arm, ["lever_spring"], [REST]).names
    both = select(arm, [*ALL, "torque_offset.shoulder"]).names
    assert "torque_offset.shoulder" in both
    with pytest.raises(InputError, match="nothing is left to fit"):
        select(arm, ["lever_spring.rest"], [REST])
    with pytest.raises(InputError, match=r"no parameters 'lever_spring\.elbow'"):
        select(arm, ["lever_spring.elbow"])


def test_command(arm: Robot, tmp_path: Path) -> None:
    """`--fix` holds and gives a value; what is not a number or a name is refused."""
    log = motion(arm, TRUTH, seed=1)
    np.savez(
        tmp_path / "run.npz", time=log.time, joints=np.array(arm.joints), q=log.q, dq=log.dq, ddq=log.ddq, tau=log.tau
    )
    words = ["identify", str(arm.folder), str(tmp_path / "run.npz"), "--cutoff", "0", "--fit", "friction,lever_spring"]
    found = CliRunner().invoke(cli, [*words, "--fix", f"{REST}=0.2"])
    assert found.exit_code == 0, found.output
    assert "lever_spring.stiffness.shoulder" in found.output and "Rank 9 of 9" in found.output
    bad = {"x": "expected NAME=VALUE", "lever_spring.rest.elbow=1": "lever_spring.rest.elbow", f"{REST}=-1": "at least"}
    for wrong, said in bad.items():
        refused = CliRunner().invoke(cli, [*words, "--fix", wrong])
        assert refused.exit_code == (2 if wrong == "x" else 1) and said in refused.output


def test_a_joint_that_never_moves_tells_nothing_of_its_spring(arm: Robot) -> None:
    still = [replace(s, q=np.full_like(s.q, 0.3), dq=0.0 * s.dq, ddq=0.0 * s.ddq) for s in samples(arm, TRUTH, seed=1)]
    with pytest.raises(InputError, match="the joint shoulder never moves in the recordings"):
        identify(arm, still, ["lever_spring"])
