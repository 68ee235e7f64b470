"""A step of a cube in contact beside MuJoCo's: tumbling, sliding on four corners, at rest; rollouts in one thread, by turns.

    python -m benchmarks.contact_speed

The acrylic cube of docs/examples/contact with eight corners, h = 1/148 s, friction 0.18. Both continue with what the last step
left (impulses warm); thread time of whole rollouts from Python, the least of 40.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from mujoco import rollout

from diffpbd.codegen.generate import generate
from diffpbd.runtime import load
from diffpbd.runtime.report.tables import table

H, HALF, FRICTION, ROUNDS, REPEATS = 1 / 148, 0.0524, 0.18, 40, 5
TURN = np.array([0.9, 0.3, 0.2, 0.1]) / np.sqrt(0.95)
FLAT = (1.0, 0.0, 0.0, 0.0)
SCENES = {
    "tumbling": (90, [0, 0, 0.12, *TURN], [0.8, 0.3, -0.5, 6, -5, 4]),
    "sliding": (100, [0, 0, HALF, *FLAT], [1.5, 0.4, 0, 0, 0, 0]),
    "resting": (148, [0, 0, HALF, *FLAT], [0] * 6),
}
"""Steps, pose, rates."""
WORLD = """<mujoco><option timestep="{h}" cone="elliptic"/><worldbody>
<geom type="plane" size="9 9 .1" friction="{mu} 0 0" condim="3"/>
<body><freejoint/><inertial pos="{com}" mass="{mass}" diaginertia="{moments}"/>
<geom type="box" size="{half} {half} {half}" friction="{mu} 0 0" condim="3"/></body></worldbody></mujoco>"""


def peer(entries: dict[str, float]) -> Any:
    words = {
        "com": " ".join(str(entries[f"com.cube.{k}"]) for k in "xyz"),
        "moments": " ".join(str(entries[f"inertia.cube.{k}"]) for k in ("xx", "yy", "zz")),
    }
    return mujoco.MjModel.from_xml_string(WORLD.format(h=H, mu=FRICTION, half=HALF, mass=entries["mass.cube"], **words))


def main() -> None:
    recipe = Path(__file__).parents[1] / "docs" / "examples" / "contact" / "cube.toml"
    with tempfile.TemporaryDirectory() as folder:
        robot = load(generate(str(recipe), out=Path(folder) / "cube").folder)
        alpha = robot.alpha.vector({"contact.friction.cube": FRICTION})
        model = peer(dict(zip(robot.alpha.names, alpha.tolist(), strict=True)))
        data, rows = mujoco.MjData(model), []
        for name, (steps, pose, rates) in SCENES.items():
            p, pd, U = np.array(pose), np.array(rates, dtype=float), np.zeros((steps, 6))
            axes = np.zeros(9)
            mujoco.mju_quat2Mat(axes, p[3:])
            state = np.concatenate([[0.0], p, pd[:3], axes.reshape(3, 3).T @ pd[3:]])[None]
            least = [np.inf, np.inf]
            for _ in range(ROUNDS):
                for k in (0, 1):
                    begun = time.thread_time()
                    for _ in range(REPEATS):
                        if k:
                            rollout.rollout(model, data, state, nstep=steps)
                        else:
                            robot.rollout(p, pd, U, h=H, alpha=alpha)
                    least[k] = min(least[k], (time.thread_time() - begun) / REPEATS / steps * 1e6)
            spent = np.asarray(robot.rollout_impulses(p, pd, U, h=H, alpha=alpha).counters)[:, 4].mean()
            rows.append([name, f"{least[0]:.1f}", f"{least[1]:.1f}", f"{least[0] / least[1]:.2f}", f"{spent:.1f}"])
    print(table(["scene", "ours [µs]", "MuJoCo [µs]", "ratio", "evaluations"], rows))


if __name__ == "__main__":
    main()
