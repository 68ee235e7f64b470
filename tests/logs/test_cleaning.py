"""Stamps and values as recordings really have them: nothing is sorted, everything left out is counted."""

from __future__ import annotations

import numpy as np
import pytest

from diffpbd.runtime.logs.cleaning import clean

STEP = 0.01


def stamps(count: int = 100, start: float = 0.0) -> np.ndarray:
    return start + STEP * np.arange(count)


def cleaned(time: np.ndarray, values: np.ndarray | None = None):
    return clean(time, {"q_a": np.arange(len(time), dtype=float) if values is None else values})


def test_a_good_recording_is_left_alone() -> None:
    found = cleaned(stamps())
    assert found.keep.tolist() == list(range(100)) and not found.breaks and not found.notes and not found.counts


def test_a_first_stamp_of_zero_is_a_stamp_and_a_later_one_is_none() -> None:
    time = stamps(100, -0.5)  # passes zero at sample 50, in its place
    assert time[50] == 0.0 and cleaned(time).keep.tolist() == list(range(100))
    time = stamps(100, 5.0)
    time[0] = 0.0
    assert cleaned(time).keep.tolist() == list(range(100))
    time[50] = 0.0
    assert cleaned(time).counts == {"zero stamp": 1}


@pytest.mark.parametrize(("late", "found"), [(16, True), (17, False)])
def test_how_late_a_sample_may_come(late: int, found: bool) -> None:
    """Into a hole of two steps that samples since have left behind: buffers swap that far, beyond it is a clock."""
    time = np.delete(stamps(), 40)
    time = np.insert(time, 40 + late, stamps()[40])
    result = cleaned(time)
    assert (result.counts == {"late stamp": 1}) == found and bool(
        len(result.notes) and "steps back" in result.notes[-1]
    ) != found


@pytest.mark.parametrize(("missing", "found"), [(14, True), (16, False)])
def test_how_long_a_hole_may_be_for_a_late_sample(missing: int, found: bool) -> None:
    time = np.delete(stamps(), range(40, 40 + missing))
    time = np.insert(time, 41, stamps()[45])
    assert (cleaned(time).counts == {"late stamp": 1}) == found


def test_swapped_samples_are_left_out_and_break() -> None:
    time = stamps()
    time[[40, 41]] = time[[41, 40]]
    found = cleaned(time)
    assert found.counts == {"late stamp": 1} and 41 not in found.keep and len(found.keep) == 99
    assert found.breaks == (41,) and found.keep[41] == 42
    assert (np.diff(time[found.keep]) > 0).all()


def test_repeated_stamps_lose_nothing_and_do_not_break() -> None:
    time = np.insert(stamps(), 20, stamps()[19])
    found = cleaned(time, np.insert(np.arange(100.0), 20, 19.0))
    assert found.counts == {"repeated stamp": 1} and not found.breaks and len(found.keep) == 100
    other = cleaned(time)
    assert any("1 of the repeated stamps come with other values" in note for note in other.notes)


def test_a_clock_that_steps_back_begins_a_new_part() -> None:
    for back in (0.05, 0.3, 50.0):
        time = np.concatenate([stamps(50, 100.0), stamps(50, 100.5 - back)])
        found = cleaned(time)
        assert len(found.keep) == 100 and found.breaks == (50,), back
        assert "time steps back 1 times, first at sample 51" in found.notes[0]


def test_zero_stamps_within_are_no_clock() -> None:
    time = stamps(100, 7.0)
    time[[30, 60, 61]] = 0.0
    found = cleaned(time)
    assert found.keep.tolist()[:31] == [*range(30), 31] and 30 in found.breaks
    assert found.counts == {"zero stamp": 3}


def test_a_wild_stamp_ahead_does_not_swallow_what_follows() -> None:
    time = stamps()
    time[50] = 900.0
    found = cleaned(time)
    assert len(found.keep) == 100 and 51 in found.breaks


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_missing_values_are_counted_by_column_and_break(bad: float) -> None:
    values = np.arange(100.0)
    values[[10, 11, 50]] = bad
    time = stamps()
    time[70] = np.nan
    found = cleaned(time, values)
    assert found.counts == {"a value is missing or not a number": 4}
    assert found.breaks == (10, 48, 67) and any("q_a (3), time (1)" in note for note in found.notes)


def test_every_fault_at_random_is_accounted_for() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        time, values = stamps(300), np.arange(300.0)
        for k in rng.choice(290, 6, replace=False).tolist():
            fault = rng.integers(4)
            if fault == 0:
                time[[k, k + 1]] = time[[k + 1, k]]
            elif fault == 1:
                time[k + 1] = time[k]
            elif fault == 2:
                values[k] = np.nan
            else:
                time[k:] -= rng.uniform(0.5, 3.0)
        found = cleaned(time, values)
        assert len(found.keep) + sum(found.counts.values()) == 300
        assert (np.diff(found.keep) > 0).all()
        for a, b in zip([0, *found.breaks], [*found.breaks, len(found.keep)], strict=True):
            assert (np.diff(time[found.keep[a:b]]) > 0.0).all()
