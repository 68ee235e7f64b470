"""What `diffpbd run` knows of an arm before the run: how one is reached is the business of the arm's own page."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.loop.arm import Arm
from diffpbd.runtime.loop.configuration import Configuration
from diffpbd.runtime.loop.recorder import Recorder

__all__ = ["Attached", "simulator"]


@dataclass(frozen=True)
class Attached:
    """`configuration` with what the robot itself said, and the maker of its arm, which tells a recorder what comes in."""

    configuration: Configuration
    arm: Callable[[Recorder | None], Arm]


@contextmanager
def simulator(words: Sequence[str], begins: str) -> Iterator[str]:
    """A simulator of this program in a process of its own; what its first line says behind `begins`."""
    process = subprocess.Popen(
        [sys.executable, "-m", "diffpbd.command", *words], stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        if not line.startswith(begins):
            raise InputError("The simulated robot did not start; its message is above.")
        yield line.strip().removeprefix(begins)
    finally:
        process.terminate()
        process.wait(10.0)
        process.stdout.close()
