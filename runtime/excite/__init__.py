"""Exciting motions for the identification of inertial parameters.

    found = excite(robot, Wishes(duration=10.0, harmonics=5))
    found.motion.q, found.after

`excite` finds a periodic motion within the limits of an `Envelope` whose base regressor is well conditioned; `Wishes` are its
duration and constraints, `Excitation` holds the sampled `Motion` and the condition numbers.
"""

from diffpbd.runtime.excite.envelope import Envelope, Motion
from diffpbd.runtime.excite.excitation import Excitation, excite
from diffpbd.runtime.excite.wishes import Wishes

__all__ = ["Envelope", "Excitation", "Motion", "Wishes", "excite"]
