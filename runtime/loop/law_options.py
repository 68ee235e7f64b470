"""Ranges of all numbers of a law, by name: one table for the command line, Python, logs, and every arm."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import ArgumentError, InputError
from diffpbd.runtime.model.limits import Limits

__all__ = ["expect_options"]

STIFFEST = 0.01
"""rad; least deflection at which a joint's spring may demand the full effort: a stiffer one would amplify encoder steps."""
THICKEST = 0.05
"""rad/s; least speed at which a joint's damper may demand the full effort: a stronger one would amplify speed noise."""
TIP_STIFFEST, TIP_STIFFEST_TURN = 3000.0, 300.0
"""N/m and N·m/rad; the range of libfranka's own Cartesian impedance."""
FURTHEST, FASTEST = 2.0, 2.0
"""m and m/s; beyond the reach and speed of the supported arms."""
DAMPEST = 2.0
"""Damping ratio."""
LONGEST, LATEST = 50, 10
"""Largest horizon and delay of a plan, in steps."""
HEAVIEST = 1e9
"""Largest weight of the plan's cost: beyond it the others are lost in rounding."""
SLOWEST_OBSERVER = 10.0
"""s; time constant of the observer."""

OF_ROBOT = ("N·m/rad", "N·m·s/rad", "rad/s")
"""Units of the ranges that end where the robot's efforts or speeds do."""
Upper = FloatArray | float


class _Range(NamedTuple):
    option: str
    lower: float
    upper: Upper
    unit: str
    why: str
    open: bool = False
    """Whether the lower end itself is refused."""

    def kind(self, number: float) -> type[InputError]:
        """The error for a number outside: an ArgumentError where no robot would take it, since its own limits only bound from
        above."""
        below = not (self.lower < number if self.open else self.lower <= number)
        return ArgumentError if below or self.unit not in OF_ROBOT else InputError


def expect_options(law: Mapping[str, Any], joints: Sequence[str], limits: Limits) -> None:
    """An InputError that names the option, the joint, what was found and what is expected, for the settings of a law."""
    for key, one in _ranges(str(law.get("name")), limits).items():
        value = law.get(key)
        if value is None:
            continue
        if isinstance(value, Mapping):
            for name, part in value.items():
                _check(f"{one.option}: {name}", part, one, joints)
        else:
            _check(one.option, value, one, joints)


def _ranges(law: str, limits: Limits) -> dict[str, _Range]:
    stiff = _Range(
        "--stiffness", 0.0, limits.effort / STIFFEST, "N·m/rad", f"that is the whole effort {STIFFEST:g} rad off"
    )
    thick = _Range(
        "--damping", 0.0, limits.effort / THICKEST, "N·m·s/rad",
        f"that is the whole effort at {THICKEST:g} rad/s, and less than nothing feeds the motion",
    )  # fmt: skip
    fastest = float(np.max(limits.speed))
    speed = _Range("--goal-speed", 0.0, fastest, "rad/s", "no joint is faster", open=True)
    if law == "gravity":
        return {"damping": thick}
    if law in ("impedance", "track"):
        return {
            "stiffness": stiff, "damping": thick, "goal_speed": speed,
            "scaling": _Range("--scaling", 0.0, 1.0, "", "1 is the whole map"),
        }  # fmt: skip
    if law == "cartesian":
        ends = np.array([TIP_STIFFEST] * 3 + [TIP_STIFFEST_TURN] * 3)
        return {
            "stiffness": _Range("--tip-stiffness", 0.0, ends, "N/m and N·m/rad", "a tip is not held stiffer", open=True),
            "offset": _Range("--tip-offset", -FURTHEST, FURTHEST, "m", "an arm reaches no further"),
            "speed": speed._replace(upper=FASTEST, unit="m/s", why="no tip is faster"),
            "damping_ratio": _Range("damping_ratio", 0.0, DAMPEST, "of critical", "more only makes it late"),
            "posture": stiff, "damping": thick,
        }  # fmt: skip
    if law == "mpc":
        return {
            "goal_speed": speed, "horizon": _Range("--horizon", 1, LONGEST, "steps", "a tick plans no further"),
            "delay": _Range("--delay", 0, LATEST, "ticks", "a later command is of no use"),
            "weights": _Range("--weights", 0.0, HEAVIEST, "", "beyond it the other weights are rounding"),
            "disturbance": _Range("disturbance", 0.0, SLOWEST_OBSERVER, "s", "a slower observer finds nothing"),
        }  # fmt: skip
    return {}


def _check(where: str, value: Any, one: _Range, joints: Sequence[str]) -> None:
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{where}: expected numbers, found {value!r}.") from None
    for k, number, upper in _each(numbers, one.upper):
        if (one.lower < number if one.open else one.lower <= number) and number <= upper:
            continue
        names = joints if len(joints) == numbers.size else [f"number {m + 1}" for m in range(numbers.size)]
        whose = f"{names[k]}: " if numbers.ndim else ""
        least = f"above {one.lower:g}" if one.open else f"from {one.lower:g}"
        raise one.kind(number)(
            f"{where}: {whose}expected {least} to {upper:g}{one.unit and f' {one.unit}'} ({one.why}), found {number:g}. "
            "Give a number in that range."
        )


def _each(numbers: FloatArray, upper: Upper) -> Iterator[tuple[int, float, float]]:
    flat = numbers.reshape(-1)
    ends = np.broadcast_to(upper, flat.shape) if np.ndim(upper) == 0 or np.size(upper) == flat.size else np.max(upper)
    return zip(range(flat.size), flat.tolist(), np.broadcast_to(ends, flat.shape).tolist(), strict=True)
