"""Inertias as unknowns of a robot whose generated code has them as numbers: the torque is linear in their coefficients.

φ of `torque_coefficients` begins with ten coefficients a link: those of the description, plus what a payload adds. Less
those of the description, plus those of unknown numbers, it is φ of the robot generated with `--symbolic mass,com,inertia`.
Nothing else that the torque form asks of alpha depends on inertias, but for the derivative by gravity, in which the terms
are linear.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import MappingProxyType
from typing import Any

import casadi
import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.folder.manifest import Parameter
from diffpbd.runtime.functions.friction import LAWS
from diffpbd.runtime.functions.parameters import ParameterVector
from diffpbd.runtime.identify.bodies import AXES, MOMENTS, PAYLOAD
from diffpbd.runtime.identify.design import LINK_COLUMNS
from diffpbd.runtime.identify.selection import INERTIALS, LEVER
from diffpbd.runtime.identify.settings import FORMS
from diffpbd.runtime.model import closed as closed_loops
from diffpbd.runtime.model.robot import Robot

__all__ = ["FreeBodies", "generate_with", "with_inertials"]

USED = ("torque_terms", "spring_torque", "jac_alpha_inverse_dynamics", "close_loops", "jac_loop_residual")
"""Generated functions that the torque form calls on arrays."""


def with_inertials(robot: Robot, fit: Sequence[str], form: str) -> Robot:
    """The robot, or where the torque form is to fit inertias that are numbers in its code, one with these in alpha."""
    words = {word.strip().split(".")[0] for word in fit}
    wanted = INERTIALS if "inertials" in words else [kind for kind in INERTIALS if kind in words]
    if form != FORMS[0] or "torque_terms" not in robot.functions or not set(wanted) - _kinds(robot):
        return robot
    if "origin" in words:
        raise InputError(
            f"--fit: joint origins beside inertias need both as parameters of the generated code: `{generate_with(robot)}`."
        )
    return FreeBodies(robot)


def generate_with(robot: Robot, bodies: bool = True) -> str:
    """The command that makes the robot with the law of friction of its alpha, and with inertias as parameters."""
    own = robot.manifest.recipe.symbolic
    kinds = (*INERTIALS, *(kind for kind in own if kind not in INERTIALS)) if bodies else own
    laws = [law for law, names in LAWS.items() if robot.alpha.has(names[0])]
    start = f"{LEVER}.stiffness."
    springs = (name.removeprefix(start) for name in robot.alpha.names if name.startswith(start))
    return " ".join(
        [
            f"diffpbd generate {robot.name}",
            *([f"--symbolic {','.join(kinds)}"] if kinds else []),
            *([f"--friction-law {','.join(laws)}"] if laws else []),
            *(f"--lever-spring {joint}" for joint in springs),
        ]
    )


class FreeBodies(Robot):
    """A generated robot as the torque form sees it, with mass, COM and inertia of every link at the end of alpha."""

    def __init__(self, robot: Robot) -> None:
        """Of a generated one, whose facts it shares."""
        self.__dict__.update(robot.__dict__)
        self._generated = robot
        self.alpha = ParameterVector((*robot.alpha.entries, *_entries(robot)), robot.name)
        functions: dict[str, Any] = {name: self._cut(robot.functions[name]) for name in USED if name in robot.functions}
        if "jac_alpha_inverse_dynamics" in functions:
            functions["jac_alpha_inverse_dynamics"] = self._by_alpha
        self.functions = MappingProxyType(functions)

    def __reduce__(self) -> tuple[Any, ...]:
        return FreeBodies, (self._generated,)

    def _cut(self, function: Any) -> Callable[..., Any]:
        """The function of an alpha without the bodies; alpha is the last argument of all that are used."""
        count = len(self._generated.alpha)
        return lambda *arguments: function(*arguments[:-1], np.asarray(arguments[-1])[:count])

    def _by_alpha(self, q: FloatArray, dq: FloatArray, ddq: FloatArray, alpha: FloatArray) -> FloatArray:
        """Derivatives (samples, n, alpha) of the torque; exact by gravity and by what no inertia has a part in."""
        plain = self._generated
        count = len(plain.alpha)
        result = np.zeros((len(q), self.n, len(self.alpha)))
        found = plain.jac_alpha_inverse_dynamics(q, dq, ddq, alpha[:count])
        result[:, :, :count] = getattr(found, "du_dalpha", found)
        closed = closed_loops.of(self)
        phi = np.array(self.casadi("torque_coefficients")(alpha)).reshape(-1)
        here = self.torque_terms(q, dq, ddq, alpha)
        for k in plain.alpha.indices("gravity"):
            moved = alpha.copy()
            moved[k] += 1.0
            heavier = (self.torque_terms(q, dq, ddq, moved) - here) @ phi
            result[:, :, k] = heavier if closed is None else closed.told(q, heavier, alpha)
        return result

    def casadi(self, name: str, *, external: bool = False) -> Any:
        """The graph of a function with the longer alpha; φ with the bodies' numbers."""
        if external:
            raise InputError(f"{self.name} has no compiled code with inertias: `{generate_with(self)}`.")
        plain = self._generated.casadi(name)
        names = [plain.name_in(k) for k in range(plain.n_in())]
        given = {own: casadi.SX.sym(own, *plain.size_in(own)) for own in names}
        given["alpha"] = casadi.SX.sym("alpha", len(self.alpha))
        generated = given["alpha"][: len(self._generated.alpha)]
        found = plain.call([generated if own == "alpha" else given[own] for own in names])
        if name == "torque_coefficients":
            found = [found[0] + self._difference(plain, given["alpha"])]
        outputs = [plain.name_out(k) for k in range(plain.n_out())]
        return casadi.Function(name, [given[own] for own in names], found, names, outputs)

    def _difference(self, plain: Any, alpha: Any) -> Any:
        """φ of the bodies in alpha less φ of those in the generated code."""
        bare = casadi.SX(alpha[: len(self._generated.alpha)])
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


def _kinds(robot: Robot) -> set[str]:
    return {name.split(".")[0] for name in robot.alpha.names}


def _entries(robot: Robot) -> Iterator[Parameter]:
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
