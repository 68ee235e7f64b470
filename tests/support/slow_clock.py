"""Processes whose clock goes slower than the machine's (`slow_clock.c`): a busy machine is then quick enough for them."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path

from support.compiled import shared_library

SOURCE = Path(__file__).with_name("slow_clock.c")
WORDS = "DIFFPBD_SLOW_CLOCK"
"""Environment variable: factor and origin of the clock, for this process and what it starts."""


def slowed(factor: float, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """An environment in which time passes `factor` times as slowly, from now on."""
    before = environment.get("LD_PRELOAD", "")
    return {
        **environment, "LD_PRELOAD": f"{shared_library(SOURCE)} {before}".strip(),
        WORDS: f"{factor!r}:{time.clock_gettime_ns(time.CLOCK_MONOTONIC)}",
    }  # fmt: skip
