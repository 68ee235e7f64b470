"""NVIDIA's driver through its C interface (libcuda.so.1), by ctypes: one device in its primary context.

Only the driver has to be installed. PyTorch, JAX and CuPy use the same primary context, so arrays can be
exchanged.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
from collections.abc import Iterator
from ctypes import byref, c_char_p, c_int, c_size_t, c_ubyte, c_uint, c_void_p
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.errors import DiffpbdError, InputError

__all__ = ["Driver", "driver"]

LIBRARIES: Final = ("libcuda.so.1", "libcuda.so")
ON_THE_CPU: Final = "On the CPU, batches go through the robot's own functions, as robot.joint_step(..., threads=N)."

_P, _H = c_void_p, c_void_p
SIGNATURES: Final[dict[str, tuple[Any, ...]]] = {
    "cuInit": (c_uint,),
    "cuDriverGetVersion": (_P,),
    "cuGetErrorName": (c_int, _P),
    "cuGetErrorString": (c_int, _P),
    "cuDeviceGetCount": (_P,),
    "cuDeviceGet": (_P, c_int),
    "cuDeviceGetName": (c_char_p, c_int, c_int),
    "cuDeviceGetAttribute": (_P, c_int, c_int),
    "cuDeviceGetDefaultMemPool": (_P, c_int),
    "cuMemPoolSetAttribute": (_H, c_int, _P),
    "cuDevicePrimaryCtxRetain": (_P, c_int),
    "cuCtxPushCurrent_v2": (_H,),
    "cuCtxPopCurrent_v2": (_P,),
    "cuMemAllocAsync": (_P, c_size_t, _H),
    "cuMemFreeAsync": (_H, _H),
    "cuMemcpyHtoDAsync_v2": (_H, _P, c_size_t, _H),
    "cuMemcpyDtoHAsync_v2": (_P, _H, c_size_t, _H),
    "cuMemsetD8Async": (_H, c_ubyte, c_size_t, _H),
    "cuStreamSynchronize": (_H,),
    "cuEventCreate": (_P, c_uint),
    "cuEventRecord": (_H, _H),
    "cuStreamWaitEvent": (_H, _H, c_uint),
    "cuEventDestroy_v2": (_H,),
    "cuModuleLoadData": (_P, c_char_p),
    "cuModuleGetFunction": (_P, _H, c_char_p),
    "cuModuleGetGlobal_v2": (_P, _P, _H, c_char_p),
    "cuFuncGetAttribute": (_P, c_int, _H),
    "cuLaunchKernel": (_H, *[c_uint] * 7, _H, _P, _P),
}
"""Functions with their arguments, a handle or device address as _H, a pointer to what is written or read as _P."""

NOT_READY: Final = (100, 999)  # no device; unknown, for example hidden by a container
CAPABILITY: Final = (75, 76)
MULTIPROCESSORS: Final = 16
LOCAL_BYTES, REGISTERS = 3, 4
KEEP_FREED: Final = 4
"""Attribute of a memory pool: bytes of freed memory to keep for the next array."""
WITHOUT_TIMING: Final = 2


@functools.cache
def driver(device: int = 0) -> Driver:
    """The driver on a device, opened once."""
    return Driver(device)


class Driver:
    """A device: its memory, modules, launches. Streams are handles as integers, 0 the default one."""

    def __init__(self, device: int = 0) -> None:
        """Open the driver; InputError says what is missing."""
        self._library = _open()
        started = self._call_raw("cuInit", 0)
        count = c_int()
        if started in NOT_READY or self._call_raw("cuDeviceGetCount", byref(count)) != 0 or count.value == 0:
            raise InputError(f"NVIDIA's driver finds no GPU. {ON_THE_CPU}")
        self._check("cuInit", started)
        if not 0 <= device < count.value:
            raise InputError(f"There is no GPU {device}: the driver finds {count.value}, counted from 0.")
        self.device, handle = device, c_int()
        self.call("cuDeviceGet", byref(handle), device)
        self._device = handle.value
        name = ctypes.create_string_buffer(256)
        self.call("cuDeviceGetName", name, len(name), self._device)
        self.name = name.value.decode(errors="replace")
        self.architecture = "sm_{}{}".format(*(self._attribute(k) for k in CAPABILITY))
        self.multiprocessors = self._attribute(MULTIPROCESSORS)
        version = c_int()
        self.call("cuDriverGetVersion", byref(version))
        self.cuda = version.value // 1000
        """The newest version of CUDA whose code the driver runs."""
        self._context = c_void_p()
        self.call("cuDevicePrimaryCtxRetain", byref(self._context), self._device)
        pool, everything = c_void_p(), ctypes.c_uint64(2**64 - 1)
        self.call("cuDeviceGetDefaultMemPool", byref(pool), self._device)
        self.call("cuMemPoolSetAttribute", pool, KEEP_FREED, byref(everything))

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function of the driver; a DiffpbdError with its message if it fails."""
        self._check(name, self._call_raw(name, *arguments))

    @contextlib.contextmanager
    def current(self) -> Iterator[None]:
        """Makes the device's context current in this thread, then restores the previous one."""
        self.call("cuCtxPushCurrent_v2", self._context)
        try:
            yield
        finally:
            self.call("cuCtxPopCurrent_v2", byref(c_void_p()))

    def allocate(self, size: int, stream: int) -> int:
        """The address of `size` new bytes for work in `stream`."""
        address = c_void_p()
        with self.current():
            self.call("cuMemAllocAsync", byref(address), max(size, 1), stream)
        return int(address.value or 0)

    def free(self, address: int, stream: int) -> None:
        """Free memory after the work in `stream`."""
        with self.current():
            self.call("cuMemFreeAsync", address, stream)

    def upload(self, address: int, values: npt.NDArray[Any], stream: int) -> None:
        """Copy a contiguous array to the device."""
        if values.nbytes:
            with self.current():
                self.call("cuMemcpyHtoDAsync_v2", address, values.ctypes.data, values.nbytes, stream)

    def download(self, address: int, values: npt.NDArray[Any], stream: int) -> None:
        """Copy into a contiguous array; waits for the stream."""
        with self.current():
            if values.nbytes:
                self.call("cuMemcpyDtoHAsync_v2", values.ctypes.data, address, values.nbytes, stream)
            self.call("cuStreamSynchronize", stream)

    def synchronize(self, stream: int = 0) -> None:
        """Wait for a stream."""
        with self.current():
            self.call("cuStreamSynchronize", stream)

    def order(self, first: int, then: int) -> None:
        """Later work in the stream `then` waits for present work in `first`."""
        if first == then:
            return
        event = c_void_p()
        with self.current():
            self.call("cuEventCreate", byref(event), WITHOUT_TIMING)
            self.call("cuEventRecord", event, first)
            self.call("cuStreamWaitEvent", then, event, 0)
            self.call("cuEventDestroy_v2", event)

    def load(self, image: bytes) -> Module:
        """A compiled module."""
        handle = c_void_p()
        with self.current():
            self.call("cuModuleLoadData", byref(handle), image)
        return Module(self, handle)

    def _attribute(self, which: int) -> int:
        value = c_int()
        self.call("cuDeviceGetAttribute", byref(value), which, self._device)
        return value.value

    def _call_raw(self, name: str, *arguments: Any) -> int:
        return int(getattr(self._library, name)(*arguments))

    def _check(self, name: str, status: int) -> None:
        if status == 0:
            return
        words = []
        for tell in ("cuGetErrorName", "cuGetErrorString"):
            text = c_char_p()
            self._call_raw(tell, status, byref(text))
            words.append((text.value or b"unknown").decode(errors="replace"))
        raise DiffpbdError(f"The GPU's driver: {name} failed with {words[0]} ({status}): {words[1]}.")


class Module:
    """Compiled entries on a device."""

    def __init__(self, owner: Driver, handle: c_void_p) -> None:
        self._driver, self._handle = owner, handle
        self._entries: dict[str, c_void_p] = {}

    def launch(self, name: str, threads: int, most: int, arguments: ctypes.Structure, stream: int) -> None:
        """Launch an entry with `threads` threads, in blocks of 32 to `most`: the longest that leave no multiprocessor idle."""
        block = most
        while block > 32 and -(-threads // block) < self._driver.multiprocessors:
            block //= 2
        pointers = (c_void_p * 1)(ctypes.addressof(arguments))
        with self._driver.current():
            blocks = -(-threads // block)
            self._driver.call("cuLaunchKernel", self._entry(name), blocks, 1, 1, block, 1, 1, 0, stream, pointers, None)

    def constants(self, name: str, count: int) -> list[int]:
        """Integer constants of the module."""
        address, size, values = c_void_p(), c_size_t(), np.zeros(count, np.int64)
        with self._driver.current():
            self._driver.call("cuModuleGetGlobal_v2", byref(address), byref(size), self._handle, name.encode())
        if size.value != values.nbytes:
            raise DiffpbdError(f"{name} of the compiled module has {size.value} bytes, expected {values.nbytes}.")
        self._driver.download(int(address.value or 0), values, 0)
        return [int(v) for v in values]

    def resources(self, name: str) -> tuple[int, int]:
        """Registers and bytes of local memory of a thread."""
        found = []
        with self._driver.current():
            for which in (REGISTERS, LOCAL_BYTES):
                value = c_int()
                self._driver.call("cuFuncGetAttribute", byref(value), which, self._entry(name))
                found.append(value.value)
        return found[0], found[1]

    def _entry(self, name: str) -> c_void_p:
        if name not in self._entries:
            handle = c_void_p()
            self._driver.call("cuModuleGetFunction", byref(handle), self._handle, name.encode())
            self._entries[name] = handle
        return self._entries[name]


def _open() -> Any:
    reason: OSError | None = None
    for name in LIBRARIES:
        try:
            library = ctypes.CDLL(name)
        except OSError as error:
            reason = reason or error
            continue
        for function, arguments in SIGNATURES.items():
            try:
                symbol = getattr(library, function)
            except AttributeError:
                raise InputError(
                    f"{name} has no {function}: NVIDIA's driver is older than CUDA 11.2; a newer one is needed."
                ) from None
            symbol.argtypes, symbol.restype = arguments, c_int
        return library
    raise InputError(f"There is no driver of NVIDIA's on this machine ({reason}), and so no GPU. {ON_THE_CPU}")
