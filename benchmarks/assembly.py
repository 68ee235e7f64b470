"""Count without a clock what a compiler makes of C: instructions, bytes, traffic of the stack, divisions of every function.

Counted is the way that is usually taken: from the entry to the first return. What lies beyond, out of the way of the
processor's front end, is `aside`.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path

INSTRUCTION = re.compile(r"^\t([a-z][a-z0-9]*)(?:\t(.*))?$")
ON_STACK = re.compile(r"-?\d*\(%[re]sp\)")
STORE = re.compile(r"^%[xyz]mm\d+,\s*-?\d*\(%[re]sp\)$")
DIVISION = re.compile(r"^v?(div|sqrt)[sp][sd]$")
COPY = re.compile(r"^v?mov(ap[sd]|dqa\d*)$")
REGISTERS = re.compile(r"^%[xyz]mm\d+,\s*%[xyz]mm\d+$")
BRANCH = re.compile(r"^(j[a-z]+|call|callq|ret|retq)$")
SUFFIX = re.compile(r"(\.constprop\.\d+|\.isra\.\d+|\.part\.\d+|\.cold)+$")
PIECE = re.compile(r"_kernel_\d+$")


@dataclass
class Counts:
    """`loads`, `stores`: of the stack, an instruction with such an operand one of them; `copies` between vector registers."""

    instructions: int = 0
    bytes: int = 0
    loads: int = 0
    stores: int = 0
    copies: int = 0
    divisions: int = 0
    aside: int = 0
    lines: list[str] = field(default_factory=list, repr=False)

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


def functions(text: str) -> Iterator[tuple[str, list[str]]]:
    """Names and lines of the functions of an assembly text."""
    name, lines = "", []
    for line in text.splitlines():
        label = re.match(r"^([A-Za-z_][\w.]*):", line)
        if label:
            name, lines = label.group(1), []
        elif line.startswith("\t.size") and name:
            yield name, lines
            name = ""
        elif name:
            lines.append(line)


def counted(lines: Sequence[str]) -> Counts:
    """The counts of one function, without its bytes."""
    result, usual = Counts(), True
    for line in lines:
        found = INSTRUCTION.match(line)
        if found is None:
            continue
        word, operands = found.group(1), (found.group(2) or "").split("#")[0].strip()
        if not usual:
            result.aside += 1
            continue
        result.instructions += 1
        if ON_STACK.search(operands) and not word.startswith("lea"):
            stored = STORE.match(operands) is not None
            result.stores, result.loads = result.stores + stored, result.loads + (not stored)
        result.copies += COPY.match(word) is not None and REGISTERS.match(operands) is not None
        result.divisions += DIVISION.match(word) is not None
        if not BRANCH.match(word):
            result.lines.append(line)
        usual = not word.startswith("ret")
    return result


def measured(command: Sequence[str], source: Path, folder: Path) -> dict[str, Counts]:
    """Counts by name of the functions that `command` (a compiler with its options) makes of `source`; pieces of one kernel and
    copies of one function are one."""
    text, made = folder / f"{source.stem}.s", folder / f"{source.stem}.o"
    subprocess.run([*command, "-S", str(source), "-o", str(text)], check=True)
    subprocess.run([command[0], "-c", str(text), "-o", str(made)], check=True)
    listed = subprocess.run(["nm", "-S", "-t", "d", str(made)], check=True, capture_output=True, text=True).stdout
    sizes: Mapping[str, int] = {x[3]: int(x[1]) for line in listed.splitlines() if len(x := line.split()) == 4}
    found: dict[str, Counts] = {}
    for name, lines in functions(text.read_text()):
        counts = counted(lines)
        counts.bytes = sizes.get(name, 0)
        plain = PIECE.sub("_kernel", SUFFIX.sub("", name))
        found[plain] = found.get(plain, Counts()) + counts
    return found


def cycles(tool: str, processor: str, counts: Counts, folder: Path) -> tuple[int, float]:
    """llvm-mca's cycles of one run of straight lines, and the least that its ports would take; no caches, no
    front end."""
    text = folder / "straight.s"
    text.write_text("\n".join(counts.lines) + "\n")
    options = [f"-mcpu={processor}", "-mtriple=x86_64", "-iterations=1", "--skip-unsupported-instructions=lack-sched"]
    run = subprocess.run([tool, *options, str(text)], capture_output=True, text=True, check=False)
    if run.returncode:
        run = subprocess.run([tool, *options[:-1], str(text)], capture_output=True, text=True, check=True)
    total = re.search(r"Total Cycles:\s+(\d+)", run.stdout)
    least = re.search(r"Block RThroughput:\s+([\d.]+)", run.stdout)
    if total is None or least is None:
        raise ValueError(f"{tool} says no cycles: {run.stdout[:200]}")
    return int(total.group(1)), float(least.group(1))
