"""A generated function whose outputs are meaningful even if its status is not 0."""

from __future__ import annotations

from typing import Any

import numpy as np

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.functions.function import Function

__all__ = ["Attempt"]


class Attempt(Function):
    """Callable like any other function; `attempt` returns the outputs with the status."""

    def attempt(self, *args: Any, **named: Any) -> tuple[int, Any]:
        """Status and outputs of one evaluation, no batch."""
        packed = self._in.pack(self._bind(args, named))
        if packed is None:
            raise InputError(f"{self.name}: expected finite numbers of the shapes {self!r}, of one evaluation.")
        output, scratch = np.empty(self._out.total), np.empty(self._work)
        status = self._call(self._in.pointers(packed), self._out.pointers(output), scratch.ctypes.data)
        return status, self._pack(self._out.unpack(output))
