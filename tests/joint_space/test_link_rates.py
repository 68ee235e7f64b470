from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from support.robots import alpha_of, graphs, loaded_alpha, model

from diffpbd.codegen.graph.step import torque_estimation

STATE, OMEGA = 13, slice(10, 13)


@pytest.mark.parametrize("name", ["baxter_bare", "double_pendulum", "prismatic_skew"])
def test_rates_are_those_of_fk_and_their_jacobian_is_the_derivative(name: str) -> None:
    rates, jacobian = torque_estimation.kernels(model(name))
    n, alpha = model(name).robot.n, loaded_alpha(alpha_of(name))
    p, pd = ca.SX.sym("p", n), ca.SX.sym("pd", n)
    omega = rates(p, pd, alpha)
    differentiated = ca.Function("d", [p, pd], [omega, ca.jacobian(omega, p), ca.jacobian(omega, pd)])
    rng = np.random.default_rng(2)
    for scale in (0.0, 1.0, 4.0):
        state = scale * rng.normal(size=(2, n))
        found = [np.array(x) for x in jacobian(*state, alpha)]
        for a, b in zip(found, differentiated(*state), strict=True):
            np.testing.assert_allclose(a, np.array(b), rtol=0, atol=1e-12 * (1.0 + scale))
        xi = np.array(graphs(name)["fk"](*state, alpha)).reshape(n, STATE)
        slides = [state[1, j] for j in range(n) if model(name).tree.slides[j]]
        np.testing.assert_array_equal(found[0][3 * n :, 0], slides)
        np.testing.assert_allclose(found[0][: 3 * n].reshape(n, 3), xi[:, OMEGA], rtol=0, atol=1e-12 * (1.0 + scale))
        np.testing.assert_allclose(np.array(rates(*state, alpha)), found[0], rtol=0, atol=1e-14 * (1.0 + scale))
