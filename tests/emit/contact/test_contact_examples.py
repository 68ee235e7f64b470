"""The plans of docs/contact.md reach their goals."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest


def printed(root: Path, folder: Path, script: str, *words: str) -> str:
    path = root / "docs" / "examples" / "contact" / script
    return subprocess.run(
        [sys.executable, str(path), *words], cwd=folder, capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.soak
def test_the_ball_rests_at_its_goal(root: Path, tmp_path: Path) -> None:
    text = printed(root, tmp_path, "throw.py")
    off = re.search(r"([-+.0-9]+) mm off", text)
    spins = [float(x) for x in re.findall(r"spin (-[.0-9]+)", text)]
    assert off and abs(float(off[1])) < 1.0
    assert spins[0] == pytest.approx(spins[1], rel=0.01)
    roll = re.search(r"roll: ([.0-9]+) m/s, spin ([.0-9]+) rad/s; mechanics: ([.0-9]+) m/s, ([.0-9]+) rad/s", text)
    passes = re.search(r"passes ([-+.0-9]+) mm off", text)
    assert roll and passes and abs(float(passes[1])) < 0.1
    speed, spin, best_speed, best_spin = map(float, roll.groups())
    assert speed == pytest.approx(best_speed, rel=5e-3) and spin == pytest.approx(best_spin, rel=0.03)
    assert speed > 1.1 * 0.1 * spin, "it slides at first"


@pytest.mark.soak
def test_the_quadruped_stands(root: Path, tmp_path: Path) -> None:
    lines = printed(root, tmp_path, "stand.py").splitlines()
    still, held, shoved, stays = (re.search(r"feet \[(.*?)\] N", line) for line in lines[:4])
    for found, wanted, bar in ((still, (0.0, 0.0, 21.365), 2e-3), (held, (-5.0, -2.0, 21.365), 5e-3)):
        assert found and [float(x) for x in found[1].split()] == pytest.approx(wanted, abs=bar)
    assert shoved and stays and [float(x) for x in stays[1].split()] == pytest.approx((0.0, 0.0, 21.365), abs=5e-3)


@pytest.mark.soak
def test_friction_and_height_come_from_motion(root: Path, tmp_path: Path) -> None:
    lines = printed(root, tmp_path, "friction.py").splitlines()
    for line, bars in zip(lines, ((5e-4, 0.1), (2e-3, 0.15)), strict=True):
        friction, height = re.search(r"friction ([.0-9]+)", line), re.search(r"height ([.0-9]+)", line)
        assert friction and height
        assert float(friction[1]) == pytest.approx(0.22, abs=bars[0])
        assert float(height[1]) == pytest.approx(13.0, abs=bars[1])


@pytest.mark.soak
def test_the_block_rests_at_its_goal(root: Path, tmp_path: Path) -> None:
    text = printed(root, tmp_path, "push.py")
    off = re.search(r"off by ([.0-9]+) mm and ([-.0-9]+) deg", text)
    assert off and float(off[1]) < 0.8 and abs(float(off[2])) < 0.2
    played = {float(slip): float(mm) for slip, mm in re.findall(r"slip ([-.0-9e]+) m/s.*1e-05: ([.0-9]+) mm", text)}
    assert played[1e-4] < 1.0 and played[1e-2] > 5.0, "a plan at a small slip transfers"


@pytest.mark.soak
@pytest.mark.parametrize("seconds", ["2.5", "7.5"])
def test_baxter_wipes_the_table(root: Path, tmp_path: Path, seconds: str) -> None:
    """Who foresees the table presses as wanted and keeps the path; who does not, either does not press or drifts."""
    text = printed(root, tmp_path, "wipe.py", "wipe.png", seconds)
    lines = {line.split(":")[0]: line for line in text.splitlines()}
    figures = {
        name: [float(x) for x in re.findall(r"(?<![\w.])[-.0-9]+(?= N RMS| mm RMS| N,| %)", line)]
        for name, line in lines.items()
    }
    mean, error, off, share = figures["predictive"]
    assert mean == pytest.approx(10.0, abs=0.5) and error < 2.0 and off < 1.2 and share <= 100.0
    spring, fed, blind = (figures[name] for name in lines if name.startswith("impedance") or "no table" in name)
    assert spring[2] > 2.0 * off and fed[2] > off and min(spring[1], fed[1]) > error
    assert blind[0] < 3.0 and blind[1] > 4.0 * error
    assert f"{100 * float(seconds):.0f} solved" in lines["ticks of predictive control"]
    assert (tmp_path / "wipe.png").stat().st_size > 20_000


@pytest.mark.soak
def test_the_quadruped_balances(root: Path, tmp_path: Path) -> None:
    text = printed(root, tmp_path, "balance.py", "balance.png")
    off = [[float(x) for x in found.split()] for found in re.findall(r"base \[(.*?)\] mm", text)]
    still, pushed, shoved, stays = (float(np.hypot(*one[:2])) for one in off)
    assert still < 1.0 and 10.0 < pushed < 25.0 and 25.0 < shoved < 80.0 and stays < 45.0
    assert "ticks: 500 solved" in text
    turned, torque = (re.search(words, text) for words in (r"turned by ([.0-9]+) deg", r"at most ([.0-9]+) N m"))
    assert turned and torque and float(turned[1]) < 3.0 and float(torque[1]) <= 3.0
    feet = re.findall(r"feet \[(.*?)\] N", text)
    assert float(feet[0].split()[2]) == pytest.approx(21.4, abs=0.2)
