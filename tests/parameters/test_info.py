"""The printed linear parameters."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
from click.testing import CliRunner
from support.robots import generated, loaded

from diffpbd.runtime import cli
from diffpbd.runtime.commands.info import describe
from diffpbd.runtime.model.inertia import LINEAR_NAMES, link_parameters


def test_the_printed_vectors_are_what_the_regressor_multiplies() -> None:
    robot, folder = loaded("double_pendulum"), generated("double_pendulum")
    result = CliRunner().invoke(cli.cli, ["info", str(folder), "--parameters", "--json"])
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)
    assert tuple(facts["order"]) == LINEAR_NAMES and "link frame" in facts["frame"]
    theta = np.array([facts["links"][name] for name in robot.links])
    np.testing.assert_array_equal(theta, link_parameters(robot.manifest))
    p, pd, pdd = np.random.default_rng(3).uniform(-2.0, 2.0, (3, robot.n))
    np.testing.assert_allclose(
        robot.regressor(p, pd, pdd) @ theta.ravel(), robot.inverse_dynamics(p, pd, pdd), rtol=0, atol=1e-11
    )
    text = CliRunner().invoke(cli.cli, ["info", str(folder), "--parameters"]).stdout
    for words in ("mcy [kg·m]", "Ixy [kg·m^2]", "about the origin of the link frame", *robot.links):
        assert words in text
    assert CliRunner().invoke(cli.cli, ["info", str(folder), "--params", "x.json"]).exit_code == 2


def test_right_angles_are_listed() -> None:
    manifest = loaded("double_pendulum").manifest
    turned = dataclasses.replace(manifest, robot=dataclasses.replace(manifest.robot, squared=("one", "two")))
    line = "rotations whose entries within 1e-11 of -1, 0, 1 were rounded to these: one, two"
    assert line in describe(turned).splitlines()
    straight = dataclasses.replace(manifest, robot=dataclasses.replace(manifest.robot, squared=()))
    assert "right angles" not in describe(straight)
