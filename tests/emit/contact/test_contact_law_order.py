"""The order of a contact's numbers is declared once, in `IN_CONE`: with two of them exchanged a step is the same step."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.mechanisms import robot_of
from support.touching import block

from diffpbd.codegen.description.robot.contact_law import IN_CONE

STATE = {"p": [0.0, 0.0, 1e-4], "pd": [1.0, 0.0, -1.0], "u": [0.3, 0.0, -2.0]}
LAW = {"contact.friction.block": 0.4, "contact.load.block": 7.0, "contact.compliance.block": 1e-5, "contact.slip": 2e-6}
SCRIPT = """
import json, sys
from pathlib import Path
from diffpbd.codegen.description.robot import contact_law
contact_law.IN_CONE = tuple(json.loads(sys.argv[1]))
from diffpbd.codegen.generate import generate
from diffpbd.runtime import load
generate(sys.argv[2], out=Path(sys.argv[3]), quick=True, functions=("joint_step",))
robot = load(sys.argv[3])
state, law = json.loads(sys.argv[4]), json.loads(sys.argv[5])
print(json.dumps([x.tolist() for x in robot.jac_joint_step(*state.values(), alpha=law)]))
"""


@pytest.mark.parametrize("pair", [(0, 1), (1, 2), (2, 3)])
def test_two_entries_exchanged(pair: tuple[int, int], tmp_path: Path) -> None:
    order = list(IN_CONE)
    order[pair[0]], order[pair[1]] = order[pair[1]], order[pair[0]]
    robot = robot_of(block(), "block")
    recipe = block().write(tmp_path, "block")
    given = [json.dumps(order), str(recipe), str(tmp_path / "made"), json.dumps(STATE), json.dumps(LAW)]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *given],
        env={**os.environ, "DIFFPBD_CACHE": "off"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found: Any = json.loads(done.stdout.splitlines()[-1])
    expected = robot.jac_joint_step(*map(np.array, STATE.values()), alpha=LAW)
    for k, (own, other) in enumerate(
        zip(expected, found, strict=True)
    ):  # slopes are of numbers that the iteration left alone
        np.testing.assert_allclose(np.array(other), own, rtol=1e-12 if k < 2 else 1e-6, atol=1e-14 if k < 2 else 1e-8)
