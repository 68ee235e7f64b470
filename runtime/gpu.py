"""A robot's functions on a GPU: `robot.gpu(dtype="float32")`, from the .cu text that `generate --cuda` makes.

Compiled by NVRTC at the first call of each function and kept on disk. A call starts the work in a stream; with `check` it waits
for the end and refuses states that failed.
"""

from __future__ import annotations

import collections
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Protocol

import numpy as np

from diffpbd.runtime.errors import InputError, SolverError
from diffpbd.runtime.function import BoundFunction, as_array
from diffpbd.runtime.gpu_arrays import DeviceArray, View, contiguous, stream_handle, view
from diffpbd.runtime.gpu_compiler import compiler, resources
from diffpbd.runtime.gpu_driver import Driver, Module, driver
from diffpbd.runtime.gpu_launch import ENTRIES, Arguments, Batch, Entry, Lay
from diffpbd.runtime.integrity import verify_file
from diffpbd.runtime.manifest import MATRIX, Argument, Manifest
from diffpbd.runtime.names import hint
from diffpbd.runtime.rollout import MISSING

__all__ = ["Gpu", "GpuFunction", "open_gpu"]

SETTINGS: Final = {"float32": {"residual": 2e-4, "block": 128}, "float64": {"residual": 1e-9, "block": 64}}
"""By type: the largest last correction of a pose that is found, as in templates/robot.cu.jinja [rad or m]; threads of a block."""
KEPT: Final = 32
"""Small arrays from the host, such as alpha and h, that are kept on the device."""
SMALL: Final = 4096
"""[bytes] Of such an array."""
WORKSPACE: Final = 2**30
"""[bytes] Of a call at most; a larger batch goes in parts."""
MOST_COUNT: Final = 20


class Owner(Protocol):
    """What is asked of a robot."""

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
            f"{robot.name} was generated without text for a GPU: `diffpbd generate {robot.name} --cuda` makes it "
            "(with the options it was generated with)."
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
        self.robot, self.dtype, self.driver = robot, np.dtype(dtype), on
        self.residual = SETTINGS[dtype]["residual"]
        """[rad or m] Last correction of a pose above which a state has failed."""
        self.block = int(SETTINGS[dtype]["block"])
        self._source = source
        self._options = [*options, f"-DBLOCK={self.block}", *(["-DSINGLE"] if dtype == "float32" else [])]
        self._modules: dict[tuple[str, bool], tuple[Module, str]] = {}
        self._small: collections.OrderedDict[tuple[Any, ...], DeviceArray] = collections.OrderedDict()
        self.functions: Mapping[str, GpuFunction] = MappingProxyType(
            {name: GpuFunction(self, robot.functions[name], e) for name, e in ENTRIES.items() if name in robot.functions}
        )

    def __repr__(self) -> str:
        return f"<{self.robot.name} in {self.dtype} on {self.driver.name}: {', '.join(self.functions)}>"

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.functions})

    def __getattr__(self, name: str) -> Any:
        functions = self.__dict__.get("functions", {})
        if name in functions:
            return functions[name]
        raise AttributeError(f"{self.robot.name} on a GPU has no {name!r}. {hint(name, functions)}".rstrip(". "))

    def array(self, values: Any, stream: Any = None) -> DeviceArray:
        """A copy of an array on the device, in C's order."""
        host = np.ascontiguousarray(as_array(values, "values", "array"), dtype=self.dtype)
        result = DeviceArray(self.driver, self.dtype, host.shape, stream_handle(stream))
        self.driver.upload(result.address, host, result.stream)
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
            made = compiler()
            if made.version[0] > self.driver.cuda:
                raise InputError(
                    f"NVRTC is of CUDA {made.version[0]}, the driver of CUDA {self.driver.cuda}, which does not run its code: "
                    f"pip install nvidia-cuda-nvrtc-cu{self.driver.cuda}, or a newer driver."
                )
            code, log = made.compiled(self._source, self.driver.architecture, words)
            self._modules[key] = self.driver.load(code), log
        return self._modules[key]

    def placed(self, value: Any, what: str, function: str, stream: int) -> View:
        """An argument on the device: another library's array as it lies, anything else copied."""
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


class GpuFunction:
    """A generated function on arrays of a GPU.

    Arguments are those of the robot's own function of that name, single or batched over one more axis in front: arrays of
    PyTorch, JAX, CuPy and others as they lie, whatever their strides, in the precision of `robot.gpu`; numbers and NumPy arrays
    are copied to the device. Results are `DeviceArray`s.
    """

    def __init__(self, gpu: Gpu, bound: BoundFunction, entry: Entry) -> None:
        self.name, self.facts = bound.name, bound.facts
        self._gpu, self._bound, self._entry = gpu, bound, entry
        names = [a.name for a in self.facts.outputs]
        make: Any = collections.namedtuple
        self._result = make(f"{self.name}_result", names)
        self._unchecked = make(f"{self.name}_result", [*names, "left"])
        self.__doc__ = bound.__doc__

    def __repr__(self) -> str:
        return f"{self._bound!r} on {self._gpu.driver.name}"

    def __call__(
        self, *args: Any, stream: Any = None, check: bool = True, parameters: bool = True, **named: Any
    ) -> Any:
        """Evaluate in a stream (default: the default one).

        With `check` wait for the end and raise SolverError where states failed, naming them. Without it return at once, with
        one more result: `left`, the last correction of each state's poses [rad or m], infinite where there is none; above
        `gpu.residual` a state has failed: a step or rollout then keeps the last state that is good, derivatives are zero.
        Without `parameters` a gradient leaves out those by h and alpha, which are None then.
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
        """Where every argument lies, the number of steps, the number of rows of a batch."""
        place = self._gpu.placed
        found: list[View | None] = [
            None if v is MISSING else place(v, a.name, self.name, stream)
            for v, a in zip(values, self.facts.inputs, strict=True)
        ]
        steps, rows = self._steps(found), None
        lays = []
        for argument, one in zip(self.facts.inputs, found, strict=True):
            shape = self._shape(argument, steps)
            if one is None:  # a seed that was left out
                zero = place(np.zeros(argument.rows), argument.name, self.name, stream)
                lays.append(Lay(zero, 0, 0, zero.strides[0]))
                continue
            one = _reshaped(one, shape)
            batched = len(one.shape) == len(shape) + 1
            if one.shape[batched:] != shape or (batched and rows not in (None, one.shape[0])):
                rest = "" if rows is None else f" of {rows} rows as in the arguments before it"
                raise InputError(
                    f"{self.name}: argument {argument.name!r}: expected shape {shape}, or {('rows', *shape)} for a batch{rest}, "
                    f"found {one.shape}."
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
                        f"{self.name}: argument {argument.name!r}: expected shape (steps, {argument.rows}), one sample a row, or "
                        f"(rows, steps, {argument.rows}) for a batch, found {one.shape}."
                    )
                return one.shape[-2]
        return 0

    @staticmethod
    def _shape(argument: Argument, steps: int) -> tuple[int, ...]:
        return (argument.columns(steps), argument.rows) if isinstance(argument.cols, str) else argument.shape

    def _output(self, argument: Argument, steps: int, count: int, stream: int) -> DeviceArray:
        """An output whose states lie side by side, columns after each other."""
        shape = self._shape(argument, steps)
        strides = contiguous(shape)
        if argument.axes == MATRIX and not isinstance(argument.cols, str):
            strides = (1, argument.rows)  # as in C
        return DeviceArray(
            self._gpu.driver, self._gpu.dtype, (count, *shape), stream, (1, *(k * count for k in strides))
        )

    def _run(
        self, lays: Sequence[Lay], outputs: Sequence[DeviceArray], steps: int, count: int, stream: int, skip: Sequence[str]
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
            else f"the last correction of its pose is {worst:.3g} rad or m, above {self._gpu.residual:g}: the step is too long for "
            "the motion, or robot.gpu(newtons=..., chords=...) needs more"
        )
        where = f" in row {row} ({len(failed)} of {len(left)} rows failed)" if batched else ""
        raise SolverError(f"{self.name} of {self._gpu.robot.name} on the GPU failed{where}: {why}.")


def _reshaped(one: View, shape: tuple[int, ...]) -> View:
    """A number as (1,) and the other way round, as on the CPU."""
    if {one.shape, shape} == {(), (1,)}:
        return View(one.address, shape, one.strides if shape == () else (1,), one.owner) if shape else View(one.address, (), (), one.owner)
    if shape == () and len(one.shape) == 2 and one.shape[1] == 1:
        return View(one.address, one.shape[:1], one.strides[:1], one.owner)
    return one


def _first(array: DeviceArray) -> DeviceArray:
    """The one state of a batch of one."""
    array.shape, array.steps = array.shape[1:], array.steps[1:]
    return array
