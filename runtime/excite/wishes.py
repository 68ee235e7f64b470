"""Wishes about a motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, arg
from diffpbd.runtime.base.names import hint
from diffpbd.runtime.base.options import expect, option
from diffpbd.runtime.model.clearance import KEPT, distance_option
from diffpbd.runtime.model.robot import Robot

__all__ = ["CRITERIA", "Wishes", "accelerations"]

SAMPLES_A_HARMONIC = 20
"""[1] Least samples in a period of the highest harmonic in the file."""
ACCELERATIONS = (1e-6, 1e6)
"""[rad/s², m/s²] Ends of a limit."""
HEIGHTS = (-100.0, 100.0)
"""[m] Range of a plane's height over the world's origin."""
CRITERIA = ("condition", "log-det")


@dataclass(frozen=True)
class Wishes:
    """Duration and constraints of the motion: `duration` [s], `harmonics`, `rate` [Hz] of the samples, least height of
    the tip [m] (None: any), `margin` to every limit (relative), limits of `acceleration` [rad/s² or m/s²], one, (n,) or
    by joint ("": of the others), the height [m] of a `table` that the arm stays above, the `criterion`: the condition
    number, or log det of the information, the `clearance` [m] of links from each other.
    """

    duration: float = option("Period of the motion (10).", 10.0, span=(0.1, 3600.0), unit="s", metavar="S")
    harmonics: int = option("Number of harmonics of 1/duration (5).", 5, span=(2, 50), metavar="N")
    rate: float = option("Sampling rate of the file (100).", 100.0, span=(1.0, 10000.0), unit="Hz", metavar="HZ")
    least_height: float | None = option(
        "Least height of the tip, along -gravity in the world frame.", None, flag="--min-tip-height", span=HEIGHTS, unit="m",
        metavar="M",
    )  # fmt: skip
    margin: float = option("Margin to every limit, relative to it (0.1).", 0.1, span=(0.0, 0.9), metavar="SHARE")
    acceleration: npt.ArrayLike | Mapping[str, float] | None = option(
        "Of all joints [rad/s² or m/s²], or of some; without: any.", None, flag="--max-acceleration", metavar="A|JOINT=A,…",
        parse=lambda text: _by_joint(text),
    )  # fmt: skip
    table: float | None = option(
        "A plane at this height that links' centres of mass and the tip stay above (default: over the recipe's table by what "
        "`run` keeps).", None, span=HEIGHTS, unit="m", metavar="M",
    )  # fmt: skip
    criterion: str = option("See above.", CRITERIA[0], choices=CRITERIA)
    clearance: float | None = distance_option(KEPT)

    def __post_init__(self) -> None:
        """Refuses impossible values."""
        expect(self)
        if self.rate * self.duration < SAMPLES_A_HARMONIC * self.harmonics:
            raise InputError(
                f"{arg.rate}: {self.rate:g} Hz samples the highest harmonic ({self.harmonics / self.duration:g} Hz) too "
                f"coarsely; expected at least {SAMPLES_A_HARMONIC * self.harmonics / self.duration:g} Hz."
            )


def _by_joint(text: str) -> dict[str, float]:
    """Wishes of a command line: A for all joints, or JOINT=A words."""
    found: dict[str, float] = {}
    for word in text.split(","):
        name, _, number = (part.strip() for part in word.rpartition("="))
        if name in found:
            raise ValueError(f"{name or 'the limit of all joints'} is given twice.")
        try:
            found[name] = float(number)
        except ValueError:
            raise ValueError(
                f"expected A or JOINT=A with a number of rad/s² (m/s² for slides), found {word!r}."
            ) from None
    _expect_limits(found)
    return found


def _expect_limits(limits: Mapping[str, float]) -> None:
    low, high = ACCELERATIONS
    for name, limit in limits.items():
        if not low <= limit <= high and limit != np.inf:  # NaN too
            raise InputError(
                f"{name}{name and ': '}expected a positive number of rad/s² (m/s² for slides), from {low:g} to {high:g}, "
                f"found {limit:g}."
            )


def accelerations(robot: Robot, given: npt.ArrayLike | Mapping[str, float] | None) -> FloatArray | None:
    """Limits (n,), infinite where none is given; None without any."""
    if given is None:
        return None
    if not isinstance(given, Mapping):
        try:
            given = dict(zip(robot.joints, np.broadcast_to(np.asarray(given, float), robot.n).tolist(), strict=True))
        except ValueError:
            raise InputError(f"{arg.acceleration}: expected a number or {robot.n} of them, found {given!r}.") from None
    if strange := [name for name in given if name and name not in robot.joints]:
        raise InputError(
            f"{arg.acceleration}: {robot.name} has no joint {strange[0]!r}. {hint(strange[0], robot.joints)}"
        )
    try:
        _expect_limits(given)
    except InputError as error:
        raise InputError(f"{arg.acceleration}: {error}") from None
    return np.array([given.get(joint, given.get("", np.inf)) for joint in robot.joints])
