"""The reality bench: arms that are not their model, for judging what the project does where its model is wrong.

    arm = RealArm("baxter", Differences.drawn(seed=3), period=4e-3)
    arm.place(q)
    stamp, q, dq, effort = arm.state()
    arm.apply(torque, 4e-3)

Links are MuJoCo's, motors, gears, friction and sensors are written here (`joints.c`); no line is shared with the project.
`BenchReal` puts such an arm behind the loop's `Arm`, in lock-step.
"""

from support.reality.arm import RealArm, State
from support.reality.bench import BenchReal
from support.reality.differences import Differences
from support.reality.kinds import KINDS, Kind, kind_of

__all__ = ["KINDS", "BenchReal", "Differences", "Kind", "RealArm", "State", "kind_of"]
