"""A library that was compiled quickly works at once, and gives way to the one that is compiled in full."""

from __future__ import annotations

import os
import shutil
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from diffpbd.runtime import load
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.folder.compiler import Compilation, quick_mark
from diffpbd.runtime.folder.finish import begin, complete, is_quick

LIBRARY = "libtwin.so"


@pytest.fixture
def folder(tmp_path: Path, twin_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The twin's folder with a quick library."""
    monkeypatch.delenv("DIFFPBD_CFLAGS")
    copy = Path(shutil.copytree(twin_folder, tmp_path / "twin"))
    with Compilation(copy, quick=True) as compilation:
        compilation.add(copy / "src" / "twin.c")
        compilation.finish(LIBRARY)
    return copy


def test_chosen_flags_win(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_quick(folder, LIBRARY)
    monkeypatch.setenv("DIFFPBD_CFLAGS", "-O1")
    with Compilation(folder, quick=True) as compilation:
        compilation.add(folder / "src" / "twin.c")
        compilation.finish(LIBRARY)
    assert not is_quick(folder, LIBRARY)


def test_an_open_robot_takes_the_full_library(folder: Path) -> None:
    robot = load(folder)
    old = robot.step
    before = robot.gravity([0.1, 0.2])
    assert robot._library.quick and not robot._library.finished()
    assert complete(folder, LIBRARY) and not is_quick(folder, LIBRARY)
    robot._library._look = 0.0  # it looks once a second
    assert np.array_equal(robot.gravity([0.1, 0.2]), before)
    assert not robot._library.quick and robot.step is not old
    assert not complete(folder, LIBRARY), "there is nothing left to do"
    assert not load(folder)._library.quick


def test_a_library_is_waited_for_that_is_replaced_just_now(folder: Path) -> None:
    record = folder / f"{LIBRARY}.sha256"
    right, wrong = record.read_text(encoding="ascii"), f"{'0' * 64}  {LIBRARY}\n"
    record.write_text(wrong, encoding="ascii")
    timer = threading.Timer(0.2, record.write_text, (right, "ascii"))
    timer.start()
    assert load(folder).gravity([0.1, 0.2]).shape == (2,)
    timer.join()
    record.write_text(wrong, encoding="ascii")
    quick_mark(folder / LIBRARY).unlink()
    with pytest.raises(InputError, match="is not the library that was compiled"):
        load(folder)


def test_nothing_is_put_into_a_folder_that_was_generated_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark, content = quick_mark(folder / LIBRARY), (folder / LIBRARY).read_bytes()
    run = Compilation._run

    def slow(self: Compilation, command: tuple[str, ...], what: str) -> None:
        run(self, command, what)
        mark.rename(mark.with_suffix(".gone"))
        mark.touch()

    monkeypatch.setattr(Compilation, "_run", slow)
    with pytest.raises(InputError, match="was generated anew while"):
        complete(folder, LIBRARY)
    assert (folder / LIBRARY).read_bytes() == content and mark.exists()


def test_the_background_does_it_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not begin(folder, LIBRARY), "off in tests"
    monkeypatch.delenv("DIFFPBD_BACKGROUND")
    assert begin(folder, LIBRARY)
    end = time.monotonic() + 60.0
    while is_quick(folder, LIBRARY) and time.monotonic() < end:
        time.sleep(0.05)
    assert not is_quick(folder, LIBRARY) and not begin(folder, LIBRARY)
    assert load(folder).gravity([0.1, 0.2]).shape == (2,)


def test_a_folder_that_cannot_be_written_works(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DIFFPBD_BACKGROUND")
    monkeypatch.setattr(os, "access", lambda _path, _mode: False)
    assert load(folder).gravity([0.1, 0.2]).shape == (2,) and not begin(folder, LIBRARY)
    assert is_quick(folder, LIBRARY)
