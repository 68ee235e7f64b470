"""Outlined programs are the programs they came from, with few kernels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import sympy as sp

from diffpbd.codegen.joint_space import step as joint_space
from diffpbd.codegen.program import tree
from diffpbd.codegen.program.outline import outlined
from diffpbd.codegen.program.program import Call, Program
from diffpbd.codegen.program.tree import Tree

PROGRAMS = ("start", "newton", "chord", "end", "velocity", "velocity_newton", "residuals", "node")


def chain(n: int) -> Tree:
    return Tree(tuple(range(-1, n - 1)), (False,) * n, (True,) * n)


BRANCHED = Tree((-1, 0, 1, 2, 1, 4), (False, True, False, False, False, True), (True, True, False, True, True, True))


@pytest.fixture(autouse=True)
def along_the_tree(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Short trees in the form of deep ones, without what other tests have derived."""
    monkeypatch.setattr(tree, "DENSE_DEPTH", 0)
    for name in PROGRAMS:
        getattr(joint_space, name).cache_clear()
    yield
    for name in PROGRAMS:
        getattr(joint_space, name).cache_clear()


def inputs_of(program: Program, seed: int = 3) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {k: rng.uniform(0.5, 1.5, m.shape) for k, m in program.inputs.items()}


@pytest.mark.thorough
@pytest.mark.parametrize("name", PROGRAMS)
def test_outlined_is_the_same_program(name: str) -> None:
    program = getattr(joint_space, name)(BRANCHED)
    rolled = outlined(program)
    assert all(isinstance(s, Call) for s in rolled.statements)
    given = inputs_of(program)
    expected, found = program.numpy()(**given), rolled.numpy()(**given)
    assert expected.keys() == found.keys()
    for key in expected:
        # The numbers are no robot's, and differences cancel; a wrong sign or place would be seen in the first digit.
        np.testing.assert_allclose(found[key], expected[key], rtol=1e-6, atol=1e-6 * np.abs(expected[key]).max())


def test_kernels_do_not_grow_with_the_chain() -> None:
    counts, calls = [], []
    for n in (8, 16):
        rolled = outlined(joint_space.newton(chain(n)))
        counts.append(len({id(s.program) for s in rolled.calls()}))
        calls.append(len(rolled.calls()))
    assert counts[0] == counts[1] < 12
    assert calls[1] - calls[0] == 3 * 8  # outwards, inwards, outwards


def test_known_numbers_are_folded_in() -> None:
    program = joint_space.chord(chain(4))
    identity = {
        s: sp.Integer(int(k % 4 == 0)) for i in range(4) for k, s in enumerate(program.inputs["before"][0:9, i])
    }
    folded = outlined(program, identity)
    assert folded.operations() < outlined(program).operations()
    given = inputs_of(program)
    given["before"][0:9] = np.eye(3).reshape(9, 1)
    np.testing.assert_allclose(folded.numpy()(**given)["next"], program.numpy()(**given)["next"], rtol=1e-12)
