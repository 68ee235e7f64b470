"""Sampling predictive control (MPPI) of an arm: thousands of rollouts a tick, and their average weighted by what they cost.

    python docs/examples/mppi.py generated/baxter_bare [--rollouts 8192] [--ticks 50]

On a GPU where there is one (`diffpbd generate baxter_bare --cuda`, PyTorch with CUDA); else on the CPU, where 256 rollouts a
tick are enough to see it work: batched steps, rows side by side in vectors. Williams et al. 2017, "Model predictive path
integral control: from theory to parallel computation".
"""

import argparse
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from diffpbd.runtime import InputError, Robot, load

STEPS, H = 20, 0.02  # of a rollout; [s]
HELD = 5  # steps over which a random torque is held
TEMPERATURE = 0.1  # of the weights, as a share of the spread of costs
SPREAD = 4.0  # [rad/s²] deviation of the accelerations that random torques make
NEAR, SLOW, CALM = 1.0, 0.02, 1e-4  # weights of position [1/rad²], rate and torque


@dataclass
class Cpu:
    """Rollouts by batched steps of the C."""

    robot: Robot
    alpha: Any
    library: Any = np
    random: Any = None

    def normal(self, shape: tuple[int, ...]) -> Any:
        """Random numbers of deviation 1."""
        self.random = self.random or np.random.default_rng(1)
        return self.random.standard_normal(shape)

    def put(self, values: Any) -> Any:
        """An array where rollouts are made."""
        return np.asarray(values)

    def rolled_out(self, p: Any, pd: Any, U: Any) -> tuple[Any, Any]:
        """Positions and rates after every step of U (rollouts, STEPS, n)."""
        P, PD = np.empty_like(U), np.empty_like(U)
        p, pd = (np.broadcast_to(x, U[:, 0].shape) for x in (p, pd))
        for k in range(U.shape[1]):
            p, pd = self.robot.joint_step(p, pd, U[:, k], H, self.alpha, threads=os.cpu_count() or 1)
            P[:, k], PD[:, k] = p, pd
        return P, PD


@dataclass
class Gpu:
    """Rollouts in one launch, on PyTorch's tensors; a rollout that fails costs more than any other."""

    robot: Robot
    alpha: Any

    def __post_init__(self) -> None:
        import torch

        if not torch.cuda.is_available():
            raise InputError("PyTorch finds no GPU.")
        self.library, self.functions = torch, self.robot.gpu("float32")

    def normal(self, shape: tuple[int, ...]) -> Any:
        """Random numbers of deviation 1."""
        return self.library.randn(shape, device="cuda")

    def put(self, values: Any) -> Any:
        """An array where rollouts are made."""
        return self.library.as_tensor(np.asarray(values), dtype=self.library.float32, device="cuda")

    def rolled_out(self, p: Any, pd: Any, U: Any) -> tuple[Any, Any]:
        """Positions and rates after every step of U (rollouts, STEPS, n)."""
        stream = self.library.cuda.current_stream()
        found = self.functions.rollout(p, pd, U, H, self.alpha, check=False, stream=stream)
        P, PD, left = (self.library.from_dlpack(x) for x in found)
        P[left > self.functions.residual] = 1e3
        return P[:, 1:], PD[:, 1:]


def plan(on: Any, p: Any, pd: Any, goal: Any, nominal: Any, inertia: Any, rollouts: int) -> Any:
    """A better sequence of torques (STEPS, n) than `nominal`: the average of random ones about it, each by exp(-cost).

    Random accelerations times the inertia (n, n): a light wrist gets small torques, and those that move its forearm.
    """
    noise = (SPREAD * on.normal((rollouts, STEPS // HELD, len(goal))) @ inertia)[:, [k // HELD for k in range(STEPS)]]
    noise[0] = 0.0
    U = nominal + noise
    P, PD = on.rolled_out(p, pd, U)
    cost = (NEAR * ((P - goal) ** 2).sum(-1) + SLOW * (PD**2).sum(-1) + CALM * (U**2).sum(-1)).mean(-1)
    least = cost.min()
    weight = on.library.exp(-(cost - least) / (TEMPERATURE * (cost.mean() - least) + 1e-12))
    return nominal + (weight[:, None, None] * noise).sum(0) / weight.sum()


def rubbing(robot: Robot) -> np.ndarray:
    """Parameters with viscous friction, without which random torques on a light wrist leave every range."""
    inertia = np.diag(robot.mass_matrix(np.zeros(robot.n)))
    return robot.alpha.vector({f"friction.viscous.{j}": 0.02 + m for j, m in zip(robot.joints, inertia, strict=True)})


def controlled(robot: Robot, on: Any, goal: np.ndarray, rollouts: int, ticks: int) -> tuple[np.ndarray, float]:
    """Joint angles of every tick (ticks + 1, n), and ticks a second; the plant is the robot's own step."""
    p, pd = np.zeros(robot.n), np.zeros(robot.n)
    held = robot.gravity(p)
    nominal = on.put(np.tile(held, (STEPS, 1)))
    path, began = [p], 0.0
    for tick in range(ticks):
        if tick == 1:  # the first compiles
            began = time.perf_counter()
        nominal = plan(on, on.put(p), on.put(pd), on.put(goal), nominal, on.put(robot.mass_matrix(p)), rollouts)
        u = np.asarray(nominal[0].cpu() if hasattr(nominal, "cpu") else nominal[0], dtype=float)
        p, pd = robot.joint_step(p, pd, u, H, on.alpha)
        path.append(p)
        nominal = on.library.concatenate([nominal[1:], nominal[-1:]])
    return np.array(path), (ticks - 1) / (time.perf_counter() - began)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rollouts", type=int)
    parser.add_argument("--ticks", type=int, default=50)
    options = parser.parse_args()
    robot = load(options.folder)
    try:
        on: Any = Gpu(robot, rubbing(robot))
    except (ImportError, InputError) as reason:
        print(f"On the CPU: {reason}")
        on = Cpu(robot, rubbing(robot))
    rollouts = options.rollouts or (8192 if isinstance(on, Gpu) else 256)
    goal = np.resize([0.4, -0.3, 0.2], robot.n)
    path, rate = controlled(robot, on, goal, rollouts, options.ticks)
    off = np.abs(path - goal).max(-1)
    print(
        f"{rollouts} rollouts of {STEPS} steps a tick: {rate:.1f} ticks a second, {rate * rollouts * STEPS:.3g} steps a second"
    )
    print(f"farthest joint from the goal: {off[0]:.3f} rad at the start, {off[-1]:.3f} after {options.ticks * H:.2g} s")


if __name__ == "__main__":
    main()
