"""A pytest plugin: a test in real time that fails is run again in a process of its own with a slow clock, and that counts.

What a busy machine does to such a test goes away there (`slow_clock.c`); what the code does wrong is done again.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pytest
from _pytest.runner import runtestprotocol

from support.slow_clock import WORDS, slowed

LEAST, MOST = 3.0, 12.0
"""Factors of the clock: on an idle machine, and at any load."""
ENDS = 900.0
"""s for the second run."""
OPTIONS = ("--soak", "--thorough")
"""Without which a test may be left out of the second run."""


def factor() -> float:
    """By how much slower: as many processes as there are to a core, with as much again to spare."""
    return min(max(2.0 * os.getloadavg()[0] / (os.cpu_count() or 1), LEAST), MOST)


class Slower:
    """`concerned` says which tests need real time."""

    def __init__(self, concerned: Callable[[pytest.Item], bool]) -> None:
        self._concerned = concerned

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """As pytest does it, and once more after a failure."""
        if WORDS in os.environ or sys.platform != "linux" or not self._concerned(item):
            return None
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        failed = [report for report in reports if report.failed]
        if failed:
            how = factor()
            done = again(item, how)
            for report in failed:
                report.sections.append((f"with a clock {how:.1f} times as slow", done.stdout[-4000:]))
                if done.returncode == 0:
                    report.outcome, report.longrepr = "passed", None
                    report.user_properties.append(("slower", how))
        for report in reports:
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Name the tests for which this machine was too slow."""
        told = [
            f"{report.nodeid} ({dict(report.user_properties)['slower']:.1f} times)"
            for report in [*terminalreporter.stats.get("passed", []), *terminalreporter.stats.get("", [])]
            if "slower" in dict(report.user_properties)
        ]
        if told:
            terminalreporter.section("failed at the machine's pace, passed with a slower clock")
            for line in told:
                terminalreporter.line(line)


def known_as(item: pytest.Item) -> str:
    """The test's name outside of this process: pytest-xdist adds the group to it."""
    group = item.get_closest_marker("xdist_group")
    return item.nodeid if group is None else item.nodeid.removesuffix(f"@{group.args[0]}")


def again(item: pytest.Item, factor: float) -> subprocess.CompletedProcess[str]:
    """The test alone, by a clock `factor` times as slow."""
    asked = [option for option in OPTIONS if item.config.getoption(option, default=False)]
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(item.config.rootpath),
        *asked,
    ]
    return subprocess.run(
        [*words, known_as(item)], cwd=item.config.rootpath, env=slowed(factor), stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, timeout=ENDS,
    )  # fmt: skip
