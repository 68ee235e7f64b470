"""Torque-level identification: the measured torque as terms of the motion times coefficients of the parameters.

`torque_terms` T(p, pd, pdd, alpha) and `torque_coefficients` φ(alpha) with T φ = inverse_dynamics less external wrenches and
springs on chosen joints, for every motion and every alpha. T depends on alpha only through gravity, the joint origins and
velocities of the friction law. So where these are known, a recording of any length condenses into one small triangular system
before a solver sees it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import casadi as ca

from diffpbd.codegen.functions import DOCS, DOCS_OF_LOOPS
from diffpbd.codegen.graph.expressions.translate import graph_of
from diffpbd.codegen.graph.functions.derivatives import Spec
from diffpbd.codegen.graph.functions.functions import Graphs
from diffpbd.codegen.joint_space import recursive
from diffpbd.codegen.laws import forces


def specs(graphs: Graphs) -> Iterator[Spec]:
    """The two functions; columns as in `catalogue.TORQUE_COLUMNS`."""
    state: list[tuple[str, Any]] = [("p", graphs.p), ("pd", graphs.pd), ("pdd", graphs.pdd), ("alpha", graphs.alpha)]
    closed = graphs.model.tree.closures or graphs.model.robot.passive
    yield _spec("torque_terms", state, {"terms": graphs.condensed(terms)}, DOCS_OF_LOOPS if closed else DOCS)
    yield _spec("torque_coefficients", state[3:], {"phi": graphs.condensed_coefficients(coefficients)}, DOCS)


def terms(graphs: Graphs) -> Any:
    """T: a row a coordinate, 16 columns a joint, and one more for each of `more_friction`; those of joints that follow others
    are felt through their gears."""
    n, gears = graphs.model.robot.n, graphs.gears
    p, pd, pdd = gears.positions(graphs.p), gears.rates(graphs.pd), gears.rates(graphs.pdd)
    links = graphs.program(recursive.regressor(graphs.model.tree), p=p, pd=pd, pdd=pdd)["Y"]
    stiffness = ca.SX.sym("stiffness", n)
    given = {name: ca.SX.sym(name, n) for name in ("coulomb", "viscous", *more_friction(graphs))}
    friction = -graphs.program(forces.friction_program(n, graphs.model.tree.friction), pd=pd, **given)["torque"]
    spring = -graphs.program(forces.spring_program(n), p=p, stiffness=stiffness, rest=ca.SX.zeros(n))["torque"]
    one = ca.SX.eye(n)
    every = ca.horzcat(
        links,
        *(ca.jacobian(friction, given[name]) for name in ("coulomb", "viscous")),
        ca.diag(pdd),
        one,
        ca.jacobian(spring, stiffness),
        one,
        *(ca.jacobian(friction, given[name]) for name in more_friction(graphs)),
    )
    return gears.torques(every)


def more_friction(graphs: Graphs) -> tuple[str, ...]:
    """Blocks of friction beyond the plain law's that torques are linear in."""
    return forces.linear_names(graphs.model.tree.friction)[2:]


def coefficients(graphs: Graphs) -> Any:
    """φ, as many as `terms` has columns: the payload counts to the link that carries the tip; last of the 16 is the spring
    torques' constant part."""
    blocks, n = graphs.model.blocks, graphs.model.robot.n
    joints = [blocks[name] for name in ("coulomb", "viscous", "rotor", "offset", "stiffness")]
    at_zero = graphs.program(forces.spring_program(n), p=ca.SX.zeros(n))["torque"]
    return ca.vertcat(ca.vec(blocks["body"]), *joints, -at_zero, *(blocks[name] for name in more_friction(graphs)))


def _spec(name: str, inputs: list[tuple[str, Any]], outputs: dict[str, Any], docs: Mapping[str, str]) -> Spec:
    return Spec(name, docs[name], graph_of(name, dict(inputs), outputs))
