"""A log of which the program was killed holds what was there half a second before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from diffpbd.runtime.loop.recorder import TICK_TOPIC
from diffpbd.runtime.loop.replay import ReplayReport
from diffpbd.runtime.records.bag import read_bag
from diffpbd.runtime.records.messages import Tick

KILLED = """
import os, signal, sys, time
import numpy as np
from diffpbd.runtime.loop.recorder import Recorder
from diffpbd.runtime.records.messages import Header, Tick

recorder = Recorder(sys.argv[1], {}, ("a",))
recorder.open()
one = np.zeros(1)
for k in range(100):
    recorder.tick(Tick(Header(), float(k), 0.0, 3, 0, ("a",), one, one, one, one, one, one))
    time.sleep(0.01)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("suffix", [".bag", ".csv"])
def test_a_kill_loses_half_a_second_at_most(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"run{suffix}"
    subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    if suffix == ".bag":
        times = [Tick.decode(message.data).time for message in read_bag(path) if message.topic == TICK_TOPIC]
        assert str(ReplayReport(len(times), "", ("cut off",))).endswith("the same; cut off")
    else:
        times = [float(row.split(",")[0]) for row in path.read_text().splitlines()[1:]]
    assert times == [float(k) for k in range(len(times))] and len(times) >= 40
