"""What is known of masses besides the recordings: restricted least squares by hand, a drawn arm, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from support.description.builders import BODY, joint, link, robot
from support.motions import EXACT, motion
from support.recordings.scenarios import Arm, Scenario, sets
from support.robots import generated

from diffpbd.runtime import Robot, load
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.cli import cli
from diffpbd.runtime.identify import Identification, Settings, identify
from diffpbd.runtime.logs.csv import Log, write_log
from diffpbd.runtime.logs.processing import Processing, Samples, process

NOISE = 0.3
MASSES = ("mass.lower", "mass.upper")
TRUTH = {"mass.upper": 1.1, "mass.lower": 0.8}
TOTAL = sum(TRUTH.values())
CONTRADICT = "the recordings contradict"


@pytest.fixture(scope="module")
def pendulum() -> Robot:
    return load(generated("double_pendulum", symbolic=("mass", "com", "inertia")))


def noisy(robot: Robot, seed: int) -> list[Samples]:
    clean = motion(robot, TRUTH, seconds=4.0)
    assert clean.tau is not None
    rng = np.random.default_rng(seed)
    return process("run", replace(clean, tau=clean.tau + NOISE * rng.normal(size=clean.tau.shape)), EXACT)


def weighed(robot: Robot, run: list[Samples], total: float | None, sigma: float = 0.0) -> Identification:
    return identify(robot, run, ["mass"], settings=Settings(total_mass=total, total_mass_sigma=sigma))


def by_hand(robot: Robot, run: list[Samples]) -> tuple[np.ndarray, np.ndarray]:
    """Masses in the order of `MASSES` by least squares, and the inverse of their normal matrix with joints weighted."""
    (s,), rows, rights = run, [], []
    start = robot.inverse_dynamics(s.q, s.dq, s.ddq, robot.alpha.vector(dict.fromkeys(MASSES, 0.0)))
    ones = [
        robot.inverse_dynamics(s.q, s.dq, s.ddq, robot.alpha.vector({**dict.fromkeys(MASSES, 0.0), m: 1.0}))
        for m in MASSES
    ]
    A, y = np.stack([np.asarray(one) - start for one in ones], axis=-1), s.tau - start
    for j in range(robot.n):
        rows.append(A[:, j])
        rights.append(y[:, j])
    sigma = np.ones(robot.n)
    for _ in range(4):
        weighted = np.vstack([r / w for r, w in zip(rows, sigma, strict=True)])
        x = np.linalg.lstsq(weighted, np.concatenate([y / w for y, w in zip(rights, sigma, strict=True)]), rcond=None)[
            0
        ]
        sigma = np.array([np.std(y - r @ x) for r, y in zip(rows, rights, strict=True)])
    return x, np.linalg.inv(weighted.T @ weighted)


def test_an_exact_total_is_restricted_least_squares(pendulum: Robot) -> None:
    run = noisy(pendulum, 1)
    x, C = by_hand(pendulum, run)
    a = np.ones(2)
    expected = x + C @ a * (TOTAL - a @ x) / (a @ C @ a)
    result = weighed(pendulum, run, TOTAL)
    found = [result.parameters[m] for m in MASSES]
    assert sum(found) == pytest.approx(TOTAL, abs=1e-9)
    np.testing.assert_allclose(found, expected, atol=1e-2 * np.sqrt(C[0, 0]))
    stds = {e.name: e.std for e in result.estimates}
    assert stds["mass.upper"] == pytest.approx(stds["mass.lower"], rel=1e-6)  # what one gains the other loses
    assert stds["mass.lower"] == pytest.approx(np.sqrt((C - np.outer(C @ a, C @ a) / (a @ C @ a))[0, 0]), rel=0.3)


def test_a_total_with_a_deviation_is_weighed_against_the_recordings(pendulum: Robot) -> None:
    run = noisy(pendulum, 2)
    x, C = by_hand(pendulum, run)
    a, own = np.ones(2), float(np.sqrt(np.ones(2) @ C @ np.ones(2)))
    far = a @ x + 3.0 * own
    result = weighed(pendulum, run, far, own)
    K = C @ a / (a @ C @ a + own**2)
    np.testing.assert_allclose([result.parameters[m] for m in MASSES], x + K * (far - a @ x), atol=0.2 * own)
    stds = {e.name: e.std for e in result.estimates}
    for k, mass in enumerate(MASSES):
        assert stds[mass] == pytest.approx(np.sqrt((C - np.outer(K, a @ C))[k, k]), rel=0.3), mass
    assert any("together" in note for note in result.notes)


def test_deviations_are_those_of_repeated_fits(pendulum: Robot, count: Callable[[int, int], int]) -> None:
    off, rng = [], np.random.default_rng(7)
    for trial in range(count(10, 60)):
        result = weighed(pendulum, noisy(pendulum, 100 + trial), TOTAL + 0.01 * rng.normal(), 0.01)
        assert not any(CONTRADICT in note for note in result.notes)
        off += [(e.value - TRUTH[e.name]) / e.std for e in result.estimates if e.std]
    assert len(off) >= 18 and 0.6 < np.sqrt(np.mean(np.square(off))) < 1.5


def test_a_total_that_recordings_contradict_is_doubted_in_deviations(pendulum: Robot) -> None:
    run = noisy(pendulum, 3)
    free = weighed(pendulum, run, None)
    stds = {e.name: e.std for e in free.estimates}
    wrong = sum(free.parameters[m] for m in MASSES) + 1.0
    (note,) = [n for n in weighed(pendulum, run, wrong).notes if CONTRADICT in n]
    beyond = float(note.split(" by ")[1].split()[0])
    assert 1.0 / sum(v for v in stds.values() if v) < beyond < 1.5 / max(v for v in stds.values() if v)
    assert f"{wrong:.6g}" in note
    assert not any(CONTRADICT in n for n in weighed(pendulum, run, wrong, 2.0).notes)  # a scale that knows little


@cache
def arm() -> Arm:
    """Links l1 and l2 are symmetric about their xz planes; the centre of l0 is on its axis."""
    own = Arm.of(5)
    return replace(own, com=own.com * np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [1.0, 0.0, 1.0]]))


WIDTHS = {f"friction.transition_velocity.j{k}": 0.05 for k in range(3)}


Drawn = tuple[Robot, list[Samples]]


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Drawn:
    path = tmp_path_factory.mktemp("symmetric") / "symmetric.urdf"
    path.write_text(arm().urdf)
    own = load(generated(str(path), functions=("inverse_dynamics", "torque_terms")))
    ((log,),) = sets(arm(), Scenario(recordings=1), 1)
    assert log.tau is not None
    first = slice(0, 1200)
    log = Log(log.time[first], log.joints, log.q[first], log.dq[first], None, log.tau[first])
    return own, process("run", log, Processing())


def of_bodies(drawn: Drawn, fit: str = "inertials,friction", **known: object) -> Identification:
    return identify(*drawn, fit.split(","), start=WIDTHS, settings=Settings(**known))


def test_bodies_with_a_total_and_planes(drawn: Drawn) -> None:
    mass = float(arm().mass.sum())
    free, held = of_bodies(drawn), of_bodies(drawn, total_mass=mass, symmetric=["l1:xz", "l2:xz"])
    assert sum(held.parameters[f"mass.l{k}"] for k in range(3)) == pytest.approx(mass, abs=1e-9)
    zero = [f"{own.format(k)}" for k in ("l1", "l2") for own in ("com.{}.y", "inertia.{}.xy", "inertia.{}.yz")]
    assert not set(zero) & set(held.parameters) and set(zero) < set(free.parameters)
    assert not any(CONTRADICT in note for note in held.notes)
    assert any("the recordings alone do not determine it" in note for note in held.notes)
    assert len(held.base) < len(free.base) and held.rank < free.rank
    assert held.base and all(e.std is None or e.std > 0.0 for e in held.base)
    before = {e.name: e.std for e in free.estimates if e.std}
    closer = [e.std / before[e.name] for e in held.estimates if e.std and e.name in before]
    assert closer and max(closer) < 1.2
    off = [(e.value - arm().truth[e.name]) / e.std for e in held.estimates if e.std and e.name in arm().truth]
    assert len(off) >= 7 and np.abs(off).max() < 3.5


def test_a_plane_that_is_none_is_doubted_by_name(drawn: Drawn) -> None:
    (note,) = [n for n in of_bodies(drawn, symmetric="l1:xz,l2:xy").notes if CONTRADICT in n]
    assert note.startswith(f"{CONTRADICT} --symmetric l2:xy, by ")


def test_bodies_too_light_for_their_moments_are_doubted(pendulum: Robot) -> None:
    run = noisy(pendulum, 5)
    (note,) = [
        n for n in identify(pendulum, run, ["inertials"], settings=Settings(total_mass=0.1)).notes if CONTRADICT in n
    ]
    assert note.startswith(f"{CONTRADICT} --total-mass, by ") and "the residual of " in note
    fine = identify(pendulum, run, ["inertials"], settings=Settings(total_mass=TOTAL))
    assert not any(CONTRADICT in n for n in fine.notes)


def test_a_plane_that_only_an_impossible_body_has_is_doubted(pendulum: Robot) -> None:
    """With its COM on the plane the upper link's moment would be below zero; the recordings alone would not mind."""
    run = noisy(pendulum, 5)
    twice = identify(pendulum, run, ["inertials"], settings=Settings(symmetric=("upper:xy", "upper:xy")))
    (note,) = [n for n in twice.notes if CONTRADICT in n]
    assert note.startswith(f"{CONTRADICT} --symmetric upper:xy, by ") and "the residual of shoulder rises" in note
    assert len([n for n in twice.notes if "upper is held symmetric" in n]) == 1
    true = identify(pendulum, run, ["inertials"], settings=Settings(symmetric=("upper:xz", "lower:xz", "lower:yz")))
    assert not any(CONTRADICT in n for n in true.notes)


def test_a_mass_without_effect_is_what_the_scale_leaves(drawn: Drawn) -> None:
    mass = float(arm().mass.sum())
    result = of_bodies(drawn, "mass,friction", total_mass=mass + 0.2, total_mass_sigma=0.1)
    stds = {e.name: e.std for e in result.estimates}
    assert stds["mass.l0"] == pytest.approx(0.1, rel=0.1) and result.parameters["mass.l0"] == pytest.approx(
        arm().mass[0] + 0.2, abs=0.05
    )
    assert "mass.l0" not in [item.name for item in result.lost]


def test_links_that_are_one_body(tmp_path: Path) -> None:
    path = tmp_path / "tool.urdf"
    hand = joint("weld", "upper", "hand", "fixed")
    path.write_bytes(
        robot(link("base"), link("upper", BODY), link("hand", BODY), joint("shoulder", "base", "upper"), hand)
    )
    tool = load(generated(str(path)))
    run = process("run", motion(tool, {}, seconds=2.0), EXACT)
    with pytest.raises(
        InputError, match="hand is rigidly part of upper. If all of upper is symmetric: --symmetric upper:PLANE"
    ):
        identify(tool, run, ["inertials"], settings=Settings(symmetric=("hand:xz",)))
    (note, *_) = [
        n for n in identify(tool, run, ["inertials"], settings=Settings(total_mass=2.0)).notes if "--total-mass" in n
    ]
    assert "the mass of upper (with hand); the base base, which stands, is not part of it: 2 kg" in note


def test_the_command(pendulum: Robot, tmp_path: Path) -> None:
    (s,) = noisy(pendulum, 4)
    write_log(tmp_path / "run.csv", Log(s.time, s.joints, s.q, s.dq, None, s.tau))
    words = [
        "identify",
        str(generated("double_pendulum", symbolic=("mass", "com", "inertia"))),
        str(tmp_path / "run.csv"),
        "--fit",
        "inertials",
        "--total-mass",
        "1.9",
    ]
    done = CliRunner().invoke(
        cli, [*words, "--symmetric", "upper:xz", "--symmetric", "lower:xz", "--out", str(tmp_path / "p.json")]
    )
    assert done.exit_code == 0, done.output
    found = json.loads((tmp_path / "p.json").read_text())["parameters"]
    assert sum(found[m]["value"] for m in MASSES) == pytest.approx(1.9)
    assert "upper is held symmetric about the xz plane of its frame" in done.output
