"""A folder replaced by another, killed before every step on the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from diffpbd.runtime.folder import exchange
from diffpbd.runtime.folder.exchange import OLD_SUFFIX, replace_folder, restore_folder

CHILD = """
import os, shutil, signal, sys
from pathlib import Path
from diffpbd.runtime.folder import exchange

kill_before, plain = int(sys.argv[1]), sys.argv[2] == "plain"
count = 0


def counted(function):
    def call(*args, **kwargs):
        global count
        if count == kill_before:
            os.kill(os.getpid(), signal.SIGKILL)
        count += 1
        return function(*args, **kwargs)

    return call


for module, name in ((os, "rename"), (os, "unlink"), (os, "rmdir"), (exchange, "_exchanged")):
    setattr(module, name, counted(getattr(module, name)))
if plain:
    exchange._exchanged = lambda *_: False
exchange.replace_folder(Path(".robot.x"), Path("robot"))
shutil.rmtree(".robot.x", ignore_errors=True)
"""


def made(folder: Path) -> Path:
    for name, content in (("robot", "old"), (".robot.x", "new")):
        (folder / name).mkdir(parents=True)
        for file in ("a", "b"):
            (folder / name / file).write_text(content)
    return folder


def content(folder: Path) -> set[str]:
    assert {path.name for path in folder.iterdir()} == {"a", "b"}
    return {path.read_text() for path in folder.iterdir()}


@pytest.mark.thorough
@pytest.mark.parametrize("way", ["exchange", "plain"])
def test_a_kill_before_any_step_leaves_one_of_the_two_whole(way: str, tmp_path: Path) -> None:
    seen, killed, step = [], True, 0
    while killed:
        folder = made(tmp_path / str(step))
        done = subprocess.run([sys.executable, "-c", CHILD, str(step), way], cwd=folder, check=False)
        killed = done.returncode == -signal.SIGKILL
        assert killed or done.returncode == 0
        if way == "exchange":
            assert (folder / "robot").is_dir()  # at every moment, without anybody's help
        restore_folder(folder / "robot")
        seen.append(content(folder / "robot"))
        step += 1
    assert seen[0] == {"old"} and seen[-1] == {"new"}
    assert step >= 3 and all(len(found) == 1 for found in seen)
    assert not (folder / ".robot.x").exists()


def test_there_is_an_exchange_here(tmp_path: Path) -> None:
    """The test above would pass without."""
    folder = made(tmp_path)
    if sys.platform not in ("linux", "darwin"):
        pytest.skip("no system call for it")
    assert exchange._exchanged(folder / "robot", folder / ".robot.x")
    assert content(folder / "robot") == {"new"} and content(folder / ".robot.x") == {"old"}


def test_what_another_process_replaces_is_not_put_back(tmp_path: Path) -> None:
    folder = made(tmp_path)
    os.rename(folder / "robot", folder / f".robot.x{OLD_SUFFIX}")
    lock = os.open(folder / ".robot.x", os.O_RDONLY)
    exchange.fcntl.flock(lock, exchange.fcntl.LOCK_EX)
    restore_folder(folder / "robot")
    assert not (folder / "robot").exists()
    os.close(lock)
    restore_folder(folder / "robot")
    assert content(folder / "robot") == {"old"}


def test_failures_are_told_and_change_nothing(tmp_path: Path) -> None:
    folder = made(tmp_path)
    with pytest.raises(OSError):
        replace_folder(folder / "nowhere", folder / "robot")
    assert content(folder / "robot") == {"old"}
