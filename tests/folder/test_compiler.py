from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from diffpbd.runtime import DiffpbdError, InputError, load
from diffpbd.runtime.folder.compiler import COMPILE_FLAGS, Compilation, compile_flags, compile_library, find_compiler


@pytest.fixture
def folder(tmp_path: Path, build_twin: Callable[..., Path]) -> Path:
    return build_twin(tmp_path / "twin", compiled=False)


def test_the_result_tells_seconds_and_bytes(folder: Path) -> None:
    lines: list[str] = []
    result = compile_library(folder, "libtwin.so", progress=lines.append)
    assert result.library == folder / "libtwin.so"
    assert result.bytes == result.library.stat().st_size > 0
    assert result.seconds >= result.source_seconds["twin.c"] > 0
    assert result.source_bytes == {"twin.c": (folder / "src" / "twin.c").stat().st_size}
    assert lines and lines[0].startswith("compiled twin.c in")
    assert sorted(path.name for path in folder.iterdir()) == ["libtwin.so", "libtwin.so.sha256", "manifest.json", "src"]


def test_several_sources_become_one_library(folder: Path) -> None:
    (folder / "src" / "more.c").write_text("int more(void) { return 1; }\n", encoding="utf-8")
    result = compile_library(folder, "libtwin.so", jobs=2)
    assert set(result.source_seconds) == {"twin.c", "more.c"}
    load(folder)


def test_no_compiler(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="No C compiler was found: neither cc, gcc nor clang"):
        compile_library(folder, "libtwin.so")


def test_straight_line_sources_have_a_level_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIFFPBD_CFLAGS", "-O0 -g")
    assert compile_flags("derivatives.c") == (*COMPILE_FLAGS, "-O1", "-O0", "-g")  # the last one counts
    assert compile_flags("joint_step.c") == compile_flags() == (*COMPILE_FLAGS, "-O0", "-g")


def test_cc_names_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "cc -pipe")
    assert find_compiler() == ("cc", "-pipe")


def test_a_failure_keeps_the_previous_library(folder: Path) -> None:
    compile_library(folder, "libtwin.so")
    before = (folder / "libtwin.so").read_bytes()
    (folder / "src" / "twin.c").write_text("int broken(", encoding="utf-8")
    with pytest.raises(DiffpbdError, match=r"refused twin\.c"):
        compile_library(folder, "libtwin.so")
    assert (folder / "libtwin.so").read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == ["libtwin.so", "libtwin.so.sha256", "manifest.json", "src"]


def test_a_source_is_compiled_before_the_folder_has_its_header(folder: Path) -> None:
    (folder / "src" / "early.c").write_text('#include "later.h"\nint early(void) { return LATER; }\n', encoding="utf-8")
    with Compilation(folder) as compilation:
        compilation.add(folder / "src" / "early.c", {"later.h": "#define LATER 7\n"})
        (folder / "src" / "late.c").write_text("int late(void) { return 3; }\n", encoding="utf-8")
        compilation.add(folder / "src" / "late.c")
        library = ctypes.CDLL(str(compilation.finish("libboth.so").library))
    assert (library.early(), library.late()) == (7, 3)
    assert not (folder / "later.h").exists()


def test_what_still_compiles_is_stopped_when_the_rest_fails(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    slow, marker = tmp_path / "slow-cc", tmp_path / "started"
    slow.write_text(f"#!/bin/sh\ntouch {marker}\nsleep 60\n", encoding="utf-8")
    slow.chmod(0o755)
    monkeypatch.setenv("CC", str(slow))
    with pytest.raises(RuntimeError, match="derivation"), Compilation(folder) as compilation:
        compilation.add(folder / "src" / "twin.c")
        while not marker.exists():
            time.sleep(0.01)
        started = time.perf_counter()
        raise RuntimeError("derivation")
    assert time.perf_counter() - started < 20.0
    monkeypatch.setenv("CC", "false")
    with Compilation(folder) as compilation:
        compilation.add(folder / "src" / "twin.c")
        with pytest.raises(DiffpbdError, match=r"refused twin\.c"):
            while True:  # the next source is refused as soon as the compiler has complained
                compilation.check()
                time.sleep(0.01)


def test_flags_of_the_user_come_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIFFPBD_CFLAGS", "-O0 -g")
    assert compile_flags() == (*COMPILE_FLAGS, "-O0", "-g")
