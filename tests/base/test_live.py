"""The live line on a pseudo-terminal: drawn, updated, gone at every end; nothing elsewhere, and no loop waits for it."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.robots import generated
from support.terminal import Terminal, terminal

from diffpbd.runtime.arms.baxter.simulated.status import simulated_status
from diffpbd.runtime.base import live
from diffpbd.runtime.base.latency import Latency
from diffpbd.runtime.base.live import Loop, live_line
from diffpbd.runtime.loop.guard import TickStatus
from diffpbd.runtime.loop.status import RunStatus
from diffpbd.runtime.loop.stopping import Phase, Report

FAST = 0.01  # s between two pictures
CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]")  # all but tab and line feed


@contextlib.contextmanager
def on_screen(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    """Standard error is a terminal; it has everything that was drawn after this context."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(live, "PERIOD", FAST)
    with terminal() as screen, os.fdopen(os.dup(screen.slave), "w") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        yield screen


def looped(times: int = 20) -> tuple[bool, Loop]:
    """A loop of so many turns under the line."""
    loop = Loop(times, "turn")
    with live_line(loop) as shown:
        for _ in range(times):
            time.sleep(FAST / 2)
            loop.add(1e-3)
    return shown, loop


def test_it_appears_is_updated_and_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    with on_screen(monkeypatch) as screen:
        shown, loop = looped()
    pictures = screen.pictures()
    assert shown and loop.done == 20
    texts = [re.sub(r"\x1b\[[0-9;]*m", "", picture) for picture in pictures]
    assert texts[-1] == "" and len(set(texts)) >= 4
    counts = [int(text.split()[1]) for text in texts[:-1]]
    assert counts == sorted(counts) and counts[-1] > counts[0]
    assert all("p50 1.0" in text and "Hz" in text and " left" in text for text in texts[2:-1]), texts
    assert "\x1b[32mrunning" in pictures[0]
    assert "\n" not in screen.drawn and "\x1b[?25l" not in screen.drawn  # no scrolling, no hidden cursor


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, SystemExit])
def test_it_goes_with_whatever_ends_the_loop(monkeypatch: pytest.MonkeyPatch, error: type[BaseException]) -> None:
    with on_screen(monkeypatch) as screen, pytest.raises(error), live_line(Loop(1, "turn")):
        time.sleep(3 * FAST)
        raise error
    assert len(screen.pictures()) > 1 and screen.drawn.endswith("\r\x1b[2K")


def test_it_never_wraps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    with on_screen(monkeypatch) as screen:
        monkeypatch.setenv("NO_COLOR", "1")
        looped()
    pictures = screen.pictures()
    assert pictures[0].startswith("running") and pictures[0].endswith("…")
    assert max(map(len, pictures)) == 19


def test_nothing_where_it_was_not_asked_for_or_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    with on_screen(monkeypatch) as screen:
        with live_line(Loop(1, "turn"), wanted=False) as shown:
            assert not shown
        monkeypatch.setenv("TERM", "dumb")
        assert not looped(1)[0]
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setattr(os, "tcgetpgrp", lambda _: os.getpgrp() + 1)  # a job in the background
        assert looped(3)[0]
        monkeypatch.setattr(sys, "stdout", io.StringIO())
        monkeypatch.setattr(sys, "stderr", io.StringIO())
        assert not looped(1)[0]
    assert screen.drawn == ""


def test_without_rich_it_is_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rich.console", None)
    with on_screen(monkeypatch) as screen:
        assert looped()[0]
        monkeypatch.setenv("TERM", "dumb")
        assert not looped(1)[0]
    pictures = screen.pictures()
    assert pictures[0].startswith("running  0 of 20 turns") and pictures[-1] == ""


def test_a_halted_terminal_holds_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "LEAVE_WAIT", 0.05)
    with on_screen(monkeypatch) as screen:
        termios.tcflow(screen.slave, termios.TCOOFF)
        begin = time.monotonic()
        assert looped(3)[0]
        assert time.monotonic() - begin < 1.0
        assert screen.drawn == ""
        termios.tcflow(screen.slave, termios.TCOON)
        time.sleep(5 * FAST)
    assert screen.pictures()


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.0, "0.0 s"), (59.9, "59.9 s"), (245.0, "4:05 min"), (9000.0, "2:30 h")]
)
def test_times(seconds: float, text: str) -> None:
    assert live.duration(seconds) == text


def test_a_command_draws_on_the_terminal_and_nothing_changes(tmp_path: Path) -> None:
    """Its log is the same to the byte with and without; a pipe gets no control character."""
    words = [
        sys.executable,
        "-m",
        "diffpbd.runtime.cli",
        "mpc",
        str(generated("double_pendulum")),
        "--goal",
        "[0.3, 0.2]",
    ]
    words += ["--duration", "8", "--out"]
    environment = {**os.environ, "TERM": "xterm"}
    with terminal() as screen:
        seen = subprocess.run(
            [*words, tmp_path / "seen.csv"], stdout=subprocess.PIPE, stderr=screen.slave, env=environment, check=True
        )
    unseen = subprocess.run([*words, tmp_path / "unseen.csv"], capture_output=True, env=environment, check=True)
    assert len(screen.pictures()) >= 2 and "of 800 ticks" in screen.drawn and screen.pictures()[-1] == ""
    assert unseen.stderr == b""
    for output in (seen.stdout, unseen.stdout):
        assert not CONTROL.search(output) and b"800 ticks" in output
    assert (tmp_path / "seen.csv").read_bytes() == (tmp_path / "unseen.csv").read_bytes()


def fake_run(**more: object) -> SimpleNamespace:
    """The attributes of a run that RunStatus looks at."""
    report = Report()
    state = SimpleNamespace(age=lambda now: 0.001)
    arm = SimpleNamespace(unable=lambda: "", state=state, stale_after=0.1, clock=SimpleNamespace(now=lambda: 0.0))
    supervisor = SimpleNamespace(
        refusing=False, settings=SimpleNamespace(ramp=1.0), counts=dict.fromkeys(TickStatus, 0), controller=object()
    )
    options = SimpleNamespace(duration=10.0)
    own = {"report": report, "arm": arm, "supervisor": supervisor, "options": options, "phase": Phase.RUN, "time": 2.5}
    return SimpleNamespace(**(own | more))


def text(run: SimpleNamespace) -> str:
    return "".join(word for word, _ in RunStatus(run)())


def test_what_a_run_says() -> None:
    run = fake_run()
    assert text(run) == "running  no tick yet  7.5 s left"
    run.report.ticks, run.report.overruns = 600, 2
    run.report.latency.add(2e-4)
    run.supervisor.counts |= {TickStatus.OK: 598, TickStatus.POSITION_JUMP: 2}
    assert text(run) == "running  - Hz  latency p50 0.200 p99 0.200 ms  skipped 2  ok 598  position jump 2  7.5 s left"
    run.time = 0.5
    assert text(run).startswith("ramp-in")
    run.supervisor.refusing = True
    assert text(run).startswith("refusing")
    run.arm.state.age = lambda now: 0.2
    assert text(run).startswith("stale")
    run.arm.unable = lambda: "the robot is stopped"
    assert text(run).startswith("the robot is stopped")
    for phase in (phase for phase in Phase if phase is not Phase.RUN):
        assert text(fake_run(phase=phase)).endswith("7.5 s left")
    assert text(fake_run(phase=Phase.HOLD)).startswith("holding")


def test_what_the_simulated_robot_says() -> None:
    robot = SimpleNamespace(
        enabled=False,
        stopped=False,
        error=False,
        mode=3,
        audit=SimpleNamespace(commands=5),
        compensating=lambda now: True,
    )
    node: Any = SimpleNamespace(robot=robot, lateness=Latency(), skipped=4, rate=100)

    def said() -> str:
        return "".join(word for word, _ in simulated_status(node, 60.0)())

    assert said().startswith(
        "disabled  0 Hz  late p50 0.000 p99 0.000 ms  skipped 4  joint states 100 Hz  commands 0 Hz"
    )
    assert said().endswith(" left")
    robot.enabled, robot.compensating = True, lambda now: False
    assert "enabled" in said() and "torque mode  gravity left to the client" in said()
    robot.stopped = True
    assert said().startswith("e-stop")


def test_a_rate_is_taken_over_the_last_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(live.clock, "monotonic", lambda: now[0])
    rate = live.Rate()
    assert rate.of(0) is None
    for k in range(1, 20):
        now[0] = float(k)
        found = rate.of(100 * k if k <= 10 else 1000 + 50 * (k - 10))
    assert found == pytest.approx(50.0)
    assert live.latency(Latency()) == "p50 0.000 p99 0.000 ms"
