"""The common part of graphs, and what is left of them: the same bits, and no operation twice."""

from __future__ import annotations

import casadi as ca
import numpy as np

from diffpbd.codegen.graph.expressions.common_part import split


def graphs() -> dict[str, ca.Function]:
    """Two graphs that begin alike under other names of an input, and one that goes along."""
    p, q, c = ca.SX.sym("p", 2), ca.SX.sym("q", 2), ca.SX.sym("c", 2, 2)

    def begun(at: ca.SX) -> ca.SX:
        return ca.vertcat(ca.sin(at[0]) * c[0, 1] + at[1], ca.cos(at[0]) / c[1, 0])

    a, b = begun(p), begun(q)
    return {
        "a": ca.Function("a", [p, c], [a, ca.densify(a * a[0] + 1)], ["p", "c"], ["begun", "more"]),
        "b": ca.Function("b", [q, c], [ca.densify(ca.vertcat(b[1] - b[0], 3.0, q[1]))], ["q", "c"], ["less"]),
        "along": ca.Function("along", [q, c], [ca.sqrt(b[1] ** 2 + q[0])], ["q", "c"], ["root"]),
    }


def test_parts_give_the_bits_of_the_whole() -> None:
    made = graphs()
    part, rest = split(made, ("a", "b"), {"q": "p"}, "common")
    random = np.random.default_rng(0)
    for _ in range(20):
        at, c = random.uniform(0.1, 2.0, 2), random.uniform(0.5, 2.0, (2, 2))
        between = part(p=at, c=c)["between"]
        for name, whole in made.items():
            given = {"p" if name == "a" else "q": at, "c": c}
            want, found = whole(**given), rest[name](between=between, **given)
            for key in want:
                np.testing.assert_array_equal(np.asarray(found[key]), np.asarray(want[key]))


def test_what_is_common_is_worked_out_once() -> None:
    part, rest = split(graphs(), ("a", "b"), {"q": "p"}, "common")
    assert part.numel_out(0) == 2
    assert (ca.OP_SIN, ca.OP_COS, ca.OP_DIV) == tuple(
        op for op in (ca.OP_SIN, ca.OP_COS, ca.OP_DIV) if op in operations(part)
    )
    for left in rest.values():
        assert not operations(left) & {ca.OP_SIN, ca.OP_COS, ca.OP_DIV}


def operations(graph: ca.Function) -> set[int]:
    return {graph.instruction_id(k) for k in range(graph.n_instructions())}
