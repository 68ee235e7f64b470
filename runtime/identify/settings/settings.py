"""How an identification is done: form, prior, loss, starts, and what the forms along trajectories add."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from diffpbd.runtime.base.errors import InputError, arg
from diffpbd.runtime.base.options import expect, option
from diffpbd.runtime.identify.columns.bodies import PRIOR, check_prior
from diffpbd.runtime.identify.settings.workers import Map, one_by_one

__all__ = ["FORMS", "FRICTION_MODELS", "LOSSES", "RESIDUALS", "STANDSTILL", "Settings"]

FORMS = ("torque", "shooting", "simultaneous", "didim")
LOSSES = ("squares", "huber")
STANDSTILL = ("keep", "auto")
FRICTION_MODELS = ("plain", "auto", "dahl")
RESIDUALS = ("auto", "position", "torque")
MOST_STARTS = 1000
MOST_GAIN = 1e9
"""[N·m/rad, N·m·s/rad] Of a controller: stiffer than any link."""


@dataclass(frozen=True)
class Settings:
    """`prior` is the weight of the inertials' pull to their description.

    Of the torque form alone: `loss`, whether samples near `standstill` are kept or the recordings tell, whether
    friction has the law that `fit` names or the recordings tell (`friction_model`), what is known of the links' masses
    (`total_mass` with `total_mass_sigma` [kg], `symmetric`), whether `essential` base parameters are sought, the number of
    `starts`, the frequency [Hz] below which `instruments` are made, and `cross_validate` (once more without each recording);
    starts and recordings are spread by `spread`. Of
    shooting: whether windows are tied (`continuity`). Of the simultaneous form:
    deviations [N·m or N] of readings by joint in `torques`, infinite where they are not used, zero or not named where the
    torque is known; without it those of all joints are unknown, near their readings. `residual` says what is compared there:
    positions and rates of the generated step, the torques that a trajectory near the positions asks for, or (`auto`) the former
    where recordings follow the step as simulated ones do.
    """

    form: str = option("The formulation.", FORMS[0], choices=FORMS)
    prior: float = option(
        f"Weight of the prior that keeps inertials near the description ({PRIOR:g}).", PRIOR, metavar="W"
    )
    loss: str = option("With huber outliers count less (torque form).", LOSSES[0], choices=LOSSES)
    starts: int = option("Solve from N starts, keep the best (1; torque form).", 1, span=(1, MOST_STARTS), metavar="N")
    cross_validate: bool = option(
        "Also fit without each recording in turn and test on it (torque form).", False, flag="--leave-one-out"
    )
    continuity: bool = option("Shooting: each window begins where the one before ended.", False)
    torques: Mapping[str, float] | None = None
    spread: Map = one_by_one
    standstill: str = option(
        "Samples of joints that hardly move: kept, or chosen by cross-validation (torque form).", STANDSTILL[0],
        choices=STANDSTILL,
    )  # fmt: skip
    friction_model: str = option(
        "Law of friction by joint: viscous and Coulomb's, or chosen by cross-validation with asymmetry and Stribeck's part "
        "(auto) or with memory (dahl); torque form.", FRICTION_MODELS[0], choices=FRICTION_MODELS,
    )  # fmt: skip
    instruments: float | None = option(
        "Instrumental variables: columns of the motion by positions alone below this frequency; tests whether noise of the "
        "motion biases least squares (torque form).", None, span=(0.01, 1e5), unit="Hz", metavar="HZ",
    )  # fmt: skip
    essential: bool = option(
        "Also find the base parameters that matter, by backward elimination with an F-test (torque form).", False
    )
    reference: tuple[str, ...] = option(
        "Didim: commanded positions of each LOG, then of each of --validate: a table with time, q_<joint>, and if known "
        "dq_<joint> and added torques tau_<joint>; repeatable.", (), metavar="FILE", many=True,
    )  # fmt: skip
    gains: Mapping[str, tuple[float, float]] = option(
        "Didim: stiffness and damping of the controller [N·m/rad, N·m·s/rad]; without it a stiff one stands in.",
        make=dict, metavar="KP:KD|JOINT=KP:KD,…", parse=lambda text: _gains(text),
    )  # fmt: skip
    total_mass: float | None = option(
        "Mass of all links that move, as a scale says, where inertials are fitted (torque form).", None,
        span=(1e-6, 1e6), unit="kg", metavar="KG",
    )  # fmt: skip
    total_mass_sigma: float = option(
        "Standard deviation of --total-mass [kg]; without it the sum is exact.",
        0.0,
        span=(0.0, 1e6),
        unit="kg",
        metavar="KG",
    )
    symmetric: tuple[str, ...] = option(
        "Plane of symmetry of a link, such as forearm:xz of its frame, where inertials are fitted; repeatable (torque form).",
        (), metavar="LINK:PLANE", many=True,
    )  # fmt: skip
    residual: str = option(
        "Simultaneous: compare positions of the step (simulated logs) or torques (physical ones); auto tells them apart.",
        RESIDUALS[0], choices=RESIDUALS,
    )  # fmt: skip

    def __post_init__(self) -> None:
        """Refuses what is no form, loss or weight, and options that belong to another form."""
        expect(self)
        check_prior(self.prior)
        for word, given, form in (
            (arg.cross_validate, self.cross_validate, "torque"),
            (arg.loss("huber"), self.huber, "torque"),
            (arg.standstill("auto"), self.standstill != STANDSTILL[0], "torque"),
            (arg.friction_model(self.friction_model), self.friction_model != FRICTION_MODELS[0], "torque"),
            (arg.instruments, self.instruments is not None, "torque"),
            (arg.essential, self.essential, "torque"),
            (arg.total_mass, self.total_mass is not None, "torque"),
            (arg.symmetric, bool(self.symmetric), "torque"),
            (arg.reference, bool(self.reference), "didim"),
            (arg.gains, bool(self.gains), "didim"),
            (arg.starts, self.starts > 1, "torque"),
            (arg.continuity, self.continuity, "shooting"),
            (arg.residual, self.residual != RESIDUALS[0], "simultaneous"),
            (arg.torques, self.torques is not None, "simultaneous"),
        ):
            if given and self.form != form:
                raise InputError(f"{word} is an option of {arg.form(form)}, found {arg.form(self.form)}.")
        for joint, pair in self.gains.items():
            if not all(0.0 <= gain <= MOST_GAIN for gain in pair):  # NaN too
                where = f"{arg.gains} {joint}".rstrip()
                raise InputError(f"{where}: expected KP:KD from 0 to {MOST_GAIN:g}, found {pair[0]:g}:{pair[1]:g}.")
        if self.total_mass is None and self.total_mass_sigma:
            raise InputError(f"{arg.total_mass_sigma}: expected {arg.total_mass} beside it, whose deviation it is.")
        for name in ("symmetric", "reference"):
            if isinstance(given_words := getattr(self, name), str):
                object.__setattr__(self, name, tuple(given_words.split(",")))

    @property
    def chooses(self) -> bool:
        """Whether the recordings tell what the simultaneous form compares."""
        return self.residual == RESIDUALS[0] and self.torques is None

    @property
    def huber(self) -> bool:
        """Whether residuals beyond a few deviations count linearly."""
        return self.loss == LOSSES[1]


def _gains(text: str | None) -> dict[str, tuple[float, float]]:
    """KP:KD, or JOINT=KP:KD,…, by joint; by "" for all."""
    found: dict[str, tuple[float, float]] = {}
    for part in () if text is None else text.split(","):
        joint, _, pair = part.rpartition("=")
        stiff, _, damping = pair.partition(":")
        try:
            found[joint.strip()] = float(stiff), float(damping)
        except ValueError:
            raise ValueError(f"expected KP:KD or JOINT=KP:KD,…, found {text!r}.") from None
    return found
