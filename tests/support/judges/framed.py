"""A description's frames in C, compiled alone: no other function is derived."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from support.robots import quick_compiler

from diffpbd.codegen.description.front.resolve import find_recipe, read_robot
from diffpbd.codegen.description.recipe.recipe import with_options
from diffpbd.codegen.description.robot.frames import chosen_frames
from diffpbd.codegen.emit.border import add_entries, add_header
from diffpbd.codegen.emit.emission import sources
from diffpbd.codegen.emit.emission.model_header import add_model
from diffpbd.codegen.emit.frames import add_frames
from diffpbd.codegen.emit.tables.constants import CONSTANTS
from diffpbd.codegen.graph.loops.build import build
from diffpbd.runtime.folder.compiler import compile_flags, find_compiler
from diffpbd.runtime.functions.parameters import ParameterVector

Array = Any


class Framed:
    """The C functions by name: `framed.frame_pose(p, "link")`, with the arguments' order of the manifest."""

    def __init__(self, file: str | Path, **options: Any) -> None:
        recipe = with_options(find_recipe(str(file)), **options)
        self.robot = read_robot(recipe)
        model = build(self.robot, recipe)
        self.alpha = ParameterVector(model.entries, recipe.name)
        self.coordinates = [self.robot.joints[i] for i in self.robot.independent]
        self.frames = [frame.name for frame in chosen_frames(self.robot, recipe.frames)]
        emission = sources.Emission(
            recipe.name, sources.Banner("", "", recipe.name, "", ""), floating=self.robot.floating
        )
        add_model(emission, CONSTANTS)
        add_frames(emission, model, chosen_frames(self.robot, recipe.frames), True)
        add_header(emission, [], model.entries)
        add_entries(emission)
        self.functions = {f.name: f for f in emission.functions}
        self.library = self._compiled(emission)

    def _compiled(self, emission: sources.Emission) -> ctypes.CDLL:
        with tempfile.TemporaryDirectory() as folder, quick_compiler():
            for path, text in emission.files.items():
                (Path(folder) / path).parent.mkdir(exist_ok=True)
                (Path(folder) / path).write_text(text)
            files = [str(Path(folder) / path) for path in emission.files if path.endswith(".c")]
            out = Path(folder) / "framed.so"
            subprocess.run(
                [*find_compiler(), *compile_flags(), "-shared", "-I", folder, "-o", str(out), *files, "-lm"], check=True
            )
            return ctypes.CDLL(str(out))

    def call(self, name: str, *arguments: Any) -> tuple[int, list[Array]]:
        """Status and outputs; a frame by name or number, alpha last."""
        facts = self.functions[name]
        given = [
            np.asfortranarray(self.frames.index(value) if isinstance(value, str) else value, dtype=float).ravel("F")
            for value in arguments
        ]
        assert [len(value) for value in given] == [argument.size() for argument in facts.inputs]
        found = [np.full(argument.size(), np.nan) for argument in facts.outputs]
        work = np.full(facts.work_size or 0, np.nan)

        def pointers(arrays: list[Array]) -> Any:
            return (ctypes.c_void_p * len(arrays))(*[array.ctypes.data for array in arrays])

        function = getattr(self.library, facts.symbol)
        status = function(pointers(given), pointers(found), ctypes.c_void_p(work.ctypes.data))
        return status, [
            array.reshape(argument.shape, order="F") for array, argument in zip(found, facts.outputs, strict=True)
        ]

    def __getattr__(self, name: str) -> Any:
        def called(*arguments: Any, alpha: Any = None) -> Any:
            status, found = self.call(name, *arguments, self.alpha.vector(alpha) if alpha is None else alpha)
            assert status == 0
            return found[0] if len(found) == 1 else found

        return called
