"""One program to an arm; and how the outside asks a run to stop."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest
from support.arms.bench import JOINTS
from support.arms.bench_runs import impedance, run

from diffpbd.runtime.base.errors import GraphError, RefusedError
from diffpbd.runtime.loop.guard import TickStatus
from diffpbd.runtime.loop.ownership import sole_program
from diffpbd.runtime.loop.reflexes import Reflex
from diffpbd.runtime.loop.stopping import Phase, Reason, Report, StopRequest
from diffpbd.runtime.ros1.watch import MasterWatch


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_second_program_is_refused_until_the_first_has_gone(folder: Path) -> None:
    code = (
        "import sys, tempfile; tempfile.tempdir = sys.argv[1]\n"
        "from diffpbd.runtime.loop.ownership import sole_program\n"
        "with sole_program('http://robot left'):\n    print('held', flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdout.readline() == "held\n"
    with pytest.raises(RefusedError, match=f"process {other.pid}"), sole_program("http://robot left"):
        pass
    with sole_program("http://robot right"):  # the other arm is free
        pass
    other.kill()
    other.communicate()
    with sole_program("http://robot left") as path:
        assert path.read_text() == str(os.getpid()) and path.stat().st_mode & 0o777 == 0o600


def test_a_lock_that_is_a_link_is_not_followed(folder: Path) -> None:
    with sole_program("arm") as path:
        pass
    path.unlink()
    victim = folder / "victim"
    victim.write_text("kept")
    path.symlink_to(victim)
    with pytest.raises(RefusedError, match="cannot be opened"), sole_program("arm"):
        pass
    assert victim.read_text() == "kept"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_signals_ask_and_are_given_back(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with StopRequest().signals() as stop:
        assert stop.text == ""
        os.kill(os.getpid(), number)
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.text == number.name  # the first one
    assert signal.getsignal(number) is before


def test_elsewhere_than_in_the_main_thread_no_signal_is_touched() -> None:
    seen = []
    before = signal.getsignal(signal.SIGINT)

    def other() -> None:
        with StopRequest().signals() as stop:
            seen.append((stop.text, signal.getsignal(signal.SIGINT)))

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert seen == [("", before)]


def test_exit_codes() -> None:
    assert Report().exit_code == 0 and Report().good
    assert Report(Reason.INTERRUPTED).exit_code == 130 and Report(Reason.INTERRUPTED).good
    for reason in Reason:
        if reason not in (Reason.FINISHED, Reason.INTERRUPTED):
            assert Report(reason).exit_code == 1 and not Report(reason).good
    report = Report(Reason.REFLEX, "too fast", Reflex.SPEED)
    assert report.exit_code == 21 and str(report).startswith("reflex speed (exit code 21) in phase check: too fast")


def test_what_a_report_says() -> None:
    assert str(Report()) == (
        "finished in phase check\nclean stop: nothing had been sent\n"
        "0 ticks, 0 commands sent, 0 dropped by the link, 0 periods skipped"
    )
    report = Report(Reason.INTERRUPTED, "SIGINT", None, Phase.RUN, "held", 3, 2, 4, 5)
    report.counts.update({TickStatus.OK: 1, TickStatus.POSITION_JUMP: 2})
    report.rejected.update({"zero stamp": 7})
    lines = str(report).splitlines()
    assert lines[:3] == [
        "interrupted in phase run: SIGINT", "clean stop: held",
        "3 ticks, 2 commands sent, 5 dropped by the link, 4 periods skipped",
    ]  # fmt: skip
    assert lines[3].startswith("loop latency") and "work" in lines[4] and lines[5].startswith("state age at sending")
    assert lines[6:] == ["ticks position jump: 2", "joint states rejected, zero stamp: 7"]


def test_a_report_says_how_far_the_goal_is() -> None:
    """At the last tick, of the joint that is farthest from it; what has no goal says nothing."""
    for goal, name in (((-0.9, 1.9), "arm_s"), ((0.3, 1.6), "arm_e"), ((math.nan, 1.6), "arm_e")):
        report, arm = run(impedance(goal, 0.5), duration=0.8)
        assert report.away is not None and report.away["of"] == name and report.away["unit"] == "rad"
        distance = abs(goal[JOINTS.index(name)] - arm.q[JOINTS.index(name)])
        assert 0.1 < distance == pytest.approx(report.away["distance"], abs=0.05)  # the stop brakes it
        assert (
            f"at the last tick {name} was {report.away['distance']:.4g} rad from the goal" in str(report).splitlines()
        )
        assert report.facts()["away"] == report.away
    for law in ("hold", impedance((math.nan, math.nan))):
        report, _ = run(law, duration=0.3)
        assert report.reason is Reason.FINISHED and report.away is None


class Master:
    """Answers from a list, the last one for ever."""

    def __init__(self, *answers: object) -> None:
        self.answers = list(answers)

    def process(self) -> int:
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def publishers(self, topic: str) -> tuple[str, ...]:
        return ("/me", "/other")

    def node(self, name: str) -> str:
        return f"http://{name}"

    caller = "/me"


@pytest.mark.parametrize(
    "answers, lost",
    [
        ((1, 1), ""), ((1, 2), "restarted"), ((1, GraphError("no answer"), 1, GraphError("no answer"), 1), ""),
        ((1, GraphError("no answer")), "no answer"), ((1, ValueError("x")), "ValueError"), ((1, IndexError("x")), "IndexError"),
        ((1, TypeError("x"), 1), ""), ((1, GraphError("no answer"), GraphError("no answer"), 1), "no answer"),
    ],
)  # fmt: skip
def test_the_masters_watch_survives_any_answer(answers: tuple, lost: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("diffpbd.runtime.ros1.watch.WATCH_PERIOD", 0.002)
    monkeypatch.setattr("diffpbd.runtime.ros1.registrations.call", lambda *asked, timeout: asked)  # each one answers
    watch = MasterWatch(Master(*answers), "/topic", "/me")
    assert watch.others == ("/other",)
    watch._thread.join(10.0 if lost else 0.06)
    assert lost in watch.lost and bool(lost) == bool(watch.lost)
    assert watch._thread.is_alive() != bool(lost)
    watch.close()
    watch._thread.join(30.0)
    assert not watch._thread.is_alive()
