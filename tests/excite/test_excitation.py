from __future__ import annotations

import json
import re
import time
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import orth, qr
from support.command import run
from support.robots import generated, loaded, with_table
from support.small.universal import UR10E, write

from diffpbd.runtime import InputError, Robot
from diffpbd.runtime.excite import excitation
from diffpbd.runtime.excite.envelope import Envelope
from diffpbd.runtime.excite.excitation import base_columns, excite
from diffpbd.runtime.excite.fourier import Fourier
from diffpbd.runtime.excite.wishes import Wishes
from diffpbd.runtime.logs.csv import read_log

HEIGHT = -0.2  # m


@pytest.fixture(scope="module")
def arm() -> Robot:
    return loaded("baxter")


@pytest.fixture(autouse=True)
def brief(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if not request.node.get_closest_marker("soak"):
        monkeypatch.setattr(excitation, "SEARCH", 4)
        monkeypatch.setattr(excitation, "SCOUT", 4)
        monkeypatch.setattr(excitation, "STARTS", 1)


def conditions(text: str) -> tuple[float, float]:
    """Those of the random motion and of the one found."""
    found = re.search(r"base parameters\): ([\d.e+]+); of a random motion within the same limits: ([\d.e+]+)\. ", text)
    assert found, text
    return float(found[2]), float(found[1])


def test_fourier_motions_start_and_end_at_rest_and_have_the_derivatives_they_say() -> None:
    series = Fourier(7.0, 4)
    x = np.random.default_rng(1).normal(size=(3, series.size))
    t = np.linspace(0.0, 7.0, 14001)
    q, dq, ddq = series.motion(x, t)
    np.testing.assert_allclose(q[0], x[:, 0], atol=1e-12)
    np.testing.assert_allclose(q[-1], q[0], atol=1e-12)
    assert np.abs([dq[0], dq[-1], ddq[0], ddq[-1]]).max() < 1e-12
    assert np.abs(np.gradient(q, t, axis=0) - dq)[1:-1].max() < 1e-5
    assert np.abs(np.gradient(dq, t, axis=0) - ddq)[1:-1].max() < 1e-5


def test_base_columns_span_the_regressor(arm: Robot) -> None:
    columns = base_columns(arm, Envelope.of(arm, 0.1, None, None))
    rng = np.random.default_rng(3)
    Y = arm.regressor(*rng.normal(size=(3, 200, arm.n))).reshape(200 * arm.n, -1)
    base = Y[:, columns]
    assert len(columns) == np.linalg.matrix_rank(Y) == np.linalg.matrix_rank(base) == 43
    left = Y - base @ np.linalg.lstsq(base, Y, rcond=None)[0]
    assert np.abs(left).max() < 1e-9


def test_the_condition_of_all_columns_is_that_of_no_choice(arm: Robot) -> None:
    """With independent columns taken from the tip to the base the figure is the same, that of the chosen ones is not; Gram's
    matrix in an orthonormal basis of what the columns determine has its square."""
    envelope = Envelope.of(arm, 0.1, HEIGHT, None)
    series, t = Fourier(10.0, 3), np.arange(60) / 6.0
    x = np.hstack([envelope.best_pose()[:, None], 0.5 * np.random.default_rng(0).normal(size=(arm.n, series.size - 1))])
    own = base_columns(arm, envelope)
    Y = arm.regressor(*np.random.default_rng(1).normal(size=(3, 200, arm.n)), envelope.alpha).reshape(200 * arm.n, -1)
    upright = qr(Y[:, ::-1], mode="r")[0]
    other = Y.shape[1] - 1 - np.flatnonzero(np.abs(np.diag(upright)) > 1e-8 * np.linalg.norm(Y[:, ::-1], axis=0).max())
    matrices = series.matrices(t)
    searches = [excitation._Search(envelope, columns, matrices, "condition") for columns in (own, np.sort(other))]
    figures = [search.condition(x) for search in searches]
    assert len(other) == len(own) == 43 and abs(figures[0] / figures[1] - 1.0) > 0.1, figures
    assert searches[0].whole(x) == pytest.approx(searches[1].whole(x), rel=1e-12)
    basis = orth(Y.T @ Y, rcond=1e-12)
    moved = arm.regressor(*(m @ x.T for m in matrices), envelope.alpha).reshape(-1, Y.shape[1]) @ basis
    values = np.linalg.eigvalsh(moved.T @ moved)
    assert basis.shape[1] == 43 and searches[0].whole(x) ** 2 == pytest.approx(values[-1] / values[0], rel=1e-4)


@pytest.mark.parametrize("criterion", excitation.CRITERIA)
def test_the_gradient_is_that_of_the_value(arm: Robot, criterion: str) -> None:
    envelope = Envelope.of(arm, 0.1, HEIGHT, None, np.full(arm.n, 8.0), -0.1)
    series, t = Fourier(10.0, 3), np.arange(60) / 6.0
    search = excitation._Search(envelope, base_columns(arm, envelope), series.matrices(t), criterion)
    rng = np.random.default_rng(0)
    x = np.hstack([envelope.best_pose()[:, None], 1.5 * rng.normal(size=(arm.n, series.size - 1))])  # partly outside
    assert envelope.slack(search.motion(x)) < 0.0
    scale = np.ones_like(x)
    _, gradient = search.value(x.ravel(), scale)
    above = [search.value(x.ravel(), scale)[0] - search.measure(x)]
    for search.power in (60.0, 5.0):
        above.append(search.value(x.ravel(), scale)[0] - search.measure(x))
    assert above[2] == above[0] and (above == [0.0] * 3 if criterion == "log-det" else 0.0 <= above[1] < above[0])
    least, slopes = envelope.least(search.motion(x)), envelope.least_slopes(search.motion(x), search.matrices)
    assert len(least) == len(slopes) == 8 * arm.n + 1 + arm.n + 1
    for _ in range(3):
        d = rng.normal(size=x.shape)
        low, high = (search.value((x + s * 1e-6 * d).ravel(), scale)[0] for s in (-1.0, 1.0))
        assert (high - low) / 2e-6 == pytest.approx(gradient @ d.ravel(), rel=1e-4)
        low, high = (envelope.least(search.motion(x + s * 1e-6 * d)) for s in (-1.0, 1.0))
        assert (high - low) / 2e-6 == pytest.approx(np.einsum("kjc,jc->k", slopes, d), rel=1e-4, abs=1e-6)


def test_the_smooth_least_is_below_the_least_and_near(arm: Robot) -> None:
    envelope = Envelope.of(arm, 0.1, HEIGHT, None, np.full(arm.n, 8.0), -0.5)
    series, t = Fourier(10.0, 3), np.arange(60) / 6.0
    x = np.hstack([envelope.best_pose()[:, None], 0.2 * np.random.default_rng(0).normal(size=(arm.n, series.size - 1))])
    motion = envelope.evaluate(t, *series.motion(x, t))
    least, true = envelope.least(motion), np.concatenate([s.min(axis=0) for s in envelope._slacks(motion)])
    assert ((least <= true) & (least > true - 0.07)).all()  # log(60)/60


def test_the_written_motion_keeps_every_limit(tmp_path: Path, arm: Robot) -> None:
    out, plot = tmp_path / "traj.csv", tmp_path / "traj.png"
    words = ("--min-tip-height", HEIGHT, "--margin", 0.15, "--out", out, "--plot", plot)
    code, text = run("excite", generated("baxter"), *words)
    assert code == 0, text
    assert plot.read_bytes().startswith(b"\x89PNG")
    check(arm, out, 0.15)
    before, after = conditions(text)
    assert after < 0.5 * before and "43 base parameters" in text


def check(arm: Robot, path: Path, margin: float) -> None:
    """The samples of the file against the description, and its columns against each other."""
    log = read_log(path)
    assert log.joints == arm.joints and log.ddq is not None and log.tau is not None
    np.testing.assert_allclose(log.q[-1], log.q[0], atol=1e-9)
    assert np.abs([log.dq[0], log.dq[-1]]).max() < 1e-9
    assert np.abs(np.gradient(log.q, log.time, axis=0) - log.dq)[1:-1].max() < 2e-3
    for j, joint in enumerate(arm.manifest.robot.joints):
        assert joint.lower is not None and joint.upper is not None and joint.velocity and joint.effort
        room = 0.5 * margin * (joint.upper - joint.lower) - 1e-9
        assert joint.lower + room <= log.q[:, j].min() and log.q[:, j].max() <= joint.upper - room
        assert np.abs(log.dq[:, j]).max() <= (1.0 - margin) * joint.velocity + 1e-9
        assert np.abs(log.tau[:, j]).max() <= (1.0 - margin) * joint.effort + 1e-9
    np.testing.assert_allclose(log.tau, arm.inverse_dynamics(log.q, log.dq, log.ddq), atol=1e-9)
    assert arm.tip_pose(log.q).position[:, 2].min() >= HEIGHT


@pytest.mark.thorough
def test_what_cannot_be_is_refused(tmp_path: Path, arm: Robot) -> None:
    for words, said in (
        (("--min-tip-height", 3.0), "--min-tip-height 3 m cannot be kept: the tip's greatest height"),
        (("--margin", 0.95), "'--margin': 0.95 is not in the range"),
        (("--duration", "nan"), "'--duration': nan is not a finite number"),
        (("--harmonics", 1), "'--harmonics': 1 is not in the range 2<=x<=50"),
        (("--rate", 2), "too coarsely"),
        (("--table", 3.0), "--table 3 m cannot be kept: the lowest link is"),
        (("--max-acceleration", 0), "'--max-acceleration': expected a positive number"),
        (("--max-acceleration", "left_s9=1"), "has no joint 'left_s9'"),
        (("--max-acceleration", "1e-300"), "from 1e-06 to 1e+06"),
        (("--max-acceleration", "left_s0=1,left_s0=2"), "left_s0 is given twice"),
    ):
        code, text = run("excite", generated("baxter"), "--out", tmp_path / "no.csv", *words)
        wanted = (
            1 if "cannot be kept" in said or "has no joint" in said else 2
        )  # what the robot decides, and the line alone
        assert code == wanted and said in text and not list(tmp_path.iterdir()), text
    code, text = run("excite", with_table(generated("baxter"), tmp_path / "high", 2.92), "--out", tmp_path / "no.csv")
    assert code == 1 and "--table 3 m cannot be kept" in text and "stay above 3 m" in text, text
    heavy = arm.alpha.vector({"payload.mass": 2000.0})
    with pytest.raises(InputError, match="cannot hold its own weight within its torque limits"):
        excite(arm, Wishes(), heavy)


def test_missing_limits_are_assumed_and_said() -> None:
    robot = loaded("double_pendulum")
    found, again = (excite(robot, Wishes(duration=5.0, harmonics=3)) for _ in range(2))
    np.testing.assert_array_equal(found.motion.q, again.motion.q)
    assert found.after < found.before
    missing = any(j.lower is None or j.velocity is None or j.effort is None for j in robot.manifest.robot.joints)
    assert bool(found.notes) == missing


def test_bounds_of_acceleration_and_a_table(tmp_path: Path, arm: Robot) -> None:
    out = tmp_path / "traj.csv"
    words = ("--max-acceleration", "2,left_w2=1.5", "--table", -0.3, "--criterion", "log-det", "--out", out)
    code, text = run("excite", generated("baxter"), *words)
    assert code == 0 and "within all limits, condition number" in text, text
    log = read_log(out)
    assert log.ddq is not None
    peaks = np.abs(log.ddq).max(axis=0)
    assert (peaks <= 0.9 * np.array([2.0] * 6 + [1.5]) + 1e-9).all() and peaks.max() > 0.5
    states = np.asarray(arm.fk(log.q, np.zeros_like(log.q))).reshape(len(log.q), arm.n, 13)
    assert min(states[:, :, 2].min(), arm.tip_pose(log.q).position[:, 2].min()) >= -0.3


@pytest.mark.soak
def test_a_full_search_is_good_and_quick(tmp_path: Path, arm: Robot) -> None:
    begin = time.process_time()
    code, text = run("excite", generated("baxter"), "--min-tip-height", HEIGHT, "--out", tmp_path / "traj.csv")
    assert code == 0 and text.count("iteration") >= 1 and " %, " in text and " left" in text, text
    assert time.process_time() - begin < 15.0  # s; 10 are usual
    check(arm, tmp_path / "traj.csv", 0.1)
    after = conditions(text)[1]
    assert after <= 25.0  # a random motion within the limits: 400 and more


@pytest.mark.soak
def test_a_six_axis_arm(tmp_path: Path) -> None:
    robot = generated(str(write(tmp_path / "ur10e.urdf", UR10E)))
    code, text = run("excite", robot, "--out", tmp_path / "traj.csv")
    assert code == 0 and "36 base parameters" in text, text
    assert conditions(text)[1] <= 9.5


@pytest.mark.thorough
def test_parameters_of_the_motion_come_back(tmp_path: Path) -> None:
    """A written trajectory can be recorded: the predicted torques identify the parameters that they were predicted with."""
    params, out = tmp_path / "known.json", tmp_path / "traj.csv"
    params.write_text(json.dumps({"payload.mass": 0.7, "friction.viscous.left_s0": 0.4}))
    assert run("excite", generated("baxter"), "--params", params, "--out", out)[0] == 0
    words = ("--cutoff", 0, "--fit", "payload.mass,friction.viscous", "--out", tmp_path / "p.json")
    code, text = run("identify", generated("baxter"), out, *words)
    assert code == 0, text
    found = json.loads((tmp_path / "p.json").read_text())["parameters"]
    assert found["payload.mass"]["value"] == pytest.approx(0.7, rel=1e-6)
    assert found["friction.viscous.left_s0"]["value"] == pytest.approx(0.4, rel=1e-6)
