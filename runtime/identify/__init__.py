"""Parameters of alpha from recordings.

    samples = process("run", read_log("run.csv"), Processing())
    found = identify(robot, samples, ["friction", "spring"], settings=Settings(form="torque"))
    robot.alpha.vector(found.parameters)

`identify` fits what `fit` names (`select` says which entries of alpha those are) in the form that `Settings` name: torques,
shooting, simultaneous or simulated. `Identification` holds estimates with deviations, what is lost, and errors; `to_json` is
params.json. `read_recordings` reads logs as `Wanted`, `unknown_torques` and `write_torques` are for torques that were not
recorded, `workers` for more than one process; `with_inertials` is a robot with inertias in alpha that its code has as
numbers; `implausible` holds a result against the description; `minimise` is least squares by IPOPT.
"""

from diffpbd.runtime.identify.columns.bodies import PRIOR
from diffpbd.runtime.identify.contact.toss_files import Toss, parted, read_tosses
from diffpbd.runtime.identify.contact.tosses import fit_tosses
from diffpbd.runtime.identify.doors.forms import identify
from diffpbd.runtime.identify.motion.least_squares import Condensation, minimise
from diffpbd.runtime.identify.motion.lengths import of_lengths
from diffpbd.runtime.identify.motion.torques import unknown_torques, write_torques
from diffpbd.runtime.identify.result.plausibility import implausible
from diffpbd.runtime.identify.result.provenance import provenance, repeated
from diffpbd.runtime.identify.result.result import Identification
from diffpbd.runtime.identify.settings.recordings import Wanted, read_recordings, samples_of
from diffpbd.runtime.identify.settings.selection import in_contact, select
from diffpbd.runtime.identify.settings.settings import FORMS, FRICTION_MODELS, LOSSES, RESIDUALS, STANDSTILL, Settings
from diffpbd.runtime.identify.settings.standin import with_inertials
from diffpbd.runtime.identify.settings.starting import starting_point
from diffpbd.runtime.identify.settings.workers import Map, one_by_one, workers

__all__ = [
    "FORMS", "FRICTION_MODELS", "LOSSES", "PRIOR", "RESIDUALS", "STANDSTILL", "Condensation", "Identification", "Map",
    "Settings", "Toss", "Wanted", "fit_tosses",
    "identify", "implausible", "in_contact", "minimise", "of_lengths", "one_by_one", "parted", "provenance",
    "read_recordings", "read_tosses", "repeated", "samples_of", "select", "starting_point",
    "unknown_torques", "with_inertials", "workers", "write_torques",
]  # fmt: skip
