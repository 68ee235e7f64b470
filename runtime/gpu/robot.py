"""A robot's functions on a GPU: `robot.gpu(dtype="float32")`, from the .cu text that `generate --cuda` makes.

Compiled by NVRTC at the first call of each function and cached on disk. A call starts the work in a stream; with `check` it
waits for the end and raises an error for failed states.
"""

from __future__ import annotations

import collections
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Protocol

import numpy as np

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.names import hint
from diffpbd.runtime.folder.integrity import verify_file
from diffpbd.runtime.folder.manifest import Manifest
from diffpbd.runtime.functions.function import BoundFunction, as_array
from diffpbd.runtime.gpu.arrays import DeviceArray, View, contiguous, stream_handle, view
from diffpbd.runtime.gpu.compiler import compiler, resources
from diffpbd.runtime.gpu.driver import Driver, Module, driver
from diffpbd.runtime.gpu.function import GpuFunction
from diffpbd.runtime.gpu.launch import ENTRIES, Entry

__all__ = ["Gpu", "open_gpu"]

SETTINGS: Final = {"float32": {"residual": 2e-4, "block": 128}, "float64": {"residual": 1e-9, "block": 64}}
"""By type: the largest last correction of a converged pose, as in templates/gpu/gpu_numbers.cuh [rad or m]; threads of a
block."""
KEPT: Final = 32
"""Number of small host arrays, such as alpha and h, that are cached on the device."""
SMALL: Final = 4096
"""[bytes] Largest size of such an array."""
MOST_COUNT: Final = 20
MAY_LACK: Final = "estimate_torque"
"""The function that is missing for a robot with passive joints."""


class Owner(Protocol):
    """The part of a robot that is used here."""

    name: str
    folder: Path
    manifest: Manifest
    functions: Mapping[str, BoundFunction]


def open_gpu(robot: Owner, dtype: str, device: int, newtons: int | None, chords: int | None) -> Gpu:
    """See `Robot.gpu`."""
    if dtype not in SETTINGS:
        raise InputError(f"{robot.name}.gpu: dtype: expected one of {', '.join(SETTINGS)}, found {dtype!r}.")
    file = f"{robot.name}.cu"
    if file not in robot.manifest.files:
        raise InputError(
            f"{robot.name} was generated without text for a GPU: `{robot.manifest.again('--cuda')}` makes it."
        )
    for name, count, least in (("newtons", newtons, 1), ("chords", chords, 0)):
        if count is not None and not (isinstance(count, int) and least <= count <= MOST_COUNT):
            raise InputError(
                f"{robot.name}.gpu: {name}: expected a whole number from {least} to {MOST_COUNT}, found {count!r}."
            )
    verify_file(robot.folder, file, robot.manifest)
    counts = [f"-D{k}={v}" for k, v in (("NEWTONS", newtons), ("CHORDS", chords)) if v is not None]
    return Gpu(robot, (robot.folder / file).read_text(encoding="utf-8"), dtype, driver(device), counts)


class Gpu:
    """A robot's functions on one GPU in one precision, as attributes; see `GpuFunction`."""

    def __init__(self, robot: Owner, source: str, dtype: str, on: Driver, options: Sequence[str]) -> None:
        self.robot, self.name, self.dtype, self.driver = robot, robot.name, np.dtype(dtype), on
        self.residual = SETTINGS[dtype]["residual"]
        """[rad or m] Last correction of a pose above which a state has failed."""
        self.block = int(SETTINGS[dtype]["block"])
        self._source = source
        self._options = [*options, f"-DBLOCK={self.block}", *(["-DSINGLE"] if dtype == "float32" else [])]
        self._modules: dict[tuple[str, bool], tuple[Module, str]] = {}
        self._small: collections.OrderedDict[tuple[Any, ...], DeviceArray] = collections.OrderedDict()
        self.functions: Mapping[str, GpuFunction] = MappingProxyType(
            {
                name: GpuFunction(self, robot.functions[name], e)
                for name, e in ENTRIES.items()
                if name in robot.functions and (name != MAY_LACK or f"ENTRY({name})" in source)
            }
        )

    def __repr__(self) -> str:
        return f"<{self.robot.name} in {self.dtype} on {self.driver.name}: {', '.join(self.functions)}>"

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.functions})

    def __getattr__(self, name: str) -> Any:
        functions = self.__dict__.get("functions", {})
        if name in functions:
            return functions[name]
        if name == MAY_LACK and name in self.robot.functions:
            raise AttributeError(
                f"{self.robot.name} on a GPU has no {name!r}: its text was made without it, as `generate` said"
            )
        raise AttributeError(f"{self.robot.name} on a GPU has no {name!r}. {hint(name, functions)}".rstrip(". "))

    def array(self, values: Any, stream: Any = None) -> DeviceArray:
        """A copy of an array on the device with interleaved states: the first axis has stride 1."""
        host = as_array(values, "values", "array").astype(self.dtype)
        strides = (1, *(k * len(host) for k in contiguous(host.shape[1:]))) if host.ndim else ()
        result = DeviceArray(self.driver, self.dtype, host.shape, stream_handle(stream), strides)
        turned = np.ascontiguousarray(np.moveaxis(host, 0, -1)) if host.ndim else host
        self.driver.upload(result.address, turned, result.stream)
        return result

    def synchronize(self, stream: Any = None) -> None:
        """Wait for all work in a stream."""
        self.driver.synchronize(stream_handle(stream))

    def resources(self, function: str, shared: bool = True) -> dict[str, tuple[int, int, int]]:
        """Registers, bytes of spill stores and loads of a function's entries; `shared`: with one alpha for all states."""
        return resources(self._module(ENTRIES[function], shared)[1])

    def module(self, entry: Entry, shared: bool) -> Module:
        """A function's compiled entries."""
        return self._module(entry, shared)[0]

    def _module(self, entry: Entry, shared: bool) -> tuple[Module, str]:
        key = (" ".join(entry.options), shared)
        if key not in self._modules:
            words = [*self._options, *entry.options, *(["-DSHARED_ALPHA"] if shared else [])]
            made = compiler(self.driver.cuda)
            code, log = made.compiled(self._source, self.driver.architecture, words)
            self._modules[key] = self.driver.load(code), log
        return self._modules[key]

    def placed(self, value: Any, what: str, function: str, stream: int) -> View:
        """An argument on the device: another library's array without a copy, anything else copied."""
        found = view(value, self.dtype, self.driver, stream, f"{function}: argument {what!r}")
        if found is not None:
            return found
        host = np.ascontiguousarray(as_array(value, what, function), dtype=self.dtype)
        key = (host.shape, host.tobytes(), stream)
        if host.nbytes <= SMALL and key in self._small:
            self._small.move_to_end(key)
            return self._small[key].view()
        result = DeviceArray(self.driver, self.dtype, host.shape, stream)
        self.driver.upload(result.address, host, stream)
        if host.nbytes <= SMALL:
            self._small[key] = result
            while len(self._small) > KEPT:
                self._small.popitem(last=False)
        return result.view()
