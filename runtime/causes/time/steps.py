"""A motion that `joint_step` made, from sample to sample: its rates are those after an impulse of friction."""

from __future__ import annotations

import numpy as np

from diffpbd.runtime.causes.missing import Missing
from diffpbd.runtime.causes.motion import Motion, Torques


class Steps(Missing):
    """What is missing where rates are those after friction's impulse at the end of a step, in place of those at mid-impulse: by
    M⁻¹ of friction during half a step. Its figure is one, and may be a little beside."""

    kind, word, lacking = "steps", "steps of a simulation", "smaller steps of a simulation by joint_step"
    says = "it were simulated from sample to sample by joint_step, whose rates are those after friction's impulse"
    cure, of_joint, least, most = "Simulate it in smaller steps ({arg.h})", False, 0.7, 1.3

    def columns(self, m: Motion, joint: str, size: float) -> Torques:
        if not m.open_tree:
            return m.nothing(1)
        rubbing = [*m.layout.of_joints("friction.coulomb"), *m.layout.of_joints("friction.viscous")]
        phi, friction, zero = m.phi.copy(), np.zeros_like(m.phi), np.zeros_like(m.samples.dq)
        phi[rubbing], friction[rubbing] = 0.0, m.phi[rubbing]
        rest = m.torque(dq=zero, ddq=zero, phi=phi)
        M = np.stack([m.torque(dq=zero, ddq=zero + one, phi=phi) - rest for one in np.eye(m.robot.n)], axis=-1)
        lost = m.step / 2.0 * np.linalg.solve(M, m.torque(phi=friction)[..., None])[..., 0]
        later = m.torque(
            dq=m.samples.dq + lost, ddq=m.samples.ddq + np.gradient(lost, 1.0 / m.samples.rate, axis=0), phi=phi
        )
        return m.smooth(later - m.torque(phi=phi))[..., None]
