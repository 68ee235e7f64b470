"""Cost of a closed loop, in operations of the C text, beside the same links and joints left open."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.mechanisms import MECHANISMS

from diffpbd.codegen.description.front.resolve import resolve
from diffpbd.codegen.emit.emission.sources import Banner, Emission
from diffpbd.codegen.emit.solved.constrained_step import add_constrained_step
from diffpbd.codegen.emit.step.joint_step import add_joint_step
from diffpbd.codegen.emit.step.step_kernels import step_kernels
from diffpbd.codegen.graph.loops.build import build

STEP, DERIVATIVES = 1.7, 2.5
"""Bars: a step with its loop over the open one's, with its Jacobian over the step. `benchmarks.loop_cost` times both."""


def operations(folder: Path, name: str, closed: bool) -> dict[str, int]:
    mechanism = MECHANISMS[name]() if closed else replace(MECHANISMS[name](), loops=[])
    recipe, robot = resolve(str(mechanism.write(folder, f"{name}_{closed}")))
    model, emission = build(robot, recipe), Emission(name, Banner("", "", name, "", ""))
    if closed:
        add_constrained_step(emission, model, False, ())
    else:
        add_joint_step(emission, step_kernels(model, False, False), robot.n, robot.n, model.entries, by_alpha=False)
    return {f.name: f.operations for f in emission.functions}


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["four_bar", pytest.param("five_bar", marks=pytest.mark.soak)])
def test_operations_of_a_loop(name: str, tmp_path: Path) -> None:
    tree, loop = (operations(tmp_path, name, closed) for closed in (False, True))
    assert 1.3 < loop["joint_step"] / tree["joint_step"] <= STEP, (tree, loop)
    assert 1.5 < loop["jac_joint_step"] / loop["joint_step"] <= DERIVATIVES, loop
