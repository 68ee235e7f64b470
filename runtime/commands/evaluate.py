"""`diffpbd eval ROBOT FUNCTION --json IN.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, SolverError
from diffpbd.runtime.base.files import distinct, read_json, write_atomic
from diffpbd.runtime.base.names import hint
from diffpbd.runtime.commands.options.locate import open_robot, robot_files
from diffpbd.runtime.functions.parameters import ParameterVector
from diffpbd.runtime.model.robot import Robot

__all__ = ["command", "evaluate"]

ALPHA_LIKE = ("alpha", "alpha_bar")


@click.command("eval")
@click.argument("robot")
@click.argument("function")
@click.option("--json", "source", required=True, metavar="IN.json", help="Inputs by name.")
@click.option("--out", metavar="OUT.json", help="Default: standard output.")
@click.option("--params", metavar="FILE", help="Values of alpha by name, such as params.json of identify.")
def command(robot: str, function: str, source: str, out: str | None, params: str | None) -> None:
    """Evaluate FUNCTION of the generated ROBOT.

    IN.json is an object of inputs, {"p": [...], "pd": [...]}; each one may be a list of such (a batch), or
    the file is a list of objects. Matrices are nested by rows, trajectories by samples; alpha is an object of
    parameter names; a missing alpha or h takes its default.
    """
    distinct([("--out", out)], [("--json", source), ("--params", params), *robot_files(robot)])
    loaded = open_robot(robot)
    result = evaluate(loaded, function, read_json(source), params=params, where=source)
    text = _dumps(result)
    if out is None:
        click.echo(text, nl=False)
    else:
        write_atomic(out, text)


def evaluate(robot: Robot, function: str, data: Any, *, params: str | Path | None = None, where: str = "input") -> Any:
    """The outputs for parsed JSON: an object, or a list of objects if the input is one."""
    called = robot.function(function)
    listed = isinstance(data, list)
    values = _transposed(data, where) if listed else data
    if not isinstance(values, dict):
        raise InputError(f"{where}: expected an object of inputs or a list of them, found {type(data).__name__}.")
    names = [argument.name for argument in called.facts.inputs]
    for name in values:
        if name not in names:
            raise InputError(f"{where}: {function} has no input {name!r}. {hint(name, names)}")
    if "alpha" in names:
        base = robot.alpha.vector(params)
        values = {**values, "alpha": _alpha(values.get("alpha", {}), robot.alpha, base)}
    result = called(**values)
    outputs = [argument.name for argument in called.facts.outputs]
    parts = [result] if len(outputs) == 1 else list(result)
    named = {name: _plain(part, name, function, robot.alpha) for name, part in zip(outputs, parts, strict=True)}
    if not listed:
        return named
    return [{name: part[row] for name, part in named.items()} for row in range(len(data))]


def _transposed(data: list[Any], where: str) -> dict[str, list[Any]]:
    """A list of objects as an object of lists."""
    if not data or not all(isinstance(entry, dict) for entry in data):
        raise InputError(f"{where}: expected an object of inputs or a list of them.")
    keys = list(data[0])
    for row, entry in enumerate(data):
        if set(entry) != set(keys):
            raise InputError(
                f"{where}: entry {row} has the inputs {', '.join(entry)}; entry 0 has {', '.join(keys)}. "
                "Expected the same in all of them."
            )
    return {key: [entry[key] for entry in data] for key in keys}


def _alpha(value: Any, layout: ParameterVector, base: FloatArray) -> Any:
    """alpha from an object of names, a list of such, or numbers in order."""
    if isinstance(value, Mapping):
        return layout.vector(value, base=base)
    if isinstance(value, list) and value and all(isinstance(entry, Mapping) for entry in value):
        return [layout.vector(entry, base=base) for entry in value]
    return value


def _plain(part: Any, name: str, function: str, layout: ParameterVector) -> Any:
    array = np.asarray(part)
    if not np.isfinite(array).all():
        raise SolverError(f"{function}: its output {name!r} is not finite; JSON cannot hold it.")
    if name in ALPHA_LIKE:
        return layout.by_name(array) if array.ndim == 1 else [layout.by_name(row) for row in array]
    return array.tolist()


def _dumps(result: Any) -> str:
    """JSON with one line an output, or one line an entry."""
    if isinstance(result, list):
        return "[\n" + ",\n".join(f" {json.dumps(entry, ensure_ascii=False)}" for entry in result) + "\n]\n"
    lines = [f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in result.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"
