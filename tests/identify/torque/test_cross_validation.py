"""Each recording left out in turn: by hand the same, and a recording that differs shows."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from support.motions import samples
from support.robots import generated, loaded

from diffpbd.runtime.cli import cli
from diffpbd.runtime.identify import Settings, identify
from diffpbd.runtime.report.identification import page

TRUTH = {"friction.viscous.elbow": 0.3, "torque_offset.shoulder": 0.7}
ODD = {**TRUTH, "torque_offset.shoulder": 1.7}
FIT = ["friction"]


def test_it_is_the_mean_of_fits_made_one_by_one() -> None:
    robot = loaded("double_pendulum")
    runs = [samples(robot, truth, seed=k, noise=0.02)[0] for k, truth in enumerate((TRUTH, TRUTH, ODD))]
    found = identify(robot, runs, FIT, settings=Settings(cross_validate=True)).left_out
    assert found is not None
    one_by_one = [
        identify(robot, [*runs[:k], *runs[k + 1 :]], FIT, validate=[run]).validate for k, run in enumerate(runs)
    ]
    for joint in robot.joints:
        mean = sum(errors.rmse[joint] for errors in one_by_one if errors is not None) / len(runs)
        assert found[joint] == pytest.approx(mean, rel=1e-9)
    assert found["shoulder"] > 0.5 > 0.1 > found["elbow"]


def test_the_page_has_a_column_of_it() -> None:
    robot = loaded("double_pendulum")
    runs = [samples(robot, TRUTH, seed=k, noise=0.02)[0] for k in range(2)]
    assert "left out" not in page(identify(robot, runs, FIT))
    assert "each left out: mean RMSE" in page(identify(robot, runs, FIT, settings=Settings(cross_validate=True)))


@pytest.mark.parametrize("option", ["--leave-one-out", "--loss huber", "--starts 3"])
def test_other_forms_refuse_what_they_would_pass_over(option: str) -> None:
    words = ["identify", str(generated("double_pendulum")), "run.csv", "--fit", "friction", "--form", "shooting"]
    result = CliRunner().invoke(cli, [*words, *option.split()])
    assert result.exit_code == 2 and "is an option of --form torque, found --form shooting" in result.output


def test_an_entry_fixed_twice_is_refused() -> None:
    words = ["identify", str(generated("double_pendulum")), "run.csv", "--fit", "friction"]
    result = CliRunner().invoke(cli, [*words, "--fix", "payload.mass=1", "--fix", "payload.mass=2"])
    assert result.exit_code == 2 and "payload.mass is given twice" in result.output
