"""What is refused of closed loops and what is doubted, with names and figures."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from diffpbd.codegen.description.report import Finding, listed, quoted
from diffpbd.codegen.description.robot import Robot
from diffpbd.codegen.graph.loop_poses import CLOSED, FEWEST, STARTS, Probe, row_names
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
    """Loops that hold whatever moves."""
    one = len(robot.loops) == 1
    message = f"{_subject(robot)}: {'its' if one else 'their'} rows hold at every pose: {'it closes' if one else 'they close'}"
    return Finding("loop-idle", f"{message} nothing; leave {'it' if one else 'them'} out", (), _loop_names(robot))


def _loop_names(robot: Robot) -> tuple[str, ...]:
    return tuple(loop.name for loop in robot.loops)


def uneven(robot: Robot, poses: Sequence[Array], ranks: Sequence[int]) -> Finding:
    """Rows whose rank is less at some closed poses."""
    subject = _subject(robot)
    rank, least = max(ranks), min(ranks)
    at = _pose_text(robot, poses[ranks.index(least)])
    message = (
        f"{subject}: rows have rank {rank} at most poses and {least} near {at} (a singular pose inside the limits): "
    )
    message += "narrow the limits"
    return Finding("loop-rank", message, (), _loop_names(robot), (("rank", float(rank)), ("least_rank", float(least))))


def dependent(robot: Robot, value: float) -> Finding:
    """Rows of which it cannot be said whether they depend on each other."""
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
    """Rows of loops where there are none."""
    return Finding("loop-all", f'loop_rows = "{rows}": no loop closes this robot; leave it out', (), ())


def by_dimensions(robot: Robot, rank: int, other: int) -> Finding:
    """Rows that depend on each other where loops are closed and nowhere else."""
    owes = "it owes its" if len(robot.loops) == 1 else "they owe their"
    message = (
        f'loop_rows = "all": {_subject(robot)}: {owes} mobility to dimensions: rows have rank {rank} at closed poses '
    )
    message += f"and {other} beside them; use the kept rows (leave loop_rows out)"
    facts = (("rank", float(rank)), ("rank_beside", float(other)))
    return Finding("loop-all", message, (), _loop_names(robot), facts)


def beside(robot: Robot, what: str) -> Finding:
    """All rows where stages are solved with their whole border."""
    message = (
        f'loop_rows = "all": {_subject(robot)}: {what}, whose step takes independent rows; use the kept rows (leave '
    )
    return Finding("loop-all", f"{message}loop_rows out)", (), _loop_names(robot))


def doubts(robot: Robot, mobility: int, opening: tuple[str, ...], least: float, where: Array) -> Iterator[Finding]:
    """What is generated and named."""
    names = _loop_names(robot)
    subject = _subject(robot)
    if mobility == 0:
        yield Finding("immobile-loop", f"{subject} and its joints: nothing can move, mobility is 0", (), names)
    if mobility and least < NEAR_SINGULAR:
        message = f"{subject}: inside the limits lies a nearly singular pose, {_pose_text(robot, where)}: least singular value "
        message += f"{least:.2g} of the largest; a step through it ends in a status"
        yield Finding("loop-singular", message, (), names, (("singular_value", least),))
    if opening:
        message = f"{subject}: not made symbolic, because they would open the rows that hold by themselves: "
        message += listed(opening, 8)
        yield Finding("loop-opening", message, (), names)
