"""The vectors of `tree_jacobian` make up the blocks of `link_jacobian`: two derivations, in world axes and in link frames. The
sweeps of templates/step/tree_jacobian.h are products and solves with these blocks."""

from __future__ import annotations

import ctypes
import dataclasses
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.imports import ROOT
from support.programs import Programs
from support.robots import loaded_alpha
from support.small.rolled import STRICT

from diffpbd.codegen.description.front.resolve import resolve
from diffpbd.codegen.graph.loops.build import build
from diffpbd.codegen.joint_space import tree_jacobian
from diffpbd.codegen.joint_space.links import link_jacobian
from diffpbd.codegen.program.program import Program
from diffpbd.codegen.program.tree import Tree
from diffpbd.runtime.folder.compiler import find_compiler
from diffpbd.runtime.functions.parameters import ParameterVector

H = 0.01
BRANCHED = Tree((-1, 0, 1, 1, 3, 0, 5), (False, False, True, False, False, False, True), (True,) * 7)
DOUBLES = ctypes.POINTER(ctypes.c_double)
WIDTHS = {"one": "", "two": "#define DISPATCHED\n"}
VECTORS = (
    "U V W left right row column held0 above0 below0 turned0 held1 above1 below1 turned1".split()
)  # as in templates/step/tree_jacobian.h
NUMBERS = ("pivot", "pivot1", "own0", "own1", "rotor", "lag")
BLOCKS = ("D", "K0", "M0", "K1", "M1", "lag")


def link_blocks(tree: Tree) -> Program:
    b = Program("blocks")
    _, blocks = link_jacobian.declare_blocks(b, tree)
    for name in BLOCKS:
        if getattr(blocks, name) is not None:
            b.output(name, getattr(blocks, name))
    return b


def tree_blocks(tree: Tree, packed: Any) -> dict[str, np.ndarray]:
    """The blocks whole, from every joint's vectors; M1 and D by their factors: A⁻¹ by elimination along the tree."""
    n = tree.n
    j = {k: packed[6 * i : 6 * i + 6].T for i, k in enumerate(VECTORS)}
    j |= {k: packed[90 + i] for i, k in enumerate(NUMBERS)}
    D, K0, M0, K1, M1 = (np.zeros((n, n)) for _ in range(5))
    for k in range(n):
        for i in tree.ancestors(k):
            D[i, k], D[k, i] = j["left"][i] @ j["column"][k], j["right"][i] @ j["row"][k]
            M0[i, k] = M0[k, i] = j["left"][i] @ j["held0"][k]
            M1[i, k] = M1[k, i] = j["right"][i] @ j["held1"][k]
            for K, side, e in ((K0, "left", "0"), (K1, "right", "1")):
                K[k, i] = j[side][i] @ j[f"below{e}"][k] + j[f"turned{e}"][i] @ j[f"held{e}"][k]
                K[i, k] = j[side][i] @ j[f"above{e}"][k]
    for A, own in ((D, "rotor"), (M0, "rotor"), (M1, "rotor"), (K0, "own0"), (K1, "own1")):
        A += np.diag(j[own])
    return {"D": D, "K0": K0, "M0": M0, "K1": K1, "M1": M1, "lag": np.diag(j["lag"])}


FORCES = {
    "wrench": ("boom", "probe"),
    "lever_springs": ("wrist",),
    "friction_law": ("asymmetric", "stribeck"),
}


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("prismatic_skew", {}),
        ("prismatic_skew", FORCES),
        pytest.param("baxter_dual", {}, marks=pytest.mark.thorough),
    ],
)
def test_blocks(name: str, options: dict[str, Any]) -> None:
    recipe, robot = resolve(name)
    if options:
        recipe = dataclasses.replace(recipe, **options)
    m = build(robot, recipe)
    programs, rng = Programs(m), np.random.default_rng(3)
    alpha = loaded_alpha(ParameterVector(m.entries))
    for k, entry in enumerate(m.entries):
        if entry.name.split(".")[0] in ("wrench", "friction", "lever_spring"):
            alpha[k] += rng.uniform(0.1, 0.9)
    n = m.tree.n
    p, pd, p1, pd1 = (rng.uniform(-1.0, 1.0, n) for _ in range(4))
    given = {"p": p, "pd": pd, "p_next": p1, "pd_next": pd1, "h": H}
    found = tree_blocks(m.tree, programs.run(tree_jacobian.joints(m.tree), alpha, **given)["joints"])
    expected = programs.run(link_blocks(m.tree), alpha, **given)
    if options:
        assert np.abs(np.diag(found["lag"])).min() > 0.0
    slopes = expected["M1"] - found["M1"]
    np.testing.assert_allclose(slopes, np.diag(np.diag(slopes)), atol=1e-13)  # of friction: in the factors alone
    for key in set(expected) - {"M1"}:
        np.testing.assert_allclose(found[key], expected[key], atol=1e-13 * np.abs(expected[key]).max(), err_msg=key)


def numbers_of(tree: Tree) -> dict[str, Any]:
    """A robot of this topology: random frames, bodies of 1 kg and more, rotors, springs and viscous friction; a state."""
    rng, n = np.random.default_rng(8), tree.n
    turns = [np.linalg.qr(rng.normal(size=(3, 3)))[0] for _ in range(n)]
    before = np.array([[*(R * np.linalg.det(R)).ravel(), *rng.uniform(-0.3, 0.3, 3)] for R in turns]).T
    body = np.vstack([rng.uniform(1.0, 2.0, n), rng.uniform(-0.1, 0.1, (3, n)), rng.uniform(-0.01, 0.01, (6, n))])
    body[[4, 7, 9]] += 0.2
    p, pd, pd1 = rng.uniform(-1.0, 1.0, (3, n))
    zero = np.zeros(n)
    return {
        "before": before, "after": np.tile(np.eye(3).reshape(9, 1), n), "body": body, "gravity": [0.3, -0.5, -9.8],
        "rotor": rng.uniform(0.0, 0.1, n), "stiffness": rng.uniform(0.0, 9.0, n), "rest": zero, "coulomb": zero,
        "viscous": rng.uniform(0.1, 1.0, n), "transition": zero + 1.0,
        "p": p, "pd": pd, "p_next": p + H * pd, "pd_next": pd1, "h": H,
    }  # fmt: skip


def compiled(tree: Tree, folder: Path, width: str) -> ctypes.CDLL:
    parents = ", ".join(str(parent if parent >= 0 else tree.n) for parent in tree.parents)
    text = f"""#include <string.h>
#define N {tree.n}
#define JOINT {tree_jacobian.ROWS}
#define SWEEPS (80 * N + 72)
#define INLINE static inline
{WIDTHS[width]}static const int parents[] = {{{parents}}};
#include "tree_jacobian.h"
void jacobian(const double *joints, double h, double *const *out, double *w) {{ tree_jacobian(joints, h, out, w); }}
void adjoint(const double *joints, double h, const double *a, const double *b, double *const *out, double *w) {{
  tree_adjoint(joints, h, a, b, out[0], out[1], out[2], out[3], out[4], w);
}}
"""
    source, library = folder / f"{width}.c", folder / f"{width}.so"
    source.write_text(text)
    flags = (*STRICT, "-fPIC", "-shared", "-I", str(ROOT / "templates" / "step"))
    subprocess.run((*find_compiler(), *flags, str(source), "-o", str(library), "-lm"), check=True)
    return ctypes.CDLL(str(library))


def test_sweeps(tmp_path: Path) -> None:
    """On a tree with branches on branches, seven joints: not a whole number of vectors; each width gives the same bits."""
    tree, given = BRANCHED, numbers_of(BRANCHED)
    n, rng = tree.n, np.random.default_rng(9)
    program = tree_jacobian.joints(tree)
    packed = program.numpy()(**{k: given[k] for k in program.inputs})["joints"]
    b = tree_blocks(tree, packed)
    D, K0, M0, K1, M1 = (b[k] for k in BLOCKS[:5])
    M1 = M1 + H * np.diag(given["viscous"])
    half = H * H / 2 * np.eye(n)
    first = np.linalg.solve(D, np.hstack([-K0, H * M0, half]))
    second = np.linalg.solve(H * M1, np.hstack([-D.T, np.zeros((n, n)), half]) - K1 @ first)
    seeds = rng.normal(size=(2, n))
    joints, work = np.ascontiguousarray(packed.T), np.full(80 * n + 72, np.nan)

    def pointer(array: np.ndarray) -> Any:
        return array.ctypes.data_as(DOUBLES)

    def outputs(shape: tuple[int, ...]) -> tuple[np.ndarray, Any]:
        found = np.full(shape, np.nan)
        return found, (DOUBLES * len(found))(*map(pointer, found))

    results = []
    for width in WIDTHS:
        library = compiled(tree, tmp_path, width)
        h = ctypes.c_double(H)
        blocks, out = outputs((6, n, n))
        library.jacobian(pointer(joints), h, out, pointer(work))
        bars, out = outputs((5, n))
        library.adjoint(pointer(joints), h, pointer(seeds[0]), pointer(seeds[1]), out, pointer(work))
        results.append((blocks, bars))
    for whole, place in ((first, 0), (second, 3)):
        found = np.hstack([block.T for block in blocks[place : place + 3]])
        np.testing.assert_allclose(found, whole, atol=1e-11 * np.abs(whole).max())
    pulled = seeds[0] @ first + seeds[1] @ second
    np.testing.assert_allclose(bars[:3].ravel(), pulled, atol=1e-11 * np.abs(pulled).max())
    for one, two in zip(*results, strict=True):
        np.testing.assert_array_equal(one, two)
