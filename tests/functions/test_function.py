from __future__ import annotations

import copy
import os
import pickle
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diffpbd.runtime import InputError, Robot, load
from diffpbd.runtime.folder.manifest import MANIFEST_NAME

RNG = np.random.default_rng(1)
H = 0.01
G = 0.5


def expected_step(p: Any, pd: Any, u: Any, h: Any = H) -> tuple[Any, Any]:
    pd_next = pd + h * (u - np.array([4.0, 9.0]) * p + G)
    return p + h * pd_next, pd_next


def test_the_robot_says_what_it_is(twin: Robot, twin_folder: Path) -> None:
    assert (twin.name, twin.n, twin.joints, twin.links) == ("twin", 2, ("a", "b"), ("mass_a", "mass_b"))
    assert "joint_step" in dir(twin)
    assert repr(twin.joint_step) == "joint_step(p[2], pd[2], u[2], h, alpha[5]) -> p_next[2], pd_next[2]"
    assert twin.folder == twin_folder
    assert pickle.loads(pickle.dumps(twin)).joints == twin.joints


def test_results_and_functions_cross_processes(
    twin: Robot, twin_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    p, pd, u = RNG.normal(size=(3, 2))
    result = twin.joint_step(p, pd, u)
    for again in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
        assert type(again) is type(result) and again._fields == ("p_next", "pd_next")
        assert (again.p_next == result.p_next).all() and again.p_next is not result.p_next
    stiff = twin.with_parameters({"spring.stiffness.a": 7.0})
    for robot in (twin, stiff):
        for name in ("joint_step", "rollout", "vjp_rollout"):
            function = robot.function(name)
            assert repr(pickle.loads(pickle.dumps(function))) == repr(function)
        sent = pickle.loads(pickle.dumps(robot.joint_step))
        assert (sent(p, pd, u).pd_next == robot.joint_step(p, pd, u).pd_next).all()
    assert (stiff.joint_step(p, pd, u).pd_next != result.pd_next).any()
    monkeypatch.chdir(twin_folder.parent)  # a folder by a relative name is found from elsewhere
    sent = pickle.dumps((load(twin_folder.name).joint_step, load(twin_folder.name)))
    monkeypatch.chdir(tmp_path)
    function, robot = pickle.loads(sent)
    assert (function(p, pd, u).p_next == result.p_next).all() and robot.joints == twin.joints


def test_a_robot_that_is_sent_is_opened_anew_where_its_folder_changed(twin_folder: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(twin_folder, tmp_path / "twin"))
    sent = pickle.dumps(load(folder).joint_step)
    pickle.loads(sent)
    assert pickle.loads(sent)._library is pickle.loads(sent)._library  # a pool sends one with every task
    kept = pickle.loads(sent)._library
    os.utime(folder / MANIFEST_NAME, (1, 1))
    assert pickle.loads(sent)._library is not kept
    shutil.rmtree(folder)
    with pytest.raises(InputError, match="There is no folder"):
        pickle.loads(sent)


def test_single_with_defaults_by_position_and_by_name(twin: Robot) -> None:
    p, pd, u = RNG.normal(size=(3, 2))
    result = twin.joint_step(p, pd, u)
    for got, expected in zip(result, expected_step(p, pd, u), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-15)
    again = twin.joint_step(u=list(u), pd=pd, p=p, h=H, alpha={})
    assert result._fields == ("p_next", "pd_next")
    assert (again.p_next == result.p_next).all() and (again.pd_next == result.pd_next).all()


def test_alpha_by_name_and_integers_as_numbers(twin: Robot) -> None:
    assert twin.gravity([0, 0], {"payload.mass": 1}).tolist() == [-1.0, -1.0]
    assert twin.gravity([0, 0], alpha=twin.alpha.vector({"gravity.x": -9})).tolist() == [9.0, 9.0]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_batch_equals_its_rows(twin: Robot, threads: int) -> None:
    p, pd, u = RNG.normal(size=(3, 7, 2))
    h = RNG.uniform(0.001, 0.02, size=7)
    batch = twin.joint_step(p, pd, u, h, threads=threads)
    for row in range(7):
        single = twin.joint_step(p[row], pd[row], u[row], h[row])
        assert (batch.p_next[row] == single.p_next).all()
        assert (batch.pd_next[row] == single.pd_next).all()


def test_single_arguments_are_shared_by_the_rows(twin: Robot) -> None:
    p = RNG.normal(size=(4, 2))
    alphas = np.tile(twin.alpha.defaults, (4, 1))
    a = twin.joint_step(p, [0, 0], [1, 2])
    b = twin.joint_step(p, np.zeros((4, 2)), np.tile([1, 2], (4, 1)), np.full((4, 1), H), alphas)
    assert (a.p_next == b.p_next).all()


def test_matrices_are_rows_by_columns(twin: Robot) -> None:
    A = RNG.normal(size=(2, 3))
    result = twin.shapes([1, 2], A)
    assert (result.B == 2 * A.T).all()
    assert result.s == 3.0 and isinstance(result.s, float)
    assert (twin.shapes([1, 2], np.asfortranarray(A)).B == 2 * A.T).all()
    batch = twin.shapes(np.ones((5, 2)), np.stack([A] * 5))
    assert batch.B.shape == (5, 3, 2) and (batch.B == 2 * A.T).all()
    assert (batch.s == 2.0).all() and batch.s.shape == (5,)


def test_arrays_that_are_not_contiguous(twin: Robot) -> None:
    p = RNG.normal(size=(2, 6))
    assert (twin.fk(p.T[::2], [0, 0]) == twin.fk(p.T[::2].copy(), [0, 0])).all()


def test_no_rows_give_no_rows(twin: Robot) -> None:
    assert twin.gravity(np.empty((0, 2))).shape == (0, 2)


def test_results_are_not_overwritten_by_the_next_call(twin: Robot) -> None:
    first = twin.gravity([0, 0])
    kept = first.copy()
    twin.gravity([0, 0], {"gravity.x": 3.0})
    assert (first == kept).all()


def test_the_joint_state_defaults_its_reference_to_zero(twin: Robot) -> None:
    state = twin.joint_state(twin.fk([0.1, 0.2], [0.3, 0.4]))
    assert state.p.tolist() == [0.1, 0.2] and state.pd.tolist() == [0.3, 0.4]
