"""Arrays on a GPU: our own, and zero-copy views of others', by DLPack or CUDA's array interface."""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base import dlpack
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.gpu.driver import Driver

__all__ = ["DeviceArray", "View", "contiguous", "stream_handle", "view"]

INTERFACE: Final = "__cuda_array_interface__"


def contiguous(shape: Sequence[int]) -> tuple[int, ...]:
    """Strides in elements of an array in C's order."""
    return tuple(math.prod(shape[k + 1 :]) for k in range(len(shape)))


@dataclass(frozen=True)
class View:
    """An array in memory: address, shape, strides in elements; `owner` keeps it alive."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    owner: Any = None


class DeviceArray:
    """An array on a GPU: `numpy()` copies it to the host; PyTorch, JAX and CuPy take it by `from_dlpack`, without a copy.

    States are interleaved: the first axis of a batch has stride 1.
    """

    def __init__(
        self,
        owner: Driver,
        dtype: npt.DTypeLike,
        shape: Sequence[int],
        stream: int,
        strides: Sequence[int] | None = None,
    ) -> None:
        """Uninitialised memory; `strides` in elements cover it without gaps."""
        self.dtype, self.shape, self.stream = np.dtype(dtype), tuple(map(int, shape)), stream
        self.steps = tuple(map(int, strides)) if strides is not None else contiguous(self.shape)
        self._driver = owner
        self.size = math.prod(self.shape)
        self.address = owner.allocate(self.size * self.dtype.itemsize, stream)

    def __del__(self) -> None:
        if getattr(self, "address", 0) and not sys.is_finalizing():
            with contextlib.suppress(Exception):  # the context may be destroyed
                self._driver.free(self.address, self.stream)

    def __repr__(self) -> str:
        return f"<array of {self.dtype} {self.shape} on {self._driver.name}>"

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array without axes has no length")
        return self.shape[0]

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def strides(self) -> tuple[int, ...]:
        """Strides in bytes, as in NumPy."""
        return tuple(k * self.dtype.itemsize for k in self.steps)

    def view(self) -> View:
        """Its view."""
        return View(self.address, self.shape, self.steps, self)

    def numpy(self) -> npt.NDArray[Any]:
        """A copy on the host, after all earlier work in its stream."""
        flat = np.empty(self.size, self.dtype)
        self._driver.download(self.address, flat, self.stream)
        ordered = np.lib.stride_tricks.as_strided(flat, self.shape, self.strides)
        return np.array(ordered, order="C")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError("an array on a GPU is not read without a copy")
        return self.numpy().astype(dtype or self.dtype, copy=False)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape, "typestr": self.dtype.str, "data": (self.address, False), "strides": self.strides,
            "version": 3, "stream": self.stream or 1,
        }  # fmt: skip

    def __dlpack_device__(self) -> tuple[int, int]:
        return dlpack.CUDA, self._driver.device

    def __dlpack__(self, *, stream: int | None = None, **_words: Any) -> Any:
        """A capsule for another library, whose `stream` (1: the default one) waits for writes to the array."""
        if stream != -1:
            self._driver.order(self.stream, _plain_stream(stream))
        return dlpack.export(self.view(), self.dtype, self._driver.device)


def view(value: Any, dtype: npt.DTypeLike, owner: Driver, stream: int, what: str) -> View | None:
    """View of another library's array, ready for work in `stream`; None if it is not an array of a GPU."""
    if isinstance(value, DeviceArray):
        _expect(value.dtype, dtype, what)
        if value._driver.device != owner.device:
            raise InputError(f"{what}: lies on GPU {value._driver.device}, expected GPU {owner.device}.")
        owner.order(value.stream, stream)
        return value.view()
    where = getattr(value, "__dlpack_device__", None)
    if where is not None:
        kind, number = where()
        if kind not in (dlpack.CUDA, dlpack.CUDA_MANAGED):
            return None
        if number != owner.device:
            raise InputError(f"{what}: lies on GPU {number}, expected GPU {owner.device}.")
        found = dlpack.take(value.__dlpack__(stream=stream or 1))
        _expect(found.dtype, dtype, what)
        return View(found.address, found.shape, found.strides, found)
    facts = getattr(value, INTERFACE, None)
    if not isinstance(facts, dict):
        return None
    _expect(np.dtype(facts["typestr"]), dtype, what)
    if facts.get("stream") is not None:
        owner.order(_plain_stream(facts["stream"]), stream)
    shape, given = tuple(facts["shape"]), facts.get("strides")
    size = np.dtype(dtype).itemsize
    strides = contiguous(shape) if given is None else tuple(k // size for k in given)
    return View(int(facts["data"][0]), shape, strides, value)


def stream_handle(stream: Any) -> int:
    """The handle of a stream: a number, or PyTorch's, CuPy's or any with `__cuda_stream__`; None is the default one."""
    if stream is None:
        return 0
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    for name in ("cuda_stream", "ptr"):
        if hasattr(stream, name):
            return int(getattr(stream, name))
    if isinstance(stream, bool) or not isinstance(stream, (int, np.integer)):
        raise InputError(f"stream: expected a handle, or a stream of PyTorch or CuPy, found {type(stream).__name__}.")
    return int(stream)


def _plain_stream(stream: int | None) -> int:
    """DLPack and the array interface call the default stream 1."""
    return 0 if stream in (None, 1) else int(stream or 0)


def _expect(found: npt.DTypeLike, wanted: npt.DTypeLike, what: str) -> None:
    if np.dtype(found) != np.dtype(wanted):
        raise InputError(
            f"{what}: expected {np.dtype(wanted)}, as these functions are made for, found {np.dtype(found)}; convert it, or "
            f"make them by robot.gpu(dtype={str(np.dtype(found))!r})."
        )
