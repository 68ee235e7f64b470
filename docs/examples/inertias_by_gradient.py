"""Inertias of an arm by gradient descent over thousands of windows: the exact gradient of every window's prediction at once.

    diffpbd generate baxter_bare --symbolic mass,com,inertia --functions joint_step --cuda --out generated/soft_arm
    python docs/examples/inertias_by_gradient.py generated/soft_arm [--windows 10000] [--iterations 150]

Windows are torques and encoder positions of a simulated arm whose masses, centres and inertias are not those of its
description. On a GPU where there is one, else on the CPU with 300 windows. What a motion cannot tell apart stays apart:
judged are positions and torques that the result predicts, not its entries. (`diffpbd identify` is the tool for recordings;
this is how to put the step under a learning loop.)
"""

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from diffpbd.runtime import InputError, Robot, load

STEPS, H = 20, 0.01  # of a window; [s]
NOISE = 1e-5  # [rad] of the encoders
OFF = 0.2  # by how much, relatively, the description is wrong
RATE, DECAY, FRESH = 0.03, 0.9, 0.99  # Adam's step at the start, memory of gradients and of their squares


def functions(robot: Robot) -> tuple[Callable[..., Any], Callable[..., Any], bool]:
    """Rollout and its gradient, of a GPU or with all cores; whether it is a GPU."""
    try:
        gpu = robot.gpu("float64")
        return gpu.rollout, gpu.vjp_rollout, True
    except InputError as reason:
        print(f"On the CPU: {reason}")
    words = {"threads": os.cpu_count() or 1}
    return (
        (lambda *a, **k: robot.rollout(*a, **k, **words)),
        (lambda *a, **k: robot.vjp_rollout(*a, **k, **words)),
        False,
    )


def windows(robot: Robot, alpha: np.ndarray, count: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """States, torques of random accelerations, and the positions that an arm with these parameters shows."""
    p, pd = rng.uniform(-1.0, 1.0, (count, robot.n)), rng.uniform(-1.0, 1.0, (count, robot.n))
    u = robot.inverse_dynamics(p, pd, rng.uniform(-4.0, 4.0, (count, robot.n)), alpha)
    U = np.repeat(u[:, None], STEPS, axis=1)
    P = np.array(robot.rollout(p, pd, U, H, alpha)[0])
    return {"p0": p, "pd0": pd, "U": U, "seen": P + NOISE * rng.standard_normal(P.shape)}


def identified(
    robot: Robot, seen: dict[str, np.ndarray], guess: np.ndarray, free: np.ndarray, iterations: int
) -> tuple[np.ndarray, list[float]]:
    """Parameters after Adam's descent on the entries `free` of a guess, and the RMS error [rad] of every iteration."""
    roll, pull, _ = functions(robot)
    scale = np.maximum(np.abs(guess[free]), 0.02)
    alpha, first, second, errors = guess.copy(), np.zeros(len(free)), np.zeros(len(free)), []
    given = [seen[k] for k in ("p0", "pd0", "U")]
    for k in range(1, iterations + 1):
        wrong = np.asarray(roll(*given, H, alpha)[0]) - seen["seen"]
        errors.append(float(np.sqrt((wrong**2).mean())))
        slope = np.asarray(pull(*given, H, alpha, P_bar=wrong / wrong.size).alpha_bar).sum(0)[free] * scale
        first, second = DECAY * first + (1 - DECAY) * slope, FRESH * second + (1 - FRESH) * slope**2
        move = first / (1 - DECAY**k) / (np.sqrt(second / (1 - FRESH**k)) + 1e-300)
        alpha[free] -= RATE * 0.5 * (1 + np.cos(np.pi * k / iterations)) * scale * move
        alpha = np.clip(alpha, robot.alpha.lower, robot.alpha.upper)
    return alpha, errors


def disturbed(robot: Robot, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Parameters whose masses and inertias are off by a factor, centres by centimetres; which entries these are."""
    kinds = [k for k in ("mass", "com", "inertia") if robot.alpha.has(k)]
    if not kinds:
        raise InputError(f"{robot.name} has its inertias as numbers; generate it with --symbolic mass,com,inertia.")
    free = np.concatenate([robot.alpha.indices(kind) for kind in kinds])
    alpha = robot.alpha.defaults
    for kind in kinds:
        at = list(robot.alpha.indices(kind))
        alpha[at] = (
            alpha[at] + 0.01 * rng.uniform(-1, 1, len(at))
            if kind == "com"
            else alpha[at] * rng.uniform(1, 1 + OFF, len(at))
        )
    return alpha, free


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--windows", type=int)
    parser.add_argument("--iterations", type=int, default=150)
    options = parser.parse_args()
    robot, rng = load(options.folder), np.random.default_rng(3)
    count = options.windows or (10_000 if functions(robot)[2] else 300)
    true, free = disturbed(robot, rng)
    seen, unseen = windows(robot, true, count, rng), windows(robot, true, 100, rng)
    began = time.perf_counter()
    found, errors = identified(robot, seen, robot.alpha.defaults, free, options.iterations)
    seconds = time.perf_counter() - began
    rate, words = (
        count * options.iterations / seconds,
        f"{count} windows of {STEPS} steps, {options.iterations} iterations",
    )
    print(f"{words} in {seconds:.1f} s: {rate:.3g} gradients a second")
    print(f"positions: {1e3 * errors[0]:.3g} mrad RMS with the description, {1e3 * errors[-1]:.3g} with what was found")
    torques = [
        robot.inverse_dynamics(unseen["p0"], unseen["pd0"], unseen["pd0"], a)
        for a in (robot.alpha.defaults, found, true)
    ]
    before, after = (float(np.sqrt(((t - torques[2]) ** 2).mean())) for t in torques[:2])
    print(f"torques of other states: {before:.3g} N·m RMS before, {after:.3g} after")


if __name__ == "__main__":
    main()
