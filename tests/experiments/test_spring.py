from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from support.robots import generated, loaded

from diffpbd.runtime import Robot
from experiments.__main__ import command
from experiments.design.spring import DEVIATION, NAMES, START, TRUTH, Lever, Scheme, estimate, measurements
from experiments.design.spring_figure import falling
from experiments.design.spring_recordings import report

TRUE = 1e-3  # relative: the schemes find the truth
AGREE = 1e-4  # relative: the schemes find the same


@pytest.fixture(scope="module")
def baxter() -> Robot:
    return loaded("baxter")


def schemes(robot: Robot, off: float) -> list[Scheme]:
    moved = {name: getattr(TRUTH, name) * (1.0 + off * part) for name, part in DEVIATION.items()}
    return estimate(robot, measurements(robot, 1, 30, 1), replace(TRUTH, stiffness=START, **moved))


def test_exact_measurements_give_the_truth_in_every_scheme(baxter: Robot) -> None:
    found = schemes(baxter, 0.0)
    assert len(found) == 4
    numbers = np.array([s.lever.numbers() for s in found])
    assert numbers == pytest.approx(np.tile(TRUTH.numbers(), (4, 1)), rel=TRUE)
    assert (np.ptp(numbers, axis=0) / TRUTH.numbers()).max() < AGREE


def test_wrong_lengths_need_to_be_updated_first(baxter: Robot) -> None:
    found = {(s.name, s.lengths): s for s in schemes(baxter, 1.0)}
    for (_, lengths), s in found.items():
        away = np.abs(np.array(s.lever.numbers()) / TRUTH.numbers() - 1.0).max()
        assert (away < TRUE) == (lengths == "updated")
        assert s.history[-1] < s.history[0]
    updated = [s.lever.stiffness for (_, lengths), s in found.items() if lengths == "updated"]
    assert updated[0] == pytest.approx(updated[1], rel=AGREE)


def test_the_generated_torque_is_minus_the_energys_slope(baxter: Robot) -> None:
    """MATH: the length holds the angle, and the sign is that of the joint."""
    lever = Lever(7000.0, 0.06, 0.15, 1.9, 0.2)

    def energy(angle: float) -> float:
        gamma = np.pi - lever.offset - angle
        x = np.sqrt(lever.arm_1**2 + lever.arm_2**2 - 2.0 * lever.arm_1 * lever.arm_2 * np.cos(gamma))
        return float(lever.stiffness * (x - lever.rest) ** 2 / 2.0)

    step = 1e-5
    for angle in (-0.9, 0.2, 0.8):
        slope = (energy(angle + step) - energy(angle - step)) / (2.0 * step)
        assert baxter.lever_spring_torque(angle, *lever.numbers()) == pytest.approx(-slope, rel=1e-7)
    assert NAMES == ("stiffness", "arm_1", "arm_2", "offset", "rest")


@pytest.mark.thorough
def test_recordings_give_slope_and_zero(baxter: Robot, shared: Path, tmp_path: Path) -> None:
    for path in sorted((shared / "data" / "baxter_left_100hz").glob("*train*"))[:2]:
        (tmp_path / path.name).symlink_to(path)
    text = report(baxter, "left_s1", str(tmp_path), 99.0099)
    slope = float(text.split("slope ")[1].split()[0])
    assert slope == pytest.approx(24.0, abs=0.5)
    assert "Only these two are identifiable" in text


@pytest.mark.thorough
def test_the_command(tmp_path: Path) -> None:
    words = [
        "spring",
        str(generated("baxter")),
        "--poses",
        "6",
        "--step",
        "joint",
        "--step",
        "paper_direct",
        "--out",
        str(tmp_path / "s.png"),
    ]
    done = CliRunner().invoke(command, words)
    assert done.exit_code == 0, done.output
    assert done.output.count("curve fitting") == 8 and "direct × " in done.output and "figure only" in done.output
    assert len((tmp_path / "s.csv").read_text().splitlines()) == 17
    refused = CliRunner().invoke(command, [*words, "--joint", "elbow"])
    assert refused.exit_code == 1 and "expected a joint" in refused.output


def test_a_stiffness_at_a_bound_is_told_from_one_inside() -> None:
    for part, at in (
        (0.2, True),
        (0.2002, True),
        (0.21, False),
        (1.0, False),
        (4.9, False),
        (4.999, True),
        (5.0, True),
    ):
        assert replace(TRUTH, stiffness=part * START).at_bound() is at


def test_the_picture_ends_where_the_loss_falls_no_further() -> None:
    assert falling([4.0, 1.0, 0.5, 0.5, 0.4999, 0.49999]).tolist() == [1.0, 0.25, 0.125]
    assert falling([4.0, 1.0, 0.5, 0.25]).tolist() == [1.0, 0.25, 0.125, 0.0625]
    assert falling([1.0, 1e-3, 1e-14, 1e-16]).tolist() == [1.0, 1e-3, 1e-12]
    assert len(falling([1.0, 1e-14, 1e-14, 0.5, 1e-13, 1e-13])) == 5  # the stiffness after the lengths
