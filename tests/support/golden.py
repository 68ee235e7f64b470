"""Golden files: compare, or update, in one place."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path

LINES_SHOWN = 40


def check_golden(folder: Path, actual: Mapping[str, bytes], *, update: bool, committed: set[str], command: str) -> None:
    """Compare `actual` (relative path to content) with the `committed` files of `folder`, or write it there.

    The sets of names are compared first, then each content; `command` is what accepts the new files.
    """
    if update:
        for name in committed - set(actual):
            (folder / name).unlink()
        for name, content in actual.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        return
    accept = f"\nIf the change is intended: {command}"
    missing, extra = sorted(committed - set(actual)), sorted(set(actual) - committed)
    assert not missing and not extra, f"{folder}: no longer written: {missing}; new and not committed: {extra}{accept}"
    for name in sorted(actual):
        expected = (folder / name).read_bytes()
        if expected != actual[name]:
            shown = _difference(expected, actual[name], name)
            raise AssertionError(f"{folder / name} changed:\n{shown}{accept}")


def _difference(expected: bytes, actual: bytes, name: str) -> str:
    try:
        before, after = expected.decode().splitlines(), actual.decode().splitlines()
    except UnicodeDecodeError:
        return f"binary, {len(expected)} bytes before, {len(actual)} now"
    lines = list(difflib.unified_diff(before, after, f"committed/{name}", f"regenerated/{name}", lineterm=""))
    more = f"\n... and {len(lines) - LINES_SHOWN} lines more" if len(lines) > LINES_SHOWN else ""
    return "\n".join(lines[:LINES_SHOWN]) + more
