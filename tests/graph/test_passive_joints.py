"""Inverse dynamics of an open robot with joints that have no motor: every derivative of both its parts."""

from __future__ import annotations

import dataclasses

import casadi as ca
import numpy as np
import pytest

from diffpbd.codegen.description.front.resolve import resolve
from diffpbd.codegen.graph.functions.derivatives import specs
from diffpbd.codegen.graph.functions.functions import Graphs
from diffpbd.codegen.graph.loops.build import build


def test_derivatives_tell_motors_from_what_is_left() -> None:
    recipe, described = resolve("double_pendulum")
    passive = described.joints[0].name
    model = build(dataclasses.replace(described, passive=(passive,)), recipe)
    made = {s.name: s.graph for s in specs(Graphs(model)) if s.name.endswith("inverse_dynamics")}
    f, jac, by_alpha, vjp = (made[k + "inverse_dynamics"] for k in ("", "jac_", "jac_alpha_", "vjp_"))
    rng = np.random.default_rng(2)
    p, pd, pdd = rng.uniform(-1, 1, (3, 2))
    alpha = np.array([entry.default for entry in model.entries]) + rng.uniform(0.1, 0.2, len(model.entries))
    given = {"p": p, "pd": pd, "pdd": pdd, "alpha": alpha}
    found = jac(**given)
    whole = {"u": np.array([0, 1]), "unbalanced": np.array([1, 0])}
    seeds = {"u": rng.standard_normal(2), "unbalanced": rng.standard_normal(2)}
    pulled = vjp(**given, **{f"{k}_bar": v for k, v in seeds.items()})
    for by in given:
        total = np.zeros(len(given[by]))
        for out, rows in whole.items():
            x = ca.MX.sym("x", len(given[by]))
            slope = ca.Function("s", [x], [ca.jacobian(f(**{**given, by: x})[out], x)])
            wanted = np.array(slope(given[by]))
            own = np.array((by_alpha(**given) if by == "alpha" else found)[f"d{out}_d{by}"])
            assert own == pytest.approx(wanted, abs=1e-12)
            assert (own[rows == 0] == 0).all() and (own[rows == 1] != 0).any()
            total += seeds[out] @ own
        assert np.array(pulled[f"{by}_bar"])[:, 0] == pytest.approx(total, abs=1e-12)
