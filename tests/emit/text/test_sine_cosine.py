"""The emitted sine and cosine: accuracy against extended precision, symmetry to the bit, and what goes to the C library."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from support.kernel_head import head

from diffpbd.codegen.emit.text.environment import LARGE_ANGLE
from diffpbd.runtime.folder.compiler import compile_flags, find_compiler

Array = npt.NDArray[np.float64]

CALLS = """
void every(int n, const double *x, double *s, double *c) {
  int k;
  for (k = 0; k < n; k++) sine_cosine(x[k], &s[k], &c[k]);
}
void library(int n, const double *x, double *s, double *c) {
  int k;
  for (k = 0; k < n; k++) library_sine_cosine(x[k], &s[k], &c[k]);
}
"""
BAR = 2.2e-16
"""Rounding of a result near one is 1.1e-16."""


@pytest.fixture(scope="module", params=["portable", "contracted"])
def both(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., tuple[Array, Array]]:
    """x → sine and cosine; compiled as robots are, and with multiplications and additions in one where the processor can."""
    folder = tmp_path_factory.mktemp(request.param)
    more = ["-ffp-contract=fast", "-march=native"] if request.param == "contracted" else []
    (folder / "s.c").write_text("#include <math.h>\n" + head() + CALLS)
    flags = [*compile_flags(), "-Wall", "-Wextra", "-Werror", *more, "-shared"]
    command = [*find_compiler(), *flags, str(folder / "s.c"), "-o", str(folder / "s.so"), "-lm"]
    subprocess.run(command, check=True)
    library = ctypes.CDLL(str(folder / "s.so"))

    def call(x: npt.ArrayLike, name: str = "every") -> tuple[Array, Array]:
        x = np.array(x, float, ndmin=1)
        s, c = np.zeros((2, len(x)))
        pointers = (a.ctypes.data_as(ctypes.c_void_p) for a in (x, s, c))
        getattr(library, name)(len(x), *pointers)
        return s, c

    return call


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="extended precision is the reference")
def test_sine_and_cosine_are_accurate(
    both: Callable[..., tuple[Array, Array]], count: Callable[[int, int], int]
) -> None:
    rng = np.random.default_rng(1)
    n = count(200_000, 4_000_000)
    quarters = np.arange(-60_000, 60_001) * (0.5 * np.pi)
    angles = [rng.uniform(-r, r, n) for r in (0.785, 3.15, 100.0, LARGE_ANGLE)]
    for x in (*angles, quarters, np.nextafter(quarters, np.inf), LARGE_ANGLE + np.array([-1e-9, 0.0, 1e-9, 1.0, 1e6])):
        s, c = both(x)
        exact = x.astype(np.longdouble)
        for found, value in ((s, np.sin(exact)), (c, np.cos(exact))):
            assert np.abs(found - value).max() <= BAR


def test_symmetry_and_special_values(both: Callable[..., tuple[Array, Array]]) -> None:
    x = np.random.default_rng(2).uniform(0.0, LARGE_ANGLE, 10_000)
    (s, c), (back, same) = both(x), both(-x)
    np.testing.assert_array_equal(s, -back)
    np.testing.assert_array_equal(c, same)
    s, c = both([0.0, -0.0, 5e-324, 1e-300])
    np.testing.assert_array_equal(s, [0.0, 0.0, 5e-324, 1e-300])
    np.testing.assert_array_equal(c, 1.0)
    s, c = both([np.nan, np.inf, -np.inf])
    assert np.isnan(s).all() and np.isnan(c).all()


def test_beyond_the_bound_the_library_answers(both: Callable[..., tuple[Array, Array]]) -> None:
    """From both sides: only inside do the two differ anywhere."""
    rng = np.random.default_rng(3)
    beyond = np.array(
        [np.nextafter(LARGE_ANGLE, np.inf), *rng.uniform(LARGE_ANGLE, 2.0 * LARGE_ANGLE, 5000), 1e22, 1e300]
    )
    for x in (beyond, -beyond):
        for own, other in zip(both(x), both(x, "library"), strict=True):
            np.testing.assert_array_equal(own, other)
    inside = np.array([LARGE_ANGLE, *rng.uniform(0.5 * LARGE_ANGLE, LARGE_ANGLE, 5000)])
    assert any((own != other).any() for own, other in zip(both(inside), both(inside, "library"), strict=True))
    s, c = both(LARGE_ANGLE)
    assert abs(s[0] - np.sin(LARGE_ANGLE)) <= BAR and abs(c[0] - np.cos(LARGE_ANGLE)) <= BAR
