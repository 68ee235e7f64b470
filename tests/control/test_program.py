"""A controller that is another program."""

from __future__ import annotations

import signal
import sys
import time

import numpy as np

from diffpbd.runtime.control.laws.program import ProgramController

STUBBORN = """
import signal, struct, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
sys.stdin.buffer.read(8 + 8 * 3)
sys.stdout.buffer.write(struct.pack("<4sIii4d", b"DPBR", 0, 0, 0, *[0.0] * 4)); sys.stdout.flush()
time.sleep(60)
"""


def test_a_program_that_ignores_the_request_to_end_is_killed() -> None:
    program = ProgramController([sys.executable, "-c", STUBBORN], np.zeros(3), 2, timeout=0.1)
    begin = time.monotonic()
    program.close()
    assert time.monotonic() - begin < 30.0 and program._process.returncode == -signal.SIGKILL
