"""The second half of `generate`: compiles a quickly compiled library in full while it is already in use.

`begin` starts a process of its own (`python -m diffpbd.runtime.folder.finish FOLDER`) that compiles with low priority, puts the
library in place and ends; one at a time for a folder. Open robots switch to the new library by themselves; its results agree
to rounding, and bit for bit on the portable path. In a read-only folder, or with DIFFPBD_BACKGROUND=off, the quick one
stays.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from diffpbd.runtime.base.errors import DiffpbdError
from diffpbd.runtime.folder.compiler import compile_library, quick_mark
from diffpbd.runtime.folder.manifest import read_manifest

__all__ = ["begin", "complete", "is_quick"]

VARIABLE = "DIFFPBD_BACKGROUND"
OFF = "off"
NICE = 10
"""Priority of the compilers in the background."""
START = '"$0" -m diffpbd.runtime.folder.finish "$1" >/dev/null 2>&1 </dev/null &'
"""A shell that ends at once, so that the process needs no parent to wait for it."""


def is_quick(folder: Path, library: str) -> bool:
    """Whether the library of a folder was compiled quickly, and not yet in full."""
    return quick_mark(folder / library).exists()


def begin(folder: Path, library: str) -> bool:
    """Compile in full in the background, if needed and not already running; returns whether that was started."""
    if os.environ.get(VARIABLE) == OFF or not os.access(folder, os.W_OK):
        return False
    with _alone(quick_mark(folder / library), wait=False) as alone:
        if not alone:
            return False
    started = subprocess.run(
        ["sh", "-c", START, sys.executable, str(folder.resolve())], start_new_session=True, check=False
    )
    return started.returncode == 0


def complete(folder: Path, library: str, progress: Callable[[str], None] | None = None, *, wait: bool = True) -> bool:
    """Compile in full now; with `wait`, wait for a process that already does. Returns whether this one did. Raises
    DiffpbdError."""
    mark = quick_mark(folder / library)
    with _alone(mark, wait=wait) as alone:
        if not alone:
            return False
        before = mark.stat().st_ino

        def wanted() -> bool:
            return mark.exists() and mark.stat().st_ino == before

        if progress is not None:
            progress("compiling in full")
        compile_library(folder, library, progress=progress, wanted=wanted)
    return True


@contextlib.contextmanager
def _alone(mark: Path, *, wait: bool) -> Iterator[bool]:
    """The lock of a mark; False if there is no mark (any more), or another process has it and `wait` is not set."""
    try:
        lock = os.open(mark, os.O_RDONLY)
    except OSError:
        yield False
        return
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except OSError:
            yield False
            return
        yield mark.exists() and os.stat(mark).st_ino == os.fstat(lock).st_ino
    finally:
        os.close(lock)


def _main(folder: str) -> None:
    with contextlib.suppress(OSError):
        os.nice(NICE)
    with contextlib.suppress(
        DiffpbdError, OSError
    ):  # the folder was removed or generated anew: the next process does it
        complete(Path(folder), read_manifest(folder).library, wait=False)


if __name__ == "__main__":
    _main(sys.argv[1])
