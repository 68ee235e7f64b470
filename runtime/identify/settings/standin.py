"""A robot as the torque form sees it, with unknowns in alpha that its generated code has as numbers, or has not at all.

Inertias: φ of `torque_coefficients` begins with ten coefficients a link: those of the description, plus what a payload adds.
Less those of the description, plus those of unknown numbers, it is φ of the robot generated with
`--symbolic mass,com,inertia`. Nothing else that the torque form asks of alpha depends on inertias, but for the derivative by
gravity, in which the terms are linear.

Friction beyond the plain law: its torque is linear in all but velocities, joint by joint; the columns follow from the rate and
from the hyperbolic tangent that the generated `torque_terms` has in the column of Coulomb friction.
"""

from __future__ import annotations

import functools
import shlex
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import casadi
import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, arg
from diffpbd.runtime.base.names import listing
from diffpbd.runtime.folder.manifest import Parameter
from diffpbd.runtime.functions.friction import LAWS, VELOCITY, VELOCITY_START
from diffpbd.runtime.functions.parameters import ParameterVector
from diffpbd.runtime.identify.columns.bodies import AXES, MOMENTS, PAYLOAD
from diffpbd.runtime.identify.columns.design import LINK_COLUMNS
from diffpbd.runtime.identify.settings.selection import INERTIALS
from diffpbd.runtime.identify.settings.settings import FORMS
from diffpbd.runtime.model import closed as closed_loops
from diffpbd.runtime.model.robot import Robot

__all__ = ["StandIn", "generate_with", "needed", "with_friction", "with_inertials"]

USED = ("torque_terms", "spring_torque", "jac_alpha_inverse_dynamics", "close_loops", "jac_loop_residual")
"""Generated functions that the torque form calls on arrays."""
WIDTH = "friction.transition_velocity"


def with_inertials(robot: Robot, fit: Sequence[str], form: str) -> Robot:
    """The robot, or where the torque form is to fit inertias that are numbers in its code, one with these in alpha."""
    words = {word.strip().split(".")[0] for word in fit}
    wanted = INERTIALS if "inertials" in words else [kind for kind in INERTIALS if kind in words]
    if form != FORMS[0] or "torque_terms" not in robot.functions or not set(wanted) - _kinds(robot):
        return robot
    if "origin" in words:
        raise InputError(
            f"{arg.fit}: joint origins beside inertias need both as parameters of the generated code: `{generate_with(robot)}`."
        )
    return StandIn(robot, bodies=True)


def generate_with(robot: Robot, bodies: bool = True, law: str = "") -> str:
    """The command that makes the robot with the law of friction of its alpha, and this part of one, and with inertias as
    parameters."""
    own = robot.manifest.recipe.symbolic
    kinds = (*INERTIALS, *(kind for kind in own if kind not in INERTIALS)) if bodies else own
    laws = [part for part, names in LAWS.items() if part == law or robot.alpha.has(names[0])]
    asked = shlex.split(robot.manifest.generator.command)
    springs = (shlex.join(pair) for pair in pairwise(asked) if pair[0] in ("--lever-spring", "--element"))
    return " ".join(
        [
            f"diffpbd generate {robot.name}",
            *([f"--symbolic {','.join(kinds)}"] if kinds else []),
            *([f"--friction-law {','.join(laws)}"] if laws else []),
            *springs,
        ]
    )


def with_friction(robot: Robot, laws: Sequence[str]) -> Robot:
    """The robot, or where its code lacks some of these parts of the law of friction, one with their entries in alpha."""
    lacking = tuple(law for law in laws if not robot.alpha.has(LAWS[law][0]))
    if not lacking:
        return robot
    if robot.manifest.robot.mimics:
        followers = listing([m.name for m in robot.manifest.robot.mimics])
        raise InputError(
            f"{arg.friction_model}: {robot.name} has joints that follow others ({followers}), whose friction is felt through a "
            f"gear; generate it with `--friction-law {','.join(lacking)}` first."
        )
    return StandIn(robot, laws=lacking)


def needed(robot: Robot) -> str | None:
    """The command that makes a robot which takes what was fitted; None where the robot's own code has all of its alpha."""
    return generate_with(robot, robot.bodies) if isinstance(robot, StandIn) else None


class StandIn(Robot):
    """The robot with mass, COM and inertia of every link (`bodies`), then parts of the law of friction, at the end of alpha."""

    generated: Robot
    bodies: bool
    laws: tuple[str, ...]

    def __init__(self, robot: Robot, bodies: bool = False, laws: Sequence[str] = ()) -> None:
        """Of a generated one, whose facts it shares, or of another such."""
        self.__dict__.update(robot.__dict__)
        if isinstance(robot, StandIn):
            bodies, laws = bodies or robot.bodies, (*robot.laws, *laws)
            robot = robot.generated
        self.generated, self.bodies, self.laws = robot, bodies, tuple(laws)
        self._count = len(robot.alpha)
        more = [*(_inertial_entries(robot) if bodies else ()), *_friction_entries(robot, self.laws)]
        self.alpha = ParameterVector((*robot.alpha.entries, *more), robot.name)
        functions: dict[str, Any] = {name: self._cut(robot.functions[name]) for name in USED if name in robot.functions}
        functions["torque_terms"] = self._terms
        if "jac_alpha_inverse_dynamics" in functions:
            functions["jac_alpha_inverse_dynamics"] = self._by_alpha
        self.functions = MappingProxyType(functions)

    def __reduce__(self) -> tuple[Any, ...]:
        return StandIn, (self.generated, self.bodies, self.laws)

    def _cut(self, function: Any) -> Callable[..., Any]:
        """The function of an alpha without the new entries; alpha is the last argument of all that are used."""
        return lambda *arguments: function(*arguments[:-1], np.asarray(arguments[-1])[: self._count])

    def _places(self, kind: str) -> list[int]:
        """Where a kind's entries (n,) are in alpha."""
        return [self.alpha.index(f"{kind}.{joint}") for joint in self.joints]

    def _friction(self, dq: FloatArray, alpha: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Of the new parts of the law, at rates (samples, n): columns, and slopes of the torque by all kinds of `_law`
        (samples, n, kinds)."""
        kinds, law = _law(self.laws)
        values = np.array([np.tile(alpha[self._places(kind)], (len(dq), 1)).ravel() for kind in kinds])
        found = law.map(dq.size)(dq.reshape(1, -1), values)
        columns, slopes = (np.array(x).T.reshape(*dq.shape, -1) for x in found)
        return columns, slopes

    def _terms(self, q: FloatArray, dq: FloatArray, ddq: FloatArray, alpha: FloatArray) -> FloatArray:
        """The generated columns, then those of the new kinds of friction, a column a joint each."""
        alpha, dq = np.asarray(alpha, dtype=np.float64), np.asarray(dq, dtype=np.float64)
        terms = np.asarray(self.generated.torque_terms(q, dq, ddq, alpha[: self._count]))
        if not self.laws:
            return terms
        columns, _ = self._friction(np.atleast_2d(dq), alpha)
        more = (columns[..., None, :, :] * np.eye(self.n)[..., None]).swapaxes(-1, -2).reshape(*dq.shape, -1)
        return np.concatenate([terms, more], axis=-1)

    def _by_alpha(self, q: FloatArray, dq: FloatArray, ddq: FloatArray, alpha: FloatArray) -> FloatArray:
        """Derivatives (samples, n, alpha) of the torque; exact by gravity, by friction and by what no inertia has a part in."""
        result = np.zeros((len(q), self.n, len(self.alpha)))
        found = self.generated.jac_alpha_inverse_dynamics(q, dq, ddq, alpha[: self._count])
        result[:, :, : self._count] = getattr(found, "du_dalpha", found)
        closed = closed_loops.of(self)
        if self.bodies:
            phi = np.array(self.casadi("torque_coefficients")(alpha)).reshape(-1)
            here = self.torque_terms(q, dq, ddq, alpha)
            for k in self.generated.alpha.indices("gravity"):
                moved = alpha.copy()
                moved[k] += 1.0
                heavier = (self.torque_terms(q, dq, ddq, moved) - here) @ phi
                result[:, :, k] = heavier if closed is None else closed.told(q, heavier, alpha)
        if not self.laws:
            return result
        _, slopes = self._friction(np.asarray(dq, dtype=np.float64), alpha)
        more = np.zeros_like(result)
        for k, kind in enumerate(_law(self.laws)[0]):
            more[:, range(self.n), self._places(kind)] = slopes[..., k]
        return result + (more if closed is None else closed.projection(q, alpha) @ more)

    def casadi(self, name: str, *, external: bool = False) -> Any:
        """The graph of a function with the longer alpha; φ with the bodies' numbers and the new kinds' entries."""
        if external:
            raise InputError(
                f"{self.name} has no compiled code of these parameters: `{generate_with(self, self.bodies)}`."
            )
        plain = self.generated.casadi(name)
        names = [plain.name_in(k) for k in range(plain.n_in())]
        given = {own: casadi.SX.sym(own, *plain.size_in(own)) for own in names}
        given["alpha"] = casadi.SX.sym("alpha", len(self.alpha))
        found = list(plain.call([given[own][: self._count] if own == "alpha" else given[own] for own in names]))
        if name == "torque_coefficients":
            found = [found[0] + self._difference(plain, given["alpha"])] if self.bodies else found
            linear = [kind for kind in _law(self.laws)[0] if kind not in (WIDTH, VELOCITY)] if self.laws else []
            found = [casadi.vertcat(found[0], given["alpha"][[k for kind in linear for k in self._places(kind)]])]
        outputs = [plain.name_out(k) for k in range(plain.n_out())]
        return casadi.Function(name, [given[own] for own in names], found, names, outputs)

    def _difference(self, plain: Any, alpha: Any) -> Any:
        """φ of the bodies in alpha less φ of those in the generated code."""
        bare = casadi.SX(alpha[: len(self.generated.alpha)])
        bare[list(self.alpha.indices(PAYLOAD))] = 0.0
        generated = plain(bare)
        result = casadi.SX.zeros(generated.size1())
        for k, link in enumerate(self.links):
            own = slice(LINK_COLUMNS * k, LINK_COLUMNS * (k + 1))
            mass = alpha[self.alpha.index(f"mass.{link}")]
            com = alpha[list(self.alpha.indices(f"com.{link}"))]
            inertia = alpha[list(self.alpha.indices(f"inertia.{link}"))]
            result[own] = _coefficients(mass, com, inertia) - generated[own]
        return result


@functools.cache
def _law(laws: tuple[str, ...]) -> tuple[tuple[str, ...], Any]:
    """Kinds of alpha that these parts of the law have, and a function of a joint's rate and their values: the column of every
    kind that the torque is linear in, and the torque's slope by every kind."""
    kinds = (WIDTH, *(kind for law in LAWS if law in laws for kind in LAWS[law]))
    dq, values = casadi.SX.sym("dq"), casadi.SX.sym("values", len(kinds))
    at = dict(zip(kinds, casadi.vertsplit(values), strict=True))
    side = casadi.tanh(dq / at[WIDTH])
    columns = {"friction.coulomb_asymmetry": side**2, "friction.viscous_asymmetry": dq * side}
    if VELOCITY in at:
        columns["friction.stribeck"] = side * casadi.exp(-((dq / at[VELOCITY]) ** 2))
    own = [kind for kind in kinds if kind in columns]
    torque = sum((at[kind] * columns[kind] for kind in own), start=casadi.SX(0))
    slopes = casadi.densify(casadi.jacobian(torque, values)).T
    return kinds, casadi.Function("law", [dq, values], [casadi.vertcat(*(columns[kind] for kind in own)), slopes])


def _kinds(robot: Robot) -> set[str]:
    return {name.split(".")[0] for name in robot.alpha.names}


def _inertial_entries(robot: Robot) -> Iterator[Parameter]:
    """Entries of alpha as the generator makes them, of the kinds that it has not."""
    kinds, links = _kinds(robot), robot.manifest.robot.links
    if "mass" not in kinds:
        for link in links:
            yield Parameter(f"mass.{link.name}", "kg", link.mass, 0.0, None)
    if "com" not in kinds:
        for link in links:
            for axis, value in zip(AXES, link.com, strict=True):
                yield Parameter(f"com.{link.name}.{axis}", "m", value, None, None)
    if "inertia" not in kinds:
        for link in links:
            for moment, value in zip(MOMENTS, link.inertia, strict=True):
                least = 0.0 if moment[0] == moment[1] else None
                yield Parameter(f"inertia.{link.name}.{moment}", "kg·m^2", value, least, None)


def _coefficients(mass: Any, com: Any, inertia: Any) -> Any:
    """m, m c and the inertia about the link origin of mass, COM and inertia about it, all symbolic."""
    about = mass * (casadi.sumsqr(com) * casadi.SX.eye(3) - casadi.mtimes(com, com.T))
    moved = [about[r, c] for r, c in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))]
    return casadi.vertcat(mass, mass * com, inertia + casadi.vertcat(*moved))


def _friction_entries(robot: Robot, laws: Sequence[str]) -> Iterator[Parameter]:
    """Entries of alpha as the generator makes them."""
    joints = robot.manifest.robot.joints
    for kind in (kind for law in LAWS if law in laws for kind in LAWS[law]):
        for joint in joints:
            effort = joint.effort_unit
            unit = {"friction.viscous_asymmetry": f"{effort}·s/{joint.unit}", VELOCITY: f"{joint.unit}/s"}.get(
                kind, effort
            )
            lower, upper = {VELOCITY: (1e-4, 10.0), "friction.stribeck": (0.0, None)}.get(kind, (None, None))
            yield Parameter(f"{kind}.{joint.name}", unit, VELOCITY_START if kind == VELOCITY else 0.0, lower, upper)
