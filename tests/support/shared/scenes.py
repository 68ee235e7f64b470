"""Every scene: one robot, one state, one load."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from support.free_flyer import moved
from support.judges.properties import Scene
from support.made.block import robot as touching
from support.made.bouncing import given
from support.made.bouncing import made as bouncing
from support.made.exact_cone import START as ON_CORNERS
from support.made.exact_cone import made as coned
from support.made.gripper import gripper
from support.made.landing import landing, thrown
from support.made.limited import arm, crank
from support.made.pressed import CASES as PRESSED
from support.made.pressed import case as pressing
from support.made.pressed import torque as pushed
from support.made.shaped_scenes import at, shaped
from support.made.turning import ON_TABLE
from support.made.turning import made as turned
from support.made.weightless import SPIN, UPPER, start, weightless
from support.mechanisms import MECHANISMS
from support.small.closed_robots import case as closed
from support.small.floating_arm import stopped_flap
from support.small.stopped import stopped_arm

from diffpbd.runtime import Robot

Array = Any


NEAR = (1e-3, 1e-4, 1e-5)


FINE = (1e-4, 1e-5, 1e-6)
"""Sizes of differences by p."""


@dataclass(frozen=True)
class Acting:
    """A scene, options of `properties_of` (sizes of differences first), and entries of alpha that move the end."""

    scene: Scene
    sizes: Mapping[str, float] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    moves: tuple[str, ...] = ()


def alpha_of(r: Robot, slip: float, **more: float) -> Array:
    return r.alpha.vector({"contact.slip": slip} | {k.replace("__", "."): v for k, v in more.items()})


BLOCK = {  # gap and rates; gaps below 1 m are shares of the slip
    "stick": (2e-3, 0.0, 0.0), "slide": (2e-3, 0.7, 0.0), "impact": (1e3, 0.7, -2.0), "flight": (1e4, 0.7, 0.0),
}  # fmt: skip


def block(name: str, slip: float) -> Acting:
    r, (height, rate, fall) = touching("block"), BLOCK[name]
    z = height * slip if height < 1 else height * 1e-5
    state = np.array([0.1, 0.2, z]), np.array([rate, -0.4 * rate, fall]), np.array([1.0, 0.5, 0.0])
    sizes = {"contact.slip": 0.03 * slip, "contact.friction.block": 1e-3, "contact.load.block": 0.03, "gravity.z": 1e-3}
    sizes |= {"contact.compliance.block": 1e-8, "plane.height.table": 1e-6, "contact.radius.block": 1e-6}
    scene = Scene(r, *state, alpha_of(r, slip, contact__compliance__block=1e-6))
    moves = ("contact.friction.block",) if name in ("slide", "impact") else ()
    return Acting(scene, sizes, {"bar": 1e-5 if name == "flight" else 1e-6}, moves)


def box_on_an_edge(slip: float) -> Acting:
    """By tangents, turning fast: what slides in a step does not depend on the frame that it is seen from."""
    r = touching("tumbling_box")
    p = moved(np.r_[0, 0, 0.054, 1.0, 0, 0, 0], np.r_[0, 0, 0, 0.03, 0.02, 0.3])
    pd, u = np.array([0.3, 0.1, -1.0, 3.0, 4.0, 2.0]), np.array([0.5, 0.2, 0, 0.01, 0.02, 0.0])
    scene = Scene(r, p, pd, u, alpha_of(r, slip))
    assert np.abs(scene.step(p, pd, u, scene.h, scene.alpha)[1] - pd).max() > 0.5
    return Acting(scene, {}, {"bar": 2e-6, "graph": None, "reverse": 1e-8})


def thrown_box(slip: float, steps: int) -> Acting:
    """With a contact at each of its corners."""
    r = thrown()
    scene = Scene(r, *landing(steps), np.zeros(6), alpha_of(r, slip))
    assert np.abs(r.contact_force(scene.p, scene.pd, scene.u, scene.h, scene.alpha).contact_force).max() > 0.1
    return Acting(scene, {"mass": 1e-3}, {"bar": 1e-5, "graph": None, "reverse": 1e-8, "along": (*FINE, 1e-7)})


def rod_whose_tip_lands(slip: float) -> Acting:
    """Impact and friction act on the same coordinates: in the motion along the table what is large in their slopes cancels."""
    r = touching("rod")
    p, pd, u = np.array([0.399355, 0.09846114, 0.0349228]), np.full(3, -4.0), np.array([-13.988, 5.909, -6.186])
    sizes = {"contact.slip": 0.01 * slip, "plane.height.table": 1e-5, "contact.friction.back": 1e-4}
    scene = Scene(r, p, pd, u, alpha_of(r, slip), 0.014385554)
    return Acting(scene, sizes, {"graph": None, "reverse": 1e-8, "along": NEAR}, tuple(sizes))


BOUNCES = {
    "one tip, sliding": ([0, 0.0, 0.015], [1, -2, 1.0]), "both": ([0, 0.02, 0.0], [0.2, -3, 0.5]),
    "spinning": ([0, 0.0, 0.0], [2, -4, 4.0]), "at rest": ([0, 0.0, 0.0], [0, 0, 0.0]),
}  # fmt: skip


def rod_that_bounces(state: str) -> Acting:
    r, (p, pd) = bouncing("rod"), (np.array(x) for x in BOUNCES[state])
    p[1] += 0.004 - r.contact_gap(p).min()
    sizes = {
        "gravity.z": 1e-3,
        "contact.friction": 1e-3,
        "contact.radius": 1e-6,
        "contact.restitution": 1e-4,
        "plane": 1e-6,
    }
    moves = () if state == "at rest" else ("contact.restitution.front",)
    return Acting(Scene(r, p, pd, np.array([0.3, -0.2, 0.1]), given(r, 0.6, contact__slip=1e-3)), sizes, {}, moves)


TURNS = {
    "turns": ([0.0, 0, 0, 0, 0, 0], [0.4, 0.2, 0.0, -2.0, 4.0, 3.0], [0.1, 0, 0, 0.01, 0, 0.02]),
    "slides": ([0.0, 0, -1e-4, 0, 0, 0], [1.0, 0.5, -0.5, 3.0, 1.0, -6.0], [0.1, 0, 0, 0.01, 0, 0.02]),
    "sticks": ([0.0, 0, 0, 0, 0, 0], [0.0, 0, 0, 0, 0, 0], [0.02, 0, 0, 0.005, 0.01, 0.02]),
}


def ball(state: str, slip: float) -> Acting:
    """Friction against turning about the normal and across it."""
    r, (off, pd, u) = turned("turned_ball"), (np.array(x) for x in TURNS[state])
    sizes = {"contact.torsional": 5e-5, "contact.rolling": 5e-5, "contact.friction": 1e-3, "contact.radius": 1e-6}
    sizes |= {"contact.slip": 0.03 * slip, "contact.load": 0.03, "plane.height": 1e-6, "gravity.z": 1e-3}
    graph = 1e-8 if state == "turns" and slip > 1e-3 else None
    scene = Scene(r, ON_TABLE + np.r_[off[:3], np.zeros(4)], pd, u, alpha_of(r, slip))
    reverse = 1e-7  # what sticks at a slip of 1e-4 has 3e-8 of rounding, by the last bit of its height
    return Acting(scene, sizes, {"graph": graph, "reverse": reverse}, ("contact.rolling.ball",))


def fingers() -> Acting:
    """On links that both move, a plane and a sphere."""
    r = turned("fingers")
    p, pd, u = np.array([0.2, 0.3, -0.2, 0.4]), np.array([0.5, -0.3, 0.4, 1.0]), np.array([0.1, 0.2, -0.1, 0.3])
    gaps = np.ravel(r.contact_gap(p))
    heights = {"plane.height.plate": r.alpha.defaults[r.alpha.index("plane.height.plate")] + gaps[0] - 1e-5}
    alpha = alpha_of(r, 1e-3, **heights, **{"contact.radius.ball": 0.06 + gaps[1] - 1e-5})
    sizes = {"contact.torsional": 1e-4, "contact.rolling": 1e-4, "contact.friction": 1e-3, "contact.slip": 1e-5}
    options = {"reverse": 1e-8, "along": (1e-6, 1e-7)}
    return Acting(Scene(r, p, pd, u, alpha), sizes, options, ("contact.torsional.hand",))


def shape(name: str) -> Acting:
    """Capsules, boxes and balls in impact and sliding."""
    r, rng = shaped(name), np.random.default_rng(4)
    alpha = alpha_of(r, 1e-3)
    p = at(*rng.uniform(-0.05, 0.05, 2), 0.3, [1, *rng.uniform(-0.4, 0.4, 3)])
    p[2] -= np.min(r.contact_gap(p, alpha=alpha)) * 0.97
    pd = np.r_[rng.normal(size=2), -1.0, rng.normal(size=3)]
    options = {"graph": None, "reverse": 1e-8, "along": (1e-5, 1e-6, 1e-7)}
    return Acting(Scene(r, p, pd, np.zeros(6), alpha), {"contact.friction": 1e-3, "gravity.z": 1e-3}, options)


def exact_cone(slip: float) -> Acting:
    """Derivatives are those of the smooth cone at a slip of their own."""
    exact, smooth = coned("exact"), coned("smooth")
    state = ON_CORNERS, np.array([0.2, 0.1, -0.5, 0.3, 0.2, 0.1]), np.zeros(6)
    of = Scene(smooth, *state, smooth.alpha.vector({"contact.slip": slip}))
    scene = Scene(exact, *state, exact.alpha.vector({"contact.slope_slip": slip}), slopes_of=of)
    assert np.abs(np.subtract(*(s.step(*state, s.h, s.alpha)[1] for s in (scene, of)))).max() > 1e-9
    options = {"bar": 2e-2 * slip, "graph": None, "reverse": 1e-8, "along": FINE}
    return Acting(scene, {"contact.friction": 1e-3}, options)


STOPS = {  # room to the lower limit of the swing, its rate, its torque
    "free": (0.5, -0.1, 0.0), "touching": (1e-3, -0.1, 0.0), "impact": (0.01, -3.0, 0.0), "pressed": (2e-7, 0.0, -50.0),
}  # fmt: skip


def stop(name: str, slip: float) -> Acting:
    r, (room, rate, effort) = arm(), STOPS[name]
    more = {"friction.stribeck.slide": 0.3, "friction.viscous.swing": 0.1, "gravity.x": 1.0}
    alpha = r.alpha.vector({"limit.slip": slip} | more)
    p, pd, u = np.array([-1 + room, 0.3, 0.2]), np.array([rate, 0.4, -0.3]), np.array([effort, 0.1, 0.0])
    sizes = {"limit.slip": 0.03 * slip, "limit.load": 0.01, "limit.lower.swing": 1e-6, "limit.upper.slide": 1e-6}
    sizes |= {"gravity.z": 1e-3, "friction.viscous.swing": 1e-3, "friction.stribeck.slide": 1e-3}
    options = {"bar": 2e-6, "graph": None, "along": FINE, "efforts": FINE}
    return Acting(
        Scene(r, p, pd, u, alpha), sizes, options, ("limit.lower.swing",) if name in ("impact", "pressed") else ()
    )


def outside(p: list[float], limit: str, seed: int) -> Acting:
    """The end moves with the start, not with the limit."""
    r = stopped_arm()
    sizes = {limit: 1e-6, "limit.slip": 1e-6, "limit.load": 1e-2, "gravity.y": 1e-4}
    rates = np.random.default_rng(seed).standard_normal((2, 3))
    scene = Scene(r, np.array(p), *rates, r.alpha.vector({"limit.slip": 1e-3}))
    A = r.jac_alpha_joint_step(scene.p, scene.pd, scene.u, scene.h, scene.alpha)
    assert np.abs(A.dp_next_dalpha[:, r.alpha.index(limit)]).max() < 1e-12
    return Acting(scene, sizes, {"bar": 1e-5, "graph": None, "along": FINE})


def flap(room: float, rate: float, effort: float) -> Acting:
    """A stop on a floating base; 1e-4 outside a start is led in."""
    p, pd, u = start(UPPER - room), np.r_[SPIN[:6], rate], np.r_[0.3, -0.2, 0.1, 0.2, 0.1, -0.3, effort]
    scene = Scene(stopped_flap(), p, pd, u, weightless(gravity__x=1.0, limit__slip=1e-4))
    steps = (1e-4, 4e-5, 1e-5, 1e-6)
    sizes = {"limit.upper.shoulder": 1e-4, "limit.load": 1e-2, "limit.slip": 1e-6}
    return Acting(scene, sizes, {"graph": None, "along": steps, "efforts": steps})


def loop(name: str, coulomb: float) -> Acting:
    """Positions along what the loops allow, where alone they mean something; the graph by CasADi's root finders."""
    c, rng = closed(name), np.random.default_rng(6)
    values = {"friction.transition": 0.3} | dict.fromkeys(
        ("friction.viscous", "rotor", "spring.stiffness", "payload.mass")
    )
    alpha = c.robot.alpha.vector({})
    for k, entry in enumerate(c.robot.alpha.names):
        for kind, value in ({"friction.coulomb": coulomb or None} | values).items():
            if entry.startswith(kind):
                alpha[k] = rng.uniform(0.1, 0.5) if value is None else value
    u = np.random.default_rng(4).standard_normal(c.robot.n)
    graph = 1e-11 if name in ("five_bar", "spatial_four_bar") else None
    return Acting(Scene(c.robot, c.p, c.pd, u, alpha), None, {"graph": graph})


def loop_at_a_stop() -> Acting:
    """A slider-crank as its slide comes to its limit."""
    r, mechanism = crank(), MECHANISMS["slider_crank"]()
    slide = r.joints.index("s")
    p = r.close_loops([mechanism.guess[k] for k in r.joints], np.zeros(3))
    pd = r.close_rates(p, np.ones(3))
    pd *= -1.5 * np.sign(pd[slide]) / np.abs(pd).max()
    alpha = r.alpha.vector({"limit.lower.s": p[slide] - 0.01, "limit.slip": 1e-3})
    P, PD = r.rollout(p, pd, np.zeros((20, 3)), h=0.01, alpha=alpha)
    hit = int(P[:, slide].argmin()) - 1
    scene = Scene(r, P[hit], PD[hit], np.zeros(3), alpha)
    return Acting(scene, {"limit.lower.s": 1e-6}, {"bar": 2e-6, "graph": None, "along": FINE}, ("limit.lower.s",))


def pressed(name: str, slip: float) -> Acting:
    """A box, an arm among a table, a wall and balls, a five-bar whose tip lies on a table; what gives way a little."""
    c = pressing(name)
    sizes = {"contact.friction": 1e-3, "plane.height": 1e-6, "gravity.z": 1e-3, "contact.slip": 0.03 * slip}
    sizes |= {"contact.load": 0.03, "contact.radius": 1e-6, "contact.compliance": 1e-7}
    options = {"bar": 1e-5, "graph": None, "reverse": 1e-8, "along": (*FINE, 1e-7)}
    return Acting(Scene(c.robot, c.p, c.pd, pushed(c), c.vector(c.alpha(contact__slip=slip))), sizes, options)


def loops_with_a_gear() -> Acting:
    """A gripper of MuJoCo Menagerie: a gear, loops and passive joints; by rotors, springs and gravity."""
    r, rng, n = gripper().robot, np.random.default_rng(3), 7
    p = r.close_loops(0.2 * rng.standard_normal(n), np.zeros(n))
    pd, u = r.close_rates(p, rng.standard_normal(n)), rng.standard_normal(n)
    sizes = {"rotor_inertia": 1e-4, "spring.stiffness": 1e-3, "gravity": 1e-2}
    return Acting(Scene(r, p, pd, u, r.alpha.defaults), sizes, {"graph": None})


SLIPS = (1e-2, 1e-5)


QUICK, LONG = ("four_bar", "five_bar", "spatial_four_bar", "bennett"), ("slider_crank", "watt", "delta", "ring")


SCENES: dict[str, Callable[[], Acting]] = {
    **{f"a block, {k}, slip {s:g}": partial(block, k, s) for k in BLOCK for s in SLIPS},
    **{f"a box on an edge, slip {s:g}": partial(box_on_an_edge, s) for s in (1e-2, 1e-4)},
    **{f"a thrown box, slip {s:g}": partial(thrown_box, s, k) for s, k in ((1e-2, 30), (1e-4, 36))},
    **{f"a rod whose tip lands, slip {s:g}": partial(rod_whose_tip_lands, s) for s in (1e-3, 1e-5, 1e-6)},
    **{f"a rod that bounces, {k}": partial(rod_that_bounces, k) for k in BOUNCES},
    **{f"a ball that {k}, slip {s:g}": partial(ball, k, s) for k in TURNS for s in (1e-2, 1e-4)},
    "fingers": fingers,
    **{f"shapes: {k}": partial(shape, k) for k in ("cube", "rod", "rod_over_rod", "ball_over_cube")},
    **{f"exact cone, slip {s:g}": partial(exact_cone, s) for s in (1e-3, 1e-2)},
    **{f"a stop, {k}, slip {s:g}": partial(stop, k, s) for k in STOPS for s in SLIPS},
    "above a limit": partial(outside, [1.02, 0.1, 0.2], "limit.upper.swing", 0),
    "below a limit": partial(outside, [0.3, -1.004, 0.2], "limit.lower.slide", 1),
    "a flap at its stop": partial(flap, 0.005, 3.0, 0.0),
    "a flap pressed on its stop": partial(flap, 2e-6, 0.0, 40.0),
    "a flap free of its stop": partial(flap, 0.3, 1.0, 0.0),
    **{f"loop {k}, friction {f:g}": partial(loop, k, f) for k in (*QUICK, *LONG) for f in (0.0, 0.6)},
    "a loop at a stop": loop_at_a_stop,
    **{f"{k} in contact, slip {s:g}": partial(pressed, k, s) for k in PRESSED for s in SLIPS},
    "loops with a gear": loops_with_a_gear,
}
