"""A driver and a compiler that stand in for NVIDIA's where there is no GPU: memory is the host's, and a kernel is the same
.cu text compiled by a C++ compiler, its threads called one after another. Speed and a GPU's own rounding are not tried."""

from __future__ import annotations

import contextlib
import ctypes
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from diffpbd.runtime.folder.compiler import find_compiler
from diffpbd.runtime.gpu import compiler as gpu_compiler
from diffpbd.runtime.gpu import driver as gpu_driver

HERE = Path(__file__).parent / "cuda"


def built(folder: Path) -> tuple[Path, Path]:
    """Both libraries, compiled into a folder."""
    made = []
    for name in ("libcuda", "libnvrtc"):
        target = folder / f"{name}.so"
        if not target.exists():
            source = str(HERE / f"{name}.c")
            command = [
                *find_compiler(),
                "-D_GNU_SOURCE",
                "-O0",
                "-Wall",
                "-Werror",
                "-shared",
                "-fPIC",
                source,
                "-o",
                str(target),
                "-ldl",
            ]
            subprocess.run(command, check=True)
        made.append(target)
    return made[0], made[1]


@contextlib.contextmanager
def standing_in(folder: Path) -> Iterator[tuple[ctypes.CDLL, ctypes.CDLL]]:
    """The stand-ins in place of NVIDIA's; both libraries, whose counters may be read."""
    cuda, nvrtc = built(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gpu_driver, "LIBRARIES", (str(cuda),))
        patch.setattr(gpu_compiler, "SYSTEM", ())
        patch.setattr(gpu_compiler, "_wheels", lambda: iter([str(nvrtc)]))
        gpu_driver.driver.cache_clear()
        gpu_compiler.compiler.cache_clear()
        try:
            yield ctypes.CDLL(str(cuda)), ctypes.CDLL(str(nvrtc))
        finally:
            gpu_driver.driver.cache_clear()
            gpu_compiler.compiler.cache_clear()


def counter(library: ctypes.CDLL, name: str) -> int:
    """The count of a stand-in."""
    return ctypes.c_longlong.in_dll(library, name).value
