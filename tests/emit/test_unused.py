"""Parameters that nothing reads are said to the compiler, and no others."""

from __future__ import annotations

import subprocess
from pathlib import Path

from diffpbd.codegen.emit.unused import with_unused

SOURCE = """#include <math.h>
/* read(double comment) { */
static void copy(const double *restrict x, double *restrict y, double w[3],
                 double v[N]) {
  /* w is not read */
  y[0] = x[0] + v[0];
}

int all_read(const double *const *in, double *work) {
  if (in) {
    work[0] = sin(in[0][0]);
  }
  return 0;
}

int size(void) { return 0; }

int nothing(void) {
  return size();
}
"""


def test_what_nothing_reads(tmp_path: Path) -> None:
    told = with_unused(SOURCE)
    assert told.count("(void)") == 2 + 1, "two parameters lists say void"
    assert "double v[N]) {\n  (void)w;\n  /* w is not read */" in told
    assert told.replace("  (void)w;\n", "") == SOURCE, "nothing else changes"
    assert with_unused(told) == told
    file = tmp_path / "told.c"
    file.write_text(told)
    strict = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-DN=1", "-fsyntax-only"]
    assert subprocess.run(["cc", *strict, str(file)], check=False).returncode == 0
    file.write_text(SOURCE)
    assert subprocess.run(["cc", *strict, str(file)], capture_output=True, check=False).returncode != 0
