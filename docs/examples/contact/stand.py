"""A quadruped (Solo of example-robot-data, 2.2 kg, eight joints) stands, is pushed, slides, steps back and stays.

Every foot is a sphere on the ground. Springs and dampers in the joints stand for its motors: they are in the model
(`spring.stiffness`, `friction.viscous`) and so act inside the step, which an explicit law on such light legs would not survive
at 5 ms. The base is pushed by a force. Printed: the sum of the feet's forces against weight and push, iterations. Needs
`pip install example-robot-data`. Run: python docs/examples/contact/stand.py [PICTURE.png]
"""

import sys
import sysconfig
import tempfile
from pathlib import Path

import numpy as np

from diffpbd.codegen.generate import generate
from diffpbd.runtime import load

DATA = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
FEET = ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT")
RADIUS, FRICTION, H, SECONDS = 0.016, 0.6, 0.005, 5.0  # [m], [1], [s], [s]
RECIPE = """name = "solo"
urdf = "{urdf}"
base_joint = "floating"
[[plane]]
name = "ground"
point = [0, 0, 0]
normal = [0, 0, 1]
"""
FOOT = """[[contact]]
name = "{foot}"
link = "{foot}"
point = [0, 0, 0]
radius = {radius}
against = "ground"
friction = {friction}
"""


def make(folder):
    """The robot, from a recipe that is written for it."""
    text = RECIPE.format(urdf=DATA / "solo_description" / "robots" / "solo.urdf")
    text += "".join(FOOT.format(foot=foot, radius=RADIUS, friction=FRICTION) for foot in FEET)
    path = Path(folder) / "solo.toml"
    path.write_text(text)
    return load(generate(str(path), functions=("joint_step",)).folder)


def pushed(t):
    """[N] On the base: a steady push that friction holds, then a blow that it does not."""
    if 1.0 <= t < 2.4:
        return np.array([5.0, 2.0, 0.0])
    return np.array([25.0, 0.0, 0.0]) if 3.0 <= t < 3.1 else np.zeros(3)


def main():
    """Stands for five seconds."""
    with tempfile.TemporaryDirectory() as folder:
        robot = make(folder)
    joints = [j.name for j in robot.manifest.robot.joints][6:]
    rest = {name: (-1.4 if "K" in name else 0.7) * (1.0 if name.startswith("F") else -1.0) for name in joints}
    alpha = {f"spring.stiffness.{name}": 6.0 for name in joints} | {f"friction.viscous.{name}": 0.5 for name in joints}
    alpha |= {f"spring.rest.{name}": rest[name] for name in joints}
    weight = 9.81 * robot.manifest.robot.total_mass
    alpha |= {f"contact.load.{foot}": weight / 4 for foot in FEET}
    vector = robot.alpha.vector(alpha)
    p = np.array([0.0, 0.0, 0.3, 1.0, 0.0, 0.0, 0.0, *rest.values()])
    p[2] -= robot.contact_gap(p, alpha=vector).min() - 1e-3
    pd, places, forces, iterations = np.zeros(robot.n), [p], [], []
    for k in range(round(SECONDS / H)):
        u = np.zeros(robot.n)
        u[:3] = pushed(k * H)
        found = robot.contact_force(p, pd, u, h=H, alpha=vector)
        p, pd = robot.joint_step(p, pd, u, h=H, alpha=vector)
        places.append(p)
        forces.append(found.contact_force.sum(axis=1))
        iterations.append(found.iterations)
        if k in [round(t / H) for t in (0.95, 2.35, 3.05, 4.95)]:
            print(
                f"t {k * H:.2f} s: base {p[:3].round(4)} m at {np.linalg.norm(pd[:3]):.1e} m/s; "
                f"feet {forces[-1].round(3)} N, weight {weight:.3f} N, push {u[:2]} N"
            )
    counts = np.array(iterations)
    followed = counts[:, 2:].sum()
    print(
        f"{len(counts)} steps of {1e3 * H:g} ms: {counts[:, 0].mean():.2f} + {counts[:, 1].mean():.2f} iterations, at most "
        f"{int(counts[:, :2].max())}; slip followed down in {int(followed)} stages"
    )
    if len(sys.argv) > 1:
        draw(np.array(places), np.array(forces), sys.argv[1])


def draw(places, forces, path):
    """Place of the base and forces of the feet over time."""
    import matplotlib.pyplot as plt

    figure, (place, force) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
    t = H * np.arange(len(places))
    for k, name in enumerate("xyz"):
        place.plot(t, places[:, k] - places[0, k], label=name)
        force.plot(t[1:], forces[:, k], label=name)
    place.set(xlabel="t [s]", ylabel="base from its start [m]")
    force.set(xlabel="t [s]", ylabel="sum of the feet's forces [N]")
    place.legend(loc="upper left", frameon=False)
    force.legend(loc="center right", bbox_to_anchor=(1.0, 0.45), frameon=False)
    figure.savefig(path, dpi=110)
    print(path)


if __name__ == "__main__":
    main()
