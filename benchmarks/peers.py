"""CasADi forward dynamics of peers, wrapped in explicit integrators and emitted as C behind our C interface."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from benchmarks import arm
from benchmarks.native import HERE, Native, compile_c
from benchmarks.row import Row, joint_swing, timer
from benchmarks.states import STEPS, States

Acceleration = Callable[[ca.SX, ca.SX, ca.SX], ca.SX]
Tangent = Callable[[ca.SX, ca.SX, ca.SX], tuple[ca.SX, ca.SX]]
Rate = Callable[[Any, Any], Any]
SKIPPED = (ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST)
CSE = {"cse": True}
FORWARD = {"helper_options": {"ad_weight": 0}}


@dataclass(frozen=True)
class Dynamics:
    """A peer's forward dynamics of n joints: (p, pd, u) -> pdd, and -> (pdd, its n x 3n Jacobian)."""

    n: int
    acceleration: Acceleration
    tangent: Tangent


def differentiated(n: int, acceleration: Acceleration) -> Dynamics:
    """The dynamics with CasADi's own automatic differentiation; forward mode gives the smaller code here."""

    def tangent(p: ca.SX, pd: ca.SX, u: ca.SX) -> tuple[ca.SX, ca.SX]:
        value = acceleration(p, pd, u)
        return value, ca.jacobian(value, ca.vertcat(p, pd, u), FORWARD)

    return Dynamics(n, acceleration, tangent)


def adam_articulated_body(urdf: Path, joints: list[str]) -> Dynamics:
    """adam-robotics' articulated-body algorithm; its floating base is held by answering its one 6 x 6 solve with zero."""
    import adam
    from adam.casadi import KinDynComputations

    computations = KinDynComputations(urdf.read_text(), joints, gravity=np.array([0, 0, -arm.GRAVITY, 0, 0, 0]))
    computations.set_frame_velocity_representation(adam.Representations.BODY_FIXED_REPRESENTATION)
    algorithms = computations.rbdalgos

    class Held(type(algorithms.math)):
        def solve(self, a: object, b: object) -> object:
            return self.factory.zeros(6)

    algorithms.math = Held()
    return differentiated(len(joints), lambda p, pd, u: computations.aba(ca.SX.eye(4), p, ca.SX.zeros(6), pd, u)[6:])


def euler(rate: Rate, p: Any, pd: Any, h: Any) -> tuple[Any, Any]:
    """Semi-implicit Euler, as simulators do it."""
    after = pd + h * rate(p, pd)
    return p + h * after, after


def runge_kutta(*rows: list[float]) -> Callable[[Rate, Any, Any, Any], tuple[Any, Any]]:
    """An explicit Runge-Kutta step from the rows of its tableau; the last row holds the weights."""

    def step(rate: Rate, p: Any, pd: Any, h: Any) -> tuple[Any, Any]:
        rates: list[tuple[Any, Any]] = []
        at = (p, pd)
        for row in rows:
            rates.append((at[1], rate(*at)))
            terms = [(h * weight, k) for weight, k in zip(row, rates, strict=True) if weight]
            at = p + sum(w * k[0] for w, k in terms), pd + sum(w * k[1] for w, k in terms)
        return at

    return step


INTEGRATORS = {
    "Euler": euler,
    "RK2": runge_kutta([1 / 2], [0, 1]),
    "RK3": runge_kutta([1 / 2], [-1, 2], [1 / 6, 4 / 6, 1 / 6]),
    "RK4": runge_kutta([1 / 2], [0, 1 / 2], [0, 0, 1], [1 / 6, 1 / 3, 1 / 3, 1 / 6]),
}


def graphs(dynamics: Dynamics, integrator: str) -> list[ca.Function]:
    """step, value with dense 2n x 3n Jacobian, and reverse step.

    Euler is one flat graph. The Runge-Kutta steps call one function for every stage and chain its Jacobian:
    flattened, the Jacobian of RK4 has 158 000 operations and takes the compiler minutes.
    """
    n, one_step = dynamics.n, INTEGRATORS[integrator]
    s = [ca.SX.sym(name, n) for name in ("p", "pd", "u")]
    acceleration = ca.Function("peer_acceleration", s, [dynamics.acceleration(*s)], CSE)
    tangent = ca.Function("peer_tangent", s, [ca.densify(e) for e in dynamics.tangent(*s)], CSE)
    slopes = [ca.SX.sym("slope", n, 3 * n), ca.SX.sym("p_tangent", n, 3 * n), ca.SX.sym("pd_tangent", n, 3 * n)]
    chain = ca.Function("peer_chain", slopes, [chained(*slopes)], CSE)

    sym, flat = (ca.SX.sym, True) if integrator == "Euler" else (ca.MX.sym, False)
    p, pd, u, h = sym("p", n), sym("pd", n), sym("u", n), sym("h")
    bars = [sym("p_next_bar", n), sym("pd_next_bar", n)]
    eye, zero = np.eye(n), np.zeros((n, n))

    def rate(p: Any, pd: Any) -> Any:
        return dynamics.acceleration(p, pd, u) if flat else acceleration(p, pd, u)

    def rate_with_slopes(p: Any, pd: Any) -> Any:
        value, slope = dynamics.tangent(p[:, 0], pd[:, 0], u) if flat else tangent(p[:, 0], pd[:, 0], u)
        return ca.horzcat(value, (chained if flat else chain)(slope, p[:, 1:], pd[:, 1:]))

    after = one_step(rate, p, pd, h)
    tangents = one_step(rate_with_slopes, ca.horzcat(p, eye, zero, zero), ca.horzcat(pd, zero, eye, zero), h)
    reverse = ca.jtimes(ca.vertcat(*after), ca.vertcat(p, pd, u), ca.vertcat(*bars), True)
    return [
        ca.Function("peer_step", [p, pd, u, h], list(after), CSE),
        ca.Function(
            "peer_jacobian",
            [p, pd, u, h],
            [tangents[0][:, 0], tangents[1][:, 0], ca.densify(ca.vertcat(tangents[0][:, 1:], tangents[1][:, 1:]))],
            CSE,
        ),
        ca.Function("peer_vjp", [p, pd, u, h, *bars], ca.vertsplit(reverse, n), CSE),
    ]


def chained(slope: Any, p_tangent: Any, pd_tangent: Any) -> Any:
    """The n x 3n derivative of pdd by the step's inputs, from its slopes and those of the stage."""
    by_p, by_pd, by_u = ca.horzsplit(slope, slope.shape[0])
    zero = np.zeros(by_u.shape)
    return by_p @ p_tangent + by_pd @ pd_tangent + ca.horzcat(zero, zero, by_u)


def operations(function: ca.Function) -> int:
    """Arithmetic instructions, those of called functions included; loads, stores and constants don't count."""
    total = 0
    for k in range(function.n_instructions()):
        code = function.instruction_id(k)
        if code == ca.OP_CALL:
            total += operations(function.instruction_MX(k).which_function())
        elif code not in SKIPPED:
            total += 1 if function.is_a("SXFunction") else function.instruction_MX(k).numel()
    return total


def row(
    name: str, dynamics: Dynamics, integrator: str, watch: ctypes.CDLL, s: States, folder: Path, flags: Sequence[str] = ()
) -> Row:  # fmt: skip
    """Emit and compile step, Jacobian, reverse step, rollout and gradient; `flags` come after those of generated code."""
    n, made = dynamics.n, graphs(dynamics, integrator)
    stem = re.sub("[^A-Za-z0-9]+", "_", name)
    generator = ca.CodeGenerator(stem + ".c")
    for graph in made:
        generator.add(graph)
    generator.generate(f"{folder}/")
    source, library = folder / f"{stem}.c", folder / f"{stem}.so"
    generated = source.read_text()
    wrappers = "".join(WRAPPER.format(name=g.name(), iw=max(g.sz_iw(), 1)) for g in made)
    source.write_text(generated + wrappers + LOOPS.format(n=n, file=HERE / "rollout.c"))
    seconds = compile_c(source, library, *flags)
    loaded, work = ctypes.CDLL(str(library.resolve())), max(g.sz_w() for g in made)

    def native(g: ca.Function) -> Native:
        sizes = [g.nnz_in(i) for i in range(g.n_in())], [g.nnz_out(i) for i in range(g.n_out())]
        return Native(loaded, f"plain_{g.name()}", tuple(sizes[0]), tuple(sizes[1]), work)

    inputs, trajectory = (n, n, n * STEPS, 1), (n * (STEPS + 1),) * 2
    step, jacobian, vjp = map(native, made)
    rollout = Native(loaded, "peer_rollout", inputs, trajectory, work, STEPS)
    gradient = Native(loaded, "peer_gradient", inputs, (n * STEPS, *trajectory), work, STEPS)
    state, long = [s.p, s.pd, s.u, None], [s.p0, s.pd0, s.U, None]
    timed = {
        "step": timer(watch, step, state),
        "jacobian": timer(watch, jacobian, state),
        "vjp": timer(watch, vjp, [*state, *s.seeds]),
        "rollout": timer(watch, rollout, long),
        "gradient": timer(watch, gradient, long),
    }
    counts = {g.name().removeprefix("peer_"): operations(g) for g in made}
    return Row(name, timed, joint_swing(step, n), counts, len(generated), seconds)


WRAPPER = """
int plain_{name}(const double *const *in, double *const *out, double *work)
{{
    const double *arg[64];
    double *res[64];
    long long iw[{iw}];
    int k;
    for (k = 0; k < {name}_n_in(); ++k) arg[k] = in[k];
    for (k = 0; k < {name}_n_out(); ++k) res[k] = out[k];
    return {name}(arg, res, iw, work, 0);
}}
"""
LOOPS = """
#define N {n}
#define STEP plain_peer_step
#define VJP plain_peer_vjp
#define ROLLOUT peer_rollout
#define GRADIENT peer_gradient
#include "{file}"
"""
