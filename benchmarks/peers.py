"""CasADi forward dynamics of peers, wrapped in explicit integrators and emitted as C behind our C interface."""
from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import casadi as ca
import numpy as np

from benchmarks import arm
from benchmarks.native import HERE, Native, compile_c

Acceleration = Callable[[ca.SX, ca.SX, ca.SX], ca.SX]
SKIPPED = (ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST)


def operations(function: ca.Function) -> int:
    """Arithmetic instructions; loads, stores and constants don't count."""
    return sum(function.instruction_id(k) not in SKIPPED for k in range(function.n_instructions()))


def adam_articulated_body(urdf: str, joints: list[str]) -> Acceleration:
    """adam-robotics' articulated-body algorithm; its floating base is held by answering its one 6 x 6 solve with zero."""
    import adam
    from adam.casadi import KinDynComputations

    computations = KinDynComputations(Path(urdf).read_text(), joints, gravity=np.array([0, 0, -arm.GRAVITY, 0, 0, 0]))
    computations.set_frame_velocity_representation(adam.Representations.BODY_FIXED_REPRESENTATION)
    algorithms = computations.rbdalgos

    class Held(type(algorithms.math)):  # type: ignore[misc]
        def solve(self, a: object, b: object) -> object:
            return self.factory.zeros(6)

    algorithms.math = Held()
    return lambda p, pd, u: computations.aba(ca.SX.eye(4), p, ca.SX.zeros(6), pd, u)[6:]


def euler(f: Acceleration, p: ca.SX, pd: ca.SX, u: ca.SX, h: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Semi-implicit Euler, as simulators do it."""
    after = pd + h * f(p, pd, u)
    return p + h * after, after


def runge_kutta(nodes: list[float], weights: list[list[float]], last: list[float]) -> Callable[..., tuple[ca.SX, ca.SX]]:
    """An explicit Runge-Kutta step from its tableau."""
    def step(f: Acceleration, p: ca.SX, pd: ca.SX, u: ca.SX, h: ca.SX) -> tuple[ca.SX, ca.SX]:
        rates: list[tuple[ca.SX, ca.SX]] = []

        def moved(row: list[float]) -> tuple[ca.SX, ca.SX]:
            terms = [(h * w, k) for w, k in zip(row, rates) if w]
            return p + sum(w * k[0] for w, k in terms), pd + sum(w * k[1] for w, k in terms)
        for row in weights:
            at = moved(row)
            rates.append((at[1], f(*at, u)))
        return moved(last)
    return step


INTEGRATORS: dict[str, Callable[..., tuple[ca.SX, ca.SX]]] = {
    "Euler": euler,
    "RK2": runge_kutta([0, 0.5], [[], [0.5]], [0, 1]),
    "RK3": runge_kutta([0, 0.5, 1], [[], [0.5], [-1, 2]], [1 / 6, 4 / 6, 1 / 6]),
    "RK4": runge_kutta([0, 0.5, 0.5, 1], [[], [0.5], [0, 0.5], [0, 0, 1]], [1 / 6, 1 / 3, 1 / 3, 1 / 6]),
}


@dataclass
class Peer:
    """One compiled peer: its functions by name, operations, bytes of C and compile seconds."""

    name: str
    functions: dict[str, Native]
    operations: dict[str, int]
    c_bytes: int
    compile_s: float


def build(name: str, f: Acceleration, integrator: str, n: int, steps: int, folder: Path) -> Peer:
    """Emit and compile step, Jacobian (2n x 3n), reverse step, rollout and its gradient."""
    p, pd, u, h = (ca.SX.sym(k, m) for k, m in (("p", n), ("pd", n), ("u", n), ("h", 1)))
    bars = [ca.SX.sym("p_next_bar", n), ca.SX.sym("pd_next_bar", n)]
    p_next, pd_next = INTEGRATORS[integrator](f, p, pd, u, h)
    after, before = ca.vertcat(p_next, pd_next), ca.vertcat(p, pd, u)
    reverse = ca.vertsplit(ca.jtimes(after, before, ca.vertcat(*bars), True), [0, n, 2 * n, 3 * n])
    graphs = {"step": ca.Function("peer_step", [p, pd, u, h], [p_next, pd_next], {"cse": True}),
              "jacobian": ca.Function("peer_jacobian", [p, pd, u, h], [p_next, pd_next, ca.densify(ca.jacobian(after, before))], {"cse": True}),
              "vjp": ca.Function("peer_vjp", [p, pd, u, h, *bars], reverse, {"cse": True})}
    stem = "".join(c if c.isalnum() else "_" for c in name)
    generator = ca.CodeGenerator(stem + ".c", {"with_header": False})
    for graph in graphs.values():
        generator.add(graph)
    generator.generate(str(folder) + "/")
    source = folder / (stem + ".c")
    generated = source.read_text()
    source.write_text(generated + "".join(WRAPPER.format(name=k) for k in graphs) + LOOPS.format(n=n, file=HERE / "rollout.c"))
    seconds = compile_c([source], folder / (stem + ".so"))
    library = ctypes.CDLL(str(folder / (stem + ".so")))

    def native(k: str) -> Native:
        g = graphs[k]
        return Native(library, "plain_" + k, tuple(g.nnz_in(i) for i in range(g.n_in())),
                      tuple(g.nnz_out(i) for i in range(g.n_out())), g.sz_w())
    work = max(g.sz_w() for g in graphs.values())
    rows, trajectory = (n, n, n * steps, 1), (n * (steps + 1),) * 2
    functions = {k: native(k) for k in graphs}
    functions["rollout"] = Native(library, "rollout", rows, trajectory, work, steps)
    functions["gradient"] = Native(library, "gradient", rows, (n * steps, *trajectory), work, steps)
    return Peer(name, functions, {k: operations(g) for k, g in graphs.items()}, len(generated), seconds)


WRAPPER = """
int plain_{name}(const double *const *in, double *const *out, double *work)
{{
    return peer_{name}((const double **)in, (double **)out, 0, work, 0);
}}
"""
LOOPS = """
#define N {n}
#define STEP plain_step
#define VJP plain_vjp
#define ROLLOUT rollout
#define GRADIENT gradient
#include "{file}"
"""
