"""Which processor this is: its name, kind (microarchitecture) and the instructions that bear on speed.

The kind is archspec's (`pip install archspec`): the newest one of the vendor all of whose features are here, but for those that
hypervisors hide from their guests and that no arithmetic needs.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

HIDDEN = frozenset({"pku", "flush_l1d", "cppc", "clzero"})
"""Features that guests may not see."""
SPOKEN = re.compile(r"sse4_2|avx\w*|fma|neon|asimd|sve\w*")
"""Features that are worth printing."""
CACHES = Path("/sys/devices/system/cpu/cpu0/cache")


@dataclass(frozen=True)
class Processor:
    """`caches`: sizes by level and type, as Linux names them, empty where it does not."""

    name: str
    kind: str
    vendor: str
    flags: tuple[str, ...]
    caches: Mapping[str, str]

    def lines(self) -> list[str]:
        """For a person."""
        caches = ", ".join(f"{k} {v}" for k, v in self.caches.items()) or "caches unknown"
        return [f"{self.name}: {self.kind} ({self.vendor}); {caches}", f"instructions: {' '.join(self.flags)}"]

    def facts(self) -> dict[str, Any]:
        """For a file."""
        return asdict(self)


def name() -> str:
    """The processor's name as Linux tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = (x.split(":", 1)[1].strip() for x in lines if x.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def nearest(features: Collection[str], vendor: str, targets: Mapping[str, Any]) -> str | None:
    """The kind of `vendor` with most features among those that have none but these and HIDDEN; None without any."""
    fitting = [(len(t.features), k) for k, t in targets.items() if t.vendor == vendor and t.features]
    fitting = [(count, k) for count, k in fitting if not set(targets[k].features) - set(features) - HIDDEN]
    return max(fitting)[1] if fitting else None


def caches() -> dict[str, str]:
    """Sizes of the first core's caches: L1 Data 32K, L1 Instruction 32K, L2 Unified 1024K, …"""
    found = {}
    for index in sorted(CACHES.glob("index*")):
        level, kind, size = ((index / word).read_text().strip() for word in ("level", "type", "size"))
        found[f"L{level} {kind}"] = size
    return found


def this() -> Processor:
    """The processor that runs this."""
    import archspec.cpu

    seen = archspec.cpu.detect.detected_info()
    kind = nearest(seen.features, seen.vendor, archspec.cpu.TARGETS) or archspec.cpu.host().name
    flags = tuple(sorted(word for word in seen.features if SPOKEN.fullmatch(word)))
    return Processor(name(), kind, seen.vendor, flags, caches())
