"""Parameters that nothing reads are said to the compiler, and no others."""

from __future__ import annotations

import subprocess
from pathlib import Path

import casadi as ca

from diffpbd.codegen.emit.text.c_writer import kernel, unused

STRICT = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-fsyntax-only"]


def test_what_no_line_has() -> None:
    assert unused(["x", "xi", "w"], ["  y[0] = xi[0];", "  k(w + 3);"]) == ["  (void)x;"]
    assert unused(["x"], ["x[0] = 1.0;"]) == []


def test_a_kernel_without_warnings(tmp_path: Path) -> None:
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    text = kernel(ca.Function("f", [x, y], [2 * x], ["x", "y"], ["z"]), "f").text
    assert "(void)y;" in text and "(void)x;" not in text
    file = tmp_path / "told.c"
    file.write_text(f"#define NOINLINE\n{text}")
    assert subprocess.run(["cc", *STRICT, str(file)], check=False).returncode == 0
    file.write_text(f"#define NOINLINE\n{text.replace('(void)y;', '')}")
    assert subprocess.run(["cc", *STRICT, str(file)], capture_output=True, check=False).returncode != 0
