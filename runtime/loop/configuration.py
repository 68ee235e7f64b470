"""A run's configuration as plain data, and the supervisor built from it, by the loop and by a replay."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray, or_else
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.control.law import Setup
from diffpbd.runtime.control.laws import LAWS, law_of
from diffpbd.runtime.control.ranges import expect_options
from diffpbd.runtime.folder.library import PORTABLE
from diffpbd.runtime.functions.friction import KINDS
from diffpbd.runtime.loop.clearance import expect_above, watched
from diffpbd.runtime.loop.motion import Laden, Motion
from diffpbd.runtime.loop.reflexes import ReflexSettings
from diffpbd.runtime.loop.supervisor import GravityModel, Settings, Supervisor
from diffpbd.runtime.model.clearance import expect_apart
from diffpbd.runtime.model.limits import Approach, Limits
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.model.statics import holding_torque, inertial_model

__all__ = [
    "Configuration",
    "gravity_model",
    "has_spring",
    "limits_of",
    "motion_model",
]

SCHEMA = 2
COM = "com.x com.y com.z"
INERTIA = "inertia.xx inertia.xy inertia.xz inertia.yy inertia.yz inertia.zz"
"""A payload's entries of alpha, the inertia's in the order of an upper triangle's rows."""
POSITION_MARGIN = 0.1
"""rad; zone before a joint limit in which torque towards the limit fades out."""
RATE_SHARE = 10.0
"""1/s; the torque rate allowed by default, as a share of the effort limit: full effort in 0.1 s."""


def limits_of(robot: Robot, *, torque_share: float = 1.0) -> Limits:
    """The limits of the description; `torque_share` (0 to 1] bounds the law's torque, gravity left out."""
    if not 0 < torque_share <= 1:
        raise InputError(f"The torque share must be above 0 and at most 1, found {torque_share}.")
    joints = robot.manifest.robot.joints
    for joint in joints:
        if joint.effort is None or joint.velocity is None:
            raise InputError(f"{joint.name} has no effort or no speed limit: it cannot be guarded.")
    own = robot.limits.expect_room(robot.joints)
    return Limits(
        own.lower, own.upper, own.speed, own.effort, torque_share * own.effort, RATE_SHARE * own.effort, POSITION_MARGIN
    )


def has_spring(robot: Robot, alpha: FloatArray) -> bool:
    """Whether some joint has a spring in alpha."""
    return any(alpha[k] > 0 for k in robot.alpha.stiffnesses(robot.manifest.elements))


def gravity_model(robot: Robot, alpha: FloatArray) -> GravityModel:
    """The torque [N·m] that holds the arm still at q: gravity less the joints' springs. Not thread-safe."""
    facts = robot.manifest.robot
    if facts.loops or facts.passive:
        return lambda q: holding_torque(robot, q, alpha)
    gravity, spring = robot.fixed("gravity", alpha), robot.fixed("spring_torque", alpha)
    return lambda q: gravity(q) - spring(q)


def tip_load(robot: Robot, alpha: FloatArray) -> GravityModel:
    """The torque [N·m] that holds one kilogram more at the tip at q."""
    heavier = alpha.copy()
    heavier[robot.alpha.index("payload.mass")] += 1.0
    return lambda q: np.asarray(robot.gravity(q, heavier) - robot.gravity(q, alpha), dtype=np.float64)


def motion_model(robot: Robot, alpha: FloatArray) -> Motion:
    """Torques of a motion with the friction of alpha and without, and of the links alone."""
    smooth = _without(robot, alpha, KINDS)
    inertial = inertial_model(robot, alpha)
    rigid = inertial_model(robot, smooth) if (smooth != alpha).any() else None
    if "mass_matrix" not in robot.functions:
        return Motion(inertial, rigid)
    links = _without(robot, smooth, ("rotor_inertia",))
    return Motion(
        inertial, rigid, robot.fixed("mass_matrix", smooth), lambda load: laden_links(robot, links, load)
    )  # fmt: skip


def _without(robot: Robot, alpha: FloatArray, kinds: Iterable[str]) -> FloatArray:
    """Alpha with the entries of these kinds zero."""
    left_out = [any(name.startswith(f"{kind}.") for kind in kinds) for name in robot.alpha.names]
    return np.where(left_out, 0.0, alpha)


def laden_links(robot: Robot, links: FloatArray, load: FloatArray) -> Laden:
    """The links with a point mass, its mass [kg] and place in the tip's frame [m], besides the payload of alpha."""
    alpha, names = links.copy(), robot.alpha
    com, inertia = ([names.index(f"payload.{word}") for word in words.split()] for words in (COM, INERTIA))
    before, (more, *place) = alpha[names.index("payload.mass")], load.tolist()
    apart, share = np.array(place) - alpha[com], more / (before + more) if more > 0.0 else 0.0
    alpha[names.index("payload.mass")] += more
    alpha[com] += share * apart
    alpha[inertia] += share * before * (apart @ apart * np.eye(3) - np.outer(apart, apart))[np.triu_indices(3)]
    return Laden(robot.fixed("inverse_dynamics", alpha), robot.fixed("mass_matrix", alpha))


_LIMIT_ARRAYS = ("lower", "upper", "speed", "effort", "law_effort", "torque_rate")


@dataclass(frozen=True)
class Configuration:
    """Everything that determines a run's commands besides the incoming states."""

    robot: str
    abi_hash: str
    joints: tuple[str, ...]
    controller: dict[str, Any]
    owner: GravityOwner
    alpha: FloatArray
    limits: Limits
    settings: Settings
    table: float | None = None
    """Height [m] over the description's root that the arm stays above."""
    instructions: str = PORTABLE
    """The run's instruction sets (`Robot.instructions`), on which rounding depends. Older logs used one kind only."""
    clearance: float | None = None
    """Least distance [m] of links from each other and from obstacles, of a robot that was generated with their shapes."""
    obstacles: Mapping[str, list[list[float]]] = field(default_factory=dict)
    """Rows by kind of what stands around the arm."""

    def __post_init__(self) -> None:
        law = LAWS.get(str(self.controller.get("name")))
        told = {f.name: f.default for f in fields(law) if f.name == "goal_profile"} if law else {}
        object.__setattr__(self, "controller", {**told, **self.controller})  # so that a log says it
        expect_options(self.controller, self.joints, self.limits)

    def to_json(self) -> dict[str, Any]:
        """Plain data; numbers are kept exactly, infinite ones as null."""
        limits: dict[str, Any] = {
            name: [float(value) if np.isfinite(value) else None for value in getattr(self.limits, name)]
            for name in _LIMIT_ARRAYS
        }
        limits["position_margin"] = self.limits.position_margin
        if self.limits.approach is not None:
            limits["approach"] = {name: values.tolist() for name, values in vars(self.limits.approach).items()}
        return {
            "schema": SCHEMA, "robot": self.robot, "abi_hash": self.abi_hash, "joints": list(self.joints),
            "controller": self.controller, "gravity_owner": self.owner.value, "alpha": self.alpha.tolist(),
            "limits": limits, "table": self.table, "clearance": self.clearance, "instructions": self.instructions,
            "obstacles": dict(self.obstacles),
            "settings": {
                "period": self.settings.period, "ramp": self.settings.ramp,
                "patience": self.settings.patience, "reflexes": vars(self.settings.reflexes),
            },
        }  # fmt: skip

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Configuration:
        """The configuration in a log."""
        try:
            if data["schema"] != SCHEMA:
                raise InputError(f"The log's configuration has schema {data['schema']}, expected {SCHEMA}.")
            controller = dict(data["controller"])
            if controller["name"] in LAWS and "goal_profile" not in controller:
                controller |= LAWS[controller["name"]].older
            limits = dict(data["limits"])
            for name in _LIMIT_ARRAYS:
                missing = -np.inf if name == "lower" else np.inf
                limits[name] = or_else(limits[name], missing)
            if "approach" in limits:
                limits["approach"] = Approach(**{k: np.array(v, float) for k, v in limits["approach"].items()})
            return cls(
                data["robot"], data["abi_hash"], tuple(data["joints"]), controller,
                GravityOwner(data["gravity_owner"]), np.array(data["alpha"], dtype=np.float64),
                Limits(**limits),
                Settings(**{**data["settings"], "reflexes": ReflexSettings(**data["settings"]["reflexes"])}),
                None if data["table"] is None else float(data["table"]), str(data.get("instructions", PORTABLE)),
                None if data.get("clearance") is None else float(data["clearance"]), dict(data.get("obstacles", {})),
            )  # fmt: skip
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"The log's configuration cannot be used: {error!r}.") from None

    def check_goals(self, robot: Robot) -> None:
        """An InputError if a goal or a reference [rad] violates the soft limits or touches the table or the arm itself:
        the run would stop."""
        margin = self.settings.reflexes.margin
        reference = self.controller.get("reference")
        rows = [self.controller.get("goal")] if reference is None else list(reference["q"])
        what = "goal" if reference is None else "reference"
        poses: list[FloatArray] = []
        for row in rows:
            if row is None:
                continue
            q = np.array([np.nan if angle is None else angle for angle in row], dtype=np.float64)
            beyond = self.limits.outside(q, margin)
            if (beyond > 0.0).any():
                k = int(np.nanargmax(beyond))
                low, high = self.limits.lower[k] + margin, self.limits.upper[k] - margin
                raise InputError(
                    f"The {what} of {self.joints[k]}, {q[k]:.3f} rad, is outside [{low:.3f}, {high:.3f}] rad, its limits "
                    f"less {margin:g} rad."
                )
            poses.append(q)
            expect_above(robot, self.alpha, self.table, [q], what)
        # Of a reference the nearest sample is named.
        expect_apart(robot, self.alpha, self.clearance, poses, what, self.obstacles)

    def supervisor(self, robot: Robot) -> Supervisor:
        """The supervisor, on a generated robot whose code must be the same."""
        if robot.manifest.abi_hash != self.abi_hash:
            raise InputError(
                f"{robot.name} in {robot.folder} is other code (hash {robot.manifest.abi_hash[:12]}) than "
                f"the configuration was made for ({self.abi_hash[:12]}): generate it, or use that folder."
            )
        setup = Setup(robot, self.alpha, self.limits, self.settings.period, self.obstacles)
        controller = law_of(self.controller).make(setup)
        model: GravityModel | None = getattr(controller, "gravity", None) or gravity_model(robot, self.alpha)
        if self.owner is GravityOwner.ROBOT:
            model = None
        supervisor = Supervisor(
            controller, self.limits, self.settings, owner=self.owner, gravity=model,
            motion=motion_model(robot, self.alpha), joints=self.joints,
            clearance=watched(robot, self.alpha, self.table, self.clearance, self.obstacles),
        )  # fmt: skip
        supervisor.beside.load = tip_load(robot, self.alpha)
        return supervisor
