"""A recording as it was read, under examination, and what several causes ask of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from diffpbd.runtime.folder.manifest import Joint
from diffpbd.runtime.logs.rates import CLOSE, RATIO, RELATED, Rates, rates_of
from diffpbd.runtime.logs.recording import Recording
from diffpbd.runtime.logs.sampling import COARSE, highest

__all__ = ["Recorded"]

FARTHEST = 2.0
"""[1] Multiple of a joint's range from which positions are in another unit."""


@dataclass
class Recorded:
    """A recording, mended by those causes that come first; joints that are known, by name; whether full turns are taken out, as
    in `Mending`; joints without a motor; `notes` on what was mended; whether its clock is wrong, and whether its motion is
    looked at without spikes that it has."""

    recording: Recording
    facts: Mapping[str, Joint]
    unwrap: bool | None
    passive: Sequence[str]
    notes: list[str] = field(default_factory=list)
    timeless: bool = False
    spiked: bool = False

    @cached_property
    def step(self) -> float:
        """Median step of time [s]."""
        steps = np.diff(self.recording.time)
        return float(np.median(steps[steps > 0.0])) if (steps > 0.0).any() else 0.0

    @cached_property
    def rates(self) -> list[Rates | None]:
        """Rates compared with the slopes of positions, by joint; None without rates or enough motion."""
        return rates_of(self.recording)

    def compared(self) -> Iterator[tuple[int, str, Rates]]:
        """Joints by number and name with that comparison."""
        for k, (name, rate) in enumerate(zip(self.recording.joints, self.rates, strict=True)):
            if rate is not None:
                yield k, name, rate

    def known(self) -> Iterator[tuple[int, Joint]]:
        """Joints by number of which the description is known, and whose positions have the right unit."""
        for k, name in enumerate(self.recording.joints):
            if name in self.facts and name not in self.wrong:
                yield k, self.facts[name]

    @cached_property
    def quick(self) -> dict[str, float]:
        """Joints that move too quickly for the samples, with the frequency [Hz]: slopes of their positions are wrong."""
        r = self.recording
        if not self.step:
            return {}
        edges = sorted({0, *r.breaks, len(r)})
        span = slice(*max(zip(edges, edges[1:], strict=False), key=lambda ends: ends[1] - ends[0]))
        q, rate = r.q[span], 1.0 / self.step
        dq = r.dq[span] if r.dq is not None else np.gradient(q, axis=0) * rate if len(q) > 1 else np.zeros_like(q)
        return {name: f for name, f in zip(r.joints, highest(dq, rate).tolist(), strict=True) if f > COARSE * rate}

    @cached_property
    def wrong(self) -> set[str]:
        """Joints whose rates disagree with the slopes because positions are in another unit: these are far beyond limits, or
        faster than the joint, unlike the rates; all with the same ratio."""
        r, found = self.recording, set[str]()
        for k, name, rate in self.compared():
            joint = self.facts.get(name)
            if joint is None or r.dq is None or abs(rate.ratio) >= 1.0 - RATIO or rate.related < RELATED:
                continue
            bounded = joint.lower is not None and joint.upper is not None
            beyond = bounded and np.ptp(r.q[:, k]) > FARTHEST * (joint.upper - joint.lower)  # type: ignore[operator]
            quick = joint.velocity is not None and joint.velocity > 0.0 and rate.speed > joint.velocity
            if beyond or quick:
                found |= {other for _, other, own in self.compared() if abs(own.ratio / rate.ratio - 1.0) < CLOSE}
        return found
