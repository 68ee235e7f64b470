"""The parts of `paper` run one after another, and one page of what came out.

Every part has a folder with what it printed, its pictures and `done.json`. A part that is done from the same inputs is not made
again; one that fails or is interrupted leaves neither pictures nor `done.json`, is named on the page, and the others are made.
"""

from __future__ import annotations

import base64
import functools
import html
import itertools
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from diffpbd.runtime.base.files import write_atomic
from experiments.items import DATA, ITEMS, ROBOTS, Part

__all__ = ["Outcome", "make", "page"]

RECORDINGS = "RECORDINGS"
"""The folder of the recordings, on the page."""
DONE, PRINTED = "done.json", "printed.txt"
ENTRY = (sys.executable, "-m", "experiments")
GENERATE = (sys.executable, "-m", "diffpbd.runtime.cli", "generate")
STYLE = (
    "body{font:15px/1.45 sans-serif;max-width:86em;margin:2em auto;padding:0 1em}pre,.wide{overflow-x:auto}"
    "pre{background:#f4f4f4;padding:.6em;white-space:pre-wrap;overflow-wrap:anywhere}"
    ".numbers{font-size:85%;margin:.5em 0}.numbers td{white-space:nowrap}code{overflow-wrap:anywhere}"
    "img{max-width:100%}table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:.2em .5em;"
    "text-align:left;vertical-align:top}.failed{color:#b00}.items td:first-child{white-space:nowrap}"
    "@media(max-width:50em){.items td:first-child{font-weight:bold}.items th,.items td:empty{display:none}"
    ".items td{display:block;border:0;overflow-wrap:anywhere}.items tr{display:block;border-top:1px solid #ccc}}"
)
KEY = (
    "✓ made as printed, but for the slips that docs/method.md lists; ◐ with a difference that the row says; "
    "✗ not made this time, its part says why."
)


@dataclass(frozen=True)
class Outcome:
    """How a part ended: seconds, the command as typed, what it printed, its pictures; `reason` if it failed."""

    seconds: float
    command: str
    printed: str
    pictures: tuple[Path, ...]
    reason: str = ""


def make(part: Part, out: Path, data: str | None, seal: str, say: Callable[[str], None]) -> Outcome:
    """Run a part in `out`/key unless it is done; `seal` stands for what else it is made from: code, robots, recordings."""
    folder = out / part.key
    folder.mkdir(parents=True, exist_ok=True)
    words = [str(folder / w) if w in part.pictures or w.endswith(".csv") else w for w in _with_data(part.words, data)]
    command = "python -m experiments " + " ".join(_with_data(part.words, data and RECORDINGS))
    pictures = tuple(folder / name for name in part.pictures)
    known = _read(folder / DONE)
    inputs = {"seal": seal, "words": list(part.words), "data": data is not None}
    if all(known.get(k) == v for k, v in inputs.items()) and all(p.is_file() for p in (*pictures, folder / PRINTED)):
        say(f"{part.key}: done before")
        printed = (folder / PRINTED).read_text(encoding="utf-8")
        return Outcome(float(str(known["seconds"])), command, printed, pictures)
    for path in (folder / DONE, *pictures):  # the flag first: an end in between leaves a part that is not done
        path.unlink(missing_ok=True)
    say(f"{part.key}: {command}")
    begin = time.perf_counter()
    done = subprocess.run([*ENTRY, *words], capture_output=True, text=True)
    seconds = time.perf_counter() - begin
    printed = done.stdout.replace(data, RECORDINGS) if data else done.stdout
    write_atomic(folder / PRINTED, printed)
    missing = [p.name for p in pictures if not p.is_file()]
    if done.returncode or missing:
        lines = done.stderr.strip().splitlines() or [f"it wrote no {', '.join(missing)}"]
        say(f"{part.key}: FAILED: {lines[-1]}")
        return Outcome(seconds, command, printed, (), lines[-1])
    write_atomic(folder / DONE, json.dumps({**inputs, "seconds": seconds}) + "\n")
    say(f"{part.key}: {seconds:.0f} s")
    return Outcome(seconds, command, printed, pictures)


def robots(needed: Sequence[str], folder: Path, say: Callable[[str], None]) -> str:
    """Generate the robots that parts need (nothing is done where they are); why that failed, or nothing."""
    for name in needed:
        say(f"robot {name}")
        done = subprocess.run([*GENERATE, *ROBOTS[name], "--out", str(folder / name)], capture_output=True, text=True)
        if done.returncode:
            return f"robot {name}: {(done.stderr.strip().splitlines() or ['it ended without a word'])[-1]}"
    return ""


def _with_data(words: Sequence[str], data: str | None) -> list[str]:
    """The words with the recordings' folder, or without the option where there is none."""
    if data is not None:
        return [data if w == DATA else w for w in words]
    return [w for k, w in enumerate(words) if w != DATA and words[k + 1 : k + 2] != (DATA,)]


def _read(path: Path) -> dict[str, object]:
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _words(text: str) -> str:
    """HTML of a cell: what stands in backticks as code, and the section of sweeps as a link to its part."""
    made = re.sub("`([^`]+)`", r"<code>\1</code>", html.escape(text))
    return made.replace("Error over sweeps", "<a href='#sweeps'>Error over sweeps</a>")


def _placeless(outcome: Outcome) -> str:
    """The text that a part printed, its own files by their names alone."""
    folders = {f"{picture.parent}/" for picture in outcome.pictures}
    return functools.reduce(lambda text, folder: text.replace(folder, ""), sorted(folders), outcome.printed)


def _as_tables(text: str) -> str:
    """HTML of printed text: lines of columns, two spaces apart, as a table with the first as its head; others wrap."""
    made: list[str] = []
    for columned, lines in itertools.groupby(text.splitlines(), lambda line: "  " in line.strip()):
        block = list(lines)
        if not columned or len(block) < 2:
            made.append(f"<pre>{html.escape(chr(10).join(block))}</pre>")
            continue
        width = max(map(len, block))
        padded = [line.ljust(width) for line in block]
        blank = "".join(" " if all(line[k] == " " for line in padded) else "#" for k in range(width))
        cuts = [0, *(m.end() for m in re.finditer(" {2,}", blank)), width]
        rows = [[line[a:b].strip() for a, b in itertools.pairwise(cuts) if a < b] for line in padded]
        cells = [
            [f"<{tag}>{html.escape(cell)}" for cell in row]
            for tag, row in zip(["th", *["td"] * len(rows)], rows, strict=False)
        ]
        made.append(
            "<div class=wide><table class=numbers>" + "".join("<tr>" + "".join(row) for row in cells) + "</table></div>"
        )
    return "\n".join(made)


def page(parts: Sequence[Part], outcomes: Mapping[str, Outcome], title: str) -> str:
    """One HTML page with everything in it: an index, the paper's items, every part with pictures and printed numbers."""
    text = [
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<title>{html.escape(title)}</title><style>{STYLE}</style>"
    ]
    text.append(
        f"<h1>{html.escape(title)}</h1><h2>The paper's items</h2><p>{KEY}</p><div class=wide><table class=items>"
    )
    text.append("<tr><th>item<th><th><th>where<th>what differs or is open<th>part")
    for item in ITEMS:
        failed = item.part in outcomes and outcomes[item.part].reason
        state = "✗" if failed else item.state
        link = f"<a href='#{item.part}'>{item.part}</a>" if item.part else ""
        cells = (item.name, item.title, state, item.where, item.differs)
        text.append("<tr>" + "".join(f"<td>{_words(cell)}" for cell in cells) + f"<td>{link}")
    text.append("</table></div>")
    for part in parts:
        outcome = outcomes[part.key]
        names = ", ".join(item.name for item in ITEMS if item.part == part.key)
        text.append(f"<h2 id='{part.key}'>{html.escape(names)}: {part.key}</h2>")
        text.append(f"<p>In the paper: {html.escape(part.paper)}</p>")
        text += [f"<p>{i.name}: {_words(i.differs)}.</p>" for i in ITEMS if i.part == part.key and i.differs]
        text.append(f"<p><code>{html.escape(outcome.command)}</code>, {outcome.seconds:.0f} s</p>")
        if outcome.reason:
            text.append(f"<p class=failed>FAILED: {html.escape(outcome.reason)}</p>")
        for picture in outcome.pictures:
            data = base64.b64encode(picture.read_bytes()).decode("ascii")
            text.append(f"<p><img alt='{html.escape(picture.stem)}' src='data:image/png;base64,{data}'></p>")
        text.append(_as_tables(_placeless(outcome)))
    return "\n".join(text) + "\n"
