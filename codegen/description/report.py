"""The report of `check`: errors (`faults`: refused), warnings (`doubts`: generated, but named); text and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from diffpbd.runtime.base.errors import InputError

SHOWN_FAULTS: Final = 40
"""Faults spelled out in an exception; a broken export can have thousands, the report holds them all."""

SHOWN_CHARACTERS: Final = 60
"""Characters of a file's own text quoted in a message."""


def quoted(text: str) -> str:
    """A file's own text for a message: in double quotes, see `printable`."""
    return f'"{printable(text)}"'


def printable(text: str, most: int = SHOWN_CHARACTERS) -> str:
    """Text with control characters escaped, cut after `most` characters."""
    escaped = text if text.isprintable() else text.encode("unicode_escape").decode("ascii")
    return escaped if len(escaped) <= most else escaped[:most] + "…"


def listed(names: Iterable[str], most: int = 30) -> str:
    """Names for a message, the first `most` of them."""
    all_names = [quoted(name) for name in names]
    rest = len(all_names) - most
    return ", ".join(all_names[:most]) + (f" and {rest} more" if rest > 0 else "")


@dataclass(frozen=True)
class Finding:
    """One fault or doubt: a stable `code`, a sentence, the names it concerns and the numbers it compares."""

    code: str
    message: str
    links: tuple[str, ...] = ()
    joints: tuple[str, ...] = ()
    numbers: tuple[tuple[str, float], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Links and joints."""
        return (*self.links, *self.joints)

    def line(self, what: str) -> str:
        """For a terminal."""
        return f"{what} [{self.code}] {self.message}"

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {
            "code": self.code,
            "message": self.message,
            "links": list(self.links),
            "joints": list(self.joints),
            "numbers": dict(self.numbers),
        }


@dataclass(frozen=True)
class Report:
    """The outcome of `check`: masses in kg; `joints` in the order of every function, empty on faults. `loops` are
    lines about closed loops and joints without a motor, `notes` about what of the file is not used by default."""

    source: str
    name: str = ""
    joints: tuple[str, ...] = ()
    tips: tuple[str, ...] = ()
    moving_mass: float = 0.0
    total_mass: float = 0.0
    faults: tuple[Finding, ...] = field(default=())
    doubts: tuple[Finding, ...] = field(default=())
    loops: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def errors(self) -> tuple[Finding, ...]:
        """Findings that keep the robot from being generated; `faults` in JSON."""
        return self.faults

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """Findings that are probably mistakes, but do not keep the robot from being generated; `doubts` in JSON."""
        return self.doubts

    def passed(self, *, strict: bool = False) -> bool:
        """True without faults; with `strict`, without doubts too."""
        return not self.faults and not (strict and self.doubts)

    def text(self) -> str:
        """For a terminal: one line a finding."""
        lines = [f"{self.source}: robot {quoted(self.name)}"]
        if not self.faults:
            lines.append(f"joints: {', '.join(self.joints)}")
            lines.append(f"tips: {', '.join(self.tips)}")
            lines.append(f"moving mass: {self.moving_mass:.6g} kg")
            lines += [*self.loops, *self.notes]
        lines.append(f"total mass of the file: {self.total_mass:.6g} kg")
        lines += [finding.line("error") for finding in self.faults]
        lines += [finding.line("warning") for finding in self.doubts]
        lines.append(f"{counted(len(self.faults), 'error')}, {counted(len(self.doubts), 'warning')}")
        return "\n".join(lines) + "\n"

    def json(self) -> str:
        """The report as a JSON object: source, name, joints, tips, moving_mass, total_mass, faults, doubts."""
        content: dict[str, object] = {
            "source": self.source,
            "name": self.name,
            "joints": list(self.joints),
            "tips": list(self.tips),
            "moving_mass": self.moving_mass,
            "total_mass": self.total_mass,
            "faults": [finding.as_dict() for finding in self.faults],
            "doubts": [finding.as_dict() for finding in self.doubts],
        }
        content |= {key: list(own) for key, own in (("loops", self.loops), ("notes", self.notes)) if own}
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


class DescriptionError(InputError):
    """A description that cannot be used; the message lists every fault and `report` holds them."""

    def __init__(self, report: Report) -> None:
        shown = [f"({i}) {fault.message}" for i, fault in enumerate(report.faults[:SHOWN_FAULTS], start=1)]
        if len(report.faults) > SHOWN_FAULTS:
            shown.append(f"and {len(report.faults) - SHOWN_FAULTS} more, which `diffpbd check` lists")
        super().__init__(f"{report.source}: {counted(len(report.faults), 'error')}: " + "; ".join(shown))
        self.report = report


def counted(number: int, noun: str) -> str:
    """`1 error`, `2 errors`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
