"""Friction beyond the plain law as unknowns of a robot whose generated code has not asked for it.

Its torque is linear in all but velocities, and joint by joint: the columns follow from the rate and from the hyperbolic tangent
that the generated `torque_terms` has in the column of Coulomb friction. What comes of it is the robot generated with
`--friction-law`, as far as the torque form asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import MappingProxyType
from typing import Any

import casadi
import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.names import listing
from diffpbd.runtime.folder.manifest import Parameter
from diffpbd.runtime.functions.friction import LAWS, VELOCITY, VELOCITY_START
from diffpbd.runtime.functions.parameters import ParameterVector
from diffpbd.runtime.identify.design import columns_of_joint_kind
from diffpbd.runtime.identify.free_bodies import USED
from diffpbd.runtime.model import closed as closed_loops
from diffpbd.runtime.model.robot import Robot

__all__ = ["FreeFriction", "with_friction"]


def with_friction(robot: Robot, laws: Sequence[str]) -> Robot:
    """The robot, or where its code lacks some of these parts of the law of friction, one with their entries in alpha."""
    lacking = tuple(law for law in laws if not robot.alpha.has(LAWS[law][0]))
    if not lacking:
        return robot
    if robot.manifest.robot.mimics:
        followers = listing([m.name for m in robot.manifest.robot.mimics])
        raise InputError(
            f"--friction-model: {robot.name} has joints that follow others ({followers}), whose friction is felt through a "
            f"gear; generate it with `--friction-law {','.join(LAWS)}` first."
        )
    return FreeFriction(robot, lacking)


class FreeFriction(Robot):
    """A robot as the torque form sees it, with entries of these parts of the law at the end of alpha."""

    def __init__(self, robot: Robot, laws: Sequence[str]) -> None:
        """Of one without them, whose facts it shares."""
        self.__dict__.update(robot.__dict__)
        self.generated, self.laws = robot, tuple(laws)
        self._count = len(robot.alpha)
        self.alpha = ParameterVector((*robot.alpha.entries, *_entries(robot, laws)), robot.name)
        self._tanh = columns_of_joint_kind(robot, "friction.coulomb")
        functions: dict[str, Any] = {name: self._cut(robot.functions[name]) for name in USED if name in robot.functions}
        functions["torque_terms"] = self._terms
        if "jac_alpha_inverse_dynamics" in functions:
            functions["jac_alpha_inverse_dynamics"] = self._by_alpha
        self.functions = MappingProxyType(functions)

    def __reduce__(self) -> tuple[Any, ...]:
        return FreeFriction, (self.generated, self.laws)

    def _cut(self, function: Any) -> Callable[..., Any]:
        """The function of an alpha without the new entries; alpha is the last argument of all that are used."""
        return lambda *arguments: function(*arguments[:-1], np.asarray(arguments[-1])[: self._count])

    def _own(self, kind: str, alpha: FloatArray) -> FloatArray:
        """The entries (n,) of a kind; zero of one that the robot has not."""
        if not self.alpha.has(kind):
            return np.zeros(self.n)
        return np.asarray(alpha[[self.alpha.index(f"{kind}.{joint}") for joint in self.joints]], dtype=np.float64)

    def _columns(self, side: FloatArray, dq: FloatArray, alpha: FloatArray) -> dict[str, FloatArray]:
        """Column (samples, n) of every new kind that the torque is linear in; `side` is tanh of the rates over the
        transition."""
        found: dict[str, FloatArray] = {}
        if "asymmetric" in self.laws:
            found |= {"friction.coulomb_asymmetry": side**2, "friction.viscous_asymmetry": dq * side}
        if "stribeck" in self.laws:
            found["friction.stribeck"] = side * np.exp(-((dq / self._own(VELOCITY, alpha)) ** 2))
        return found

    def _terms(self, q: FloatArray, dq: FloatArray, ddq: FloatArray, alpha: FloatArray) -> FloatArray:
        """The generated columns, then those of the new kinds, a column a joint each."""
        alpha = np.asarray(alpha, dtype=np.float64)
        terms = np.asarray(self.generated.torque_terms(q, dq, ddq, alpha[: self._count]))
        side = terms[..., range(self.n), list(self._tanh)]
        more = [values[..., None, :] * np.eye(self.n) for values in self._columns(side, np.asarray(dq), alpha).values()]
        return np.concatenate([terms, *more], axis=-1)

    def _by_alpha(self, q: FloatArray, dq: FloatArray, ddq: FloatArray, alpha: FloatArray) -> FloatArray:
        """Derivatives (samples, n, alpha) of the torque."""
        result = np.zeros((len(q), self.n, len(self.alpha)))
        found = self.generated.jac_alpha_inverse_dynamics(q, dq, ddq, alpha[: self._count])
        result[:, :, : self._count] = getattr(found, "du_dalpha", found)
        terms = self.generated.torque_terms(q, dq, ddq, alpha[: self._count])
        side = terms[..., range(self.n), list(self._tanh)]
        columns = self._columns(side, dq, alpha)
        width = self._own("friction.transition_velocity", alpha)
        turned = -(1.0 - side**2) * dq / width**2  # ∂tanh(dq/width)/∂width
        by_side = {
            "friction.coulomb_asymmetry": 2.0 * side * turned,
            "friction.viscous_asymmetry": dq * turned,
            "friction.stribeck": columns.get("friction.stribeck", side) / np.where(side == 0.0, 1.0, side) * turned,
        }
        more = np.zeros_like(result)
        for j, joint in enumerate(self.joints):
            for kind, column in columns.items():
                own = self.alpha.index(f"{kind}.{joint}")
                more[:, j, own] = column[:, j]
                at = self.alpha.index(f"friction.transition_velocity.{joint}")
                more[:, j, at] += alpha[own] * by_side[kind][:, j]
            if "stribeck" in self.laws:
                at, fall = self.alpha.index(f"{VELOCITY}.{joint}"), self._own(VELOCITY, alpha)[j]
                size = alpha[self.alpha.index(f"friction.stribeck.{joint}")]
                more[:, j, at] = size * columns["friction.stribeck"][:, j] * 2.0 * dq[:, j] ** 2 / fall**3
        closed = closed_loops.of(self)
        return result + (more if closed is None else closed.projection(q, alpha) @ more)

    def casadi(self, name: str, *, external: bool = False) -> Any:
        """The graph of a function with the longer alpha; φ with the new kinds' entries."""
        if external:
            raise InputError(f"{self.name} has no compiled code with this friction: generate it with --friction-law.")
        inner = self.generated.casadi(name)
        names = [inner.name_in(k) for k in range(inner.n_in())]
        given = {own: casadi.SX.sym(own, *inner.size_in(own)) for own in names}
        given["alpha"] = casadi.SX.sym("alpha", len(self.alpha))
        found = list(inner.call([given[own][: self._count] if own == "alpha" else given[own] for own in names]))
        if name == "torque_coefficients":
            kinds = self._columns(np.zeros((1, self.n)), np.zeros((1, self.n)), self.alpha.defaults)
            places = [self.alpha.index(f"{kind}.{joint}") for kind in kinds for joint in self.joints]
            found = [casadi.vertcat(found[0], given["alpha"][places])]
        outputs = [inner.name_out(k) for k in range(inner.n_out())]
        return casadi.Function(name, [given[own] for own in names], found, names, outputs)


def _entries(robot: Robot, laws: Sequence[str]) -> Iterator[Parameter]:
    """Entries of alpha as the generator makes them."""
    joints = robot.manifest.robot.joints
    for kind in (kind for law in LAWS if law in laws for kind in LAWS[law]):
        for joint in joints:
            effort = "N·m" if joint.unit == "rad" else "N"
            unit = {"friction.viscous_asymmetry": f"{effort}·s/{joint.unit}", VELOCITY: f"{joint.unit}/s"}.get(
                kind, effort
            )
            lower, upper = {VELOCITY: (1e-4, 10.0), "friction.stribeck": (0.0, None)}.get(kind, (None, None))
            yield Parameter(f"{kind}.{joint.name}", unit, VELOCITY_START if kind == VELOCITY else 0.0, lower, upper)
