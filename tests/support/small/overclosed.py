"""Planar mechanisms that are closed more often than their mobility needs: they move by their dimensions alone."""

from __future__ import annotations

from support.mechanisms import PLANAR, Mechanism, bar, body, joint, loop


def rockers(limit: str = "") -> Mechanism:
    """A parallelogram with a third rocker: four planar rows of rank 3."""
    kind = "revolute" if limit else "continuous"
    return Mechanism(
        [
            bar("r0", 0.5, 0.4),
            bar("r1", 0.6, 0.4),
            bar("r2", 0.7, 0.4),
            body("bar", 1.5, (0.4, 0, 0.1), (0.8, 0.04, 0.04)),
        ],
        [
            joint("j0", "base", "r0", (0, 0, 0), kind=kind, limit=limit),
            joint("j1", "base", "r1", (0.35, 0, 0), kind=kind, limit=limit),
            joint("j2", "base", "r2", (0.8, 0, 0), kind=kind, limit=limit),
            joint("jb", "r0", "bar", (0.4, 0, 0)),
        ],
        [
            loop("pin1", "hinge", "bar", (0.35, 0, 0), "r1", (0.4, 0, 0), axis=PLANAR),
            loop("pin2", "hinge", "bar", (0.8, 0, 0), "r2", (0.4, 0, 0), axis=PLANAR),
        ],
        {"j0": 1.2, "j1": 1.2, "j2": 1.2, "jb": -1.2},
        ["j1", "j2", "jb"],
    )


def wheels() -> Mechanism:
    """Two wheels of a locomotive with rods on both sides, a quarter turn apart: one rod is at its dead centre where the other
    holds, so that all rows are regular through whole turns and no three of the four are."""
    return Mechanism(
        [body("w0", 2.0, (0.05, 0, 0), (0.4, 0.05, 0.4)), body("w1", 2.0, (0, 0, 0), (0.4, 0.05, 0.4)),
         bar("left", 1.0, 0.9), bar("right", 1.0, 0.9)],
        [
            joint("a0", "base", "w0", (0, 0, 0)),
            joint("a1", "base", "w1", (0.9, 0, 0)),
            joint("pl", "w0", "left", (0.2, 0.3, 0)),
            joint("pr", "w0", "right", (0, -0.3, 0.2)),
        ],
        [
            loop("left_pin", "hinge", "left", (0.9, 0, 0), "w1", (0.2, 0.3, 0), axis=PLANAR),
            loop("right_pin", "hinge", "right", (0.9, 0, 0), "w1", (0, -0.3, 0.2), axis=PLANAR),
        ],
        {"a0": 0.4, "a1": 0.4, "pl": -0.4, "pr": -0.4},
        ["a1", "pl", "pr"],
    )  # fmt: skip
