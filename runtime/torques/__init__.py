"""Joint torques from a recorded motion. What is imported from here is the public surface (docs/torque-estimation.md):

- `estimate` gives an `Estimate` under `Settings`: by the generated Gauss–Newton, by the formula at nodes, or by ADAM as
  published, on steps in maximal coordinates;
- `TorqueErrors` compares an estimate with recorded torques, `rate_lag` recorded rates with positions.
"""

from diffpbd.runtime.torques.errors import TorqueErrors, rate_lag
from diffpbd.runtime.torques.estimation import Estimate, estimate
from diffpbd.runtime.torques.settings import Settings

__all__ = ["Estimate", "Settings", "TorqueErrors", "estimate", "rate_lag"]
