"""Kinds of other formats: archives, arrays, bags, folders."""

from __future__ import annotations

import io
import json
import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from diffpbd.runtime.logs.csv import Log
from support.recordings.bags import recorded as bagged
from support.spoiled.arm import JOINTS, Table, recorded, written
from support.spoiled.files import G, again, data, kept
from support.spoiled.kind import Kind, Spoil


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
        t = recorded()
        names = ("stamp", "position", "velocity", "effort")
        values = zip(t.time.tolist(), t.q.tolist(), t.dq.tolist(), t.tau.tolist(), strict=True)
        rows = [json.dumps(dict(zip(names, row, strict=True)) | {"name": JOINTS}) for row in values]
        (folder / "log.jsonl").write_text("\n".join(rows) + end)
        return [str(folder / "log.jsonl")]

    return spoil


def folder_of_csv(folder: Path) -> list[str]:
    (folder / "runs").mkdir()
    written(folder / "runs" / "log.csv", recorded())
    return [str(folder / "runs")]


KINDS = [
    Kind(G, "a ZIP archive with the table", data(zipped, "log.zip"), "ZIP archive", "unpack it", mend=unzipped),
    Kind(G, "a workbook of a spreadsheet", data(workbook, "log.xlsx"), "workbook", "save it as CSV", mend=again),
    Kind(G, "Parquet", kept("log.parquet", b"PAR1" + bytes(range(256)) + b"PAR1"), "Parquet", "to_csv", mend=again),
    Kind(G, "HDF5", kept("log.h5", b"\x89HDF\r\n\x1a\n" + bytes(64)), "HDF5", "numpy.savez", mend=again),
    Kind(
        G,
        "a MATLAB file",
        kept("log.mat", b"MATLAB 5.0 MAT-file, Platform: GLNXA64" + bytes(128)),
        "MATLAB",
        "numpy.savez",
        mend=again,
    ),
    Kind(G, "NPZ", npz(lambda a: a)),
    Kind(
        G,
        "NPZ on its side",
        npz(lambda a: a | {n: a[n].T for n in ("q", "dq", "tau")}),
        "expected (samples, 3)",
        "looks transposed",
        mend=upright,
    ),
    Kind(
        G,
        "NPZ without names",
        npz(lambda a: {n: v for n, v in a.items() if n != "joints"}),
        "no array of joint names",
        "add one called joints",
        mend=upright,
    ),
    Kind(G, "a ROS 1 bag with lz4", bag("lz4")),
    Kind(G, "a ROS 2 folder (SQLite)", bag("db3")),
    Kind(G, "a ROS 2 folder (MCAP)", bag("mcap")),
    Kind(
        G,
        "a ROS 2 folder without its metadata",
        without("db3", "metadata.yaml"),
        "is a folder",
        "give its files",
        mend=inner,
    ),
    Kind(G, "a ROS 2 folder without its data", without("db3", "*.db3"), "damaged", "db3", mend=found_again),
    Kind(G, "lines of JSON", lines_of_json("\n")),
    Kind(G, "lines of JSON, the last one cut off", lines_of_json('\n{"stamp": 30.0, "name": ["wai'), noted="cut off"),
    Kind(G, "a folder of tables", folder_of_csv, "is a folder", "give its files", mend=inner),
]
