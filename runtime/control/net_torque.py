"""The net torque map: which torque takes one joint through an angle in one step, over angle and rate.

Every sample is the optimum of the paper's angle loss over a generated step, with the other joints locked by torques
of their own; a controller then only interpolates. docs/impedance.md says what it is good for.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, SolverError
from diffpbd.runtime.base.names import hint, listing
from diffpbd.runtime.model.robot import Robot

__all__ = ["DISPLACEMENT", "NetTorque", "NetTorqueMap", "ReachNetTorque", "VELOCITY", "sample_map", "without_gravity"]

DISPLACEMENT, VELOCITY = 0.00625, 0.5  # rad in one step, rad/s: the edges of the paper's map
SOLVED = 1e-11  # rad, above the rounding of the steps; on an arm of 3 kg·m² at 10 ms that is 6e-7 N·m
ITERATIONS = 12  # of Newton's method; the step is almost linear in the torque, so three are usual
GRAVITY = ("gravity.x", "gravity.y", "gravity.z")


@dataclass(frozen=True, eq=False)
class NetTorqueMap:
    """Torque (rows, columns) [N·m] of `joint` over displacements in one step of h [s] and rates before it.

    Rows are equally spaced from −`displacement` to `displacement` [rad], columns from −`velocity` to `velocity`
    [rad/s]. `step` names the generated function that was solved, `pose` (n,) [rad] is where the joints stood.
    """

    robot: str
    joint: str
    step: str
    h: float
    pose: FloatArray
    displacement: float
    velocity: float
    torque: FloatArray

    def __post_init__(self) -> None:
        sizes = (self.displacement, self.velocity, self.h)
        if not (all(math.isfinite(size) and size > 0 for size in sizes) and self.torque.ndim == 2):
            raise InputError("Net torque map: edges and step must be above 0 and the torques a table.")
        if min(self.torque.shape) < 2 or not np.isfinite(self.torque).all():
            raise InputError(
                f"Net torque map: expected at least 2 × 2 finite torques, found shape {self.torque.shape}."
            )
        object.__setattr__(self, "_rows", self.torque.tolist())  # Python floats: a look-up in 1 µs

    @property
    def displacements(self) -> FloatArray:
        """Displacements of the rows [rad]."""
        return np.linspace(-self.displacement, self.displacement, len(self.torque))

    @property
    def velocities(self) -> FloatArray:
        """Rates of the columns [rad/s]."""
        return np.linspace(-self.velocity, self.velocity, self.torque.shape[1])

    def __call__(self, displacement: float, velocity: float) -> float:
        """Bilinear interpolation [N·m]; beyond the edges the values at the edge, NaN for NaN."""
        if math.isnan(displacement) or math.isnan(velocity):
            return math.nan
        rows: list[list[float]] = self._rows  # type: ignore[attr-defined]  # a cache beside the frozen fields, set in __post_init__
        k, s = _place(displacement, self.displacement, len(rows))
        m, t = _place(velocity, self.velocity, len(rows[0]))
        low, high = rows[k], rows[k + 1]
        return (1.0 - s) * ((1.0 - t) * low[m] + t * low[m + 1]) + s * ((1.0 - t) * high[m] + t * high[m + 1])

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "robot": self.robot, "joint": self.joint, "step": self.step, "h": self.h, "pose": self.pose.tolist(),
            "displacement": self.displacement, "velocity": self.velocity, "torque": self.torque.tolist(),
        }  # fmt: skip

    @classmethod
    def from_json(cls, data: Mapping[str, Any], where: str = "This") -> NetTorqueMap:
        """The map in a file that `diffpbd net-torque-map` wrote, or in a log; `where` it is, for a message."""
        try:
            return cls(
                str(data["robot"]), str(data["joint"]), str(data["step"]), float(data["h"]),
                np.array(data["pose"], dtype=np.float64), float(data["displacement"]), float(data["velocity"]),
                np.array(data["torque"], dtype=np.float64),
            )  # fmt: skip
        except KeyError as error:
            why = f"it has no entry {error}"
        except (TypeError, ValueError) as error:
            why = str(error)
        raise InputError(f"{where} is not a net torque map, as `diffpbd net-torque-map` writes one: {why}.")


def _place(value: float, edge: float, count: int) -> tuple[int, float]:
    """The cell of a value on the axis and its position in it, 0 to 1."""
    x = (min(max(value, -edge), edge) / edge + 1.0) * 0.5 * (count - 1)
    k = min(int(x), count - 2)
    return k, x - k


class NetTorque(Protocol):
    """The model's part of an impedance law."""

    def start(self, q: FloatArray) -> None:
        """Begin at the measured pose [rad]."""

    def torque(self, reference: FloatArray, q: FloatArray, dq: FloatArray) -> FloatArray:
        """Net torque [N·m] (n,) for the springs' zero and the measured state; called once a tick, in order."""


class ReachNetTorque:
    """The torque that takes the joint to the reference in one step, or as far as the map goes."""

    def __init__(self, table: NetTorqueMap, joints: tuple[str, ...]) -> None:
        """`joints` are those of the controller."""
        if table.joint not in joints:
            raise InputError(f"Net torque map: there is no joint {table.joint!r}. {hint(table.joint, joints)}")
        self.table = table
        self._at = joints.index(table.joint)

    def start(self, q: FloatArray) -> None:
        """No state."""

    def torque(self, reference: FloatArray, q: FloatArray, dq: FloatArray) -> FloatArray:
        """[N·m], zero for the other joints."""
        torque = np.zeros_like(q)
        k = self._at
        torque[k] = self.table(float(reference[k] - q[k]), float(dq[k]))
        return torque


def without_gravity(robot: Robot, alpha: FloatArray | None = None) -> FloatArray:
    """alpha with gravity and springs at zero, as for a robot that compensates both."""
    alpha = robot.alpha.defaults if alpha is None else alpha.copy()
    alpha[[robot.alpha.index(name) for name in GRAVITY]] = 0.0
    alpha[robot.alpha.stiffnesses(robot.manifest.elements)] = 0.0
    return alpha


def sample_map(
    robot: Robot,
    joint: str,
    *,
    pose: npt.ArrayLike | None = None,
    step: str = "joint_step",
    grid: tuple[int, int] = (25, 25),
    extent: tuple[float, float] = (DISPLACEMENT, VELOCITY),
    h: float | None = None,
    alpha: FloatArray | None = None,
) -> NetTorqueMap:
    """The map of `joint` about `pose` (n,) [rad], default zero, without gravity and springs.

    Its `grid` samples reach `extent` in displacement [rad] and velocity [rad/s] to either side.

    `step` is `joint_step` or a step on maximal states (`step_paper_direct` is the paper's). At every sample the
    torques of all joints are found for which the loss ½ Σ (p⁺ − p̂)² of the step is zero, p̂ being the pose with
    `joint` displaced: Newton's method with the step's exact derivative. The other joints' torques lock them.
    """
    if joint not in robot.joints:
        raise InputError(f"{robot.name} has no joint {joint!r}. {hint(joint, robot.joints)}")
    if facts := (*(loop.name for loop in robot.manifest.robot.loops), *robot.manifest.robot.passive):
        raise InputError(
            f"Net torque map: {robot.name} has closed loops or joints without a motor ({listing(facts)}), which no torque of "
            "their own locks; it is for open arms with a motor at every joint."
        )
    if min(grid) < 2:
        raise InputError(f"Net torque map: the grid needs at least 2 × 2 samples, found {grid[0]} × {grid[1]}.")
    steps = [name for name in robot.functions if name == "joint_step" or name.startswith("step")]
    if step not in steps:
        raise InputError(
            f"Net torque map: {robot.name} has no step {step!r}. {robot.manifest.why_not(step) or hint(step, steps)}"
        )
    if step.startswith("step") and (reverse := f"vjp_{step}") not in robot.functions:
        why = robot.manifest.why_not(reverse)
        raise InputError(f"Net torque map: {robot.name} has no {reverse}, which a map of {step} needs. {why}".rstrip())
    h = robot.h if h is None else h
    start = np.zeros(robot.n) if pose is None else np.array(pose, dtype=np.float64)
    if start.shape != (robot.n,):
        raise InputError(f"Net torque map: the pose needs {robot.n} numbers, found shape {start.shape}.")
    at = robot.joints.index(joint)
    rows, columns = (np.linspace(-edge, edge, n) for edge, n in zip(extent, grid, strict=True))
    p = np.tile(start, (grid[0] * grid[1], 1))
    pd, wanted = np.zeros_like(p), p.copy()
    wanted[:, at] += np.repeat(rows, grid[1])
    pd[:, at] = np.tile(columns, grid[0])
    torque = _solve(robot, step, p, pd, wanted, h, without_gravity(robot, alpha))[:, at]
    return NetTorqueMap(robot.name, joint, step, h, start, *extent, torque.reshape(grid))


def _solve(
    robot: Robot, step: str, p: FloatArray, pd: FloatArray, wanted: FloatArray, h: float, alpha: FloatArray
) -> FloatArray:
    """Torques (rows, n) with which the step ends at the wanted poses (rows, n)."""
    evaluate = _joint_space if step == "joint_step" else _maximal
    # First guess in closed form: from zero torque the light wrist would move too far for convergence.
    halves = 2.0 if "paper" not in step else 1.0  # a second-order step moves half as far as a first-order one
    u: FloatArray = robot.inverse_dynamics(p, pd, halves * (wanted - p - h * pd) / h**2, alpha)
    worst = math.inf
    for _ in range(ITERATIONS):
        reached, slope = evaluate(robot, step, p, pd, u, h, alpha)
        residual = reached - wanted
        worst = float(np.abs(residual).max())
        if worst < SOLVED:
            return u
        try:
            u = u - np.linalg.solve(slope, residual[..., None])[..., 0]
        except np.linalg.LinAlgError:
            break
    raise SolverError(
        f"Net torque map: {step} was solved to {worst:.1e} rad only; a smaller displacement may help"
        + (", or joint_step, or a robot with the other joints welded." if step != "joint_step" else ".")
    )


def _joint_space(
    robot: Robot, step: str, p: FloatArray, pd: FloatArray, u: FloatArray, h: float, alpha: FloatArray
) -> tuple[FloatArray, FloatArray]:
    found = robot.jac_joint_step(p, pd, u, h=h, alpha=alpha)
    return found.p_next, found.dp_next_du


def _maximal(
    robot: Robot, step: str, p: FloatArray, pd: FloatArray, u: FloatArray, h: float, alpha: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The pose after a step on maximal states, and ∂p⁺/∂u by one reverse pass a joint."""
    function, back = robot.function(step), robot.function(f"vjp_{step}")
    xi = robot.fk(p, pd, alpha)
    after = function(xi, u, h, alpha)
    reached = robot.joint_state(after, alpha, p).p
    slope = np.empty((len(p), robot.n, robot.n))
    for k in range(robot.n):
        seed = np.zeros_like(p)
        seed[:, k] = 1.0
        xi_bar = robot.vjp_joint_state(after, alpha, p, p_bar=seed, pd_bar=np.zeros_like(p)).xi_bar
        slope[:, k] = back(xi, u, h, alpha, xi_next_bar=xi_bar).u_bar
    return reached, slope
