"""Generated functions as `casadi.Function`s: the serialized graph, or the compiled code with its exact
Jacobian.

Imported only on request: the only core file that needs casadi.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import casadi
import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.callback import Callback
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.folder.integrity import verify_file
from diffpbd.runtime.folder.manifest import MATRIX, Argument, Manifest
from diffpbd.runtime.functions.function import BoundFunction, Function

__all__ = ["external_function", "graph_function"]

DERIVATIVES = "derivative_graphs"
"""Name of the graphs of derivatives in a manifest's `left_out`."""

Evaluate: TypeAlias = Callable[[Sequence[FloatArray]], Sequence[Any]]


class Owner(Protocol):
    """The part of a robot that is used here."""

    name: str
    folder: Path
    manifest: Manifest
    functions: Mapping[str, BoundFunction]

    def function(self, name: str) -> BoundFunction:
        """A function by name."""


# A casadi graph holds no reference to a Python callback: a garbage-collected one would crash its next call.
_ALIVE: list[casadi.Callback] = []


def graph_function(robot: Owner, name: str) -> Any:
    """The serialized graph of a function, verified against the manifest."""
    file = robot.manifest.graphs.get(name) or robot.function(name).facts.casadi
    why = robot.manifest.why_not(DERIVATIVES)
    if file is None and why and name.startswith(("jac_", "vjp_")):
        raise InputError(
            f"{robot.name}: {name} has no serialized casadi graph. {why} `casadi({name!r}, external=True)` gives the "
            "compiled one."
        )
    if file is None:
        have = [*(other.name for other in robot.manifest.functions if other.casadi is not None), *robot.manifest.graphs]
        raise InputError(
            f"{robot.name}: {name} has no serialized casadi graph; the functions that have one: "
            f"{', '.join(have) or 'none'}. `casadi({name!r}, external=True)` gives the compiled one."
        )
    verify_file(robot.folder, file, robot.manifest)
    try:
        return casadi.Function.load(str(robot.folder / file))
    except RuntimeError as error:
        raise InputError(
            f"{robot.folder / file} was written by casadi {robot.manifest.generator.casadi} and "
            "cannot be read "
            f"by casadi {casadi.CasadiMeta.version()}: {str(error).strip().splitlines()[-1]}"
        ) from None


def external_function(robot: Owner, name: str) -> Any:
    """The compiled function as a casadi function with named arguments and an exact Jacobian.

    Derivatives come from `jac_NAME`, `jac_alpha_NAME` and, for other inputs (such as h), `vjp_NAME`;
    unused blocks are never computed. A failed evaluation stops the casadi call with its
    message.
    """
    function = robot.function(name)
    if not isinstance(function, Function):
        raise InputError(
            f"{robot.name}: {name} is a rollout of any number of steps; casadi functions have fixed sizes."
        )
    if name not in _cache(robot):
        _cache(robot)[name] = _keep(_External(robot, function))
    return _cache(robot)[name]


def _cache(robot: Owner) -> dict[str, Any]:
    cache: dict[str, Any] = robot.__dict__.setdefault("_externals", {})
    return cache


def _keep(callback: casadi.Callback) -> casadi.Callback:
    _ALIVE.append(callback)
    return callback


class _Compiled(Callback):
    """A casadi callback with the named dense arguments of the manifest around a function on numpy arrays."""

    def __init__(self, name: str, inputs: Sequence[Argument], outputs: Sequence[Argument], evaluate: Evaluate) -> None:
        def on_arrays(*values: Any) -> list[Any]:
            return list(evaluate([_to_numpy(value, argument) for value, argument in zip(values, inputs, strict=True)]))

        super().__init__(name, _sparsities(inputs), _sparsities(outputs), on_arrays)


def _sparsities(arguments: Sequence[Argument]) -> dict[str, Any]:
    return {a.name: casadi.Sparsity.dense(a.rows, a.columns()) for a in arguments}


def _to_numpy(value: Any, argument: Argument) -> FloatArray:
    return np.array(value, dtype=np.float64).reshape(argument.shape)


def _results(function: Function, arrays: Sequence[FloatArray]) -> tuple[Any, ...]:
    result = function(*arrays)
    return result if isinstance(result, tuple) else (result,)


def _selection(function: Function, names: Sequence[str]) -> _Compiled:
    """One generated function with some of its outputs, without derivatives."""
    outputs = [argument for argument in function.facts.outputs if argument.name in names]
    positions = [function.facts.outputs.index(argument) for argument in outputs]

    def evaluate(arrays: Sequence[FloatArray]) -> list[Any]:
        results = _results(function, arrays)
        return [results[position] for position in positions]

    return _Compiled(function.name, function.facts.inputs, outputs, evaluate)


def _reverse_rows(reverse: Function, primal: Function, by: Argument) -> _Compiled:
    """Jacobian blocks by one input, row by row from unit seeds through `vjp_NAME`."""
    outputs = primal.facts.outputs
    sizes = [argument.size() for argument in outputs]
    total = sum(sizes)
    position = [a.name for a in reverse.facts.outputs].index(f"{by.name}_bar")
    edges = [sum(sizes[:k]) for k in range(1, len(sizes))]
    seeds = []
    for argument, unit in zip(outputs, np.split(np.eye(total), edges, axis=1), strict=True):
        matrix = unit.reshape(total, argument.columns(), argument.rows).swapaxes(-1, -2)
        seeds.append(matrix if argument.axes == MATRIX else unit)

    def evaluate(arrays: Sequence[FloatArray]) -> list[Any]:
        gradient = np.asarray(_results(reverse, [*arrays, *seeds])[position])
        column_major = gradient if gradient.ndim < 3 else gradient.swapaxes(-1, -2)
        return list(np.split(column_major.reshape(total, -1), edges))

    blocks = [Argument(f"d{a.name}_d{by.name}", a.size(), by.size(), MATRIX, "", "") for a in outputs]
    return _Compiled(f"{reverse.name}_{by.name}", primal.facts.inputs, blocks, evaluate)


class _External(_Compiled):
    """A generated function whose Jacobian casadi takes from the generated derivatives."""

    def __init__(self, robot: Owner, function: Function) -> None:
        self._robot = robot
        self._function = function

        def evaluate(arrays: Sequence[FloatArray]) -> Sequence[Any]:
            return _results(function, arrays)

        super().__init__(function.name, function.facts.inputs, function.facts.outputs, evaluate)

    def has_jacobian(self) -> bool:
        return True

    def get_jacobian(self, name: str, inames: Sequence[str], onames: Sequence[str], opts: Mapping[str, Any]) -> Any:
        """All blocks d output / d input as one inlined graph over the derivative functions."""
        facts = self._function.facts
        inputs = [casadi.MX.sym(a.name, a.rows, a.columns()) for a in facts.inputs]
        nominal = [casadi.MX.sym(f"out_{a.name}", a.rows, a.columns()) for a in facts.outputs]
        blocks = self._blocks(inputs)
        outputs = [blocks[o.name, i.name] for o in facts.outputs for i in facts.inputs]
        options = {**opts, "always_inline": True}
        return casadi.Function(name, [*inputs, *nominal], outputs, list(inames), list(onames), options)

    def _blocks(self, inputs: Sequence[Any]) -> dict[tuple[str, str], Any]:
        facts = self._function.facts
        blocks: dict[tuple[str, str], Any] = {}
        for prefix in ("jac_", "jac_alpha_"):
            derivative = self._robot.functions.get(prefix + facts.name)
            if not isinstance(derivative, Function):
                continue
            pairs = {f"d{o.name}_d{i.name}": (o.name, i.name) for o in facts.outputs for i in facts.inputs}
            found = [a.name for a in derivative.facts.outputs if a.name in pairs and pairs[a.name] not in blocks]
            if found:
                results = _keep(_selection(derivative, found)).call(list(inputs))
                blocks.update({pairs[n]: r for n, r in zip(found, results, strict=True)})
        reverse = self._robot.functions.get("vjp_" + facts.name)
        for by in facts.inputs:
            missing = [o.name for o in facts.outputs if (o.name, by.name) not in blocks]
            if not missing:
                continue
            if not isinstance(reverse, Function) or f"{by.name}_bar" not in [a.name for a in reverse.facts.outputs]:
                raise InputError(
                    f"{self._robot.name}: the derivative of {missing[0]} by {by.name} was not generated, so "
                    "the "
                    f"compiled {facts.name} has no Jacobian. `casadi({facts.name!r})` gives the graph with "
                    "all of them."
                )
            rows = _keep(_reverse_rows(reverse, self._function, by)).call(list(inputs))
            for o, r in zip(facts.outputs, rows, strict=True):
                blocks.setdefault((o.name, by.name), r)
        return blocks
