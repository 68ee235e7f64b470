"""`--friction-model auto`: the law that made the recordings is found, its numbers come back, and plain stays plain."""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from support.motions import motion
from support.numeric import Array, differences
from support.robots import generated, loaded
from support.small.sled import law

from diffpbd.runtime.cli import cli
from diffpbd.runtime.identify import Identification, Settings, identify
from diffpbd.runtime.identify.choices.left_out import CHANCE, WORTH, better
from diffpbd.runtime.identify.settings.standin import StandIn, with_friction
from diffpbd.runtime.logs.csv import Log, write_log
from diffpbd.runtime.logs.processing import Processing, process

PLAIN = {
    "friction.coulomb.shoulder": 0.6, "friction.viscous.shoulder": 0.2, "friction.coulomb.elbow": 0.4,
    "friction.viscous.elbow": 0.1, "torque_offset.shoulder": 0.3,
}  # fmt: skip
AUTO = Settings(friction_model="auto")
NONE = (0.0, 0.0, 0.01, 0.0, 0.0, 0.0, 1.0)
ASYMMETRIC, STRIBECK = (0.0, 0.0, 0.01, 0.2, -0.1, 0.0, 1.0), (0.0, 0.0, 0.01, 0.0, 0.0, 0.5, 0.4)
BOTH = (0.0, 0.0, 0.01, 0.15, 0.05, 0.5, 0.4)


def log(more: Sequence[Sequence[float]], seed: int = 0, seconds: float = 8.0, noise: float = 0.05) -> Log:
    """A motion with plain friction, and for each joint what more its law has."""
    moved = motion(loaded("double_pendulum"), PLAIN, seed=seed, seconds=seconds, noise=noise)
    extra = np.column_stack([law(moved.dq[:, j], numbers) for j, numbers in enumerate(more)])
    return Log(moved.time, moved.joints, moved.q, moved.dq, moved.ddq, moved.tau + extra)


def fitted(more: Sequence[Sequence[float]], runs: int = 3, settings: Settings = AUTO, first: int = 0) -> Identification:
    samples = [process(f"run {k}", log(more, first + k), Processing(cutoff=None))[0] for k in range(runs)]
    return identify(loaded("double_pendulum"), samples, ["friction"], settings=settings)


def chosen(found: Identification) -> dict[str, str]:
    """The law of each joint, as the notes say."""
    told = (note.removeprefix("Friction of ") for note in found.notes if note.startswith("Friction of "))
    return {note.split(":")[0]: note.split(": ")[1].split(",")[0].split(" at ")[0] for note in told}


def near(found: Identification, truth: Mapping[str, float], tolerance: float) -> None:
    for e in found.estimates:
        if not e.name.startswith("friction.stribeck_velocity"):
            assert e.value == pytest.approx(truth.get(e.name, 0.0), abs=tolerance), e.name


@pytest.fixture(scope="module")
def free() -> StandIn:
    robot = with_friction(loaded("double_pendulum"), ["asymmetric", "stribeck"])
    assert isinstance(robot, StandIn)
    return robot


def test_the_longer_robot_has_the_law(free: StandIn) -> None:
    """Columns times coefficients are the plain torque and the law; derivatives by all of friction are exact."""
    rng = np.random.default_rng(1)
    own = {"shoulder": (0.7, 0.2, 0.3, 0.2, 0.1, 0.4, 0.5), "elbow": (0.3, 0.1, 0.2, -0.1, 0.05, 0.2, 0.8)}
    kinds = (
        "coulomb",
        "viscous",
        "transition_velocity",
        "coulomb_asymmetry",
        "viscous_asymmetry",
        "stribeck",
        "stribeck_velocity",
    )
    values = {f"friction.{kind}.{j}": x for j, numbers in own.items() for kind, x in zip(kinds, numbers, strict=True)}
    alpha = free.alpha.vector(values)
    p, pd, pdd = rng.normal(size=(3, 20, 2))

    def torque(a: Array) -> Array:
        phi = np.array(free.casadi("torque_coefficients")(a).full()).ravel()
        return np.asarray(free.torque_terms(p, pd, pdd, a) @ phi)

    rigid = loaded("double_pendulum").inverse_dynamics(p, pd, pdd, loaded("double_pendulum").alpha.vector())
    expected = np.column_stack([law(pd[:, j], numbers) for j, numbers in enumerate(own.values())])
    np.testing.assert_allclose(torque(alpha) - rigid, expected, atol=1e-12)
    places = list(free.alpha.indices("friction"))

    def moved(x: Array) -> dict[str, Array]:
        full = np.tile(alpha, (len(x), 1))
        full[:, places] = x
        return {"u": np.array([torque(a).ravel() for a in full])}

    exact = differences(moved, alpha[places], 1e-4)["u"].reshape(20, 2, -1)
    np.testing.assert_allclose(free.jac_alpha_inverse_dynamics(p, pd, pdd, alpha)[:, :, places], exact, atol=1e-7)
    again = pickle.loads(pickle.dumps(free))
    assert again.alpha.names == free.alpha.names
    assert with_friction(free, ["stribeck"]) is free


def test_plain_recordings_keep_the_plain_law() -> None:
    """Whatever the noise: no entry is added, and the result is the plain fit's to the last bit."""
    for first in (0, 10, 20):
        auto, plain = fitted([NONE, NONE], first=first), fitted([NONE, NONE], settings=Settings(), first=first)
        assert chosen(auto) == {"shoulder": "plain", "elbow": "plain"}
        assert auto.parameters == plain.parameters and auto.generate is None


def test_the_law_of_each_joint_comes_back() -> None:
    found = fitted([ASYMMETRIC, STRIBECK])
    assert chosen(found) == {"shoulder": "asymmetric", "elbow": "stribeck"}
    more = {
        "friction.coulomb_asymmetry.shoulder": 0.2, "friction.viscous_asymmetry.shoulder": -0.1, "friction.stribeck.elbow": 0.5,
    }  # fmt: skip
    near(found, PLAIN | more, 0.05)
    assert found.parameters["friction.stribeck_velocity.elbow"] == pytest.approx(0.4, rel=0.3)
    assert found.generate == "diffpbd generate double_pendulum --friction-law asymmetric,stribeck"
    assert found.train.rmse["elbow"] < 0.055 < fitted([ASYMMETRIC, STRIBECK], settings=Settings()).train.rmse["elbow"]


def test_both_and_one_recording() -> None:
    """A single recording is cut into parts that are left out in turn."""
    found = fitted([BOTH, NONE], runs=1)
    assert chosen(found) == {"shoulder": "both", "elbow": "plain"}
    assert "6 parts" in next(note for note in found.notes if note.startswith("Friction of shoulder"))


def test_what_fits_most_positions_and_not_all_is_no_law() -> None:
    """Drag that differs by direction, but not where the elbow is in the upper third of its positions."""
    logs = [log([NONE, NONE], seed) for seed in range(16)]
    upper = np.quantile(np.concatenate([run.q[:, 1] for run in logs]), 2.0 / 3.0)
    found = {}
    for name, there in (("all", 1.0), ("not all", 0.0)):
        samples = []
        for k, run in enumerate(logs):
            extra = law(run.dq[:, 0], (0.0, 0.0, 0.01, 0.0, 0.15, 0.0, 1.0)) * np.where(run.q[:, 1] > upper, there, 1.0)
            tau = run.tau + np.column_stack([extra, 0.0 * extra])
            more = Log(run.time, run.joints, run.q, run.dq, run.ddq, tau)
            samples += process(f"run {k}", more, Processing(cutoff=None))
        found[name] = identify(loaded("double_pendulum"), samples, ["friction"], settings=AUTO)
    assert chosen(found["all"])["shoulder"] == "asymmetric"
    assert chosen(found["not all"])["shoulder"] == "plain"
    (told,) = [note for note in found["not all"].notes if note.startswith("Friction of shoulder")]
    assert "on a third of elbow's positions left out" in told, told


def test_friction_never_pushes() -> None:
    """Data that ask for a push in one direction end at none there: |asymmetry| is the mean."""
    found = fitted([(-0.5, -0.15, 0.01, 0.4, 0.1, 0.0, 1.0), NONE])
    assert chosen(found)["shoulder"] in ("asymmetric", "both")
    c, half = (found.parameters[f"friction.{kind}.shoulder"] for kind in ("coulomb", "coulomb_asymmetry"))
    assert abs(half) <= c * (1.0 + 1e-12) and half == pytest.approx(c, rel=1e-6)


def test_better_is_worth_it_and_no_chance() -> None:
    than, wobble = np.zeros(8), np.array([1.0, -1.0] * 4)
    for share, yes in ((WORTH * 1.01, True), (WORTH * 0.99, False)):
        assert better(than + np.log1p(-share), than) is yes
    limit = 2.998 * 0.1 * np.sqrt(8 / 7) / np.sqrt(8)  # Student's t of 7 degrees at 99 %, times the standard error
    assert pytest.approx(0.01) == CHANCE
    for mean, yes in ((1.01 * limit, True), (0.99 * limit, False)):
        assert better(than - mean + 0.1 * wobble, than) is yes


def test_the_command_says_which_robot_takes_it(tmp_path: Path) -> None:
    for k in range(2):
        write_log(tmp_path / f"run{k}.csv", log([ASYMMETRIC, NONE], seed=k))
    out = tmp_path / "params.json"
    words = ["identify", str(generated("double_pendulum")), *(str(tmp_path / f"run{k}.csv") for k in range(2))]
    done = CliRunner().invoke(cli, [*words, "--fit", "friction", "--friction-model", "auto", "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert "to use these: diffpbd generate double_pendulum --friction-law asymmetric" in done.output
    data = json.loads(out.read_text())
    assert data["generate"].endswith("--friction-law asymmetric")
    names = (
        "friction.coulomb_asymmetry.shoulder",
        "torque_offset.shoulder",
    )  # only slow samples tell one from the other
    assert sum(data["parameters"][name]["value"] for name in names) == pytest.approx(0.2 + 0.3, abs=0.05)


def test_bounds_where_one_of_both_is_held() -> None:
    """An asymmetry stays within a mean that is held, and a mean above an asymmetry that is held."""
    robot = with_friction(loaded("double_pendulum"), ["asymmetric"])
    run = process("run", log([ASYMMETRIC, NONE]), Processing(cutoff=None))
    start = PLAIN | {"friction.coulomb.shoulder": 0.05}
    held = identify(robot, run, ["friction.viscous_asymmetry", "friction.coulomb_asymmetry"], start=start)
    assert held.parameters["friction.coulomb_asymmetry.shoulder"] == pytest.approx(0.05)
    mean = identify(
        robot, run, ["friction.coulomb"],
        start=PLAIN | {"friction.coulomb.elbow": 3.0, "friction.coulomb_asymmetry.elbow": 2.0},
    )  # fmt: skip
    assert mean.parameters["friction.coulomb.elbow"] == pytest.approx(2.0)


def test_beside_inertias_that_the_code_has_as_numbers() -> None:
    """Bodies of the plain fit stand while the law is chosen; then all is fitted together."""
    runs = [process(f"run {k}", log([ASYMMETRIC, STRIBECK], k), Processing(cutoff=None))[0] for k in range(3)]
    found = identify(loaded("double_pendulum"), runs, ["inertials", "friction"], settings=AUTO)
    assert chosen(found) == {"shoulder": "asymmetric", "elbow": "stribeck"}
    assert found.parameters["friction.stribeck.elbow"] == pytest.approx(0.5, abs=0.1)
    assert found.parameters["friction.viscous_asymmetry.shoulder"] == pytest.approx(-0.1, abs=0.05)
    assert found.generate == (
        "diffpbd generate double_pendulum --symbolic mass,com,inertia --friction-law asymmetric,stribeck"
    )


def test_a_law_that_would_push_is_no_candidate() -> None:
    """Torques that drive a joint, more so in one direction: asymmetry would explain them, but friction does not drive."""
    found = fitted([(-0.7, -0.4, 0.01, 0.0, 0.1, 0.0, 1.0), NONE])
    assert chosen(found)["shoulder"] == "plain"
    assert found.parameters["friction.coulomb.shoulder"] == pytest.approx(0.0, abs=1e-6)
