"""Errors and warnings about closed loops, with names and figures."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from diffpbd.codegen.description.report import Finding, listed, quoted
from diffpbd.codegen.description.robot.robot import Robot
from diffpbd.codegen.graph.loops.branches import Branches
from diffpbd.codegen.graph.loops.poses import CLOSED, FEWEST, STARTS, Probe, row_names
from diffpbd.codegen.laws.cuts import ROWS

NEARLY_CLOSED: Final = 1e-5
"""[m, 1] Residual up to which anchors are taken for wrong in their last printed digits."""
NEAR_SINGULAR: Final = 1e-3
"""[1] Least singular value, as part of the largest, below which a pose inside the limits is named."""

Array = Any


def _pose_text(robot: Robot, p: Array) -> str:
    return ", ".join(f"{robot.joints[i].name} = {x:.4g}" for i, x in zip(robot.independent, p, strict=True))


def _subject(robot: Robot) -> str:
    """The loops of a robot, as a message begins."""
    loops = [loop.name for loop in robot.loops]
    return f"loop {quoted(loops[0])}" if len(loops) == 1 else f"loops {listed(loops)}"


def open_loop(probe: Probe, nearest: tuple[Array, float], closed: int) -> Finding:
    """A loop that no pose closes, or nearly."""
    robot, (p, left) = probe.robot, nearest
    residual, first = np.abs(probe.rows(p)[0]), 0
    worst = (robot.loops[0], 0.0, "")
    for loop in robot.loops:
        names = row_names(loop)
        own = residual[first : first + len(names)]
        first += len(names)
        if own.max() >= worst[1]:
            worst = (loop, float(own.max()), names[int(own.argmax())])
    loop, gap, row = worst
    unit = _unit(row)
    if unit == "m":  # the length of the gap, not its largest component
        gap = float(np.linalg.norm(_gaps(robot, probe.rows(p)[0])[robot.loops.index(loop)]))
    names = (loop.name, *(robot.joints[i].name for i in robot.independent))
    if CLOSED <= left < NEARLY_CLOSED:
        message = (
            f"loop {quoted(loop.name)}: its rows are nearly dependent: anchors look off by about {gap:.2g} {unit} "
        )
        message += f"({row}) from an exact mechanism; correct them"
        return Finding("loop-rows", message, (), names, (("gap", gap),))
    message = f"loop {quoted(loop.name)} does not close: nearest pose has a gap of {gap:.3g} {unit} ({row}; "
    message += (
        f"{_pose_text(robot, p)}); check its anchors; {closed} of {2 * STARTS} starts closed, {FEWEST} are needed"
    )
    return Finding("loop-open", message, (), names, (("gap", gap), ("closed", float(closed))))


def _gaps(robot: Robot, g: Array) -> list[Array]:
    """The rows of every loop that are lengths."""
    found, first = [], 0
    for loop in robot.loops:
        own = [first + k for k, row in enumerate(ROWS[loop.type.value]) if row.startswith(("gap", "distance"))]
        first += len(ROWS[loop.type.value])
        found.append(g[own])
    return found


def idle(robot: Robot) -> Finding:
    """Loops that constrain nothing."""
    one = len(robot.loops) == 1
    message = f"{_subject(robot)}: {'its' if one else 'their'} rows hold at every pose: {'it closes' if one else 'they close'}"
    return Finding("loop-idle", f"{message} nothing; leave {'it' if one else 'them'} out", (), _loop_names(robot))


def _loop_names(robot: Robot) -> tuple[str, ...]:
    return tuple(loop.name for loop in robot.loops)


def uneven(robot: Robot, ways: Branches) -> Finding:
    """Loops that close in motions of unequal mobility."""
    n = len(robot.independent)
    told = [f"rank {ways.rank} (mobility {n - ways.rank}) near {_pose_text(robot, ways.poses[0])}"]
    told += [f"rank {rank} (mobility {n - rank}) near {_pose_text(robot, p)}" for rank, p in ways.other]
    message = (
        f"{_subject(robot)}: closes in motions of different mobility: {' and '.join(told)}: narrow the limits to one"
    )
    least = min(rank for rank, _ in ways.other)
    facts = (("rank", float(ways.rank)), ("other_rank", float(least)))
    return Finding("loop-rank", message, (), _loop_names(robot), facts)


def ways(robot: Robot, found: Branches) -> Iterator[Finding]:
    """Closed poses beside the motion."""
    names, subject = _loop_names(robot), _subject(robot)
    if found.singular:
        message = f"{subject}: closed poses that were found are singular, as {_pose_text(robot, found.singular[0])}: a motion "
        message += "passes there, and a start there ends in a status; narrow the limits to keep away"
        yield Finding("loop-singular-pose", message, (), names, (("poses", float(len(found.singular))),))
    if found.rigid:
        message = (
            f"{subject}: closes in another way, too, in which nothing moves, as {_pose_text(robot, found.rigid[0])}; "
        )
        message += "its motion is another branch: start there, or narrow the limits to it"
        yield Finding("loop-rigid-branch", message, (), names, (("poses", float(len(found.rigid))),))


def weak(robot: Robot, share: float, where: Array) -> Finding:
    """Rows that are not regular all along the motion, where a step cannot choose among more."""
    message = (
        f"{_subject(robot)}: the rows kept nearly depend on each other near {_pose_text(robot, where)}, where the "
    )
    message += (
        f"mechanism is regular (share {share:.2g}): steps lose digits there or end in a status; leave limits, contacts "
    )
    message += "and further parts of friction out to have rows chosen at every pose, or narrow the limits"
    return Finding("loop-weak-rows", message, (), _loop_names(robot), (("share", share),))


def dependent(robot: Robot, value: float) -> Finding:
    """Rows whose redundancy is undecidable."""
    subject = _subject(robot)
    message = (
        f"{subject}: rows are nearly dependent (singular value {value:.2g} of the largest): anchors look off by about "
    )
    message += f"{value:.1g} m from an exact mechanism; correct them"
    return Finding("loop-rows", message, (), _loop_names(robot), (("singular_value", value),))


def advised(fault: Finding, advice: Sequence[str]) -> Finding:
    """A fault with what was tried and helps."""
    return dataclasses.replace(fault, message=", or ".join((fault.message, *advice)))


def rounded(robot: Robot, gaps: Array) -> Finding:
    """A mechanism that its rounded numbers miss by little; `gaps` of every row, 0 of those that are kept."""
    names = [(loop.name, name) for loop in robot.loops for name in row_names(loop)]
    open_ = [(name, gap) for (_, name), gap in zip(names, gaps, strict=True) if gap > CLOSED]
    said = ", ".join(f"{name} by {gap:.1e} {_unit(name)}" for name, gap in sorted(open_, key=lambda pair: -pair[1])[:4])
    message = (
        f"{_subject(robot)}: numbers are rounded: rows that an exact mechanism would close stay open, at most {said}"
    )
    message += "; they are dropped, and the others are closed; write more digits to have them closed, too"
    return Finding("loop-rounded", message, (), _loop_names(robot), (("gap", float(max(gaps))),))


def _unit(row: str) -> str:
    return "m" if row.split(".")[-1].startswith(("gap", "distance")) else "rad"


def none(rows: str) -> Finding:
    """Loop rows of a robot without loops."""
    return Finding("loop-all", f'loop_rows = "{rows}": no loop closes this robot; leave it out', (), ())


def beside(robot: Robot, what: str) -> Finding:
    """All rows where stages are solved with their whole border."""
    message = (
        f'loop_rows = "all": {_subject(robot)}: {what}, whose step takes independent rows; use the kept rows (leave '
    )
    return Finding("loop-all", f"{message}loop_rows out)", (), _loop_names(robot))


def doubts(robot: Robot, mobility: int, opening: tuple[str, ...], least: float, where: Array) -> Iterator[Finding]:
    """Warnings, which do not stop generation."""
    names = _loop_names(robot)
    subject = _subject(robot)
    if mobility == 0:
        yield Finding("immobile-loop", f"{subject} and its joints: nothing can move, mobility is 0", (), names)
    if mobility and least < NEAR_SINGULAR:
        message = f"{subject}: inside the limits lies a nearly singular pose, {_pose_text(robot, where)}: least singular value "
        message += f"{least:.2g} of the largest; a step that ends there ends in a status"
        yield Finding("loop-singular", message, (), names, (("singular_value", least),))
    if opening:
        message = f"{subject}: not made symbolic, because they would open the rows that hold by themselves: "
        message += listed(opening, 8)
        yield Finding("loop-opening", message, (), names)
