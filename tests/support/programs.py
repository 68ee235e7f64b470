"""The catalogue out of the SymPy programs alone (`Program.numpy`): one of the three ways of every function."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
import numpy.typing as npt

from diffpbd.codegen.graph.functions import maximal
from diffpbd.codegen.graph.model.model import Model
from diffpbd.codegen.joint_space import recursive
from diffpbd.codegen.joint_space import step as joint_space
from diffpbd.codegen.joint_space.links import step_jacobian as joint_space_jacobian
from diffpbd.codegen.laws import forces
from diffpbd.codegen.method import constraints, kinematics
from diffpbd.codegen.program.program import Program

Array = npt.NDArray[np.float64]

ITERATIONS = 30
"""Newton iterations of the reference step; it stops at rounding long before."""


class Programs:
    """Catalogue functions of one model, evaluated in NumPy. Matrices are (rows, cols)."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.tree = model.tree
        self.n = model.robot.n
        names = list(model.blocks)
        blocks = ca.Function("blocks", [model.alpha], [model.blocks[k] for k in names], ["alpha"], names)
        self._blocks, self._names = blocks, names
        self._compiled: dict[int, Any] = {}

    def blocks(self, alpha: Array) -> dict[str, Array]:
        values = self._blocks(alpha)
        return {k: np.array(v) for k, v in zip(self._names, values, strict=True)}

    def run(self, program: Program, alpha: Array, **arguments: Any) -> dict[str, Array]:
        if id(program) not in self._compiled:
            self._compiled[id(program)] = program.numpy()
        blocks = self.blocks(alpha)
        given = {k: arguments[k] if k in arguments else blocks[k] for k in program.inputs}
        return dict(self._compiled[id(program)](**given))

    # the plain functions ------------------------------------------------------------------------------------------

    @cached_property
    def _forces(self) -> tuple[Program, Program]:
        return forces.friction_program(self.n), forces.spring_program(self.n)

    def friction_torque(self, pd: Array, alpha: Array) -> Array:
        return self.run(self._forces[0], alpha, pd=pd)["torque"].ravel()

    def spring_torque(self, p: Array, alpha: Array) -> Array:
        return self.run(self._forces[1], alpha, p=p)["torque"].ravel()

    def inverse_dynamics(self, p: Array, pd: Array, pdd: Array, alpha: Array) -> Array:
        blocks = self.blocks(alpha)
        rigid = self.run(recursive.inverse_dynamics(self.tree), alpha, p=p, pd=pd, pdd=pdd)["u"].ravel()
        plain = rigid + blocks["rotor"].ravel() * pdd + blocks["offset"].ravel()
        return np.asarray(plain - self.friction_torque(pd, alpha) - self.spring_torque(p, alpha))

    def forward_dynamics(self, p: Array, pd: Array, u: Array, alpha: Array) -> Array:
        push = u + self.friction_torque(pd, alpha) + self.spring_torque(p, alpha)
        return self.run(recursive.forward_dynamics(self.tree), alpha, p=p, pd=pd, u=push)["pdd"].ravel()

    def mass_matrix(self, p: Array, alpha: Array) -> Array:
        M = self.run(recursive.mass_matrix(self.tree), alpha, p=p)["M"]
        return np.asarray(M + np.diag(self.blocks(alpha)["rotor"].ravel()))

    def gravity(self, p: Array, alpha: Array) -> Array:
        return self.run(recursive.gravity_torque(self.tree), alpha, p=p)["u"].ravel()

    def coriolis(self, p: Array, pd: Array, alpha: Array) -> Array:
        return self.run(recursive.coriolis(self.tree), alpha, p=p, pd=pd)["u"].ravel()

    def energy(self, p: Array, pd: Array, alpha: Array) -> tuple[Array, Array]:
        found = self.run(recursive.energy(self.tree), alpha, p=p, pd=pd)
        return found["kinetic"][0, 0], found["potential"][0, 0]

    def tip_pose(self, p: Array, alpha: Array) -> tuple[Array, Array]:
        found = self.run(recursive.tip_pose(self.tree, self.model.robot.tips[0].link), alpha, p=p)
        return found["position"].ravel(), found["rotation"]

    def tip_jacobian(self, p: Array, alpha: Array) -> Array:
        return self.run(recursive.tip_jacobian(self.tree, self.model.robot.tips[0].link), alpha, p=p)["J"]

    def regressor(self, p: Array, pd: Array, pdd: Array, alpha: Array) -> Array:
        return self.run(recursive.regressor(self.tree), alpha, p=p, pd=pd, pdd=pdd)["Y"]

    # the maximal state --------------------------------------------------------------------------------------------

    @cached_property
    def _joint(self) -> ca.Function:
        return ca.Function("joint", [self.model.alpha], [maximal.blocks(self.model)["joint"]])

    def fk(self, p: Array, pd: Array, alpha: Array) -> Array:
        joint = np.array(self._joint(alpha))
        return self.run(kinematics.fk(self.tree), alpha, p=p, pd=pd, joint=joint)["xi"].ravel()

    def joint_state(self, xi: Array, p_ref: Array, alpha: Array) -> tuple[Array, Array]:
        joint = np.array(self._joint(alpha))
        found = self.run(kinematics.joint_state(self.tree), alpha, xi=xi, p_ref=p_ref, joint=joint)
        return found["p"].ravel(), found["pd"].ravel()

    def constraints(self, xi: Array, alpha: Array) -> Array:
        joint = np.array(self._joint(alpha))
        return self.run(constraints.constraints(self.tree), alpha, xi=xi, joint=joint)["c"].ravel()

    # the step -----------------------------------------------------------------------------------------------------

    def joint_step(self, p: Array, pd: Array, u: Array, h: float, alpha: Array) -> tuple[Array, Array]:
        tree = self.tree
        begun = self.run(joint_space.start(tree), alpha, p=p, pd=pd, u=u, h=h)
        fixed = {k: begun[k] for k in ("record", "terms")}
        p_next = begun["guess"]
        for _ in range(ITERATIONS):
            found = self.run(joint_space.newton(tree), alpha, iterate=p_next, p=p, **fixed)
            p_next = found["next"]
            if np.abs(found["correction"]).max() < 1e-14:
                break
        ended = self.run(joint_space.end(tree), alpha, p_next=p_next, p=p, u=u, h=h, record=begun["record"])
        return p_next.ravel(), self.end_rate(ended["M"], ended["momentum"], h, pd, alpha)

    def end_rate(self, M: Array, momentum: Array, h: float, pd: Array, alpha: Array) -> Array:
        """M ṗ = momentum + h τ_friction(ṗ): damped Newton, the step halved until the residual falls."""
        tree, rate = self.tree, np.asarray(pd, float).reshape(-1, 1)

        def residual(x: Array) -> Array:
            found = self.run(joint_space.velocity_gradient(tree), alpha, M=M, momentum=momentum, h=h, pd=x)
            return found["gradient"]

        g = residual(rate)
        for _ in range(100):
            newton = self.run(joint_space.velocity_newton(tree), alpha, M=M, h=h, pd=rate, gradient=g)
            direction = newton["direction"]
            t = 1.0
            while t > 1e-6 and (residual(rate + t * direction) * direction).sum() > 0.5 * -(g * direction).sum():
                t *= 0.5
            rate = rate + t * direction
            g = residual(rate)
            if np.abs(direction).max() < 1e-13:
                break
        return rate.ravel()

    def jac_joint_step(self, p: Array, pd: Array, u: Array, h: float, alpha: Array) -> dict[str, Array]:
        p_next, pd_next = self.joint_step(p, pd, u, h, alpha)
        blocks = self.run(
            joint_space_jacobian.jacobian(self.tree), alpha, p=p, pd=pd, p_next=p_next, pd_next=pd_next, h=h
        )
        return {"p_next": p_next, "pd_next": pd_next, **blocks}

    def node_torque(self, p_prev: Array, p: Array, p_next: Array, h: float, alpha: Array) -> Array:
        found = self.run(joint_space.node(self.tree), alpha, p_prev=p_prev, p=p, p_next=p_next, h=h)
        rate = self.end_rate(found["M"], found["momentum"], 0.5 * h, np.zeros(self.n), alpha)
        offset = self.blocks(alpha)["offset"].ravel()
        return np.asarray(found["u"].ravel() - self.friction_torque(rate, alpha) + offset)
