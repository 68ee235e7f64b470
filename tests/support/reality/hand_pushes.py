"""Pushes at the hand of arms of the reality bench: what a run makes of them, and how much the arm resists.

cd tests; python -m support.reality.hand_pushes --count 50 --laws impedance,gravity --rates 100,250 --robots baxter,fr3
"""

from __future__ import annotations

import argparse
import contextlib
from collections import Counter
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np

from diffpbd.runtime.loop.reflexes import Reflex
from diffpbd.runtime.loop.run import Run, RunOptions
from diffpbd.runtime.loop.stopping import Reason, Report
from diffpbd.runtime.loop.supervisor import Settings
from support.arms.bench import STEP, Bench
from support.reality import KINDS, BenchReal, Differences
from support.reality.calm_stops import SLOWER, Laws, by_pinocchio, generated_laws, law_of
from support.robots import loaded

FORCES = (15.0, 20.0, 30.0, 40.0)
"""N at the hand."""
AT = 0.7
"""s into the run at which the push begins, at once."""
NEAR, MARGIN = 0.4, 0.3
"""rad of a start about the arm's ready pose, and before its limits."""
SLOWLY = 0.15
"""rad/s; speed of a law's own motion."""
PUSHED = (Reflex.CONTACT, Reflex.TRACKING)
"""What a push may end as, beside not at all."""


@dataclass
class Pushed:
    """Outcome of one push of `force` [N]."""

    report: Report
    force: np.ndarray
    found: float | None
    """s from the push to the last command of the law."""
    yielded: float
    """Largest torque while the arm yields, over the effort limits."""
    way: float
    """m that the hand went along the force until the arm stopped yielding."""
    fastest: float
    """Largest speed of a joint from the push until the arm is braked, over its limit."""

    @property
    def name(self) -> str:
        """The reflex, or the reason without one."""
        return self.report.reflex.name if self.report.reflex is not None else self.report.reason.name

    @property
    def early(self) -> bool:
        """Whether the run ended before the push."""
        return self.found is None or self.found < 0.0

    @property
    def right(self) -> bool:
        """Whether it ended as a push, or did not end."""
        return self.report.reflex in PUSHED or self.report.reason is Reason.FINISHED


def differing(seed: int, **fixed: Any) -> Differences:
    """Friction 0.3 to 3 times the model's, a kilogram more or not, states up to 10 ms old, noisy and filtered ones."""
    rng = np.random.default_rng([seed, 26])
    drawn: dict[str, Any] = {
        "friction": tuple(np.exp(rng.uniform(np.log(0.3), np.log(3.0), 8)).tolist()), "load": float(rng.choice([0.0, 1.0])),
        "state_delay": rng.uniform(0.0, 0.01), "encoder": 3.8e-4, "noise": rng.uniform(0.0, 4e-3),
        "filter": float(rng.choice([0.0, rng.uniform(0.0, 0.012)])), "seed": seed,
    }  # fmt: skip
    return Differences(**{**drawn, **fixed})


def laws_of(name: str, law: str, known: bool) -> tuple[Any, Laws]:
    """Limits and laws for an arm of the bench; `known`: its model has the friction before the factors."""
    kind = KINDS[name]
    if law in ("cartesian", "mpc"):
        return generated_laws(loaded(kind.robot()), known=known, kind=kind)
    return by_pinocchio(kind.urdf(), kind=kind, known=known)


def pushed(
    name: str, law: str, rate: float, seed: int, *, force: float | None = None, differences: Differences | None = None
) -> Pushed:
    """One run, pushed at the hand in a direction at random."""
    rng, kind = np.random.default_rng(seed), KINDS[name]
    limits, laws = laws_of(name, law, bool(seed % 2))
    q = np.clip(
        np.array(kind.ready) + rng.uniform(-NEAR, NEAR, len(kind.ready)), limits.lower + MARGIN, limits.upper - MARGIN
    )
    share = SLOWER if rate < 200.0 else 1.0
    under = laws(law_of(law, q, rng, limits, SLOWLY, share, kind), limits, Settings(1.0 / rate, ramp=0.2))
    arm = BenchReal(name, limits, q, differences or differing(seed), rate=rate, bench=Bench())
    one = Run(arm, under, RunOptions(duration=AT + 1.5, allow_mismatch=True))
    arm.in_run = lambda: one.phase.value == "run"
    toward = rng.normal(size=3)
    thrust = (force or float(rng.choice(FORCES))) * toward / np.linalg.norm(toward)
    places, fastest, yielded = [], [0.0], [0.0]
    over: list[bool] = []
    brake = under.brake

    def braked(*state: Any, **options: Any) -> Any:
        decision = brake(*state, **options)
        over.append(not decision.yielding)
        if decision.yielding:
            yielded.append(float(np.abs(decision.law / limits.effort).max()))
            places.append(arm.real.hand())
        return decision

    def watch() -> None:
        if not any(over):
            fastest.append(float((np.abs(arm.dq) / limits.speed).max()))
        if not yielded[1:]:
            places.append(arm.real.hand())
        arm.events.append((arm.time - (arm.begun or 0.0) + STEP, watch))

    def press() -> None:
        arm.real.push(thrust)
        watch()

    under.brake = braked  # type: ignore[method-assign]
    arm.after(AT, press)
    with patch("diffpbd.runtime.loop.run.punctual", contextlib.nullcontext):
        report = one.execute()
    found = None if arm.last_law is None or arm.begun is None else arm.last_law - arm.begun - AT
    way = float((places[-1] - places[0]) @ thrust / np.linalg.norm(thrust)) if places else 0.0
    return Pushed(report, thrust, found, max(yielded), way, max(fastest))


@dataclass
class Walled:
    """A hit on a wall: the hand's speed [m/s], s from the touch to the breach, its name, and the largest force [N]."""

    speed: float
    found: float
    name: str
    force: float


def walled(
    name: str, joint: int, rate: float, *, speed: float = 0.42, stiffness: float = 75e3, **differences: Any
) -> Walled:
    """An impedance law turns one joint so that the hand meets a wall at about `speed`."""
    kind = KINDS[name]
    limits, laws = laws_of(name, "impedance", True)
    q, turned = np.array(kind.ready), np.array(kind.ready)
    arm = BenchReal(name, limits, q, Differences(**{"encoder": 3.8e-4, "noise": 4e-3, **differences}), rate=rate)
    side = 1.0 if limits.upper[joint] - q[joint] > 0.9 else -1.0
    turned[joint] += 0.35 * side
    links = arm.real.links
    links.at(turned, np.zeros(len(q)))
    toward, at = side * links.jacobian()[:, joint].copy(), links.place().copy()
    goal = q.copy()
    goal[joint] += 0.8 * side
    law = {
        "name": "impedance", "stiffness": list(kind.stiffness), "damping": list(kind.damping), "goal": goal.tolist(),
        "goal_speed": speed / float(np.linalg.norm(toward)), "net_torque": None,
    }  # fmt: skip
    under = laws(law, limits, Settings(1.0 / rate, ramp=0.2))
    one = Run(arm, under, RunOptions(duration=3.0))
    arm.in_run = lambda: one.phase.value == "run"
    touched: list[tuple[float, float]] = []
    forces = [0.0]

    def watch() -> None:
        if arm.real.wall_force > 0.0 and not touched:
            touched.append(
                (arm.time, abs(float(toward @ (links.jacobian() @ arm.real.dq))) / float(np.linalg.norm(toward)))
            )
        forces.append(arm.real.wall_force)
        arm.events.append((arm.time - (arm.begun or 0.0), watch))

    arm.after(0.0, lambda: (arm.real.wall(stiffness, at, -toward), watch()))
    found: list[tuple[float, str]] = []
    tick = under.tick

    def ticked(*state: Any) -> Any:
        decision = tick(*state)
        if decision.breach is not None:
            found.append((arm.time, decision.breach.reflex.name))
        return decision

    under.tick = ticked  # type: ignore[method-assign]
    with patch("diffpbd.runtime.loop.run.punctual", contextlib.nullcontext):
        one.execute()
    if not (touched and found):
        return Walled(touched[0][1] if touched else 0.0, np.inf, "nothing", max(forces))
    return Walled(touched[0][1], found[0][0] - touched[0][0], found[0][1], max(forces))


def main() -> None:
    """Print every wrong case and a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--laws", default="gravity,impedance,track")
    parser.add_argument("--rates", default="100,250")
    parser.add_argument("--robots", default="baxter,fr3,ur5e")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--walls", action="store_true", help="hits on a wall in place of pushes")
    given = parser.parse_args()
    if given.walls:
        for name in given.robots.split(","):
            for rate in map(float, given.rates.split(",")):
                for lag in (0.0, 0.012):
                    hits = [walled(name, joint, rate, filter=lag) for joint in (0, 1)]
                    words = ", ".join(
                        f"{1e3 * hit.found:.0f} ms {hit.name} ({hit.speed:.2f} m/s, {hit.force:.0f} N)" for hit in hits
                    )
                    print(f"{name} {rate:g} Hz, speeds {1e3 * lag:g} ms late: {words}", flush=True)
        return
    for name in given.robots.split(","):
        for law in given.laws.split(","):
            for rate in map(float, given.rates.split(",")):
                seen = [(k, pushed(name, law, rate, k)) for k in range(given.first, given.first + given.count)]
                for k, one in seen:
                    if given.all or not (one.right or one.early):
                        size = float(np.linalg.norm(one.force))
                        print(
                            f"  {k}: {size:.0f} N {one.name} after {one.found} s: {one.report.text}; {one.report.ending}"
                        )
                after = [one for _, one in seen if not one.early]
                print(
                    f"{name} {law} {rate:g} Hz: {dict(Counter(one.name for one in after))}, before the push "
                    f"{dict(Counter(one.name for _, one in seen if one.early))}; yields with "
                    f"{max((one.yielded for one in after), default=0.0):.2f} of the effort, hand goes "
                    f"{1e3 * float(np.median([one.way for one in after] or [0.0])):.0f} mm, up to "
                    f"{max((one.fastest for one in after), default=0.0):.2f} x the speed limit",
                    flush=True,
                )


if __name__ == "__main__":
    main()
