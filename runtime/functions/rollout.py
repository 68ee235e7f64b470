"""Rollouts in C over many steps, and their exact gradients in bounded memory.

A trajectory has one sample per row: U is (steps, n), P and PD are (steps + 1, n) with the start in row 0, so
that `robot.fk(P, PD)` evaluates along it. (In C the same memory is n × N, column-major.)
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.folder.manifest import MATRIX, Argument
from diffpbd.runtime.functions.function import BoundFunction, addresses, as_array, check_count, check_threads, plain
from diffpbd.runtime.functions.in_order import in_order

__all__ = ["Rollout", "RolloutGradient"]

WORK_LIMIT_BYTES = 64 * 2**20  # work memory of one segment; keeps a 10 000-step gradient far under 200 MB
SEED_SUFFIX = "_bar"


class Rollout(BoundFunction):
    """`rollout(p0, pd0, U, h, alpha) -> (P, PD)`, single or batched over a leading axis; `rollout_step(xi0, U, h, alpha) -> XI`
    on maximal states."""

    def __call__(self, *args: Any, threads: int = 1, **named: Any) -> Any:
        """Roll out; a batch has one more axis in front (h scalar or (rows,)), split over `threads`."""
        check_threads(threads, self.name)
        inputs, steps, rows = self._prepare(self._bind(args, named))
        size = self._library.work_size(self.facts, steps)
        if rows is None:
            return self._pack(self._numbers(self._run(inputs, steps, np.empty(size), "")))
        return self._pack(self._batched(inputs, steps, rows, threads))

    def _pack(self, results: list[Any]) -> Any:
        """One array, or a named tuple of several."""
        return results[0] if len(results) == 1 else self._result(*results)

    def fixed(
        self, steps: int, inputs: Mapping[str, FloatArray], outputs: Mapping[str, FloatArray]
    ) -> Callable[[], int]:
        """The C function bound to these contiguous arrays by name, for repeated calls; returns its status.

        Names and sizes are checked here; a call neither allocates nor checks. The callable keeps the arrays alive.
        """
        given = in_order(self.name, self.facts.inputs, inputs, steps)
        found = in_order(self.name, self.facts.outputs, outputs, steps)
        work = np.zeros(self._library.work_size(self.facts, steps))
        pointers = addresses(given), addresses(found), ctypes.c_void_p(work.ctypes.data)
        kept = (*given, *found, work)

        def call() -> int:
            assert kept
            return int(self._call(steps, *pointers))

        return call

    def _run(self, inputs: list[FloatArray], steps: int, work: FloatArray, where: str) -> list[FloatArray]:
        outputs = [np.empty(_shape(argument, steps)) for argument in self.facts.outputs]
        status = self._call(steps, addresses(inputs), addresses(outputs), work.ctypes.data)
        if status != 0:
            raise self._failure(status, where)
        return outputs

    def _batched(self, inputs: list[FloatArray], steps: int, rows: int, threads: int) -> list[FloatArray]:
        """All rows into one array per output; C gets addresses of a row in these arrays, so a row costs one call.

        The interpreter lock is released during a call: threads run in parallel, each with its own work array.
        """
        outputs = [np.empty((rows, *_shape(argument, steps))) for argument in self.facts.outputs]
        batch = [array.ndim > a.axes for array, a in zip(inputs, self.facts.inputs, strict=True)]
        given, found = _addresses(inputs, batch, rows), _addresses(outputs, [True] * len(outputs), rows)
        size = self._library.work_size(self.facts, steps)

        def span(first: int, last: int) -> None:
            work = np.empty(size)
            at_in, at_out, at_work = given.ctypes.data, found.ctypes.data, work.ctypes.data
            for row in range(first, last):
                status = self._call(steps, at_in + row * given.strides[0], at_out + row * found.strides[0], at_work)
                if status != 0:
                    raise self._failure(status, f" in row {row}")

        _spans(span, rows, threads)
        return outputs

    def _numbers(self, outputs: list[FloatArray]) -> list[Any]:
        """Scalars as floats."""
        return [o if a.axes else float(o) for a, o in zip(self.facts.outputs, outputs, strict=True)]

    def _prepare(self, values: list[Any]) -> tuple[list[FloatArray], int, int | None]:
        """Contiguous inputs, the number of steps (from U), the number of rows of a batch."""
        arrays = [as_array(v, a.name, self.name) for v, a in zip(values, self.facts.inputs, strict=True)]
        steps = self._steps(arrays)
        rows: int | None = None
        for k, argument in enumerate(self.facts.inputs):
            shape = _shape(argument, steps)
            array = arrays[k] = plain(arrays[k], shape)
            if array.shape == shape:
                continue
            if array.shape[1:] != shape or array.ndim != len(shape) + 1:
                raise InputError(
                    f"{self.name}: argument {argument.name!r}: expected shape {shape} for {steps} steps "
                    f"(one sample a row), or {('rows', *shape)} for a batch, found {array.shape}."
                    f"{self._meant(argument, array, steps)}"
                )
            if rows is not None and array.shape[0] != rows:
                raise InputError(
                    f"{self.name}: argument {argument.name!r}: expected {rows} rows as in the arguments "
                    "before it, "
                    f"found {array.shape[0]}."
                )
            rows = array.shape[0]
        return [np.asarray(array, order="C") for array in arrays], steps, rows

    def _meant(self, argument: Argument, array: FloatArray, steps: int) -> str:
        """For a message about a trajectory given instead of a number: the order, and which argument it may be."""
        others = [a.name for a in self.facts.inputs if a != argument and _shape(a, steps) == array.shape]
        if not others:
            return ""
        return f" The order is {', '.join(self._names)}; if this is {' or '.join(others)}, give it by name."

    def _steps(self, arrays: list[FloatArray]) -> int:
        for argument, array in zip(self.facts.inputs, arrays, strict=True):
            if argument.cols == "N":
                if array.ndim not in (2, 3) or array.shape[-1] != argument.rows:
                    raise InputError(
                        f"{self.name}: argument {argument.name!r}: expected shape (steps, {argument.rows}), "
                        "one sample "
                        f"a row, or (rows, steps, {argument.rows}) for a batch, found {array.shape}."
                    )
                return int(array.shape[-2])
        raise InputError(f"{self.name}: none of its inputs has a column a step; generate the folder again.")


class RolloutGradient(Rollout):
    """`vjp_rollout(p0, pd0, U, h, alpha, P_bar, PD_bar)`: the exact gradient of a loss by every input of a
    rollout.

    P_bar and PD_bar are the loss's derivatives by P and PD, (steps + 1, n) each; a missing one is zero. The
    reverse sweep needs only P and PD of the nodes, so a long rollout runs forward once, and backward in
    segments whose work memory stays under 64 MiB. `vjp_rollout_step(xi0, U, h, alpha, XI_bar)` is the same on maximal states,
    (steps + 1, 13 links): nodes are its checkpoints; steps are recomputed in between.
    """

    def __init__(self, *args: Any, rollout: Rollout | None = None) -> None:
        super().__init__(*args)
        self._forward = rollout
        self._starts = {name: name[:-1].upper() for name in self._names if name.endswith("0")}
        """Names of the start and its trajectory: p0 and P, pd0 and PD, xi0 and XI."""

    def __call__(self, *args: Any, threads: int = 1, segment: int | None = None, **named: Any) -> Any:
        """The gradient; `segment` is the number of steps held at a time (default: as many as 64 MiB hold)."""
        check_threads(threads, self.name)
        if segment is not None:
            check_count(segment, self.name, "segment")
        inputs, steps, rows = self._prepare(self._bind(args, named))
        if rows is None:
            return self._result(*self._numbers(self._reverse(inputs, steps, segment, "")))
        if not self._starts or (segment or self._segment(steps)) >= steps:
            return self._result(*self._batched(inputs, steps, rows, threads))

        def one(row: int) -> list[FloatArray]:
            return self._reverse(_row(inputs, self.facts.inputs, row), steps, segment, f" in row {row}")

        return self._result(*_stacked(one, rows, threads, self.facts.outputs, steps))

    def _default(self, argument: Argument, value: Any) -> Any:
        # A missing seed is zero; its length is known only once U is.
        return MISSING if value is None and argument.cols == "N+1" else super()._default(argument, value)

    def _prepare(self, values: list[Any]) -> tuple[list[FloatArray], int, int | None]:
        pairs = list(zip(values, self.facts.inputs, strict=True))
        steps = self._steps([np.empty(0) if v is MISSING else as_array(v, a.name, self.name) for v, a in pairs])
        return super()._prepare([np.zeros(_shape(a, steps)) if v is MISSING else v for v, a in pairs])

    def _segment(self, steps: int) -> int:
        """The longest halving of `steps` whose work memory is within the limit."""
        length = max(steps, 1)
        while length > 1 and not self._fits(length):
            length = (length + 1) // 2
        return length

    def _fits(self, steps: int) -> bool:
        try:
            return bool(self._library.work_size(self.facts, steps) * np.float64().itemsize <= WORK_LIMIT_BYTES)
        except InputError:  # more than C can count
            return False

    def _reverse(self, inputs: list[FloatArray], steps: int, segment: int | None, where: str) -> list[FloatArray]:
        # Without a start to roll out from (vjp_trajectory), the nodes are given and nothing has to be held.
        if not self._starts:
            return self._run(inputs, steps, np.empty(self._library.work_size(self.facts, steps)), where)
        length = segment if segment is not None else self._segment(steps)
        if length >= steps or self._forward is None:
            return self._run(inputs, steps, np.empty(self._library.work_size(self.facts, steps)), where)
        given = dict(zip(self._names, inputs, strict=True))
        forward = [given[argument.name] for argument in self._forward.facts.inputs]
        work = np.empty(self._library.work_size(self._forward.facts, steps))
        nodes = dict(zip(self._starts, self._forward._run(forward, steps, work, where), strict=True))
        seeds = {start: given[f"{along}{SEED_SUFFIX}"].copy() for start, along in self._starts.items()}
        total = {a.name: np.zeros(_shape(a, steps)) for a in self.facts.outputs}
        work = np.empty(self._library.work_size(self.facts, length))
        for start in reversed(range(0, steps, length)):
            stop = min(start + length, steps)
            piece = dict(given)
            piece["U"] = given["U"][start:stop]
            for name, along in self._starts.items():
                seed = seeds[name][start : stop + 1].copy()
                if start > 0:
                    seed[0] = 0.0  # the seed of a shared node belongs to the segment that ends there
                piece[name], piece[f"{along}{SEED_SUFFIX}"] = nodes[name][start], seed
            results = self._run([piece[name] for name in self._names], stop - start, work, where)
            part = {a.name: r for a, r in zip(self.facts.outputs, results, strict=True)}
            for name, value in part.items():
                if name == "U_bar":
                    total[name][start:stop] = value
                elif name.removesuffix(SEED_SUFFIX) in self._starts:
                    total[name] = value
                else:
                    total[name] += value
            for name in self._starts:
                seeds[name][start] += part[f"{name}{SEED_SUFFIX}"]
        return [total[argument.name] for argument in self.facts.outputs]


MISSING = object()
"""A missing seed, which is zero."""


def _shape(argument: Argument, steps: int) -> tuple[int, ...]:
    """The Python shape: one sample per row for trajectories; (n,) for vectors, () for scalars."""
    return (argument.columns(steps), argument.rows) if argument.axes == MATRIX else argument.shape


def _row(inputs: list[FloatArray], arguments: tuple[Argument, ...], row: int) -> list[FloatArray]:
    """One row of a batch; arguments without the extra axis are shared."""
    result = []
    for argument, array in zip(arguments, inputs, strict=True):
        result.append(np.asarray(array[row], order="C") if array.ndim > argument.axes else array)
    return result


def _stacked(one: Any, rows: int, threads: int, arguments: tuple[Argument, ...], steps: int) -> list[FloatArray]:
    results: list[list[FloatArray]] = [[] for _ in range(rows)]

    def span(first: int, last: int) -> None:
        for row in range(first, last):
            results[row] = one(row)

    _spans(span, rows, threads)
    return [
        np.stack([result[k] for result in results]) if rows else np.empty((0, *_shape(argument, steps)))
        for k, argument in enumerate(arguments)
    ]


def _addresses(arrays: Sequence[FloatArray], batch: Sequence[bool], rows: int) -> npt.NDArray[np.uintp]:
    """(rows, arrays): the address of every row's data; an array without a batch axis is shared by all rows."""
    first = np.array([array.ctypes.data for array in arrays], dtype=np.uintp)
    stride = np.array(
        [array.strides[0] if many else 0 for array, many in zip(arrays, batch, strict=True)], dtype=np.uintp
    )
    return first + np.arange(rows, dtype=np.uintp)[:, None] * stride


def _spans(span: Callable[[int, int], None], rows: int, threads: int) -> None:
    """Calls `span` over all rows, in as many equal parts as there are threads."""
    threads = max(1, min(threads, rows))
    if threads == 1:
        span(0, rows)
        return
    ends = [rows * k // threads for k in range(threads + 1)]
    with ThreadPoolExecutor(max_workers=threads) as pool:
        list(pool.map(span, ends[:-1], ends[1:]))
