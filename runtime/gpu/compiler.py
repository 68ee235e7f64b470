"""CUDA sources to code of one architecture by NVRTC, and the results kept on disk.

NVRTC comes from its wheel (`pip install 'diffpbd[gpu]'`) or a toolkit; it needs neither a GPU nor a driver. Results are
cached by the hash of source, options and version, in `diffpbd/gpu` in XDG_CACHE_HOME (default ~/.cache), or in
DIFFPBD_CACHE; DIFFPBD_CACHE=off disables the cache. A folder that others may write to is not used.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import importlib.util
import os
import re
from collections.abc import Iterator, Sequence
from ctypes import byref, c_char_p, c_int, c_size_t, c_void_p
from pathlib import Path
from typing import Any, Final

from diffpbd.runtime.base.errors import DiffpbdError, InputError
from diffpbd.runtime.base.files import write_atomic

__all__ = ["Compiler", "compiler", "resources"]

VARIABLE: Final = "DIFFPBD_CACHE"
OFF: Final = "off"
SYSTEM: Final = ("libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12")
STANDARD: Final = ("--std=c++20", "--ptxas-options=-v")
"""c++20: arguments that are `auto`; -v: registers and spills in the log."""
LONGEST: Final = 4000
"""[characters] Longest excerpt of a compiler's log in a message."""


@functools.cache
def compiler(most: int | None = None) -> Compiler:
    """NVRTC, found once; `most`: the newest version of CUDA whose code the driver runs."""
    return Compiler(most)


class Compiler:
    """NVRTC; `version`: that of its CUDA, such as (13, 0)."""

    def __init__(self, most: int | None = None) -> None:
        """Find the newest version up to `most`; InputError says how to install one."""
        found: list[int] = []
        for library in _libraries():
            major, minor = c_int(), c_int()
            library.nvrtcVersion(byref(major), byref(minor))
            if most is None or major.value <= most:
                self._library, self.version = library, (major.value, minor.value)
                return
            found.append(major.value)
        if found:
            raise InputError(
                f"NVRTC is of CUDA {min(found)}, the driver of CUDA {most}, which does not run its code: pip install "
                f"nvidia-cuda-nvrtc-cu{most}, or a newer driver."
            )
        raise InputError(
            "NVRTC, which compiles for a GPU, is not installed: pip install 'diffpbd[gpu]' (or nvidia-cuda-nvrtc-cu12 where "
            "the driver is one of CUDA 12)."
        )

    def compiled(self, source: str, architecture: str, options: Sequence[str]) -> tuple[bytes, str]:
        """Code for an architecture such as sm_90 and the compiler's log, from the cache if possible."""
        words = (*STANDARD, f"--gpu-architecture={architecture}", *options)
        key = hashlib.sha256("\0".join((source, *words, str(self.version))).encode()).hexdigest()
        folder = _cache()
        file = folder / f"{key}.cubin" if folder else None
        if file is not None:
            with contextlib.suppress(OSError):
                return _unsealed(file.read_bytes())
            # missing or corrupt: compile again
        found = self._compile(source, words)
        if file is not None:
            with contextlib.suppress(InputError):  # a full disk: not cached
                write_atomic(file, _sealed(*found))
        return found

    def _compile(self, source: str, words: Sequence[str]) -> tuple[bytes, str]:
        program = c_void_p()
        self._check(self._library.nvrtcCreateProgram(byref(program), source.encode(), b"robot.cu", 0, None, None))
        try:
            given = (c_char_p * len(words))(*[word.encode() for word in words])
            status = self._library.nvrtcCompileProgram(program, len(words), given)
            log = self._text("nvrtcGetProgramLog", program).rstrip(b"\0").decode(errors="replace").strip()
            if status != 0:
                shown = log if len(log) <= LONGEST else log[:LONGEST] + " ..."
                raise DiffpbdError(f"NVRTC {self.version} refused the source ({' '.join(words)}):\n{shown}")
            return self._text("nvrtcGetCUBIN", program), log
        finally:
            self._library.nvrtcDestroyProgram(byref(program))

    def _text(self, name: str, program: c_void_p) -> bytes:
        size = c_size_t()
        self._check(getattr(self._library, f"{name}Size")(program, byref(size)))
        buffer = ctypes.create_string_buffer(size.value)
        self._check(getattr(self._library, name)(program, buffer))
        return buffer.raw

    def _check(self, status: int) -> None:
        if status != 0:
            told = self._library.nvrtcGetErrorString(status)
            raise DiffpbdError(f"NVRTC failed: {(told or b'unknown').decode(errors='replace')} ({status}).")


def resources(log: str) -> dict[str, tuple[int, int, int]]:
    """Registers, bytes of spill stores and of spill loads of each entry, from a log."""
    found = {}
    for part in log.split("Compiling entry function ")[1:]:
        name = re.match(r"'([^']*)'", part)
        spills = re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", part)
        registers = re.search(r"Used (\d+) registers", part)
        if name and spills and registers:
            found[name.group(1)] = (int(registers.group(1)), int(spills.group(1)), int(spills.group(2)))
    return found


def _libraries() -> Iterator[Any]:
    """Available libraries, those of wheels first."""
    for name in (*_wheels(), *SYSTEM):
        with contextlib.suppress(OSError):
            if os.sep in name:  # a wheel's dependencies are in its own folder, which the loader does not search
                for beside in sorted(Path(name).parent.glob("libnvrtc-builtins.so*")):
                    ctypes.CDLL(str(beside), mode=ctypes.RTLD_GLOBAL)
            library = ctypes.CDLL(name)
            library.nvrtcGetErrorString.restype = c_char_p
            library.nvrtcCompileProgram.argtypes = (c_void_p, c_int, c_void_p)
            yield library


def _wheels() -> Iterator[str]:
    """Libraries of NVIDIA's wheels, newest first."""
    spec = importlib.util.find_spec("nvidia")
    for root in (spec.submodule_search_locations or ()) if spec else ():
        found = [path for path in Path(root).glob("*/lib/libnvrtc.so.*") if path.suffix[1:].isdigit()]
        yield from (str(path) for path in sorted(found, key=lambda path: -int(path.suffix[1:])))


def _cache() -> Path | None:
    chosen = os.environ.get(VARIABLE, "")
    if chosen == OFF:
        return None
    base = Path(os.environ.get("XDG_CACHE_HOME", "") or Path(os.path.expanduser("~")) / ".cache")
    path = Path(chosen) if chosen else base / "diffpbd" / "gpu"
    if not path.is_absolute() and not chosen:
        return None
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        state = path.stat()
    except OSError:
        return None
    return path if state.st_uid == os.getuid() and not state.st_mode & 0o022 else None


def _sealed(code: bytes, log: str) -> bytes:
    body = len(code).to_bytes(8, "little") + code + log.encode()
    return hashlib.sha256(body).digest() + body


def _unsealed(data: bytes) -> tuple[bytes, str]:
    """Code and log; OSError if the file is corrupt."""
    digest, body = data[:32], data[32:]
    if hashlib.sha256(body).digest() != digest:
        raise OSError("damaged")
    size = int.from_bytes(body[:8], "little")
    return body[8 : 8 + size], body[8 + size :].decode()
