"""Validation that leaves training."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.recordings.coverage import KINDS, recordings
from support.robots import loaded

from diffpbd.runtime.identify.result.beyond import beyond_training
from diffpbd.runtime.identify.result.result import Errors, Trace
from diffpbd.runtime.logs.processing import Samples


@pytest.fixture(scope="module")
def runs() -> list[Samples]:
    return recordings(loaded("baxter"), KINDS["white"], 0)


def errors(size: float) -> Errors:
    """Residuals of 0.1 on every joint but for the second, which has `size`."""
    residual = np.full((100, 7), 0.1)
    residual[:, 1] = size
    swing = np.tile(np.sin(np.arange(100.0))[:, None], 7)
    return Errors.of(loaded("baxter").joints, [Trace("run", np.arange(100.0), swing + residual, swing, swing, swing)])


@pytest.mark.parametrize(
    ("factor", "quantity", "words"),
    [(1.0, "q", []), (1.02, "dq", []), (2.0, "dq", ["speed"]), (2.0, "ddq", ["acceleration"])],
)
def test_ranges(runs: list[Samples], factor: float, quantity: str, words: list[str]) -> None:
    stretched = getattr(runs[0], quantity).copy()
    stretched[:, 2] *= factor
    said = beyond_training(
        loaded("baxter"), runs, [replace(runs[0], **{quantity: stretched})], errors(0.1), errors(0.1)
    )
    assert len(said) == len(words)
    for sentence, expected in zip(said, words, strict=True):
        assert (
            sentence.startswith(f"validation leaves the training range of left_e0: {expected} ")
            and "% of the samples outside" in sentence
        )


def test_a_position_elsewhere(runs: list[Samples]) -> None:
    moved = runs[0].q.copy()
    moved[:, 3] += 1.0
    said = beyond_training(loaded("baxter"), runs, [replace(runs[0], q=moved)], errors(0.1), errors(0.1))
    assert [s.split(" -")[0].split(" 1")[0][:58] for s in said] == [
        "validation leaves the training range of left_e1: position"
    ]


@pytest.mark.parametrize(("size", "said"), [(0.14, False), (0.16, True)])
def test_an_error_beyond_training(runs: list[Samples], size: float, said: bool) -> None:
    found = beyond_training(loaded("baxter"), runs, runs, errors(0.1), errors(size))
    assert [s[:61] for s in found] == (
        ["validation of left_s1 is worse than training predicts: RMSE 0"] if said else []
    )
