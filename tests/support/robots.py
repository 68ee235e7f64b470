"""Generated robots, made once and kept in the git-ignored `.test-cache/`, and their graphs without C."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from diffpbd.codegen.description.front.resolve import resolve
from diffpbd.codegen.generate import generate
from diffpbd.codegen.graph.functions.functions import Graphs
from diffpbd.codegen.graph.loops.build import build
from diffpbd.codegen.graph.model.model import Model
from diffpbd.runtime import Robot, load
from diffpbd.runtime.folder.manifest import MANIFEST_NAME, read_manifest
from diffpbd.runtime.functions.parameters import ParameterVector

CACHE = Path(__file__).resolve().parent.parent.parent / ".test-cache"

SOAK = os.environ.get("DIFFPBD_TESTS") == "soak"
"""Whether the long counts are asked for; tests/conftest.py says so."""
FULL = (*(("baxter",) if SOAK else ()), "baxter_bare", "double_pendulum", "prismatic_skew")
"""Shipped robots whose C is compiled and tested whole; `baxter` is `baxter_bare` but for its tip. The others are checked as
CasADi graphs."""
ON_GPU = ("baxter_bare", "double_pendulum", "prismatic_skew")
"""Those whose folder has text for a GPU."""
EVERYTHING: Mapping[str, Any] = {"functions": ("all",), "variants": ("published",)}
"""Options with which robots are generated for tests."""
BY_VARIANT = {"wrench", "limits", "hold"}
"""Options that are tested with the published variants; with others the recipe's own is made alone."""


def generated(robot: str, **options: Any) -> Path:
    """The folder of a shipped robot or of a URDF file; unchanged ones are kept from run to run.

    The generator itself tells whether a folder is up to date. `options` go to `generate`; without `functions` every function
    is made, and the published variants of robots that are tested whole.
    """
    words = [Path(robot).stem, *(f"{k}={v}" for k, v in sorted(options.items()))]
    folder = CACHE / "_".join("".join(c if c.isalnum() or c == "_" else "-" for c in w) for w in words)
    CACHE.mkdir(exist_ok=True)
    with (CACHE / f".{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with quick_compiler():
            generate(robot, out=folder, **made_with(robot, **options))
    return folder


@contextlib.contextmanager
def quick_compiler() -> Iterator[None]:
    """tcc where it is there: it compiles in a thirtieth of gcc -O0's time, which was a third of a generation's.

    The code is as slow as that one's and gives the same bits (tests/emit/text/test_folder.py). The long counts have none of it.
    """
    quick = not SOAK and "CC" not in os.environ and shutil.which("tcc") is not None
    if quick:
        os.environ["CC"] = "tcc"
    try:
        yield
    finally:
        if quick:
            del os.environ["CC"]


def made_with(robot: str, **options: Any) -> dict[str, Any]:
    """The options with which `generated` asks the generator."""
    whole = robot in (*FULL, "baxter") if not options else bool(options.keys() & BY_VARIANT)
    cuda = {"cuda": True} if robot in ON_GPU and not options else {}
    return {**EVERYTHING, **({} if whole else {"variants": ()}), **cuda, **options}


def with_table(folder: Path, copy: Path, height: float) -> Path:
    """A copy of a generated folder whose recipe had this `table` [m]."""
    shutil.copytree(folder, copy)
    manifest = read_manifest(copy)
    recipe = replace(manifest.recipe, table=height)
    (copy / MANIFEST_NAME).write_text(replace(manifest, recipe=recipe).sealed().to_json(), encoding="utf-8")
    return copy


@cache
def loaded(robot: str) -> Robot:
    """A generated robot, opened once."""
    return load(generated(robot))


@cache
def model(robot: str) -> Model:
    """CasADi model of a shipped robot or of a URDF file."""
    recipe, described = resolve(robot)
    return build(described, recipe)


@cache
def graphs(robot: str) -> Mapping[str, ca.Function]:
    """The plain functions of the catalogue (no derivatives, no step) as CasADi functions."""
    return {
        name: ca.Function(
            name,
            [value for _, value in inputs],
            [ca.densify(ca.SX(value)) for value in outputs.values()],
            [key for key, _ in inputs],
            list(outputs),
            {"cse": True},
        )
        for name, inputs, outputs in Graphs(model(robot)).values()
    }


def call(f: ca.Function, *arguments: Any) -> Any:
    """A CasADi function on arrays: vectors come back flat, scalars as floats, several outputs as a tuple."""
    results = f(*arguments)
    found = [_plain(np.array(r)) for r in (results if isinstance(results, tuple) else (results,))]
    return found[0] if len(found) == 1 else tuple(found)


def _plain(array: np.ndarray) -> Any:
    if array.shape == (1, 1):
        return float(array[0, 0])
    return array[:, 0] if array.shape[1] == 1 else array


def mapped(f: ca.Function, values: Mapping[str, Any], shared: Mapping[str, Any]) -> list[np.ndarray]:
    """Outputs over the rows of `values`, (rows, ...) each; `shared` are the arguments that all rows have in common."""
    rows = len(next(iter(values.values())))
    arguments = []
    for name in f.name_in():
        common = name in shared
        arguments.append(np.tile(np.reshape(shared[name], (-1, 1)), rows) if common else np.transpose(values[name]))
    results = f.map(rows)(*arguments)
    found = []
    for k, result in enumerate(results if isinstance(results, tuple) else (results,)):
        array = np.array(result).reshape(f.size1_out(k), rows, f.size2_out(k)).swapaxes(0, 1)
        found.append(array[..., 0] if f.size2_out(k) == 1 else array)
    return found


def alpha_of(robot: str) -> ParameterVector:
    """Layout of alpha, without generating."""
    return ParameterVector(model(robot).entries, robot)


def loaded_alpha(parameters: ParameterVector, seed: int = 5, transition: float = 0.2) -> np.ndarray:
    """Every parameter away from its default: payload, friction, rotors, springs, offsets, a tilted gravity."""
    rng = np.random.default_rng(seed)
    values = {
        "gravity.x": 0.7,
        "gravity.y": -0.4,
        "gravity.z": -9.5,
        "payload.mass": 0.8,
        "payload.com.x": 0.03,
        "payload.com.y": -0.02,
        "payload.com.z": 0.07,
        "payload.inertia.xx": 0.004,
        "payload.inertia.xy": 0.0003,
        "payload.inertia.xz": -0.0002,
        "payload.inertia.yy": 0.005,
        "payload.inertia.yz": 0.0001,
        "payload.inertia.zz": 0.003,
    }
    spans = {
        "friction.coulomb": (0.2, 2.0),
        "friction.viscous": (0.1, 1.0),
        "friction.transition_velocity": (transition, 2.0 * transition),
        "rotor_inertia": (0.01, 0.2),
        "torque_offset": (-1.0, 1.0),
        "spring.stiffness": (1.0, 20.0),
        "spring.rest": (-1.0, 1.0),
    }
    for kind, (low, high) in spans.items():
        for k in parameters.indices(kind):
            values[parameters.names[k]] = float(rng.uniform(low, high))
    return parameters.vector(values)
