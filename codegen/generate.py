"""`generate`: from ROBOT to a folder of compiled, documented, verified C."""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import gc
import glob
import hashlib
import json
import os
import shlex
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Final, NoReturn

from diffpbd.codegen.description.front.resolve import find_recipe, read_doubted
from diffpbd.codegen.description.recipe.friction_note import friction_notes
from diffpbd.codegen.description.recipe.options import option_words
from diffpbd.codegen.description.recipe.recipe import Recipe
from diffpbd.codegen.description.robot.attached import wrench_frames
from diffpbd.codegen.description.robot.frames import chosen_frames
from diffpbd.codegen.description.robot.robot import Robot
from diffpbd.codegen.description.shapes.clearance import expect_shapes
from diffpbd.codegen.heartbeat import Heartbeat, Stage
from diffpbd.codegen.result import GenerateResult, versions
from diffpbd.runtime.base.errors import InputError, arg
from diffpbd.runtime.base.names import tame
from diffpbd.runtime.folder.compiler import Compilation, find_compiler
from diffpbd.runtime.folder.exchange import OLD_SUFFIX, replace_folder, restore_folder
from diffpbd.runtime.folder.integrity import close_to_others, verify_file
from diffpbd.runtime.folder.library import Library
from diffpbd.runtime.folder.manifest import MANIFEST_NAME, Manifest, read_manifest


def generate(
    robot: str,
    *,
    out: Path | None = None,
    progress: Callable[[str], None] | None = None,
    quick: bool = False,
    **options: Any,
) -> GenerateResult:
    """Derive, emit and compile ROBOT (a shipped name, a recipe, a URDF or MJCF file) into `out` (default generated/NAME).

    `options` are entries of a `Recipe` by name, as `with_options` takes them; None and empty ones leave the recipe's own.
    `quick`: the library is compiled without optimisation, see `runtime/folder/finish.py`.
    Nothing is done where the folder already holds exactly this. A new folder is made aside and renamed, so a failure
    leaves the previous one as it was. Raises InputError for everything a user can mend.
    """
    started = time.perf_counter()
    say = progress or (lambda _line: None)
    empty = [name for name, value in options.items() if isinstance(value, (tuple, list)) and not value]
    recipe = find_recipe(robot, **{name: value for name, value in options.items() if name not in empty})
    plain, asked = find_recipe(robot), recipe
    described, doubts = read_doubted(recipe)
    for doubt in doubts:
        say(doubt.line("warning"))
    for note in friction_notes(described, recipe):
        say(note)
    wrench_frames(described, recipe.wrench)
    if recipe.attached or recipe.element:
        from diffpbd.codegen.graph.model.force_elements import attached_springs, with_own

        recipe = with_own(described, recipe)
        attached_springs(described, recipe)
    chosen_frames(described, recipe.frames)
    if recipe.clearance:
        expect_shapes(described)
    recipe = dataclasses.replace(recipe, base=described.base, tip=tuple(t.name for t in described.tips))
    folder = out if out is not None else Path("generated") / recipe.name

    def command(chosen: Recipe) -> str:
        words = option_words(dataclasses.replace(chosen, base=asked.base, tip=asked.tip, element=asked.element), plain)
        return shlex.join(["diffpbd", "generate", tame(_portable(robot)), *words])

    options_hash = _options_hash(described, recipe)
    current = _current(folder, options_hash)
    if current is not None:
        return GenerateResult(current, folder, (), True, time.perf_counter() - started, 0.0)
    find_compiler()
    _check_target(folder, [Path(robot), recipe.urdf])
    folder = folder.resolve()
    from diffpbd.codegen.emit.folder import write_folder

    beat = Heartbeat(say)
    stages = _Stages(beat, started)
    with (
        _few_collections(),
        _workshop(folder) as aside,
        beat,
        Compilation(aside, progress=stages.note, quick=quick) as compilation,
    ):
        stages.begin(f"{recipe.name}: {described.n} joints, {described.total_mass:.4g} kg")
        manifest, rows = write_folder(aside, described, recipe, options_hash, command, stages.begin, compilation.add)
        close_to_others(aside)
        stages.begin("compiling the rest")
        compiled = compilation.finish(manifest.library)
        Library(aside, manifest)
        try:
            replace_folder(aside, folder)
        except OSError as error:
            raise InputError(f"{folder} cannot be replaced: {error.strerror or error}.") from None
    compiling = sum(compiled.source_seconds.values())
    return GenerateResult(manifest, folder, rows, False, time.perf_counter() - started, compiling)


@contextlib.contextmanager
def _few_collections() -> Iterator[None]:
    """Derivations make millions of small objects that live: looking for cycles among them is an eighth of their time."""
    before = gc.get_threshold()
    gc.set_threshold(100_000, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)


class _Stages:
    """Which stage of the work a line begins, by its first words, and what part of the whole is done then."""

    def __init__(self, beat: Heartbeat, started: float) -> None:
        self._beat, self._started = beat, started
        self._now: Stage | None = None

    def begin(self, line: str) -> None:
        """A line of the generator; one that begins no stage is said as it is."""
        k = next((k for k, (words, _) in enumerate(STAGES) if line.startswith(words)), None)
        if k is None:
            self._beat.note(line)
            return
        ends = [*(share for _, share in STAGES[k:]), 1.0]
        self._now = Stage(line, ends[0], ends[1], time.perf_counter() - self._started)
        self._beat.say(self._now)

    def note(self, line: str) -> None:
        """A line of the compilers, which work beside."""
        self._beat.note(line if self._now is None else self._now.beside(line))


STAGES: Final = (
    ("deriving the step", 0.03), ("deriving forces", 0.25), ("writing the text", 0.44), ("deriving steps", 0.45),
    ("compiling the rest", 0.60),
)  # fmt: skip
"""Part [1] of the whole that is done where each begins, of an arm with the functions of the default."""


def _portable(robot: str) -> str:
    """ROBOT in a command that is written down: as it was given, which works from the same place, or relative to here; of a file
    elsewhere the name alone, since the folder of one machine is none of another's."""
    path = Path(robot)
    if not path.is_absolute():
        return robot
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else path.name


def _options_hash(robot: Robot, recipe: Recipe) -> str:
    """Hash of everything that decides the folder's content: robot, recipe, generator sources, versions."""
    apart = {"urdf", "loop", "close", "plane", "ground", "contact", "contact_from_collision", "shape", "srdf"}
    # they are in the robot as read
    chosen: dict[str, Any] = {
        f.name: getattr(recipe, f.name) for f in dataclasses.fields(recipe) if f.name not in apart
    }
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
        elif item.name.endswith((".py", ".jinja", ".c", ".h", ".cu", ".cuh")):
            found.append((f"{prefix}{item.name}", item.read_bytes()))
    return found


def _current(folder: Path, options_hash: str) -> Manifest | None:
    """The folder's manifest when it is what would be generated and its library works, else None."""
    if not (folder / MANIFEST_NAME).is_file():
        return None
    try:
        manifest = read_manifest(folder)
        if manifest.options_hash != options_hash:
            return None
        for name in manifest.files:
            verify_file(folder, name, manifest)
        Library(folder, manifest)
    except InputError:
        return None
    return manifest


def _check_target(folder: Path, inputs: Sequence[str | Path]) -> None:
    """Refuses a folder that cannot be replaced: all that is in it goes, so no input may be."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; the generated folder cannot be written there. Choose another {arg.out}.")
    if folder.is_dir() and any(folder.iterdir()) and not _was_generated(folder):
        raise InputError(
            f"{folder} holds files that were not generated (it has no {MANIFEST_NAME} of diffpbd); it is not "
            f"overwritten. Choose another {arg.out}, or empty the folder."
        )
    for path in inputs:
        if os.path.isfile(path) and Path(os.path.realpath(path)).is_relative_to(folder.resolve()):
            raise InputError(
                f"{path} lies in the folder {folder}, which is replaced as a whole. Move it, or choose another {arg.out}."
            )


def _was_generated(folder: Path) -> bool:
    """Whether the folder has a manifest of ours, of this version or another."""
    try:
        data = json.loads((folder / MANIFEST_NAME).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(data, dict) and isinstance(data.get("generator"), dict) and "diffpbd" in data["generator"]


class _workshop:
    """A temporary folder beside the target (so that a rename is atomic), removed whatever happens.

    SIGTERM and SIGHUP end the work like Ctrl-C. What a process that was killed left behind is swept by the next one: its
    lock is free then.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._parent = folder.parent
        self._prefix = f".{folder.name}."
        self._handlers: dict[int, Any] = {}

    def __enter__(self) -> Path:
        try:
            self._parent.mkdir(parents=True, exist_ok=True)
            restore_folder(self._folder)
            self._sweep()
            self._catch()
            self.path = Path(tempfile.mkdtemp(prefix=self._prefix, dir=self._parent))
            os.chmod(self.path, 0o755)
            self._lock = os.open(self.path, os.O_RDONLY)
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(self._lock, fcntl.LOCK_EX)
        except OSError as error:
            self._release()
            raise InputError(
                f"{self._parent} cannot be written: {error.strerror or error}. Choose another {arg.out}."
            ) from None
        return self.path

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)
        self._release()

    def _sweep(self) -> None:
        for stale in self._parent.glob(f"{glob.escape(self._prefix)}*"):
            if not stale.is_dir() or (stale.suffix == OLD_SUFFIX and not self._folder.exists()):
                continue
            lock = os.open(stale, os.O_RDONLY)
            with contextlib.suppress(OSError):  # locked: another process is at work in it
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(stale, ignore_errors=True)
            os.close(lock)

    def _catch(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is signal.SIG_DFL:
                self._handlers[number] = signal.signal(number, _stop)

    def _release(self) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self._handlers = {}


def _stop(number: int, _frame: object) -> NoReturn:
    raise SystemExit(128 + number)
