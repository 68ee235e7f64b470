"""Forces that are asked for, what they add to a robot and what they leave as it was: wrenches and lever springs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.described import Described
from support.judges.families import PLAIN, Families
from support.judges.maximal_steps import check_acceleration
from support.made.levered import JOINTS
from support.made.wrenched import FRAMES, TIPS, pushed_pendulum, wrenches
from support.robots import loaded_alpha
from support.small.branching import branching
from support.small.sprung import PARTS, springs, sprung_pendulum

from diffpbd.codegen.description.front.resolve import find_recipe
from diffpbd.codegen.generate import generate
from diffpbd.runtime import Robot
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.commands.info import describe

WRENCH = [f"wrench.{f}.{k}.{a}" for f in FRAMES for k in ("force", "torque") for a in "xyz"]
LEVER = [f"lever_spring.{part}.{j}" for part in PARTS for j in JOINTS]


@dataclass(frozen=True)
class Force:
    """The option and what it is given; the entries of alpha that it adds, their units, bounds and values that act."""

    option: str
    asked: list[str]
    entries: list[str]
    units: list[str]
    lower: list[float | None]
    values: dict[str, float]
    unchanged: tuple[str, ...]
    sweeps: int
    robot: Callable[[Path], Robot]
    told: tuple[str, ...]
    wrong: str
    right: str


FORCES = (
    Force(
        "wrench", FRAMES, WRENCH, (["N"] * 3 + ["N·m"] * 3) * len(FRAMES), [None] * len(WRENCH), wrenches(FRAMES),
        ("gravity", "coriolis", "mass_matrix", "spring_torque", "regressor"), 60, pushed_pendulum,
        ("external wrench at the origin of tip, in world axes: wrench.tip.force [N], wrench.tip.torque [N·m]",
         "origin of upper, in world axes"), "claw", "d",
    ),
    Force(
        "lever_springs", JOINTS, LEVER, [unit for unit in ("N/m", "m", "m", "rad", "m") for _ in JOINTS],
        [low for low in (0.0, 1e-3, 1e-3, None, 0.0) for _ in JOINTS], springs(JOINTS),
        ("gravity", "coriolis", "mass_matrix", "regressor"), 40, sprung_pendulum,
        ("lever_spring on shoulder (a straight spring between two lever arms): stiffness [N/m]",), "jb", "jd",
    ),
)  # fmt: skip


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("forces") / "arm.urdf"
    path.write_bytes(branching())
    return path


@pytest.fixture(scope="module")
def plain(source: Path) -> Described:
    return Described.of(source, tip=TIPS)


@pytest.fixture(scope="module", params=FORCES, ids=lambda force: force.option)
def force(request: pytest.FixtureRequest) -> Force:
    return request.param


@pytest.fixture(scope="module")
def forced(source: Path, force: Force) -> Described:
    return Described.of(source, tip=TIPS, **{force.option: force.asked})


def test_entries_of_alpha_are_added_and_do_not_act_by_default(
    force: Force, forced: Described, plain: Described
) -> None:
    more = [entry for entry in forced.model.entries if entry.name not in plain.alpha]
    assert [(e.name, e.unit, e.lower) for e in more] == list(zip(force.entries, force.units, force.lower, strict=True))
    assert tuple(name for name in forced.alpha.names if name in plain.alpha) == plain.alpha.names
    acting = ("wrench", "lever_spring.stiffness")
    assert all(entry.default == 0.0 for entry in more if entry.name.startswith(acting))
    assert plain.model.tree.wrenches == plain.model.tree.attached == ()
    assert not {"wrench", "attached"} & set(plain.model.blocks)


def test_what_a_force_does_not_change(force: Force, forced: Described) -> None:
    state = np.random.default_rng(2).uniform(-1.0, 1.0, (3, 4))
    for name in force.unchanged:
        given = state[: forced.functions[name].n_in() - 1]
        np.testing.assert_array_equal(forced(name, *given, alpha=force.values), forced(name, *given), err_msg=name)


@pytest.mark.thorough
def test_a_force_of_zero_changes_no_bit(forced: Described, plain: Described) -> None:
    """Every function and step, against the robot without it."""
    assert list(forced.functions) == list(plain.functions)
    alpha = loaded_alpha(plain.alpha)
    zero, state = forced.alpha.vector(plain.alpha.by_name(alpha)), np.random.default_rng(4).uniform(-1.0, 1.0, (3, 4))
    names = tuple(name for name, f in plain.functions.items() if set(f.name_in()) <= {"p", "pd", "pdd", "u", "alpha"})
    assert set(PLAIN) < set(names)
    one, two = (Families(d, names)(*state, at) for d, at in ((plain, alpha), (forced, zero)))
    for name in one:
        np.testing.assert_array_equal(one[name], two[name], err_msg=name)


@pytest.mark.parametrize("solver", ["paper_direct", "variational_gauss_seidel"])
def test_every_integrator_feels_it(solver: str, force: Force, forced: Described) -> None:
    sweeps = 1 if solver == "paper_direct" else force.sweeps
    check_acceleration(forced, forced.alpha.vector(force.values), solver, sweeps)


def test_info_names_it(force: Force, source: Path) -> None:
    text = describe(force.robot(source.parent).manifest)
    assert all(words in text for words in force.told)


def test_generate_refuses_before_it_writes(force: Force, source: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=force.wrong):
        generate(str(source), out=tmp_path / "out" / "arm", **{force.option: [force.wrong]})
    assert list(tmp_path.iterdir()) == []


def test_the_recipe_asks_for_it(force: Force, source: Path) -> None:
    toml = source.with_name(f"{force.option}.toml")
    toml.write_text(f'urdf = "arm.urdf"\n{force.option} = ["{force.right}"]\n')
    given: Any = getattr(find_recipe(str(toml)), force.option)
    assert given == (force.right,)
