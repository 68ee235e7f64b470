"""Contact held against recorded tosses of a cube, beside MuJoCo fitted to the same ones by the same solver.

    python -m benchmarks.tosses --data cube_tosses.csv.gz [--share 0.5] [--seed 0] [--params cube.json] [--figure tosses.png]

A share of the tosses is fitted, the rest predicted from its flight. MuJoCo (elliptic cone, eight steps a sample) gets its own
friction, time constant, damping ratio and height, by `toss_solve` with differences for slopes, from the same first states; once
with the mass properties of the description, once with those found for our step. `--params` takes ours as found before.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import mujoco
import numpy as np

from diffpbd.codegen.generate import generate
from diffpbd.runtime import load
from diffpbd.runtime.base.quaternions import difference
from diffpbd.runtime.identify import fit_tosses, parted, read_tosses, select
from diffpbd.runtime.identify.contact.toss_solve import predict, solve
from diffpbd.runtime.identify.contact.toss_windows import Linear, TossWindows, cut, whole
from diffpbd.runtime.identify.contact.tosses import NOISE, STILL, figures, first_states, width

FIT = ["contact", "contact.half", "contact.centre", "plane.slope", "com", "inertia"]
SUBSTEPS = 8
START = np.array([0.18, np.log(0.004), 0.0, 0.0])
NAMES = ("friction", "log time constant", "log damping ratio", "height")
STEPS = np.array([1e-3, 1e-2, 1e-2, 1e-5])
NUDGES = np.repeat([1e-5, 1e-4, 1e-3, 1e-2], 3)
SCENE = """<mujoco><option timestep="{h}" cone="elliptic" iterations="100" tolerance="1e-10"/><worldbody>
<geom name="table" type="plane" size="9 9 .1" friction="{mu} 0 0" condim="3" solref="{tc} {dr}" pos="0 0 {z}"/>
<body><freejoint/><inertial pos="{com}" mass="{mass}" fullinertia="{inertia}"/>
<geom type="box" size="{half}" pos="{centre}" friction="{mu} 0 0" condim="3" solref="{tc} {dr}"/></body></worldbody></mujoco>"""


class Peer:
    """MuJoCo's fitted numbers: `Parameters` as the solver sees them."""

    lower = np.array([0.01, np.log(2e-3), np.log(0.05), -0.01])
    upper = np.array([1.0, np.log(0.1), np.log(10.0), 0.01])

    def alpha(self, theta):
        return theta


class MujocoWindows(TossWindows):
    """The same windows by MuJoCo, of a body with `facts`; slopes by differences."""

    facts: dict[str, str]

    def _every(self, group):
        return 1

    def _rolled(self, group, alpha, states):
        mu, tc, dr, z = alpha[0], *np.exp(alpha[1:3]), alpha[3]
        model = mujoco.MjModel.from_xml_string(
            SCENE.format(h=group.h / SUBSTEPS, mu=mu, tc=tc, dr=dr, z=z, **self.facts)
        )
        data, samples = mujoco.MjData(model), group.p.shape[1]
        P, turned = np.zeros((len(states.p), samples, 7)), np.zeros(3)
        for k in range(len(P)):
            mujoco.mj_resetData(model, data)
            data.qpos[:], data.qvel[:3] = states.p[k], states.pd[k, :3]
            mujoco.mju_rotVecQuat(turned, states.pd[k, 3:], states.p[k, 3:] * [1.0, -1.0, -1.0, -1.0])
            data.qvel[3:] = turned
            P[k, 0] = states.p[k]
            for i in range(1, samples):
                mujoco.mj_step(model, data, SUBSTEPS)
                P[k, i] = data.qpos
        return P, P

    def linear(self, parameters, theta, states):
        size = len(theta) + len(NUDGES)
        found = Linear(np.zeros(self.count), np.zeros((self.count, size)), np.zeros((self.count, size, size)))
        for group in self.groups:
            own = states[group.at]
            P, _ = self._rolled(group, theta, own)
            off, columns = self._off(group, P), []
            for k in range(size):
                other, at = theta.copy(), own
                if k < len(theta):
                    e = STEPS[k] if theta[k] + STEPS[k] <= parameters.upper[k] else -STEPS[k]
                    other[k] += e
                else:
                    e = NUDGES[k - len(theta)]
                    at = own.moved(np.tile(e * (np.arange(len(NUDGES)) == k - len(theta)), (len(P), 1)))
                way = difference(True, self._rolled(group, other, at)[0], P) / e
                columns.append((way * self.weight * group.compared[..., None]).reshape(len(P), -1))
            J, r = np.stack(columns, axis=2), off.reshape(len(P), -1)
            found.squares[group.at] = (r**2).sum(axis=1)
            found.gradient[group.at] = np.einsum("wr,wrj->wj", r, J)
            found.curvature[group.at] = J.swapaxes(1, 2) @ J
        return found


def facts(robot, alpha):
    """Body and box of MuJoCo by entries of alpha."""
    a = dict(zip(robot.alpha.names, alpha.tolist(), strict=True))

    def words(*names):
        return " ".join(repr(a[name]) for name in names)

    return {
        "mass": words("mass.cube"), "com": words(*(f"com.cube.{k}" for k in "xyz")),
        "inertia": words(*(f"inertia.cube.{k}" for k in ("xx", "yy", "zz", "xy", "xz", "yz"))),
        "half": words(*(f"contact.half.cube.{k}" for k in "xyz")),
        "centre": words(*(f"contact.centre.cube.{k}" for k in "xyz")),
    }  # fmt: skip


def peer(robot, alpha, train, test):
    """MuJoCo's four numbers by `train`, and its predictions (windows, paths) of `test`."""
    wide = width(robot, alpha)
    body = facts(robot, alpha)

    def windows(tosses, cuts):
        made = MujocoWindows(robot, tosses, cuts, wide / 2.0, NOISE)
        made.facts = body
        return made

    short = windows(train, cut(train, 0.15, STILL))
    found = solve(short, Peer(), START, short.begin(), 6)
    states = first_states(robot, alpha, train, wide / 2.0)
    broad = np.diag([0.02, 0.5, 0.5, 1e-3]) ** 2
    theta = predict(windows(train, whole(train)), Peer(), found.theta, states, broad, 5)
    return theta, windows(test, whole(test)).paths(theta, first_states(robot, alpha, test, wide / 2.0))


def ours(robot, alpha, test):
    """Predictions of `test` by our step."""
    wide = width(robot, alpha)
    states = first_states(robot, alpha, test, wide / 2.0)
    return TossWindows(robot, test, whole(test), wide / 2.0, NOISE).paths(alpha, states)


def draw(path, tosses, predictions, wide):
    """Errors of every toss over time, and their distribution."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from diffpbd.runtime.base.quaternions import rotation_vector, turn_between

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6))
    for name, paths in predictions.items():
        place = [
            np.linalg.norm(p[:, :3] - t.p[:, :3], axis=1).mean() / wide for p, t in zip(paths, tosses, strict=True)
        ]
        turn = [
            np.degrees(np.linalg.norm(rotation_vector(turn_between(p[:, 3:], t.p[:, 3:])), axis=1)).mean()
            for p, t in zip(paths, tosses, strict=True)
        ]
        share = (np.arange(len(tosses)) + 1.0) / len(tosses)
        axes[0].step(np.sort(place), share, label=name)
        axes[1].step(np.sort(turn), share, label=name)
    axes[0].set(xlabel="mean place error of a toss [widths]", ylabel="share of tosses", xlim=(0, 0.6))
    axes[1].set(xlabel="mean angle error of a toss [°]", xlim=(0, 90))
    axes[1].legend(loc="lower right")
    figure.tight_layout()
    figure.savefig(path, dpi=130)


def main():
    """The table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", required=True)
    options.add_argument("--share", type=float, default=0.5)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--params")
    options.add_argument("--robot", help="the cube, generated before")
    options.add_argument("--figure")
    given = options.parse_args()
    recipe = Path(__file__).resolve().parent.parent / "docs" / "examples" / "contact" / "cube.toml"
    robot = load(given.robot or generate(str(recipe)).folder)
    train, test = parted(read_tosses(given.data, {}), given.share, given.seed)
    base = robot.alpha.vector(None)
    begin = time.perf_counter()
    if given.params:
        known = json.loads(Path(given.params).read_text())["parameters"]
        alpha = robot.alpha.vector({name: entry["value"] for name, entry in known.items()})
    else:
        alpha = robot.alpha.vector(fit_tosses(robot, train, (), select(robot, FIT), base, print).parameters)
        print(f"fitted in {time.perf_counter() - begin:.0f} s")
    wide = width(robot, base)
    described = robot.alpha.vector({"contact.friction.cube": 0.18})
    predictions = {"as described": ours(robot, described, test), "fitted": ours(robot, alpha, test)}
    for name, own in (("MuJoCo", base), ("MuJoCo, our body", alpha)):
        begin = time.perf_counter()
        theta, predictions[name] = peer(robot, own, train, test)
        seconds = time.perf_counter() - begin
        print(f"{name}: {', '.join(f'{n} {x:.5g}' for n, x in zip(NAMES, theta, strict=True))} ({seconds:.0f} s)")
    for name, paths in predictions.items():
        print(f"{name:16s} {figures(test, paths, wide)}", flush=True)
    if given.figure:
        draw(given.figure, test, predictions, wide)


if __name__ == "__main__":
    main()
