"""A GIF of a motion: the robot as sticks between its links' centres of mass and its tips, in real time where it is short
enough."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.extras import missing
from diffpbd.runtime.base.files import write_atomic
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.model.shapes import Shapes, simple
from diffpbd.runtime.report.figures import Target, new_figure

__all__ = ["movie", "sticks"]

FRAMES_A_SECOND, MOST_FRAMES = 20.0, 200
"""[1/s, 1] A longer motion is shown faster."""
SIZE_INCH, DOTS_PER_INCH = 4.8, 80
LINK_STATE = 13  # numbers a link of fk, its position first
VIEW = (20.0, -60.0)  # degrees over the horizon, and about the vertical


def sticks(robot: Robot, q: FloatArray) -> FloatArray:
    """Ends [m] of the sticks at poses q (frames, n): (frames, sticks, 2, 3), the root frame's origin first."""
    if "fk" not in robot.functions or "tip_pose" not in robot.functions:
        raise InputError(
            f"{robot.name} has no fk or no tip_pose, which a movie needs. Generate it again without --functions."
        )
    facts, links = robot.manifest.robot, list(robot.links)
    states = np.reshape(robot.fk(q, np.zeros((len(q), robot.n))), (len(q), len(links), LINK_STATE))
    carrier = {joint.child: joint.parent for joint in facts.joints}
    points = {facts.base: np.zeros((len(q), 3)), **{link: states[:, k, :3] for k, link in enumerate(links)}}
    pairs = []
    for k, link in enumerate(links):  # a joint that follows another has no line of its own in the manifest
        before = carrier.get(link, links[k - 1] if k else facts.base)
        pairs.append((points.get(before, points[facts.base]), points[link]))
    for loop in facts.loops:  # from one link's centre to the other's, which it keeps together
        if loop.parent in points and loop.child in points:
            pairs.append((points[loop.parent], points[loop.child]))
    if len(facts.tips) == 1:
        tips = np.reshape(robot.tip_pose(q).position, (len(q), 3))
        pairs.append((points[links[-1]], tips))
    return np.stack([np.stack(pair, axis=1) for pair in pairs], axis=1)


def movie(
    robot: Robot, time: FloatArray, q: FloatArray, path: Target, *, title: str, shapes: Shapes | None = None
) -> None:
    """Write the GIF of a motion q (samples, n) at `time` [s], with `shapes` in place of sticks."""
    try:
        from PIL import Image
    except ImportError:
        raise missing("a movie", "PIL") from None
    span = float(time[-1] - time[0])
    count = int(np.clip(round(span * FRAMES_A_SECOND) + 1, 2, MOST_FRAMES))
    chosen = np.unique(np.searchsorted(time, time[0] + np.linspace(0.0, span, count) * (1.0 - 1e-12)))
    pieces = sticks(robot, q[chosen]) if shapes is None else _faces(robot, shapes, q[chosen])
    figure = new_figure(SIZE_INCH, SIZE_INCH)
    figure.set_dpi(DOTS_PER_INCH)
    axes = figure.add_subplot(projection="3d")
    _prepare(axes, pieces)
    drawing = _drawing(axes, pieces[0])
    frames = []
    for k, frame in zip(chosen, pieces, strict=True):
        drawing(frame)
        axes.set_title(f"{title}, {time[k] - time[0]:.2f} s", fontsize="medium")
        figure.canvas.draw()
        pixels = np.asarray(figure.canvas.buffer_rgba())[:, :, :3]
        frames.append(
            Image.fromarray(np.ascontiguousarray(pixels)).convert("P", palette=Image.Palette.ADAPTIVE, colors=64)
        )
    content = path if isinstance(path, io.BytesIO) else io.BytesIO()
    rest: Any = {"save_all": True, "append_images": frames[1:], "duration": round(1e3 / FRAMES_A_SECOND), "loop": 0}
    frames[0].save(content, format="GIF", **rest)
    if not isinstance(path, io.BytesIO):
        write_atomic(path, content.getvalue())


def _faces(robot: Robot, shapes: Shapes, q: FloatArray) -> FloatArray:
    """Corners [m] of the faces of simple shapes at poses q (frames, n_p): (frames, faces, 3, 3)."""
    simplified = [(shape.link, np.asarray(simple(shape.mesh).triangles)) for shape in shapes.shapes]
    frames = []
    for pose in q:
        at = shapes.poses(robot, pose)
        frames.append(np.concatenate([faces @ at[link][:3, :3].T + at[link][:3, 3] for link, faces in simplified]))
    return np.array(frames)


def _drawing(axes: Any, pieces: FloatArray) -> Callable[[FloatArray], None]:
    """Makes the function that puts a frame's pieces on the axes: faces of three corners, or sticks of two ends."""
    if pieces.shape[1] == 3:
        from mpl_toolkits.mplot3d.art3d import Poly3DCollection

        surface: Any = Poly3DCollection(pieces, shade=True, facecolors="#7fa3c7", edgecolors="#1f4e79", linewidths=0.2)
        axes.add_collection3d(surface)
        return lambda frame: surface.set_verts(frame)
    lines = [axes.plot([], [], [], "o-", color="#1f4e79", linewidth=3.0, markersize=4.0)[0] for _ in pieces]

    def draw(frame: FloatArray) -> None:
        for line, ends in zip(lines, frame, strict=True):
            line.set_data_3d(*ends.T)

    return draw


def _prepare(axes: Any, pieces: FloatArray) -> None:
    """A cube about all that is ever drawn, seen from the side."""
    low, high = pieces.min(axis=(0, 1, 2)), pieces.max(axis=(0, 1, 2))
    middle, half = 0.5 * (low + high), 0.55 * max(float((high - low).max()), 1e-3)
    for k, name in enumerate("xyz"):
        getattr(axes, f"set_{name}lim")(middle[k] - half, middle[k] + half)
        getattr(axes, f"set_{name}label")(f"{name} [m]")
    axes.view_init(*VIEW)
