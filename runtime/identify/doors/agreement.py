"""Whether a form that follows a trajectory agrees with the torque form on recordings of a physical arm.

Parameters can follow a trajectory by compensating model errors: for instance absurd friction in place of torques that the step
lacks. The torque form uses the same recordings directly; if both disagree by more than their deviations, and the torque
residuals confirm it, the trajectory form has no result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from diffpbd.runtime.base.errors import InputError, SolverError, arg
from diffpbd.runtime.base.names import listing
from diffpbd.runtime.identify.causes.specification import REJECTED
from diffpbd.runtime.identify.result.result import Estimate, Identification
from diffpbd.runtime.logs.csv import Log
from diffpbd.runtime.logs.processing import Processing, Samples, process

__all__ = ["as_read", "check_agreement", "doubted", "misfit"]

APART = 3.0
"""[1] Largest difference of a parameter between both forms, in their combined standard deviation."""
WORSE = 2.0
"""[1] Ratio of a joint's torque residual to the torque form's above which it is worse."""
SEEN = 0.05
"""[1] Torque residual relative to the RMS torque, above the difference of steps and finite differences without noise."""

ROUNDING = 1e-6
"""[1] Deviation over difference below which the trajectory is exact to rounding: then the torque form is off, whose
accelerations are finite differences."""


def check_agreement(form: str, found: Identification, torques: Identification) -> None:
    """SolverError if joint torques are wrong and parameters differ from the torque form's."""
    measured = np.vstack([trace.measured for trace in found.train.traces])
    size = dict(zip(found.joints, np.sqrt((measured**2).mean(axis=0)).tolist(), strict=True))
    worse = {
        joint: rmse / max(torques.train.rmse[joint], np.finfo(float).tiny)
        for joint, rmse in found.train.rmse.items()
        if rmse > WORSE * torques.train.rmse[joint] and rmse > SEEN * size[joint]
    }
    other = {e.name: e for e in torques.estimates}
    apart = [
        f"{e.name} is {e.value:.3g} ± {_spread(e):.2g} here and {o.value:.3g} ± {_spread(o):.2g} there"
        for e in found.estimates
        if (o := other.get(e.name)) is not None
        and _spread(e) >= ROUNDING * abs(e.value - o.value)
        and abs(e.value - o.value) > APART * np.hypot(_spread(e), _spread(o))
    ]
    if worse and apart:
        named = listing([f"{joint} ({ratio:.2g} times)" for joint, ratio in worse.items()])
        raise SolverError(
            f"{arg.form(form)} does not agree with {arg.form('torque')}, whose torque residual is smaller at {named}: "
            f"{'; '.join(apart)}. The recorded torques do not move the model as they moved the arm; nothing was written. Use "
            f"{arg.form('torque')}, or {arg.form('simultaneous')} {arg.residual('torque')}."
        )


def as_read(samples: Sequence[Samples], held: bool) -> list[Samples]:
    """Recordings for the torque form in this comparison: filtered by default settings if they are not filtered, none if they
    are too short for that. A torque that is `held` until the next sample is at a sample the mean of two."""
    found: list[Samples] = []
    for s in samples:
        tau = np.array(s.tau)
        if held:
            tau[1:] = (s.tau[1:] + s.tau[:-1]) / 2.0
        if s.processing.cutoff is not None:
            found.append(replace(s, tau=tau))
            continue
        try:
            found += process(s.name, Log(s.time, s.joints, s.q, s.dq, None, tau), Processing())
        except InputError:
            continue
    return found


def misfit(torques: Identification) -> float:
    """Mean logarithm of the joints' torque residuals. It is smaller for the right interpretation of recorded torques
    (held, or at the samples): the other is shifted by half a sample, which would reject the model."""
    return float(np.mean(np.log(np.maximum(list(torques.train.rmse.values()), np.finfo(float).tiny))))


def doubted(found: Identification, torques: Identification) -> Identification:
    """The result with deviations consistent with both forms: none if the torque form rejects the model, and at least the
    difference of the estimates, which is within chance for a right model (Hausman 1978). The discretisation error of a
    step, absorbed by friction, shows in no residual."""
    other = {e.name: e for e in torques.estimates}
    estimates, wider = [], []
    for e in found.estimates:
        o = other.get(e.name)
        if e.std and o is not None and e.std >= ROUNDING * abs(e.value - o.value):
            if o.rejected:
                e = replace(e, std=None, formal=e.std, rejected=f"by the torque form: {o.rejected}")
            elif abs(e.value - o.value) > np.hypot(_spread(e), _spread(o)):
                wider.append(e.name)
                e = replace(e, std=float(np.hypot(_spread(e), e.value - o.value)))
        estimates.append(e)
    notes = [note for note in torques.notes if note.startswith(REJECTED)]
    if wider:
        notes.append(
            "the torque form finds other values than this form by more than chance; the difference is part of the deviation "
            f"of {listing(wider)}"
        )
    return replace(found, estimates=tuple(estimates), notes=(*found.notes, *notes))


def _spread(e: Estimate) -> float:
    """Its deviation, even if withheld because the model was rejected."""
    return e.std or e.formal or 0.0
