"""Controllers against physics that is not ours: MuJoCo's arm, a tip's path through joint space, a loop around both.

It lies in the runtime and not in benchmarks/, because commands that a user runs from a wheel need it; MuJoCo is imported
when a plant is made, so nothing else needs it installed.
"""

from diffpbd.runtime.closed_loop.plant import Measurement, MujocoPlant, PlantFacts
from diffpbd.runtime.closed_loop.reference import Reference, circle
from diffpbd.runtime.closed_loop.tracking import ComputedTorque, Track, track

__all__ = [
    "ComputedTorque", "Measurement", "MujocoPlant", "PlantFacts", "Reference", "Track", "circle", "track",
]  # fmt: skip
