"""Numbers that nobody means to send, in every place of every input of every function, through the C interface alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from support.arguments import H, row_of
from support.judges.matrix import Case
from support.numeric import Array

from diffpbd.runtime.folder.library import Library
from diffpbd.runtime.functions.function import BoundFunction, addresses

WILD = (np.nan, np.inf, -np.inf, 1e300, -1e300)
STEPS = 2
SEVERAL = 5
"""Rows of a batch: more than four lanes, and not a multiple."""


def one_row(case: Case, f: BoundFunction) -> list[Array]:
    """Ordinary inputs of a function, flat in C's order; of rollouts over `STEPS` steps."""
    if not f.facts.rollout:
        given: Mapping[str, Any] = row_of(case.given(f), 0)  # type: ignore[arg-type]
        return [np.asarray(given[a.name], float).ravel(order="F").copy() for a in f.facts.inputs]
    state = {k: case.values[k][0] for k in ("p", "pd")}
    known = {"h": [H], "alpha": case.alpha, **state, "p0": state["p"], "pd0": state["pd"]}
    for k in ("P", "P_ref", "P_guess"):
        known[k] = np.tile(state["p"], STEPS + 1)
    found = []
    for a in f.facts.inputs:
        values = known.get(a.name, np.full(a.size(STEPS), 0.05))
        found.append(np.resize(np.asarray(values, float), a.size(STEPS)))
    return found


def places(size: int) -> Iterator[slice]:
    """The first number, one in the middle, all."""
    yield from (slice(*ends) for ends in dict.fromkeys(((0, 1), (size // 2, size // 2 + 1), (0, size))))


def silent_results(case: Case) -> tuple[int, int, list[str]]:
    """Calls with something wild in one input; those that ended in a status; those that gave another result than finite
    numbers with status 0."""
    calls, refused, silent = 0, 0, []
    library = Library(case.robot.folder, case.robot.manifest)
    for f in (case.robot.function(name) for name in case.robot.functions):
        if not known_to(case, f):
            continue
        steps = STEPS if f.facts.rollout else 0
        call, work = library.bind(f.facts), np.empty(library.work_size(f.facts, steps))
        ordinary = one_row(case, f)
        for k, argument in enumerate(f.facts.inputs):
            for wild in WILD:
                for place in places(ordinary[k].size):
                    inputs = [values.copy() for values in ordinary]
                    inputs[k][place] = wild
                    results = [np.zeros(a.size(steps)) for a in f.facts.outputs]
                    before = (steps,) if f.facts.rollout else ()
                    status = call(*before, addresses(inputs), addresses(results), work.ctypes.data)
                    calls += 1
                    refused += status != 0
                    if status == 0 and not all(np.isfinite(x).all() for x in results):
                        silent.append(f"{f.name}: {argument.name}[{place.start}:{place.stop}] = {wild}")
                    assert status == 0 or status in f.facts.status, f"{f.name}: status {status} is not declared"
    return calls, refused, silent


def known_to(case: Case, f: BoundFunction) -> bool:
    """Whether ordinary inputs are known: not of what takes obstacles or goals that a case does not have."""
    try:
        one_row(case, f)
    except (KeyError, AttributeError):
        return False
    return True


def counted_rows(case: Case) -> int:
    """A batch counts as failed just those rows that fail alone, and leaves the others their bits; how many were wild."""
    library, wild_rows = Library(case.robot.folder, case.robot.manifest), 0
    for f in case.functions:
        given = one_row(case, f)
        shared = [a.name in ("alpha", "h") for a in f.facts.inputs]
        call, work = library.bind(f.facts), np.empty(library.work_size(f.facts))
        for k, argument in enumerate(f.facts.inputs):
            if shared[k]:
                continue
            for wild in WILD:
                rows = [v if s else np.tile(v, (SEVERAL, 1)) for v, s in zip(given, shared, strict=True)]
                rows[k][SEVERAL // 2, 0] = wild
                results = [np.zeros((SEVERAL, a.size())) for a in f.facts.outputs]
                sizes = [0 if s else v.shape[-1] for v, s in zip(rows, shared, strict=True)]
                failed = library.map_rows(
                    library.pointer(f.facts), sizes, [v.ctypes.data for v in rows], [v.shape[1] for v in results],
                    [v.ctypes.data for v in results], SEVERAL, work,
                )  # fmt: skip
                alone = [np.zeros(a.size()) for a in f.facts.outputs]
                one = [v if s else v[SEVERAL // 2] for v, s in zip(rows, shared, strict=True)]
                status = call(addresses(one), addresses(alone), work.ctypes.data)
                where = f"{f.name}: {argument.name} = {wild}, status {status}"
                assert failed == (status != 0), where
                for found in results:
                    assert (found[-1] == found[0]).all(), where
                wild_rows += 1
    return wild_rows
