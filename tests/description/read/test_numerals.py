"""Numbers as they are spelled in the wild, read the same under every locale."""

from __future__ import annotations

import locale
from collections.abc import Iterator

import numpy as np
import pytest
from support.description.random_trees import random_urdf

from diffpbd.codegen.description.front.urdf import read_urdf
from diffpbd.codegen.description.read.numerals import read_limit, read_number, read_vector


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", 1.0), (" +1.5E0 ", 1.5), ("2.", 2.0), (".5", 0.5), ("-1e-3", -1e-3), ("\n1\t", 1.0), ("1e-400", 0.0)],
)
def test_numbers_of_the_wild(text: str, value: float) -> None:
    assert read_number(text) == value


def test_vectors() -> None:
    assert read_vector("\n 1e-1 \t 0. +.05 ") == (0.1, 0.0, 0.05)


def test_limits_may_be_infinite() -> None:
    assert read_limit("-Inf") == -np.inf
    assert read_limit("Infinity") == np.inf
    assert read_limit("999999999999") == 999999999999
    assert (read_limit("1e12"), read_limit("-1e30")) == (np.inf, -np.inf)


@pytest.fixture
def comma_locale() -> Iterator[None]:
    before = locale.setlocale(locale.LC_ALL)
    for name in ("de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"):
        try:
            locale.setlocale(locale.LC_ALL, name)
        except locale.Error:
            continue
        break
    else:
        pytest.skip("no locale with a decimal comma is installed")
    yield
    locale.setlocale(locale.LC_ALL, before)


def test_the_locale_changes_nothing(comma_locale: None) -> None:
    assert locale.localeconv()["decimal_point"] == ","
    assert read_number("1.5") == 1.5
    assert read_urdf(random_urdf(3).encode()) == read_urdf(random_urdf(3).encode())
