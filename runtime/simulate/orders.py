"""Steps of fourth and sixth order with exact derivatives: compiled if `generate --functions` names them, else composed
here from the robot's compiled steps and rollouts.

Each is a weighted sum of chains of steps over fractions of h from the same state; its Jacobian is that sum of the chains'.
Torques are constant during a step. Dissipative forces are refused: see `refuse_friction`. Compiled steps only go forwards in
time; a step backwards from (p, ṗ) is one forwards from (p, −ṗ) with the rates at its end negated.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.names import listing
from diffpbd.runtime.functions.friction import KINDS
from diffpbd.runtime.model.robot import Robot

__all__ = ["ORDERS", "Composed", "Gradient", "Order", "StepJacobian", "refuse_friction"]

STOPS: Final = ("limit.load", "contact.load.")
"""Entries of alpha that mark a robot with limits or contacts."""
Order: TypeAlias = Literal[2, 4, 6]
State: TypeAlias = tuple[FloatArray, FloatArray]
Chain: TypeAlias = tuple[float, tuple[float, ...]]
"""Weight of a chain of steps in the result, and its steps as fractions of h."""

COMPILED: Final = {4: "fourth_order", 6: "sixth_order"}
"""Prefix of the names of each order's compiled functions."""
SIXTH: Final = "sixth_order_step"
"""The function whose name in `generate --functions` adds them all."""
SUZUKI_S: Final = 1.0 / (4.0 - 4.0 ** (1.0 / 3.0))
SUZUKI_SUBSTEPS: Final = (SUZUKI_S, SUZUKI_S, 1.0 - 4.0 * SUZUKI_S, SUZUKI_S, SUZUKI_S)
"""Fourth-order composition of a symmetric second-order step (Suzuki 1990); the middle substep is negative."""
ORDERS: Final[dict[int, tuple[Chain, ...]]] = {
    2: ((1.0, (1.0,)),),
    4: ((1.0, SUZUKI_SUBSTEPS),),
    6: tuple((weight, (1.0 / parts,) * parts) for parts, weight in ((1, 1 / 24), (2, -16 / 15), (3, 81 / 40))),
}
"""Chains of each order. The error of a symmetric step is even in h, so three chains leave h⁷ a step (Hairer, Nørsett and
Wanner, Solving Ordinary Differential Equations I, II.9); their weighted sum is no symplectic map, Suzuki's composition is."""


class StepJacobian(NamedTuple):
    """End of a step (n,) and its derivatives (n, n), as `jac_joint_step` gives them."""

    p_next: FloatArray
    pd_next: FloatArray
    dp_next_dp: FloatArray
    dp_next_dpd: FloatArray
    dp_next_du: FloatArray
    dpd_next_dp: FloatArray
    dpd_next_dpd: FloatArray
    dpd_next_du: FloatArray


class Gradient(NamedTuple):
    """Gradient of a loss by all inputs of a rollout, as `vjp_rollout` gives it."""

    p0_bar: FloatArray
    pd0_bar: FloatArray
    U_bar: FloatArray
    h_bar: float
    alpha_bar: FloatArray


def refuse_friction(robot: Robot, alpha: FloatArray, order: int) -> None:
    """InputError that names the parameters if friction, limits or contacts act and the order is higher than two: Suzuki's
    composition has a step backwards in time, in which friction would add energy, and with them a step is not symmetric."""
    stops = [name for name in robot.alpha.names if name.startswith(STOPS)]
    if order != 2 and stops:
        raise InputError(
            f"order {order} is for smooth motions, but limits or contacts ({listing(stops)}) act. Use order 2."
        )
    having = [n for n, v in robot.alpha.by_name(alpha).items() if n.rpartition(".")[0] in KINDS and v != 0.0]
    if order != 2 and having:
        why = (
            "one of its substeps is negative"
            if order == 4
            else "it needs a step that runs backwards as it runs forwards"
        )
        raise InputError(
            f"order {order} is for conservative forces ({why}), but {listing(having)} "
            "is not zero. Use order 2, or set these parameters to 0."
        )


@dataclass(frozen=True)
class Composed:
    """A step of this order. p, pd, u are (n,), U (steps, n); default h [s] is the recipe's, default alpha the robot's.

    Raises InputError for friction or an order not in `ORDERS`; SolverError as `joint_step`."""

    robot: Robot
    order: Order

    def __post_init__(self) -> None:
        if self.order == 6 and self.robot.manifest.robot.floating:
            raise InputError(
                "order: 6 sums positions with weights, which quaternions of a floating base are not for; take 4."
            )
        if self.order not in ORDERS:
            raise InputError(f"order: expected one of {', '.join(map(str, ORDERS))}, found {self.order!r}.")

    def __call__(
        self,
        p: npt.ArrayLike,
        pd: npt.ArrayLike,
        u: npt.ArrayLike,
        h: float | None = None,
        alpha: FloatArray | None = None,
    ) -> State:
        """The state at the end of a step."""
        h, alpha = self._given(h, alpha)
        if (compiled := self._compiled("{}_step")) is not None:
            end: State = compiled(p, pd, u, h, alpha)
            return end
        start = np.asarray(p, float), np.asarray(pd, float)
        ends = [self._chain(start, u, h, alpha, fractions)[-1] for _, fractions in ORDERS[self.order]]
        return self._weighted([p for p, _ in ends]), self._weighted([pd for _, pd in ends])

    def jacobian(
        self,
        p: npt.ArrayLike,
        pd: npt.ArrayLike,
        u: npt.ArrayLike,
        h: float | None = None,
        alpha: FloatArray | None = None,
    ) -> StepJacobian:
        """The state at the end of a step, and its exact derivatives by p, pd and u."""
        h, alpha = self._given(h, alpha)
        if (compiled := self._compiled("jac_{}_step")) is not None:
            return StepJacobian(*compiled(p, pd, u, h, alpha))
        n, jac = self.robot.n, self.robot.function("jac_joint_step")
        ends, slopes = [], []
        for _, fractions in ORDERS[self.order]:
            state: State = np.asarray(p, float), np.asarray(pd, float)
            total = np.eye(2 * n, 3 * n)
            for fraction in fractions:
                way = np.sign(fraction)
                found = jac(state[0], way * state[1], u, abs(fraction) * h, alpha)
                own = np.block([[*found[2:5]], [*found[5:8]]])
                own[n:] *= way
                own[:, n : 2 * n] *= way
                total = own[:, : 2 * n] @ total
                total[:, 2 * n :] += own[:, 2 * n :]
                state = found[0], way * found[1]
            ends.append(np.concatenate(state))
            slopes.append(total)
        end, slope = self._weighted(ends), self._weighted(slopes)
        blocks = [slope[row : row + n, col : col + n] for row in (0, n) for col in (0, n, 2 * n)]
        return StepJacobian(end[:n], end[n:], *blocks)

    def rollout(
        self,
        p0: npt.ArrayLike,
        pd0: npt.ArrayLike,
        U: npt.ArrayLike,
        h: float | None = None,
        alpha: FloatArray | None = None,
    ) -> State:
        """P and PD, (steps + 1, n) each, from the start on."""
        if (compiled := self._compiled("{}_rollout")) is not None:
            h, alpha = self._given(h, alpha)
            found: State = compiled(p0, pd0, U, h, alpha)
            return found
        torques = np.asarray(U, float)
        P, PD = np.empty((2, len(torques) + 1, self.robot.n))
        P[0], PD[0] = p0, pd0
        for k, u in enumerate(torques):
            P[k + 1], PD[k + 1] = self(P[k], PD[k], u, h, alpha)
        return P, PD

    def vjp_rollout(
        self, P: FloatArray, PD: FloatArray, U: npt.ArrayLike, h: float | None, alpha: FloatArray | None,
        P_bar: FloatArray, PD_bar: FloatArray,
    ) -> Gradient:  # fmt: skip
        """The exact gradient of a loss along the trajectory P, PD of `rollout`, given its derivatives P_bar and PD_bar
        (steps + 1, n)."""
        h, alpha = self._given(h, alpha)
        if (compiled := self._compiled("vjp_{}_rollout")) is not None:
            return Gradient(*compiled(P[0], PD[0], U, h, alpha, P_bar, PD_bar))
        torques = np.asarray(U, float)
        U_bar, h_bar, alpha_bar = np.zeros_like(torques), 0.0, np.zeros_like(alpha)
        p_bar, pd_bar = P_bar[-1], PD_bar[-1]
        for k in range(len(torques) - 1, -1, -1):
            into = np.zeros((2, self.robot.n))
            for weight, fractions in ORDERS[self.order]:
                nodes = self._chain((P[k], PD[k]), torques[k], h, alpha, fractions)
                seed = weight * p_bar, weight * pd_bar
                for state, (fraction, count) in reversed(list(zip(nodes, _runs(fractions), strict=False))):
                    P_seed, PD_seed = np.zeros((2, count + 1, self.robot.n))
                    way = np.sign(fraction)
                    P_seed[-1], PD_seed[-1] = seed[0], way * seed[1]
                    held = np.tile(torques[k], (count, 1))
                    back = self.robot.function("vjp_rollout")(
                        state[0], way * state[1], held, abs(fraction) * h, alpha, P_seed, PD_seed
                    )
                    seed = back.p0_bar, way * back.pd0_bar
                    U_bar[k] += back.U_bar.sum(axis=0)
                    h_bar += abs(fraction) * back.h_bar
                    alpha_bar = alpha_bar + back.alpha_bar
                into += seed
            p_bar, pd_bar = into[0] + P_bar[k], into[1] + PD_bar[k]
        return Gradient(p_bar, pd_bar, U_bar, h_bar, alpha_bar)

    def _compiled(self, name: str) -> Any:
        """The robot's compiled function of this name, None if it has none."""
        name = name.format(COMPILED.get(self.order, ""))
        return self.robot.function(name) if name in self.robot.functions else None

    def _given(self, h: float | None, alpha: FloatArray | None) -> tuple[float, FloatArray]:
        alpha = self.robot.alpha.defaults if alpha is None else alpha
        refuse_friction(self.robot, alpha, self.order)
        return self.robot.h if h is None else h, alpha

    def _weighted(self, values: list[FloatArray]) -> FloatArray:
        total = np.zeros_like(values[0])
        for (weight, _), value in zip(ORDERS[self.order], values, strict=True):
            total = total + weight * value
        return total

    def _chain(
        self, start: State, u: npt.ArrayLike, h: float, alpha: FloatArray, fractions: tuple[float, ...]
    ) -> list[State]:
        """States at the start of each run of equal fractions, and at the end of the last one."""
        nodes = [start]
        for fraction, count in _runs(fractions):
            held = np.tile(np.asarray(u, float), (count, 1))
            (p, pd), way = nodes[-1], np.sign(fraction)
            P, PD = self.robot.function("rollout")(p, way * pd, held, abs(fraction) * h, alpha)
            nodes.append((P[-1], way * PD[-1]))
        return nodes


def _runs(fractions: tuple[float, ...]) -> list[tuple[float, int]]:
    """Runs of equal fractions, with their lengths: rollouts with one h."""
    return [(fraction, len(list(same))) for fraction, same in itertools.groupby(fractions)]
