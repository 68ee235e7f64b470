"""What all forms say of a solution: directions, bounds, correlations."""

from __future__ import annotations

import numpy as np
import pytest

from diffpbd.runtime.identify.result.statistics import by_information, by_rows, correlations, on_bounds


@pytest.mark.parametrize(("value", "named"), [(0.94, False), (-0.94, False), (0.96, True), (-0.96, True)])
def test_only_what_is_hardly_told_apart_is_named(value: float, named: bool) -> None:
    covariance = np.diag([2.0, 1.0, 3.0]) @ np.array(
        [[1.0, value, 0.1], [value, 1.0, 0.1], [0.1, 0.1, 1.0]]
    ) @ np.diag([2.0, 1.0, 3.0])  # fmt: skip
    found = correlations(["a", "b", "c"], covariance)
    assert [(c.first, c.second) for c in found] == ([("b", "a")] if named else [])
    assert not named or found[0].value == pytest.approx(value)


def test_at_most_ten_pairs_the_closest_first_and_none_without_a_variance() -> None:
    J = np.ones((40, 7)) + 0.02 * np.random.default_rng(0).normal(size=(40, 7)) * np.arange(7)
    covariance = J.T @ J
    covariance[:, 0] = covariance[0] = 0.0
    found = correlations([str(k) for k in range(7)], covariance)
    assert len(found) == 10 and "0" not in {name for c in found for name in (c.first, c.second)}
    assert sorted((abs(c.value) for c in found), reverse=True) == [abs(c.value) for c in found]


def test_rows_and_information_agree() -> None:
    """Rank, condition, what is not determined, and the inverse, where a column is zero and two are alike."""
    rng = np.random.default_rng(1)
    J = rng.normal(size=(30, 5))
    J[:, 1], J[:, 3] = 0.0, J[:, 2]
    J /= np.where(np.linalg.norm(J, axis=0) > 0.0, np.linalg.norm(J, axis=0), 1.0)
    rows, (scale, found) = by_rows(J), by_information(J.T @ J)
    assert scale == pytest.approx(np.ones(5))
    assert rows.rank == found.rank == 3 and rows.condition == pytest.approx(found.condition)
    assert np.abs(J @ rows.undetermined).max() < 1e-14 and np.abs(J @ found.undetermined).max() < 1e-7
    for own in (rows, found):
        assert own.inverse == pytest.approx(np.linalg.pinv(J.T @ J), abs=1e-7)


def test_an_effect_too_small_to_be_felt() -> None:
    _, found = by_information(np.diag([1.0, 1e-14]), unfelt=1e-6)
    assert found.rank == 1 and np.abs(found.undetermined[:, 0]) == pytest.approx([0.0, 1.0])
    _, found = by_information(np.diag([1.0, 1e-10]), unfelt=1e-6)
    assert found.rank == 2


def test_bounds_are_told_from_both_sides() -> None:
    x, lower, upper = np.array([0.0, 1.0, 0.5, 0.5]), np.zeros(4), np.array([1.0, 1.0, 1.0, np.inf])
    assert on_bounds(x, lower, upper, np.full(4, 1e-6)) == {0: "lower", 1: "upper"}
    assert on_bounds(x + [2e-6, -2e-6, 0, 0], lower, upper, np.full(4, 1e-6)) == {}
