"""`python -m benchmarks.static [generated/baxter_bare]`: what a step and its derivatives cost, counted without a clock.

Kernels by instruction path: operations in the C text, instructions and bytes of code, traffic of the stack, divisions, and
where llvm-mca is installed its cycles for several processors (of the straight lines of one kernel, once through: dependences
and ports, no caches, no front end). The code of a
step is the kernels of STEP, each once.
Functions, where valgrind is installed: instructions and reads that a call comes to, and its misses of instruction caches of 32
and 64 KB. Counts scatter by nothing, so a change of one in a hundred shows.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.assembly import Counts, cycles, measured
from benchmarks.standalone import RESULTS
from diffpbd.runtime import read_manifest
from diffpbd.runtime.folder.compiler import compile_flags, find_compiler
from diffpbd.runtime.folder.manifest import Manifest
from diffpbd.runtime.report.tables import table

HERE = Path(__file__).parent
PATHS = {
    "portable": "joint_step.c",
    "AVX2 + FMA": "joint_step_v3.c",
    "4 lanes": "joint_step_lanes4.c",
    "4 lanes, AVX-512": "joint_step_lanes4_v4.c",
    "8 lanes": "joint_step_lanes8.c",
}
STEP = ("start", "reach", "newton_after", "chord_after", "end_after", "velocity")
"""What stands in memory of a step; `reach` goes before each of the three after it. Of 8 lanes each has its own: WHOLE."""
WHOLE = ("newton", "chord", "end")
KERNELS = (*STEP, *WHOLE, "jacobian", "assembly", "onward_after")
PROCESSORS = ("znver4", "skylake-avx512", "icelake-server")
CACHES = (32, 64)
"""[KB] Instruction caches that cachegrind is asked for, 8 ways of 64 bytes."""
STATES, CALLS = 64, 128
CALLED = {
    "joint_step": ("joint_step", "portable"),
    "joint_step, AVX2 + FMA": ("joint_step", "x86-64-v3"),
    "jac_joint_step, AVX2 + FMA": ("jac_joint_step", "x86-64-v3"),
    "vjp_joint_step, AVX2 + FMA": ("vjp_joint_step", "x86-64-v3"),
    "64 joint_steps in 4 lanes": ("ours_batch_step", "x86-64-v3"),
}


def operations(text: str) -> dict[str, int]:
    """Arithmetic in the text of every kernel of joint_step_model.h, those by lane left out."""
    found: dict[str, int] = {}
    for head, body in re.findall(r"^static NOINLINE void (\w+)\([^)]*\) \{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL):
        name = re.sub(r"_kernel(_\d+)?$", "", head)
        lines = re.findall(r"^ a\d+=(.*);$", body, re.MULTILINE)
        done = sum(bool(re.search(r"\ba\d+|sin\d|cos\d", line)) for line in lines)
        found[name] = found.get(name, 0) + done
    return found


def kernels(folder: Path, tool: str | None, processors: Sequence[str], scratch: Path) -> list[dict[str, Any]]:
    """A row for every kernel and path, and for a step."""
    counted = operations((folder / "src" / "joint_step_model.h").read_text(encoding="utf-8"))
    rows = []
    for path, source in PATHS.items():
        if not (folder / "src" / source).is_file():
            continue
        command = [*find_compiler(), *compile_flags(source), f"-I{folder}", f"-I{folder / 'src'}"]
        made = measured(command, folder / "src" / source, scratch)
        of_step = []
        for name in KERNELS:
            counts = made.get(f"{name}_kernel")
            if counts is None:
                continue
            row = {"path": path, "kernel": name, "operations": counted.get(name, 0), **plain(counts)}
            for processor in processors if tool else ():
                row[processor], row[f"{processor} ports"] = cycles(tool, processor, counts, scratch)
            rows.append(row)
            of_step += [row] if name in STEP + WHOLE else []
        rows.append({"path": path, "kernel": "code of a step", **sums(of_step)})
    return rows


def plain(counts: Counts) -> dict[str, int]:
    return {k: v for k, v in vars(counts).items() if k != "lines"}


def sums(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {k: sum(row[k] for row in rows) for k in rows[0] if k not in ("path", "kernel")}


def called(folder: Path, manifest: Manifest, scratch: Path) -> list[dict[str, Any]]:
    """A row for every function of CALLED, of the library as it lies in the folder."""
    facts = {f.name: f for f in manifest.functions}
    joints, random = manifest.robot.joints, np.random.default_rng(0)
    n = len(joints)
    rows = []
    for label, (name, path) in CALLED.items():
        batch = STATES if name.startswith("ours_") else 1
        f = facts["joint_step" if batch > 1 else name]
        values = []
        for argument in f.inputs:
            if argument.name == "alpha":
                values.append(np.tile([a.default for a in manifest.alpha], (STATES, 1)))
            elif argument.name == "h":
                values.append(np.full((STATES, 1), 0.01))
            else:
                values.append(random.uniform(-1.0, 1.0, (STATES, argument.rows)))
        states = STATES // batch
        if batch > 1:
            values = [v.reshape(1, -1) if k < 3 else v[:1] for k, v in enumerate(values)]
        words = [
            path,
            str(states),
            str(len(values)),
            str(len(f.outputs)),
            str(max(g.work_size or 0 for g in facts.values())),
        ]
        for v in values:
            words += [str(v.shape[1]), *(repr(float(x)) for x in v.ravel())]
        words += [str(a.rows * int(a.cols) * batch) for a in f.outputs]
        (scratch / "states").write_text("\n".join(words))
        program = scratch / "calls"
        symbol = name if batch > 1 else f.symbol
        options = [f"-DN={n}", f"-DBATCH={STATES}", f"-DROBOT(name)={manifest.name}_##name", f"-DCALLED={symbol}"]
        library = (folder / manifest.library).resolve()
        files = [str(HERE / "calls.c"), *([str(HERE / "ours.c")] if batch > 1 else [])]
        subprocess.run([*find_compiler(), "-O1", *options, *files, str(library), "-lm", "-o", str(program)], check=True)
        row: dict[str, Any] = {"function": label}
        for size in CACHES:
            few, many = (grind(program, scratch, size, k * STATES // batch) for k in (1, 1 + CALLS // STATES))
            row |= {k: round((many[k] - few[k]) / CALLS, 1) for k in many}
        rows.append(row)
    return rows


def grind(program: Path, scratch: Path, size: int, calls: int) -> dict[str, int]:
    """cachegrind's totals of a run."""
    out = scratch / "cachegrind.out"
    cache = [f"--I1={size * 1024},8,64", "--D1=32768,8,64", "--LL=33554432,16,64"]
    words = ["valgrind", "--tool=cachegrind", "--cache-sim=yes", "-q", *cache, f"--cachegrind-out-file={out}"]
    subprocess.run([*words, str(program), str(scratch / "states"), str(calls)], check=True, capture_output=True)
    text = out.read_text()
    events = re.search(r"^events: (.*)$", text, re.MULTILINE)
    totals = re.search(r"^summary: (.*)$", text, re.MULTILINE)
    if events is None or totals is None:
        raise ValueError("cachegrind left no totals")
    found = dict(zip(events.group(1).split(), map(int, totals.group(1).split()), strict=True))
    names = {"Ir": "instructions", "Dr": "reads", "Dw": "writes", "I1mr": f"I1 misses, {size} KB"}
    return {name: found[key] for key, name in names.items()}


def shown(rows: Sequence[Mapping[str, Any]]) -> str:
    heads = list(rows[0])
    return table(heads, [[f"{row.get(k, '')}" for k in heads] for row in rows])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.static", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=HERE.parent / "generated" / "baxter_bare")
    parser.add_argument(
        "--processors", default=",".join(PROCESSORS), help="llvm-mca's, by commas (default %(default)s)"
    )
    parser.add_argument(
        "--mca", default=None, help="llvm-mca's command (default: the newest llvm-mca-N, else llvm-mca)"
    )
    parser.add_argument("--out", type=Path, default=RESULTS / "static.json")
    options = parser.parse_args()
    tool = options.mca or next(filter(shutil.which, [*(f"llvm-mca-{k}" for k in range(25, 13, -1)), "llvm-mca"]), None)
    manifest = read_manifest(options.folder)
    with tempfile.TemporaryDirectory() as aside:
        found = {"kernels": kernels(options.folder, tool, options.processors.split(","), Path(aside))}
        print(shown(found["kernels"]))
        print("" if tool else "llvm-mca is not installed: no cycles", flush=True)
        if shutil.which("valgrind"):
            found["functions"] = called(options.folder, manifest, Path(aside))
            print(shown(found["functions"]))
        else:
            print("valgrind is not installed: no misses")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(f"\nWritten: {options.out}")


if __name__ == "__main__":
    main()
