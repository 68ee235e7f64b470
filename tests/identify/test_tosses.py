"""`--fit contact` of a free body from poses alone: tosses of our own finer step with noise, and those of a real cube."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from support.robots import CACHE, generated
from support.touching import tossed

from diffpbd.runtime import InputError, Robot, load
from diffpbd.runtime.commands.identify import command
from diffpbd.runtime.identify import Identification, Toss, fit_tosses, parted, read_tosses, select
from diffpbd.runtime.identify.tosses import width
from diffpbd.runtime.quaternions import moved

SAMPLE = 0.01
TRUTH = {
    "contact.friction.box": 0.25, "plane.height.table": 0.004, "com.box.z": 0.008,
    "inertia.box.xx": 0.0055, "inertia.box.yy": 0.0055, "inertia.box.zz": 0.0065,
}  # fmt: skip
FIT = ["contact", "com.box.z", "inertia.box.xx", "inertia.box.yy", "inertia.box.zz"]


@cache
def robot() -> Robot:
    folder = CACHE / "tosses"
    folder.mkdir(parents=True, exist_ok=True)
    mechanism, lines = tossed()
    path = mechanism.write(folder, "tossed", lines)
    return load(generated(str(path), functions=("joint_step", "jac_alpha_joint_step")))


def thrown(count: int, noise: float, seed: int = 0, finer: int = 4) -> list[Toss]:
    """Tosses of the box over the table by our own step, as many times finer, with noise of so many metres and as much turn."""
    rng, tosses = np.random.default_rng(seed), []
    for k in range(count):
        turn = rng.standard_normal(4)
        p = np.array([0.0, 0.0, 0.25, *(turn / np.linalg.norm(turn))])
        rate = np.concatenate([rng.normal(0.0, 0.7, 2), [-0.5], rng.normal(0.0, 4.0, 3)])
        P, _ = robot().rollout(p, rate, np.zeros((45 * finer, 6)), h=SAMPLE / finer, alpha=TRUTH)
        P = np.asarray(P)[::finer]
        tosses.append(Toss(f"toss {k}", SAMPLE, moved(True, P, noise * rng.standard_normal((len(P), 6)))))
    return tosses


def fitted(tosses: list[Toss], held: list[Toss] | None = None, fit: list[str] = FIT) -> Identification:
    r = robot()
    return fit_tosses(r, tosses, held or [], select(r, fit), r.alpha.vector(None), lambda _line: None)


def off(result: Identification) -> dict[str, float]:
    """How far every estimate is from the truth, in its deviations."""
    return {e.name: (e.value - TRUTH[e.name]) / e.std for e in result.estimates if e.std}


def test_friction_height_com_and_inertia_of_a_box_from_four_tosses() -> None:
    result = fitted(thrown(4, 2e-4), thrown(2, 2e-4, seed=1))
    away = off(result)
    assert set(away) == set(TRUTH)
    assert max(map(abs, away.values())) < 5.0, away
    found = {e.name: (e.value, e.std) for e in result.estimates}
    assert found["contact.friction.box"][0] == pytest.approx(0.25, abs=0.01)
    assert found["contact.friction.box"][1] < 0.01
    assert found["com.box.z"][0] == pytest.approx(0.008, abs=5e-4)
    assert "not used, 2 tosses" in " ".join(result.notes)


def test_width_is_that_of_the_box() -> None:
    r = robot()
    assert width(r, r.alpha.vector({"plane.height.table": 0.3})) == pytest.approx(2.0 * np.mean((0.1, 0.1, 0.05)))


def write(path: Path, tosses: list[Toss], header: str = "toss,time,x,y,z,qw,qx,qy,qz") -> Path:
    rows = [[k, i * t.h, *pose] for k, t in enumerate(tosses) for i, pose in enumerate(t.p)]
    path.write_text("\n".join([header, *(",".join(f"{x:.9g}" for x in row) for row in rows)]))
    return path


def test_the_command_reads_tosses_and_writes_parameters(tmp_path: Path) -> None:
    path = write(tmp_path / "tosses.csv", thrown(4, 2e-4))
    out = tmp_path / "params.json"
    words = [str(robot().folder), str(path), "--fit", "contact", "--split", "0.5", "--out", str(out)]
    result = CliRunner().invoke(command, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert "not used, 2 tosses" in result.output
    assert set(json.loads(out.read_text())["parameters"]) == {"contact.friction.box", "plane.height.table"}


def test_tosses_are_parted_by_chance_and_all_are_there() -> None:
    tosses = [Toss(str(k), 0.01, np.zeros((6, 7))) for k in range(10)]
    one, other = parted(tosses, 0.5, 0)
    assert sorted(t.name for t in one + other) == [str(k) for k in range(10)]
    assert [t.name for t in one] != [str(k) for k in range(5)]


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("toss,time,x,y,z,qw,qx,qy,q3", "expected the columns qw, qx, qy, qz"),
        ("toss,stamp,x,y,z,qw,qx,qy,qz", "no column time"),
        ("toss,time,x,y,z,qx,qw,qy,qz", ""),
    ],
)
def test_columns_by_name(tmp_path: Path, header: str, said: str) -> None:
    tosses = [Toss("0", 0.01, np.tile([0.0, 0.0, 1.0, 0.6, 0.8, 0.0, 0.0], (6, 1)))]
    path = write(tmp_path / "tosses.csv", tosses, header)
    if said:
        with pytest.raises(InputError, match=said):
            read_tosses(path, {})
    else:
        assert read_tosses(path, {})[0].p[0, 3:] == pytest.approx([0.8, 0.6, 0.0, 0.0])


def test_uneven_stamps_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "tosses.csv", [Toss("0", 0.01, np.tile([0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0], (8, 1)))])
    path.write_text(path.read_text().replace("0,0.03,", "0,0.036,"))
    with pytest.raises(InputError, match=r"even steps, found 0\.016"):
        read_tosses(path, {})
