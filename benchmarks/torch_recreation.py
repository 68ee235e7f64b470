"""The published method in PyTorch, as a good user of PyTorch would write it: a peer to time.

Algorithm 1 (with its slips corrected, see docs/method.md) on maximal states in batches, projected by Jacobi sweeps, vectorised
over batch and links, or by Gauss-Seidel sweeps, joint by joint; torques by ADAM on the published loss through autograd.
Held to the generated `step_paper_jacobi` and `step_paper_gauss_seidel` by tests/benchmarks.

Serial chains of hinges. States (rows, n, 13): COM position x, velocity v, quaternion q (wxyz), angular velocity ω, world axes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from benchmarks.chain import Chain
from benchmarks.torch_algebra import Algebra, at, conjugate, dot, shifted, solve3

SWEEPS = 30
RELAXATION = 0.9
"""What a Jacobi sweep makes of the corrections of every link of a chain, see codegen/method/relaxation.py."""
X, V, Q, W = slice(0, 3), slice(3, 6), slice(6, 10), slice(10, 13)
RESIDUAL_FLOOR = 1e-10
"""[m or rad] below which the scalar multiplier's direction c/|c| fades out, to be finite at c = 0."""
SOLVERS = ("jacobi", "gauss_seidel")
MULTIPLIERS = ("block", "scalar")


@dataclass(frozen=True)
class Joints:
    """Numbers of the joints that are corrected together, a row each, of parent (a) and child (b)."""

    inverse_inertia: Tensor
    parent_inverse_inertia: Tensor
    inverse_mass_a: Tensor
    inverse_mass_b: Tensor
    masses: Tensor
    r: Tensor
    t: Tensor
    axis: Tensor
    triad_a: Tensor


class Arm:
    """Numbers of a chain on a device, and its step.

    `gravity` [m/s²] along -z; `multiplier` "block" solves the rows of a joint at once, "scalar" along the residual as printed.
    """

    def __init__(
        self,
        chain: Chain,
        *,
        device: str = "cpu",
        dtype: torch.dtype = torch.float64,
        solver: str = "jacobi",
        multiplier: str = "block",
        sweeps: int = SWEEPS,
        gravity: float = 9.81,
        compiled: bool = False,
    ) -> None:
        def put(values: np.ndarray) -> Tensor:
            return torch.as_tensor(np.asarray(values), dtype=dtype, device=device)

        if solver not in SOLVERS or multiplier not in MULTIPLIERS:
            raise ValueError(f"expected one of {SOLVERS} and one of {MULTIPLIERS}, found {solver} and {multiplier}.")
        self.n, self.sweeps, self.solver, self.multiplier = chain.n, sweeps, solver, multiplier
        self.mass, self.inertia = put(chain.mass)[:, None], put(chain.inertia)
        self.inverse_inertia = put(np.linalg.inv(chain.inertia))
        self.gravity = put(np.array([0.0, 0.0, -gravity]))
        self.t, self.r = put(-chain.com), put(chain.to_parent_joint)
        self.axis = put(chain.axis)
        self.f1 = put(chain.tangents[:, 0])
        turned = np.einsum(
            "nij,nkj->nki", chain.rotation, np.concatenate([chain.tangents, chain.axis[:, None]], axis=1)
        )
        self.triad_a = put(turned)
        """Both tangents and the axis, in the parent's axes at the joint's zero (n, 3, 3), a row each."""
        self.relaxation = RELAXATION if chain.n > 1 else 1.0
        self.inverse_mass_a = torch.cat([torch.zeros_like(self.mass[:1]), 1.0 / self.mass[:-1]])
        self.algebra = Algebra(device, dtype)
        self.identity = put(np.array([1.0, 0.0, 0.0, 0.0]))
        self.upright = self.algebra.matrix(self.identity)[None, None]
        self.joints = [self._chosen(slice(0, self.n)), *(self._chosen(slice(j, j + 1)) for j in range(self.n))]
        """All joints, then each of them alone."""
        self.sweep: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]] = (
            self._jacobi if solver == "jacobi" else self._gauss_seidel
        )
        if compiled:
            self.sweep = torch.compile(self.sweep)

    def step(self, state: Tensor, u: Tensor, h: float) -> Tensor:
        """The state (rows, n, 13) after `h` [s] under torques u (rows, n) [N·m]."""
        x0, v0, q0, w0 = state[..., X], state[..., V], state[..., Q], state[..., W]
        R = self.algebra.matrix(q0)
        along = torch.einsum("rnij,nj->rni", R, self.axis) * u[..., None]
        moment = along - torch.cat([along[:, 1:], torch.zeros_like(along[:, :1])], dim=1)
        v = v0 + h * self.gravity
        spin = at(R.mT, w0)
        gyroscopic = torch.linalg.cross(spin, at(self.inertia, spin))
        w = at(R, spin + h * at(self.inverse_inertia, at(R.mT, moment) - gyroscopic))
        x, q = x0 + h * v, self.algebra.turn(q0, h * w)
        for _ in range(self.sweeps):
            x, q = self.sweep(x, q)
        delta = self.algebra.product(q, conjugate(q0))
        w = (2.0 / h) * delta[..., :1].sign() * delta[..., 1:]
        return torch.cat([x, (x - x0) / h, q, w], dim=-1)

    def angles(self, state: Tensor, near: Tensor) -> Tensor:
        """Joint angles (rows, n) [rad] within π of `near`."""
        R_b = self.algebra.matrix(state[..., Q])
        R_a = torch.cat([self.upright.expand_as(R_b[:, :1]), R_b[:, :-1]], dim=1)
        n_b = at(R_a.mT, at(R_b, self.f1))
        c, s = (n_b * self.triad_a[:, 0]).sum(-1), (n_b * self.triad_a[:, 1]).sum(-1)
        return near + torch.atan2(s * near.cos() - c * near.sin(), c * near.cos() + s * near.sin())

    # Sweeps -----------------------------------------------------------------------------------------------------------

    def _chosen(self, joints: slice) -> Joints:
        before = slice(joints.start - 1, joints.stop - 1)
        if joints.start:
            parent = self.inverse_inertia[before]
        else:  # the world, which no correction moves
            parent = torch.cat([0 * self.inverse_inertia[:1], self.inverse_inertia[: joints.stop - 1]])
        a, b = self.inverse_mass_a[joints], 1.0 / self.mass[joints]
        masses = torch.diag_embed((a + b).expand(-1, 3))
        rest = (self.r, self.t, self.axis, self.triad_a)
        return Joints(self.inverse_inertia[joints], parent, a, b, masses, *(part[joints] for part in rest))

    def _jacobi(self, x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
        """All positional corrections at once, relaxed by one factor, then all angular ones."""
        every = self.joints[0]
        R = self.algebra.matrix(q)
        around = torch.cat([self.upright.expand_as(R[:, :1]), R[:, :-1]], dim=1)
        x_a = torch.cat([torch.zeros_like(x[:, :1]), x[:, :-1]], dim=1)
        dx_b, phi_b, dx_a, phi_a = self._positional(every, x_a, around, x, R)
        x = x + self.relaxation * (dx_b + shifted(dx_a))
        q = self.algebra.turn(q, self.relaxation * (phi_b + shifted(phi_a)))
        R = self.algebra.matrix(q)
        phi_b, phi_a = self._angular(every, torch.cat([self.upright.expand_as(R[:, :1]), R[:, :-1]], dim=1), R)
        return x, self.algebra.turn(q, self.relaxation * (phi_b + shifted(phi_a)))

    def _gauss_seidel(self, x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
        """Joint after joint from the base on, positional rows and then angular ones, each from the poses so far."""
        poses = [(x[:, i : i + 1], q[:, i : i + 1]) for i in range(self.n)]
        for j, joint in enumerate(self.joints[1:]):
            x_b, q_b = poses[j]
            x_a, q_a = poses[j - 1] if j else (torch.zeros_like(x_b), self.identity.expand_as(q_b))
            dx_b, phi_b, dx_a, phi_a = self._positional(
                joint, x_a, self.algebra.matrix(q_a), x_b, self.algebra.matrix(q_b)
            )
            x_b, q_b = x_b + dx_b, self.algebra.turn(q_b, phi_b)
            x_a, q_a = (x_a + dx_a, self.algebra.turn(q_a, phi_a)) if j else (x_a, q_a)
            phi_b, phi_a = self._angular(joint, self.algebra.matrix(q_a), self.algebra.matrix(q_b))
            poses[j] = x_b, self.algebra.turn(q_b, phi_b)
            if j:
                poses[j - 1] = x_a, self.algebra.turn(q_a, phi_a)
        return torch.cat([x for x, _ in poses], dim=1), torch.cat([q for _, q in poses], dim=1)

    def _positional(
        self, k: Joints, x_a: Tensor, R_a: Tensor, x_b: Tensor, R_b: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """dx and φ of child and of parent that close each joint's gap on its own (rows, joints, 3)."""
        inverse_a, inverse_b = R_a @ k.parent_inverse_inertia @ R_a.mT, R_b @ k.inverse_inertia @ R_b.mT
        r_a, r_b = at(R_a, k.r), at(R_b, k.t)
        c = x_b + r_b - x_a - r_a
        if self.multiplier == "scalar":
            length = (dot(c, c) + RESIDUAL_FLOOR**2).sqrt()
            n = c / length
            lever_a, lever_b = torch.linalg.cross(r_a, n), torch.linalg.cross(r_b, n)
            size = dot(n, n)
            stiffness = size * (k.inverse_mass_a + k.inverse_mass_b) + (1.0 - size) * k.inverse_mass_b
            stiffness = stiffness + dot(lever_a, at(inverse_a, lever_a)) + dot(lever_b, at(inverse_b, lever_b))
            force = -length / stiffness * n
        else:
            S_a, S_b = self.algebra.skew(r_a), self.algebra.skew(r_b)
            force = -solve3(k.masses + S_a @ inverse_a @ S_a.mT + S_b @ inverse_b @ S_b.mT, c)
        phi_b = at(inverse_b, torch.linalg.cross(r_b, force))
        phi_a = at(inverse_a, torch.linalg.cross(force, r_a))
        return k.inverse_mass_b * force, phi_b, -k.inverse_mass_a * force, phi_a

    def _angular(self, k: Joints, R_a: Tensor, R_b: Tensor) -> tuple[Tensor, Tensor]:
        """φ of child and of parent that align each joint's axis on its own (rows, joints, 3)."""
        inverse_a, inverse_b = R_a @ k.parent_inverse_inertia @ R_a.mT, R_b @ k.inverse_inertia @ R_b.mT
        inverse = inverse_a + inverse_b
        axis_b, triad = at(R_b, k.axis), k.triad_a @ R_a.mT
        if self.multiplier == "scalar":
            axis_a = triad[..., 2, :]
            c = torch.linalg.cross(axis_a, axis_b)
            length = (dot(c, c) + RESIDUAL_FLOOR**2).sqrt()
            n = c / length
            row = dot(axis_a, axis_b) * n - dot(n, axis_b) * axis_a
            floor = (1.0 - dot(n, n)) * k.inverse_inertia[:, :1, 0]
            moment = -length / (dot(row, at(inverse, row)) + floor) * row
        else:
            tangents = triad[..., :2, :]
            c = at(tangents, axis_b)
            rows = torch.linalg.cross(axis_b[..., None, :].expand_as(tangents), tangents)
            K = rows @ inverse @ rows.mT
            (k00, k01), (_, k11) = (part.unbind(-1) for part in K.unbind(-2))
            c0, c1 = c.unbind(-1)
            both = torch.stack([k11 * c0 - k01 * c1, k00 * c1 - k01 * c0], dim=-1) / (k00 * k11 - k01 * k01)[..., None]
            moment = -(both[..., None, :] @ rows)[..., 0, :]
        return at(inverse_b, moment), -at(inverse_a, moment)


class Window:
    """The published loss of one step from a state (1, n, 13) towards angles (1, n) and angular velocities (1, n, 3).

    λ₁ weighs the joint angles, λ₂ the links' ω; the mean is over the joints. `aim` changes the data in place.
    """

    def __init__(self, arm: Arm, h: float, lambdas: tuple[float, float], data: tuple[Tensor, Tensor, Tensor]) -> None:
        self.arm, self.h, self.lambdas = arm, h, lambdas
        self.state, self.p_ref, self.w_ref = (value.clone() for value in data)

    def aim(self, data: tuple[Tensor, Tensor, Tensor]) -> None:
        for kept, value in zip((self.state, self.p_ref, self.w_ref), data, strict=True):
            kept.copy_(value)

    def loss(self, u: Tensor) -> Tensor:
        """(rows,) for torques u (rows, n) [N·m]."""
        end = self.arm.step(self.state, u, self.h)
        angle, spin = self.arm.angles(end, self.p_ref) - self.p_ref, end[..., W] - self.w_ref
        weighed = self.lambdas[0] * angle.square().sum(-1) + self.lambdas[1] * spin.square().sum((-2, -1))
        return weighed / self.arm.n

    def gradient(self, u: Tensor) -> Tensor:
        (gradient,) = torch.autograd.grad(self.loss(u).sum(), u)
        return gradient


Gradient = Callable[[Tensor], Tensor]


def descend(gradient: Gradient, start: Tensor, rate: float = 1.0, iterations: int = 120) -> Tensor:
    """Torques after so many ADAM iterations from `start`."""
    u = start.clone().requires_grad_(True)
    optimizer = torch.optim.Adam([u], lr=rate)
    for _ in range(iterations):
        u.grad = gradient(u)
        optimizer.step()
    return u.detach()


def captured(gradient: Gradient, start: Tensor, warm_ups: int = 3) -> Gradient:
    """The same gradient as a CUDA graph: all its kernels are launched at once, from the memory that they were recorded with."""
    u = start.clone().requires_grad_(True)
    aside = torch.cuda.Stream()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):
        for _ in range(warm_ups):
            gradient(u)
    torch.cuda.current_stream().wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = gradient(u)

    def replayed(value: Tensor) -> Tensor:
        with torch.no_grad():
            u.copy_(value)
        graph.replay()
        return result.clone()

    return replayed
