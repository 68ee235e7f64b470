"""Recordings held against themselves and the robot: no mistake passes, nothing sound is doubted, thresholds from both sides."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.recordings.corruptions import corruptions
from support.robots import generated, loaded

from diffpbd.runtime import InputError, Robot, load
from diffpbd.runtime.causes.catalogue import SEEN
from diffpbd.runtime.causes.cause import Finding
from diffpbd.runtime.causes.checked import examine_parts, read_checked, read_examined
from diffpbd.runtime.causes.examination import examine, examine_torques
from diffpbd.runtime.causes.findings import expect_kinds, refuse, sound
from diffpbd.runtime.folder.manifest import Joint
from diffpbd.runtime.logs.mending import Mending, mended
from diffpbd.runtime.logs.processing import Processing, filter_parts
from diffpbd.runtime.logs.rates import rates_of
from diffpbd.runtime.logs.recording import Reading, Recording, read_recording

BAXTER_RATE = 99.0099


def found_in(recording: Recording, robot: Robot, *, unwrap: bool | None = None) -> list[Finding]:
    """As the commands look: the torques only of a recording that is sound otherwise."""
    r, findings = examine(recording, robot.manifest.robot.joints, unwrap=unwrap)
    if sound(findings):
        findings += examine_parts(robot, filter_parts("log", r, Processing(), breaks=r.breaks))
    return findings


def noisy(robot: Robot, seed: int, seconds: float = 20.0, about: float = 0.0) -> Recording:
    """Within the limits, joints without ends `about` a pose [rad]: encoder quanta, noise in rates and torques, friction."""
    rng = np.random.default_rng(seed)
    t = np.arange(int(100.0 * seconds)) / 100.0
    q, dq, ddq = np.zeros((3, len(t), robot.n))
    for k, joint in enumerate(robot.manifest.robot.joints):
        low, high = (
            (about - 2.0, about + 2.0) if joint.lower is None or joint.upper is None else (joint.lower, joint.upper)
        )
        q[:, k] = 0.5 * (low + high)
        for _ in range(3):
            omega, phase = rng.uniform(0.5, 3.0), rng.uniform(0.0, 6.0)
            size = min(0.1 * (high - low), 0.2 * (joint.velocity or 1.0) / omega)
            q[:, k] += size * np.sin(omega * t + phase)
            dq[:, k] += size * omega * np.cos(omega * t + phase)
            ddq[:, k] -= size * omega**2 * np.sin(omega * t + phase)
    truth = {f"friction.{kind}.{joint}": 0.04 for kind in ("coulomb", "viscous") for joint in robot.joints}
    tau = robot.inverse_dynamics(q, dq, ddq, robot.alpha.vector(truth))
    return Recording(
        "simulated", t, robot.joints, np.round(q / 4e-4) * 4e-4, dq + 0.01 * rng.normal(size=q.shape),
        None, tau + 0.02 * rng.normal(size=q.shape),
    )  # fmt: skip


@pytest.fixture(scope="module")
def arm2(shared: Path) -> Robot:
    """Two hinges, the first without ends."""
    return load(generated(str(shared / "cases" / "N02-wrapped-continuous-log" / "arm2.urdf")))


def physical(shared: Path, robot: Robot, pick: slice = slice(None)) -> list[Recording]:
    """Recordings of a Baxter's arm, without a time column."""
    files = sorted((shared / "data" / "baxter_left_100hz").glob("*.csv.gz"))[pick]
    assert files
    joints = robot.manifest.robot.joints
    return [read_examined(f, robot.joints, Reading(rate=BAXTER_RATE), joints).recording for f in files]


def test_physical_recordings_raise_no_alarm(shared: Path) -> None:
    robot = loaded("baxter")
    for recording in physical(shared, robot, slice(0, 7)):
        assert not recording.notes and not recording.breaks
        assert not examine_parts(robot, filter_parts("log", recording, Processing()))


def test_a_physical_recording_at_1_khz_raises_no_alarm(shared: Path) -> None:
    """Its torques need a description of that arm: see the test that identifies it."""
    path = shared / "data" / "panda_gaz2019_exciting_1khz.csv.gz"
    limits = (
        (2.8973, 2.175),
        (1.7628, 2.175),
        (2.8973, 2.175),
        (3.0718, 2.175),
        (2.8973, 2.61),
        (3.7525, 2.61),
        (2.8973, 2.61),
    )
    facts = [Joint(f"panda_joint{k + 1}", "revolute", "", "", "rad", -a, a, v, 87.0) for k, (a, v) in enumerate(limits)]
    checked = read_examined(path, [joint.name for joint in facts], Reading(), facts)
    assert len(checked.recording) > 20000 and not checked.findings and not checked.recording.notes


def test_noisy_simulated_recordings_raise_no_alarm(arm2: Robot) -> None:
    for robot, seed in ((arm2, 3), (loaded("baxter"), 4)):
        assert not found_in(noisy(robot, seed), robot)


def expect_every(
    recording: Recording, robot: Robot, heavy: Sequence[int], gain: float, turning: int | None = None
) -> int:
    """No mistake passes, each by a finding of its kind and joint."""
    assert not found_in(recording, robot)
    rate = 1.0 / float(np.median(np.diff(recording.time)))
    wanted = corruptions(robot.joints, rate, heavy, gain, turning)
    for wrong in wanted:
        findings = found_in(wrong.make(recording), robot, unwrap=False if "turns" in wrong.name else None)
        named = [f for f in findings if f.kind in wrong.kinds and wrong.joint in ("", f.joint)]
        assert named, (wrong.name, [f.text() for f in findings])
        assert all(f.mend and any(c.isdigit() for c in f.message) for f in named), wrong.name
        if wrong.joint:
            strangers = [f.text() for f in findings if f.joint not in (wrong.joint, "") and f.kind != "swapped"]
            assert not strangers, (wrong.name, strangers)
    return len(wanted)


def test_no_mistake_passes_in_a_simulated_recording(arm2: Robot) -> None:
    assert expect_every(noisy(arm2, 3, about=2.5), arm2, (0, 1), 1.0, turning=0) >= 40


@pytest.mark.thorough
def test_no_mistake_passes_in_a_physical_recording(shared: Path) -> None:
    robot = loaded("baxter")
    recording = physical(shared, robot, slice(3, 4))[0]
    heavy = tuple(robot.joints.index(joint) for joint in ("left_s0", "left_e1"))
    assert expect_every(recording, robot, heavy, 1.0) >= 40


def simple(dq: float = 1.0, seconds: float = 8.0, rate: float = 100.0) -> Recording:
    """One joint on a sine, rates times `dq`, without torque."""
    t = np.arange(int(seconds * rate)) / rate
    q = 0.5 * np.sin(2.0 * t)[:, None]
    return Recording("log", t, ("a",), q, dq * np.cos(2.0 * t)[:, None], None, None)


HINGE = Joint("a", "revolute", "", "", "rad", -1.0, 1.0, 2.0, 10.0)


def kinds(recording: Recording, joint: Joint | None = HINGE, unwrap: bool | None = None) -> list[tuple[str, bool]]:
    return [(f.kind, f.grave) for f in examine(recording, () if joint is None else (joint,), unwrap=unwrap)[1]]


@pytest.mark.parametrize(
    ("ratio", "found"),
    [
        (0.86, []), (1.14, []), (0.84, [False]), (1.16, [False]), (0.51, [False]), (0.49, [True]), (1.99, [False]),
        (2.02, [True]), (-1.0, [True]),
    ],
)  # fmt: skip
def test_the_ratio_of_rates_from_both_sides(ratio: float, found: list[bool]) -> None:
    slow = simple(ratio)
    assert kinds(slow, None) == [("rates", grave) for grave in found]


def test_slow_joints_say_nothing_about_their_rates() -> None:
    for size, said in ((0.018, 0), (0.023, 1)):
        r = simple(0.0)
        assert r.dq is not None
        small = replace(r, q=math.sqrt(2.0) * size * r.q)  # RMS speed
        assert len(kinds(small)) == said, size


@pytest.mark.parametrize(("delay", "found"), [(0.02, False), (0.03, True), (-0.02, False), (-0.03, True)])
def test_lags_from_both_sides(delay: float, found: bool) -> None:
    r = simple()
    late = replace(r, dq=np.cos(2.0 * (r.time - delay))[:, None])
    assert (("lag", False) in kinds(late)) == found
    (rate,) = rates_of(late)
    assert (
        rate is not None and rate.lag == pytest.approx(delay, abs=2e-3) and rate.ratio == pytest.approx(1.0, abs=0.01)
    )


@pytest.mark.parametrize(
    ("over", "found"), [(0.04, []), (0.06, [("limits", False)]), (1.9, [("limits", False)]), (2.1, [("limits", True)])]
)
def test_limits_from_both_sides(over: float, found: list[tuple[str, bool]]) -> None:
    r = simple()
    near = replace(r, q=r.q + (1.0 + over - r.q.max()))
    assert kinds(near) == found


def test_speeds_from_both_sides() -> None:
    for limit, found in ((0.51, []), (0.49, [("speed", False)]), (0.21, [("speed", False)]), (0.19, [("speed", True)])):
        assert kinds(simple(), replace(HINGE, velocity=limit)) == found
        slow = replace(simple(), dq=None)
        assert bool(kinds(slow, replace(HINGE, velocity=0.98 * limit))) == bool(found)


def test_jumps_from_both_sides() -> None:
    r = simple()
    for size, found in ((0.05, False), (0.2, True)):
        jumped = replace(r, q=r.q + size * (r.time > 4.0)[:, None])
        after, findings = examine(jumped, (HINGE,))
        assert [f.kind for f in findings] == ["jumps"] * found and after.breaks == ((401,) if found else ())
    turns = replace(r, q=(2.0 * r.time[:, None] + math.pi) % math.tau - math.pi, dq=np.full_like(r.q, 2.0))
    endless = replace(HINGE, type="continuous", lower=None, upper=None, velocity=None)
    after, findings = examine(turns, (endless,))
    assert not findings and "3 steps of 2π are taken out" in after.notes[0] and np.diff(after.q[:, 0]).min() > 0.0
    for joint, unwrap in ((endless, False), (None, None)):
        after, findings = examine(turns, () if joint is None else (joint,), unwrap=unwrap)
        assert findings[0].grave and "3 of them of a turn" in findings[0].message and "unwrap" in findings[0].mend
    assert not examine(turns, (), unwrap=True)[1]


def test_saturation_needs_motion_and_a_run() -> None:
    r = simple()
    tau = np.sin(2.0 * r.time)[:, None]
    for highest, found in ((0.9999, False), (0.99, True)):
        assert bool(kinds(replace(r, tau=np.minimum(tau, highest)))) == found
    still = replace(r, q=np.minimum(r.q, 0.45), dq=None, tau=np.minimum(tau, 0.9))
    assert not kinds(still)


def test_a_clock_that_counts_no_seconds() -> None:
    r = simple()
    for factor, unit in ((1e3, "ms"), (1e6, "us"), (1e9, "ns")):
        wrong = replace(r, time=factor * r.time)
        for without in (wrong, replace(wrong, dq=None)):
            (finding,) = examine(without, (HINGE,))[1]
            assert (
                finding.kind == "time" and finding.mend == f"--time-unit {unit}" and finding.grave == (without is wrong)
            )
        assert not examine(mended(wrong, Mending(time_unit=unit)), (HINGE,))[1]
    poses = replace(r, time=200.0 * r.time, dq=0.0 * r.q)  # every 2 s
    assert not kinds(poses)


def test_mending() -> None:
    r = replace(simple(), tau=np.ones((800, 1)))
    assert r.dq is not None
    degrees = replace(r, q=np.degrees(r.q), dq=np.degrees(r.dq))
    np.testing.assert_allclose(mended(degrees, Mending(degrees=True), (HINGE,)).q, r.q, rtol=1e-15)
    slide = replace(HINGE, unit="m")
    assert mended(degrees, Mending(degrees=True), (slide,)) is degrees
    assert mended(r, Mending(derive=True)).dq is None and mended(r, Mending()) is r
    changed = mended(r, Mending(flip=("a",), drive_gain={"": 3.0}, scale={"q_a": 2.0, "tau": 5.0}))
    assert (changed.tau == -15.0).all() and (changed.q == 2.0 * r.q).all() and changed.dq is r.dq


def test_grave_findings_are_refused_unless_accepted(shared: Path, arm2: Robot) -> None:
    log = shared / "cases" / "N03-rates-contradict-positions" / "zero.csv"
    joints = arm2.manifest.robot.joints
    with pytest.raises(InputError, match="--accept rates:\n  turn: dq is 0") as caught:
        read_checked(log, arm2.joints, Reading(), joints)
    assert "elbow: dq is 0" in str(caught.value)
    assert not read_checked(log, arm2.joints, Reading(accept=("rates",)), joints).sound
    assert read_checked(log, arm2.joints, Reading(mending=Mending(derive=True)), joints).sound
    assert (
        expect_kinds("rates, sign") == ("rates", "sign") and "gain" in expect_kinds("all") and expect_kinds(None) == ()
    )
    gain = next(own for own in SEEN if own.kind == "gain")
    refuse("log", [Finding(gain, "a", "much")], ())


@pytest.mark.parametrize(("strange", "found"), [(0.6, False), (1.6, True)])
def test_rates_that_have_little_to_do_with_the_positions(strange: float, found: bool) -> None:
    r = simple(seconds=40.0)
    mixed = replace(r, dq=np.cos(2.0 * r.time)[:, None] + strange * np.cos(3.1 * r.time)[:, None])
    (rate,) = rates_of(mixed)
    assert rate is not None and rate.related == pytest.approx(1.0 / math.hypot(1.0, strange), abs=0.05)
    assert (("rates", True) in kinds(mixed, None)) == found


def test_quick_motion_is_no_jump() -> None:
    """Steps are judged by what they usually are, too: 0.03 rad here, 0.12 rad in a quick turn, and one of 0.45 rad."""
    t = 0.05 * np.arange(400)
    speed = np.where(np.abs(t - 10.0) < 0.3, 2.4, 0.6) * np.where((t // 2.0) % 2 == 0, 1.0, -1.0)
    q = 0.05 * np.cumsum(speed)[:, None]
    r = Recording("log", t, ("a",), q, None, None, None)
    assert not kinds(r, None)
    assert kinds(replace(r, q=q + 0.45 * (t > 10.0)[:, None]), None) == [("jumps", False)]


@pytest.mark.parametrize(("seconds", "found"), [(0.03, False), (-0.03, False), (0.06, True), (-0.06, True)])
def test_shifts_of_the_torque_from_both_sides(arm2: Robot, seconds: float, found: bool) -> None:
    r = noisy(arm2, 3)
    assert r.tau is not None
    late = replace(r, tau=np.column_stack([np.interp(r.time - seconds, r.time, column) for column in r.tau.T]))
    assert [f.joint for f in found_in(late, arm2) if f.kind == "delay"] == list(arm2.joints) * found


@pytest.mark.parametrize("percent", [0.0, 0.15, 0.5, -0.5])
def test_clocks_of_the_torque_from_both_sides(arm2: Robot, percent: float) -> None:
    """At the end of 20 s that is 30 ms, which is not said, and 100 ms, which is; the option that is named takes it out."""
    r = noisy(arm2, 3)
    assert r.tau is not None
    factor = 1.0 + percent / 100.0
    off = replace(r, tau=np.column_stack([np.interp(r.time / factor, r.time, column) for column in r.tau.T]))
    found = [f for f in found_in(off, arm2) if f.kind == "torque-clock"]
    assert bool(found) == (abs(percent) == 0.5), found
    for finding in found:
        assert finding.grave and finding.mend.startswith("--stretch tau=") and not finding.joint
        told = float(finding.mend.partition("=")[2])
        assert told == pytest.approx(factor, abs=3e-4)
        cured = mended(off, Mending(stretch={"tau": told}))
        assert abs(len(r) - len(cured) - max(percent, 0.0) / 100.0 * len(r)) <= 2.0
        assert cured.tau is not None and cured.tau == pytest.approx(r.tau[: len(cured)], abs=0.2)
        assert not [f for f in found_in(cured, arm2) if f.kind in ("torque-clock", "delay")]


def test_stretch_is_of_columns_that_are_there() -> None:
    r = simple()
    half = mended(r, Mending(stretch={"q_a": 1.25}))
    assert half.time[-1] == pytest.approx(r.time[-1] / 1.25, abs=0.011) and half.q[:, 0] == pytest.approx(
        np.interp(1.25 * half.time, r.time, r.q[:, 0]), abs=1e-12
    )
    assert np.array_equal(mended(r, Mending(stretch={"ddq": 1.1})).q, r.q)


@pytest.mark.thorough
def test_a_wrist_that_hardly_moves_stands_in_for_no_other(shared: Path) -> None:
    # what baxter_bare lacks (the hand) leaves 23 % of the torques unexplained; w2's, at rest, are none of w0's to explain
    robot = load(generated("baxter_bare", functions=("inverse_dynamics",)))
    path = shared / "data" / "baxter_left_100hz" / "train_sin_XYZ_10s_T2_Tz_5T_r5.csv.gz"
    log = read_recording(path, robot.joints, Reading(rate=99.0099))
    parts = filter_parts("run", log, Processing())
    assert "swapped" not in [found.kind for found in examine_torques(robot, parts)]
    own = [4, 1, 2, 3, 0, 5, 6]
    moved = [replace(s, **{key: getattr(s, key)[:, own] for key in ("q", "dq", "ddq", "tau")}) for s in parts]
    (found,) = examine_torques(robot, moved)
    assert found.kind == "swapped" and "left_s0 and left_w0" in found.message


def test_what_all_joints_have_is_one_finding(arm2: Robot) -> None:
    r = noisy(arm2, 3)
    assert r.tau is not None and r.dq is not None
    (turned,) = found_in(replace(r, tau=-r.tau), arm2)
    assert turned.kind == "sign" and turned.grave and not turned.joint and turned.mend == "--flip turn --flip elbow"
    late = replace(r, dq=np.column_stack([np.interp(r.time - 0.05, r.time, column) for column in r.dq.T]))
    (lag,) = [f for f in found_in(late, arm2) if f.kind == "lag"]
    assert not lag.joint and "ms after the slope of q at each of 2 joints" in lag.message
    one = replace(r, dq=np.column_stack([late.dq[:, 0], r.dq[:, 1]]))  # type: ignore[index]
    assert [f.joint for f in found_in(one, arm2) if f.kind == "lag"] == ["turn"]


def test_torques_that_are_all_zero_end_a_fit(arm2: Robot) -> None:
    r = noisy(arm2, 3)
    found = found_in(replace(r, tau=np.zeros_like(r.q)), arm2)
    assert [(f.joint, f.grave) for f in found if f.kind == "constant"] == [
        ("turn", False),
        ("elbow", False),
        ("", True),
    ]
    with pytest.raises(InputError, match="--accept constant"):
        refuse("log", found, ())
