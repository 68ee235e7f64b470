from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from diffpbd.runtime import DiffpbdError, InputError, load
from diffpbd.runtime.compiler import COMPILE_FLAGS, compile_flags, compile_library, find_compiler


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


def test_cc_names_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "cc -pipe")
    assert find_compiler() == ("cc", "-pipe")
    monkeypatch.setenv("CC", "no-such-cc")
    with pytest.raises(InputError, match="CC, 'no-such-cc', was not found"):
        find_compiler()


def test_a_failure_keeps_the_previous_library(folder: Path) -> None:
    compile_library(folder, "libtwin.so")
    before = (folder / "libtwin.so").read_bytes()
    (folder / "src" / "twin.c").write_text("int broken(", encoding="utf-8")
    with pytest.raises(DiffpbdError, match=r"refused twin\.c"):
        compile_library(folder, "libtwin.so")
    assert (folder / "libtwin.so").read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == ["libtwin.so", "libtwin.so.sha256", "manifest.json", "src"]


def test_no_sources(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no C sources"):
        compile_library(tmp_path, "libx.so")


@pytest.mark.parametrize("variable", ["CC", "DIFFPBD_CFLAGS"])
def test_an_open_quote_is_named(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, "'-O0")
    with pytest.raises(InputError, match=f"environment variable {variable}, .*No closing quotation"):
        (find_compiler if variable == "CC" else compile_flags)()


def test_flags_of_the_user_come_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIFFPBD_CFLAGS", "-O0 -g")
    assert compile_flags() == (*COMPILE_FLAGS, "-O0", "-g")
