"""Checks of a generated folder before any of its code runs: write permissions, and hashes of its files.

Sources are compared with the manifest. The compiled library is not in the manifest, because it may be compiled anywhere: its
hash is written beside it after compiling. That detects a truncated, mixed-up or replaced library. It is not a signature:
whoever can write into the folder can write both.
"""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.files import write_atomic
from diffpbd.runtime.folder.manifest import MANIFEST_NAME, Manifest

__all__ = ["RECORD_SUFFIX", "close_to_others", "record_library", "verify_file", "verify_library", "verify_sources"]

SOURCE_SUFFIXES = (".c", ".h")
RECORD_SUFFIX = ".sha256"
"""Suffix of the file with a library's hash, in the format of sha256sum; templates/Makefile writes it too."""


def verify_file(folder: Path, name: str, manifest: Manifest) -> None:
    """Refuse a generated file that is missing, world-writable, or differs from its hash in the manifest."""
    again = f"Generate the folder again: {manifest.again()}."
    if name not in manifest.files:
        raise InputError(f"{folder / name} is not listed in the manifest of {manifest.name}. {again}")
    found = hashlib.sha256(_read(folder / name, again)).hexdigest()
    if found != manifest.files[name]:
        raise InputError(
            f"{folder / name} is not the file that was generated: its sha256 is {found[:16]}…, "
            f"the manifest says {manifest.files[name][:16]}…. {again}"
        )


def verify_sources(folder: Path, manifest: Manifest) -> None:
    """Check the folder and all its C sources and headers against the manifest."""
    names = [name for name in sorted(manifest.files) if name.endswith(SOURCE_SUFFIXES)]
    for path in sorted({folder, folder / MANIFEST_NAME, *((folder / name).parent for name in names)}):
        if path.exists():
            _refuse_open(path, path.stat().st_mode)
    for name in names:
        verify_file(folder, name, manifest)


def record_library(library: Path) -> None:
    """Write the hash of a library just compiled beside it."""
    record = library.with_name(library.name + RECORD_SUFFIX)
    write_atomic(record, f"{hashlib.sha256(library.read_bytes()).hexdigest()}  {library.name}\n")
    close_to_others(record)


def verify_library(folder: Path, manifest: Manifest) -> None:
    """Refuse a library that lies outside, is world-writable, or differs from its recorded hash."""
    library = folder / manifest.library
    again = f"Compile it again with `make -C {folder} shared`."
    if not library.resolve().is_relative_to(folder.resolve()):
        raise InputError(f"{library} leads out of its folder, to {library.resolve()}. {again}")
    content = _read(library, again)
    record = library.with_name(library.name + RECORD_SUFFIX)
    if not record.exists():
        raise InputError(f"{record}, the record of the library's hash, is missing. {again}")
    words = _read(record, again).decode("ascii", "replace").split()
    found = hashlib.sha256(content).hexdigest()
    if words[:1] != [found]:
        said = words[0][:16] if words else "nothing"
        raise InputError(
            f"{library} is not the library that was compiled: its sha256 is {found[:16]}…, {record.name} says {said}…. {again}"
        )


def close_to_others(path: Path) -> None:
    """Remove other users' write permission, which a umask of 0 gives, from a file or a folder and its content."""
    for item in (path, *(path.rglob("*") if path.is_dir() else ())):
        mode = item.lstat().st_mode
        if mode & stat.S_IWOTH and not stat.S_ISLNK(mode):
            os.chmod(item, stat.S_IMODE(mode) & ~stat.S_IWOTH)


def _read(path: Path, again: str) -> bytes:
    try:
        with path.open("rb") as file:
            _refuse_open(path, os.fstat(file.fileno()).st_mode)
            return file.read()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}. {again}") from None


def _refuse_open(path: Path, mode: int) -> None:
    if mode & stat.S_IWOTH:
        raise InputError(
            f"{path} may be written by every user of this machine (mode {stat.S_IMODE(mode):o}), so its code may be "
            f"anybody's. Look at what it holds, then: chmod o-w {path}."
        )
