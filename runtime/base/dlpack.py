"""DLPack: arrays handed from library to library without a copy (https://dmlc.github.io/dlpack), by ctypes."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_int32, c_int64, c_uint8, c_uint16, c_uint64, c_void_p
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.errors import InputError

__all__ = ["CUDA", "CUDA_MANAGED", "Taken", "export", "take"]

CPU, CUDA, CUDA_MANAGED = 1, 2, 13
FLOAT: Final = 2
NAME: Final = b"dltensor"
USED: Final = b"used_dltensor"


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", c_void_p), ("device_type", c_int32), ("device", c_int32), ("ndim", c_int32), ("code", c_uint8),
        ("bits", c_uint8), ("lanes", c_uint16), ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)),
        ("offset", c_uint64),
    ]  # fmt: skip


class _Managed(ctypes.Structure):
    pass


_Deleter = ctypes.CFUNCTYPE(None, POINTER(_Managed))
_Managed._fields_ = [("tensor", _Tensor), ("context", c_void_p), ("deleter", _Deleter)]


class Lying(Protocol):
    """Memory of an array that is handed out."""

    @property
    def address(self) -> int:
        """Address of the first element."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""

    @property
    def strides(self) -> tuple[int, ...]:
        """In elements."""


_api: Any = ctypes.pythonapi
_Destructor = ctypes.CFUNCTYPE(None, c_void_p)
_new = ctypes.PYFUNCTYPE(ctypes.py_object, c_void_p, ctypes.c_char_p, _Destructor)(("PyCapsule_New", _api))
_pointer = ctypes.PYFUNCTYPE(c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", _api))
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_IsValid", _api))
_rename = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_SetName", _api))
# Of a capsule that is being destroyed: no reference may be made to it, so it goes by its address.
_dead_pointer = ctypes.PYFUNCTYPE(c_void_p, c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", _api))
_dead_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", _api))

_lent: dict[int, tuple[Any, ...]] = {}
"""Arrays handed out and not yet given back, by the address of its description."""


def _given_back(managed: Any) -> None:
    _lent.pop(ctypes.addressof(managed.contents), None)


def _destroyed(capsule: int) -> None:
    if _dead_is_valid(capsule, NAME):  # nobody took it
        _lent.pop(_dead_pointer(capsule, NAME), None)


_give_back, _destroy = _Deleter(_given_back), _Destructor(_destroyed)


def export(array: Lying, dtype: npt.DTypeLike, device: int) -> Any:
    """A capsule of an array on a GPU; the array lives until its taker gives it back."""
    n = len(array.shape)
    shape, strides = (c_int64 * n)(*array.shape), (c_int64 * n)(*array.strides)
    managed = _Managed(
        _Tensor(array.address, CUDA, device, n, FLOAT, 8 * np.dtype(dtype).itemsize, 1, shape, strides, 0),
        None,
        _give_back,
    )
    address = ctypes.addressof(managed)
    _lent[address] = managed, shape, strides, array
    return _new(address, NAME, _destroy)


class Taken:
    """An array of another library, which gets it back when this is collected."""

    def __init__(self, managed: Any) -> None:
        self._managed = managed
        tensor = managed.contents.tensor
        if tensor.code != FLOAT or tensor.lanes != 1 or tensor.bits not in (32, 64):
            raise InputError(
                f"DLPack: expected floats of 32 or 64 bits, found code {tensor.code} of {tensor.bits} bits."
            )
        self.dtype = np.dtype(f"f{tensor.bits // 8}")
        self.address = int(tensor.data or 0) + tensor.offset
        self.shape = tuple(tensor.shape[k] for k in range(tensor.ndim))
        compact = [int(np.prod(self.shape[k + 1 :], dtype=np.int64)) for k in range(tensor.ndim)]
        self.strides = tuple(tensor.strides[k] for k in range(tensor.ndim)) if tensor.strides else tuple(compact)

    def __del__(self) -> None:
        if self._managed.contents.deleter:
            self._managed.contents.deleter(self._managed)


def take(capsule: Any) -> Taken:
    """The array of a capsule, which nobody can take again."""
    if not _is_valid(capsule, NAME):
        raise InputError("DLPack: expected a capsule that nobody has taken yet.")
    managed = ctypes.cast(_pointer(capsule, NAME), POINTER(_Managed))
    _rename(capsule, USED)
    return Taken(managed)
