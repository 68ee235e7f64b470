"""Replaces a folder atomically: a reader, or one after a kill, finds one of the two complete."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import glob
import os
import shutil
import sys
from pathlib import Path

__all__ = ["OLD_SUFFIX", "replace_folder", "restore_folder"]

OLD_SUFFIX = ".old"
"""Suffix of a folder that is being replaced, if the system cannot exchange the two."""
_AT_FDCWD = -100  # of Linux: paths are relative to the current folder
_EXCHANGE = 2  # RENAME_EXCHANGE of Linux, RENAME_SWAP of macOS
_CANNOT = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)
"""Errors of a kernel or file system (NFS) that cannot exchange."""


def replace_folder(new: Path, folder: Path) -> None:
    """Put `new`, in the same parent, in the place of `folder`, whose old content is then at `new`, or gone. Raises OSError.

    One system call if available, else two renames; `restore_folder` repairs a kill between them.
    """
    if not folder.exists():
        os.rename(new, folder)
        return
    if _exchanged(new, folder):
        return
    old = new.with_name(new.name + OLD_SUFFIX)
    os.rename(folder, old)
    try:
        os.rename(new, folder)
    finally:
        if not folder.exists():
            os.rename(old, folder)
    shutil.rmtree(old, ignore_errors=True)


def restore_folder(folder: Path) -> None:
    """Restore `folder` from its `OLD_SUFFIX` copy if it is missing."""
    if folder.exists() or not folder.parent.is_dir():
        return
    for old in sorted(folder.parent.glob(f".{glob.escape(folder.name)}.*{OLD_SUFFIX}")):
        if not _at_work(old.with_name(old.name.removesuffix(OLD_SUFFIX))):
            with contextlib.suppress(OSError):  # another process was faster
                os.rename(old, folder)
            return


def _at_work(new: Path) -> bool:
    """Whether a process holds the lock of the new folder."""
    try:
        lock = os.open(new, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(lock)
    return False


def _exchanged(one: Path, other: Path) -> bool:
    """Exchange two names atomically; False if that is not possible here."""
    libc = ctypes.CDLL(None, use_errno=True)
    words = os.fsencode(one), os.fsencode(other)
    try:
        if sys.platform == "darwin":
            result = libc.renamex_np(*words, ctypes.c_uint(_EXCHANGE))
        else:
            result = libc.renameat2(_AT_FDCWD, words[0], _AT_FDCWD, words[1], ctypes.c_uint(_EXCHANGE))
    except AttributeError:  # a C library without it
        return False
    if result == 0:
        return True
    code = ctypes.get_errno()
    if code in _CANNOT:
        return False
    raise OSError(code, os.strerror(code), str(other))
