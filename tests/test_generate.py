"""`generate` from the outside: what it leaves behind when all goes well, and when it does not."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.robots import generated, made_with

from diffpbd.codegen.generate import STAGES, _portable, generate
from diffpbd.codegen.heartbeat import NEARLY, Heartbeat, Stage
from diffpbd.runtime import load
from diffpbd.runtime.base.errors import DiffpbdError, InputError
from diffpbd.runtime.folder import exchange

PENDULUM = """<?xml version="1.0"?>
<robot name="one">
  <link name="base"/>
  <link name="rod">
    <inertial>
      <origin xyz="0 0 -0.5"/>
      <mass value="{mass}"/>
      <inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.001"/>
    </inertial>
  </link>
  <joint name="hinge" type="continuous">
    <parent link="base"/>
    <child link="rod"/>
    <axis xyz="0 1 0"/>
  </joint>
</robot>
"""
RECIPE = """name = "one"
urdf = "one.urdf"
base = "base"
tip = "rod"
functions = ["gravity"]
table = -0.5
"""


def recipe(folder: Path) -> Path:
    (folder / "one.urdf").write_text(PENDULUM.format(mass="1.25"))
    (folder / "one.toml").write_text(RECIPE)
    return folder / "one.toml"


@pytest.fixture
def one(tmp_path: Path) -> Path:
    """A recipe of one hinge, with the fewest variants: the quickest robot to generate."""
    return recipe(tmp_path)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A generated folder of it, to copy."""
    folder = tmp_path_factory.mktemp("built")
    generate(str(recipe(folder)), out=folder / "one")
    return folder / "one"


def test_a_table_travels_with_the_robot(built: Path) -> None:
    assert load(built).manifest.recipe.table == -0.5
    shipped = generated("double_pendulum")
    assert load(shipped).manifest.recipe.table is None and '"table"' not in (shipped / "manifest.json").read_text()


@pytest.fixture
def good(built: Path, tmp_path: Path) -> Path:
    """A generated folder of it."""
    return Path(shutil.copytree(built, tmp_path / "out" / "one"))


def files(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Content and time of every file."""
    return {
        path.relative_to(folder).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def only(folder: Path) -> None:
    """Nothing lies beside the folder."""
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_unchanged_is_fast_and_touches_nothing(good: Path, one: Path) -> None:
    before = files(good)
    started = time.process_time()
    result = generate(str(one), out=good)
    assert time.process_time() - started < 3.0
    assert result.unchanged and result.compile_seconds == 0.0
    assert files(good) == before
    only(good)


def test_unchanged_baxter_is_fast() -> None:
    folder = generated("baxter_bare")
    before = {name: times for name, (_, times) in files(folder).items()}
    started = time.process_time()
    assert generate("baxter_bare", out=folder, **made_with("baxter_bare")).unchanged
    seconds = time.process_time() - started
    print(f"unchanged baxter_bare: {seconds:.2f} s (bar 3 s)")
    assert seconds < 3.0
    assert {name: times for name, (_, times) in files(folder).items()} == before


def test_one_digit_of_a_mass_regenerates(good: Path, one: Path) -> None:
    """With the file's size and time stamp as before."""
    urdf = one.with_suffix(".urdf")
    stamp = urdf.stat()
    urdf.write_text(PENDULUM.format(mass="1.26"))
    os.utime(urdf, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert urdf.stat().st_size == stamp.st_size and urdf.stat().st_mtime_ns == stamp.st_mtime_ns
    heavy = load(good).gravity([1.0]).item()
    assert not generate(str(one), out=good).unchanged
    assert load(good).gravity([1.0]).item() == pytest.approx(heavy * 1.26 / 1.25, rel=1e-12)
    only(good)


@pytest.mark.parametrize("spoilt", ["src/functions.c", "one.h", "casadi/gravity.casadi", "README.md"])
def test_a_changed_or_missing_file_regenerates(good: Path, one: Path, spoilt: str) -> None:
    content = (good / spoilt).read_bytes()
    (good / spoilt).write_bytes(content + b" ")
    assert not generate(str(one), out=good).unchanged
    assert (good / spoilt).read_bytes() == content


def test_a_library_of_other_sources_is_refused_and_made_again(good: Path, one: Path, tmp_path: Path) -> None:
    shutil.copytree(good, tmp_path / "other")
    (one.with_suffix(".urdf")).write_text(PENDULUM.format(mass="2.5"))
    generate(str(one), out=tmp_path / "other")
    (tmp_path / "other" / "libone.so").unlink()  # never written over: this process has it mapped
    shutil.copy(good / "libone.so", tmp_path / "other" / "libone.so")
    with pytest.raises(InputError, match=r"libone.so is not the library that was compiled"):
        load(tmp_path / "other")
    shutil.copy(good / "libone.so.sha256", tmp_path / "other" / "libone.so.sha256")
    with pytest.raises(InputError, match=r"libone.so does not match its manifest: its hash is .*Compile it again"):
        load(tmp_path / "other")
    assert not generate(str(one), out=tmp_path / "other").unchanged
    load(tmp_path / "other")
    (good / "libone.so").unlink()
    with pytest.raises(InputError, match=r"libone.so does not exist. Compile it with `make -C"):
        load(good)


def test_sources_that_do_not_match_are_refused(good: Path) -> None:
    with (good / "src" / "functions.c").open("a") as file:
        file.write("\n")
    with pytest.raises(InputError, match="src/functions.c is not the file that was generated"):
        load(good)


def test_a_folder_of_someone_else_is_refused(one: Path, tmp_path: Path) -> None:
    foreign = tmp_path / "work" / "thesis"
    foreign.mkdir(parents=True)
    (foreign / "chapter.tex").write_text("years")
    for manifest in (None, "not JSON", '{"name": "a web page"}', "[1]"):
        if manifest is not None:
            (foreign / "manifest.json").write_text(manifest)
        before = files(foreign)
        with pytest.raises(InputError, match="thesis holds files that were not generated.*Choose another --out"):
            generate(str(one), out=foreign)
        assert files(foreign) == before
        only(foreign)
    file = tmp_path / "file"
    file.write_text("a file")
    with pytest.raises(InputError, match="file is a file"):
        generate(str(one), out=file)
    assert file.read_text() == "a file"


def test_an_empty_folder_is_filled_and_a_link_followed(one: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    (tmp_path / "link").symlink_to(target)
    generate(str(one), out=tmp_path / "link")
    assert (tmp_path / "link").is_symlink() and (target / "manifest.json").is_file()
    generate(str(one), out=tmp_path / "link", friction="urdf")
    assert (tmp_path / "link").is_symlink() and load(target).manifest.recipe.friction == "urdf"
    assert {path.name for path in tmp_path.iterdir()} == {"one.urdf", "one.toml", "target", "link"}


@pytest.mark.parametrize("out", ["/proc/diffpbd/one", "one.urdf/one"])
def test_an_unwritable_folder(one: Path, out: str) -> None:
    with pytest.raises(InputError, match="cannot be written: .*Choose another --out"):
        generate(str(one), out=one.parent / out)


@pytest.mark.parametrize("environment", [{"CC": "/nonexistent/cc"}, {"CC": "", "PATH": "/nonexistent"}])
def test_no_compiler(good: Path, one: Path, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]) -> None:
    """Told before anything is derived; the previous folder stays, and stays usable."""
    before = files(good)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    started = time.process_time()
    with pytest.raises(InputError, match="C compiler"):
        generate(str(one), out=good, friction="urdf")
    assert time.process_time() - started < 2.0
    assert files(good) == before
    only(good)
    assert generate(str(one), out=good).unchanged


def test_a_compiler_that_fails(good: Path, one: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = files(good)
    broken = tmp_path / "broken-cc"
    broken.write_text("#!/bin/sh\necho 'disk full' >&2\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setenv("CC", str(broken))
    with pytest.raises(DiffpbdError, match=r"(?s)exit code 3.*disk full"):
        generate(str(one), out=good, friction="urdf")
    assert files(good) == before
    only(good)


def test_silence_is_broken_by_what_is_being_done() -> None:
    lines: list[str] = []
    with Heartbeat(lines.append, period=0.05) as beat:
        beat.say("deriving")
        beat.note("compiled a.c")
        while len(lines) < 4:
            time.sleep(0.01)
    count = len(lines)
    assert lines[:3] == ["deriving", "compiled a.c", "deriving (0 s)"]
    time.sleep(0.2)
    assert len(lines) == count
    with Heartbeat(lines.append, period=600.0):
        started = time.perf_counter()
    assert time.perf_counter() - started < 60.0


def test_a_stage_knows_what_part_of_the_work_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """It goes on as fast as what came before, and never reaches the next stage by itself."""
    now = [100.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    stage = Stage("deriving", 0.2, 0.6, 10.0)  # 10 s for a fifth: 20 s for two more
    assert stage == "deriving" and stage.share == pytest.approx(0.2)
    now[0] += 10.0
    assert stage.share == pytest.approx(0.4) and stage.beside("compiled a.c").share == stage.share
    now[0] += 100.0
    assert stage.share == pytest.approx(0.2 + 0.4 * NEARLY) and NEARLY < 1.0
    assert Stage("reading", 0.0, 0.1, 0.0).share == 0.0


@pytest.mark.parametrize(
    ("robot", "options", "message"),
    [
        ("nowhere.urdf", {}, "nowhere.urdf is not a file; a shipped name"),
        ("text.urdf", {}, "not XML|not well-formed|XML"),
        ("one.urdf", {"base": "torso"}, "torso"),
        ("one.urdf", {"tip": ["gripper"]}, "gripper"),
        ("one.urdf", {"base": "rod", "tip": ["base"]}, "base"),
    ],
)
def test_bad_input_is_one_message(one: Path, robot: str, options: dict[str, object], message: str) -> None:
    (one.parent / "text.urdf").write_text("not a robot")
    out = one.parent / "new" / "one"
    with pytest.raises(InputError, match=message):
        generate(str(one.parent / robot), out=out, **options)
    assert not out.parent.exists()


COMPILER = """#!{python}
import pathlib, sys, time
pathlib.Path({started!r}).touch()
time.sleep(2.0)
sys.exit(1)
"""


@pytest.fixture
def slow_compiler(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """A compiler that tells by a file that it runs, and takes its time."""
    started, compiler = tmp_path / "started", tmp_path / "slow-cc"
    compiler.write_text(COMPILER.format(python=sys.executable, started=str(started)))
    compiler.chmod(0o755)
    yield compiler, started


SCRIPT = """
from pathlib import Path
from diffpbd.runtime.cli import main
main()
"""


@pytest.mark.thorough("2-True")
@pytest.mark.parametrize(
    ("number", "group"),
    [
        (signal.SIGINT, True),
        (signal.SIGKILL, True),
        *(pytest.param(number, False, marks=pytest.mark.soak) for number in (signal.SIGTERM, signal.SIGHUP)),
    ],
)
def test_interrupted_half_way(
    good: Path, one: Path, slow_compiler: tuple[Path, Path], number: signal.Signals, group: bool
) -> None:
    """While the compiler runs: Ctrl-C to the whole group, a polite and an impolite kill."""
    before = files(good)
    compiler, started = slow_compiler
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SCRIPT), "generate", str(one), "--out", str(good), "--friction", "urdf"],
        env={**os.environ, "CC": str(compiler)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    try:
        deadline = time.monotonic() + 300.0
        while not started.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        assert started.exists()
        (os.killpg if group else os.kill)(process.pid, number)
        _, errors = process.communicate(timeout=120.0)
    finally:
        process.kill()
    assert process.returncode != 0
    assert "Traceback" not in errors
    assert files(good) == before
    if number != signal.SIGKILL:
        only(good)
        return
    assert len(list(good.parent.iterdir())) == 2, "a killed process cannot clean up"
    assert not generate(str(one), out=good, friction="urdf").unchanged
    only(good)


def test_a_failure_while_the_folder_is_exchanged(good: Path, one: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C between the two renames of a file system that cannot exchange, the worst moment."""
    monkeypatch.setattr(exchange, "_exchanged", lambda *_: False)
    before = files(good)
    rename = os.rename

    def interrupted(source: object, target: object) -> None:
        if str(target) == str(good) and not str(source).endswith(".old"):
            raise KeyboardInterrupt
        rename(source, target)

    monkeypatch.setattr(os, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        generate(str(one), out=good, friction="urdf")
    assert files(good) == before
    only(good)


DETERMINISM = """
import sys
from pathlib import Path
from diffpbd.codegen.generate import generate
generate("double_pendulum", out=Path(sys.argv[1]), functions=["default"])
"""


def test_the_same_bytes_under_other_circumstances(tmp_path: Path) -> None:
    """Hash seed, working directory, locale, time zone, user and umask change nothing (P36)."""
    first = generated("double_pendulum", functions=("default",), variants=("variational_direct",))
    other = tmp_path / "elsewhere" / "other name"
    other.parent.mkdir()
    environment = {
        **os.environ,
        "PYTHONHASHSEED": "12345",
        "LC_ALL": "de_DE.UTF-8",
        "LANG": "de_DE.UTF-8",
        "TZ": "Asia/Tokyo",
        "USER": "someone",
        "HOME": str(tmp_path),
    }
    subprocess.run(
        [sys.executable, "-c", DETERMINISM, str(other)], cwd=other.parent, env=environment, check=True, umask=0o077
    )
    ours, theirs = (
        {
            name: content
            for name, (content, _) in files(folder).items()
            if not name.endswith((".so", ".sha256", ".o", ".a"))
        }
        for folder in (first, other)
    )
    assert sorted(ours) == sorted(theirs)
    assert [name for name in ours if ours[name] != theirs[name]] == []


def test_no_path_time_or_user_in_the_files() -> None:
    folder = generated("double_pendulum")
    words = [str(Path.home()), str(folder), os.environ.get("USER") or "root@", os.uname().nodename, "202"]
    for name, (content, _) in files(folder).items():
        if name.endswith((".so", ".sha256", ".o", ".a")) or name.startswith("casadi/"):
            continue
        text = content.decode()
        for word in words[:2]:
            assert word not in text, (name, word)
        assert not any(f" {year}-" in text for year in range(2020, 2040)), name


def test_the_command_in_the_files_names_every_option(one: Path, tmp_path: Path) -> None:
    lines: list[str] = []
    generate(
        str(one.with_suffix(".urdf")),
        out=tmp_path / "out",
        base="base",
        tip=["rod"],
        symbolic=["mass"],
        friction="urdf",
        progress=lines.append,
    )
    shares = [line.share for line in lines if isinstance(line, Stage)]
    assert all(0.0 < share < 1.0 for share in shares) and not isinstance(lines[0], Stage)
    begun = [k for k, (words, _) in enumerate(STAGES) if any(line.startswith(words) for line in lines)]
    assert begun == [0, 1, 3, 4], "its stages in their order, each with a share of the work"
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    command = "diffpbd generate one.urdf --base base --tip rod --symbolic mass --friction urdf"
    assert command in (tmp_path / "out" / "README.md").read_text()
    assert command in (tmp_path / "out" / "src" / "functions.c").read_text()
    assert manifest["recipe"]["symbolic"] == ["mass"]
    assert "mass.rod" in [entry["name"] for entry in manifest["alpha"]]


def test_the_command_finds_the_description_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was given, from the same place; of a file that lies elsewhere a machine's folder is not written down."""
    monkeypatch.chdir(tmp_path)
    for given, said in (
        ("arms/one.urdf", "arms/one.urdf"), ("../one.toml", "../one.toml"), ("baxter", "baxter"),
        (str(tmp_path / "arms" / "one.urdf"), "arms/one.urdf"), ("/elsewhere/one.urdf", "one.urdf"),
    ):  # fmt: skip
        assert _portable(given) == said


def test_an_input_in_the_folder_is_not_replaced_with_it(tmp_path: Path) -> None:
    """The folder is replaced as a whole; a description or a recipe that somebody put there would be gone."""
    folder = tmp_path / "one"
    folder.mkdir()
    source = recipe(folder)
    (folder / "manifest.json").write_text('{"generator": {"diffpbd": "0.0.1"}}', encoding="utf-8")
    (tmp_path / "link").symlink_to(folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for robot, out in ((source, folder), (folder / "one.urdf", folder), (source, tmp_path / "link")):
        with pytest.raises(InputError, match="which is replaced as a whole. Move it, or choose another --out"):
            generate(str(robot), out=out)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
