"""Causes that compete: the right one is named with what it mends, a gain comes last; where two are alike, none is named."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.motions import motion
from support.robots import generated, loaded
from support.spoiled.arm import URDF

from diffpbd.runtime import Robot, load
from diffpbd.runtime.causes.catalogue import MISSING
from diffpbd.runtime.causes.missing import Candidate
from diffpbd.runtime.identify import Identification, Wanted, identify, read_recordings
from diffpbd.runtime.identify.causes import evidence
from diffpbd.runtime.identify.causes.competition import MARGIN, WORTH, Grams, won
from diffpbd.runtime.logs.csv import Log
from diffpbd.runtime.logs.processing import Processing, Samples, process
from diffpbd.runtime.logs.recording import Reading

FUNCTIONS = ("inverse_dynamics", "torque_terms")
JOINTS = ("shoulder", "elbow")
FRICTION = {
    f"friction.{kind}.{joint}": value for joint in JOINTS for kind, value in (("coulomb", 0.3), ("viscous", 0.5))
}


@pytest.fixture(scope="module")
def arm(shared: Path) -> Robot:
    """Two parallel joints under gravity."""
    return load(
        generated(str(next((shared / "cases").glob("Q10-*")) / "arm.urdf"), symbolic=("mass", "com", "inertia"))
    )


def recorded(robot: Robot, truth: Mapping[str, float], gain: float = 1.0) -> list[Samples]:
    """Two recordings with noise; the elbow's sensor has a gain."""
    found = []
    for seed in (1, 2):
        log = motion(robot, {**FRICTION, **truth}, seed=seed, seconds=12.0, noise=0.01)
        assert log.tau is not None
        tau = log.tau * (1.0, gain)
        found += process(f"run {seed}", Log(log.time, log.joints, log.q, log.dq, None, tau), Processing(trim=0.5))
    return found


def hints(result: Identification) -> list[str]:
    return [note for note in result.notes if " reads as if " in note]


def values(result: Identification) -> dict[str, float]:
    return {e.name: e.value for e in result.estimates}


def test_a_load_is_named_before_gains_and_the_cure_gives_the_truth_back(arm: Robot) -> None:
    run = recorded(arm, {"payload.mass": 0.8, "payload.com.x": 0.05})
    (said,) = hints(identify(arm, run, ["friction"]))
    figure = re.search(r"it carried ([\d.]+) kg at its tip", said)
    assert figure and 0.6 < float(figure[1]) < 1.1 and "Try payload in --fit" in said, said
    mended = identify(arm, run, ["friction", "payload"])
    assert not hints(mended), mended.notes
    found = values(mended)
    assert all(found[name] == pytest.approx(value, abs=0.02) for name, value in FRICTION.items()), found


def test_masses_that_are_off_are_no_gain(arm: Robot) -> None:
    defaults = dict(zip(arm.alpha.names, arm.alpha.defaults.tolist(), strict=True))
    light = {n: 0.7 * v for n, v in defaults.items() if n.startswith(("mass.", "inertia."))}
    light |= {n: 0.9 * v for n, v in defaults.items() if n == "com.arm.x"}
    (said,) = hints(identify(arm, recorded(arm, light), ["friction"]))
    assert "masses" in said and "Try inertials in --fit" in said
    assert not hints(identify(arm, recorded(arm, light), ["friction", "inertials"]))


def test_a_gain_is_named_where_no_masses_explain_it_and_errors_stay_in_units_of_the_reading(arm: Robot) -> None:
    run = recorded(arm, {}, gain=1.4)
    plain = identify(arm, run, ["friction"])
    (said,) = hints(plain)
    assert "joint elbow reads as if it had a sensor gain of 1.4 (" in said and "Try sensor.gain.elbow in --fit" in said
    mended = identify(arm, run, ["friction", "sensor.gain.elbow"])
    assert not hints(mended)
    assert values(mended)["sensor.gain.elbow"] == pytest.approx(1.4, abs=5e-3)
    measured = np.vstack([trace.measured for trace in mended.train.traces])
    assert measured == pytest.approx(np.vstack([trace.measured for trace in plain.train.traces]), abs=1e-12)


@pytest.mark.thorough
def test_a_sound_baxter_has_no_gains(shared: Path) -> None:
    robot = loaded("baxter")
    logs = sorted(str(p) for p in (shared / "data" / "baxter_left_100hz").glob("train_*"))[:2]
    train, _ = read_recordings(robot, logs, Wanted(Reading(rate=99.0099), Processing()))
    said = hints(identify(robot, train, ["friction", "spring"]))
    assert not [text for text in said if "gain of" in text.split("(")[0] or "sensor.gain" in text], said
    assert any("Try inertials" in text for text in said), said


@pytest.mark.parametrize(("there", "named"), [(1.0, True), (0.0, False)])
def test_what_holds_at_some_positions_alone_is_not_named(arm: Robot, there: float, named: bool) -> None:
    """An offset of the elbow's torque, everywhere or not in the upper third of its positions, where it would be wrong."""
    runs = []
    for s in recorded(arm, {}):
        upper = np.quantile(s.q[:, 1], 2.0 / 3.0)
        more = 0.3 * np.where(s.q[:, 1] > upper, there, 1.0)
        runs.append(replace(s, tau=s.tau + np.column_stack([0.0 * more, more])))
    said = hints(identify(arm, runs, ["friction.coulomb", "friction.viscous"]))
    assert any("its sensor had an offset of" in text for text in said) is named, said


def test_a_step_is_looked_for_in_the_whole_recording(arm: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many recordings causes are compared on the middle of each, and a step may lie outside of that."""
    monkeypatch.setattr(evidence, "MOST", 800)
    runs = [replace(s, tau=s.tau + [0.0, 1.0] * (s.time > 9.0)[:, None]) for s in recorded(arm, {})[:1]]
    (said,) = hints(identify(arm, runs, ["friction"]))
    found = re.search(r"zero stepped by ([\d.]+) N·m at about ([\d.]+) s", said)
    assert found and float(found[1]) == pytest.approx(1.0, abs=0.1) and float(found[2]) == pytest.approx(9.0, abs=0.5)


@pytest.mark.thorough
def test_a_sound_baxter_has_no_steps(shared: Path) -> None:
    """Eleven recordings, of which no residual has a step that explains more than 13 % of its squares."""
    robot, folder = loaded("baxter"), shared / "data" / "baxter_left_100hz"
    wanted = Wanted(Reading(rate=99.0099), Processing())
    train, _ = read_recordings(robot, [str(path) for path in sorted(folder.glob("train_*"))], wanted)
    said = hints(identify(robot, train, ["friction", "spring"]))
    assert not [text for text in said if "stepped" in text or "drifted" in text], said
    assert any("Try inertials" in text for text in said), said


FOLDS, COUNT = 6, 100.0


def grams(leaves: Mapping[str, float]) -> tuple[Grams, list[Candidate]]:
    """Causes with one column each, orthogonal, that leave this part of a joint's residual."""
    kinds, by_kind = list(leaves), {own.kind: own for own in MISSING}
    squares = np.eye(len(kinds) + 1)
    for k, kind in enumerate(kinds):
        squares[k, -1] = squares[-1, k] = np.sqrt(1.0 - leaves[kind] ** 2)
    squares *= COUNT
    shape = (FOLDS, 1, *squares.shape)
    found = Grams(np.broadcast_to(squares, shape), np.full((FOLDS, 1), COUNT), np.zeros(0, dtype=np.intp), np.zeros(1))
    return found, [Candidate(by_kind[kind], "j", kind, (k,)) for k, kind in enumerate(kinds)]


@pytest.mark.parametrize(
    ("leaves", "named"),
    [
        ({"delay": 1.0 - WORTH + 0.01}, None),
        ({"delay": 1.0 - WORTH - 0.01}, "delay"),
        ({"delay": 0.5, "rotor": 0.5 * (1.0 + MARGIN) - 0.01}, None),
        ({"delay": 0.5, "rotor": 0.5 * (1.0 + MARGIN) + 0.01}, "delay"),
        ({"gain": 0.5, "masses": 0.5}, "masses"),
        ({"gain": 0.5, "masses": 0.5 * (1.0 + MARGIN) - 0.01}, "masses"),
        ({"gain": 0.3, "masses": 0.5}, "gain"),
        ({"load": 0.5, "masses": 0.48}, "load"),
        ({"load": 0.5, "masses": 0.3}, "masses"),
        ({"offset": 0.5, "load": 0.44}, "offset"),
        ({"offset": 0.5, "load": 0.40}, "load"),
    ],
)
def test_the_margin_from_both_sides(leaves: dict[str, float], named: str | None) -> None:
    own, causes = grams(leaves)
    winner = won(own, causes, [0], lambda _cause, _figure: True)
    assert (winner.cause.cause.kind if winner else None) == named


def test_what_helps_in_a_few_folds_alone_is_not_named() -> None:
    own, causes = grams({"delay": 0.5})
    squares = own.squares.copy()
    squares[:2, :, 0, -1] = squares[:2, :, -1, 0] = 0.0
    assert won(own, causes, [0], lambda _c, _f: True) is not None
    assert won(Grams(squares, own.counts, own.fitted, own.floor), causes, [0], lambda _c, _f: True) is None


def test_the_filter_s_ends_are_no_disturbance(arm: Robot) -> None:
    # of 7 s at 1 kHz that end in full motion, half a period of the cut-off is more than the filter extends by default
    log = motion(arm, FRICTION, seed=1, seconds=7.0, rate=1000.0)
    found = identify(arm, process("run", log, Processing()), ["friction"])
    assert not hints(found), found.notes
    assert all(values(found)[name] == pytest.approx(value, abs=0.01) for name, value in FRICTION.items())


@pytest.fixture(scope="module")
def light(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    """The arm of the spoiled recordings with a sixth of its masses."""
    urdf = tmp_path_factory.mktemp("light") / "light.urdf"
    urdf.write_text(re.sub(r'(value|i..)="([\d.]+)"', lambda m: f'{m[1]}="{float(m[2]) / 6.0:g}"', URDF))
    return load(generated(str(urdf), functions=(*FUNCTIONS, "joint_step")))


@pytest.mark.parametrize(("h", "rotor"), [(0.01, 0.0), (0.002, 0.004)])
def test_a_simulation_s_step_is_no_scale_and_a_rotor_stays_one(light: Robot, h: float, rotor: float) -> None:
    truth = {f"friction.viscous.{j}": v for j, v in zip(light.joints, (0.6, 0.8, 0.05), strict=True)}
    alpha = light.alpha.vector({**truth, "rotor_inertia.waist": rotor})
    time, omega = h * np.arange(round(12.0 / h)), 2.0 * np.pi * np.array([[0.2, 0.25, 0.3], [0.4, 0.5, 0.6]])
    size, angle = np.array([[1.0, 0.6, 0.8], [0.6, 0.5, 0.5]]), time[:, None, None] * omega + np.arange(6).reshape(2, 3)
    q, dq = (size * np.sin(angle)).sum(axis=1), (size * omega * np.cos(angle)).sum(axis=1)
    torque = light.inverse_dynamics(q, dq, -(size * omega**2 * np.sin(angle)).sum(axis=1), alpha)
    (p, pd), rows = (q[0], dq[0]), []
    for u, at, rate in zip(torque, q, dq, strict=True):
        rows.append((p, pd, u + 5.0 * (at - p) + 0.2 * (rate - pd)))
        p, pd = light.joint_step(*rows[-1], h, alpha)
    q, dq, torque = (np.array(column) for column in zip(*rows, strict=True))
    run = process("run", Log(time, light.joints, q, dq, None, torque), Processing(trim=0.5))
    said = hints(identify(light, run, ["friction", "sensor.delay"]))
    causes = ["it had a rotor of 0.004"] if rotor else []
    causes += ["it were simulated from sample to sample by joint_step"]
    assert (
        sorted(own.split(" reads as if ")[1][: len(cause)] for own, cause in zip(sorted(said), causes, strict=True))
        == causes
    )
