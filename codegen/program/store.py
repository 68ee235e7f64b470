"""Derived programs kept on disk from run to run, by what they are derived from.

A file's name is the hash of the deriving function, its arguments, the sources of the derivation and SymPy's version, so nothing
that is kept is ever out of date; the folder may be deleted at any time. It is `diffpbd/programs` in XDG_CACHE_HOME (default
~/.cache), or what DIFFPBD_CACHE names; DIFFPBD_CACHE=off keeps nothing. One that others may write to is not used, and of a file
that is not what was written the program is derived again. Writers do not meet: files appear whole, and two of one name hold the
same.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import sympy as sp

from diffpbd.codegen.program import tree
from diffpbd.codegen.program.program import Program
from diffpbd.codegen.program.text import Unwritable, read, write

VARIABLE: Final = "DIFFPBD_CACHE"
OFF: Final = "off"
LEAST: Final = 200
"""Statements from which on a program is kept: shorter ones are derived in no time."""
MOST: Final = 128 * 2**20
"""[bytes] Of all files; those that were not used for longest go first."""
ROOMS: Final = ("program", "laws", "joint_space")
"""Folders of codegen whose sources decide what a stored program is."""
FILES: Final = ("description/robot/contact_law.py",)
"""Files of other folders that do so too."""
SUFFIX: Final = ".program"
UNFINISHED: Final = ".program-new"

Derive = TypeVar("Derive", bound=Callable[..., Program])
_forget: list[Callable[[], None]] = []


def stored(derive: Derive) -> Derive:
    """A derivation whose results are kept in memory, and leaves of some size on disk; arguments tell themselves by `repr`."""

    @functools.cache
    def found(*arguments: Any, **words: Any) -> Program:
        given = f"{derive.__module__}.{derive.__qualname__}{arguments!r}{sorted(words.items())!r}"
        file = _file(f"{given} {tree.DENSE_DEPTH}")
        program = None if file is None else _load(file)
        if program is None:
            program = derive(*arguments, **words)
            if file is not None and program.is_leaf and len(program.statements) >= LEAST:
                _save(file, program)
        return program

    _forget.append(found.cache_clear)
    return functools.wraps(derive)(found)  # type: ignore[return-value]


def forget() -> None:
    """Drop what is kept in memory."""
    for clear in _forget:
        clear()


def folder() -> Path | None:
    """Where programs are kept, made if it is not there; None where they are not."""
    chosen = os.environ.get(VARIABLE, "")
    if chosen == OFF:
        return None
    if chosen:
        path = Path(chosen)
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME", ""))
        if not base.is_absolute():  # as the specification has it
            home = os.path.expanduser("~")
            if not os.path.isabs(home):
                return None
            base = Path(home) / ".cache"
        path = base / "diffpbd" / "programs"
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = path.stat()
    except OSError:
        return None
    return path if status.st_uid == os.geteuid() and not status.st_mode & 0o022 else None


@functools.cache
def _sources() -> str:
    """Hash of everything that a derivation reads but its arguments."""
    digest = hashlib.sha256(sp.__version__.encode())
    top = Path(__file__).resolve().parent.parent
    sources = [p for room in ROOMS for p in (top / room).rglob("*.py")] + [top / file for file in FILES]
    for path in sorted(sources):
        digest.update(f"{path.relative_to(top)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def _file(what: str) -> Path | None:
    path = folder()
    return None if path is None else path / (hashlib.sha256(f"{_sources()}\0{what}".encode()).hexdigest() + SUFFIX)


def _load(file: Path) -> Program | None:
    """The program in a file, None if the file is not what was written."""
    try:
        seal, _, text = file.read_text(encoding="utf-8").partition("\n")
        if seal != hashlib.sha256(text.encode()).hexdigest():
            raise ValueError("seal")
        program = read(text)
        os.utime(file)  # used last
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, IndexError, RecursionError):
        return None
    return program


def _save(file: Path, program: Program) -> None:
    """Keep a program if that can be done; the oldest give way."""
    try:
        text = write(program)
    except Unwritable:
        return
    content = f"{hashlib.sha256(text.encode()).hexdigest()}\n{text}".encode()
    with contextlib.suppress(OSError):  # a full disk, a folder that went away: what is not kept is derived again
        handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=".", suffix=UNFINISHED)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(content)
            os.replace(temporary, file)
        except OSError:
            os.unlink(temporary)
            raise
        _trim(file.parent)


def _trim(path: Path) -> None:
    """Files that were not used for longest go until the rest is within `MOST`."""
    known = []
    for file in path.iterdir():
        if file.suffix not in (SUFFIX, UNFINISHED):  # DIFFPBD_CACHE may name a folder with more in it
            continue
        with contextlib.suppress(OSError):  # another process has taken it away
            status = file.stat()
            known.append((status.st_mtime, status.st_size, file))
    total = sum(size for _, size, _ in known)
    for _, size, file in sorted(known):
        if total <= MOST:
            return
        with contextlib.suppress(OSError):
            file.unlink()
        total -= size
