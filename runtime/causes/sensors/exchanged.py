"""Columns of two joints exchanged."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.causes.cause import Cause, Finding, Findings
from diffpbd.runtime.causes.measured import ADVANTAGE, EXPLAINED, Measured, Reading, percent


class Exchanged(Cause):
    kind, order, of_torque = "swapped", 0, True
    means = "the torque fits the description exchanged with another joint's; or all columns of two joints are exchanged"
    mends = "`--map` with the names that are printed"

    def measured(self, torques: Measured) -> Findings:
        for i, j in combinations(torques.judged, 2):
            straight = torques.explained(i).left, torques.explained(j).left
            crossed = torques.explained(i, j).left, torques.explained(j, i).left
            better = all(c < ADVANTAGE * a for a, c in zip(straight, crossed, strict=True))
            if better and max(crossed) < 1.0 - EXPLAINED:
                names = torques.robot.joints[i], torques.robot.joints[j]
                message = (
                    f"its torque and that of {names[1]} look exchanged: unexplained are {percent(*straight)} of the torques as "
                    f"they stand and {percent(*crossed)} exchanged"
                )
                yield Finding(self, names[0], message, _exchange(("tau",), *names), grave=True)
                torques.settled |= {i, j}

    def readings(self, torques: Measured) -> Iterator[Reading]:
        names = torques.robot.joints
        for i, j in combinations(range(len(names)), 2) if torques.poor else ():
            order = list(torques.as_is.order)
            order[i], order[j] = j, i
            what = f"all columns of {names[i]} and {names[j]} look exchanged"
            cure = _exchange(("q", "dq", "tau"), names[i], names[j])
            yield replace(torques.as_is, order=tuple(order), what=what, cure=cure)


def _exchange(quantities: Sequence[str], one: str, other: str) -> str:
    """The option that exchanges the columns of two joints."""
    names = {f"{q}_{a}": f"{q}_{b}" for q in quantities for a, b in ((one, other), (other, one))}
    return f"{arg.columns} FILE.json with {json.dumps(names, ensure_ascii=False)}"
