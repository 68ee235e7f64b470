"""How an arm differs from its model."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

Factor = float | tuple[float, ...]
"""One number for all joints, or one for each from the base on; what is beyond an arm's joints is left out."""
JOINTS = 8
"""Joints for which `drawn` draws."""


@dataclass(frozen=True)
class Differences:
    """`Differences()` is the model's own arm, with its friction. Numbers at random in a run come from `seed`."""

    friction: Factor = 1.0
    """Times the model's, dry and viscous."""
    breakaway: float = 1.0
    """Dry friction at rest, times that in motion (Stribeck); it falls off with `stribeck` [rad/s]."""
    stribeck: float = 0.02
    load: float = 0.0
    """kg at the hand, which no model knows."""
    load_at: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """m, in the frame of the hand."""
    rotor: Factor = 0.0
    """kg·m² of rotors, times the gear ratio squared."""
    stiffness: Factor | None = None
    """N·m/rad of elastic gears; None: rigid ones."""
    gear_damping: float = 0.02
    """Damping ratio of the gear's spring with the links on it, while the rotor stands."""
    sensor: str = "motor"
    """Where positions are measured: `motor` or `link`."""
    ripple: float = 0.0
    """Share of the torque that comes and goes with the rotor's angle."""
    gain: Factor = 1.0
    """Torque of a motor over the commanded one."""
    encoder: float = 0.0
    """rad; step of positions."""
    noise: float = 0.0
    """rad/s; standard deviation of measured speeds."""
    filter: float = 0.0
    """s; time constant of measured speeds."""
    zero: Factor = 0.0
    """rad by which a position is measured too large."""
    effort_noise: float = 0.0
    """N·m; standard deviation of measured torques."""
    state_delay: float = 0.0
    """s; a state's age when it arrives."""
    command_delay: float = 0.0
    """s until a command acts."""
    jitter: float = 0.0
    """s; a state arrives up to this much later, and its stamp is off by up to this."""
    mass: Factor = 1.0
    """Of every link with its inertia, times the model's."""
    inertia: Factor = 1.0
    """Of every link about its centre of mass, on top of `mass`."""
    seed: int = 0

    @classmethod
    def drawn(cls, seed: int, **fixed: object) -> Differences:
        """Everything at once, within what arms are found to have; `fixed` is not drawn."""
        rng = np.random.default_rng([seed, 42])

        def each(low: float, high: float) -> tuple[float, ...]:
            return tuple(rng.uniform(low, high, JOINTS).tolist())

        def logarithmic(low: float, high: float) -> tuple[float, ...]:
            return tuple(np.exp(rng.uniform(np.log(low), np.log(high), JOINTS)).tolist())

        found = cls(
            friction=logarithmic(0.3, 3.0), breakaway=rng.uniform(1.0, 1.5), stribeck=rng.uniform(0.01, 0.05),
            load=rng.uniform(0.0, 2.0), load_at=tuple(rng.uniform([-0.05, -0.05, 0.0], [0.05, 0.05, 0.12]).tolist()),
            rotor=each(0.0, 0.3), stiffness=logarithmic(1e3, 2e4) if rng.random() < 0.7 else None,
            sensor=str(rng.choice(["motor", "link"])), ripple=rng.uniform(0.0, 0.03), gain=each(0.95, 1.05),
            encoder=float(rng.choice([1e-5, 1e-4, 3.8e-4])), noise=rng.uniform(0.0, 4e-3), filter=rng.uniform(0.0, 0.012),
            zero=each(-1e-3, 1e-3), effort_noise=rng.uniform(0.0, 0.05), state_delay=rng.uniform(0.0, 0.02),
            command_delay=rng.uniform(0.0, 2e-3), jitter=rng.uniform(0.0, 1e-3), mass=each(0.9, 1.1), inertia=each(0.7, 1.3),
            seed=seed,
        )  # fmt: skip
        return replace(found, **fixed)  # type: ignore[arg-type]


def by_joint(value: Factor, n: int) -> np.ndarray:
    """(n,) of one number or of one for each."""
    return np.broadcast_to(np.atleast_1d(np.asarray(value, dtype=float))[:n], (n,)).copy()
