"""The property matrix: robots × functions × {C = graph = program, derivatives = differences, a batch = its rows}.

A capability gets a line in `CASES`. What a step does at a state where something acts is judged by `support.properties`, in the
tests of what acts.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from emit.test_floating import rich
from emit.test_floating import state as flying
from joint_space.test_link_step import gantry
from parameters.test_friction_laws import HUB, OFF_AXIS, RAIL, STATES, STRIBECK_ALONE
from parameters.test_gears import TIPS, source
from parameters.test_lever_spring import JOINTS
from parameters.test_memory import FUNCTIONS as MEMORY_OF
from parameters.test_memory import HUB as HUB_WITH_MEMORY
from parameters.test_memory import RAIL as WITH_MEMORY
from parameters.test_memory import STATES as STATES_OF_MEMORY
from parameters.test_memory import friction as friction_with_memory
from parameters.test_wrench import ENDS, FRAMES, pushed_pendulum, wrenches
from parameters.test_wrench import TIPS as BRANCHES
from support.branching import branching
from support.closed_robots import case as closed
from support.described import Described
from support.floating_arm import floating_arm
from support.matrix import (
    Case,
    batches_are_rows,
    both_steps_are_one_map,
    derivatives_are_differences,
    graphs_are_the_functions,
    programs_are_the_functions,
    torques_come_back,
    unrolled_is_the_step,
)
from support.numeric import Array, random_states, states
from support.robots import FULL, generated, loaded, loaded_alpha, model
from support.sled import description, friction, sled
from support.sprung import springs, sprung_pendulum

from diffpbd.runtime import Robot, load

ROWS = 3
SMALL = {"payload.inertia": 1e-5, "payload": 3e-4}
OPEN = ("inverse_dynamics", "forward_dynamics", "gravity", "tip_pose", "joint_step", "fk", "joint_state")
STEPS = ("joint_step", "jac_joint_step", "node_torque")
LOOPED = ("inverse_dynamics", "forward_dynamics")
"""Functions of a robot with closed loops that are defined beside its closed motions too."""


def shipped(name: str, alpha: Array | None = None) -> Case:
    """Every force, or an alpha; random states, and those where formulas break."""
    robot = loaded(name)
    return Case(
        robot, loaded_alpha(robot.alpha) if alpha is None else alpha, states(robot.n, ROWS), model=model(name),
        but=("sixth",) if alpha is None else (),
        derived=OPEN,
    )  # fmt: skip


def at_defaults(name: str) -> Case:
    """No payload, no friction, no springs: where derivatives by parameters are at their bounds."""
    return shipped(name, loaded(name).alpha.defaults)


def steep(name: str) -> Case:
    """Baxter-like Coulomb friction with the default transition of 0.01 rad/s."""
    robot = loaded(name)
    kinds = {"friction.coulomb": np.linspace(2.0, 0.5, robot.n), "friction.viscous": np.ones(robot.n)}
    alpha = robot.alpha.defaults
    for kind, values in kinds.items():
        alpha[list(robot.alpha.indices(kind))] = values
    return Case(robot, alpha, states(robot.n, ROWS), derived=("joint_step",), sizes={"pd": 1e-4})


def made(robot: Robot, more: dict[str, float], **options: object) -> Case:
    """Every force and entries of its own; with friction there is no step of sixth order."""
    alpha = robot.alpha.vector(more, base=loaded_alpha(robot.alpha))
    return Case(robot, alpha, **{"values": random_states(robot.n, ROWS), "but": ("sixth",), **options})  # type: ignore[arg-type]


def hand(folder: Path) -> Case:
    """Fingers and a knuckle that follow others."""
    file = folder / "geared.urdf"
    file.write_bytes(source(True))
    return made(load(generated(str(file), tip=TIPS)), {})


def rough_sled(folder: Path, entries: dict[str, float]) -> Case:
    """Friction that differs by direction and falls with the rate; moving, sticking and reversing."""
    robot = sled(folder)
    values = dict(zip(("p", "pd", "u"), np.array(list(STATES.values())).swapaxes(0, 1), strict=True))
    return Case(
        robot, robot.alpha.vector(entries), values | {"pdd": values["u"]}, but=("sixth",),
        sizes={"pd": 1e-4, "u": 1e-3}, sizes_of_alpha={"": 2e-5},
    )  # fmt: skip


def remembering(folder: Path) -> Case:
    """Dahl's friction: moving, at rest, reversing, and over hardly any way."""
    robot = load(generated(str(description(folder)), friction_law=["dahl"], functions=MEMORY_OF))
    rows = [STATES_OF_MEMORY[k][:3] for k in ("moving", "at rest", "reversing")]
    values = dict(zip(("p", "pd", "u"), np.array(rows).swapaxes(0, 1), strict=True))
    return Case(
        robot, robot.alpha.vector(friction_with_memory(WITH_MEMORY, HUB_WITH_MEMORY) | OFF_AXIS),
        values | {"pdd": values["u"], "pd_next": values["pd"]}, but=("sixth",),
        sizes={"pd": 1e-6, "pd_next": 1e-6, "p": 1e-4, "u": 1e-4, "h": 1e-7, "kick": 1e-6}, sizes_of_alpha={"": 2e-6},
    )  # fmt: skip


def pushed_tree(folder: Path) -> Case:
    """Wrenches and lever springs on a branching tree with a slide, every number symbolic."""
    (folder / "tree.urdf").write_bytes(branching())
    asked = {"wrench": FRAMES, "lever_springs": JOINTS, "symbolic": ["mass", "com", "inertia", "origin"]}
    functions = (
        "jac_alpha_joint_step",
        "jac_inverse_dynamics",
        "jac_forward_dynamics",
        "joint_step_unrolled",
        "vjp_step",
    )
    robot = load(generated(str(folder / "tree.urdf"), tip=BRANCHES, functions=functions, **asked))
    model = Described.of(folder / "tree.urdf", tip=BRANCHES, only=("gravity",), **asked).model
    return made(robot, wrenches(FRAMES) | springs(JOINTS), model=model, programs=STEPS, derived=OPEN)


def slides(folder: Path) -> Case:
    """Slides on slides, a hinge on them."""
    file = folder / "gantry.urdf"
    file.write_bytes(gantry())
    asked = {"tip": ["c", "d"], "functions": ("jac_alpha_joint_step", "jac_forward_dynamics"), "variants": ()}
    return made(
        load(generated(str(file), **asked)), {}, model=Described.of(file, tip=["c", "d"], only=("gravity",)).model
    )


def looped(name: str) -> Case:
    """At a closed state, with a torque and an acceleration that do not match, and parameters that all matter."""
    c, rng = closed(name), np.random.default_rng(5)
    alpha = c.robot.alpha.vector({})
    for k, entry in enumerate(c.robot.alpha.names):
        if entry.startswith(
            ("friction.coulomb", "friction.viscous", "rotor", "spring", "torque_offset", "payload.mass")
        ):
            alpha[k] = rng.uniform(0.1, 0.5)
        if entry.startswith("friction.transition"):
            alpha[k] = 0.3
    u, pdd = rng.standard_normal((2, c.robot.n))
    values = {k: np.array([x, x]) for k, x in (("p", c.p), ("pd", c.pd), ("u", u), ("pdd", pdd))}
    return Case(c.robot, alpha, values, derived=LOOPED)


def floating() -> Case:
    robot = floating_arm()
    rows = [np.array(x) for x in zip(*map(flying, range(3, 3 + ROWS)), strict=True)]
    values = dict(zip(("p", "pd", "u"), rows, strict=True)) | {"pdd": random_states(robot.n, ROWS)["pdd"]}
    return Case(robot, rich(robot), values)


CASES: dict[str, Callable[[Path], Case]] = {
    **{name: lambda _, name=name: shipped(name) for name in FULL},
    **{f"{name} at defaults": lambda _, name=name: at_defaults(name) for name in FULL},
    "wrenches": lambda folder: made(pushed_pendulum(folder), wrenches(ENDS), sizes_of_alpha=SMALL),
    "lever spring": lambda folder: made(sprung_pendulum(folder), springs(), values=states(2, ROWS)),
    "joints that follow others": hand,
    "laws of friction": lambda folder: rough_sled(folder, friction(RAIL, HUB) | OFF_AXIS),
    "Stribeck's law alone": lambda folder: rough_sled(folder, STRIBECK_ALONE),
    "memory of friction": remembering,
    "forces on a branching tree": pushed_tree,
    "slides on slides": slides,
    "floating base": lambda _: floating(),
    **{f"closed loops of {name}": lambda _, name=name: looped(name) for name in ("four_bar", "spatial_four_bar", "bennett")},
}  # fmt: skip


@pytest.fixture(scope="module", params=CASES)
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    return CASES[request.param](tmp_path_factory.mktemp("matrix"))


def test_graphs(case: Case) -> None:
    assert graphs_are_the_functions(case) >= 3
    unrolled_is_the_step(case)


@pytest.mark.thorough("baxter_bare", "prismatic_skew")
@pytest.mark.parametrize("case", [k for k in CASES if k.split(" ")[0] in (*FULL, "forces", "slides")], indirect=True)
def test_programs(case: Case) -> None:
    """In world axes, where the C of short trees is in link frames: two derivations of a step."""
    assert programs_are_the_functions(case) >= (len(case.programs) or 13)


def test_derivatives(case: Case) -> None:
    assert derivatives_are_differences(case) >= 9


@pytest.mark.parametrize(
    "case", [name for name in CASES if not name.startswith(("closed", "floating", "memory"))], indirect=True
)
def test_torques_of_a_motion(case: Case) -> None:
    torques_come_back(case)


def test_both_steps(case: Case) -> None:
    both_steps_are_one_map(case)


def test_batches(case: Case) -> None:
    assert batches_are_rows(case) >= 10


@pytest.mark.parametrize("name", ["double_pendulum", "baxter_bare"])
def test_derivatives_under_steep_friction(name: str) -> None:
    assert derivatives_are_differences(steep(name)) > 50
