"""One-line status of a run, from its counters. Called from another thread."""

from __future__ import annotations

from diffpbd.runtime.base.live import Parts, Rate, duration, latency
from diffpbd.runtime.loop.guard import TickStatus
from diffpbd.runtime.loop.run import Run
from diffpbd.runtime.loop.stopping import Phase
from diffpbd.runtime.mpc.plan import PlanSource

__all__ = ["RunStatus"]

WORDS = {
    Phase.CHECK: "checking", Phase.ENABLE: "enabling", Phase.HOLD: "holding", Phase.STOP: "stopping", Phase.DONE: "stopped",
}  # fmt: skip


class RunStatus:
    """Describes a run at each call."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._rate = Rate()

    def __call__(self) -> Parts:
        """State, rate, the loop's latency, skipped periods, statuses of ticks, and the time left."""
        run, report = self._run, self._run.report
        parts = [self.state()]
        if report.ticks:
            rate = self._rate.of(report.ticks)
            parts.append((f"  {'-' if rate is None else f'{rate:.0f}'} Hz  latency {latency(report.latency)}", ""))
            parts.append((f"  skipped {report.overruns}", "warn" if report.overruns else ""))
            parts += [
                (f"  {status.words} {run.supervisor.counts[status]}", "" if status.good else "bad")
                for status in TickStatus if run.supervisor.counts[status]
            ]  # fmt: skip
            parts += [(f"  {text}", "") for text in self._controller()]
        elif run.phase is Phase.RUN:
            parts.append(("  no tick yet", ""))
        limit = run.options.duration
        if limit is not None:
            parts.append((f"  {duration(max(limit - run.time, 0.0))} left", ""))
        elif report.ticks:
            parts.append((f"  for {duration(run.time)}", ""))
        return parts

    def state(self) -> tuple[str, str]:
        """One word, and its meaning."""
        run, arm = self._run, self._run.arm
        trouble = arm.unable()
        if trouble and arm.state is not None and run.phase is not Phase.ENABLE:
            return trouble, "bad"
        if run.phase is not Phase.RUN:
            return WORDS[run.phase], "warn"
        state = arm.state
        if state is None or state.age(arm.clock.now()) > arm.stale_after:
            return "stale", "bad"
        if run.supervisor.refusing:
            return "refusing", "bad"
        return ("ramp-in", "warn") if run.time < run.supervisor.settings.ramp else ("running", "good")

    def _controller(self) -> list[str]:
        """Counters that some controllers keep: where a plan came from, how many replies were late."""
        controller = self._run.supervisor.controller
        late, plans = getattr(controller, "late", 0), getattr(controller, "mpc", None)
        texts = [f"late replies {late}"] if late else []
        if plans is not None:
            texts += [f"{source.value} {plans.counts[source]}" for source in PlanSource if plans.counts[source]]
        return texts
