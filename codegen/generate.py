"""`generate`: from ROBOT to a folder of compiled, documented, verified C."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import metadata, resources
from pathlib import Path
from typing import Any

from diffpbd.codegen.description.recipe import Recipe, with_options
from diffpbd.codegen.description.resolve import find_recipe, read_robot
from diffpbd.codegen.description.robot import Robot
from diffpbd.runtime.compiler import compile_library, find_compiler
from diffpbd.runtime.errors import InputError
from diffpbd.runtime.library import Library
from diffpbd.runtime.manifest import MANIFEST_NAME, Manifest, read_manifest

PACKAGES = ("diffpbd", "casadi", "sympy")


@dataclass(frozen=True)
class Row:
    """One generated function: operations of its C, seconds to derive and emit it, bytes of C text."""

    name: str
    operations: int
    seconds: float
    bytes: int


@dataclass(frozen=True)
class GenerateResult:
    """What `generate` did. Seconds are wall time, `compile_seconds` the compiler's share."""

    manifest: Manifest
    folder: Path
    rows: tuple[Row, ...]
    unchanged: bool
    seconds: float
    compile_seconds: float


def generate(
    robot: str,
    *,
    out: Path | None = None,
    base: str | None = None,
    tip: Sequence[str] | None = None,
    integrator: str | None = None,
    solver: str | None = None,
    sweeps: int | None = None,
    symbolic: Sequence[str] | None = None,
    friction: str | None = None,
    limits: bool | None = None,
    progress: Callable[[str], None] | None = None,
) -> GenerateResult:
    """Derive, emit and compile ROBOT (a shipped name, a recipe or a URDF file) into `out` (default generated/NAME).

    Nothing is done where the folder already holds exactly this. A new folder is made aside and renamed, so a failure
    leaves the previous one as it was. Raises InputError for everything a user can mend.
    """
    started = time.perf_counter()
    say = progress or (lambda _line: None)
    recipe = with_options(
        find_recipe(robot, base=base, tip=list(tip) if tip else None),
        integrator=integrator, solver=solver, sweeps=sweeps, symbolic=symbolic or None, friction=friction,
        limits=limits,
    )  # fmt: skip
    described = read_robot(recipe)
    recipe = dataclasses.replace(recipe, base=described.base, tip=tuple(t.name for t in described.tips))
    folder = out if out is not None else Path("generated") / recipe.name
    options_hash = _options_hash(described, recipe)
    current = _current(folder, options_hash)
    if current is not None:
        return GenerateResult(current, folder, (), True, time.perf_counter() - started, 0.0)
    find_compiler()
    _check_target(folder)
    from diffpbd.codegen.emit.folder import write_folder

    with _workshop(folder) as aside:
        say(f"{recipe.name}: {described.n} joints, {described.total_mass:.4g} kg")
        command = _command(robot, recipe, find_recipe(robot))
        manifest, rows = write_folder(aside, described, recipe, options_hash, command, say)
        compiled = compile_library(aside, manifest.library, progress=say)
        Library(aside, manifest)
        _replace(aside, folder)
    return GenerateResult(manifest, folder, tuple(rows), False, time.perf_counter() - started, compiled.seconds)


def _command(robot: str, recipe: Recipe, plain: Recipe) -> str:
    """The command that makes this folder again, without paths."""
    words = ["diffpbd", "generate", Path(robot).name]
    if (recipe.integrator, recipe.solver) != (plain.integrator, plain.solver):
        words += ["--integrator", recipe.integrator, "--solver", recipe.solver]
    if recipe.sweeps != plain.sweeps:
        words += ["--sweeps", str(recipe.sweeps[recipe.variant])]
    if recipe.symbolic != plain.symbolic:
        words += ["--symbolic", ",".join(recipe.symbolic)]
    if recipe.friction != plain.friction:
        words += ["--friction", recipe.friction]
    if recipe.limits != plain.limits:
        words.append("--limits" if recipe.limits else "--no-limits")
    return " ".join(words)


def _options_hash(robot: Robot, recipe: Recipe) -> str:
    """Hash of everything that decides the folder's content: robot, recipe, generator sources, versions."""
    chosen: dict[str, Any] = {f.name: getattr(recipe, f.name) for f in dataclasses.fields(recipe) if f.name != "urdf"}
    chosen["sweeps"] = dict(sorted(recipe.sweeps.items()))
    digest = hashlib.sha256()
    digest.update(json.dumps(chosen, sort_keys=True, default=list).encode())
    digest.update(repr(robot).encode())
    digest.update(repr(versions()).encode())
    for package in ("diffpbd.codegen", "diffpbd.templates"):
        root = resources.files(package)
        for name, content in sorted(_sources(root, "")):
            digest.update(name.encode() + b"\0" + content)
    return digest.hexdigest()


def _sources(folder: Any, prefix: str) -> list[tuple[str, bytes]]:
    found = []
    for item in folder.iterdir():
        if item.is_dir() and item.name not in ("__pycache__", "robots"):
            found += _sources(item, f"{prefix}{item.name}/")
        elif item.name.endswith((".py", ".jinja")):
            found.append((f"{prefix}{item.name}", item.read_bytes()))
    return found


def versions() -> dict[str, str]:
    """Versions of what decides the emitted bytes."""
    return {name: metadata.version(name) for name in PACKAGES}


def _current(folder: Path, options_hash: str) -> Manifest | None:
    """The folder's manifest when it is what would be generated and its library works, else None."""
    if not (folder / MANIFEST_NAME).is_file():
        return None
    try:
        manifest = read_manifest(folder)
        if manifest.options_hash != options_hash:
            return None
        Library(folder, manifest)
    except InputError:
        return None
    return manifest


def _check_target(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; the generated folder cannot be written there. Choose another --out.")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MANIFEST_NAME).is_file():
        raise InputError(
            f"{folder} holds files that were not generated (it has no {MANIFEST_NAME}); it is not overwritten. "
            "Choose another --out, or empty the folder."
        )


class _workshop:
    """A temporary folder beside the target (so that a rename is atomic), removed whatever happens."""

    def __init__(self, folder: Path) -> None:
        self._parent = folder.resolve().parent
        self._name = folder.name

    def __enter__(self) -> Path:
        try:
            self._parent.mkdir(parents=True, exist_ok=True)
            self.path = Path(tempfile.mkdtemp(prefix=f".{self._name}.", dir=self._parent))
            os.chmod(self.path, 0o755)
        except OSError as error:
            raise InputError(
                f"{self._parent} cannot be written: {error.strerror or error}. Choose another --out."
            ) from None
        return self.path

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.path, ignore_errors=True)


def _replace(aside: Path, folder: Path) -> None:
    old = aside.with_name(aside.name + ".old")
    try:
        if folder.exists():
            os.rename(folder, old)
        os.rename(aside, folder)
    except OSError as error:
        if old.exists() and not folder.exists():
            os.rename(old, folder)
        raise InputError(f"{folder} cannot be replaced: {error.strerror or error}.") from None
    finally:
        shutil.rmtree(old, ignore_errors=True)
