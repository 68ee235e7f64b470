"""Every derivative function against central differences with one Richardson step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.arguments import arguments, outputs, row_of
from support.numeric import BAR, Worst, degenerate_states, differences, states
from support.robots import FULL, loaded, loaded_alpha

from diffpbd.runtime import Robot

DIFFERENTIATED = ("inverse_dynamics", "forward_dynamics", "gravity", "tip_pose", "joint_step")
PULLED = (*DIFFERENTIATED, "fk", "joint_state")
STEPS = {"p": 1e-3, "pd": 1e-3, "pdd": 1e-2, "u": 1e-2, "h": 1e-4, "xi": 1e-3, "p_ref": 1e-3}
"""Difference steps: errors of the fourth order in it and rounding over it, both well below the bar."""
STEEP = 1e-4
"""[rad/s] Step for rates where friction turns over within 0.01 rad/s."""


def alpha_steps(robot: Robot) -> np.ndarray:
    """A thousandth of what each parameter usually is; little enough for friction that must not turn negative."""
    kinds = {
        "payload.inertia": 1e-5,
        "payload": 1e-3,
        "gravity": 1e-2,
        "friction.coulomb": 1e-6,
        "friction.viscous": 1e-5,
        "friction.transition_velocity": 1e-4,
        "rotor_inertia": 1e-5,
        "spring.stiffness": 1e-3,
    }
    return np.array([next((s for k, s in kinds.items() if n.startswith(k)), 1e-2) for n in robot.alpha.names])


def flat(value: Any) -> np.ndarray:
    """Column-major, as the blocks of a Jacobian run."""
    return np.asarray(value, float).ravel(order="F")


def numeric(robot: Robot, name: str, given: dict[str, Any], by: str, step: Any) -> dict[str, np.ndarray]:
    """d output / d input of a plain function at one state."""
    f = robot.functions[name]

    def values(x: np.ndarray) -> dict[str, np.ndarray]:
        moved = x[:, 0] if np.ndim(given[by]) == 0 else x
        found = outputs(f, f(**{**given, by: moved}))
        return {k: np.array([flat(row) for row in v]) for k, v in found.items()}

    return dict(differences(values, np.atleast_1d(np.asarray(given[by], float)), step))


def check(robot: Robot, name: str, alpha: np.ndarray, values: dict[str, np.ndarray], what: str, rate: float) -> None:
    """jac_NAME and jac_alpha_NAME at every state; the worst entry is printed."""
    worst = Worst(f"{robot.name} jac_{name}, {what}", BAR)
    for prefix in ("jac_", "jac_alpha_"):
        f = robot.functions[prefix + name]
        batch = arguments(robot, f, values, alpha)
        found = outputs(f, f(**batch))
        plain = outputs(robot.functions[name], robot.functions[name](**batch))
        pairs = [(k, *k[1:].rsplit("_d", 1)) for k in found if k not in plain]
        for k in found.keys() & plain.keys():
            np.testing.assert_allclose(found[k], plain[k], rtol=1e-13, atol=1e-13)
        assert {by for _, _, by in pairs} == ({"alpha"} if "alpha" in prefix else set(batch) - {"alpha", "h"})
        for row in range(len(values["p"])):
            given = row_of(batch, row)
            for by in {by for _, _, by in pairs}:
                step = alpha_steps(robot) if by == "alpha" else rate if by == "pd" else STEPS[by]
                expected = numeric(robot, name, given, by, step)
                for key, output, variable in pairs:
                    if variable == by:
                        worst.see(found[key][row], expected[output], f"row {row} {key}")
    worst.close()


@pytest.mark.parametrize("function", DIFFERENTIATED)
@pytest.mark.parametrize("name", FULL)
def test_jacobians_with_every_force(name: str, function: str) -> None:
    """Random and degenerate states; payload, friction, springs, rotors away from their defaults."""
    robot = loaded(name)
    check(robot, function, loaded_alpha(robot.alpha), states(robot.n, 4), "every force", STEPS["pd"])


@pytest.mark.parametrize("function", DIFFERENTIATED)
@pytest.mark.parametrize("name", FULL)
def test_jacobians_at_default_parameters(name: str, function: str) -> None:
    """No payload, no friction, no springs: where the parameters' own derivatives are at their bounds."""
    robot = loaded(name)
    check(robot, function, robot.alpha.defaults, degenerate_states(robot.n), "default alpha", STEPS["pd"])


@pytest.mark.parametrize("name", ["double_pendulum", "baxter_bare"])
def test_jacobians_of_the_step_with_steep_friction(name: str) -> None:
    """Baxter-like Coulomb friction with the default transition of 0.01 rad/s."""
    robot = loaded(name)
    alpha = robot.alpha.defaults
    alpha[list(robot.alpha.indices("friction.coulomb"))] = np.linspace(2.0, 0.5, robot.n)
    alpha[list(robot.alpha.indices("friction.viscous"))] = 1.0
    check(robot, "joint_step", alpha, states(robot.n, 4), "steep friction", STEEP)


@pytest.mark.parametrize("function", PULLED)
@pytest.mark.parametrize("name", FULL)
def test_reverse_modes(name: str, function: str) -> None:
    """Seeds times differences, for every input, h and alpha included."""
    robot = loaded(name)
    f = robot.functions["vjp_" + function]
    values = states(robot.n, 2)
    batch = arguments(robot, f, values, loaded_alpha(robot.alpha))
    found = outputs(f, f(**batch))
    plain = [a.name for a in robot.functions[function].facts.inputs]
    assert set(found) == {f"{k}_bar" for k in plain}
    worst = Worst(f"{name} vjp_{function}", BAR)
    for row in range(len(values["p"])):
        given = row_of(batch, row)
        inputs = {k: given[k] for k in plain}
        for by in plain:
            step = alpha_steps(robot) if by == "alpha" else STEPS[by]
            blocks = numeric(robot, function, inputs, by, step)
            expected = sum(flat(given[f"{k}_bar"]) @ block for k, block in blocks.items())
            worst.see(np.atleast_1d(found[f"{by}_bar"][row]), expected, f"row {row} {by}_bar")
    worst.close()
