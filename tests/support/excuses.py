"""A pytest plugin: a test that fails while the machine stalled is skipped, with the measured stall as the reason."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import pytest

from support.stall import Span, Watch

Allowed = tuple[float, float]
"""How late a wake-up may be [s], and in which share of the time programs may wait for a processor."""
SPAN: pytest.StashKey[Span] = pytest.StashKey()


class Excuses:
    """`allowed` says what a test needs of the machine; None: nothing, so that nothing excuses it."""

    def __init__(self, allowed: Callable[[pytest.Item], Allowed | None]) -> None:
        self._allowed = allowed
        self._known: dict[int, tuple[BaseException, str]] = {}
        """Errors that a stall explains: pytest raises the one of a shared fixture again in every test that asks for it."""
        self.watch: Watch | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Watch the machine from here on."""
        if self._allowed(item) is not None:
            self.watch = self.watch or Watch()
            item.stash[SPAN] = Span(self.watch)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[Any]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """A failure while the machine stalled says nothing of the code."""
        report = yield
        allowed = self._allowed(item)
        if not report.failed or allowed is None or call.excinfo is None:
            return report
        error = call.excinfo.value
        stall = item.stash[SPAN].stall(*allowed) or self._known.get(id(error), (error, ""))[1]
        if stall:
            self._known[id(error)] = (error, stall)
            report.outcome, report.longrepr = "skipped", (str(item.path), (item.location[1] or 0) + 1, stall)
        return report

    def pytest_unconfigure(self) -> None:
        """The watching process ends."""
        if self.watch is not None:
            self.watch.close()
