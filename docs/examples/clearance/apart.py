"""A UR5's capsules, fitted to its meshes, and its motions for identification with and without them.

    python docs/examples/clearance/apart.py clearance.png

Before: pip install example-robot-data 'diffpbd[all,meshes]'
"""

# %% The arm with capsules about its meshes
import sys
from importlib.metadata import files

import matplotlib.pyplot as plt
import numpy as np
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

import diffpbd
from diffpbd.runtime.model.clearance import Distances
from diffpbd.runtime.model.shapes import clearance_meshes, link_frames

urdf = next(str(f.locate()) for f in files("example-robot-data") if f.name == "ur5_robot.urdf")
robot = diffpbd.generate(
    urdf, tip=["ee_link"], clearance=True, functions="inverse_dynamics", out="generated/ur5_apart", progress=print
)
near = Distances(robot, robot.alpha.defaults)

# %% Two motions: one that does not ask, and one that keeps 5 mm
motions = {
    "without": diffpbd.excite(robot, 20.0, clearance=None).motion,
    "5 mm apart": diffpbd.excite(robot, 20.0, clearance=0.005).motion,
}
for name, motion in motions.items():
    least = near.at(motion.q).min(axis=1)
    print(f"{name}: at least {least.min():.4f} m, {(least < 0).sum()} of {len(least)} samples inside")

# %% The deepest pose of the first, and distances over time
figure = plt.figure(figsize=(11, 4.5))
view = figure.add_subplot(1, 2, 1, projection="3d")
q = motions["without"].q
deepest = q[int(np.argmin(near.at(q).min(axis=1)))]
places = link_frames(robot, deepest)
nearest = near.pairs[int(np.argmin(near.at(deepest)))]
points = []
for shape, mesh in clearance_meshes(robot):
    R, x = places[shape.link]
    vertices = mesh.vertices @ (R @ np.reshape(shape.rotation, (3, 3))).T + x + R @ np.array(shape.centre)
    color = "tab:red" if shape.name in nearest else "tab:blue"
    view.add_collection3d(Poly3DCollection(vertices[mesh.faces], facecolor=color, edgecolor="none", alpha=0.15))
    points.append(vertices)
low, high = np.vstack(points).min(axis=0), np.vstack(points).max(axis=0)
middle, half = 0.5 * (low + high), 0.5 * (high - low).max()
view.set(xlim=middle[0] + half * np.array([-1, 1]), ylim=middle[1] + half * np.array([-1, 1]))
view.set(zlim=middle[2] + half * np.array([-1, 1]), title=" / ".join(nearest), xlabel="x [m]", ylabel="y [m]")
view.set_box_aspect((1, 1, 1))
over = figure.add_subplot(1, 2, 2)
for name, motion in motions.items():
    over.plot(motion.time, near.at(motion.q).min(axis=1), label=name)
over.axhline(0.0, color="k", linewidth=0.8)
over.set(xlabel="time [s]", ylabel="nearest two links [m]")
over.legend()
figure.tight_layout()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "clearance.png", dpi=110)
