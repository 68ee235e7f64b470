from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from support.robots import alpha_of, call, graphs, loaded_alpha, model

from diffpbd.codegen.description.front.resolve import shipped_robots
from diffpbd.codegen.graph.functions import identification
from diffpbd.codegen.graph.functions.functions import Graphs


@pytest.mark.thorough("baxter_dual", "baxter_right")
@pytest.mark.parametrize("name", shipped_robots())
def test_terms_times_coefficients_are_the_inverse_dynamics(name: str) -> None:
    terms, coefficients = (spec.graph for spec in identification.specs(Graphs(model(name))))
    n = model(name).robot.n
    alpha = loaded_alpha(alpha_of(name))
    rng = np.random.default_rng(3)
    for scale in (0.0, 0.01, 1.0, 5.0):
        p, pd, pdd = scale * rng.normal(size=(3, n))
        phi = call(coefficients, alpha)
        assert phi.shape == (16 * n,)
        torque = call(terms, p, pd, pdd, alpha) @ phi
        expected = np.reshape(call(graphs(name)["inverse_dynamics"], p, pd, pdd, alpha), n)
        assert np.abs(torque - expected).max() < 1e-11 * max(1.0, np.abs(expected).max())


def test_terms_depend_on_the_structure_alone_and_coefficients_on_the_rest() -> None:
    entries = model("double_pendulum").entries
    structure = ("gravity", "friction.transition_velocity")
    for spec in identification.specs(Graphs(model("double_pendulum"))):
        alpha = ca.SX.sym("alpha", len(entries))
        others = [ca.SX.sym("x", spec.graph.sparsity_in(k)) for k in range(spec.graph.n_in() - 1)]
        jacobian = ca.jacobian(ca.vec(spec.graph(*others, alpha)), alpha)
        acting = {entries[k].name for k in range(len(entries)) if jacobian[:, k].nnz()}
        assert acting
        assert all(name.startswith(structure) == (spec.name == "torque_terms") for name in acting)
