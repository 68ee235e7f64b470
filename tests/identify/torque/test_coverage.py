"""Printed deviations against the truth, over simulated sets with known errors."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.motions import samples
from support.recordings.coverage import KINDS, Coverage, recordings, truth_of
from support.robots import loaded

from diffpbd.runtime.identify import identify
from diffpbd.runtime.identify.columns import design
from diffpbd.runtime.identify.result.covariance import (
    BINS,
    CRITICAL,
    UNCORRELATED,
    Influence,
    correlation_lengths,
    long_run,
)
from diffpbd.runtime.identify.torque import torque_statistics

FIT = ["friction", "spring"]


def covered(kind: str, sets: int) -> Coverage:
    robot = loaded("baxter")
    results = [identify(robot, recordings(robot, KINDS[kind], 1000 * k + 7), FIT) for k in range(sets)]
    return Coverage.of(results, truth_of(robot))


@pytest.mark.soak
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_intervals_hold_the_truth(kind: str) -> None:
    found = covered(kind, 100)
    assert found.all >= 0.90 and min(found.held.values()) >= 0.80, str(found)
    assert 0.8 <= np.mean(list(found.ratio.values())) <= 1.5, str(found)


@pytest.mark.thorough
def test_ripple_in_a_few_sets(count: Callable[[int, int], int]) -> None:
    """Over position, not over time: windows in time alone hold 0.7, and half of the slow joint's noisy rates."""
    found = covered("ripple", 8)
    assert found.printed >= 0.9 and found.all >= 0.93, str(found)
    slow = [share for name, share in found.held.items() if name.endswith("left_w0")]
    assert np.mean(slow) >= 0.75, str(found)


@pytest.mark.thorough("4007")
@pytest.mark.parametrize("seed", [7, 4007])
def test_noise_of_the_motion_rejects_no_model_and_is_no_delay(seed: int) -> None:
    """It is in the prediction too. Its second derivative explains a third of the residual; and as a clock's it has t = 5.5 in
    the second set."""
    robot = loaded("baxter")
    found = identify(robot, recordings(robot, KINDS["white"], seed), FIT)
    assert all(e.std is not None for e in found.estimates if e.name in truth_of(robot))
    assert not [note for note in found.notes if "a delay of" in note], found.notes


def scatter(make: Callable[[np.random.Generator], Influence], sets: int = 60) -> tuple[float, float]:
    """Mean deviation, and the scatter of the sums that it is of."""
    rng = np.random.default_rng(0)
    found = [make(rng) for _ in range(sets)]
    return float(np.mean([own.deviations()[0] for own in found])), float(np.std([own.total for own in found]))


def of(parts: list[np.ndarray], q: list[np.ndarray]) -> Influence:
    found = Influence(np.array([-1.0]), np.array([1.0]))
    for part, own in zip(parts, q, strict=True):
        found.add(own, [part])
    return found


def test_white_noise() -> None:
    mean, truth = scatter(lambda rng: of([rng.normal(size=(800, 1))], [rng.uniform(-1.0, 1.0, (800, 1))]))
    assert 0.9 * truth < mean < 1.25 * truth


def test_a_short_part_does_not_set_the_window() -> None:
    def make(rng: np.random.Generator) -> list[np.ndarray]:
        noise = np.convolve(rng.normal(size=2049), np.ones(50), "valid")[:, None]
        return [noise[:1900], noise[1900:]]

    rng = np.random.default_rng(1)
    _, windows = long_run(make(rng))
    assert windows[0] > 100  # samples; a quarter of the short part is 25
    mean, truth = scatter(lambda rng: of(parts := make(rng), [rng.uniform(-1.0, 1.0, p.shape) for p in parts]))
    assert 0.8 * truth < mean < 1.4 * truth


def test_what_is_alike_at_a_position_counts_however_often_it_comes_back() -> None:
    """Ten passes over the same ripple are one."""
    angle = np.linspace(0.0, 20.0 * np.pi, 4000)
    q = np.sin(angle)[:, None]

    def make(rng: np.random.Generator) -> Influence:
        rough = np.convolve(rng.normal(size=240), np.ones(20), "valid")
        return of([np.interp(q[:, 0], np.linspace(-1.0, 1.0, len(rough)), rough)[:, None]], [q])

    mean, truth = scatter(make)
    assert 0.8 * truth < mean < 1.5 * truth


@pytest.mark.parametrize(("drift", "seen"), [(0.0, False), (0.1, True)])
def test_recordings_that_differ(drift: float, seen: bool) -> None:
    """Of three, one off by more than chance counts; a difference within it does not."""
    rng = np.random.default_rng(3)
    parts = [rng.normal(size=(1000, 1)) + shift for shift in (2.0 * drift, -drift, -drift)]
    positions = [rng.uniform(-1.0, 1.0, (1000, 1)) for _ in parts]
    between = np.sqrt(3.0 * np.var([part.sum() for part in parts], ddof=1))
    apart = of(parts, positions).deviations()[0][0] == pytest.approx(between)
    assert apart == seen


def test_noise_of_the_motion_is_measured_and_added() -> None:
    """As much of it as the recording has: in rates, positions and accelerations."""
    robot = loaded("baxter")
    run = recordings(robot, KINDS["white"], 0)[0]
    assert run.noise is not None and run.noise[1] is not None
    assert run.noise[0] == pytest.approx(np.full(robot.n, 5e-4), rel=0.1)
    assert run.noise[1] == pytest.approx(np.full(robot.n, 0.02), rel=0.1)
    again = run.disturbed(np.random.default_rng(0))
    added = again.dq - run.dq
    assert added.std(axis=0) == pytest.approx(
        np.full(robot.n, 0.02 * np.sqrt(0.1)), rel=0.2
    )  # 5 of 50 Hz are let through
    assert again.ddq - run.ddq == pytest.approx(np.gradient(added, 0.01, axis=0), abs=1e-12)


def test_lengths_windows_and_positions_by_their_definitions() -> None:
    """Sums as they are written, of two recordings, one of them shorter than the window."""
    rng = np.random.default_rng(5)
    series = [
        np.column_stack([np.convolve(rng.normal(size=n + 29), np.ones(30), "valid"), rng.normal(size=n)])
        for n in (700, 90)
    ]
    correlation = np.array(
        [sum((s[lag:] * s[: max(len(s) - lag, 0)]).sum(axis=0) for s in series) for lag in range(700)]
    )
    lengths = (correlation < UNCORRELATED * correlation[0]).argmax(axis=0)
    assert correlation_lengths(series).tolist() == lengths.tolist()
    variances, windows = long_run(series, factor=6)
    assert windows[0] > 90
    sums = [
        sum(s[max(end - w, 0) : end, k].sum() ** 2 / w for s in series for end in range(1, len(s) + w))
        for k, w in enumerate(windows.tolist())
    ]
    few = sum(c * (windows / 790) ** k for k, c in enumerate(CRITICAL)) / CRITICAL[0]
    assert variances == pytest.approx(sums * few**2)
    q, bins = rng.uniform(-1.1, 1.1, (700, 1)), np.zeros((BINS, 2))
    np.add.at(bins, np.clip(np.floor((q[:, 0] + 1.0) / 2.0 * BINS).astype(int), 0, BINS - 1), series[0])
    assert of(series[:1], [q]).by_position[0] == pytest.approx(bins, abs=1e-12)


def test_long_recordings_are_judged_a_few_parameters_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the same deviations, no more influences at once than may be held, and one disturbed recording after the other."""
    robot, fit, held = loaded("double_pendulum"), ["friction"], 1000
    runs = [own for k in range(2) for own in samples(robot, {}, f"run {k}", seed=k, seconds=4.0, noise=0.05)]
    whole = identify(robot, runs, fit)
    sizes, columns, alive, build = [], [], [], design.build

    class Counted(Influence):
        def deviations(self) -> tuple[np.ndarray, np.ndarray]:
            sizes.append(sum(part.size for part in self.by_time))
            return super().deviations()

    def counted(*given: Any) -> design.Design:
        alive.append(sum(ref() is not None for ref in columns))
        built = build(*given)
        columns.append(weakref.ref(built.matrices[0]))
        return built

    monkeypatch.setattr(design, "build", counted)
    monkeypatch.setattr(torque_statistics, "HELD", held)
    monkeypatch.setattr(torque_statistics, "Influence", Counted)
    parts = identify(robot, runs, fit)
    assert len(sizes) > 5 and max(sizes) <= held
    assert len(alive) > 10 and max(alive) <= len(runs)  # those of the fit
    for one, other in zip(whole.estimates, parts.estimates, strict=True):
        assert one.name == other.name and one.std == pytest.approx(other.std, rel=1e-9)
