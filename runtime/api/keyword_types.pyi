"""Keywords of what Python calls. Made by `python -m diffpbd.runtime.api.keywords`. Do not edit."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypedDict

import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.mpc.options import Backend

class GenerateOptions(TypedDict, total=False):
    base: str
    tip: str | Sequence[str]
    hold: str | Sequence[str]
    h: float
    integrator: str
    solver: str
    sweeps: int | Mapping[str, int]
    variants: str | Sequence[str]
    symbolic: str | Sequence[str]
    friction: str
    friction_law: str | Sequence[str]
    gravity: tuple[float, float, float]
    springs: str | Sequence[str]
    limits: bool
    wrench: str | Sequence[str]
    lever_springs: str | Sequence[str]
    element: str | Sequence[str]
    relaxation: float | str
    functions: str | Sequence[str]
    passive: str | Sequence[str]
    close: str | Sequence[str]
    ground: float
    cone: str
    contact_from_collision: str | Sequence[str]
    table: float
    sweep_order: str
    multiplier: str
    base_joint: str
    cuda: bool
    single: bool
    frames: str | Sequence[str]
    clearance: bool
    pairs: str | Sequence[str]
    obstacles: str | Sequence[str]

class ReadHow(TypedDict, total=False):
    rate: float | None
    columns: Mapping[str, str] | None
    torque: str | None
    topic: str | None
    degrees: bool
    time_unit: str
    unwrap: bool | None
    flip: str | Sequence[str]
    scale: Mapping[str, float]
    drive_gain: float | Mapping[str, float]
    derive: bool
    shift: Mapping[str, float]
    despike: bool
    sort: bool
    cut: tuple[tuple[str, float, float], ...]
    drift: Mapping[str, float]
    stretch: Mapping[str, float]

class IdentifyHow(TypedDict, total=False):
    rate: float | None
    columns: Mapping[str, str]
    torque: str | None
    topic: str | None
    accept: str | Sequence[str] | None
    degrees: bool
    time_unit: str
    unwrap: bool | None
    flip: str | Sequence[str]
    scale: Mapping[str, float]
    drive_gain: float | Mapping[str, float]
    derive: bool
    shift: Mapping[str, float]
    despike: bool
    sort: bool
    cut: tuple[tuple[str, float, float], ...]
    drift: Mapping[str, float]
    stretch: Mapping[str, float]
    cutoff: float | None
    trim: float
    bridge: float
    still: bool
    form: str
    prior: float
    loss: str
    starts: int
    cross_validate: bool
    continuity: bool
    torques: Mapping[str, float] | str | None
    standstill: str
    friction_model: str
    instruments: float | None
    essential: bool
    reference: str | Sequence[str]
    gains: Mapping[str, tuple[float, float]]
    total_mass: float | None
    total_mass_sigma: float
    symmetric: str | Sequence[str]
    residual: str
    jobs: int
    progress: Callable[[str], None] | None

class TorqueHow(TypedDict, total=False):
    loss: str
    start: str
    horizon: int
    weights: tuple[float, float, float] | None
    carry: bool
    optimizer: str
    friction: str

class ExciteHow(TypedDict, total=False):
    harmonics: int
    rate: float
    least_height: float | None
    margin: float
    acceleration: npt.ArrayLike | Mapping[str, float] | None
    table: float | None
    criterion: str
    clearance: float | None

class ApproachHow(TypedDict, total=False):
    speed: float
    profile: str
    acceleration: float | None
    jerk: float | None

class IkHow(TypedDict, total=False):
    frame: str | None
    position: npt.ArrayLike | None
    rotation: npt.ArrayLike | None
    rpy: npt.ArrayLike | None
    q0: npt.ArrayLike | None
    starts: int
    held: Sequence[str] | None
    clearance: float | None
    margin: float
    weights: npt.ArrayLike
    obstacles: Mapping[str, npt.ArrayLike]
    accept: Callable[[FloatArray], bool] | None

class MpcHow(TypedDict, total=False):
    backend: Backend
    programs: int
    iterations: int | None
    time_limit: float | None
    delay: int
    reuse: int
    price: tuple[float, float]
    disturbance: float | None
    transition: float
    clearance: float | None
    clearance_price: float | None
    clearance_hard: bool
