"""Where validation data lie outside the range of the training data, and where the error is larger than training predicts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.identify.result.result import Errors
from diffpbd.runtime.logs.processing import Samples
from diffpbd.runtime.model.robot import Robot

__all__ = ["beyond_training"]

TAIL = 0.005
"""[1] Quantile of training samples outside of the range at either end: transients of the filter."""
OUTSIDE = 0.05
"""[1] Part of validation samples outside that range from which it is reported."""
WORSE = 1.5
"""[1] Ratio of the validation RMSE to the worst training recording's from which it is reported."""
SMALL = 0.02
"""[1] RMSE over the joint's torque range below which it is not reported."""
QUANTITIES = (("position", "q", ""), ("speed", "dq", "/s"), ("acceleration", "ddq", "/s²"))


def beyond_training(
    robot: Robot, train: Sequence[Samples], held: Sequence[Samples], errors: Errors, validation: Errors
) -> list[str]:
    """A sentence for each joint whose range training did not cover, and for each joint whose validation error is
    beyond what training predicts."""
    outside: dict[str, dict[str, str]] = {}
    for what, name, per in QUANTITIES:
        own, other = (np.vstack([s.trimmed(getattr(s, name)) for s in samples]) for samples in (train, held))
        low, high = np.quantile(own, [TAIL, 1.0 - TAIL], axis=0)
        if what != "position":  # both directions count alike
            high = np.maximum(np.abs(low), np.abs(high))
            low = -high
        share = ((other < low) | (other > high)).mean(axis=0)
        for j in np.flatnonzero(share > OUTSIDE + 2.0 * TAIL).tolist():
            joint, unit = robot.joints[j], robot.manifest.robot.joints[j].unit
            reached = f"{other[:, j].min():.3g} to {other[:, j].max():.3g}"
            outside.setdefault(joint, {})[what] = (
                f"{what} {reached} {unit}{per} (trained on {low[j]:.3g} to {high[j]:.3g}, {100 * share[j]:.2g} % of the "
                "samples outside)"
            )
    found = [
        f"validation leaves the training range of {joint}: {', '.join(outside[joint].values())}"
        for joint in robot.joints
        if joint in outside
    ]
    size = np.vstack([trace.measured for trace in validation.traces])
    worst = _worst(errors)
    for j, joint in enumerate(robot.joints):
        ratio = validation.rmse[joint] / max(worst[j], np.finfo(float).tiny)
        if ratio > WORSE and validation.rmse[joint] > SMALL * float(np.ptp(size[:, j])):
            why = f" (it leaves the training range in {' and '.join(outside[joint])})" if joint in outside else ""
            found.append(
                f"validation of {joint} is worse than training predicts: RMSE {validation.rmse[joint]:.3g}, {ratio:.2g} times "
                f"the worst training recording's{why}"
            )
    return found


def _worst(errors: Errors) -> FloatArray:
    """Largest RMSE (n,) of one recording."""
    each = [np.sqrt(((trace.measured - trace.predicted) ** 2).mean(axis=0)) for trace in errors.traces]
    return np.asarray(np.max(each, axis=0), dtype=np.float64)
