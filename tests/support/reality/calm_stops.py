"""Seven-joint arms in motion, each stopped by a request: what the stop did, by a plant that shares no line with ours.

The plant is pinocchio's dynamics with friction of its own (`LoneBaxter`), of which the model may know or not, or an arm of the
reality bench, which differs from the model in everything. Arms at random have pinocchio as their model as well, on a
description whose masses are not the plant's.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
import pinocchio

from diffpbd.runtime import Robot
from diffpbd.runtime.control import laws as table
from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.control.law import Setup
from diffpbd.runtime.control.laws.track import TrackController
from diffpbd.runtime.loop.configuration import Configuration, limits_of
from diffpbd.runtime.loop.motion import Laden, Motion
from diffpbd.runtime.loop.reflexes import BRAKING, ReflexSettings
from diffpbd.runtime.loop.run import Run, RunOptions
from diffpbd.runtime.loop.stopping import Report, StopRequest
from diffpbd.runtime.loop.supervisor import Settings, Supervisor
from diffpbd.runtime.model.limits import Limits
from support.arms.bench import STEP, Bench
from support.arms.bench_baxter import BenchBaxter
from support.reality import KINDS, BenchReal, Differences, Kind

LAWS = ("gravity", "impedance", "cartesian", "track", "mpc")
BAXTER = KINDS["baxter"]
STIFFNESS, DAMPING = np.array(BAXTER.stiffness), np.array(BAXTER.damping)
SLOWER = 0.4
"""Share of these gains that 100 Hz are quick enough for."""
MARGIN = 0.2
"""rad of a start and a goal before the limits."""
DETECTION, LEAST_MOTION = 0.1, 0.05
"""s and rad of docs/safety.md's bound on what a stop travels."""
WHIPPED = 0.02
"""rad more where a joint was above 1.2 × its speed limit as the stop began: another is carried along."""
MOST_HELD = 0.8
"""Of the effort; where weight and spring take more no stop is judged: a hand leads an arm to where it cannot hold itself."""
TRANSITION = 2e-3
"""rad/s below which the model's dry friction is viscous."""
MOVING = 0.8
"""s after which the stop is asked for."""

Laws = Callable[[dict[str, Any], Limits, Settings], Supervisor]


class NotRun(Exception):
    """A run that was refused: nothing was stopped."""


@dataclass
class Stopped:
    """Outcome of one stop, arrays (n,)."""

    report: Report
    speed: np.ndarray
    """|dq| [rad/s] when the stop began."""
    gained: np.ndarray
    """rad/s by which |dq| grew after it, beyond what the law's own last torque gives while it goes out at the torque rate."""
    beyond: np.ndarray
    """rad of the way beyond what docs/safety.md allows."""
    torque: np.ndarray
    """Largest law of the stop [N·m], gravity and what is left of the run's own law left out."""
    moved: np.ndarray
    """rad from where it began, at the end."""
    gave: bool
    """Whether the arm gave way first: it then moves with what pushes it."""
    held: float
    """Largest share of a joint's effort that weight and spring took: what is left has to stop the arm."""


def random_urdf(seed: int, heavier: float = 0.0) -> str:
    """Seven revolute joints about axes at random, lighter from link to link; `heavier`: masses changed by up to this share."""
    rng, other = np.random.default_rng(seed), np.random.default_rng(seed + 1)
    lines = ['<robot name="random"><link name="l0"/>']
    for k in range(7):
        mass = (5.0 - 0.7 * k) * rng.uniform(0.6, 1.4) * (1.0 + heavier * other.uniform(-1.0, 1.0))
        com = rng.uniform(-0.03, 0.03, 3) + [0.0, 0.0, 0.08]
        radii = mass * rng.uniform(0.03, 0.06, 3) ** 2
        moments = [radii[1] + radii[2], radii[0] + radii[2], radii[0] + radii[1]]
        axis = np.eye(3)[rng.integers(3)] if k % 2 else np.array([0.0, 0.0, 1.0])
        place = [0.0, 0.0, 0.0] if k == 0 else [*rng.uniform(-0.05, 0.05, 2), rng.uniform(0.08, 0.26)]
        effort, speed = (90.0, 1.5) if k < 4 else (20.0, 3.0)
        words = [" ".join(f"{value:.9f}" for value in values) for values in (place, axis, com)]
        lines.append(
            f'<joint name="r_j{k}" type="revolute"><origin xyz="{words[0]}"/><axis xyz="{words[1]}"/><parent link="l{k}"/>'
            f'<child link="l{k + 1}"/><limit lower="-2.5" upper="2.5" effort="{effort}" velocity="{speed}"/></joint>'
            f'<link name="l{k + 1}"><inertial><origin xyz="{words[2]}"/><mass value="{mass:.9f}"/>'
            f'<inertia ixx="{moments[0]:.9f}" iyy="{moments[1]:.9f}" izz="{moments[2]:.9f}" '
            'ixy="0" ixz="0" iyz="0"/></inertial></link>'
        )
    return "\n".join([*lines, "</robot>"])


def owner_of(law: dict[str, Any]) -> GravityOwner:
    """Whose gravity is; in position mode the robot's own servo bears it."""
    return GravityOwner.ROBOT if law["name"] == "hold" else GravityOwner.MODEL


def by_pinocchio(urdf: str | Path, *, known: bool, kind: Kind = BAXTER, rotor: float = 0.0) -> tuple[Limits, Laws]:
    """Limits and supervisors of laws that need no generated functions; `known`: the model has the plant's friction.

    `rotor` [kg·m²] is what the model knows of each joint's.
    """
    model = pinocchio.buildModelFromUrdf(str(urdf))
    model.armature[:] = rotor
    data, zero = model.createData(), np.zeros(model.nv)
    names = tuple(model.names)[1:]
    sprung = np.array([kind.spring if kind.sprung and name.endswith(kind.sprung) else 0.0 for name in names])
    coulomb, viscous = np.array(kind.coulomb), np.array(kind.viscous)

    def rigid(q: np.ndarray, dq: np.ndarray, ddq: np.ndarray) -> np.ndarray:
        return np.array(pinocchio.rnea(model, data, q, dq, ddq)) - np.array(pinocchio.rnea(model, data, q, zero, zero))

    def inertial(q: np.ndarray, dq: np.ndarray, ddq: np.ndarray) -> np.ndarray:
        return rigid(q, dq, ddq) + coulomb * np.tanh(dq / TRANSITION) + viscous * dq

    def mass(q: np.ndarray) -> np.ndarray:
        upper = np.triu(pinocchio.crba(model, data, q))
        return upper + np.triu(upper, 1).T

    def weight(q: np.ndarray) -> np.ndarray:
        return np.array(pinocchio.rnea(model, data, q, zero, zero)) + sprung * (q - kind.rest)

    def laden(load: np.ndarray) -> Laden:
        heavy = pinocchio.buildModelFromUrdf(str(urdf))
        tip = heavy.frames[heavy.getFrameId(kind.hand) if heavy.existFrame(kind.hand) else heavy.nframes - 1]
        place = tip.placement.act(load[1:])
        heavy.inertias[tip.parentJoint] += pinocchio.Inertia(float(load[0]), place, np.zeros((3, 3)))
        own = heavy.createData()

        def symmetric(q: np.ndarray) -> np.ndarray:
            upper = np.triu(pinocchio.crba(heavy, own, q))
            return upper + np.triu(upper, 1).T

        return Laden(lambda q, dq, ddq: np.array(pinocchio.rnea(heavy, own, q, dq, ddq)), symmetric)

    motion = Motion(inertial, rigid, mass, laden) if known else Motion(rigid, None, mass, laden)
    effort = np.array(model.effortLimit)
    limits = Limits(
        np.array(model.lowerPositionLimit), np.array(model.upperPositionLimit), np.array(model.velocityLimit), effort, effort,
        10.0 * effort, 0.1,
    )  # fmt: skip
    limited: Any = SimpleNamespace(limits=limits)  # all of a robot that the laws here ask for

    def made(law: dict[str, Any], limits: Limits, settings: Settings) -> Supervisor:
        if law["name"] == "track":
            controller = TrackController({k: v for k, v in law.items() if k != "name"}, motion.inertial, names)
        else:
            controller = table.law_of(law).make(Setup(limited, zero, limits, settings.period))
        owner = owner_of(law)
        return Supervisor(
            controller, limits, settings, owner=owner, joints=names, motion=motion,
            gravity=None if owner is GravityOwner.ROBOT else weight,
        )  # fmt: skip

    return limits, made


def told(robot: Robot, kind: Kind, *, known: bool, rotor: float = 0.0) -> np.ndarray:
    """alpha of a model that knows the spring, the friction if it is `known`, and each joint's rotor [kg·m²]."""
    values = {}
    for joint, coulomb, viscous in zip(robot.joints, kind.coulomb, kind.viscous, strict=True):
        values[f"rotor_inertia.{joint}"] = rotor
        if known:
            values |= {f"friction.coulomb.{joint}": coulomb, f"friction.viscous.{joint}": viscous}
            values |= {f"friction.transition_velocity.{joint}": TRANSITION}
        if kind.sprung and joint.endswith(kind.sprung):
            values |= {f"spring.stiffness.{joint}": kind.spring, f"spring.rest.{joint}": kind.rest}
    return robot.alpha.vector(values)


def generated_laws(robot: Robot, *, known: bool, kind: Kind = BAXTER, rotor: float = 0.0) -> tuple[Limits, Laws]:
    """The same of a generated robot, for all laws."""
    alpha = told(robot, kind, known=known, rotor=rotor)

    def made(law: dict[str, Any], limits: Limits, settings: Settings) -> Supervisor:
        return Configuration(
            robot.name, robot.manifest.abi_hash, robot.joints, law, owner_of(law), alpha, limits, settings
        ).supervisor(robot)

    return limits_of(robot), made


def chosen(rng: np.random.Generator, count: int) -> np.ndarray:
    """Which joints move: more than half, one at the least."""
    some = rng.random(count) < 0.6
    some[rng.integers(count)] = True
    return some


def law_of(
    name: str, q: np.ndarray, rng: np.random.Generator, limits: Limits, speed: float, share: float, kind: Kind = BAXTER
) -> dict[str, Any]:
    """Settings of a law that moves the arm from q [rad], with a `share` of the gains; goals at random of most joints."""
    most, least = np.array(kind.stiffness), np.array(kind.damping)
    lower, upper = limits.lower + MARGIN, limits.upper - MARGIN
    way = np.where(chosen(rng, len(q)), rng.choice([-1.0, 1.0], len(q)) * rng.uniform(0.5, 1.5, len(q)), 0.0)
    goal = np.clip(q + way, lower, upper)
    stiffness, damping = (share * most).tolist(), (share * least).tolist()
    gains = {"stiffness": stiffness, "damping": damping, "goal_speed": speed}
    if name == "gravity":
        return {"name": name, "damping": (0.2 * least).tolist()}
    if name == "impedance":
        return {"name": name, **gains, "goal": goal.tolist(), "net_torque": None}
    if name == "cartesian":
        toward = rng.normal(size=3)
        return {
            "name": name, "stiffness": [200.0] * 3 + [10.0] * 3, "damping_ratio": 0.7,
            "offset": (0.25 * toward / np.linalg.norm(toward)).tolist(), "speed": 0.3 * speed,
            "posture": [0.25 * k for k in stiffness], "damping": [0.3 * d for d in damping],
        }  # fmt: skip
    if name == "track":  # at its fastest 0.8 s into the motion, which begins after 0.5 s
        time = np.linspace(0.0, 1.6, 161)
        turn, leap = np.pi * time / 1.6, np.clip(q + speed * np.sign(way), lower, upper) - q
        path, rates = q + np.outer(0.5 - 0.5 * np.cos(turn), leap), np.outer(0.5 * np.pi / 1.6 * np.sin(turn), leap)
        reference = {"time": time.tolist(), "q": path.tolist(), "dq": rates.tolist()}
        return {"name": name, **gains, "reach": None, "reference": reference}
    return {
        "name": name, "horizon": 3, "goal": goal.tolist(), "goal_speed": 0.8 * speed, "reference": None, "delay": 1,
        "weights": {"p": 1.0, "pd": 0.02, "du": 1e-4}, "disturbance": None,
    }  # fmt: skip


def stopped(
    urdf: Path, limits: Limits, laws: Laws, law: str, rate: float, seed: int, *, speed: float = 1.0,
    real: tuple[str, Differences] | None = None,
) -> Stopped:  # fmt: skip
    """One run with ticks and states at `rate` [Hz] from a pose at random, asked to stop in motion at about `speed` [rad/s].

    Arms at random are lighter than Baxter's: their laws have a share of the gains that this rate is quick enough for. `real` is
    an arm of the reality bench that stands for the model's own.
    """
    rng = np.random.default_rng(seed)
    q = rng.uniform(limits.lower + MARGIN, limits.upper - MARGIN)
    share = SLOWER if rate < 200.0 or "r_j0" in urdf.read_text(encoding="utf-8") else 1.0
    settings = Settings(1.0 / rate, ramp=0.2, reflexes=ReflexSettings(tracking=3.0, contact=0.6))
    kind = BAXTER if real is None else KINDS[real[0]]
    under = laws(law_of(law, q, rng, limits, speed, share, kind), limits, settings)
    arm: BenchBaxter = (
        BenchBaxter(str(urdf), limits, q, Bench(), rate=rate)
        if real is None
        else BenchReal(real[0], limits, q, real[1], rate=rate)
    )
    stop = StopRequest()
    braking: list[np.ndarray] = []
    gave: list[bool] = []
    laws_sent: list[np.ndarray] = [np.zeros(len(q))]
    brake, tick = under.brake, under.tick

    def ticked(*state: Any) -> Any:
        decision = tick(*state)
        laws_sent[-1] = decision.law
        return decision

    def watched(*state: Any, **options: Any) -> Any:
        decision = brake(*state, **options)
        gave.append(decision.yielding)
        left = np.abs(laws_sent[-1]) - limits.torque_rate / rate * (len(braking) - 2)  # of the law's last torque
        braking.append(np.where(np.abs(decision.law) > left + 1e-6, np.abs(decision.law), 0.0))
        return decision

    under.brake, under.tick = watched, ticked
    one = Run(arm, under, RunOptions(duration=3.0, allow_mismatch=real is not None), stop=stop)
    arm.in_run = lambda: one.phase.value == "run"
    seen: list[tuple[np.ndarray, np.ndarray, float]] = []
    owed: list[np.ndarray] = []

    def watch() -> None:
        if one.phase.value in ("stop", "done"):
            held = float(np.abs(arm.robot.compensation() / limits.effort).max())
            seen.append((np.array(arm.q), np.abs(arm.dq), held))
            impulse = laws_sent[-1] * np.abs(laws_sent[-1]) / (2.0 * limits.torque_rate)
            owed.append(np.abs(np.linalg.solve(arm.robot.inertia(), impulse)) if not owed else owed[0])
        arm.events.append((arm.time - arm.begun + STEP, watch))

    def ask() -> None:
        arm.robot.push[:] = 0.0
        stop.ask("a request")

    arm.after(MOVING if law != "track" else 1.3, ask)
    arm.after(0.0, watch)
    if law == "gravity":  # a hand that leads it
        wanted = rng.choice([-1.0, 1.0], len(q)) * chosen(rng, len(q)) * speed / 0.3
        arm.after(
            MOVING - 0.3,
            lambda: arm.robot.push.__setitem__(
                slice(None), arm.robot.inertia() @ wanted + arm.robot.coulomb * np.sign(wanted)
            ),
        )
    with patch("diffpbd.runtime.loop.run.punctual", contextlib.nullcontext):
        report = one.execute()
    arm.advance(0.2)
    if not seen:
        raise NotRun(report.text)
    angles, speeds, shares = (np.array(part) for part in zip(*seen, strict=True))
    v = speeds[0]
    most = v + np.minimum(owed[0], np.maximum(speeds.max(axis=0) - v, 0.0))  # by the law's last torque
    longest = float(np.max(most * BRAKING / limits.speed))  # one factor on the decelerations: all joints stop together
    allowed = np.maximum(most * (DETECTION + 0.5 * longest), LEAST_MOTION)
    allowed += WHIPPED if (v > 1.2 * limits.speed).any() else 0.0
    return Stopped(
        report, v, np.maximum(speeds.max(axis=0) - v - owed[0], 0.0), np.abs(angles - angles[0]).max(axis=0) - allowed,
        np.max(braking, axis=0, initial=0.0), np.abs(angles[-1] - angles[0]), any(gave), float(shares.max()),
    )  # fmt: skip


def real_stop(name: str, law: str, rate: float, seed: int, *, robot: Robot | None = None, **fixed: Any) -> Stopped:
    """A stop of an arm of the reality bench, which differs in everything (`fixed` but for these).

    By turns its model knows no friction, the friction before the factors, and a rotor inertia that is half of the largest. Laws
    are pinocchio's, or the generated robot's.
    """
    kind, told = KINDS[name], {"known": bool(seed % 2), "rotor": 0.15 if seed // 2 % 2 else 0.0}
    if robot is None:
        limits, laws = by_pinocchio(kind.urdf(), kind=kind, **told)
    else:
        limits, laws = generated_laws(robot, kind=kind, **told)
    return stopped(kind.urdf(), limits, laws, law, rate, seed, real=(name, Differences.drawn(seed, **fixed)))
