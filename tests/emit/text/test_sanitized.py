"""Every emitted function under the address and undefined-behaviour sanitizers, on numbers that nobody would send.

Every argument and the work array lie in a block of their own of exactly the size that the manifest says, so one number too far
is seen. The driver is C: sanitizers do not watch what Python calls.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.robots import generated
from support.shared.extremes import CALL, HEAD, STEPS, driver

from diffpbd.runtime.folder.manifest import read_manifest

pytestmark = pytest.mark.soak

SANITIZE = "-std=c99 -g -O0 -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all".split()
ENVIRONMENT = {"ASAN_OPTIONS": "detect_leaks=0:abort_on_error=0", "UBSAN_OPTIONS": "print_stacktrace=1"}


def run(folder: Path, build: Path, program: str, sources: list[Path]) -> subprocess.CompletedProcess[str]:
    (build / "driver.c").write_text(program)
    subprocess.run(["cc", *SANITIZE, f"-I{folder}", str(build / "driver.c"), *map(str, sources), "-o", str(build / "driver"),
                    "-lm"], check=True)  # fmt: skip
    return subprocess.run([str(build / "driver")], env=ENVIRONMENT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", ["double_pendulum", "prismatic_skew"])
def test_no_function_leaves_its_arrays_or_the_language(name: str, tmp_path: Path) -> None:
    folder = generated(name)
    manifest = read_manifest(folder)
    done = run(folder, tmp_path, driver(manifest), sorted((folder / "src").glob("*.c")))
    assert done.returncode == 0, done.stderr[:3000]
    calls, refused = (int(word) for word in done.stdout.split()[::2])
    kinds = 27 + 40
    expected = sum(len(STEPS) if function.rollout else 1 for function in manifest.functions)
    assert calls == kinds * expected and 0 < refused < calls


@pytest.mark.parametrize(
    "fault", ["work[3] = 1.0", "work[-1] = 1.0", "out[0][0] = (int)in[0][0]", "out[0][1] = *in[0]"]
)
def test_the_sanitizers_would_see_it(fault: str, tmp_path: Path) -> None:
    """One number too far, and a number that no integer holds."""
    (tmp_path / "x.h").write_text("int x_f(const double *const *in, double *const *out, double *work);\n")
    (tmp_path / "x.c").write_text(f'#include "x.h"\nint x_f(const double *const *in, double *const *out, double *work) '
                                  f"{{ {fault}; return work == 0; }}\n")  # fmt: skip
    program = HEAD.format(name="x", alpha="0.0")
    text = CALL.format(
        inputs=1, outputs=1, work="3", symbol="x_f", steps="",
        allocate_in="in[0] = malloc(sizeof(double)); fill(in[0], 1, kind, 0);",
        allocate_out="out[0] = malloc(sizeof(double));",
    )  # fmt: skip
    done = run(tmp_path, tmp_path, program + text + "return 0; }", [tmp_path / "x.c"])
    assert done.returncode != 0 and ("AddressSanitizer" in done.stderr or "runtime error" in done.stderr)
