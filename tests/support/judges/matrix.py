"""Laws of every function of every robot, found by the names of the manifest, so that a new function is judged without a
word here: C = graph, C = program, derivative = differences, batch = rows. Steps where something acts, and rollouts:
`properties`.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from support.arguments import H, arguments, effort, outputs, row_of
from support.free_flyer import difference, moved
from support.numeric import BAR, Array, Worst, differences
from support.programs import Programs
from support.robots import call

from diffpbd.codegen.graph.model.model import Model
from diffpbd.runtime import Robot
from diffpbd.runtime.functions.function import Function
from diffpbd.runtime.torques.estimation import estimate
from diffpbd.runtime.torques.settings import LOSSES, STARTS, Settings

__all__ = [
    "Case", "batches_are_rows", "both_steps_are_one_map", "derivatives_are_differences", "graphs_are_the_functions",
    "programs_are_the_functions", "torques_come_back", "unrolled_is_the_step",
]  # fmt: skip

# The same formulas in another order; a step is solved to 1e-13 rad, its rate to 1e-13 rad / h.
ROUNDING, STEP = 1e-11, 1e-9
SIZES = {
    "p": 1e-3, "pd": 1e-3, "pdd": 1e-2, "u": 1e-2, "kick": 1e-4, "h": 1e-4, "xi": 2e-5, "p_ref": 1e-3,
}  # fmt: skip
"""Of differences: errors of the fourth order in it and rounding over it, both well below the bar."""
SIZES_OF_ALPHA = {
    "payload.inertia": 1e-5, "payload": 1e-3, "gravity": 1e-2, "friction.coulomb": 1e-6, "friction.viscous": 1e-5,
    "friction.transition_velocity": 1e-4, "friction": 1e-5, "rotor_inertia": 1e-5, "spring.stiffness": 1e-3,
    "lever_spring.stiffness": 1e-1, "lever_spring": 1e-4, "origin": 1e-4, "loop": 1e-4, "inertia": 1e-4,
    "contact.compliance": 1e-7, "contact.slip": 1e-7, "contact": 1e-4, "plane": 1e-4, "limit.slip": 1e-7, "limit": 1e-3,
    "clearance.smoothing": 0.0,  # by which it is said to be 0
}  # fmt: skip
"""A thousandth of what each parameter usually is; little enough for friction that must not turn negative."""

EXACT = 1e-8
"""[N·m] How near torques of a motion come back, of one and of the largest."""
MOVES = ((1, False, "recorded"), (1, True, "step"), (3, False, "step"), (3, True, "recorded"))
"""Horizon, carry and friction of an estimate."""
MAXIMAL = ("step", "vjp_step")
"""Steps that know no rotors."""


@dataclass(frozen=True)
class Case:
    """A robot, its alpha, rows of `p`, `pd`, `pdd`, `u` by name and of more that its functions take.

    `but`: how functions begin that are left to tests of their own; `derived`: whose derivatives are compared, None: all.
    `sizes` of differences by inputs, and by entries of alpha as they begin, before those above; `model` for its programs, those
    of `programs` or all.
    """

    robot: Robot
    alpha: Array
    values: Mapping[str, Array]
    but: tuple[str, ...] = ()
    derived: tuple[str, ...] | None = None
    sizes: Mapping[str, float] | None = None
    sizes_of_alpha: Mapping[str, float] | None = None
    model: Model | None = None
    programs: tuple[str, ...] = ()

    @property
    def functions(self) -> Iterator[Function]:
        """All that are compiled, but rollouts, plans and searches."""
        for name, f in self.robot.functions.items():
            if isinstance(f, Function) and not name.startswith(("mpc", "ik")) and not any(k in name for k in self.but):
                yield f

    def given(self, f: Function) -> dict[str, Any]:
        """Arguments of a function, rows first. The steps on maximal states have no rotors."""
        alpha = self.alpha
        if f.name.startswith(MAXIMAL):
            alpha = alpha.copy()
            alpha[list(self.robot.alpha.indices("rotor_inertia"))] = 0.0
        return arguments(self.robot, f, dict(self.values), alpha)

    @property
    def rows(self) -> range:
        return range(len(self.values["p"]))


def bar_of(name: str) -> float:
    """How near two ways come to each other."""
    if name == "jac_alpha_joint_step":  # the pose's rounding, 1e-14 rad, over h and over a wrist's 4e-4 kg·m²
        return 3.0 * STEP
    return STEP if "step" in name or name == "node_torque" else ROUNDING


def graphs_are_the_functions(case: Case) -> int:
    """C = CasADi's graph, of derivatives too; how many functions have one."""
    compared = [f for f in case.functions if f.facts.casadi is not None]
    for f in compared:
        given, graph = case.given(f), case.robot.casadi(f.name)
        found = outputs(f, f(**given))
        assert graph.name_in() == list(given) and graph.name_out() == list(found)
        worst = Worst(f"{case.robot.name} {f.name}: C against CasADi", bar_of(f.name))
        for row in case.rows:
            for k, value in outputs(f, call(graph, *row_of(given, row).values())).items():
                worst.see(np.squeeze(found[k][row]), np.squeeze(value), f"row {row} {k}")
        worst.close()
    return len(compared)


def unrolled_is_the_step(case: Case) -> None:
    """The graph with fixed iterations, where there is one."""
    robot = case.robot
    if not (robot.folder / "casadi" / "joint_step_unrolled.casadi").exists():
        return
    f, graph = robot.functions["joint_step"], robot.casadi("joint_step_unrolled")
    given = case.given(f)
    found, worst = outputs(f, f(**given)), Worst(f"{robot.name}: joint_step_unrolled against C", bar_of("joint_step"))
    for row in case.rows:
        for k, value in outputs(f, call(graph, *row_of(given, row).values())).items():
            worst.see(np.squeeze(found[k][row]), np.squeeze(value), f"row {row} {k}")
    worst.close()


def both_steps_are_one_map(case: Case) -> None:
    """The converged step on maximal states, where there is one, and `joint_step`; springs are taken within half a turn."""
    robot = case.robot
    if "step" not in robot.functions:
        return
    alpha = case.given(robot.functions["step"])["alpha"]
    near = 1.0 if robot.manifest.robot.loops else 0.5
    p, pd = near * case.values["p"][:3], 0.3 * case.values["pd"][:3]
    u = 0.1 * effort(robot) * case.values["u"][:3]
    back = robot.joint_state(robot.step(robot.fk(p, pd, alpha), u, H, alpha), alpha, p)
    for name, found, other in zip(("p", "pd"), back, robot.joint_step(p, pd, u, H, alpha), strict=True):
        worst = Worst(f"{robot.name}: {name} of step against joint_step", STEP)
        worst.see(found, other, "rows")
        worst.close()


def torques_come_back(case: Case, seed: int = 7, steps: int = 8) -> None:
    """A rollout's torques from its motion: where they are constant at every node; by every loss from every start."""
    robot, rng, alpha = case.robot, np.random.default_rng(seed), case.alpha
    p, pd = 0.3 * case.values["p"][0], 0.3 * case.values["pd"][0]
    offset = alpha[list(robot.alpha.indices("torque_offset"))]
    U = (
        3.0 * effort(robot) * rng.normal(size=(steps, robot.n))
        + robot.gravity(p, alpha)
        - robot.spring_torque(p, alpha)
    )
    bar = EXACT * (1.0 + np.abs(U).max())
    if not any(name.startswith("friction.stribeck") for name in robot.alpha.names):  # whose kick lags by a step
        P, _ = robot.rollout(p, pd, np.tile(U[0], (steps, 1)), H, alpha)
        found = robot.node_torque(P[:-2], P[1:-1], P[2:], H, alpha)
        np.testing.assert_allclose(found, np.tile(U[0] + offset, (steps - 1, 1)), rtol=0, atol=bar)
    if "estimate_torque" not in robot.functions:
        return
    P, PD = robot.rollout(p, pd, U, H, alpha)
    for loss, start, (horizon, carry, friction) in product(LOSSES, STARTS, MOVES):
        settings = Settings(loss, start, horizon, carry=carry, friction=friction)
        estimated = estimate(robot, P, PD, H, settings, alpha=alpha)
        assert estimated.unsettled == 0, settings
        np.testing.assert_allclose(estimated.u, U, rtol=0, atol=bar, err_msg=str(settings))


def programs_are_the_functions(case: Case) -> int:
    """C = SymPy's program in NumPy; how many functions have one."""
    assert case.model is not None
    programs = Programs(case.model)
    compared = [
        f for f in case.functions if hasattr(programs, f.name) and f.name in (case.programs or case.robot.functions)
    ]
    for f in compared:
        given = case.given(f)
        found = outputs(f, f(**given))
        worst = Worst(f"{case.robot.name} {f.name}: C against SymPy", bar_of(f.name))
        for row in case.rows:
            expected = getattr(programs, f.name)(**row_of(given, row))
            for k, value in (expected if isinstance(expected, dict) else outputs(f, expected)).items():
                worst.see(np.squeeze(found[k][row]), np.squeeze(value), f"row {row} {k}")
        worst.close()
    return len(compared)


def batches_are_rows(case: Case, only: Container[str] | None = None) -> int:
    """A batch has the bits of its rows, whatever stands beside them; how many functions (of `only` or all)."""
    functions = [f for f in case.functions if only is None or f.name in only]
    for f in functions:
        given = case.given(f)
        found = outputs(f, f(**given))
        for row in case.rows:
            for k, value in outputs(f, f(**row_of(given, row))).items():
                np.testing.assert_array_equal(found[k][row], value, err_msg=f"{f.name} row {row} {k}")
    return len(functions)


def derivatives_are_differences(case: Case) -> int:
    """jac_, jac_alpha_ and vjp_ of every function against central differences with one Richardson step; how many blocks."""
    robot, blocks = case.robot, 0
    for plain in case.functions:
        kinds = [
            robot.functions[k + plain.name] for k in ("jac_", "jac_alpha_", "vjp_") if k + plain.name in robot.functions
        ]
        if not kinds or (case.derived is not None and plain.name not in case.derived):
            continue
        given = case.given(kinds[-1])  # of all of them: only a reverse derivative takes more, its seeds
        found = [outputs(f, f(**{a.name: given[a.name] for a in f.facts.inputs})) for f in kinds]
        names = [a.name for a in plain.facts.inputs]
        value = outputs(plain, plain(**{k: given[k] for k in names}))
        worst = Worst(f"{robot.name}: derivatives of {plain.name}", BAR)
        for f, derivative in zip(kinds, found, strict=True):
            for k in derivative.keys() & value.keys():  # what is worked out on the way
                np.testing.assert_allclose(derivative[k], value[k], rtol=1e-12, atol=1e-12, err_msg=f.name)
        for row in case.rows:
            here = row_of(given, row)
            for by in names:
                asked = [f"{by}_bar" in d or any(k.endswith(f"_d{by}") for k in d) for d in found]
                if not any(asked):
                    continue
                by_by, told = slopes(case, plain, {k: here[k] for k in names}, by)
                for derivative in found:
                    for key in derivative:
                        place = f"row {row} {key}"
                        if key == f"{by}_bar":
                            pulled = sum(flat(here[f"{k}_bar"]) @ block for k, block in by_by.items())
                            worst.see(flat(derivative[key][row])[told], pulled[told], place)
                        elif key.endswith(f"_d{by}"):
                            block = by_by[key[1:].removesuffix(f"_d{by}")]
                            worst.see(derivative[key][row].reshape(block.shape)[:, told], block[:, told], place)
                        else:
                            continue
                        blocks += 1
        worst.close()
    return blocks


def flat(value: Any) -> Array:
    """Column-major, as the blocks of a Jacobian run."""
    return np.asarray(value, float).ravel(order="F")


def slopes(case: Case, f: Function, given: Mapping[str, Any], by: str) -> tuple[Mapping[str, Array], Array]:
    """d output / d input at one state, of poses of a floating base by tangents, and as tangents; which columns are told."""
    robot = case.robot
    start, floating = np.asarray(given[by], float), bool(robot.manifest.robot.floating)
    poses = {a.name for a in f.facts.outputs if floating and a.rows == robot.n_p != robot.n}
    turned = floating and start.shape == (robot.n_p,) and robot.n_p != robot.n
    here = outputs(f, f(**given)) if poses else {}

    def values(x: Array) -> dict[str, Array]:
        if start.ndim == 0:
            rows = x[:, 0]
        elif turned:
            rows = np.array([moved(start, d) for d in x])
        else:
            rows = np.array([row.reshape(start.shape, order="F") for row in x])
        found = outputs(f, f(**{**given, by: rows}))
        return {
            k: np.array([difference(row, here[k]) if k in poses else flat(row) for row in v]) for k, v in found.items()
        }

    center = np.zeros(robot.n) if turned else flat(np.atleast_1d(start))
    size = np.broadcast_to(_size(case, f.name, by), center.shape)
    return differences(values, center, size), size > 0.0


def _size(case: Case, name: str, by: str) -> Any:
    if by != "alpha":
        return {**SIZES, **(case.sizes or {})}.get(by, 1e-3)
    left_out = {"rotor_inertia": 0.0} if name.startswith(MAXIMAL) else {}
    kinds = [*left_out.items(), *(case.sizes_of_alpha or {}).items(), *SIZES_OF_ALPHA.items()]
    return np.array([next((s for k, s in kinds if n.startswith(k)), 1e-2) for n in case.robot.alpha.names])
