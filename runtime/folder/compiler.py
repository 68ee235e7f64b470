"""Compiles the sources of a generated folder to a shared library; only this file calls the C compiler."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from diffpbd.runtime.base.errors import DiffpbdError, InputError
from diffpbd.runtime.folder.integrity import close_to_others, record_library

__all__ = [
    "COMPILE_FLAGS",
    "LINK_FLAGS",
    "Compilation",
    "CompileResult",
    "compile_flags",
    "compile_library",
    "find_compiler",
    "quick_mark",
]

# Measured with gcc 12 on 62 000 operations of straight-line code: -O1, -O2 and -O3 run alike (16 us) and
# compile in 24, 33 and 39 s; -O2 is for the code with loops. -ffp-contract=off costs nothing and gives the
# same rounding with every compiler and processor (clang would fuse by default). -march=native would gain 20 %
# and is left out: a folder copied to another machine must still run.
# Vectors of neighbouring scalars, which gcc 12 makes at -O2, cost 6 % in kernels as short as these.
COMPILE_FLAGS = ("-std=c99", "-O2", "-fno-tree-slp-vectorize", "-fPIC", "-ffp-contract=off")
STRAIGHT = {"functions.c": "-O1", "derivatives.c": "-O1", "formulas.c": "-O1"}
"""Sources of straight-line code, which runs alike at -O1 (0.98 of the time, measured with gcc 12) and compiles in 0.65 of the
time; what has loops or vectors is 1.1 times faster at -O2."""
QUICK = ("-O0", "-DDIFFPBD_PORTABLE")
"""Flags for a quick first library: a tenth of the time to compile, a third of the speed, only the portable path;
`runtime/folder/finish.py` compiles it in full."""
LINK_FLAGS = ("-shared", "-lm")
CANDIDATES = ("cc", "gcc", "clang")
MAX_JOBS = 2  # one big source needs several hundred MB of compiler memory
MAX_ERROR_LINES = 20


@dataclass(frozen=True)
class CompileResult:
    """The library, wall time [s], its size [bytes], the command; seconds and bytes of every source."""

    library: Path
    seconds: float
    bytes: int
    compiler: tuple[str, ...]
    source_seconds: dict[str, float]
    source_bytes: dict[str, int]


def find_compiler() -> tuple[str, ...]:
    """The C compiler's command: $CC (several words allowed), else cc, gcc or clang on the PATH."""
    chosen, words = os.environ.get("CC", "").strip(), _words("CC")
    if words:
        if shutil.which(words[0]) is None:
            raise InputError(
                f"The C compiler named by the environment variable CC, {chosen!r}, was not found. "
                "Set CC to an installed compiler, or unset it to use cc, gcc or clang."
            )
        return words
    for candidate in CANDIDATES:
        if shutil.which(candidate) is not None:
            return (candidate,)
    raise InputError(
        "No C compiler was found: neither cc, gcc nor clang is on the PATH and CC is not set. "
        "Install one (on Debian or Ubuntu: apt-get install gcc libc6-dev) or name it with CC=/path/to/cc."
    )


def compile_flags(source: str = "") -> tuple[str, ...]:
    """`COMPILE_FLAGS`, then `STRAIGHT` of the source, then the environment variable DIFFPBD_CFLAGS.

    DIFFPBD_CFLAGS=-O0 compiles in a sixth of the time; the code is three times slower with the same bits.
    """
    own = (STRAIGHT[source],) if source in STRAIGHT else ()
    return (*COMPILE_FLAGS, *own, *_words("DIFFPBD_CFLAGS"))


def _words(variable: str) -> tuple[str, ...]:
    """The words of an environment variable, as a shell would split them."""
    text = os.environ.get(variable, "")
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise InputError(
            f"The environment variable {variable}, {text!r}, is no list of words: {error}. Mend it or unset it."
        ) from None


def compile_library(
    folder: str | Path,
    library: str,
    *,
    jobs: int = MAX_JOBS,
    progress: Callable[[str], None] | None = None,
    wanted: Callable[[], bool] = lambda: True,
) -> CompileResult:
    """Compile `<folder>/src/*.c` into `<folder>/<library>`, replacing a previous library only on success, and its
    hash beside it.

    `library` is a file name such as `libbaxter.so`; headers are searched in the folder and in `src`.
    At most `jobs` (and never more than 2) compilers run at once. `progress` gets a line per finished source. InputError if
    the library is no longer `wanted` when it is complete.
    """
    root = Path(folder)
    sources = sorted((root / "src").glob("*.c"), key=lambda path: (-path.stat().st_size, path.name))
    if not sources:
        raise InputError(f"{root / 'src'} has no C sources to compile. Generate the folder again.")
    with Compilation(root, jobs=jobs, progress=progress) as compilation:
        for source in sources:
            compilation.add(source)
        return compilation.finish(library, wanted)


def quick_mark(library: Path) -> Path:
    """The file that marks a quickly compiled library; removed when it has been compiled in full."""
    return library.with_name(f"{library.name}.quick")


class Compilation:
    """Compiles the sources of a folder in parallel, each as soon as it is added, while others are still written.

    A context manager that stops running compilers at its end. At most `jobs` (and never more than 2) run at once. `quick`: with
    the flags `QUICK`, unless DIFFPBD_CFLAGS is set.
    """

    def __init__(
        self, folder: Path, *, jobs: int = MAX_JOBS, progress: Callable[[str], None] | None = None, quick: bool = False
    ) -> None:
        """Compiles in `folder`, whose root and `src` hold the headers."""
        self._quick = QUICK if quick and not _words("DIFFPBD_CFLAGS") else ()
        self._root, self._say = folder, progress or (lambda _line: None)
        self._compiler = find_compiler()
        compile_flags()  # refuses unreadable ones now
        self._pool = ThreadPoolExecutor(max_workers=max(1, min(jobs, MAX_JOBS)))
        self._jobs: dict[str, Future[None]] = {}
        self._running: set[subprocess.Popen[str]] = set()
        self._sizes: dict[str, int] = {}
        self._seconds: dict[str, float] = {}
        self._started = time.perf_counter()
        self._stopped = False

    def __enter__(self) -> Compilation:
        self._scratch = tempfile.TemporaryDirectory(prefix="diffpbd-")
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped = True
        for process in tuple(self._running):
            _kill(process)
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._scratch.cleanup()

    def add(self, source: Path, headers: Mapping[str, str] | None = None) -> None:
        """Compile a complete source; `headers` by name replace those of the folder, which may not exist yet."""
        self.check()
        own = Path(self._scratch.name) / source.stem
        own.mkdir()
        for name, text in (headers or {}).items():
            (own / name).write_text(text, encoding="utf-8")
        self._sizes[source.name] = source.stat().st_size
        self._jobs[source.name] = self._pool.submit(self._compile, source, own)

    def check(self) -> None:
        """Raises the error of a compiler that has ended, before more is generated."""
        for job in self._jobs.values():
            if job.done():
                job.result()

    def finish(self, library: str, wanted: Callable[[], bool] = lambda: True) -> CompileResult:
        """Wait for all, link them in the order of their names, and install the library and its hash if it still is `wanted`."""
        for job in self._jobs.values():
            job.result()
        scratch = Path(self._scratch.name)
        objects = [str(scratch / Path(name).stem / "object.o") for name in sorted(self._jobs)]
        built = scratch / library
        self._run((*self._compiler, *objects, *LINK_FLAGS, "-o", str(built)), library)
        if not wanted():
            raise InputError(f"{self._root / library} was generated anew while it was compiled.")
        target = _install(built, self._root / library)
        record_library(target)
        if self._quick:
            quick_mark(target).touch()
        else:
            quick_mark(target).unlink(missing_ok=True)
        return CompileResult(
            library=target,
            seconds=time.perf_counter() - self._started,
            bytes=target.stat().st_size,
            compiler=self._compiler,
            source_seconds=self._seconds,
            source_bytes=self._sizes,
        )

    def _compile(self, source: Path, own: Path) -> None:
        start = time.perf_counter()
        includes = [word for path in (own, self._root, self._root / "src") for word in ("-I", str(path))]
        flags = compile_flags(source.name)
        command = (*self._compiler, *flags, *self._quick, *includes, "-c", str(source), "-o", str(own / "object.o"))
        self._run(command, source.name)
        self._seconds[source.name] = time.perf_counter() - start
        self._say(f"compiled {source.name} in {self._seconds[source.name]:.1f} s")

    def _run(self, command: tuple[str, ...], what: str) -> None:
        try:
            process = subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                start_new_session=True,
            )
        except OSError as error:
            raise InputError(f"The C compiler {command[0]!r} cannot be started: {error.strerror or error}.") from None
        self._running.add(process)
        if self._stopped:
            _kill(process)
        _, complaint = process.communicate()
        self._running.discard(process)
        if process.returncode != 0:
            shown = "\n".join(complaint.strip().splitlines()[:MAX_ERROR_LINES])
            raise DiffpbdError(
                f"The C compiler refused {what} (exit code {process.returncode}). The command was: "
                f"{shlex.join(command)}\n{shown}"
            )


def _kill(process: subprocess.Popen[str]) -> None:
    """Kill a compiler with its child processes, which hold its pipes."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _install(built: Path, target: Path) -> Path:
    """Copy beside the target and rename: the scratch folder may lie on another file system."""
    beside = target.with_name(f".{target.name}.new")
    try:
        shutil.copy2(built, beside)
        close_to_others(beside)
        os.replace(beside, target)
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror or error}.") from None
    finally:
        beside.unlink(missing_ok=True)
    return target
