"""The robots by hand of tests/c, and how plain C of templates/ is compiled with one."""

from __future__ import annotations

from pathlib import Path

from diffpbd.codegen.emit.folder import ALL_CONSTANTS
from diffpbd.codegen.emit.tables.constants import STATUS_NAMES
from diffpbd.codegen.emit.text.c_writer import literal
from support.imports import ROOT

HERE = ROOT / "tests" / "c"
TEMPLATES = {path.name: path for path in (ROOT / "templates").glob("*/*.*")}
"""The files of templates/ by name."""
ROOMS = sorted({path.parent for path in TEMPLATES.values()})
ROBOTS = {
    "pendulum": ("joint_step.c",),
    "block": ("mpc.c", "damped_hold.c", "torque_estimation.c", "common.c", "parameters.c"),
}
"""By robot the sources that its test.c calls."""


def write_numbers(folder: Path) -> None:
    """numbers.h: constants and statuses, as a generated model.h has them."""
    lines = [
        f"#define C_{c.name.upper()} {c.value if isinstance(c.value, int) else literal(c.value)}" for c in ALL_CONSTANTS
    ]
    lines += [f"#define STATUS_{name} {number}" for number, name in STATUS_NAMES.items()]
    (folder / "numbers.h").write_text("\n".join(lines) + "\n")


def sources(robot: str) -> list[str]:
    own = sorted(str(path) for path in (HERE / robot).glob("*.c"))
    return [*(str(TEMPLATES[name]) for name in ROBOTS[robot]), *own]


def includes(robot: str, numbers: Path) -> list[str]:
    return [f"-I{folder}" for folder in (HERE / robot, HERE, numbers, *ROOMS)]
