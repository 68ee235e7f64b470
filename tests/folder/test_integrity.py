"""Who may write into a generated folder, and whether its library is the one that was compiled."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from diffpbd.codegen.emit.text.environment import render
from diffpbd.runtime import InputError, load
from diffpbd.runtime.folder.compiler import compile_library
from diffpbd.runtime.folder.integrity import record_library


@pytest.fixture
def folder(tmp_path: Path, twin_folder: Path) -> Path:
    return Path(shutil.copytree(twin_folder, tmp_path / "twin"))


FOREIGN = """#include <stdio.h>
__attribute__((constructor)) static void f(void) { fclose(fopen("%s", "w")); }
"""


def test_a_replaced_library_never_runs(folder: Path, tmp_path: Path) -> None:
    """Its constructors would run at the first dlopen."""
    ran = tmp_path / "ran"
    (tmp_path / "foreign.c").write_text(FOREIGN % ran)
    library = folder / "libtwin.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(tmp_path / "foreign.c")], check=True)
    with pytest.raises(InputError, match=r"libtwin.so is not the library that was compiled.*make -C \S+ shared"):
        load(folder)
    assert not ran.exists()
    record_library(library)  # with its hash recorded it is opened, and found to be another one
    with pytest.raises(InputError, match="has no symbol"):
        load(folder)
    assert ran.exists()


@pytest.mark.parametrize("content", [None, "", "0" * 64 + "  libtwin.so\n", "\xff"])
def test_without_its_hash_a_library_is_refused(folder: Path, content: str | None) -> None:
    record = folder / "libtwin.so.sha256"
    if content is None:
        record.unlink()
    else:
        record.write_text(content, encoding="latin-1")
    with pytest.raises(InputError, match=r"libtwin\.so.*Compile it again"):
        load(folder)


def test_a_library_outside_the_folder_is_refused(folder: Path) -> None:
    library = folder / "libtwin.so"
    shutil.move(library, folder.parent / "elsewhere.so")
    library.symlink_to(folder.parent / "elsewhere.so")
    with pytest.raises(InputError, match="leads out of its folder"):
        load(folder)


@pytest.mark.parametrize("name", [".", "src", "src/twin.c", "manifest.json", "libtwin.so", "libtwin.so.sha256"])
def test_what_all_may_write_is_refused_by_name(folder: Path, name: str) -> None:
    path = folder / name
    mode = path.stat().st_mode
    path.chmod(mode | 0o020)
    load(folder)  # a group is somebody's choice
    path.chmod(mode | 0o002)
    with pytest.raises(InputError, match=rf"{path} may be written by every user.*chmod o-w {path}"):
        load(folder)


def test_a_umask_of_zero_is_mended(build_twin: Callable[..., Path], tmp_path: Path) -> None:
    folder = build_twin(tmp_path / "twin", compiled=False)
    mask = os.umask(0)
    try:
        compile_library(folder, "libtwin.so")
    finally:
        os.umask(mask)
    load(folder)


def make(folder: Path, path: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **({} if path is None else {"PATH": path})}
    words = [shutil.which("make") or "make", "-C", str(folder), f"CC={shutil.which('cc')}", "CFLAGS=-O0", "shared"]
    return subprocess.run(words, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def with_makefile(folder: Path) -> Path:
    (folder / "Makefile").write_text(render("Makefile", robot="twin", sources=["src/twin.c"]))
    (folder / "twin.h").touch()
    (folder / "libtwin.so").unlink()
    return folder


@pytest.mark.parametrize("tool", ["sha256sum", "shasum", "openssl", "python3"])
def test_make_records_the_hash_with_what_there_is(with_makefile: Path, tmp_path: Path, tool: str) -> None:
    found = shutil.which(tool)
    if found is None:
        pytest.skip(f"no {tool}")
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("sh", "rm", "as", "ld"):
        (tools / name).symlink_to(str(shutil.which(name)))
    (tools / tool).write_text(f'#!/bin/sh\nPATH="{os.environ["PATH"]}" exec {found} "$@"\n')  # a script may want more
    (tools / tool).chmod(0o755)
    done = make(with_makefile, str(tools))
    assert done.returncode == 0, done.stderr
    load(with_makefile)


def test_make_says_where_it_cannot_record_the_hash(with_makefile: Path, tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("sh", "rm", "as", "ld"):
        (tools / name).symlink_to(str(shutil.which(name)))
    done = make(with_makefile, str(tools))
    assert done.returncode != 0
    assert "none of sha256sum, shasum, openssl and python3" in done.stderr
    assert not (with_makefile / "libtwin.so").exists() and not (with_makefile / "libtwin.so.sha256").exists()
