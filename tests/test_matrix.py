"""The property matrix: robots × functions × {C = graph = program, derivatives = differences, a batch = its rows}.

A capability gets a line in `CASES`. Steps where something acts are in `test_scenes`.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.arguments import effort
from support.described import Described
from support.free_flyer import moved
from support.judges.extremes import counted_rows, silent_results
from support.judges.matrix import (
    Case,
    batches_are_rows,
    both_steps_are_one_map,
    derivatives_are_differences,
    graphs_are_the_functions,
    programs_are_the_functions,
    torques_come_back,
    unrolled_is_the_step,
)
from support.judges.properties import Scene, rollout_is_its_steps
from support.made.bouncing import made as bouncing
from support.made.exact_cone import made as coned
from support.made.flying import rich
from support.made.flying import state as flying
from support.made.gantry import gantry
from support.made.geared import TIPS, source
from support.made.levered import JOINTS
from support.made.limited import arm
from support.made.obstacles import OBSTACLES, obstacles
from support.made.remembering import FUNCTIONS as MEMORY_OF
from support.made.remembering import HUB as HUB_WITH_MEMORY
from support.made.remembering import RAIL as WITH_MEMORY
from support.made.remembering import STATES as STATES_OF_MEMORY
from support.made.remembering import friction as friction_with_memory
from support.made.rubbing import HUB, OFF_AXIS, RAIL, STATES, STRIBECK_ALONE
from support.made.shaped_scenes import at, shaped
from support.made.turning import made as turned
from support.made.wrenched import ENDS, FRAMES, pushed_pendulum, wrenches
from support.made.wrenched import TIPS as BRANCHES
from support.numeric import Array, random_states, states
from support.robots import FULL, generated, loaded, loaded_alpha, model
from support.shared.code_paths import paths
from support.small.arm_of_shapes import write
from support.small.branching import branching
from support.small.closed_robots import case as closed
from support.small.floating_arm import floating_arm
from support.small.sled import description, friction, sled
from support.small.sprung import springs, sprung_pendulum

from benchmarks.scale import chain
from diffpbd.codegen.emit.formulas import NAMES
from diffpbd.runtime import Robot, load
from diffpbd.runtime.folder.compiler import compile_library
from diffpbd.runtime.model.clearance import obstacles as obstacles_of

ROWS = 3
COMPOSED = ("fourth_order", "sixth_order")
"""Steps that go backwards in time: without friction alone."""
SMALL = {"payload.inertia": 1e-5, "payload": 3e-4}
OPEN = ("inverse_dynamics", "forward_dynamics", "gravity", "tip_pose", "joint_step", "fk", "joint_state")
STEPS = ("joint_step", "jac_joint_step", "node_torque")
LOOPED = ("inverse_dynamics", "forward_dynamics", "loop_residual")
"""Functions of a robot with closed loops that are defined beside its closed motions too."""
UNILATERAL = ("inverse_dynamics", "contact_gap", "contact_jacobian")
"""Of a robot with limits or contacts; its steps where these act are in `test_scenes`."""


def shipped(name: str, alpha: Array | None = None) -> Case:
    """Every force, or an alpha; random states, and those where formulas break."""
    robot = loaded(name)
    return Case(
        robot, loaded_alpha(robot.alpha) if alpha is None else alpha, states(robot.n, ROWS), model=model(name),
        but=COMPOSED if alpha is None else (),
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
    """Every force and entries of its own; with friction there are no steps of fourth and sixth order."""
    alpha = robot.alpha.vector(more, base=loaded_alpha(robot.alpha))
    return Case(robot, alpha, **{"values": random_states(robot.n, ROWS), "but": COMPOSED, **options})  # type: ignore[arg-type]


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
        robot, robot.alpha.vector(entries), values | {"pdd": values["u"]}, but=COMPOSED,
        sizes={"pd": 1e-4, "u": 1e-3}, sizes_of_alpha={"": 2e-5},
    )  # fmt: skip


def remembering(folder: Path) -> Case:
    """Dahl's friction: moving, at rest, reversing, and over hardly any way."""
    robot = load(generated(str(description(folder)), friction_law=["dahl"], functions=MEMORY_OF))
    rows = [STATES_OF_MEMORY[k][:3] for k in ("moving", "at rest", "reversing")]
    values = dict(zip(("p", "pd", "u"), np.array(rows).swapaxes(0, 1), strict=True))
    return Case(
        robot, robot.alpha.vector(friction_with_memory(WITH_MEMORY, HUB_WITH_MEMORY) | OFF_AXIS),
        values | {"pdd": values["u"], "pd_next": values["pd"]}, but=COMPOSED,
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


def acting(robot: Robot, p: Array, **options: Any) -> Case:
    """Near a pose, at little rates."""
    near = {k: 0.01 * v for k, v in random_states(robot.n, ROWS).items()}
    turned = robot.manifest.robot.floating
    rows = [moved(p, d) if turned else p + d for d in near["p"]]
    alpha = robot.alpha.vector({k: 1e-5 for k in robot.alpha.names if "compliance" in k or k.endswith(".slip")})
    values = near | {"p": np.array(rows)}
    return Case(robot, alpha, values, but=COMPOSED, derived=UNILATERAL, **options)


def among_obstacles(folder: Path) -> Case:
    robot = load(generated(str(write(folder)), functions=("inverse_dynamics",), clearance=True, obstacles=OBSTACLES))
    rng = np.random.default_rng(2)
    rows = [obstacles(rng) for _ in range(ROWS)]
    own = {k: np.array([row[k] for row in rows]) for k in rows[0]}
    values = random_states(robot.n, ROWS) | own
    return Case(robot, robot.alpha.defaults, values, derived=("clearance",), sizes=dict.fromkeys(values, 1e-5))


def deep(folder: Path) -> Case:
    """Fifteen hinges in a row: solved along the tree."""
    (folder / "deep.urdf").write_text(chain(15), encoding="utf-8")
    robot = load(generated(str(folder / "deep.urdf"), functions=("joint_step", "jac_alpha_joint_step"), variants=()))
    return Case(robot, loaded_alpha(robot.alpha), random_states(robot.n, ROWS), derived=("joint_step",))


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
    **{
        f"closed loops of {name}": lambda _, name=name: looped(name)
        for name in ("four_bar", "five_bar", "spatial_four_bar", "bennett")
    },
    "limits": lambda _: acting(arm(), np.array([0.3, -0.3, 0.2])),
    "contacts that turn and roll": lambda _: acting(turned("fingers"), np.array([0.2, 0.3, -0.2, 0.4])),
    "contacts that bounce": lambda _: acting(bouncing("rod"), np.array([0.0, 0.5, 0.1])),
    "contacts of shapes": lambda _: acting(shaped("rod_over_rod"), at(z=0.3, turn=(1.0, 0.2, 0.3, 0.1))),
    "contacts of an exact cone": lambda _: acting(coned("exact"), at(z=0.3, turn=(1.0, 0.2, 0.3, 0.1))),
    "clearance": among_obstacles,
    "deep tree": deep,
}
ACTING = ("limits", "contacts", "clearance")  # fmt: skip


@pytest.fixture(
    scope="module", params=[pytest.param(k, marks=pytest.mark.thorough) if k == "deep tree" else k for k in CASES]
)
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
    "case", [k for k in CASES if not k.startswith(("closed", "floating", *ACTING, "deep", "memory"))], indirect=True
)
def test_torques_of_a_motion(case: Case) -> None:
    torques_come_back(case)


@pytest.mark.thorough("deep tree")
@pytest.mark.parametrize("case", [k for k in CASES if not k.startswith(("closed", *ACTING, "memory"))], indirect=True)
def test_rollouts(case: Case) -> None:
    """With friction, and in momentum form without it; where something acts, in `test_scenes`."""
    robot, h = case.robot, 0.01
    state = [case.values[k][0] for k in ("p", "pd")]
    u = effort(robot) * case.values["u"][0]
    smooth = case.alpha.copy()
    smooth[[k for k, name in enumerate(robot.alpha.names) if name.startswith("friction.")]] = 0.0
    for alpha in (case.alpha, np.maximum(smooth, robot.alpha.lower)):
        rollout_is_its_steps(Scene(robot, *state, u, alpha, h))


def test_both_steps(case: Case) -> None:
    both_steps_are_one_map(case)


def test_batches(case: Case) -> None:
    assert batches_are_rows(case) >= 10


@pytest.mark.thorough
@pytest.mark.parametrize(
    "case",
    ["prismatic_skew", "joints that follow others", "memory of friction", "forces on a branching tree"],
    indirect=True,
)
def test_batches_in_lanes(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Formulas side by side, on every path of this processor: states that do not fill the lanes, and one beyond their range."""
    folder = shutil.copytree(case.robot.folder, tmp_path / case.robot.name, ignore=shutil.ignore_patterns("*.so*"))
    flags = os.environ.get("DIFFPBD_CFLAGS", "").replace("-DDIFFPBD_PORTABLE", "")
    monkeypatch.setenv("DIFFPBD_CFLAGS", flags)
    monkeypatch.setenv("CC", "cc")
    compile_library(folder, case.robot.manifest.library)
    rows = {k: np.concatenate([v, v, 1e6 + v[:1], v]) for k, v in case.values.items()}
    robot = load(folder)
    for path in paths(robot):
        robot.choose_instructions(path)
        assert batches_are_rows(replace(case, robot=robot, values=rows), NAMES) >= 3
        assert counted_rows(replace(case, robot=robot)) > 100


def test_no_result_is_infinite_in_silence(case: Case) -> None:
    """NaN, infinity or 1e300 in any input ends in a status of the manifest, or in finite numbers."""
    calls, refused, silent = silent_results(case)
    assert not silent and calls > 1000 and 0.3 * calls < refused < calls


def test_a_batch_counts_rows_that_fail(case: Case) -> None:
    assert counted_rows(case) > 100


@pytest.mark.parametrize("case", ["clearance"], indirect=True)
def test_distances_are_the_least_that_the_smoothing_defines(case: Case) -> None:
    """Distances of the upright capsule from a sphere: V = |w|² + δ² s² is a parabola in s, δ far above its default."""
    robot, half, delta, centre = case.robot, 0.1, 0.1, np.array([0.3, 0.1, 0.4])
    (k,) = [k for k, row in enumerate(robot.manifest.clearance.rows) if tuple(row) == ("one", "spheres 0")]
    given = obstacles_of(robot, spheres=[[*centre, 0.05]])
    found = robot.clearance(case.values["p"], alpha={"clearance.smoothing": delta}, **given)[:, k]
    w = centre - [0.0, 0.0, 0.25]
    s = np.clip(half * w[2] / (half**2 + delta**2), -1.0, 1.0)
    least = w @ w - 2.0 * half * w[2] * s + (half**2 + delta**2) * s**2
    np.testing.assert_allclose(found, np.sqrt(least) - 0.05 - 0.05, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["double_pendulum", "baxter_bare"])
def test_derivatives_under_steep_friction(name: str) -> None:
    assert derivatives_are_differences(steep(name)) > 50
