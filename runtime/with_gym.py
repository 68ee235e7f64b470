"""Reaching a joint position by torques, as an environment of Gymnasium: one arm, or many side by side in one batched step.

    import diffpbd.gym, gymnasium

    env = gymnasium.make("diffpbd/Reach-v0", robot="double_pendulum")
    envs = diffpbd.gym.ReachVector("double_pendulum", 64)

Needs Gymnasium (extra `gym`). The physics is `joint_step`; its gradient is in `with_torch` and `with_jax`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, SolverError
from diffpbd.runtime.base.extras import missing
from diffpbd.runtime.functions.friction import refuse_memory
from diffpbd.runtime.functions.function import as_array, check_count
from diffpbd.runtime.functions.parameters import ParameterValues
from diffpbd.runtime.model.robot import Robot, load

try:
    import gymnasium
    from gymnasium.utils import seeding
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ModuleNotFoundError:
    raise missing("diffpbd.gym", "gymnasium") from None

__all__ = ["Reach", "ReachTask", "ReachVector", "register"]

NEAR = 0.3
"""rad or m; an error of this size halves the reward."""
EFFORT_COST = 0.01
"""Reward that an action of full size in every joint costs."""
UNLIMITED_TURN, UNLIMITED_RATE = 2.0 * np.pi, 20.0
"""rad (m) and rad/s (m/s); where a joint without such a limit ends an episode."""


@dataclass(frozen=True, eq=False)
class ReachTask:
    """The task: bring the joints to a goal, drawn anew for every episode.

    An action (n,) in [-1, 1] is a torque of `share` of each joint's effort limit, added to gravity compensation and held for
    `substeps` steps of `h` [s] (default: the robot's). Observations (3 n,) are positions, rates, and goal minus position.
    Start and goal are uniform within `spread` [rad or m] of the middle of each joint's range. The reward of a step is
    1/(1 + (e/0.3)²) − 0.01 mean(action²), with e the RMS of the error; an episode is truncated after `duration` [s] and
    terminated, with reward 0, where a joint leaves its limits or the step has no solution. `alpha` are parameters by name.
    """

    robot: Robot
    duration: float = 2.0
    substeps: int = 2
    share: float = 0.3
    spread: float = 1.0
    h: float | None = None
    alpha: ParameterValues | None = None

    def __post_init__(self) -> None:
        facts = self.robot.manifest.robot
        kinds = (("a moving base", facts.base_freedoms), ("closed loops", facts.loops), ("contacts", facts.contacts))
        for what, there in kinds:
            if there:
                raise InputError(f"Reach: {self.robot.name} has {what}; this environment is for arms on a fixed base.")
        refuse_memory(self.robot.alpha.names, "Reach", "take the robot generated without it")
        without = [
            joint
            for joint, effort in zip(self.robot.joints, self.robot.limits.effort.tolist(), strict=True)
            if not 0.0 < effort < np.inf
        ]
        if without:
            raise InputError(
                f"Reach: joint {without[0]} has no effort limit, which an action of 1 is a share of; give the description one."
            )
        h = self.robot.h if self.h is None else self.h
        for name, value in (("duration", self.duration), ("share", self.share), ("spread", self.spread), ("h", h)):
            if not 0.0 < value < np.inf:
                raise InputError(f"Reach: {name} must be finite and above 0, found {value}.")
        check_count(self.substeps, "Reach", "substeps")

    @property
    def step_time(self) -> float:
        """Seconds between two actions."""
        return (self.robot.h if self.h is None else self.h) * self.substeps

    @property
    def most_steps(self) -> int:
        """Actions of an episode."""
        return max(1, round(self.duration / self.step_time))

    @cached_property
    def edges(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Lower and upper positions and the largest rates, (n,) each, at which an episode ends."""
        limits = self.robot.limits
        lower = np.where(np.isfinite(limits.lower), limits.lower, -UNLIMITED_TURN)
        upper = np.where(np.isfinite(limits.upper), limits.upper, UNLIMITED_TURN)
        return lower, upper, np.where(np.isfinite(limits.speed), limits.speed, UNLIMITED_RATE)

    @cached_property
    def spaces(self) -> tuple[Any, Any]:
        """Spaces of the observations (3 n,) and of the actions (n,), float32."""
        lower, upper, rate = self.edges
        low = np.concatenate([lower, -rate, lower - upper]).astype(np.float32)
        high = np.concatenate([upper, rate, upper - lower]).astype(np.float32)
        n = self.robot.n
        return (
            gymnasium.spaces.Box(low, high, dtype=np.float32),
            gymnasium.spaces.Box(-1.0, 1.0, shape=(n,), dtype=np.float32),
        )

    def drawn(self, random: Any) -> tuple[FloatArray, FloatArray]:
        """A start and a goal, (n,) each, by a NumPy generator."""
        lower, upper, _ = self.edges
        middle, half = 0.5 * (lower + upper), np.minimum(0.9 * 0.5 * (upper - lower), self.spread)
        start, goal = middle + half * random.uniform(-1.0, 1.0, (2, self.robot.n))
        return start, goal

    def given(self, action: Any, shape: tuple[int, ...]) -> FloatArray:
        """Actions of that shape: one for all rows would fit them too, silently."""
        found = as_array(action, "action", "Reach")
        if found.shape != shape:
            raise InputError(f"Reach: action: expected shape {shape}, found {found.shape}.")
        return found

    def torque(self, p: FloatArray, action: FloatArray) -> FloatArray:
        """Torques [N·m or N] (rows, n) at positions p (rows, n), within the effort limits."""
        effort = self.robot.limits.effort
        gravity = np.asarray(self.robot.function("gravity")(p, self.alpha))
        return np.asarray(np.clip(gravity + self.share * effort * np.clip(action, -1.0, 1.0), -effort, effort))

    def moved(self, p: FloatArray, pd: FloatArray, action: FloatArray) -> tuple[FloatArray, FloatArray, Any]:
        """States (rows, n) after an action (rows, n), and which rows have left the limits, or have no solution."""
        lower, upper, rate = self.edges
        lost = np.zeros(len(p), dtype=bool)
        for _ in range(self.substeps):
            p, pd, failed = self._stepped(p, pd, self.torque(p, action))
            lost |= failed
        lost |= ((p < lower) | (p > upper) | (abs(pd) > rate)).any(axis=1)
        return p, pd, lost

    def _stepped(self, p: FloatArray, pd: FloatArray, u: FloatArray) -> tuple[FloatArray, FloatArray, Any]:
        step = self.robot.function("joint_step")
        try:
            end = step(p, pd, u, self.h, self.alpha)
            return end.p_next, end.pd_next, np.zeros(len(p), dtype=bool)
        except SolverError:
            if len(p) == 1:
                return p, pd, np.ones(1, dtype=bool)
        rows = [self._stepped(*(x[k : k + 1] for x in (p, pd, u))) for k in range(len(p))]
        return tuple(np.concatenate(part) for part in zip(*rows, strict=True))  # type: ignore[return-value]

    def observed(self, p: FloatArray, pd: FloatArray, goal: FloatArray) -> Any:
        """Observations (rows, 3 n), float32, cut at the ends of their space."""
        box = self.spaces[0]
        return np.clip(np.concatenate([p, pd, goal - p], axis=-1).astype(np.float32), box.low, box.high)

    def reward(self, p: FloatArray, goal: FloatArray, action: FloatArray) -> FloatArray:
        """Rewards of rows (rows, n): (rows,)."""
        error = ((goal - p) ** 2).mean(axis=-1)
        return np.asarray(1.0 / (1.0 + error / NEAR**2) - EFFORT_COST * (np.clip(action, -1.0, 1.0) ** 2).mean(axis=-1))


def _task(robot: Robot | str | Path, options: dict[str, Any]) -> ReachTask:
    if not isinstance(robot, Robot):
        from diffpbd.runtime.api.robots import load as found

        robot = found(robot) if isinstance(robot, str) else load(robot)
    return ReachTask(robot, **options)


class ReachVector(VectorEnv):  # type: ignore[misc]  # Gymnasium may not be there
    """`num_envs` arms in one batched step. Keywords are those of `ReachTask`; `robot` is one of `diffpbd.load`, or its name.

    Row k with seed s is `Reach` with seed s + k. An episode that has ended is started anew at the next step, as in Gymnasium's
    own `SyncVectorEnv`.
    """

    def __init__(self, robot: Robot | str | Path, num_envs: int = 1, **options: Any) -> None:
        """Open the robot."""
        self.task = _task(robot, options)
        check_count(num_envs, "Reach", "num_envs")
        self.num_envs = int(num_envs)
        self.metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}
        self.render_mode = None
        self.single_observation_space, self.single_action_space = self.task.spaces
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        shape = (self.num_envs, self.task.robot.n)
        self._p, self._pd, self._goal = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        self._steps = np.zeros(self.num_envs, dtype=int)
        self._over = np.ones(self.num_envs, dtype=bool)
        self._random: list[Any] = []

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start all rows anew; `seed` is that of row 0, or one for each."""
        if seed is not None or not self._random:
            many = isinstance(seed, (Sequence, np.ndarray))
            each = list(seed) if many else [None if seed is None else seed + k for k in range(self.num_envs)]  # type: ignore
            if len(each) != self.num_envs:
                raise InputError(
                    f"Reach: seed: expected a number, or one for each of {self.num_envs} rows, found {len(each)}."
                )
            self._random = [seeding.np_random(one)[0] for one in each]
        self._restart(np.ones(self.num_envs, dtype=bool))
        return self.task.observed(self._p, self._pd, self._goal), {}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Observations, rewards, terminated, truncated (rows of each) and an empty dictionary."""
        if not self._random:
            raise InputError("Reach: call reset() before step().")
        action, ended = self.task.given(actions, self._p.shape), self._over.copy()
        p, pd, lost = self.task.moved(self._p, self._pd, action)
        lost &= ~ended
        self._p, self._pd, self._steps = p, pd, self._steps + 1
        reward = np.where(lost | ended, 0.0, self.task.reward(p, self._goal, action))
        self._restart(ended)
        late = (self._steps >= self.task.most_steps) & ~lost
        self._over = lost | late
        return self.task.observed(self._p, self._pd, self._goal), reward, lost, late, {}

    def _restart(self, rows: Any) -> None:
        for k in np.flatnonzero(rows):
            self._p[k], self._goal[k] = self.task.drawn(self._random[k])
            self._pd[k], self._steps[k], self._over[k] = 0.0, 0, False


class Reach(gymnasium.Env):  # type: ignore[misc]  # Gymnasium may not be there
    """One arm. Keywords are those of `ReachTask`; `robot` is one of `diffpbd.load`, or its name."""

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(self, robot: Robot | str | Path, **options: Any) -> None:
        """Open the robot."""
        self.task = _task(robot, options)
        self.observation_space, self.action_space = self.task.spaces
        self._p, self._pd, self._goal = (np.zeros((1, self.task.robot.n)) for _ in range(3))
        self._steps = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """A new episode: observation (3 n,) and an empty dictionary."""
        super().reset(seed=seed)
        start, goal = self.task.drawn(self.np_random)
        self._p, self._pd, self._goal, self._steps = start[None], np.zeros((1, len(start))), goal[None], 0
        return self.task.observed(self._p, self._pd, self._goal)[0], {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Observation (3 n,), reward, terminated, truncated, and an empty dictionary."""
        row = self.task.given(action, self._p.shape[1:])[None]
        self._p, self._pd, lost = self.task.moved(self._p, self._pd, row)
        self._steps += 1
        reward = 0.0 if lost[0] else float(self.task.reward(self._p, self._goal, row)[0])
        late = self._steps >= self.task.most_steps and not lost[0]
        return self.task.observed(self._p, self._pd, self._goal)[0], reward, bool(lost[0]), bool(late), {}


def register() -> None:
    """Tell Gymnasium of `diffpbd/Reach-v0`."""
    gymnasium.register("diffpbd/Reach-v0", entry_point=Reach, vector_entry_point=ReachVector)
