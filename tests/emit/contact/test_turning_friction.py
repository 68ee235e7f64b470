"""Friction of contacts against turning: closed forms of spin, rolling and pivoting, MuJoCo's rates, derivatives."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest
from support.made.turning import LOAD, MOMENT, ON_TABLE, ROLLING, TORSIONAL, G, made
from support.touching import MASS, RADIUS

from diffpbd.runtime import Robot

SLOWING, ROLLED = TORSIONAL * MASS * G / MOMENT, ROLLING * G / (1.4 * RADIUS)
"""[rad/s², m/s²] Of a spin about the normal, and of a ball that rolls."""


def rolled(r: Robot, pd: Any, time: float, h: float, **alpha: float) -> tuple[Any, Any]:
    given = {k.replace("__", "."): v for k, v in alpha.items()}
    P, PD = r.rollout(ON_TABLE, np.array(pd, float), np.zeros((round(time / h), 6)), h=h, alpha=given)
    return P, PD


def sloped(share: float, lever: float = ROLLING) -> dict[str, float]:
    """Gravity along the table, by that share of the slope on which rolling friction holds a ball."""
    angle = np.arctan(share * lever / RADIUS)
    return {"gravity__x": G * np.sin(angle), "gravity__z": -G * np.cos(angle)}


def creep(share: float, slip: float, normal: float) -> float:
    """The share of turning at which a contact that also slides by a share of its most gives way."""
    return 2 * slip * LOAD / normal * share / (1 - share**2)


@pytest.mark.parametrize("slip", [1e-5, 1e-7])
def test_a_spin_decays_and_ends(slip: float) -> None:
    """Linearly, but for the smoothing; the angle to the end is of second order."""
    r, rate, errors = made("turned_ball"), 8.0, []
    for h in (0.01, 0.005, 0.0025):
        P, PD = rolled(r, [0, 0, 0, 0, 0, rate], 1.2, h, contact__slip=slip)
        t = h * np.arange(len(P))
        sliding = t < 0.7
        np.testing.assert_allclose(PD[sliding, 5], rate - SLOWING * t[sliding], rtol=0, atol=3 * slip)
        assert np.abs(PD[-1]).max() < 1e-12
        errors.append(abs(np.unwrap(2 * np.arctan2(P[:, 6], P[:, 3]))[-1] - rate**2 / (2 * SLOWING)))
        assert errors[-1] < 20 * h * h + slip, errors
    if slip < 1e-6:
        assert all(3.5 < a / b < 4.5 for a, b in zip(errors, errors[1:], strict=False)), errors


@pytest.mark.parametrize("name", ["turned_ball", "rolled_ball"])
def test_a_ball_slows_stops_and_stays(name: str) -> None:
    r, rate, slip = made(name), 0.5, 1e-7
    planar = name == "rolled_ball"
    for h in (0.01, 0.0025):
        p, pd = (
            (np.array([0, RADIUS, 0]), [rate, 0, rate / RADIUS])
            if planar
            else (ON_TABLE, [rate, 0, 0, 0, rate / RADIUS, 0])
        )
        P, PD = r.rollout(p, pd, np.zeros((round(4.2 / h), r.n)), h=h, alpha={"contact.slip": slip})
        t = h * np.arange(len(P))
        rolls = t < 3.0
        np.testing.assert_allclose(PD[rolls, 0], rate - ROLLED * t[rolls], rtol=0, atol=slip)
        assert abs(P[-1, 0] - rate**2 / (2 * ROLLED)) < h * h + slip
        assert np.abs(PD[-1]).max() < 1e-12
        assert np.abs(P[-1] - P[round(3.8 / h)]).max() < 1e-12


@pytest.mark.parametrize("share", [0.9, 0.99])
def test_a_ball_rests_on_a_slope(share: float) -> None:
    """Below the angle tan = rolling/radius, but for the creep of rolling and of sliding; above it goes down."""
    r, pull = made("turned_ball"), sloped(share)
    normal = -MASS * pull["gravity__z"]
    wanted = RADIUS * creep(share, 1e-5, normal) + creep(share * ROLLING / RADIUS / 0.3, 1e-5, normal)
    assert rolled(r, np.zeros(6), 1.0, 0.01, **pull)[1][-1, 0] == pytest.approx(wanted, rel=2e-3)
    pull = sloped(2 - share)
    wanted = (pull["gravity__x"] + ROLLING / RADIUS * pull["gravity__z"]) / 1.4
    assert rolled(r, np.zeros(6), 1.0, 0.01, contact__slip=1e-8, **pull)[1][-1, 0] == pytest.approx(wanted, abs=1e-6)


def test_a_capsule_rolls_on_its_ends_and_is_stopped_by_a_ball() -> None:
    """Its ends share the weight, so that their torques add up to that of one; its side has the law too."""
    r, rate, slip = made("roller"), 0.5, 1e-7
    P, PD = rolled(r, [rate, 0, 0, 0, rate / RADIUS, 0], 3.0, 0.01, contact__slip=slip)
    t = 0.01 * np.arange(len(P))
    rolls = P[:, 0] < 0.9 - 2 * RADIUS - 0.02
    assert 1.5 < t[rolls][-1] < 2.5
    np.testing.assert_allclose(PD[rolls, 0], rate - ROLLED * t[rolls], rtol=0, atol=3 * slip)
    assert np.abs(PD[-1]).max() < 1e-6 and P[-1, 0] == pytest.approx(0.9 - 2 * RADIUS, abs=1e-2)


def test_a_foot_turns_beyond_its_most() -> None:
    r, h = made("flat_foot"), 0.01
    most = TORSIONAL * MASS * G
    for share in (0.5, 0.99, 1.2):
        slip = 1e-5 if share < 1 else 1e-8
        alpha = {"contact.slip": slip}
        _, PD = r.rollout(np.zeros(2), np.zeros(2), np.tile([0.0, share * most], (100, 1)), h=h, alpha=alpha)
        wanted = creep(share, slip, MASS * G) if share < 1 else (share - 1) * most / MOMENT
        assert PD[-1, 1] == pytest.approx(wanted, rel=1e-4), share


def test_the_exact_cone_holds() -> None:
    r = made("exact_turned_ball")
    normal = MASS * G
    wanted = RADIUS * creep(0.99, 1e-9, normal) + creep(0.99 * ROLLING / RADIUS / 0.3, 1e-9, normal)
    assert rolled(r, np.zeros(6), 1.0, 0.01, **sloped(0.99))[1][-1, 0] == pytest.approx(wanted, rel=2e-3)
    P, PD = rolled(r, [0.5, 0, 0, 0, 5.0, 8.0], 1.0, 0.01)
    assert PD[50, [0, 5]] == pytest.approx([0.5 - 0.5 * ROLLED, 8.0 - 0.5 * SLOWING], abs=1e-8)
    v = r.vjp_rollout(
        ON_TABLE, [0.5, 0, 0, 0, 5.0, 8.0], np.zeros((100, 6)), h=0.01, P_bar=np.zeros((101, 6)),
        PD_bar=np.eye(101)[-1][:, None] * np.eye(6)[0],
    )  # fmt: skip
    by_lever = v.alpha_bar[r.alpha.index("contact.rolling.ball")]
    assert by_lever == pytest.approx(-G / (1.4 * RADIUS), rel=1e-3)
    assert abs(P[-1, 2] - RADIUS) < 1e-8


def test_a_bounce_takes_spin_by_its_impulse() -> None:
    """An impact of impulse m (1 + e) v turns the ball back by torsional times that over its moment."""
    r, e, fall = made("bouncing_turned_ball"), 0.5, 0.2
    start = ON_TABLE + fall * np.eye(7)[2]
    P, PD = r.rollout(start, [0, 0, 0, 0, 0, 60.0], np.zeros((40, 6)), h=0.01, alpha={"contact.slip": 1e-8})
    first = int(np.argmax(PD[:, 2] > 0.5))
    wanted = 60.0 - TORSIONAL * MASS * (1 + e) * np.sqrt(2 * G * fall) / MOMENT
    assert PD[first, 5] == pytest.approx(wanted, abs=1e-4)
    assert P[first:, 2].max() == pytest.approx(RADIUS + e**2 * fall, abs=1e-2)


def of_mujoco(rates: Any, time: float, friction: float, step: float = 1e-4) -> Any:
    """The rates of the same ball there, elliptic cone, contact stiff."""
    law = f'condim="6" friction="{friction} {TORSIONAL} {ROLLING}" solref="5e-4 1" solimp="0.999 0.9999 1e-5"'
    xml = f"""<mujoco><option timestep="{step}" cone="elliptic" impratio="100"/><worldbody>
      <geom type="plane" size="9 9 1" {law}/>
      <body pos="0 0 {RADIUS}"><freejoint/><geom type="sphere" size="{RADIUS}" mass="{MASS}" {law}/></body>
      </worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    data.qvel[:] = rates
    for _ in range(round(time / step)):
        mujoco.mj_step(model, data)
    return data.qvel.copy()


def test_rates_are_mujocos() -> None:
    """Its cone is one ellipsoid of all directions, so that a ball that rolls is slowed less the less friction there is to slide
    against; with much it is the same law."""
    for rates, k, wanted in (([0, 0, 0, 0, 0, 8.0], 5, SLOWING), ([0.5, 0, 0, 0, 5.0, 0], 0, ROLLED)):
        theirs = (rates[k] - of_mujoco(rates, 0.2, 1.0)[k]) / 0.2
        ours = (rates[k] - rolled(made("turned_ball"), rates, 0.2, 0.01, contact__friction__ball=1.0)[1][-1, k]) / 0.2
        assert ours == pytest.approx(wanted, rel=1e-4)
        assert theirs == pytest.approx(ours, rel=3e-3)
    slow = [0.5, 0, 0, 0, 5.0, 0]
    assert (0.5 - of_mujoco(slow, 0.2, 0.1)[0]) / 0.2 < 0.95 * ROLLED
    assert (
        0.5 - rolled(made("turned_ball"), slow, 0.2, 0.01, contact__friction__ball=0.1)[1][-1, 0]
    ) / 0.2 > 0.9999 * ROLLED
