"""Wheel, sdist and editable install give the same import names, from flat top-level folders."""

from __future__ import annotations

import subprocess
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
from hatchling.build import build_sdist, build_wheel

import diffpbd.runtime

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("codegen", "runtime", "templates")
LEFT_OUT = {"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"}

IMPORTS = """
import importlib.resources
import diffpbd.codegen, diffpbd.runtime.errors, diffpbd.templates
print(diffpbd.runtime.__file__)
print(importlib.resources.files("diffpbd.templates").joinpath("__init__.py").is_file())
"""


def source_files() -> set[str]:
    """Every file of the three folders, as the name that it has in the wheel."""
    return {
        f"diffpbd/{path.relative_to(ROOT).as_posix()}"
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and not LEFT_OUT & set(path.parts)
    }


def test_wheel_holds_every_file_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    with zipfile.ZipFile(tmp_path / build_wheel(str(tmp_path))) as wheel:
        names = wheel.namelist()
        entry = next(wheel.read(name).decode() for name in names if name.endswith("/entry_points.txt"))
    assert len(names) == len(set(names))
    assert {name for name in names if ".dist-info/" not in name} == source_files()
    assert "diffpbd = diffpbd.runtime.cli:main" in entry


def test_sdist_can_build_and_test_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    with tarfile.open(tmp_path / build_sdist(str(tmp_path))) as sdist:
        names = {name.split("/", 1)[1] for name in sdist.getnames() if "/" in name}
    needed = {"pyproject.toml", "Makefile", "LICENSE", "README.md", ".ci/build_hook.py", "tests/conftest.py"}
    assert needed <= names
    assert {name.removeprefix("diffpbd/") for name in source_files()} <= names
    assert not [name for name in names if name.startswith((".editable", ".venv", ".git/"))]


def test_editable_install_runs_the_files_of_the_checkout() -> None:
    """The suite itself runs from an editable install (or from its link folder)."""
    assert Path(diffpbd.runtime.__file__).resolve() == ROOT / "runtime" / "__init__.py"


@pytest.mark.soak
@pytest.mark.parametrize("editable", [True, False], ids=["editable", "wheel"])
def test_fresh_environment(tmp_path: Path, editable: bool) -> None:
    """Install without dependencies, import from elsewhere, uninstall leaves nothing importable."""
    venv.create(tmp_path / "v", with_pip=True)
    python = str(tmp_path / "v" / "bin" / "python")

    def run(*arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        return subprocess.run([python, *arguments], cwd=tmp_path, check=check, text=True, capture_output=True)

    run("-m", "pip", "install", "--quiet", "--no-deps", *(["--editable"] if editable else []), str(ROOT))
    where, has_template = run("-c", IMPORTS).stdout.split()
    assert (Path(where).resolve() == ROOT / "runtime" / "__init__.py") is editable
    assert has_template == "True"
    assert (tmp_path / "v" / "bin" / "diffpbd").is_file()
    run("-m", "pip", "uninstall", "--quiet", "--yes", "diffpbd")
    assert run("-c", "import diffpbd.runtime", check=False).returncode == 1
