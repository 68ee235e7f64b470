"""The page of `--view`: the arm's skeleton, joint bars, torque plot and status, served by viser.

    python -m diffpbd.runtime.arms.viewer_page FOLDER PORT PARENT [URDF]
prints the page's address and the port on which it takes diffpbd_msgs/Tick datagrams, and ends with PARENT.
"""

from __future__ import annotations

import os
import socket
import sys
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np

from diffpbd.runtime.arms.local_page import guard_websockets
from diffpbd.runtime.arms.viewer import ADDRESS, MISSING_VISER
from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import MessageError
from diffpbd.runtime.loop.guard import TickStatus
from diffpbd.runtime.model.robot import Robot, load
from diffpbd.runtime.model.shapes import Shapes, clearance_meshes, link_frames, quaternion, read_shapes
from diffpbd.runtime.records.messages import Tick

__all__ = ["Page", "literally", "skeleton"]

HISTORY = 200  # ticks in the plot: 10 s at the rate at which they come
QUIET = 1.0  # s without a tick after which the page says so
CAMERA, LOOK_AT = (1.9, 1.5, 0.9), (0.3, 0.3, -0.2)  # m, base frame: the arm fills the page
XI_SIZE = 13  # numbers a link in xi: position, velocity, quaternion, angular velocity
COLORS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2")
MODES = {0: "nothing sent", 1: "position", 2: "velocity", 3: "torque"}


def literally(text: str) -> str:
    """Text for a Markdown field of the page, which runs what is in tags and braces: signs become character references."""
    return "".join(c if c.isalnum() or c == " " else f"&#{ord(c)};" for c in text)


def skeleton(robot: Robot, q: FloatArray) -> FloatArray:
    """Points [m] of a line through the arm, (k, 3) in the base frame: base, centres of mass, tip."""
    points = [np.zeros(3)]
    if "fk" in robot.functions:
        xi = np.ravel(robot.function("fk")(q, np.zeros(robot.n)))
        points += [xi[k : k + 3] for k in range(0, len(xi), XI_SIZE)]
    points.append(np.ravel(robot.function("tip_pose")(q).position))
    return np.array(points)


class Page:
    """The parts of the page, and how a tick changes them."""

    def __init__(self, robot: Robot, port: int, shapes: Shapes | None = None) -> None:
        import viser

        guard_websockets()
        self._robot = robot
        self._uplot = viser.uplot
        self.server: Any = viser.ViserServer(host=ADDRESS, port=port, label="diffpbd", verbose=False)
        gui, scene = self.server.gui, self.server.scene
        gui.configure_theme(show_logo=False, show_share_button=False)
        scene.set_up_direction("+z")
        self.server.initial_camera.position = CAMERA
        self.server.initial_camera.look_at = LOOK_AT
        scene.add_grid("/floor", width=2.0, height=2.0, cell_size=0.1, position=(0.0, 0.0, -0.9))
        scene.add_frame("/base", axes_length=0.15, axes_radius=0.006)
        self._line: Any = None
        self._shapes = shapes
        self._meshes = [
            (shape.link, scene.add_mesh_trimesh(f"/shapes/{k}", shape.mesh))
            for k, shape in enumerate(() if shapes is None else shapes.shapes)
        ]
        self._balls = [
            scene.add_icosphere(f"/arm/{k}", radius=0.035 if k else 0.06, color=(70, 110, 180))
            for k in range(0 if self._meshes else len(skeleton(robot, np.zeros(robot.n))))
        ]
        self._kept = [
            (shape, scene.add_mesh_trimesh(f"/clearance/{k}", mesh))
            for k, (shape, mesh) in enumerate(clearance_meshes(robot))
        ]
        self._status = gui.add_markdown("**waiting for the first tick**")
        self._bars: list[tuple[Any, Any]] = []
        with gui.add_folder("joints"):
            for joint in robot.joints:
                text = gui.add_markdown(literally(joint))
                self._bars.append((text, gui.add_progress_bar(50.0)))
        self._history: deque[FloatArray] = deque(maxlen=HISTORY)
        series = [self._uplot.Series(label="s")] + [
            self._uplot.Series(label=joint, stroke=COLORS[k % len(COLORS)], width=1)
            for k, joint in enumerate(robot.joints)
        ]
        with gui.add_folder("torque sent [N·m]"):
            self._plot = gui.add_uplot(
                tuple(np.zeros(2) for _ in series), tuple(series), aspect=1.2, scales={
                    "x": self._uplot.Scale(time=False, auto=True), "y": self._uplot.Scale(auto=True)
                },
            )  # fmt: skip
        self.pose(np.zeros(robot.n))

    def pose(self, q: FloatArray) -> None:
        """Move the shapes, or where there are none the skeleton, to q [rad]; and what may not touch."""
        if self._kept:
            links = link_frames(self._robot, q)
            for kept, mesh in self._kept:
                R, x = links[kept.link]
                turned = R @ np.reshape(kept.rotation, (3, 3))
                mesh.position, mesh.wxyz = tuple(x + R @ np.array(kept.centre)), quaternion(turned)
        if self._shapes is not None:
            frames = self._shapes.poses(self._robot, q)
            for link, mesh in self._meshes:
                mesh.position, mesh.wxyz = tuple(frames[link][:3, 3]), quaternion(frames[link][:3, :3])
            return
        points = skeleton(self._robot, q)
        pieces = np.stack([points[:-1], points[1:]], axis=1).astype(np.float32)
        if self._line is None:
            self._line = self.server.scene.add_line_segments(
                "/arm/line", points=pieces, colors=(40, 40, 40), thickness=0.02
            )
        else:
            self._line.points = pieces
        for ball, point in zip(self._balls, points, strict=True):
            ball.position = tuple(point)

    def show(self, tick: Tick) -> None:
        """Show a tick."""
        status = TickStatus(tick.status)
        self._status.content = (
            f"**{MODES.get(tick.mode, '?')}**, {status.name.lower().replace('_', ' ')}  \n"
            f"{tick.time:.2f} s, state {1e3 * tick.age:.1f} ms old"
            + (f"  \n{literally(tick.note)}" if tick.note else "")
        )
        if not np.isfinite(tick.position).all():
            return
        self.pose(tick.position)
        command = tick.command if tick.mode == 3 else np.zeros(self._robot.n)
        joints = self._robot.manifest.robot.joints
        for k, (joint, (text, bar)) in enumerate(zip(joints, self._bars, strict=True)):
            low = -np.pi if joint.lower is None else joint.lower
            high = np.pi if joint.upper is None else joint.upper
            share = (float(tick.position[k]) - low) / (high - low)
            bar.value = float(np.clip(100.0 * share, 0.0, 100.0))
            text.content = f"{literally(joint.name)}: {tick.position[k]:+.3f} rad, {command[k]:+.2f} N·m"
        self._history.append(np.array([tick.time, *command]))
        if len(self._history) > 1:
            self._plot.data = tuple(np.array(self._history).T.copy())

    def quiet(self) -> None:
        """Show that no ticks arrive."""
        if self._history:
            self._status.content = "**no ticks: the run has ended or waits**"


def main(folder: str, port: str, parent: str, meshes: str | None = None) -> None:
    """Serve until the parent process is gone."""
    answer = sys.stdout
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # viser prints a banner and every connection
    try:
        robot = load(Path(folder))
        page = Page(robot, int(port), None if meshes is None else read_shapes(meshes, robot))
    except ModuleNotFoundError as error:
        if error.name != "viser":
            raise
        sys.exit(MISSING_VISER)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as incoming:
        incoming.bind((ADDRESS, 0))
        incoming.settimeout(QUIET)
        print(f"http://{ADDRESS}:{page.server.get_port()} {incoming.getsockname()[1]}", file=answer, flush=True)
        while os.getppid() == int(parent):
            try:
                page.show(Tick.decode(incoming.recv(65536)))
            except TimeoutError:
                page.quiet()
            except (MessageError, ValueError):
                continue


if __name__ == "__main__":
    main(*sys.argv[1:])
