"""The one file that knows the C compiler: sources of a generated folder in, one shared library out."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from diffpbd.runtime.errors import DiffpbdError, InputError
from diffpbd.runtime.integrity import close_to_others, record_library

__all__ = ["COMPILE_FLAGS", "LINK_FLAGS", "CompileResult", "compile_flags", "compile_library", "find_compiler"]

# Measured with gcc 12 on 62 000 operations of straight-line code: -O1, -O2 and -O3 run alike (16 us) and
# compile in 24, 33 and 39 s; -O2 is for the code with loops. -ffp-contract=off costs nothing and gives the
# same rounding with every compiler and processor (clang would fuse by default). -march=native would gain 20 %
# and is left out: a folder copied to another machine must still run.
# Vectors of neighbouring scalars, which gcc 12 makes at -O2, cost 6 % in kernels as short as these.
COMPILE_FLAGS = ("-std=c99", "-O2", "-fno-tree-slp-vectorize", "-fPIC", "-ffp-contract=off")
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


def compile_flags() -> tuple[str, ...]:
    """`COMPILE_FLAGS`, and after them what the environment variable DIFFPBD_CFLAGS holds.

    -O0 there compiles in a sixth of the time, for code three times slower that gives the same bits.
    """
    return (*COMPILE_FLAGS, *_words("DIFFPBD_CFLAGS"))


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
) -> CompileResult:
    """Compile `<folder>/src/*.c` into `<folder>/<library>`, replacing a previous library only on success, and its
    hash beside it.

    `library` is a file name such as `libbaxter.so`; headers are looked for in the folder and in `src`.
    At most `jobs` (and never more than 2) compilers run at once. `progress` gets a line per finished source.
    """
    root = Path(folder)
    sources = sorted((root / "src").glob("*.c"), key=lambda path: (-path.stat().st_size, path.name))
    if not sources:
        raise InputError(f"{root / 'src'} has no C sources to compile. Generate the folder again.")
    compiler, flags = find_compiler(), compile_flags()
    started = time.perf_counter()
    seconds: dict[str, float] = {}

    with tempfile.TemporaryDirectory(prefix="diffpbd-") as scratch:
        objects = {source: Path(scratch) / f"{source.stem}.o" for source in sources}

        def compile_one(source: Path) -> None:
            start = time.perf_counter()
            includes = ("-I", str(root), "-I", str(root / "src"))
            _run((*compiler, *flags, *includes, "-c", str(source), "-o", str(objects[source])), source.name)
            seconds[source.name] = time.perf_counter() - start
            if progress is not None:
                progress(f"compiled {source.name} in {seconds[source.name]:.1f} s")

        pool = ThreadPoolExecutor(max_workers=max(1, min(jobs, MAX_JOBS, len(sources))))
        try:
            for future in [pool.submit(compile_one, source) for source in sources]:
                future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
        built = Path(scratch) / library
        _run((*compiler, *map(str, objects.values()), *LINK_FLAGS, "-o", str(built)), library)
        target = _install(built, root / library)
        record_library(target)

    return CompileResult(
        library=target,
        seconds=time.perf_counter() - started,
        bytes=target.stat().st_size,
        compiler=compiler,
        source_seconds={source.name: seconds[source.name] for source in sources},
        source_bytes={source.name: source.stat().st_size for source in sources},
    )


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


def _run(command: tuple[str, ...], what: str) -> None:
    try:
        result = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        raise InputError(f"The C compiler {command[0]!r} cannot be started: {error.strerror or error}.") from None
    if result.returncode != 0:
        lines = result.stderr.strip().splitlines()
        shown = "\n".join(lines[:MAX_ERROR_LINES])
        raise DiffpbdError(
            f"The C compiler refused {what} (exit code {result.returncode}). The command was: "
            f"{shlex.join(command)}\n{shown}"
        )
