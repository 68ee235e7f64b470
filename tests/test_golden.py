"""The golden helper itself: it must be able to fail, and to accept."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.golden import check_golden


def check(folder: Path, actual: dict[str, bytes], committed: set[str], *, update: bool = False) -> None:
    check_golden(folder, actual, update=update, committed=committed, command="make accept")


def test_golden_tells_names_then_contents_then_accepts(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_bytes(b"one\n")
    (tmp_path / "old.c").write_bytes(b"gone\n")
    committed = {"a.c", "old.c"}

    check(tmp_path, {"a.c": b"one\n", "old.c": b"gone\n"}, committed)
    names = r"no longer written: \['old.c'\]; new .*\['sub/b.c'\](.|\n)*make accept"
    with pytest.raises(AssertionError, match=names):
        check(tmp_path, {"a.c": b"one\n", "sub/b.c": b"new\n"}, committed)
    with pytest.raises(AssertionError, match=r"a.c changed:(.|\n)*-one(.|\n)*\+two(.|\n)*make accept"):
        check(tmp_path, {"a.c": b"two\n", "old.c": b"gone\n"}, committed)
    with pytest.raises(AssertionError, match="binary, 4 bytes before, 2 now"):
        check(tmp_path, {"a.c": b"\xff\xfe", "old.c": b"gone\n"}, committed)

    accepted = {"a.c": b"two\n", "sub/b.c": b"new\n"}
    check(tmp_path, accepted, committed, update=True)
    assert not (tmp_path / "old.c").exists()
    check(tmp_path, accepted, set(accepted))
