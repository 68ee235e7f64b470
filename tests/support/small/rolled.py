"""The joint-space step of a short robot, emitted and compiled as for a deep tree."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from diffpbd.codegen.emit.border import add_entries
from diffpbd.codegen.emit.emission.model_header import add_model
from diffpbd.codegen.emit.emission.sources import Banner, Emission
from diffpbd.codegen.emit.step.joint_step import add_joint_step
from diffpbd.codegen.emit.step.step_kernels import step_kernels
from diffpbd.codegen.emit.tables.constants import CONSTANTS
from diffpbd.codegen.graph.model.model import Model
from diffpbd.codegen.joint_space import step as joint_space
from diffpbd.codegen.joint_space import tree_jacobian
from diffpbd.codegen.program import tree
from diffpbd.runtime.folder.compiler import find_compiler

STRICT = (
    "-std=c99",
    "-pedantic",
    "-Wall",
    "-Werror",
    "-Wno-unused-function",
    "-O1",
    "-ffp-contract=off",
    "-DDIFFPBD_PORTABLE",
)
DOUBLES = ctypes.POINTER(ctypes.c_double)
NAME = "rolled"
Array = npt.NDArray[np.float64]


def _forget() -> None:
    for module in (joint_space, tree_jacobian):
        for value in vars(module).values():
            if hasattr(value, "cache_clear"):
                value.cache_clear()


def rolled_step(built: Model, folder: Path) -> ctypes.CDLL:
    """The library of a model's step."""
    depth, tree.DENSE_DEPTH = tree.DENSE_DEPTH, 0
    _forget()
    try:
        kernels = step_kernels(built)
        assert kernels.deep
        emission = Emission(NAME, Banner("", "0", NAME, "0", ""))
        add_joint_step(emission, kernels, built.tree.freedoms, built.robot.n, built.entries)
    finally:
        tree.DENSE_DEPTH = depth
        _forget()
    add_model(emission, CONSTANTS)
    add_entries(emission)
    for path, text in emission.files.items():
        (folder / Path(path).name).write_text(text)
    (folder / f"{NAME}.h").write_text("")
    files = [str(folder / name) for name in ("joint_step.c", "entries.c")]
    library = folder / "step.so"
    command = (*find_compiler(), *STRICT, "-fPIC", "-shared", "-I", str(folder), *files, "-o", str(library), "-lm")
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:2000]
    return ctypes.CDLL(str(library))


def run_rolled(library: ctypes.CDLL, name: str, inputs: list[Any], sizes: list[int]) -> list[Array]:
    """Outputs of these sizes of a function of such a library."""
    function = getattr(library, f"{NAME}_{name}")
    work = np.full(getattr(library, f"{NAME}_{name}_work_size")(), np.nan)
    given = [np.ascontiguousarray(x, dtype=float).ravel() for x in inputs]
    results = [np.full(size, np.nan) for size in sizes]

    def pointers(arrays: list[Array]) -> Any:
        return (DOUBLES * len(arrays))(*[a.ctypes.data_as(DOUBLES) for a in arrays])

    assert function(pointers(given), pointers(results), work.ctypes.data_as(DOUBLES)) == 0
    return results
