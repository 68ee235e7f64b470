"""Entries of a robot's .cu text and their arguments: the structs of templates/gpu/gpu_device.cuh."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import c_int64, c_void_p
from dataclasses import dataclass
from typing import Any, Final

from diffpbd.runtime.gpu.arrays import DeviceArray, View

__all__ = ["ENTRIES", "Arguments", "Batch", "Entry", "Lay"]

MOST_IN, MOST_OUT = 10, 9


@dataclass(frozen=True)
class Entry:
    """A function: its source, its kernels in order, each with a flag for one thread per step."""

    only: str
    passes: tuple[tuple[str, bool], ...]
    worked: bool = False
    """Whether it needs a workspace; the module has its elements per state and per state and step."""
    ends: bool = False
    """A gradient of one step, with seeds on its end only."""

    @property
    def options(self) -> tuple[str, ...]:
        """Compiler options."""
        return ("-DONLY", f"-DONLY_{self.only}", *(("-DENDS",) if self.ends else ()))

    @property
    def steps(self) -> int | None:
        """Number of steps if no argument determines it."""
        return 1 if self.ends else None

    def work(self, module: Any, steps: int) -> int:
        """Elements of workspace per state."""
        if not self.worked:
            return 0
        head, each = module.constants(f"work_{self.only}", 2)
        return int(head + steps * each)


def _plain(name: str) -> Entry:
    return Entry(name, ((name, False),))


_BACK: Final = (
    ("vjp_rollout_forward", False), ("vjp_rollout_blocks", True),
    ("vjp_rollout_sweep", False), ("vjp_rollout_parameters", False),
)  # fmt: skip

ENTRIES: Final = {
    **{name: _plain(name) for name in ("joint_step", "jac_joint_step")},
    "vjp_joint_step": Entry("vjp_rollout", _BACK, worked=True, ends=True),
    "rollout": _plain("rollout"),
    "vjp_rollout": Entry("vjp_rollout", _BACK, worked=True),
    **{name: _plain(name) for name in ("inverse_dynamics", "forward_dynamics", "fk", "tip_jacobian")},
    "estimate_torque": Entry("estimate_torque", (("estimate_torque", False),), worked=True),
}  # fmt: skip
"""Entries by the name of the robot's function."""


@dataclass(frozen=True)
class Lay:
    """An argument with its strides [elements] from state to state (0: one for all), step to step and element to element."""

    view: View
    state: int
    step: int
    element: int

    @classmethod
    def of_output(cls, array: DeviceArray, along: bool) -> Lay:
        """Layout of an output; `along`: of a trajectory, (rows, steps, n)."""
        count = array.shape[0]
        return cls(array.view(), 1, array.steps[1] if along else 0, count)


@dataclass(frozen=True)
class Batch:
    """The states of a launch, starting at `first`."""

    first: int
    count: int
    steps: int
    work: int


class _Array(ctypes.Structure):
    _fields_ = [("at", c_void_p), ("state", c_int64), ("step", c_int64), ("element", c_int64)]


class Arguments(ctypes.Structure):
    """Arguments of a kernel."""

    _fields_ = [
        ("count", c_int64), ("steps", c_int64), ("work", c_void_p), ("inputs", _Array * MOST_IN),
        ("outputs", _Array * MOST_OUT),
    ]  # fmt: skip

    @classmethod
    def of(cls, batch: Batch, inputs: Sequence[Lay], outputs: Sequence[Lay], itemsize: int) -> Arguments:
        """Arguments for some states."""

        def arrays(lays: Sequence[Lay]) -> list[_Array]:
            return [_Array(k.view.address + batch.first * k.state * itemsize, k.state, k.step, k.element) for k in lays]

        result = cls(batch.count, batch.steps, batch.work)
        for k, one in enumerate(arrays(inputs)):
            result.inputs[k] = one
        for k, one in enumerate(arrays(outputs)):
            result.outputs[k] = one
        return result
