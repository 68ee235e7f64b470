"""Every function of the shipped robots three ways: SymPy program, CasADi graph, compiled C."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.arguments import arguments, outputs, row_of
from support.numeric import Worst, states
from support.programs import Programs
from support.robots import FULL, call, loaded, loaded_alpha, model

from diffpbd.runtime import Robot

# The same formulas in another order; a step is solved to 1e-13 rad, its rate to 1e-13 rad / h.
ROUNDING, STEP = 1e-11, 1e-9
RANDOM_ROWS = 3
PARAMETERS = ("default", "loaded")
IN_NUMPY = (
    "inverse_dynamics",
    "forward_dynamics",
    "mass_matrix",
    "gravity",
    "coriolis",
    "energy",
    "tip_pose",
    "tip_jacobian",
    "regressor",
    "spring_torque",
    "friction_torque",
    "joint_step",
    "jac_joint_step",
    "node_torque",
)


def alpha_of(robot: Robot, parameters: str) -> np.ndarray:
    return robot.alpha.defaults if parameters == "default" else loaded_alpha(robot.alpha)


def without_rotors(robot: Robot, alpha: np.ndarray) -> np.ndarray:
    alpha = alpha.copy()
    alpha[list(robot.alpha.indices("rotor_inertia"))] = 0.0
    return alpha


def bar(name: str) -> float:
    if name == "jac_alpha_joint_step":  # the pose's rounding, 1e-14 rad, over h and over a wrist's 4e-4 kg·m²
        return 3.0 * STEP
    return STEP if "step" in name or name == "node_torque" else ROUNDING


LONG = [pytest.mark.soak]
EACH = [
    pytest.param(name, parameters, marks=LONG if name.startswith("baxter") and parameters == "default" else [])
    for name in FULL
    for parameters in PARAMETERS
]
"""The arm's seven joints with default parameters are among the long counts."""


@pytest.mark.thorough("baxter_bare", "prismatic_skew")
@pytest.mark.parametrize(("name", "parameters"), EACH)
def test_compiled_is_the_sympy_program(name: str, parameters: str) -> None:
    robot, programs = loaded(name), Programs(model(name))
    alpha, values = alpha_of(robot, parameters), states(robot.n, RANDOM_ROWS)
    for function in IN_NUMPY:
        f = robot.functions[function]
        given = arguments(robot, f, values, alpha)
        found = outputs(f, f(**given))
        worst = Worst(f"{name} {function}: C against SymPy", bar(function))
        for row in range(len(values["p"])):
            expected = getattr(programs, function)(*row_of(given, row).values())
            if not isinstance(expected, dict):
                expected = outputs(f, expected)
            for k, value in expected.items():
                worst.see(np.squeeze(found[k][row]), np.squeeze(value), f"row {row} {k}")
        worst.close()


@pytest.mark.parametrize("parameters", PARAMETERS)
@pytest.mark.parametrize("name", FULL)
def test_compiled_is_the_graph(name: str, parameters: str) -> None:
    robot = loaded(name)
    values = states(robot.n, RANDOM_ROWS)
    compared = [f for f in robot.functions.values() if f.facts.casadi is not None]
    assert {f.name for f in compared} >= set(IN_NUMPY) - {"node_torque", "jac_joint_step"}
    for f in compared:
        alpha = alpha_of(robot, parameters)
        if f.name.startswith(("step", "vjp_step")):
            alpha = without_rotors(robot, alpha)
        given = arguments(robot, f, values, alpha)
        found = outputs(f, f(**given))
        graph = robot.casadi(f.name)
        assert graph.name_in() == list(given) and graph.name_out() == list(found)
        worst = Worst(f"{name} {f.name}: C against CasADi", bar(f.name))
        for row in range(len(values["p"])):
            expected = outputs(f, call(graph, *row_of(given, row).values()))
            for k, value in expected.items():
                worst.see(np.squeeze(found[k][row]), np.squeeze(value), f"row {row} {k}")
        worst.close()


@pytest.mark.parametrize("name", ["double_pendulum", "baxter_bare"])
def test_compiled_derivatives_of_the_step_are_the_graphs(name: str) -> None:
    """jac_, jac_alpha_ and vjp_joint_step against CasADi's derivatives of its own root finders."""
    robot = loaded(name)
    graph = robot.casadi("joint_step")
    jacobian = graph.jacobian()
    alpha, values = loaded_alpha(robot.alpha), states(robot.n, 2)
    full = [robot.functions[k] for k in ("jac_joint_step", "jac_alpha_joint_step", "vjp_joint_step")]
    given = [arguments(robot, f, values, alpha) for f in full]
    found = [outputs(f, f(**g)) for f, g in zip(full, given, strict=True)]
    worst = Worst(f"{name}: derivatives of joint_step, C against CasADi", 1e-8)
    for row in range(len(values["p"])):
        inputs = row_of(given[0], row)
        next_state = call(graph, *inputs.values())
        blocks: dict[str, Any] = {}
        for key, value in jacobian(
            **inputs, **{f"out_{k}": v for k, v in zip(graph.name_out(), next_state, strict=True)}
        ).items():
            output, by = key.removeprefix("jac_").rsplit("_", 1)
            blocks[output, by] = np.array(value)
            place = f"row {row} d{output}_d{by}"
            for results in found[:2]:
                if f"d{output}_d{by}" in results:
                    worst.see(results[f"d{output}_d{by}"][row], blocks[output, by], place)
        seeds = {k: given[2][f"{k}_bar"][row] for k in graph.name_out()}
        for by in graph.name_in():
            expected = sum(seeds[k] @ blocks[k, by] for k in seeds)
            worst.see(np.atleast_1d(found[2][f"{by}_bar"][row]), expected, f"row {row} {by}_bar")
    worst.close()
