"""Wheel, sdist, editable install and plain checkout give the same import names for the folders at the top."""

from __future__ import annotations

import re
import subprocess
import sys
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
import importlib.resources, importlib.util
import diffpbd.codegen, diffpbd.templates
print(importlib.util.find_spec("diffpbd.runtime").origin)  # to run it would need numpy
print(importlib.resources.files("diffpbd.templates").joinpath("__init__.py").is_file())
"""

FIRST_USE = """
import diffpbd
robot = diffpbd.generate("double_pendulum")
diffpbd.simulate(robot, "gravity", duration=0.5).plot("run.png")
step = robot.jac_joint_step([0.3, 0.0], [0.0, 0.0], [0.0, 0.0])
print(str(step.dp_next_du.shape).replace(" ", ""))
"""
VERSIONS = ["3.10", "3.11", "3.12", "3.13", "3.14"]


def source_files() -> set[str]:
    """Every file of the package, as the name that it has in the wheel."""
    return {
        path.relative_to(ROOT).as_posix()
        for folder in ("", *FOLDERS)  # rglob does not enter links
        for path in (ROOT / "diffpbd" / folder).rglob("*")
        if path.is_file() and not LEFT_OUT & set(path.parts)
    }


def packed(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        entry = next(archive.read(name).decode() for name in names if name.endswith("/entry_points.txt"))
    assert len(names) == len(set(names))
    assert {"diffpbd/py.typed", "diffpbd/runtime/model/robot_functions.pyi"} <= set(
        names
    )  # type checkers read the marker there
    assert "diffpbd = diffpbd.command:main" in entry
    return {name for name in names if ".dist-info/" not in name}


def test_what_is_said_of_the_project_agrees() -> None:
    """Version, authors and licence of the citation are those of the package."""
    facts = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    version, author = re.search(r'^version = "(.*)"', facts, re.M), re.search(r'authors = \[{ name = "(.*)" }\]', facts)
    assert version is not None and author is not None
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## \[(\d.*?)\] - \d{4}-\d\d-\d\d$", changes, re.M)[0] == version[1]
    assert f"\nversion: {version[1]}\n" in cited and f'name: "{author[1]}"' in cited and "license: MIT" in cited


def test_a_release_refuses_another_tag_and_its_workflow_calls_it() -> None:
    done = subprocess.run([ROOT / ".ci" / "release", "v99.0"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "v99.0" in done.stderr and not (ROOT / "dist" / "diffpbd-99.0.tar.gz").exists()
    assert ".ci/release" in (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")


def test_wheel_holds_every_file_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert packed(tmp_path / build_wheel(str(tmp_path))) == source_files()


def test_sdist_can_build_and_test_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    with tarfile.open(tmp_path / build_sdist(str(tmp_path))) as sdist:
        names = {name.split("/", 1)[1] for name in sdist.getnames() if "/" in name}
        sdist.extractall(tmp_path / "unpacked")
    assert {"pyproject.toml", "Makefile", "LICENSE", "README.md", "tests/conftest.py"} | source_files() <= names
    assert not [name for name in names if name.startswith((".venv", ".git/", *(f"{folder}/" for folder in FOLDERS)))]
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    monkeypatch.chdir(unpacked)
    assert packed(tmp_path / build_wheel(str(tmp_path))) == source_files()


def test_the_command_takes_one_thread_of_blas_unless_told(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import sys, os, diffpbd.command; print('numpy' in sys.modules, os.environ['OPENBLAS_NUM_THREADS'])"
    for given, taken in ((None, "1"), ("3", "3")):
        monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
        if given:
            monkeypatch.setenv("OPENBLAS_NUM_THREADS", given)
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, text=True, capture_output=True)
        assert done.stdout.split() == ["True", taken]


def test_plain_checkout_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the checkout's top is the current folder, nothing has to be installed; links lead to the folders at the top."""
    monkeypatch.delenv("PYTHONPATH", raising=False)
    code = "import diffpbd.codegen, diffpbd.runtime, diffpbd.templates; print(diffpbd.runtime.__file__)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, text=True, capture_output=True)
    assert done.stdout.strip() == str(ROOT / "diffpbd" / "runtime" / "__init__.py")
    assert Path(diffpbd.runtime.__file__).resolve() == (ROOT / "diffpbd" / "runtime" / "__init__.py").resolve()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel that was built from the sdist."""
    folder = tmp_path_factory.mktemp("release")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        with tarfile.open(folder / build_sdist(str(folder))) as sdist:
            sdist.extractall(folder / "unpacked")
        patch.chdir(next((folder / "unpacked").iterdir()))
        return folder / build_wheel(str(folder))


def installed(version: str, folder: Path, *what: str) -> str:
    """The Python of an empty environment with the wheel in it; skips where that interpreter cannot be had."""
    found = [f"python{version}", *Path.home().glob(f".pyenv/versions/{version}.*/bin/python")]
    if not any(_environment(python, folder) for python in found):
        pytest.skip(f"no Python {version}")
    python = str(folder / "bin" / "python")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet"]
    subprocess.run([*pip, *what], check=True, text=True, capture_output=True)
    return python


def _environment(python: str | Path, folder: Path) -> bool:
    try:
        subprocess.run([python, "-m", "venv", "--without-pip", folder], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


@pytest.mark.thorough("3.10", "3.12", "3.13", "3.14")
@pytest.mark.parametrize("version", VERSIONS)
def test_the_release_is_that_version_on_every_python(version: str, wheel: Path, tmp_path: Path) -> None:
    """Every file compiles there, the door opens without numpy, and says the version of pyproject.toml."""
    python = installed(version, tmp_path / "v", "--no-deps", "--no-compile", str(wheel))
    (site,) = (tmp_path / "v").glob("lib/python*/site-packages")
    for code in (
        ["-m", "compileall", "-q", "-j1", str(site / "diffpbd")],
        ["-c", "import diffpbd; print(diffpbd.__version__)"],
    ):
        done = subprocess.run(
            [python, "-E", "-W", "error", *code], cwd=tmp_path, text=True, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    facts = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'\nversion = "{done.stdout.strip()}"\n' in facts


@pytest.mark.soak
@pytest.mark.parametrize("version", VERSIONS)
def test_the_release_generates_and_steps_on_every_python(version: str, wheel: Path, tmp_path: Path) -> None:
    """`pip install diffpbd[all]` into an empty environment, then a robot, a gradient and a picture."""
    python = installed(version, tmp_path / "v", f"diffpbd[all] @ {wheel.as_uri()}")
    done = subprocess.run([python, "-E", "-c", FIRST_USE], cwd=tmp_path, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] == "(2,2)" and (tmp_path / "run.png").stat().st_size > 10_000


@pytest.mark.soak
@pytest.mark.parametrize("editable", [True, False], ids=["editable", "wheel"])
def test_fresh_environment(tmp_path: Path, editable: bool) -> None:
    """Install without dependencies, import from elsewhere, uninstall leaves nothing importable."""
    venv.create(tmp_path / "v", with_pip=True)
    python = str(tmp_path / "v" / "bin" / "python")

    def run(*arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        return subprocess.run([python, "-E", *arguments], cwd=tmp_path, check=check, text=True, capture_output=True)

    run("-m", "pip", "install", "--quiet", "--no-deps", *(["--editable"] if editable else []), str(ROOT))
    where, has_template = run("-c", IMPORTS).stdout.split()
    assert (Path(where) == ROOT / "diffpbd" / "runtime" / "__init__.py") is editable
    assert has_template == "True"
    assert (tmp_path / "v" / "bin" / "diffpbd").is_file()
    run("-m", "pip", "uninstall", "--quiet", "--yes", "diffpbd")
    assert run("-c", "import diffpbd", check=False).returncode == 1
