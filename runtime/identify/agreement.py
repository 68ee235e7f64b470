"""Whether a form that follows a trajectory agrees with the torque form on recordings of a physical arm.

A trajectory may be followed by parameters that make up for what the model lacks: torques that the step never feels are paid for
by absurd friction. The torque form weighs the same recordings directly, so where both disagree by more than their deviations
and the torque residual says the same, the former has no result.
"""

from __future__ import annotations

import numpy as np

from diffpbd.runtime.base.errors import SolverError
from diffpbd.runtime.base.names import listing
from diffpbd.runtime.identify.result import Identification

__all__ = ["check_agreement"]

APART = 3.0
"""[1] Joint deviations by which a parameter of two forms may differ."""
WORSE = 2.0
"""[1] Torque residual of a joint, in units of the torque form's, from which it counts as worse."""
SEEN = 0.05
"""[1] The same in units of the joint's RMS torque: less is what steps and differences disagree by without noise."""

ROUNDING = 1e-6
"""[1] Deviation in units of the difference below which the recordings are followed to rounding: what differs then is the torque
form's, whose accelerations are differences of the recorded rates."""


def check_agreement(form: str, found: Identification, torques: Identification) -> None:
    """SolverError where joints' torques are off and parameters differ from the torque form's."""
    measured = np.vstack([trace.measured for trace in found.train.traces])
    size = dict(zip(found.joints, np.sqrt((measured**2).mean(axis=0)).tolist(), strict=True))
    worse = {
        joint: rmse / max(torques.train.rmse[joint], np.finfo(float).tiny)
        for joint, rmse in found.train.rmse.items()
        if rmse > WORSE * torques.train.rmse[joint] and rmse > SEEN * size[joint]
    }
    other = {e.name: e for e in torques.estimates}
    apart = [
        f"{e.name} is {e.value:.3g} ± {e.std or 0.0:.2g} here and {o.value:.3g} ± {o.std or 0.0:.2g} there"
        for e in found.estimates
        if (o := other.get(e.name)) is not None
        and (e.std or 0.0) >= ROUNDING * abs(e.value - o.value)
        and abs(e.value - o.value) > APART * np.hypot(e.std or 0.0, o.std or 0.0)
    ]
    if worse and apart:
        named = listing([f"{joint} ({ratio:.2g} times)" for joint, ratio in worse.items()])
        raise SolverError(
            f"--form {form} does not agree with --form torque, whose torque residual is smaller at {named}: "
            f"{'; '.join(apart)}. The recorded torques do not move the model as they moved the arm; nothing was written. Use "
            "--form torque, or --form simultaneous --residual torque."
        )
