"""The step with the printed multiplier and order is the print's: NumPy from the printed text alone agrees to rounding."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.judges.printed_step import Printed, read_arm
from support.maximal import Array, free, numbers, shipped, tree_of
from support.robots import generated
from support.small.short_chains import maximal

from diffpbd.codegen.graph.expressions.translate import call_graph
from diffpbd.codegen.method import step
from diffpbd.codegen.method.corrections import Multiplier
from diffpbd.codegen.program.program import Program
from diffpbd.runtime import load

ROBOTS = Path(__file__).resolve().parents[2] / "codegen" / "robots"
STEP = 0.01  # s
AS_PRINTED = 1e-12
"""[m, 1] Of a pose after a step."""


FACTORS = {"gauss_seidel": None, "jacobi": 1.0, "jacobi_relaxed": 0.9}
"""What a sweep makes of its corrections; the print names no factor, 0.9 is the default of chains."""
POSES = [0, 1, 2, 6, 7, 8, 9]


def made(
    robot: str, solver: str, sweeps: int, multiplier: Multiplier = Multiplier.SCALAR, printed: bool = True
) -> Program:
    tree = tree_of(shipped(robot))
    if solver == "gauss_seidel":
        return step.paper_gauss_seidel(tree, sweeps, 0, multiplier, printed)
    return step.paper_jacobi(tree, sweeps, 0, multiplier, FACTORS[solver])


def start(robot: str, apart: bool) -> tuple[Array, Array]:
    """A state (links, 13) and torques; `apart` with rates that the joints do not allow, out of every plane."""
    rng = np.random.default_rng(7)
    n = shipped(robot).n
    xi = maximal(shipped(robot), rng.uniform(-1, 1, n), rng.uniform(-1, 1, n)).reshape(n, 13)
    if apart:
        xi[:, 3:6] += rng.uniform(-0.5, 0.5, (n, 3))
        xi[:, 10:] += rng.uniform(-1, 1, (n, 3))
    return xi, rng.uniform(-2, 2, n)


def printed(robot: str, xi: Array, u: Array, sweeps: int, factor: float | None, gravity: float = 9.81) -> Array:
    judge = Printed(read_arm(ROBOTS / f"{robot}.urdf"))
    return judge.step(xi.reshape(-1, 13), u, STEP, np.array([0, 0, -gravity]), sweeps, factor)


def difference(robot: str, solver: str, sweeps: int, apart: bool, **other: Any) -> float:
    """Largest of poses after a step [m, 1]."""
    xi, u = start(robot, apart)
    program = made(robot, solver, sweeps, **other)
    known = numbers(shipped(robot)) | free(shipped(robot)) | {"u": u, "h": STEP, "xi": xi.ravel()}
    found = np.array(call_graph(program).call([known[k] for k in program.inputs])[0]).reshape(-1, 13)
    return float(np.abs(found - printed(robot, xi, u, sweeps, FACTORS[solver]))[:, POSES].max())


@pytest.mark.parametrize("sweeps", [1, 3, 30])
@pytest.mark.parametrize("solver", FACTORS)
def test_a_step_is_the_prints(solver: str, sweeps: int) -> None:
    for robot in ("double_pendulum", "baxter_bare"):
        for apart in (False, True):
            assert difference(robot, solver, sweeps, apart) < AS_PRINTED, (robot, apart)


def test_what_is_not_printed_is_told_apart() -> None:
    """The block multiplier, and the order joint by joint, are other steps by far."""
    assert difference("baxter_bare", "gauss_seidel", 3, True, multiplier=Multiplier.BLOCK) > 1e-6
    assert difference("baxter_bare", "gauss_seidel", 3, True, printed=False) > 1e-6
    assert difference("baxter_bare", "jacobi", 3, True, multiplier=Multiplier.BLOCK) > 1e-6


@pytest.mark.thorough
def test_generated_c_is_the_prints_and_its_reverse_mode_the_prints_derivative() -> None:
    options = {"functions": ("vjp_step",), "multiplier": "scalar", "sweep_order": "printed", "relaxation": 1.0}
    folder = generated("double_pendulum", variants=("published",), **options)
    robot = load(folder)
    xi, u = start("double_pendulum", apart=True)
    bar = np.random.default_rng(3).normal(size=26)
    for solver in ("gauss_seidel", "jacobi"):
        run, back = (robot.functions[f"{kind}step_paper_{solver}"] for kind in ("", "vjp_"))

        def at(xi: Array, u: Array, factor: float | None = FACTORS[solver]) -> Array:
            return printed("double_pendulum", xi, u, 30, factor).ravel()

        np.testing.assert_allclose(run(xi.ravel(), u, STEP).reshape(-1, 13)[:, POSES], at(xi, u).reshape(-1, 13)[:, POSES],
                                   atol=AS_PRINTED)  # fmt: skip
        pulled = back(xi.ravel(), u, STEP, xi_next_bar=bar)
        d = 1e-5
        by_u = [(at(xi, u + e) - at(xi, u - e)) @ bar / (2 * d) for e in d * np.eye(2)]
        np.testing.assert_allclose(pulled.u_bar, by_u, rtol=1e-6, atol=1e-6 * np.abs(pulled.u_bar).max())
        flat = xi.ravel()
        by_xi = [(at(flat + e, u) - at(flat - e, u)) @ bar / (2 * d) for e in d * np.eye(26)]
        across = np.abs(pulled.xi_bar - by_xi)[
            [*range(6), *range(10, 19), *range(23, 26)]
        ]  # off the quaternions, free of scale
        assert across.max() < 1e-5 * np.abs(pulled.xi_bar).max()


def test_derivatives_where_constraints_hold() -> None:
    """No axis tilts in a plane: satisfied in every sweep, and derivatives by torques are still the print's. Hanging straight
    down they are finite and no use: every gap is along the links, and sweeps multiply what is beside it."""
    options = {"functions": ("vjp_step",), "multiplier": "scalar", "sweep_order": "printed", "relaxation": 1.0}
    robot = load(generated("double_pendulum", variants=("published",), **options))
    bar = np.random.default_rng(3).normal(size=26)
    d = 1e-5
    for solver in ("gauss_seidel", "jacobi"):
        back = robot.functions[f"vjp_step_paper_{solver}"]
        bent = maximal(shipped("double_pendulum"), np.array([0.4, -0.7]), np.zeros(2))
        ends = [[printed("double_pendulum", bent, s * e, 30, FACTORS[solver]) for s in (1, -1)] for e in d * np.eye(2)]
        by_u = [(plus - minus).ravel() @ bar / (2 * d) for plus, minus in ends]
        np.testing.assert_allclose(back(bent, np.zeros(2), STEP, xi_next_bar=bar).u_bar, by_u, rtol=1e-4)
        straight = maximal(shipped("double_pendulum"), np.zeros(2), np.zeros(2))
        pulled = back(straight, np.zeros(2), STEP, xi_next_bar=bar)
        assert np.isfinite(pulled.xi_bar).all() and np.isfinite(pulled.u_bar).all()
        assert np.abs(pulled.u_bar).max() > 1e3


@pytest.mark.parametrize("printed_order", [False, True])
@pytest.mark.parametrize("multiplier", Multiplier)
@pytest.mark.parametrize("solver", ["gauss_seidel", "jacobi"])
def test_every_variant_has_the_derivative_of_its_values(
    solver: str, multiplier: Multiplier, printed_order: bool
) -> None:
    program = made("double_pendulum", solver, 3, multiplier, printed_order)
    run = call_graph(program)
    xi, u = start("double_pendulum", apart=True)
    known = (
        numbers(shipped("double_pendulum")) | free(shipped("double_pendulum")) | {"u": u, "h": STEP, "xi": xi.ravel()}
    )
    given = [np.asarray(known[k], dtype=float).ravel() for k in program.inputs]
    at = {name: [*program.inputs].index(name) for name in ("xi", "u")}
    jacobian = run.jacobian()
    found = jacobian.call([*given, np.array(run.call(given)[0])])
    rng = np.random.default_rng(5)
    for name, k in at.items():
        way = rng.normal(size=given[k].shape)
        if name == "xi":
            way.reshape(-1, 13)[:, 6:10] = 0.0  # off the quaternions' length
        ends = [np.array(run.call([*given[:k], given[k] + d * way, *given[k + 1 :]])[0]).ravel() for d in (1e-6, -1e-6)]
        slope = (ends[0] - ends[1]) / 2e-6
        np.testing.assert_allclose(np.array(found[k]) @ way, slope, atol=1e-6 * max(1.0, np.abs(slope).max()))
