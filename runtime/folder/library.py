"""The compiled library of a generated folder, opened with ctypes and verified against its manifest."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import struct
import tempfile
import time
from collections.abc import Sequence
from itertools import count, zip_longest
from pathlib import Path
from typing import Any

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.folder.compiler import quick_mark
from diffpbd.runtime.folder.integrity import verify_library, verify_sources
from diffpbd.runtime.folder.manifest import ABI_VERSION, Function, Manifest

__all__ = ["PATHS", "PATH_VARIABLE", "PORTABLE", "FloatArray", "Library"]

PORTABLE = "portable"
PATHS = (PORTABLE, "x86-64-v3", "x86-64-v4", "neon")
"""Instruction sets that a library may hold its functions for. The first gives the same bits everywhere."""
PATH_VARIABLE = "DIFFPBD_PATH"
"""Environment variable that names one of them; the library reads it at its first call."""

PATIENCE = 1.0
"""[s] Longest wait for the hash of a library that replaces a quick one."""


class Library:
    """Symbols of one robot's library. Calls release the interpreter lock, except those of `Fixed`; callers provide work
    arrays."""

    def __init__(self, folder: Path, manifest: Manifest, *, fresh: bool = False) -> None:
        """Open `<folder>/<library>` and refuse one that was not compiled from the manifest's sources; `fresh`: reload it
        even if this process has opened an older file of that name."""
        verify_sources(folder, manifest)
        self.path = folder / manifest.library
        self._manifest = manifest
        self._check_exists()
        self.quick = quick_mark(self.path).exists()
        """Whether it was compiled quickly and a full one may follow."""
        self._look = 0.0
        self._check_record(folder)
        self._dll = self._open_copy() if fresh else self._open(self.path)
        if self._hash() != manifest.abi_hash:
            # The loader returns the old library for a path it has opened before: use a new name.
            self._dll = self._open_copy()
        self._verify()
        self._map = self._symbol(f"{manifest.name}_map")
        self._map.restype = ctypes.c_long
        wanted = os.environ.get(PATH_VARIABLE)
        if wanted and wanted != self.instructions and not self.quick:  # which has the portable path alone
            try:
                self.choose_instructions(wanted)
            except InputError as error:
                raise InputError(f"The environment variable {PATH_VARIABLE}: {error}") from None

    def _check_record(self, folder: Path) -> None:
        """Verify the library's hash; waits if a quick one is just being replaced, file by file."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return verify_library(folder, self._manifest)
            except InputError:
                if not self.quick or time.monotonic() > end:
                    raise
            time.sleep(PATIENCE / 50)

    def finished(self) -> bool:
        """Whether a quick library has been compiled in full by now; looks at most once a second."""
        now = time.monotonic()
        if not self.quick or now < self._look:
            return False
        self._look = now + 1.0
        return not quick_mark(self.path).exists()

    def _check_exists(self) -> None:
        if not self.path.is_file():
            raise InputError(
                f"{self.path} does not exist. Compile it with `make -C {self.path.parent} shared`, "
                f"or generate the folder again: {self._manifest.again()}."
            )
        if _is_cut_short(self.path):
            raise InputError(
                f"{self.path} is cut short: it is smaller than its own header says, as after an interrupted copy. "
                f"Compile it again with `make -C {self.path.parent} shared`."
            )

    def _open(self, path: Path) -> ctypes.CDLL:
        try:
            return ctypes.CDLL(str(path.resolve()))
        except OSError as error:
            raise InputError(
                f"{self.path} cannot be loaded: {error}. If it was compiled for another machine, compile it "
                f"here with `make -C {self.path.parent} shared`."
            ) from None

    def _open_copy(self) -> ctypes.CDLL:
        with tempfile.TemporaryDirectory(prefix="diffpbd-") as scratch:
            return self._open(Path(shutil.copy2(self.path, scratch)))

    def _symbol(self, name: str) -> Any:
        try:
            return getattr(self._dll, name)
        except AttributeError:
            raise self._mismatch(f"it has no symbol {name}") from None

    def _hash(self) -> str:
        function = self._symbol(f"{self._manifest.name}_hash")
        function.restype = ctypes.c_char_p
        function.argtypes = []
        return str((function() or b"").decode("ascii", "replace"))

    def _verify(self) -> None:
        manifest = self._manifest
        abi = self._symbol(f"{manifest.name}_abi")
        abi.restype = ctypes.c_int
        abi.argtypes = []
        if abi() != ABI_VERSION:
            raise self._mismatch(f"its C interface has version {abi()}, this diffpbd calls version {ABI_VERSION}")
        found = self._hash()
        if found != manifest.abi_hash:
            raise self._mismatch(f"its hash is {found[:16]}…, the manifest says {manifest.abi_hash[:16]}…")
        taken = self._signatures()
        for function in manifest.functions:
            self._symbol(function.symbol)
            if (found := taken.get(function.name, "")) != function.signature:
                raise self._mismatch(f"{function.name} has {_difference(found, function.signature)}")
            if function.rollout:
                self._symbol(f"{function.symbol}_work_size")
            elif self.work_size(function) != function.work_size:
                raise self._mismatch(
                    f"{function.symbol} needs {self.work_size(function)} doubles of work, "
                    f"the manifest says {function.work_size}"
                )

    def _signatures(self) -> dict[str, str]:
        """By function, its arguments in the library's order."""
        say = getattr(self._dll, f"{self._manifest.name}_signature", None)
        if say is None:
            raise InputError(
                f"{self.path} was generated by an older diffpbd: it does not say what its functions take. Generate the "
                f"folder again: {self._manifest.again()}."
            )
        say.restype, say.argtypes = ctypes.c_char_p, [ctypes.c_int]
        lines = (line.decode("ascii", "replace") for line in iter(map(say, count()).__next__, None))
        return {line.partition("(")[0]: line for line in lines}

    def _mismatch(self, why: str) -> InputError:
        return InputError(
            f"{self.path} does not match its manifest: {why}. Compile it again with `make -C "
            f"{self.path.parent} shared`, or generate the folder again: {self._manifest.again()}."
        )

    @property
    def instructions(self) -> str:
        """The instruction sets that the functions use: one of `PATHS`. A library without a choice is portable."""
        symbol = getattr(self._dll, f"{self._manifest.name}_path", None)
        if symbol is None:
            return PORTABLE
        symbol.restype = ctypes.c_char_p
        symbol.argtypes = []
        return str(symbol().decode("ascii"))

    def choose_instructions(self, name: str) -> None:
        """Use another of `PATHS`, in all threads and for all users of this library in this process.

        InputError if it is unknown, or not supported by compiler or processor."""
        if name not in PATHS:
            raise InputError(f"instruction sets: expected one of {', '.join(PATHS)}, found {name!r}.")
        choose = getattr(self._dll, f"{self._manifest.name}_set_path", None)
        if choose is None and name == PORTABLE:
            return
        if choose is None or choose(name.encode("ascii")) != 0:
            raise InputError(
                f"{self.path} cannot use {name}: this processor does not have it, or the library was compiled without it. "
                f"{self.instructions} is in use; {PORTABLE} is everywhere."
            )

    def work_size(self, function: Function, steps: int = 0) -> int:
        """Doubles of work the function needs; for a rollout over `steps` steps. InputError if C cannot count so many."""
        size = self._symbol(f"{function.symbol}_work_size")
        size.restype = ctypes.c_int
        size.argtypes = [ctypes.c_int] if function.rollout else []
        found = int(size(steps) if function.rollout else size())
        if found < 0:
            raise InputError(
                f"{function.name}: the work array of {steps} steps is larger than C can count; take fewer."
            )
        return found

    def pointer(self, function: Function) -> ctypes.c_void_p:
        """The address of the function, for `call` and `map_rows`."""
        return ctypes.cast(self._symbol(function.symbol), ctypes.c_void_p)

    def bind(self, function: Function, *, locked: bool = False) -> Any:
        """The C function as a callable of ([steps,] in, out, work) that returns the status; `locked`: see `Fixed`."""
        prefix = [ctypes.c_int] if function.rollout else []
        kind = ctypes.PYFUNCTYPE if locked else ctypes.CFUNCTYPE
        signature = kind(ctypes.c_int, *prefix, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
        return signature((function.symbol, self._dll))

    def map_rows(
        self,
        pointer: ctypes.c_void_p,
        in_sizes: Sequence[int],
        inputs: Sequence[int],
        out_sizes: Sequence[int],
        outputs: Sequence[int],
        rows: int,
        work: FloatArray,
    ) -> int:
        """Run a function over rows in C and return how many failed.

        `inputs` and `outputs` are addresses; a size of 0 shares the argument among all rows.
        """
        return int(
            self._map(
                pointer,
                ctypes.c_int(len(inputs)),
                (ctypes.c_int * len(in_sizes))(*in_sizes),
                (ctypes.c_void_p * len(inputs))(*inputs),
                ctypes.c_int(len(outputs)),
                (ctypes.c_int * len(out_sizes))(*out_sizes),
                (ctypes.c_void_p * len(outputs))(*outputs),
                ctypes.c_long(rows),
                ctypes.c_void_p(work.ctypes.data),
            )
        )


def _difference(found: str, expected: str) -> str:
    """The first argument in which two signatures differ, in words."""
    pairs = zip_longest(*(re.findall(r"\w+ \d+x[\dN+]+", text) for text in (found, expected)), fillvalue="nothing")
    one, other = next((pair for pair in pairs if pair[0] != pair[1]), (found, expected))
    return f"{one}, the manifest says {other}"


def _is_cut_short(path: Path) -> bool:
    """Whether a 64-bit little-endian ELF file ends before its section table does; the loader would crash on it."""
    with path.open("rb") as file:
        head = file.read(ELF64_HEADER.size)
    if len(head) < ELF64_HEADER.size or head[:6] != b"\x7fELF\x02\x01":
        return False
    table, entry, count = ELF64_HEADER.unpack(head)
    return bool(table + entry * count > path.stat().st_size)


ELF64_HEADER = struct.Struct("<40xQ10xHH2x")
"""Start of the section table, size and number of its entries (ELF-64, section 4)."""
