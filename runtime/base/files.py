"""Files written whole or not at all, and JSON read with clear messages."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.names import listing, near

__all__ = [
    "distinct", "hash_of", "parse_json", "read_beginning", "read_bytes", "read_json", "size_of", "write_atomic"
]  # fmt: skip

PIECE = 1 << 20  # bytes that are hashed at once
BEGINNING = 16  # bytes by which a format is told

Named: TypeAlias = "tuple[str, str | Path | None]"
"""Name of a file on the command line, and the file, if any."""
TEMPORARY_NAME = 32  # characters of a file's name in that of its temporary file, which must not become too long

DATA = (".csv", ".gz", ".npz", ".json", ".bag", ".db3", ".mcap", ".toml", ".urdf", ".xml", ".html", ".c", ".h", ".so")
"""Endings of files that no picture replaces."""


def write_atomic(path: str | Path, content: str | bytes) -> None:
    """Write a file next to its final place and rename it, so that an interruption keeps the previous one.

    A link stays and its target is written; an existing file keeps its mode. A device such as /dev/null is written into.
    """
    mode = _mode_for_writing(path)
    data = content.encode("utf-8") if isinstance(content, str) else content
    target = Path(path)
    temporary = None
    try:
        if mode is not None and stat.S_ISCHR(mode):
            target.write_bytes(data)
            return
        target = Path(os.path.realpath(path))
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:TEMPORARY_NAME]}.")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, 0o666 & ~_umask() if mode is None else stat.S_IMODE(mode))
        os.replace(temporary, target)
        temporary = None
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror or error}.") from None
    finally:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)


def distinct(outputs: Sequence[Named], inputs: Sequence[Named]) -> None:
    """Refuse outputs that cannot be written, or that are the same file as another output or an input."""
    seen = [(name, path) for name, path in inputs if path is not None]
    for name, path in outputs:
        if path is None:
            continue
        if not str(path):
            raise InputError(f"{name}: expected the name of a file to write, found an empty string.")
        mode = _mode_for_writing(path)
        if mode is not None and stat.S_ISCHR(mode):
            continue
        parent = Path(os.path.realpath(path)).parent
        if not parent.is_dir():
            raise InputError(f"{path} cannot be written: there is no folder {parent}.")
        if not os.access(parent, os.W_OK | os.X_OK):
            raise InputError(f"{path} cannot be written: no permission to write into the folder {parent}.")
        for other_name, other in seen:
            if _same(path, other):
                raise InputError(f"{name} {path} is the same file as {other_name} {other}; expected another one.")
        if name == "--out" and _is_recording(path):
            raise InputError(
                f"{name} {path} is a recording by `diffpbd run`. Choose another name, or move the recording away."
            )
        if name == "--plot" and str(path).lower().endswith(DATA):
            raise InputError(f"--plot {path}: a picture is written, expected a name such as {Path(path).stem}.png.")
        seen.append((name, path))


RECORDED = ",stamp,age,mode,status,note"
"""Ends the header of a log that `diffpbd run` has written: nobody can make it again."""


def _is_recording(path: str | Path) -> bool:
    try:
        with open(path, encoding="utf-8") as file:
            return file.readline(100_000).rstrip("\r\n").endswith(RECORDED)
    except (OSError, UnicodeDecodeError):
        return False


def _same(one: str | Path, other: str | Path) -> bool:
    try:
        return os.path.realpath(one) == os.path.realpath(other) or os.path.samefile(one, other)
    except OSError:
        return False


def _mode_for_writing(path: str | Path) -> int | None:
    """The mode of what is there, None if nothing is; refuses what cannot be replaced or written into."""
    if not str(path):
        raise InputError("The name of the file to write is empty.")
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}.") from None
    if stat.S_ISDIR(mode):
        raise InputError(f"{path} cannot be written: it is a folder.")
    if not (stat.S_ISREG(mode) or stat.S_ISCHR(mode)):
        raise InputError(f"{path} cannot be written: it is not a regular file.")
    return mode


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def read_bytes(path: str | Path) -> bytes:
    """The bytes of a file the user named."""
    if not str(path):
        raise InputError("The name of the file to read is empty.")
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from None


def read_beginning(path: str | Path) -> bytes:
    """The first bytes of a file the user named, by which its format is told."""
    if not str(path):
        raise InputError("The name of the file to read is empty.")
    try:
        with Path(path).open("rb") as file:
            return file.read(BEGINNING)
    except IsADirectoryError:
        inside = sorted(p.name for p in Path(path).iterdir())
        raise InputError(f"{path} is a folder; give its files, one by one: {listing(inside)}.") from None
    except FileNotFoundError as error:
        found = near(Path(path).name, [p.name for p in Path(path).parent.glob("*")])
        raise InputError(f"{path} cannot be read: {error.strerror}.{found and ' '}{found}") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from None


def size_of(path: str | Path) -> int:
    """Bytes of a file the user named; 0 of one that is none, which reading it complains of."""
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def hash_of(path: str | Path) -> str:
    """sha256 of a file, or of all files below a folder with their names in it; read in pieces."""
    found = hashlib.sha256()
    try:
        files = sorted(p for p in Path(path).rglob("*") if p.is_file()) if Path(path).is_dir() else [Path(path)]
        for file in files:
            if file != Path(path):
                found.update(f"{file.relative_to(path).as_posix()}\0{file.stat().st_size}\0".encode())
            with file.open("rb") as stream:
                while piece := stream.read(PIECE):
                    found.update(piece)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from None
    return found.hexdigest()


def read_json(path: str | Path) -> Any:
    """The value in a JSON file the user named."""
    return parse_json(read_bytes(path), str(path))


def parse_json(text: str | bytes, where: str) -> Any:
    """Strict JSON: no NaN or Infinity, no key twice in one object."""

    def refuse_constant(token: str) -> NoReturn:
        raise InputError(f"{where}: {token} is not a number in JSON; expected finite numbers.")

    def refuse_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) != len(pairs):
            names = [name for name, _ in pairs]
            twice = sorted({name for name in names if names.count(name) > 1})
            raise InputError(f"{where}: {', '.join(twice)} appears more than once in one object.")
        return result

    try:
        return json.loads(text, parse_constant=refuse_constant, object_pairs_hook=refuse_twice)
    except ValueError as error:  # not JSON, not UTF-8, or an integer of more digits than Python reads
        raise InputError(f"{where} is not JSON: {error}.") from None
    except RecursionError:
        raise InputError(f"{where} is nested too deep to be read.") from None
