"""A generated function at constant parameters, which are checked once, for loops that call it every tick."""

from __future__ import annotations

import ctypes
from math import isfinite

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, SolverError
from diffpbd.runtime.folder.library import Library
from diffpbd.runtime.folder.manifest import Function

__all__ = ["Fixed"]


class Fixed:
    """A function of vectors and, as the last argument, alpha; same values as `Function` in a fifth of its time.

    It reuses its arrays, so it is not thread-safe. It keeps the interpreter lock during a call.
    """

    def __init__(self, facts: Function, library: Library, alpha: FloatArray) -> None:
        """`alpha` (entries,) was checked by `ParameterVector.checked`."""
        *vectors, last = facts.inputs
        if last.name != "alpha" or facts.rollout or any(len(argument.shape) != 1 for argument in vectors):
            raise InputError(f"{facts.name} is no function of vectors and alpha.")
        (output,) = facts.outputs
        self._facts = facts
        sizes = [argument.size() for argument in facts.inputs]
        self._shapes = [argument.shape for argument in vectors]
        self._ends = [sum(sizes[:k]) for k in range(len(sizes) + 1)]
        self._given = np.zeros(self._ends[-1])
        self._given[self._ends[-2] :] = alpha
        self._found = np.empty(output.size())
        self._shape = output.shape
        self._work = np.empty(facts.work_size or 0)
        item = self._given.itemsize
        base = self._given.ctypes.data
        self._inputs = (ctypes.c_void_p * len(sizes))(*[base + item * start for start in self._ends[:-1]])
        self._outputs = (ctypes.c_void_p * 1)(self._found.ctypes.data)
        self._scratch = self._work.ctypes.data
        self._call = library.bind(facts, locked=True)

    def __call__(self, *vectors: FloatArray) -> FloatArray:
        """The function at finite vectors, each (n,); an InputError for others."""
        given, ends = self._given, self._ends
        if [vector.shape for vector in vectors] != self._shapes:
            raise InputError(
                f"{self._facts.name}: expected vectors of shape {self._shapes}, found {[v.shape for v in vectors]}."
            )
        for k, vector in enumerate(vectors):
            given[ends[k] : ends[k + 1]] = vector
        if not all(map(isfinite, given[: ends[-2]].tolist())):
            raise InputError(f"{self._facts.name}: expected finite numbers, found {[v.tolist() for v in vectors]}.")
        status = self._call(self._inputs, self._outputs, self._scratch)
        if status != 0:
            raise SolverError(
                f"{self._facts.name} failed: {self._facts.status.get(status, 'unknown')} (status {status})."
            )
        found: FloatArray = self._found.copy()
        return found if len(self._shape) == 1 else found.reshape(self._shape, order="F")
