"""One generated function on arrays of a GPU, single or batched over rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Protocol

import numpy as np

from diffpbd.runtime.base.errors import InputError, SolverError
from diffpbd.runtime.base.results import result_type
from diffpbd.runtime.folder.manifest import MATRIX, Argument
from diffpbd.runtime.functions.function import BoundFunction
from diffpbd.runtime.functions.rollout import MISSING
from diffpbd.runtime.gpu.arrays import DeviceArray, View, contiguous, stream_handle
from diffpbd.runtime.gpu.driver import Driver, Module
from diffpbd.runtime.gpu.launch import Arguments, Batch, Entry, Lay

__all__ = ["GpuFunction"]

WORKSPACE: Final = 2**30
"""[bytes] Largest workspace of a call; a larger batch is split."""


class Owner(Protocol):
    """The part of a robot on a GPU that is used here."""

    dtype: np.dtype[Any]
    driver: Driver
    residual: float
    block: int
    name: str

    def module(self, entry: Entry, shared: bool) -> Module:
        """A function's compiled entries."""

    def placed(self, value: Any, what: str, function: str, stream: int) -> View:
        """An argument on the device."""


class GpuFunction:
    """A generated function on arrays of a GPU.

    Arguments are those of the robot's own function of that name, single or batched over one more axis in front: arrays of
    PyTorch, JAX, CuPy and others with any strides, in the precision of `robot.gpu`, without a copy; numbers and NumPy
    arrays are copied to the device. Results are `DeviceArray`s.
    """

    def __init__(self, gpu: Owner, bound: BoundFunction, entry: Entry) -> None:
        self.name, self.facts = bound.name, bound.facts
        self._gpu, self._bound, self._entry = gpu, bound, entry
        names = tuple(a.name for a in self.facts.outputs)
        self._result, self._unchecked = result_type(self.name, names), result_type(self.name, (*names, "left"))
        self.__doc__ = bound.__doc__

    def __repr__(self) -> str:
        return f"{self._bound!r} on {self._gpu.driver.name}"

    def __call__(
        self, *args: Any, stream: Any = None, check: bool = True, parameters: bool = True, **named: Any
    ) -> Any:
        """Evaluate in a stream (default: the default one).

        With `check` wait for the end and raise a SolverError that names failed states. Without it return at once, with
        one more result: `left`, the last correction of each state's poses [rad or m], infinite for invalid inputs; above
        `gpu.residual` a state has failed: a step or rollout then keeps the last good state, derivatives are zero.
        Without `parameters` the gradients by h and alpha are not computed and None.
        """
        handle = stream_handle(stream)
        values = self._bound._bind(args, named)
        views, steps, rows = self._placed(values, handle)
        count = 1 if rows is None else rows
        outputs = [self._output(a, steps, count, handle) for a in self.facts.outputs]
        left = DeviceArray(self._gpu.driver, self._gpu.dtype, (count,), handle)
        skip = () if parameters else tuple(a.name for a in self.facts.outputs if a.name in ("h_bar", "alpha_bar"))
        if count:
            self._run(views, [*outputs, left], steps, count, handle, skip)
        if check:
            self._refuse(left.numpy(), rows is not None)
        shown: list[Any] = [
            None if a.name in skip else (o if rows is not None else _first(o))
            for a, o in zip(self.facts.outputs, outputs, strict=True)
        ]
        if not check:
            return self._unchecked(*shown, left)
        return shown[0] if len(shown) == 1 else self._result(*shown)

    def _placed(self, values: list[Any], stream: int) -> tuple[list[Lay], int, int | None]:
        """Memory layouts of all arguments, the number of steps, the number of rows of a batch."""
        place = self._gpu.placed
        found: list[View | None] = [
            None if v is MISSING else place(v, a.name, self.name, stream)
            for v, a in zip(values, self.facts.inputs, strict=True)
        ]
        steps, rows = self._steps(found), None
        lays = []
        for argument, one in zip(self.facts.inputs, found, strict=True):
            shape = self._shape(argument, steps)
            if one is None:  # a missing seed
                zero = place(np.zeros(argument.rows), argument.name, self.name, stream)
                lays.append(Lay(zero, 0, 0, zero.strides[0]))
                continue
            one = _reshaped(one, shape)
            batched = len(one.shape) == len(shape) + 1
            if one.shape[batched:] != shape or (batched and rows not in (None, one.shape[0])):
                rest = "" if rows is None else f" of {rows} rows as in the arguments before it"
                raise InputError(
                    f"{self.name}: argument {argument.name!r}: expected shape {shape}, or {('rows', *shape)} for a "
                    f"batch{rest}, found {one.shape}."
                )
            rows = one.shape[0] if batched else rows
            state, *own = one.strides if batched else (0, *one.strides)
            lays.append(Lay(one, state, own[0] if len(own) == 2 else 0, own[-1] if own else 0))
        return lays, steps, rows

    def _steps(self, found: Sequence[View | None]) -> int:
        if self._entry.steps is not None:
            return self._entry.steps
        for argument, one in zip(self.facts.inputs, found, strict=True):
            if argument.cols == "N" and one is not None:
                if len(one.shape) not in (2, 3) or one.shape[-1] != argument.rows:
                    raise InputError(
                        f"{self.name}: argument {argument.name!r}: expected shape (steps, {argument.rows}), one sample a "
                        f"row, or (rows, steps, {argument.rows}) for a batch, found {one.shape}."
                    )
                return one.shape[-2]
        return 0

    @staticmethod
    def _shape(argument: Argument, steps: int) -> tuple[int, ...]:
        return (argument.columns(steps), argument.rows) if isinstance(argument.cols, str) else argument.shape

    def _output(self, argument: Argument, steps: int, count: int, stream: int) -> DeviceArray:
        """An output with interleaved states, column-major."""
        shape = self._shape(argument, steps)
        strides = contiguous(shape)
        if argument.axes == MATRIX and not isinstance(argument.cols, str):
            strides = (1, argument.rows)  # as in C
        return DeviceArray(
            self._gpu.driver, self._gpu.dtype, (count, *shape), stream, (1, *(k * count for k in strides))
        )

    def _run(
        self,
        lays: Sequence[Lay],
        outputs: Sequence[DeviceArray],
        steps: int,
        count: int,
        stream: int,
        skip: Sequence[str],
    ) -> None:
        alpha = lays[[a.name for a in self.facts.inputs].index("alpha")]
        module = self._gpu.module(self._entry, alpha.state == 0 and alpha.element == 1)
        kinds = [*(isinstance(a.cols, str) for a in self.facts.outputs), False]
        outs = [Lay.of_output(o, along) for o, along in zip(outputs, kinds, strict=True)]
        each = self._entry.work(module, steps)
        most = count if not each else max(1, min(count, WORKSPACE // (each * self._gpu.dtype.itemsize)))
        work = DeviceArray(self._gpu.driver, self._gpu.dtype, (each * most,), stream) if each else None
        for first in range(0, count, most):
            batch = Batch(first, min(most, count - first), steps, work.address if work else 0)
            arguments = Arguments.of(batch, lays, outs, self._gpu.dtype.itemsize)
            for name, by_step in self._entry.passes:
                threads = batch.count * (steps if by_step else 1)
                if threads and not (skip and name.endswith("_parameters")):
                    module.launch(name, threads, self._gpu.block, arguments, stream)

    def _refuse(self, left: Any, batched: bool) -> None:
        failed = np.flatnonzero(~(left <= self._gpu.residual))
        if not len(failed):
            return
        row, worst = int(failed[0]), float(left[failed[0]])
        why = (
            "there is no result: an input is not finite or out of range, or a search did not end"
            if not np.isfinite(worst)
            else f"the last correction of its pose is {worst:.3g} rad or m, above {self._gpu.residual:g}: the step is "
            "too long for the motion, or robot.gpu(newtons=..., chords=...) needs more"
        )
        where = f" in row {row} ({len(failed)} of {len(left)} rows failed)" if batched else ""
        raise SolverError(f"{self.name} of {self._gpu.name} on the GPU failed{where}: {why}.")


def _reshaped(one: View, shape: tuple[int, ...]) -> View:
    """Accepts a number as (1,) and vice versa, as on the CPU."""
    if {one.shape, shape} == {(), (1,)}:
        return (
            View(one.address, shape, one.strides if shape == () else (1,), one.owner)
            if shape
            else View(one.address, (), (), one.owner)
        )
    if shape == () and len(one.shape) == 2 and one.shape[1] == 1:
        return View(one.address, one.shape[:1], one.strides[:1], one.owner)
    return one


def _first(array: DeviceArray) -> DeviceArray:
    """The one state of a batch of one."""
    array.shape, array.steps = array.shape[1:], array.steps[1:]
    return array
