"""Compile a robot's .cu text without a GPU and count: registers, spills and instructions of every entry.

    python -m benchmarks.gpu_text generated/baxter_bare [--architecture sm_90]

Needs a folder of `generate --cuda` and NVRTC (pip install "diffpbd[gpu]"). An instruction has 16 bytes, from Volta on; the
count is that of the text, loops once.
"""

from __future__ import annotations

import argparse
import struct
from pathlib import Path

from benchmarks.standalone import table
from diffpbd.runtime import read_manifest
from diffpbd.runtime.gpu.compiler import compiler, resources
from diffpbd.runtime.gpu.launch import ENTRIES
from diffpbd.runtime.gpu.robot import SETTINGS

INSTRUCTION = 16
"""[bytes]"""


def instructions(code: bytes) -> dict[str, int]:
    """Bytes of every entry of an ELF of NVIDIA's: the sizes of its sections .text.NAME."""
    (table_at,) = struct.unpack_from("<Q", code, 0x28)
    size, count, names = struct.unpack_from("<HHH", code, 0x3A)
    sections = [struct.unpack_from("<IIQQQQ", code, table_at + k * size) for k in range(count)]
    found = {}
    for name, _, _, _, _, length in sections:
        start = sections[names][4] + name
        word = code[start : code.index(b"\0", start)].decode()
        if word.startswith(".text."):
            found[word.removeprefix(".text.")] = length // INSTRUCTION
    return found


def rows(folder: Path, architecture: str) -> list[list[str]]:
    """Rows of every entry in both precisions, one alpha for all states."""
    manifest = read_manifest(folder)
    name, made = manifest.name, {f.name for f in manifest.functions}
    source = (folder / f"{name}.cu").read_text(encoding="utf-8")
    found = [["entry", "precision", "registers", "spill stores [B]", "spill loads [B]", "instructions"]]
    for function, entry in ENTRIES.items():
        if function not in made or f"ONLY_{entry.only}" not in source or entry.ends:
            continue
        for dtype, settings in SETTINGS.items():
            words = [
                *entry.options,
                "-DSHARED_ALPHA",
                f"-DBLOCK={settings['block']}",
                *(["-DSINGLE"] if dtype == "float32" else []),
            ]
            code, log = compiler().compiled(source, architecture, words)
            counts = instructions(code)
            for one, numbers in resources(log).items():
                found.append([one, dtype, *map(str, numbers), str(counts[one])])
            print(f"  {function}, {dtype}", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu_text", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--architecture", default="sm_90", help="default %(default)s: H100, H200")
    options = parser.parse_args()
    print(table(rows(options.folder, options.architecture)))


if __name__ == "__main__":
    main()
