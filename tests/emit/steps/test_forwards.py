"""One answer to a step that is none, in every function that takes h."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.robots import loaded

from diffpbd.runtime.base.errors import SolverError
from diffpbd.runtime.functions.function import BoundFunction

NONE = (0.0, -0.0, -1e-3, -1e9, 1e-10, 5e-324)
"""[s]"""


def given(function: BoundFunction, h: Any) -> dict[str, Any]:
    """Arguments of about this size by name; defaults for alpha."""
    sizes, found = {"N": 3, "N+1": 4}, {}
    for a in function.facts.inputs:
        if a.name not in ("h", "alpha", "p_ref"):
            columns = sizes[a.cols] if isinstance(a.cols, str) else a.cols
            found[a.name] = np.full(a.rows if columns == 1 else (columns, a.rows), 0.05)
    return {**found, "h": h}


def test_every_function_that_takes_a_step_refuses_none() -> None:
    robot = loaded("double_pendulum")
    names = [name for name in robot.functions if any(a.name == "h" for a in robot.function(name).facts.inputs)]
    assert {"joint_step", "rollout", "vjp_trajectory", "node_torque", "estimate_torque", "mpc", "step"} <= set(names)
    assert "sixth_order_step" in names and len(names) > 20
    for name in sorted({*names} - {"momentum_residual"}):  # that is a formula
        function = robot.function(name)
        assert 21 in function.facts.status, name
        for h in NONE:
            with pytest.raises(SolverError, match=rf"{name} of .* failed: h is not above zero: .* \(status 21\)"):
                function(**given(function, h))


def test_rows_of_a_batch() -> None:
    """Side by side where they share h, one by one where not."""
    robot, rows = loaded("double_pendulum"), np.full((9, 2), 0.05)
    for name in ("joint_step", "jac_joint_step", "vjp_joint_step"):
        function = robot.function(name)
        batch = {k: np.full((9, 2), 0.05) for k in given(function, 0.0) if k != "h"}
        for h in NONE:
            with pytest.raises(SolverError, match=r"row 0 \(9 of 9 rows failed\): h is not above zero"):
                function(**batch, h=h)
    with pytest.raises(SolverError, match=r"in row 4: h is not above zero"):
        robot.joint_step(rows, rows, rows, h=np.where(np.arange(9) == 4, -0.01, 0.01))


def test_graphs_have_no_number_for_it() -> None:
    robot = loaded("double_pendulum")
    for name in ("joint_step", "joint_step_unrolled", "step_variational_direct"):
        graph = robot.casadi(name)
        start = [np.full(graph.numel_in(k), 0.05) for k in range(graph.n_in() - 2)]
        if name.startswith("step"):
            start[0] = robot.fk([0.05, 0.05], [0.1, 0.1])
        for h, none in ((0.01, False), (1e-5, False), *((h, True) for h in NONE)):
            ends = graph(*start, h, robot.alpha.defaults)
            for end in ends if isinstance(ends, tuple) else (ends,):
                assert np.isnan(np.array(end)).all() == none
