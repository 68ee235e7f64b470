"""Kinds of files."""

from __future__ import annotations

import gzip
import io
import re
import shutil
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
from support.bags import recorded as bagged
from support.spoiled.arm import JOINTS, Table, recorded, written
from support.spoiled.kind import Kind, Spoil

from diffpbd.runtime.logs.csv import Log

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


def zipped(content: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("log.csv", content)
    return out.getvalue()


def workbook(content: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("[Content_Types].xml", "<Types/>")
        file.writestr("xl/workbook.xml", "<workbook/>")
    return out.getvalue()


def unzipped(folder: Path, words: list[str], said: re.Match[str]) -> list[str]:
    with zipfile.ZipFile(words[0]) as file:
        file.extractall(folder)
    return [str(folder / "log.csv")]


def whole_part(folder: Path, words: list[str], said: re.Match[str]) -> list[str]:
    """What `gzip -dc` gives of a file that was cut off."""
    found = zlib.decompressobj(31).decompress(Path(words[0]).read_bytes())
    (folder / "whole.csv").write_bytes(found)
    return [str(folder / "whole.csv")]


def npz(change: Callable[[dict[str, np.ndarray]], dict[str, np.ndarray]]) -> Spoil:
    def spoil(folder: Path) -> list[str]:
        t = recorded()
        arrays = {"time": t.time, "q": t.q, "dq": t.dq, "tau": t.tau, "joints": np.array(JOINTS)}
        np.savez(folder / "log.npz", **change(arrays))
        return [str(folder / "log.npz")]

    return spoil


def upright(folder: Path, words: list[str], said: re.Match[str]) -> list[str]:
    return npz(lambda a: a)(folder)


def bag(kind: str) -> Spoil:
    def spoil(folder: Path) -> list[str]:
        t: Table = recorded()
        log = Log(1.7e9 + t.time, JOINTS, t.q, t.dq, None, t.tau)
        return [str(bagged(folder / ("log.bag" if kind == "lz4" else "log"), kind, log))]

    return spoil


def without(kind: str, name: str) -> Spoil:
    """A ROS 2 recording without one of its files."""

    def spoil(folder: Path) -> list[str]:
        path = Path(bag(kind)(folder)[0])
        for file in path.glob(name):
            shutil.move(file, folder / file.name)
        return [str(path)]

    return spoil


def found_again(folder: Path, words: list[str], said: re.Match[str]) -> list[str]:
    """The file that lies beside the folder is put back."""
    for file in (*folder.glob("*.db3"), *folder.glob("*.mcap"), *folder.glob("metadata.yaml")):
        shutil.move(file, Path(words[0]) / file.name)
    return words


def inner(folder: Path, words: list[str], said: re.Match[str]) -> list[str]:
    """The recording itself in place of its folder."""
    return [str(file) for pattern in ("*.db3", "*.mcap", "*.csv") for file in sorted(Path(words[0]).glob(pattern))]


def lines_of_json(end: str) -> Spoil:
    def spoil(folder: Path) -> list[str]:
        import json

        t = recorded()
        rows = [json.dumps({"stamp": t.time[k], "name": JOINTS, "position": t.q[k].tolist(), "velocity": t.dq[k].tolist(), "effort": t.tau[k].tolist()})
                for k in range(len(t.time))]  # fmt: skip
        (folder / "log.jsonl").write_text("\n".join(rows) + end)
        return [str(folder / "log.jsonl")]

    return spoil


def folder_of_csv(folder: Path) -> list[str]:
    (folder / "runs").mkdir()
    written(folder / "runs" / "log.csv", recorded())
    return [str(folder / "runs")]


def huge(folder: Path) -> list[str]:
    path = folder / "log.csv"
    written(path, recorded())
    with path.open("r+b") as file:
        file.truncate(3 << 30)
    return [str(path)]


UNITS = "s," + ",".join(["rad"] * 3 + ["rad/s"] * 3 + ["N·m"] * 3)
IN_UNITS = {"time": "time [s]"} | {f"{q}_{j}": f"{q}_{j} [{u}]" for q, u in (("q", "rad"), ("dq", "rad/s"), ("tau", "N·m")) for j in JOINTS}

KINDS = [
    Kind(G, "a byte order mark", text(lambda s: "\ufeff" + s)),
    Kind(G, "semicolons and decimal commas", text(decimal, mark=";"), cheap=True),
    Kind(G, "commas between columns and in numbers", text(decimal, mark=","), "Where commas are decimal points", "separated by semicolons", mend=lambda f, w, m: text(decimal, mark=";")(f)),
    Kind(G, "tabs", text(lambda s: s, mark="\t")),
    Kind(G, "blanks", text(lambda s: s, mark=" ")),
    Kind(G, "bars", text(lambda s: s, mark="|")),
    Kind(G, "a comma at the end of every line", text(lambda s: s.replace("\n", ",\n"))),
    Kind(G, "ends of line of Windows", text(lambda s: s.replace("\n", "\r\n"))),
    Kind(G, "ends of line of old Macs", text(lambda s: s.replace("\n", "\r"))),
    Kind(G, "Latin-1, with a unit in a comment", text(lambda s: "# Arm Nº 3, q in rad, 20 °C\n" + s, "latin-1")),
    Kind(G, "UTF-16 of a spreadsheet", text(lambda s: s, "utf-16", mark="\t")),
    Kind(G, "a header in another language", text(lambda s: s.replace("time", "Zeit", 1)), "no column time or t", "{\"Zeit\": \"time\"}", mend=lambda f, w, m: _mapped(f, w, {"Zeit": "time"})),
    Kind(G, "a header in capitals", text(lambda s: s.replace("time", "Time", 1).replace("tau_", "Tau_")), "if it is Time", "--map FILE.json", mend=lambda f, w, m: _mapped(f, w, {"Time": "time"} | {f"Tau_{j}": f"tau_{j}" for j in JOINTS})),
    Kind(G, "units in the header", text(lambda s: s, renamed=IN_UNITS), noted="units"),
    Kind(G, "a row of units below the header", text(lambda s: s.replace("\n", f"\n{UNITS}\n", 1)), noted="units"),
    Kind(G, "no header", text(lambda s: s.partition("\n")[2]), "expected a header row", "header row of column names", mend=again),
    Kind(G, "comments", text(lambda s: "# run 3\n% 20 °C\n" + s.replace("\n0.5,", "\n# half a second\n0.5,", 1))),
    Kind(G, "sep=; as a spreadsheet's first line", text(lambda s: "sep=;\n" + s, mark=";")),
    Kind(G, "numbers in quotes", text(lambda s: "\n".join(",".join(f'"{c}"' for c in line.split(",")) for line in s.splitlines()))),
    Kind(G, "a column of row numbers", text(lambda s: "\n".join(("" if k == 0 else str(k - 1)) + "," + line for k, line in enumerate(s.splitlines())))),
    Kind(G, "no end of the last line", text(lambda s: s.rstrip("\n"))),
    Kind(G, "the last row cut off", text(lambda s: s.rstrip("\n")[:-31]), noted="cut off"),
    Kind(G, "a row cut off in the middle", text(lambda s: s[:90000] + s[90040:].replace("\n", "", 1)), noted="another number of values than the header, first sample"),
    Kind(G, "two files put together, header and all", text(twice), noted="header"),
    Kind(G, "bytes of zero at the end", data(lambda b: b + bytes(4096)), noted="zero"),
    Kind(G, "gzip, called .csv", data(gzip.compress)),
    Kind(G, "plain, called .csv.gz", data(lambda b: b, "log.csv.gz")),
    Kind(G, "gzip that was cut off", data(lambda b: gzip.compress(b)[:-9000], "log.csv.gz"), "not a whole gzip file", "gzip -dc", mend=whole_part),
    Kind(G, "a ZIP archive with the table", data(zipped, "log.zip"), "ZIP archive", "unpack it", mend=unzipped),
    Kind(G, "a workbook of a spreadsheet", data(workbook, "log.xlsx"), "workbook", "save it as CSV", mend=again),
    Kind(G, "Parquet", kept("log.parquet", b"PAR1" + bytes(range(256)) + b"PAR1"), "Parquet", "to_csv", mend=again),
    Kind(G, "HDF5", kept("log.h5", b"\x89HDF\r\n\x1a\n" + bytes(64)), "HDF5", "numpy.savez", mend=again),
    Kind(G, "a MATLAB file", kept("log.mat", b"MATLAB 5.0 MAT-file, Platform: GLNXA64" + bytes(128)), "MATLAB", "numpy.savez", mend=again),
    Kind(G, "NPZ", npz(lambda a: a)),
    Kind(G, "NPZ on its side", npz(lambda a: a | {n: a[n].T for n in ("q", "dq", "tau")}), "expected (samples, 3)", "looks transposed", mend=upright),
    Kind(G, "NPZ without names", npz(lambda a: {n: v for n, v in a.items() if n != "joints"}), "no array of joint names", "add one called joints", mend=upright),
    Kind(G, "a ROS 1 bag with lz4", bag("lz4")),
    Kind(G, "a ROS 2 folder (SQLite)", bag("db3")),
    Kind(G, "a ROS 2 folder (MCAP)", bag("mcap")),
    Kind(G, "a ROS 2 folder without its metadata", without("db3", "metadata.yaml"), "is a folder", "give its files", mend=inner),
    Kind(G, "a ROS 2 folder without its data", without("db3", "*.db3"), "damaged", "db3", mend=found_again),
    Kind(G, "lines of JSON", lines_of_json("\n")),
    Kind(G, "lines of JSON, the last one cut off", lines_of_json('\n{"stamp": 30.0, "name": ["wai'), noted="cut off"),
    Kind(G, "an empty file", kept("log.csv", b""), "is empty", "expected a header row and samples", mend=again),
    Kind(G, "a header alone", text(lambda s: s.partition("\n")[0] + "\n"), "a header row but no samples", "no samples", mend=again),
    Kind(G, "a single row", text(lambda s: "\n".join(s.splitlines()[:2]) + "\n"), "too short", "too short", mend=again),
    Kind(G, "half a second", text(lambda s: "\n".join(s.splitlines()[:51]) + "\n"), "too short", "are needed", mend=again),
    Kind(G, "three gigabytes", huge, "3 GiB", "Give it in pieces", mend=again),
    Kind(G, "a folder of tables", folder_of_csv, "is a folder", "give its files", mend=inner),
    Kind(G, "a file that is not there", lambda f: [str(f / "lgo.csv"), *(str(written(f / "log.csv", recorded())) for _ in "1")], "lgo.csv cannot be read: No such file or directory", "Did you mean log.csv?", mend=lambda f, w, m: w[1:]),
    Kind(G, "a picture", kept("log.csv", b"\x89PNG\r\n\x1a\n" + bytes(64)), "is not UTF-8 text", "CSV", mend=again),
]  # fmt: skip


def _mapped(folder: Path, words: list[str], names: dict[str, str]) -> list[str]:
    import json

    (folder / "map.json").write_text(json.dumps(names))
    return [*words, "--map", str(folder / "map.json")]
