"""The robots committed under generated/ are what the generator writes today."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from support.golden import check_golden

ROOT = Path(__file__).resolve().parent.parent
DIFFPBD = [sys.executable, "-c", "from diffpbd.runtime.cli import main; main()"]


def committed_robots() -> dict[str, set[str]]:
    """Robot name to the files of its folder that git tracks; empty outside a git checkout."""
    try:
        listing = subprocess.run(
            ["git", "ls-files", "-z", "generated"], cwd=ROOT, capture_output=True, check=True, text=True
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        return {}
    robots: dict[str, set[str]] = {}
    for path in filter(None, listing.split("\0")):
        _, *parts = path.split("/")
        if len(parts) > 1:
            robots.setdefault(parts[0], set()).add("/".join(parts[1:]))
    return robots


ROBOTS = committed_robots()


@pytest.mark.parametrize("name", sorted(ROBOTS))
def test_committed_robot_is_up_to_date(name: str, tmp_path: Path, update_golden: bool) -> None:
    golden = ROOT / "generated" / name
    generator = json.loads((golden / "manifest.json").read_text())["generator"]
    for package in ("casadi", "sympy"):
        if not update_golden and generator[package] != version(package):
            pytest.skip(f"committed with {package} {generator[package]}, this is {version(package)}")

    out = tmp_path / name
    run = subprocess.run(
        [*DIFFPBD, "generate", name, "--out", str(out)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    assert run.returncode == 0, run.stderr

    actual = {
        path.relative_to(out).as_posix(): path.read_bytes()
        for path in out.rglob("*")
        if path.is_file() and path.suffix not in {".so", ".o", ".sha256"}
    }
    command = "make check-generated OPTS=--update-golden"
    check_golden(golden, actual, update=update_golden, committed=ROBOTS[name], command=command)
