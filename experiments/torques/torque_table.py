"""The paper's table of torque errors on recordings of an arm: three starts, three losses, and windows of three steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, SolverError
from diffpbd.runtime.base.live import Watch
from diffpbd.runtime.base.options import option
from diffpbd.runtime.base.rows import write_rows
from diffpbd.runtime.logs.csv import read_log
from diffpbd.runtime.logs.processing import Processing, Samples, process
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.torques.adam import LONG as MANY
from diffpbd.runtime.torques.adam import RATE, RATE_FROM_ZERO, SHORT, Lane, descend
from diffpbd.runtime.torques.errors import TorqueErrors
from diffpbd.runtime.torques.estimation import Estimate, estimate
from diffpbd.runtime.torques.settings import LOSSES, STARTS, Settings
from experiments.one_step import label_of

__all__ = [
    "LONG", "PAPER", "UNSPRUNG", "WINDOW", "Cell", "Descending", "Recordings", "converged", "descended", "from_zero", "nodes",
    "read_recordings", "short_errors", "write_table",
]  # fmt: skip

Say: TypeAlias = Callable[[str], None]

WINDOW = Settings("angle+omega", "previous", 3, (1.0, 0.02, 2e-7))
"""The published windows of three steps ("MPC, long horizon"): previous, previous, gravity."""
LONG = Settings("angle+omega", "previous", carry=True, optimizer="adam", friction="step")
"""The scheme that is followed over the whole recording."""
GRAVITY = 9.8
"""[m/s²] Of the published experiments."""
UNSPRUNG = "description without spring"
"""The arm as described: no spring, and torques of the model in place of the recorded ones."""
RATES = ((RATE_FROM_ZERO, MANY), (RATE, SHORT))
"""Learning rate [N·m] and iterations of the published descents: from zero torque, and from the other starts."""
UNSPRUNG_STEPS = 160
"""[1] Steps of these descents; the errors still grow with their number."""
PAPER = {
    ("zero", "angle", 1): (13.429, 2.172, 6.926),
    ("zero", "omega", 1): (2.353, 1.518, 2.251),
    ("zero", "angle+omega", 1): (31.151, 3.293, 18.162),
    ("previous", "angle", 1): (27.269, 37.543, 32.447),
    ("previous", "omega", 1): (2.300, 1.500, 2.244),
    ("previous", "angle+omega", 1): (2.593, 1.448, 2.309),
    ("gravity", "angle", 1): (3.080, 1.309, 2.745),
    ("gravity", "omega", 1): (2.424, 1.344, 2.243),
    ("gravity", "angle+omega", 1): (1.7638, 1.192, 2.164),
    ("previous", "angle+omega", 3): (1.726, 1.196, 2.128),
}
"""(start, loss, horizon) → published RMSE [N·m] of s1, e0, e1, on recordings that are not public."""


@dataclass(frozen=True)
class Recordings:
    """Filtered recordings: those to identify on, and the one to estimate."""

    train: tuple[Samples, ...]
    test: Samples


@dataclass(frozen=True)
class Descending:
    """Unprinted settings of the paper's descent: stretch of the recording [s], solver of the sweeps, iterations from zero."""

    seconds: float = option(
        "Stretch of the recording for the published descent; 0: leave it out.", 2.0, flag="--adam", span=(0.0, 1e7),
        metavar="S",
    )  # fmt: skip
    solver: str = option(
        "Sweeps of its steps.", "both", flag="--adam-solver", choices=("gauss_seidel", "jacobi", "both")
    )
    iterations: int = option(
        "Its iterations from zero torque; the paper says 80 or 120.", 120, flag="--adam-iterations", span=(1, 1000)
    )
    full: bool = option("Every scheme of the descent over the whole recording: hours.", False)


@dataclass(frozen=True)
class Cell:
    """One scheme with one model: errors against the recording (None where a step failed, with the reason)."""

    model: str
    method: str
    settings: Settings
    samples: int
    errors: TorqueErrors | None
    estimate: Estimate | None
    reason: str = ""

    @property
    def key(self) -> tuple[str, str, int]:
        """Start, loss, horizon: where it stands in `PAPER`."""
        return self.settings.start, self.settings.loss, self.settings.horizon


def read_recordings(robot: Robot, folder: str | Path, train: str, test: str, rate: float) -> Recordings:
    """The logs of a folder by patterns of their names, through the filter of identification."""
    place = Path(folder)
    if not place.is_dir():
        raise InputError(
            f"--data: there is no folder {place}. Give the folder of the recordings ({train} and {test}); they are not part "
            "of diffpbd, docs/torque-estimation.md says where they come from."
        )
    found = []
    for pattern in (train, test):
        paths = sorted(place.glob(pattern))
        if not paths:
            raise InputError(f"--data: {place} holds no {pattern}; expected recordings named like that.")
        samples: list[Samples] = []
        for path in paths:
            log = read_log(path, untimed=rate).select(robot.joints)
            samples += process(path.name, log, Processing())
        found.append(samples)
    return Recordings(tuple(found[0]), found[1][0])


def _schemes(carry: bool, friction: str, optimizer: str = "gauss-newton") -> Iterator[Settings]:
    """Every cell of the published table."""
    for start in STARTS:
        for loss in LOSSES:
            yield Settings(loss, start, carry=carry, friction=friction, optimizer=optimizer)
    yield Settings(WINDOW.loss, WINDOW.start, WINDOW.horizon, WINDOW.weights, carry, optimizer, friction)


def converged(robot: Robot, samples: Samples, model: str, alpha: FloatArray, carry: bool, say: Say) -> list[Cell]:
    """The optimum of every scheme by Gauss–Newton over the whole recording, friction at the recorded rates."""
    cells = []
    for settings in _schemes(carry, "recorded"):
        states = "carried" if carry else "recorded"
        say(f"{model}, {states} states, {settings.start}, {settings.loss}, {settings.horizon} steps")
        cells.append(_cell(robot, samples, model, "gauss-newton", settings, alpha))
    return cells


def nodes(robot: Robot, samples: Samples, model: str, alpha: FloatArray) -> Cell:
    """The discrete inverse at the nodes."""
    return _cell(robot, samples, model, "poses", Settings("nodes"), alpha)


def _cell(robot: Robot, samples: Samples, model: str, method: str, settings: Settings, alpha: FloatArray) -> Cell:
    try:
        found = estimate(robot, samples.q, samples.dq, 1.0 / samples.rate, settings, alpha=alpha, time=samples.time)
    except SolverError as error:
        return Cell(model, method, settings, len(samples), None, None, str(error))
    return Cell(model, method, settings, len(found.u), TorqueErrors.of([samples], [found]), found)


def descended(
    robot: Robot, samples: Samples, model: str, alpha: FloatArray, descent: Descending, say: Say, *,
    only: Settings | None = None,
) -> list[Cell]:  # fmt: skip
    """The published descent, states carried, over the first seconds of the recording, every scheme or `only` one; errors
    without a filter on it."""
    count = min(len(samples) - 1, max(1, round(descent.seconds * samples.rate)))
    if descent.full:
        count = len(samples) - 1
    p, pd, tau = (x[: count + 1] for x in (samples.q, samples.dq, samples.tau))
    values = alpha.copy()
    values[robot.alpha.index("gravity.z")] = -GRAVITY
    method = f"adam, {label_of(robot, f'paper_{descent.solver}')}"
    every = [only] if only is not None else list(_schemes(True, "step", "adam"))
    cells = []
    for horizon in sorted({s.horizon for s in every}):
        chosen = [s for s in every if s.horizon == horizon]
        lanes = [Lane(s.start, s.lambdas, s.horizon, True, descent.iterations) for s in chosen]
        say(f"{model}, ADAM, {len(lanes)} schemes of {horizon} steps over {count} steps")
        try:
            found = descend(robot, p, pd, 1.0 / samples.rate, lanes, values, solver=descent.solver, watch=Watch(say))
        except SolverError as error:
            cells += [Cell(model, method, s, count, None, None, str(error)) for s in chosen]
            continue
        offset = values[list(robot.alpha.indices("torque_offset"))]
        for settings, one in zip(chosen, found, strict=True):
            made = Estimate(samples.time[:count], one.q, one.dq, one.u, offset, 1.0 / samples.rate, True, one.loss)
            cells.append(Cell(model, method, settings, count, short_errors(made, tau), made))
    return cells


def from_zero(robot: Robot, samples: Samples, descent: Descending, say: Say) -> list[Cell]:
    """Descents from zero torque at both published rates, on an arm without its spring: states carried, errors against the
    torques that the description asks for along the recorded motion."""
    count = min(len(samples) - 1, UNSPRUNG_STEPS, max(1, round(descent.seconds * samples.rate)))
    p, pd, pdd = (x[: count + 1] for x in (samples.q, samples.dq, samples.ddq))
    alpha = robot.alpha.defaults.copy()
    alpha[robot.alpha.index("gravity.z")] = -GRAVITY
    tau = np.asarray(robot.inverse_dynamics(p, pd, pdd, alpha), dtype=np.float64)
    chosen = [
        Settings(loss, "zero", carry=True, optimizer="adam", friction="step") for loss in ("omega", "angle+omega")
    ]
    cells = []
    for rate, iterations in RATES:
        method = f"adam at rate {rate:g} × {iterations} without spring"
        say(f"{UNSPRUNG}, {method}: {len(chosen)} schemes over {count} steps")
        lanes = [Lane(s.start, s.lambdas, 1, True, iterations, rate) for s in chosen]
        found = descend(robot, p, pd, 1.0 / samples.rate, lanes, alpha, solver=descent.solver, watch=Watch(say))
        for settings, one in zip(chosen, found, strict=True):
            offset = alpha[list(robot.alpha.indices("torque_offset"))]
            made = Estimate(samples.time[:count], one.q, one.dq, one.u, offset, 1.0 / samples.rate, True, one.loss)
            cells.append(Cell(UNSPRUNG, method, settings, count, short_errors(made, tau), made))
    return cells


def short_errors(made: Estimate, tau: FloatArray) -> TorqueErrors:
    """Errors of an estimate over a stretch that is too short for the filter, against filtered torques (steps + 1, n)."""
    wrong = made.reading - made.measured(tau)
    return TorqueErrors(np.full(wrong.shape[1], np.nan), np.sqrt(np.mean(wrong**2, axis=0)), wrong.mean(axis=0))


def write_table(path: str | Path, robot: Robot, cells: Sequence[Cell]) -> None:
    """CSV, one row a cell: RMSE of every joint with and without the filter on the estimate [N·m], and the published one."""
    kinds = [f"{kind}_{joint}" for kind in ("rmse_filtered", "rmse", "bias") for joint in robot.joints]
    head = ["model", "method", "start", "loss", "horizon", "states", "friction", "steps"]
    rows = []
    for cell in cells:
        s = cell.settings
        numbers: list[object] = [""] * len(kinds)
        if cell.errors is not None:
            values = np.concatenate([cell.errors.filtered, cell.errors.raw, cell.errors.bias])
            numbers = ["" if np.isnan(x) else x for x in values]
        states = "carried" if s.carry else "recorded"
        own = [cell.model, cell.method, s.start, s.loss, s.horizon, states, s.friction, cell.samples]
        rows.append([*own, *numbers, *PAPER.get(cell.key, ("", "", "")), cell.reason])
    write_rows(path, [*head, *kinds, "paper_s1", "paper_e0", "paper_e1", "reason"], rows)
