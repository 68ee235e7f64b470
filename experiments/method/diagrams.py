"""The paper's drawings without measurements, from the numbers in use: a link's variables, the flow of windows, the spring."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.report.figures import new_figure, save
from experiments.design.spring import TRUTH
from experiments.torques.torque_table import WINDOW

__all__ = ["nomenclature", "plot", "spring_corners"]

SIZE = (12.0, 12.0)
AXIS = 0.06
"""[m] Length of a joint's axis in the drawing."""
ANGLES = (-0.6, 0.0, 0.6)
"""[rad] Of the joint with the spring."""


Variables: TypeAlias = Any
"""`codegen.link_variables.LinkVariables`: names, mass (n,) [kg], x, t, r, a, b (n, 3) [m; 1], world axes."""


def nomenclature(found: Variables) -> tuple[list[str], list[list[str]]]:
    """Head and rows: Table I's letters of every link at the zero pose, world axes."""

    def vector(v: FloatArray) -> str:
        return " ".join(f"{x + 0.0:.3f}" for x in np.round(v, 3))

    head = ["i", "link", "m [kg]", "x [m]", "t [m]", "r of the link before [m]", "a", "b of the link before"]
    rows = []
    for i, name in enumerate(found.links):
        vectors = (found.x, found.t, found.r, found.a, found.b)
        rows.append([str(i + 1), name, f"{found.mass[i]:.3f}", *(vector(v[i]) for v in vectors)])
    return head, rows


def plot(path: str | Path, found: Variables) -> None:
    """PNG: figures 3, 4 and 7."""
    figure = new_figure(*SIZE)
    grid = figure.add_gridspec(3, 2, height_ratios=(1.5, 1.0, 1.0))
    _links(figure.add_subplot(grid[0, :]), found)
    _flow(figure.add_subplot(grid[1, :]))
    for k, corners in enumerate((spring_corners(ANGLES[0]), spring_corners(ANGLES[2]))):
        _spring(figure.add_subplot(grid[2, k]), (ANGLES[0], ANGLES[2])[k], corners)
    save(path, figure)


def _links(axes: Any, found: Variables) -> None:
    """Figure 3 in the plane of x and z: COMs, joint vectors and axes."""
    axes.set_title(
        f"{found.robot} at its zero pose: COM x, t to the own joint, r to the next one, axes a = b", fontsize="medium"
    )
    for i, parent in enumerate(found.parents):
        joint = found.x[i] + found.t[i]
        start = np.zeros(3) if parent < 0 else found.x[parent]
        for k, (begin, vector) in enumerate(((found.x[i], found.t[i]), (start, found.r[i]))):
            name = ("t: COM of link i to its joint", "r: COM of the link before to the joint")[k] if i == 0 else None
            axes.plot(*np.array([begin, begin + vector])[:, [0, 2]].T, ("C0-", "C2--")[k], linewidth=1.6, label=name)
        ends = np.array([joint - AXIS * found.a[i], joint + AXIS * found.a[i]])[:, [0, 2]]
        axes.plot(
            *ends.T, "C3-.", linewidth=1.2, label="a: axis of the joint (a dot: across the plane)" if i == 0 else None
        )
        axes.plot(joint[0], joint[2], "C3o", markersize=5)
        axes.annotate(
            found.joints[i], (joint[0], joint[2]), xytext=(0, -22), textcoords="offset points", fontsize="small", zorder=9,
            ha="center", bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.5},
        )  # fmt: skip
    axes.plot(found.x[:, 0], found.x[:, 2], "ks", markersize=6, label="x: COM of link i")
    for i, x in enumerate(found.x):
        axes.annotate(f"{i + 1}", (x[0], x[2]), xytext=(3, 6), textcoords="offset points")
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xlabel("x [m]")
    axes.set_ylabel("z [m]")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize="small")


def _flow(axes: Any) -> None:
    """Figure 4: a window of torques, simulated forwards and propagated back."""
    steps = WINDOW.horizon
    axes.set_title(
        f"windows of {steps} steps: simulated (red, solid), loss propagated back (blue, dashed)", fontsize="medium"
    )
    axes.set_axis_off()
    box = {"boxstyle": "round,pad=0.35", "fc": "white", "ec": "0.3"}

    def arrow(a: tuple[float, float], b: tuple[float, float], back: bool) -> None:
        style = {"arrowstyle": "-|>", "shrinkA": 16, "shrinkB": 16}
        look = {"color": "C0", "linestyle": "--"} if back else {"color": "C3"}
        shift = -0.05 if back else 0.05
        axes.annotate("", (b[0], b[1] + shift), (a[0], a[1] + shift), arrowprops={**style, **look})

    for k in range(steps + 1):
        later = f"+{k}" if k else ""
        at = (2.0 * k, 1.0)
        axes.text(*at, f"$\\xi^{{t{later}}}$", ha="center", va="center", bbox=box)
        if k:
            axes.text(2.0 * k, 0.0, f"loss of $\\xi^{{t{later}}}$", ha="center", va="center", bbox=box)
            arrow(at, (2.0 * k, 0.0), False)
            arrow((2.0 * k + 0.1, 0.0), (2.0 * k + 0.1, 1.0), True)
        if k < steps:
            step = (2.0 * k + 1.0, 1.0)
            axes.text(*step, "step", ha="center", va="center", bbox=box)
            axes.text(step[0], 2.0, f"$u^{{t{later}}}$", ha="center", va="center", bbox=box)
            for a, b in ((at, step), (step, (2.0 * k + 2.0, 1.0)), ((step[0], 2.0), step)):
                arrow(a, b, False)
                arrow(b, a, True)
    axes.text(0.0, 0.0, "$u \\leftarrow u -$ ADAM\n$\\lambda$ = " + ", ".join(f"{x:g}" for x in WINDOW.lambdas), ha="center",
              va="center", fontsize="small")  # fmt: skip
    axes.set_xlim(-0.8, 2.0 * steps + 0.8)
    axes.set_ylim(-0.5, 2.4)


def spring_corners(theta: float) -> FloatArray:
    """Joint, end of the arm on the parent, end of that on the child (3, 2) [m], the joint at `theta` [rad]."""
    between = np.pi - TRUTH.offset - theta
    ends = [TRUTH.arm_1 * np.array([1.0, 0.0]), TRUTH.arm_2 * np.array([np.cos(between), np.sin(between)])]
    return np.array([np.zeros(2), *ends])


def _spring(axes: Any, theta: float, corners: FloatArray) -> None:
    """Figure 7 at one angle."""
    joint, first, second = corners
    length = float(np.linalg.norm(first - second))
    between = np.pi - TRUTH.offset - theta
    title = f"θ = {theta:g} rad: π − α − θ = {between:.3f} rad, x = {length:.3f} m (at rest {TRUTH.rest:g} m)"
    axes.set_title(title, fontsize="medium")
    axes.plot(*np.array([joint, first]).T, "C0-", linewidth=3, label=f"l1 = {TRUTH.arm_1:g} m, on the parent")
    axes.plot(*np.array([joint, second]).T, "C2--", linewidth=3, label=f"l2 = {TRUTH.arm_2:g} m, on the child")
    axes.plot(*np.array([first, second]).T, "C3:", linewidth=2, label=f"spring, k = {TRUTH.stiffness:g} N/m")
    turn = np.linspace(0.0, between, 30)
    axes.plot(0.02 * np.cos(turn), 0.02 * np.sin(turn), color="0.4", label="π − α − θ")
    axes.plot(*joint, "ko")
    axes.set_aspect("equal", adjustable="datalim")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize="small")
