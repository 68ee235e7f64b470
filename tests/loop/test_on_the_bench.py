"""Every law on three arms, first as the model has them, then as the reality bench draws them: what docs/safety.md promises.

Gains are the same, whatever the arm is: a law that shakes an arm has to be ended by a reflex before it does harm.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.robots import loaded

pytest.importorskip("pinocchio")
pytest.importorskip("mujoco")

from support.reality import KINDS, BenchReal, Differences
from support.reality.runs import run_real

Event = Callable[[BenchReal], None] | None
EVENTS: dict[str, Event] = {
    "nothing": None,
    "a push": lambda arm: arm.real.push([0.0, 25.0, 0.0]),
    "a load": lambda arm: arm.real.carry(2.0),
    "a wall": lambda arm: arm.real.wall(7.5e4, arm.real.hand()),
}
"""What happens to the hand half a second after the first torque: N, kg, N/m."""
MODEL = "on the model"
WRONG = [f"on the bench {seed}" for seed in range(3)]
ARMS = pytest.mark.parametrize("name", sorted(KINDS), ids=lambda name: f"an_{name}")
PLANTS = pytest.mark.parametrize("plant", [MODEL, *WRONG])


@pytest.fixture(autouse=True)
def sinking(request: pytest.FixtureRequest) -> None:
    """Under the gravity law nothing holds a load that nobody told: by its motion it is a hand that pushes down, to which the
    arm yields, and the ready pose is 0.6 rad above the limit of joint 4. POSITION ends the run 0.10 rad before it at 1 rad/s;
    1.7 kg with 0.36 of the friction go on to the limit before the stop has found what it takes to hold them.
    """
    given = request.node.callspec.params
    if (given.get("name"), given["law"], given["plant"]) == ("fr3", "gravity", WRONG[1]):
        request.applymarker(pytest.mark.xfail(strict=False, reason="an unknown load sinks to a limit; see `sinking`"))


def differing(plant: str) -> tuple[int, Differences]:
    """The seed of a plant, and how it differs."""
    if plant == MODEL:
        return 0, Differences()
    seed = int(plant.split()[-1])
    return seed, Differences.drawn(seed)


@pytest.mark.thorough("bench 1", "wall", "hold", "track-a", "push-on the model")
@PLANTS
@pytest.mark.parametrize("event", list(EVENTS))
@pytest.mark.parametrize("law", ["hold", "gravity", "impedance", "track"])
@ARMS
def test_promises_of_every_run(name: str, law: str, event: str, plant: str) -> None:
    seed, differences = differing(plant)
    ran = run_real(name, law, seed, differences=differences, event=EVENTS[event])
    ran.check(pushed=event == "a push")
    assert ran.report.sent > 0, ran.report


@pytest.mark.thorough("bench 1", "mpc-a load")
@PLANTS
@pytest.mark.parametrize("event", ["nothing", "a load"])
@pytest.mark.parametrize("law", ["cartesian", "mpc"])
def test_promises_of_laws_that_need_the_generated_arm(law: str, event: str, plant: str) -> None:
    seed, differences = differing(plant)
    ran = run_real(
        "baxter", law, seed, rate=100.0, robot=loaded("baxter_bare"), differences=differences, event=EVENTS[event]
    )
    ran.check()
    assert ran.report.sent > 0, ran.report
