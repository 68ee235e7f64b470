"""States to evaluate at, and derivatives by central differences with one Richardson step."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

BAR = 1e-6
"""Allowed difference of a derivative, relative to max(1, its largest entry)."""


def random_states(n: int, rows: int, seed: int = 3) -> dict[str, Array]:
    """p within ±π, pd within ±2, pdd within ±5, u within ±10; (rows, n) each."""
    rng = np.random.default_rng(seed)
    scale = {"p": np.pi, "pd": 2.0, "pdd": 5.0, "u": 10.0}
    return {name: rng.uniform(-size, size, (rows, n)) for name, size in scale.items()}


def degenerate_states(n: int, seed: int = 4) -> dict[str, Array]:
    """Where formulas break: rest, zero pose, zero rate, one joint moving, half and whole turns, no torque."""
    rng = np.random.default_rng(seed)
    p, pd, u = rng.uniform(-1.0, 1.0, (3, n))
    zero, one = np.zeros(n), np.eye(n)[-1]
    turn = np.full(n, np.pi)
    rows = [
        (zero, zero, zero),
        (zero, pd, zero),
        (zero, zero, u),
        (p, zero, zero),
        (p, zero, u),
        (p, one, zero),
        (turn, pd, u),
        (2.0 * turn, zero, u),
        (0.5 * turn, -pd, u),
        (-0.5 * turn, zero, zero),
    ]
    return dict(zip(("p", "pd", "u"), np.array(rows).swapaxes(0, 1), strict=True)) | {
        "pdd": np.array([u if k % 2 else zero for k in range(len(rows))])
    }


def states(n: int, rows: int, seed: int = 3) -> dict[str, Array]:
    """Random states and then the degenerate ones."""
    random, special = random_states(n, rows, seed), degenerate_states(n)
    return {name: np.concatenate([random[name], special[name]]) for name in random}


def differences(f: Callable[[Array], Mapping[str, Array]], x: Array, step: Array | float) -> Mapping[str, Array]:
    """∂f/∂x at x (m): for every output of f, its flat (by rows) size times m.

    f takes (rows, m) and gives (rows, ...) for every output; `step` is one number or one for each entry of x, 0 where a column
    is left out (zero).
    """
    m = x.size
    size = np.broadcast_to(np.asarray(step, float), (m,))
    moves = np.concatenate([np.diag(size * s) for s in (1.0, -1.0, 0.5, -0.5)])
    result, by = {}, np.where(size == 0.0, 1.0, size)[:, None]
    for name, value in f(x + moves).items():
        up, down, half_up, half_down = value.reshape(4, m, -1)
        whole, half = (up - down) / (2.0 * by), (half_up - half_down) / by
        result[name] = ((4.0 * half - whole) / 3.0).T
    return result


class Worst:
    """The largest error against its bar, and where it was; `close` asserts on it and prints it."""

    def __init__(self, what: str, bar: float) -> None:
        self.what, self.bar, self.value, self.place = what, bar, 0.0, ""

    def see(self, found: npt.ArrayLike, expected: npt.ArrayLike, place: str, scale: float | None = None) -> None:
        """Difference over `scale` (default: max(1, largest |expected|)); NaN counts as infinite."""
        found, expected = np.atleast_1d(np.asarray(found, float)), np.atleast_1d(np.asarray(expected, float))
        assert found.shape == expected.shape, f"{place}: {found.shape} against {expected.shape}"
        if found.size == 0:
            return
        by = max(1.0, float(np.abs(expected).max())) if scale is None else scale
        error = np.abs(found - expected) / by
        error[~np.isfinite(error)] = np.inf
        at = np.unravel_index(int(error.argmax()), error.shape)
        if not self.place or error[at] > self.value:
            self.value, self.place = float(error[at]), f"{place}[{', '.join(map(str, at))}]"

    def close(self) -> None:
        """Print and assert."""
        print(f"{self.what}: worst {self.value:.2e} (bar {self.bar:g}) at {self.place}")
        assert self.place, f"{self.what}: nothing was compared"
        assert self.value <= self.bar, f"{self.what}: {self.value:.3e} > {self.bar:g} at {self.place}"


def slopes(f: Callable[[Array], Array], size: int, step: float = 1e-4) -> Array:
    """Columns of derivatives of a vector by `size` numbers at zero, by 4-point differences."""
    return np.array([(8 * (f(e) - f(-e)) - (f(2 * e) - f(-2 * e))) / (12 * step) for e in step * np.eye(size)]).T
