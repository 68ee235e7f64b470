"""The table of all kinds as a page of the documentation."""

from __future__ import annotations

from itertools import groupby

from support.spoiled import KINDS
from support.spoiled.files import again
from support.spoiled.kind import Kind

__all__ = ["UNTRIED", "page"]

UNTRIED = ("friction", "limits", "memory", "offset", "rotor", "speed", "spring", "steps")
"""Causes that no kind here has: they are tried by `tests/causes` and `tests/identify/causes`."""

HEAD = """# Spoiled recordings

What `identify` makes of a recording that is spoiled in a known way: a simulated arm of three joints whose friction is known
(Pinocchio's dynamics, integrated by Runge and Kutta's fourth order, noise in all sensors), thirty seconds at 100 Hz. A test
spoils the recording, runs the command, takes the cure from what it says, runs it again, and compares friction and offsets with
the truth. Of {count} kinds {right} are read right, {named} are named with a cure that brings the truth back ({again} of them,
such as an empty file, by a sound recording in its place), and {unseen} nothing observes. … stands for a figure or a name.
`make soak OPTS="-k test_spoiled"` runs all of them; a test writes this table (`--update-golden`) and compares it. A cause is a
class of the [catalogue](development.md#a-cause-of-your-own); all are tried here but for {untried}.
"""


def page() -> str:
    """Its text."""
    unseen = sum(bool(kind.unseen) for kind in KINDS)
    right = sum(not kind.says and not kind.unseen for kind in KINDS)
    parts = [
        HEAD.format(
            count=len(KINDS),
            right=right,
            named=len(KINDS) - right - unseen,
            again=sum(k.mend is again for k in KINDS),
            unseen=unseen or "none",
            untried=", ".join(f"`{name}`" for name in UNTRIED),
        )
    ]
    for group, kinds in groupby(KINDS, key=lambda kind: kind.group):
        parts.append(
            f"## {group[0].upper()}{group[1:]}\n\n| kind | cause | what is said | cure |\n|---|---|---|---|\n"
            + "".join(map(_row, kinds))
        )
    return "\n".join(parts)


def _row(kind: Kind) -> str:
    cause, cure = f"`{kind.cause}`" if kind.cause else "", f"`{kind.cure}`" if kind.says and not kind.unseen else ""
    said = _text(kind.says) or f"read right{f', noted: {_text(kind.noted)}' if kind.noted else ''}"
    return f"| {' | '.join((kind.name, cause, f'nothing: {kind.unseen}' if kind.unseen else said, cure))} |\n"


def _text(words: str) -> str:
    return words.replace("|", "\\|").replace("<", "&lt;")
