"""Inverse kinematics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from diffpbd.runtime.api.keywords import keywords
from diffpbd.runtime.api.words import expect_options, in_python, values_of
from diffpbd.runtime.functions.parameters import AlphaOrFile
from diffpbd.runtime.model.inverse_kinematics import Ik, Sought, solve
from diffpbd.runtime.model.robot import Robot

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from diffpbd.runtime.api.keyword_types import IkHow

__all__ = ["Ik", "ik"]


@in_python
def ik(robot: Robot, *, strict: bool = True, alpha: AlphaOrFile | None = None, **how: Unpack[IkHow]) -> Ik:
    """Positions of the joints that bring a frame (of `robot.manifest.robot.frames`; the tip) to a pose, within their limits.

    - `frame`: its name
    - `position` (3,) [m] and `rotation`, a matrix (3, 3) or unit quaternion w x y z (4,), or `rpy` (3,), roll, pitch, yaw about
      fixed axes [rad], are the world's; place or orientation may be left out
    - `q0` (n_p,) (zero, moved into the limits): start of the search, and then `starts` - 1 (20 altogether) other positions,
      always the same ones
    - `weights` [1/m, 1/rad] (1, 0.3): what misses of position and rotation count beside each other
    - `margin` [rad or m]: left free at every limit that has room for it
    - `held`: joints that stay as q0 has them (the freedoms of a base that moves)
    - `clearance` [m]: links stay so far from each other and from `obstacles`, rows by kind as in
      `diffpbd.runtime.model.clearance.obstacles`, of a robot that was generated with `--clearance`
    - `accept`: gets each position that reaches the goal; where it gives False the next start is tried
    - `alpha`: a vector, or values by name

    The goal is reached within 1e-6 m and 1e-6 rad. SolverError where no start reached it, with the miss; with `strict=False`
    the result says so itself: `reached`, `position_miss`, `rotation_miss`.
    """
    expect_options("ik", how, keywords("IkHow"))
    return solve(robot, Sought(**how), values_of(robot, alpha), strict=strict)
