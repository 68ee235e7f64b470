"""One generated function as a Python callable on numpy arrays, single or batched over rows."""

from __future__ import annotations

import ctypes
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, SolverError
from diffpbd.runtime.base.names import hint
from diffpbd.runtime.base.quaternions import expect_unit
from diffpbd.runtime.base.results import Sent, result_type
from diffpbd.runtime.folder.library import Library
from diffpbd.runtime.folder.manifest import MATRIX, POSITIONS, SCALAR, Argument, Manifest
from diffpbd.runtime.folder.manifest import Function as FunctionFacts
from diffpbd.runtime.functions.frames import USUAL, chosen
from diffpbd.runtime.functions.help_text import help_text, shape_words, signature_of
from diffpbd.runtime.functions.joint_values import by_joint, of_joints
from diffpbd.runtime.functions.parameters import ParameterVector

__all__ = ["BoundFunction", "Function", "addresses", "as_array", "check_count", "check_threads", "plain"]


def addresses(arrays: Sequence[FloatArray]) -> Any:
    """The C array of pointers to the arrays' data."""
    return (ctypes.c_void_p * len(arrays))(*[array.ctypes.data for array in arrays])


def as_array(value: Any, name: str, function: str, *, finite: bool = True) -> FloatArray:
    """A float64 array of finite numbers (of any, if not `finite`), or an InputError that names the argument."""
    try:
        array = np.asarray(value)
        if array.dtype != np.float64:
            if array.dtype.kind not in "fiub":
                raise TypeError
            array = array.astype(np.float64)
    except (TypeError, ValueError):
        words = f"expected numbers in a regular array, found {_shorten(value)}"
        raise InputError(f"{function}: argument {name!r}: {words}.") from None
    if finite and not np.isfinite(array).all():
        place = tuple(int(k) for k in np.argwhere(~np.isfinite(array))[0])
        where = f" at index {place if len(place) > 1 else place[0]}" if place else ""
        raise InputError(f"{function}: argument {name!r}: expected finite numbers, found {array[place]}{where}.")
    return array


def check_threads(threads: Any, function: str) -> None:
    """Refuse anything but a whole number of at least 1."""
    check_count(threads, function, "threads")


def check_count(count: Any, function: str, what: str) -> None:
    """Refuse anything but a whole number of at least 1."""
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
        raise InputError(f"{function}: {what}: expected a whole number of at least 1, found {_shorten(count)}.")


def _shorten(value: Any) -> str:
    return text if len(text := repr(value)) <= 60 else text[:57] + "..."


class BoundFunction(Sent, ABC):
    """Common part of generated functions: manifest facts, C symbol, defaults for alpha, h and p_ref."""

    def __init__(self, facts: FunctionFacts, manifest: Manifest, library: Library, alpha: ParameterVector) -> None:
        self.facts = facts
        self.name = facts.name
        self._robot, self._frames = manifest.name, manifest.robot.frames
        self._library = library
        self._alpha = alpha
        self._defaults = alpha.defaults
        self._defaults.flags.writeable = False
        self._h = manifest.recipe.h
        self._call: Callable[..., int] = library.bind(facts)
        self._names = [argument.name for argument in facts.inputs]
        self._by_joint = of_joints(facts.inputs, manifest.robot)
        self._positions = [k for k, a in enumerate(facts.inputs) if manifest.robot.floating and a.name in POSITIONS]
        self._result = result_type(facts.name, tuple(argument.name for argument in facts.outputs))
        self.__doc__ = help_text(facts, repr(self), manifest.recipe.h)
        self.__name__ = self.__qualname__ = facts.name
        self.__signature__ = signature_of(facts)

    def __repr__(self) -> str:
        def text(arguments: Sequence[Argument]) -> str:
            return ", ".join(f"{a.name}{shape_words(a, self.facts.rollout)}" for a in arguments)

        return f"{self.name}({text(self.facts.inputs)}) -> {text(self.facts.outputs)}"

    @abstractmethod
    def __call__(self, *args: Any, threads: int = 1, **named: Any) -> Any:
        """Evaluate with inputs by position or name."""

    def _bind(self, args: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        """The inputs in order; None or missing: default alpha (may be given by name) and h, zero p_ref."""
        if len(args) > len(self._names):
            raise InputError(
                f"{self.name}: expected at most {len(self._names)} arguments, found {len(args)}: {self!r}."
            )
        values = dict(zip(self._names, args, strict=False))
        for name, value in named.items():
            if name not in self._names:
                raise InputError(f"{self.name}: has no argument {name!r}. {hint(name, self._names)}")
            if name in values:
                raise InputError(f"{self.name}: argument {name!r} was given twice.")
            values[name] = value
        found = [self._default(argument, values.get(argument.name)) for argument in self.facts.inputs]
        for k in self._positions:
            expect_unit(self.name, self._names[k], found[k])
        return found

    def _default(self, argument: Argument, value: Any) -> Any:
        if argument.name in USUAL:
            return chosen(argument.name, value, self._robot, self._frames, self.name)
        if value is not None:
            if type(value) is dict and argument.name in self._by_joint:
                return by_joint(f"{self.name}: {argument.name}", value, *self._by_joint[argument.name])
            if argument.name != "alpha":
                return value
            return self._alpha.vector(value) if isinstance(value, Mapping) else self._alpha.checked(value)
        if argument.name == "alpha":
            return self._defaults
        if argument.name == "h":
            return self._h
        if argument.name == "p_ref":
            return np.zeros(argument.rows)
        raise InputError(f"{self.name}: argument {argument.name!r} is missing: {self!r}.")

    def _failure(self, status: int, where: str) -> SolverError:
        meaning = self.facts.status.get(status, "a status that the manifest does not explain")
        return SolverError(f"{self.name} of {self._robot} failed{where}: {meaning} (status {status}).")


class _Layout:
    """One buffer for all arguments of an evaluation, far cheaper than one array each."""

    def __init__(self, arguments: Sequence[Argument]) -> None:
        self._spans: list[tuple[int, int, tuple[int, ...]]] = []
        stop = 0
        for argument in arguments:
            start, stop = stop, stop + argument.size()
            self._spans.append((start, stop, argument.shape))
        self.total = stop
        self._bytes = [start * np.dtype(np.float64).itemsize for start, _, _ in self._spans]
        self._pointer_array: Any = ctypes.c_void_p * len(arguments)

    def pack(self, values: Sequence[Any]) -> FloatArray | None:
        """The buffer, or None when a value is a batch or needs a closer look."""
        buffer = np.empty(self.total)
        for (start, stop, shape), value in zip(self._spans, values, strict=True):
            try:
                array = np.asarray(value)
            except ValueError:
                return None
            if array.shape != shape or array.dtype.kind not in "fiu":
                return None
            buffer[start:stop] = array if array.ndim < 2 else array.ravel(order="F")
        return buffer if np.isfinite(buffer).all() else None

    def pointers(self, buffer: FloatArray) -> Any:
        base = buffer.ctypes.data
        return self._pointer_array(*[base + offset for offset in self._bytes])

    def unpack(self, buffer: FloatArray) -> list[Any]:
        return [
            (buffer[start:stop].reshape(shape, order="F") if len(shape) > 1 else buffer[start:stop])
            if shape
            else float(buffer[start])
            for start, stop, shape in self._spans
        ]


class Function(BoundFunction):
    """A generated function that works on numpy arrays.

    A vector argument has shape (n,), a matrix (rows, cols), a scalar (). One more axis in front makes a
    batch: every argument is either single (shared by all rows) or has the same number of rows. Units and
    frames are in `facts`. The result is one array, or a named tuple of arrays in the order of the outputs;
    scalars come back as floats. A robot of one joint has vectors of shape (1,) and Jacobians of shape (1, 1).
    """

    def __init__(self, facts: FunctionFacts, manifest: Manifest, library: Library, alpha: ParameterVector) -> None:
        super().__init__(facts, manifest, library, alpha)
        self._work = facts.work_size or 0
        self._pointer = library.pointer(facts)
        self._in = _Layout(facts.inputs)
        self._out = _Layout(facts.outputs)

    def __call__(self, *args: Any, threads: int = 1, **named: Any) -> Any:
        """Evaluate; `threads` splits the rows of a batch over that many threads."""
        check_threads(threads, self.name)
        values = self._bind(args, named)
        packed = self._in.pack(values)
        return self._general(values, threads) if packed is None else self._single(packed)

    def _general(self, values: list[Any], threads: int) -> Any:
        """The general path, with all checks, for anything but a plain single evaluation."""
        inputs, in_sizes, rows_of = [], [], ""
        rows: int | None = None
        for argument, value in zip(self.facts.inputs, values, strict=True):
            array, count = self._prepare(argument, value)
            if count is not None:
                if rows is not None and count != rows:
                    raise InputError(
                        f"{self.name}: argument {argument.name!r}: expected {rows} rows as in {rows_of!r}, "
                        f"found {count}."
                    )
                rows, rows_of = count, argument.name
            inputs.append(array)
            in_sizes.append(0 if count is None else argument.size())
        if rows is None:
            return self._single(np.concatenate([array.reshape(-1) for array in inputs]))
        return self._batch(inputs, in_sizes, rows, threads)

    def _prepare(self, argument: Argument, value: Any) -> tuple[FloatArray, int | None]:
        """The argument contiguous in C's order, and its number of rows if it is a batch."""
        array = as_array(value, argument.name, self.name)
        found, shape, array = array.shape, argument.shape, plain(array, argument.shape)
        batched = array.ndim > len(shape)
        if array.shape[batched:] != shape:
            raise InputError(f"{self.name}: argument {argument.name!r}: expected {_shapes(argument)}, found {found}.")
        rows = array.shape[0] if batched else None
        return np.ascontiguousarray(array.swapaxes(-1, -2) if argument.axes == MATRIX else array), rows

    def _single(self, packed: FloatArray) -> Any:
        output = np.empty(self._out.total)
        scratch = np.empty(self._work)
        status = self._call(self._in.pointers(packed), self._out.pointers(output), scratch.ctypes.data)
        if status != 0:
            raise self._failure(status, "")
        return self._pack(self._out.unpack(output))

    def _batch(self, inputs: list[FloatArray], in_sizes: list[int], rows: int, threads: int) -> Any:
        threads = max(1, min(threads, rows))
        outputs = [np.empty((rows, argument.columns(), argument.rows)) for argument in self.facts.outputs]
        out_sizes = [argument.size() for argument in self.facts.outputs]

        def run(start: int, stop: int) -> int:
            return self._library.map_rows(
                self._pointer,
                in_sizes,
                _offset(inputs, in_sizes, start),
                out_sizes,
                _offset(outputs, out_sizes, start),
                stop - start,
                np.empty(self._work),
            )

        edges = [rows * k // threads for k in range(threads + 1)]
        spans = [(a, b) for a, b in zip(edges, edges[1:], strict=False) if b > a]
        if len(spans) > 1:
            with ThreadPoolExecutor(max_workers=len(spans)) as pool:
                failed = sum(pool.map(lambda span: run(*span), spans))
        else:
            failed = sum(run(*span) for span in spans)
        if failed:
            raise self._failed_row(inputs, in_sizes, rows, failed)
        return self._pack([_shaped(a, o) for a, o in zip(self.facts.outputs, outputs, strict=True)])

    def _failed_row(self, inputs: list[FloatArray], in_sizes: list[int], rows: int, failed: int) -> SolverError:
        """The map in C only counts failures: call the rows one by one until the first."""
        outputs, work = [np.empty(argument.size()) for argument in self.facts.outputs], np.empty(self._work)
        others = f" ({failed} of {rows} rows failed)" if failed > 1 else ""
        for row in range(rows):
            pointers = (ctypes.c_void_p * len(inputs))(*_offset(inputs, in_sizes, row))
            status = self._call(pointers, addresses(outputs), work.ctypes.data)
            if status != 0:
                return self._failure(status, f" in row {row}{others}")
        return SolverError(f"{self.name} of {self._robot} failed in {failed} of {rows} rows.")

    def _pack(self, results: list[Any]) -> Any:
        return results[0] if len(results) == 1 else self._result(*results)


def _offset(arrays: Sequence[FloatArray], sizes: Sequence[int], row: int) -> list[int]:
    return [a.ctypes.data + row * size * a.itemsize for a, size in zip(arrays, sizes, strict=True)]


def plain(array: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """Accepts other forms of `shape` or rows of it: a number as (1,) or (rows, 1), a vector of length one as ()."""
    if {array.shape, shape} == {(), (1,)}:
        return array.reshape(shape)
    return array[:, 0] if shape == () and array.ndim == 2 and array.shape[1] == 1 else array


def _shaped(argument: Argument, array: FloatArray) -> Any:
    """Rows (rows, cols, rows of the argument) in C's order as Python's."""
    if argument.axes == MATRIX:
        return array.swapaxes(-1, -2)
    return array.reshape((len(array), *argument.shape))


def _shapes(argument: Argument) -> str:
    if argument.axes == SCALAR:
        return "a number, or shape (rows,) for a batch"
    return f"shape {argument.shape}, or {('rows', *argument.shape)} for a batch".replace("'", "")
