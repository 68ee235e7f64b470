"""`python -m experiments all`."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import click

from diffpbd.runtime.base.errors import ArgumentError, InputError
from diffpbd.runtime.commands.options.numbers import Whole
from diffpbd.runtime.commands.results.results import finish, json_option, note, said
from diffpbd.runtime.folder.locate import robot_folders

__all__ = ["command"]

NO_SOURCES = (".pyc", ".so", ".md")
LONGEST = ("torque-table", "double-pendulum", "sweeps")
"""Parts that are begun first: minutes each, where the others take seconds."""
BLOCK = 1 << 20
"""[bytes] Read at a time: recordings may be larger than memory."""


@click.command("all")
@click.option("--data", metavar="DIR", help="Recordings; without them the parts that need them are skipped and listed.")
@click.option("--out", default="report", show_default=True, metavar="DIR", help="The page and a folder a part.")
@click.option(
    "--part", "keys", multiple=True, metavar="NAME", help="Only this part, may be given again (default: all)."
)
@click.option("--jobs", type=Whole(1, 64), metavar="N", help="Parts at a time (default: 2, or 1 on one core).")
@json_option
def command(data: str | None, out: str, keys: tuple[str, ...], jobs: int | None) -> None:
    """Everything of the paper in its order: every figure and table made again, the printed numbers beside ours, on one page.

    Robots that parts need are generated. Parts that were made from the same options, recordings, robots and code are not made
    again; a part that fails is named, and the others are made. Packages that are not there are named before the first part.
    The exit code is 1 if any failed.
    """
    from diffpbd.runtime.base.extras import missing
    from diffpbd.runtime.base.files import write_atomic
    from diffpbd.runtime.base.names import hint
    from experiments.items import DATA, NEEDED, PARTS, Part
    from experiments.page import Outcome, make, page, robots

    known = [part.key for part in PARTS]
    for key in keys:
        if key not in known:
            raise ArgumentError(f"--part: there is no {key!r}. {hint(key, known)}")
    if data is not None and not Path(data).is_dir():
        raise InputError(f"--data: there is no folder {data}.")
    chosen = [part for part in PARTS if not keys or part.key in keys]
    absent = {name for name in {*NEEDED, *(p for part in chosen for p in part.packages)} if find_spec(name) is None}
    if needed := next((name for name in NEEDED if name in absent), None):
        raise missing("the paper's page", needed)
    lacking = {part.key: str(missing(part.key, p)) for part in chosen for p in part.packages if p in absent}
    for reason in lacking.values():
        note(reason)
    folder, begin = Path(out), time.perf_counter()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = "it is a file" if folder.is_file() else error.strerror or error
        raise InputError(f"--out {out}: {why}; expected a folder to write the page and its parts into.") from None
    lock = threading.Lock()

    def made(part: Part) -> Outcome:
        reason = ""
        if data is None and part.key in ("replay", "torque-table") and DATA in part.words:
            reason = "it needs recordings: --data DIR, docs/torque-estimation.md says where they come from"
        with lock:  # robots are shared
            reason = reason or lacking.get(part.key) or robots(part.needs, robot_folders()[0], note)
        if reason:
            note(f"{part.key}: left out: {reason}")
            return Outcome(0.0, "python -m experiments " + " ".join(part.words), "", (), reason)
        return make(part, folder, data, _seal(part.needs, data if DATA in part.words else None), note)

    with ThreadPoolExecutor(jobs or min(2, os.cpu_count() or 1)) as pool:
        begun = {part.key: pool.submit(made, part) for part in sorted(chosen, key=lambda part: part.key not in LONGEST)}
        outcomes = {part.key: begun[part.key].result() for part in chosen}
    title = f"The paper again: {len(chosen)} parts"
    write_atomic(folder / "index.html", page(chosen, outcomes, title))
    bad = [key for key, outcome in outcomes.items() if outcome.reason]
    seconds = time.perf_counter() - begin
    said(f"{len(chosen)} parts, {seconds:.0f} s" + (f"; not made: {', '.join(bad)}" if bad else ""))
    parts = {
        key: {"seconds": o.seconds, "command": o.command, "not_made": o.reason or None} for key, o in outcomes.items()
    }
    finish({"seconds": seconds, "parts": parts}, str(folder / "index.html"))
    if bad:
        raise SystemExit(1)


def _seal(robots: tuple[str, ...], data: str | None) -> str:
    """A hash of what a part is made from: diffpbd's own sources, manifests of its robots, names and bytes of recordings."""
    digest = hashlib.sha256()
    top = Path(__file__).resolve().parents[1]
    folders = ("codegen", "experiments", "runtime", "templates")
    sources = [path for folder in folders for path in sorted((top / folder).rglob("*"))]
    files = [path for path in sources if path.is_file() and path.suffix not in NO_SOURCES]
    files += [robot_folders()[0] / name / "manifest.json" for name in robots]
    files += sorted(path for path in Path(data).rglob("*") if path.is_file()) if data is not None else []
    for path in files:
        digest.update(f"{path.name} {path.stat().st_size}\n".encode())
        with path.open("rb") as file:
            while block := file.read(BLOCK):
                digest.update(block)
    return digest.hexdigest()
