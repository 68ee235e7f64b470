"""Steps and rollouts for PyTorch and JAX: values with any leading axes, and the gradient by every input.

Based on a pair of generated functions of a `Robot` (CPU) or its `Gpu`; `with_torch` and `with_jax` wrap them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from diffpbd.runtime.base.errors import InputError

__all__ = ["INPUTS", "Pair", "pair"]

INPUTS: Final = {"joint_step": ("p", "pd", "u", "h", "alpha"), "rollout": ("p0", "pd0", "U", "h", "alpha")}
"""Inputs by function; its gradient has one output for each, in this order."""
AXES: Final = {"U": 2, "h": 0}
"""Number of axes of one value, default 1."""


@dataclass(frozen=True)
class Pair:
    """A function and its reverse derivative, of the same owner."""

    owner: Any
    forward: Any
    reverse: Any
    h: float
    parameters: Any

    def alpha(self, given: Any) -> Any:
        """alpha as a vector, from None, values by name, or a vector."""
        return self.parameters.vector(given) if given is None or isinstance(given, Mapping) else given

    @property
    def axes(self) -> tuple[int, ...]:
        """Number of axes of one value of every input."""
        return tuple(AXES.get(name, 1) for name in INPUTS[self.forward.name])

    @property
    def on_gpu(self) -> bool:
        """Whether the functions take arrays of a GPU."""
        return hasattr(self.owner, "driver")

    def leads(self, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
        """The leading axes of the result for inputs of these shapes."""
        own = [shape[: len(shape) - axes] for shape, axes in zip(shapes, self.axes, strict=True)]
        try:
            return tuple(int(k) for k in np.broadcast_shapes(*own))
        except ValueError:
            raise InputError(f"{self.forward.name}: leading axes that do not go together: {own}.") from None

    def ends(self, shapes: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
        """Shapes of both results, leading axes included."""
        leads = self.leads(shapes)
        nodes = (shapes[2][-2] + 1,) if self.forward.name == "rollout" else ()
        return [(*leads, *nodes, shape[-1]) for shape in shapes[:2]]  # positions may have more numbers than rates

    def evaluate(self, function: Any, inputs: Sequence[Any], axes: Sequence[int]) -> list[np.ndarray[Any, Any]]:
        """A function of this owner on NumPy arrays with any leading axes; inputs without them, or of size one, are
        broadcast."""
        arrays = [np.asarray(x, dtype=np.float64) for x in inputs]
        own = [a.shape[: a.ndim - k] for a, k in zip(arrays, axes, strict=True)]
        leads = np.broadcast_shapes(*own)
        rows = int(np.prod(leads, dtype=np.int64))
        given = []
        for array, lead, k in zip(arrays, own, axes, strict=True):
            shape = array.shape[array.ndim - k :]
            if all(size == 1 for size in lead):
                given.append(array.reshape(shape))
            else:
                given.append(np.broadcast_to(array, (*leads, *shape)).reshape(rows, *shape))
        if all(size == 1 for size in leads):
            found = [np.asarray(x) for x in function(*given)]
            return [x.reshape((*leads, *x.shape)) for x in found]
        return [np.asarray(x).reshape((*leads, *np.shape(x)[1:])) for x in function(*given)]

    def values(self, inputs: Sequence[Any]) -> list[np.ndarray[Any, Any]]:
        """Both results."""
        return self.evaluate(self.forward, inputs, self.axes)

    def bars(self, inputs: Sequence[Any], seeds: Sequence[Any]) -> list[np.ndarray[Any, Any]]:
        """The gradient by every input, summed over broadcast rows."""
        ends = [2 if self.forward.name == "rollout" else 1] * 2
        found = self.evaluate(self.reverse, [*inputs, *seeds], [*self.axes, *ends])
        return [summed(bar, np.shape(x)) for bar, x in zip(found, inputs, strict=True)]


def summed(bar: Any, shape: Sequence[int]) -> Any:
    """Sums a gradient over leading axes that were broadcast for its input of this shape."""
    more = len(bar.shape) - len(shape)
    for _ in range(more):
        bar = bar.sum(0)
    for k, size in enumerate(shape):
        if size == 1 and bar.shape[k] != 1:
            bar = bar.sum(k).reshape([*bar.shape[:k], 1, *bar.shape[k + 1 :]])
    return bar


def pair(owner: Any, name: str) -> Pair:
    """`joint_step` or `rollout` of a robot or of its `gpu()`."""
    functions = owner.functions
    missing = [f for f in (name, f"vjp_{name}") if f not in functions]
    if missing:
        raise InputError(f"{owner!r} has no {' and no '.join(missing)}, of which a differentiable {name} is made.")
    robot = getattr(owner, "robot", owner)
    return Pair(owner, functions[name], functions[f"vjp_{name}"], robot.manifest.recipe.h, robot.alpha)
