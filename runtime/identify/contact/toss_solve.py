"""Parameters and first states from windows of tosses: damped Gauss-Newton steps, every window's state eliminated.

A window counts by Cauchy's loss of its mean square residual: one that nobody predicts, because the body tumbles to the other
side of an edge, hardly counts. Where a step does not help, windows that their old state follows better keep it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.identify.contact.toss_windows import BODY, States, TossWindows
from diffpbd.runtime.identify.motion.trajectory import Parameters
from diffpbd.runtime.identify.result.statistics import by_information

__all__ = ["Found", "predict", "solve", "weights"]

SCALE = 2.0
"""[1] Root mean square of a window, in units of the median one, at which it counts half."""
LEAST = 1e-3
"""[1] The same in deviations of a sample, where windows are followed exactly."""
DAMPING = 1e-3
"""[1] First, in units of the diagonal of the normal equations (Marquardt)."""
RISE, FALL, MOST = 6.0, 5.0, 1e8
"""[1] Of the damping after a step that fails or does not, and where the search ends."""
CHANCES = 6.0
"""[1] Residuals that a predicted toss counts as: a place and a turn."""
FARTHEST = np.repeat([0.02, 0.2, 0.5, 5.0], 3)
"""[m, rad, m/s, rad/s] That a first state moves at most in a step of the search, and ten times that from where it began: beyond
there is no recorded motion, and steps are slow."""
ENOUGH = 1e-5
"""[1] Fall of the loss, in its own size, that ends the search when two steps in turn make less."""


@dataclass(frozen=True)
class Found:
    """The end: parameters, first states, the weight of every window [1], steps made."""

    theta: FloatArray
    states: States
    weights: FloatArray
    iterations: int


def weights(windows: TossWindows, squares: FloatArray, scale: float) -> FloatArray:
    """Of every window [1], by the square of its residuals."""
    return np.asarray(1.0 / (1.0 + squares / windows.residuals / scale**2), dtype=np.float64)


def predict(
    windows: TossWindows, parameters: Parameters, start: FloatArray, states: States, covariance: FloatArray, most: int
) -> FloatArray:
    """Parameters with which whole tosses are predicted best from states that are held, beside the `covariance` of `start`.

    What a toss is off is one chance, not one a sample: it counts as `CHANCES` residuals.
    """
    theta, squares = start, windows.squares(parameters.alpha(start), states)
    scale = max(SCALE * float(np.sqrt(np.median(squares / windows.residuals))), LEAST)
    size, determined = by_information(covariance)
    known = determined.inverse * np.outer(size, size)
    share = CHANCES / windows.residuals / scale**2

    def loss(theta: FloatArray, squares: FloatArray) -> float:
        away = theta - start
        return float(CHANCES * np.log1p(squares / windows.residuals / scale**2).sum() + away @ known @ away)

    damping = DAMPING
    for _ in range(most):
        linear, before = windows.linear(parameters, theta, states), loss(theta, squares)
        weight = share * weights(windows, squares, scale)
        own = (weight[:, None, None] * linear.curvature[:, : len(theta), : len(theta)]).sum(axis=0) + known
        down = (weight[:, None] * linear.gradient[:, : len(theta)]).sum(axis=0) + known @ (theta - start)
        after = before
        while damping < MOST and not after < before:
            move = _solved(own + damping * np.diag(np.diag(own)), -down)
            new = np.clip(theta + move, parameters.lower, parameters.upper)
            moved = windows.squares(parameters.alpha(new), states)
            after = loss(new, moved)
            damping *= RISE
        if not after < before:
            break
        theta, squares, damping = new, moved, damping / RISE / FALL
        if before - after < ENOUGH * before:
            break
    return theta


def solve(windows: TossWindows, parameters: Parameters, theta: FloatArray, states: States, iterations: int) -> Found:
    """Of least loss from a start."""
    squares = windows.squares(parameters.alpha(theta), states)
    scale = max(SCALE * float(np.sqrt(np.median(squares / windows.residuals))), LEAST)
    damping, small, done, gone = DAMPING, 0, 0, np.zeros((windows.count, 2 * BODY))
    while done < iterations and damping < MOST and small < 2:
        done += 1
        linear, weight = windows.linear(parameters, theta, states), weights(windows, squares, scale)
        before = _loss(windows, squares, scale)
        after = before
        while damping < MOST:
            move, ways = _step(linear.gradient, linear.curvature, weight, damping, len(theta))
            new = np.clip(theta + move, parameters.lower, parameters.upper)
            ways = _near(ways, gone)
            alpha, there = parameters.alpha(new), states.moved(ways)
            moved = windows.squares(alpha, there)
            if _loss(windows, moved, scale) >= before:
                kept = windows.squares(alpha, states)
                better = moved <= kept
                there, moved, ways = there.where(better, states), np.minimum(moved, kept), ways * better[:, None]
            after = _loss(windows, moved, scale)
            if after < before:
                theta, states, squares, gone = new, there, moved, gone + ways
                damping /= FALL
                break
            damping *= RISE
        small = small + 1 if before - after < ENOUGH * before else 0
    return Found(theta, states, weights(windows, squares, scale), done)


def _near(ways: FloatArray, gone: FloatArray) -> FloatArray:
    """Shortened, every window's by itself, to `FARTHEST`; none where states have `gone` (windows, 12) too far with it."""
    most = np.abs(ways / FARTHEST).max(axis=1, initial=1.0)
    short = ways / most[:, None]
    inside = (np.abs(gone + short) <= 10.0 * FARTHEST).all(axis=1)
    return np.asarray(short * inside[:, None], dtype=np.float64)


def _loss(windows: TossWindows, squares: FloatArray, scale: float) -> float:
    """Cauchy's, a window by its number of residuals."""
    return float((windows.residuals * np.log1p(squares / windows.residuals / scale**2)).sum())


def _step(
    gradient: FloatArray, curvature: FloatArray, weight: FloatArray, damping: float, m: int
) -> tuple[FloatArray, FloatArray]:
    """Of the parameters (m,) and of every first state (windows, 12)."""
    g, H = weight[:, None] * gradient, weight[:, None, None] * curvature
    own, b = H[:, :m, :m].sum(axis=0), g[:, :m].sum(axis=0)
    damped = damping * np.diag(np.diag(own)) + np.finfo(float).tiny * np.eye(m)
    inner = H[:, m:, m:].copy()
    k = np.arange(2 * BODY)
    inner[:, k, k] *= 1.0 + damping
    inner[:, k, k] += np.finfo(float).tiny
    K = np.linalg.solve(inner, np.concatenate([H[:, m:, :m], g[:, m:, None]], axis=2))
    cross = H[:, :m, m:]
    move = _solved(own + damped - (cross @ K[:, :, :m]).sum(axis=0), -b + (cross @ K[:, :, m:])[:, :, 0].sum(axis=0))
    return move, -K[:, :, m] - K[:, :, :m] @ move


def _solved(H: FloatArray, b: FloatArray) -> FloatArray:
    """Of least size where H has no inverse, its columns alike."""
    if not len(b):
        return b
    scale = 1.0 / np.sqrt(np.maximum(np.diag(H), np.finfo(float).tiny))
    solution = np.linalg.lstsq(H * np.outer(scale, scale), b * scale, rcond=1e-12)[0]
    return np.asarray(solution * scale, dtype=np.float64)
