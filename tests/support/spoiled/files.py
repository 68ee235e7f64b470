"""Kinds of files."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable
from pathlib import Path

from support.spoiled.arm import JOINTS, recorded, written
from support.spoiled.kind import Kind, Spoil, mapped

G = "files"


def text(change: Callable[[str], str], encoding: str = "utf-8", **how: object) -> Spoil:
    """A CSV whose text is changed."""

    def spoil(folder: Path) -> list[str]:
        path = written(folder / "log.csv", recorded(), **how)  # type: ignore[arg-type]
        path.write_bytes(change(path.read_text()).encode(encoding))
        return [str(path)]

    return spoil


def data(change: Callable[[bytes], bytes], name: str = "log.csv") -> Spoil:
    """A CSV whose bytes are changed."""

    def spoil(folder: Path) -> list[str]:
        path = written(folder / "plain.csv", recorded())
        (folder / name).write_bytes(change(path.read_bytes()))
        return [str(folder / name)]

    return spoil


def kept(name: str, content: bytes) -> Spoil:
    """A file of these bytes."""

    def spoil(folder: Path) -> list[str]:
        (folder / name).write_bytes(content)
        return [str(folder / name)]

    return spoil


def again(folder: Path, words: list[str], said: re.Match[str]) -> list[str]:
    """A sound recording in its place, as the message asks."""
    return [str(written(folder / "again.csv", recorded()))]


def decimal(text: str) -> str:
    return text.replace(".", ",")


def twice(text: str) -> str:
    """Two files put together."""
    return text + text


def whole_part(folder: Path, words: list[str], said: re.Match[str]) -> list[str]:
    """What `gzip -dc` gives of a file that was cut off."""
    found = zlib.decompressobj(31).decompress(Path(words[0]).read_bytes())
    (folder / "whole.csv").write_bytes(found)
    return [str(folder / "whole.csv")]


def huge(folder: Path) -> list[str]:
    path = folder / "log.csv"
    written(path, recorded())
    with path.open("r+b") as file:
        file.truncate(3 << 30)
    return [str(path)]


UNITS = "s," + ",".join(["rad"] * 3 + ["rad/s"] * 3 + ["N·m"] * 3)
IN_UNITS = {"time": "time [s]"} | {
    f"{q}_{j}": f"{q}_{j} [{u}]" for q, u in (("q", "rad"), ("dq", "rad/s"), ("tau", "N·m")) for j in JOINTS
}

KINDS = [
    Kind(G, "a byte order mark", text(lambda s: "\ufeff" + s)),
    Kind(G, "semicolons and decimal commas", text(decimal, mark=";"), cheap=True),
    Kind(
        G,
        "commas between columns and in numbers",
        text(decimal, mark=","),
        "Where commas are decimal points",
        "separated by semicolons",
        mend=lambda f, w, m: text(decimal, mark=";")(f),
    ),
    Kind(G, "tabs", text(lambda s: s, mark="\t")),
    Kind(G, "blanks", text(lambda s: s, mark=" ")),
    Kind(G, "bars", text(lambda s: s, mark="|")),
    Kind(G, "a comma at the end of every line", text(lambda s: s.replace("\n", ",\n"))),
    Kind(G, "ends of line of Windows", text(lambda s: s.replace("\n", "\r\n"))),
    Kind(G, "ends of line of old Macs", text(lambda s: s.replace("\n", "\r"))),
    Kind(G, "Latin-1, with a unit in a comment", text(lambda s: "# Arm Nº 3, q in rad, 20 °C\n" + s, "latin-1")),
    Kind(G, "UTF-16 of a spreadsheet", text(lambda s: s, "utf-16", mark="\t")),
    Kind(
        G,
        "a header in another language",
        text(lambda s: s.replace("time", "Zeit", 1)),
        "no column time or t",
        '{"Zeit": "time"}',
        mend=mapped({"Zeit": "time"}),
    ),
    Kind(
        G,
        "a header in capitals",
        text(lambda s: s.replace("time", "Time", 1).replace("tau_", "Tau_")),
        "if it is Time",
        "--map FILE.json",
        mend=mapped({"Time": "time"} | {f"Tau_{j}": f"tau_{j}" for j in JOINTS}),
    ),
    Kind(G, "units in the header", text(lambda s: s, renamed=IN_UNITS), noted="units"),
    Kind(G, "a row of units below the header", text(lambda s: s.replace("\n", f"\n{UNITS}\n", 1)), noted="units"),
    Kind(
        G,
        "no header",
        text(lambda s: s.partition("\n")[2]),
        "expected a header row",
        "header row of column names",
        mend=again,
    ),
    Kind(G, "comments", text(lambda s: "# run 3\n% 20 °C\n" + s.replace("\n0.5,", "\n# half a second\n0.5,", 1))),
    Kind(G, "sep=; as a spreadsheet's first line", text(lambda s: "sep=;\n" + s, mark=";")),
    Kind(
        G,
        "numbers in quotes",
        text(lambda s: "\n".join(",".join(f'"{c}"' for c in line.split(",")) for line in s.splitlines())),
    ),
    Kind(
        G,
        "a column of row numbers",
        text(lambda s: "\n".join(("" if k == 0 else str(k - 1)) + "," + line for k, line in enumerate(s.splitlines()))),
    ),
    Kind(G, "no end of the last line", text(lambda s: s.rstrip("\n"))),
    Kind(G, "the last row cut off", text(lambda s: s.rstrip("\n")[:-31]), noted="cut off"),
    Kind(
        G,
        "a row cut off in the middle",
        text(lambda s: s[:90000] + s[90040:].replace("\n", "", 1)),
        noted="another number of values than the header, first sample",
    ),
    Kind(G, "two files put together, header and all", text(twice), noted="header"),
    Kind(G, "bytes of zero at the end", data(lambda b: b + bytes(4096)), noted="zero"),
    Kind(G, "gzip, called .csv", data(gzip.compress)),
    Kind(G, "plain, called .csv.gz", data(lambda b: b, "log.csv.gz")),
    Kind(
        G,
        "gzip that was cut off",
        data(lambda b: gzip.compress(b)[:-9000], "log.csv.gz"),
        "not a whole gzip file",
        "gzip -dc",
        mend=whole_part,
    ),
    Kind(G, "an empty file", kept("log.csv", b""), "is empty", "expected a header row and samples", mend=again),
    Kind(
        G,
        "a header alone",
        text(lambda s: s.partition("\n")[0] + "\n"),
        "a header row but no samples",
        "no samples",
        mend=again,
    ),
    Kind(G, "a single row", text(lambda s: "\n".join(s.splitlines()[:2]) + "\n"), "too short", "too short", mend=again),
    Kind(
        G, "half a second", text(lambda s: "\n".join(s.splitlines()[:51]) + "\n"), "too short", "are needed", mend=again
    ),
    Kind(G, "three gigabytes", huge, "3 GiB", "Give it in pieces", mend=again),
    Kind(
        G,
        "a file that is not there",
        lambda f: [str(f / "lgo.csv"), *(str(written(f / "log.csv", recorded())) for _ in "1")],
        "lgo.csv cannot be read: No such file or directory",
        "Did you mean log.csv?",
        mend=lambda f, w, m: w[1:],
    ),
    Kind(G, "a picture", kept("log.csv", b"\x89PNG\r\n\x1a\n" + bytes(64)), "is not UTF-8 text", "CSV", mend=again),
]
