"""One program per arm on this machine: a lock that the system releases whenever the program ends."""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from diffpbd.runtime.base.errors import RefusedError

__all__ = ["sole_program"]


@contextmanager
def sole_program(arm: str) -> Iterator[Path]:
    """Hold the lock of `arm` (its name on its network); a RefusedError while another program holds it.

    The file stays: removing it would let two programs hold two files of one name.
    """
    digest = hashlib.sha256(arm.encode()).hexdigest()[:16]
    path = Path(tempfile.gettempdir(), f"diffpbd-arm-{digest}.lock")
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise RefusedError(
            f"{path}, the lock of {arm}, cannot be opened ({error.strerror}): is it another user's?"
        ) from None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            owner = os.pread(handle, 32, 0).decode("ascii", "replace").strip() or "unknown"
            raise RefusedError(f"{arm} is held by another program on this machine (process {owner}).") from None
        os.ftruncate(handle, 0)
        os.pwrite(handle, str(os.getpid()).encode("ascii"), 0)
        yield path
    finally:
        os.close(handle)
