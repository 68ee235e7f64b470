"""How an identification is done: form, prior, loss, starts, and what the forms along trajectories add."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.identify.bodies import PRIOR, check_prior
from diffpbd.runtime.identify.workers import Map, one_by_one

__all__ = ["FORMS", "FRICTION_MODELS", "LOSSES", "RESIDUALS", "STANDSTILL", "Settings"]

FORMS = ("torque", "shooting", "simultaneous")
LOSSES = ("squares", "huber")
STANDSTILL = ("keep", "auto")
FRICTION_MODELS = ("plain", "auto")
RESIDUALS = ("auto", "position", "torque")


@dataclass(frozen=True)
class Settings:
    """`prior` is the weight of the inertials' pull to their description.

    Of the torque form alone: `loss`, whether samples near `standstill` are kept or the recordings tell, whether
    friction has the law that `fit` names or the recordings tell (`friction_model`), the number of
    `starts`, and `cross_validate` (once more without each recording); starts and recordings are spread by `spread`. Of
    shooting: whether windows are tied (`continuity`). Of the simultaneous form:
    deviations [N·m or N] of readings by joint in `torques`, infinite where they are not used, zero or not named where the
    torque is known; without it those of all joints are unknown, near their readings. `residual` says what is compared there:
    positions and rates of the generated step, the torques that a trajectory near the positions asks for, or (`auto`) the former
    where recordings follow the step as simulated ones do.
    """

    form: str = FORMS[0]
    prior: float = PRIOR
    loss: str = LOSSES[0]
    starts: int = 1
    cross_validate: bool = False
    continuity: bool = False
    torques: Mapping[str, float] | None = None
    spread: Map = one_by_one
    standstill: str = STANDSTILL[0]
    friction_model: str = FRICTION_MODELS[0]
    residual: str = RESIDUALS[0]

    def __post_init__(self) -> None:
        """Refuses what is no form, loss or weight, and options that belong to another form."""
        check_prior(self.prior)
        for option, value, known in (
            ("--form", self.form, FORMS),
            ("--loss", self.loss, LOSSES),
            ("--standstill", self.standstill, STANDSTILL),
            ("--friction-model", self.friction_model, FRICTION_MODELS),
            ("--residual", self.residual, RESIDUALS),
        ):
            if value not in known:
                raise InputError(f"{option}: expected {' or '.join(known)}, found {value!r}.")
        for option, given, form in (
            ("--leave-one-out", self.cross_validate, "torque"),
            ("--loss huber", self.huber, "torque"),
            ("--standstill auto", self.standstill != STANDSTILL[0], "torque"),
            ("--friction-model auto", self.friction_model != FRICTION_MODELS[0], "torque"),
            ("--starts", self.starts > 1, "torque"),
            ("--continuity", self.continuity, "shooting"),
            ("--residual", self.residual != RESIDUALS[0], "simultaneous"),
            ("--unknown-torque", self.torques is not None, "simultaneous"),
        ):
            if given and self.form != form:
                raise InputError(f"{option} is an option of --form {form}, found --form {self.form}.")

    @property
    def chooses(self) -> bool:
        """Whether the recordings tell what the simultaneous form compares."""
        return self.residual == RESIDUALS[0] and self.torques is None

    @property
    def huber(self) -> bool:
        """Whether residuals beyond a few deviations count linearly."""
        return self.loss == LOSSES[1]
