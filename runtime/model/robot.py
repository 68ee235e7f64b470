"""Opens a generated folder: `load(DIR)` gives a Robot whose attributes are the generated functions."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.extras import extra_of, missing
from diffpbd.runtime.base.fitting import checked, expect
from diffpbd.runtime.base.html import html_table
from diffpbd.runtime.base.names import hint
from diffpbd.runtime.folder.exchange import restore_folder
from diffpbd.runtime.folder.library import Library
from diffpbd.runtime.folder.manifest import MANIFEST_NAME, Manifest, read_manifest
from diffpbd.runtime.folder.manifest import Function as FunctionFacts
from diffpbd.runtime.functions.attempt import Attempt
from diffpbd.runtime.functions.fixed import Fixed
from diffpbd.runtime.functions.function import BoundFunction, Function
from diffpbd.runtime.functions.parameters import ParameterValues, ParameterVector
from diffpbd.runtime.functions.rollout import Rollout, RolloutGradient
from diffpbd.runtime.model.limits import JointLimits

if TYPE_CHECKING:
    import casadi

    from diffpbd.runtime.gpu.robot import Gpu
    from diffpbd.runtime.model.robot_functions import RobotFunctions
else:
    RobotFunctions = object  # the generated functions are attributes by __getattr__

__all__ = ["Robot", "load"]

GRADIENT_PREFIX = "vjp_"


@checked
def load(folder: str | Path) -> Robot:
    """Open a folder made by `diffpbd generate`; files that do not match its manifest are refused."""
    return Robot(folder)


_REOPENED: dict[tuple[Path, tuple[tuple[str, float], ...]], tuple[tuple[int, ...], Robot]] = {}
"""Cache of unpickled robots by folder and changed parameters, with the state of their manifest's file: a process pool sends
one with every task."""


def _reopened(folder: Path, changed: Mapping[str, float]) -> Robot:
    """A robot as it was pickled."""
    kept = _kept(folder, changed)
    robot = Robot.__new__(type(kept))
    robot.__dict__.update(kept.__dict__)
    return robot


def _kept(folder: Path, changed: Mapping[str, float]) -> Robot:
    key = folder, tuple(sorted(changed.items()))
    try:
        file = (folder / MANIFEST_NAME).stat()
    except OSError:
        return load(folder)  # raises, with what is missing
    state = file.st_mtime_ns, file.st_size, file.st_ino
    known = _REOPENED.get(key)
    if known is None or known[0] != state:
        _REOPENED[key] = state, (load(folder).with_parameters(changed) if changed else load(folder))
    return _REOPENED[key][1]


def _function_of(folder: Path, changed: Mapping[str, float], name: str) -> BoundFunction:
    """A function as it was pickled."""
    return _kept(folder, changed).function(name)


class Robot(RobotFunctions):
    """A robot's generated functions on numpy arrays.

    `robot.joint_step(p, pd, u)` and every other function of the manifest are attributes; see `Function` for
    shapes. Positions have `n_p` numbers, which `positions` names, rates and torques `n`. A missing `alpha` is the vector of
    defaults (or give a dict of names), a missing `h` the recipe's step [s].
    """

    IN_WORDS = "what diffpbd.load or diffpbd.generate returns"
    """For messages about a wrong argument."""

    @checked
    def __init__(self, folder: str | Path) -> None:
        """Open and verify the folder."""
        folder = Path(folder)
        restore_folder(folder)
        self.manifest: Manifest = read_manifest(folder)
        self.folder = folder if folder.is_dir() else folder.parent
        self._place = self.folder.absolute()
        self.name = self.manifest.name
        self.joints: tuple[str, ...] = tuple(joint.name for joint in self.manifest.robot.joints)
        self.links: tuple[str, ...] = tuple(link.name for link in self.manifest.robot.links)
        self.n = len(self.joints)
        self.positions: tuple[str, ...] = self.manifest.robot.positions
        self.n_p = len(self.positions)
        self.h = self.manifest.recipe.h
        self.limits = JointLimits.of(self.manifest.robot.joints)
        self.alpha = ParameterVector(self.manifest.alpha, self.name)
        self._library = Library(self.folder, self.manifest)
        if self._library.quick:
            from diffpbd.runtime.folder.finish import begin

            begin(self.folder, self.manifest.library)
        self._bind_functions()

    def _bind_functions(self) -> None:
        functions: dict[str, BoundFunction] = {}
        for facts in sorted(self.manifest.functions, key=lambda facts: facts.name.startswith(GRADIENT_PREFIX)):
            functions[facts.name] = self._make(facts, functions)
            functions[facts.name].reopening = _function_of, (*self._origin(), facts.name)
        self.functions: Mapping[str, BoundFunction] = MappingProxyType(
            {facts.name: functions[facts.name] for facts in self.manifest.functions}
        )

    def _renew(self) -> None:
        """Switch to the fully compiled library; function objects already in use keep the old one."""
        before = self._library
        before.quick = False
        with contextlib.suppress(InputError):  # the folder has been generated anew: another robot's
            self._library = Library(self.folder, self.manifest, fresh=True)
            self._bind_functions()

    def _make(self, facts: FunctionFacts, made: Mapping[str, BoundFunction]) -> BoundFunction:
        arguments = (facts, self.manifest, self._library, self.alpha)
        if facts.name == "ik":
            return Attempt(*arguments)
        if not facts.rollout:
            return Function(*arguments)
        if not facts.name.startswith(GRADIENT_PREFIX):
            return Rollout(*arguments)
        forward = made.get(facts.name.removeprefix(GRADIENT_PREFIX))
        return RolloutGradient(*arguments, rollout=forward if isinstance(forward, Rollout) else None)

    @property
    def neutral(self) -> FloatArray:
        """The zero position (n_p,), with the identity quaternion for a floating base."""
        return np.array(self.manifest.robot.neutral)

    @checked
    def with_parameters(self, values: ParameterValues) -> Robot:
        """Returns this robot with other defaults of alpha, by name or from a JSON file of them such as params.json of
        `identify`."""
        alpha = self.alpha.with_defaults(self.alpha.vector(values))
        other = Robot.__new__(Robot)
        other.__dict__.update({name: value for name, value in self.__dict__.items() if name != "_externals"})
        other.alpha = alpha
        other._bind_functions()
        return other

    def __repr__(self) -> str:
        return f"<Robot {self.name}: {self.n} joints, {len(self.functions)} functions, from {self.folder}>"

    def _repr_html_(self) -> str:
        limits, rows = self.limits, []
        for k, joint in enumerate(self.manifest.robot.joints):
            range_ = f"{limits.lower[k]:g} … {limits.upper[k]:g} {joint.unit}"
            rows.append((joint.name, joint.type, range_, f"{limits.speed[k]:g}", f"{limits.effort[k]:g}"))
        heads = ("joint", "type", "range", "velocity", "effort")
        return html_table(heads, rows, f"{self.name}: {len(self.functions)} functions, {len(self.alpha)} parameters")

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopened, self._origin()

    def _origin(self) -> tuple[Path, dict[str, float]]:
        """For pickling: the folder, and defaults that differ from it."""
        return self._place, self.alpha.changed(self.manifest.alpha)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.functions})

    if not TYPE_CHECKING:  # which knows the functions from robot_functions.pyi, and finds names that are none

        def __getattr__(self, name: str) -> Any:
            functions = self.__dict__.get("functions", {})
            if name in functions:
                if self._library.quick and self._library.finished():
                    self._renew()
                return self.functions[name]
            why = self.__dict__["manifest"].why_not(name) if "manifest" in self.__dict__ else ""
            words = (
                f"{type(self).__name__} {self.__dict__.get('name', '')} has no {name!r}. {why or hint(name, functions)}"
            )
            raise AttributeError(words.rstrip(". "))  # Python may add ". Did you mean ...?"

    @property
    def instructions(self) -> str:
        """The instruction sets in use: "portable" (the same bits everywhere), "x86-64-v3", "x86-64-v4" or "neon"."""
        return self._library.instructions

    @checked
    def choose_instructions(self, name: str) -> None:
        """Use other instruction sets, for all of this process that opened the folder; InputError if they are not available."""
        if self._library.quick:
            from diffpbd.runtime.folder.finish import complete

            complete(self.folder, self.manifest.library)
            self._renew()
        self._library.choose_instructions(name)

    def function(self, name: str) -> BoundFunction:
        """A function by name; one that was not generated is refused with near matches."""
        if not isinstance(name, str) or name not in self.functions:
            expect(f"{self.name}.function: name", name, "str")
            why = self.manifest.why_not(name) or hint(name, self.functions)
            raise InputError(f"{self.name} has no function {name!r}. {why}")
        return self.functions[name]

    def fixed(self, name: str, alpha: FloatArray) -> Fixed:
        """A function of vectors at one alpha (entries,), for a loop: see `Fixed`."""
        return Fixed(self.function(name).facts, self._library, self.alpha.checked(alpha))

    @checked
    def gpu(
        self, dtype: str = "float32", *, device: int = 0, newtons: int | None = None, chords: int | None = None
    ) -> Gpu:
        """The functions generated for a GPU (`generate --cuda`), on GPU arrays in float32 or float64.

        A pose stage makes `newtons` Newton and `chords` chord iterations and a final one (default: 1 chord, and
        1 Newton in float32, 2 in float64). InputError without a GPU, its driver or a compiler;
        see docs/gpu.md.
        """
        from diffpbd.runtime.gpu.robot import open_gpu

        return open_gpu(self, dtype, device, newtons, chords)

    @checked
    def casadi(self, name: str, *, external: bool = False) -> casadi.Function:
        """The function as a `casadi.Function` with named arguments.

        By default the serialized graph, with derivatives of any order. With `external` the compiled code,
        with its exact first Jacobian from the generated derivatives; second derivatives are then not
        available (with IPOPT, use `hessian_approximation` "limited-memory").
        """
        if external and self.manifest.robot.floating:
            raise InputError(
                f"{self.name}: compiled functions of a floating base have no casadi Jacobian, which would be by the seven "
                "numbers of the base; leave out external."
            )
        try:
            from diffpbd.runtime.functions.casadi_functions import external_function, graph_function
        except ModuleNotFoundError as error:
            if extra_of(error.name) is None:
                raise
            raise missing(f"{self.name}.casadi", error.name or "") from None
        made: casadi.Function = external_function(self, name) if external else graph_function(self, name)
        return made
