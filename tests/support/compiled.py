"""C of these tests, compiled once into the test cache."""

from __future__ import annotations

import fcntl
import hashlib
import subprocess
from functools import cache
from pathlib import Path

CACHE = Path(__file__).resolve().parents[2] / ".test-cache"
FLAGS = ("-std=gnu99", "-O2", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror")


@cache
def shared_library(source: Path) -> Path:
    """Made again when the source has changed; several processes may ask at once."""
    CACHE.mkdir(exist_ok=True)
    path = CACHE / f"{source.stem}_{hashlib.sha256(source.read_bytes()).hexdigest()[:12]}.so"
    with (CACHE / ".compiled.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            made = path.with_suffix(".new")
            subprocess.run(["cc", *FLAGS, str(source), "-o", str(made), "-lm", "-ldl"], check=True)
            made.rename(path)
    return path
