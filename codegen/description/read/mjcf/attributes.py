"""Every attribute of MJCF: read, harmless, or said. What MuJoCo's compiler works out counts as read: its numbers are taken.

Read are those too that a fault or doubt of their own judges, such as the stiffness of a tendon.
"""

from __future__ import annotations

from typing import Final

from diffpbd.codegen.description.read.unread import Format, Words, words

WHY: Final = (
    "Contacts, limits and equalities are solved without softness; --contact-from-collision chooses what collides; "
    "actuators' control laws are left to your controller"
)
"""End of the warning."""

_PLACE: Final = "pos quat axisangle euler xyaxes zaxis name class"
_SOFT: Final = "margin solimpfriction solimplimit solreffriction solreflimit"
_LIMITS: Final = "limited range actuatorfrclimited actuatorfrcrange"
_TENDON: Final = words(
    "armature class damping frictionloss name springyield stiffness",
    "group material rgba springlength user width",
    f"{_LIMITS} {_SOFT}",
)
_PAIR: Final = "adhesion condim friction gap margin solimp solref solreffriction"

_MOTOR_READ: Final = (
    "armature body class cranksite ctrllimited ctrlrange damping forcelimited forcerange gear joint "
    "jointinparent name refsite site "
    "slidersite tendon"
)
_MOTOR_HARMLESS: Final = "group inheritrange lengthrange user"
_LAWS: Final = {
    "general": "actdim actearly actlimited actrange biasprm cranklength dynprm ffrange input velrange",
    "motor": "cranklength",
    "position": "cranklength dampratio kp kv timeconst",
    "velocity": "cranklength kv",
    "intvelocity": "actlimited actrange cranklength dampratio kp kv",
    "orientation": "dampratio input kp kv",
    "pid": "cranklength dampratio ffrange imax input ki kp kv posrange slewmax velrange",
    "damper": "cranklength kv",
    "cylinder": "area bias cranklength diameter timeconst",
    "muscle": "cranklength force fpmax fvmax lmax lmin range scale tausmooth timeconst vmax",
    "adhesion": "gain",
    "dcmotor": "cogging controller cranklength inductance input lugre motorconst nominal resistance saturation thermal",
}
"""Attributes of an actuator's law, by element."""
_PLAIN: Final = {"general": " biastype dyntype gainprm gaintype"}

_ACTUATORS: Final[dict[str, Words]] = {
    tag: words(_MOTOR_READ + _PLAIN.get(tag, ""), _MOTOR_HARMLESS, f"delay interp nsample {law}")
    for tag, law in _LAWS.items()
}

_SWITCHED_ON: Final = ("enable",)
_SWITCHED_OFF: Final = ("disable",)

MJCF: Final = Format(
    elements={
        **_ACTUATORS,
        "mujoco": words("model"),
        "option": words(
            "density gravity viscosity",
            "ccd_iterations ccd_tolerance cone impratio integrator iterations jacobian ls_iterations ls_tolerance magnetic "
            "noslip_iterations noslip_tolerance o_friction o_margin o_solimp o_solref sdf_initpoints sdf_iterations "
            "sleep_tolerance solver timestep tolerance wind",
            "actuatorgroupdisable",
        ),
        "flag": words(
            "constraint damper equality frictionloss gravity passive spring",
            "autoreset diagexact energy eulerdamp filterparent fwdinv invdiscrete ipc island midphase multiccd "
            "nativeccd refsafe "
            "sensor sleep speculative warmstart",
            "actuation clampctrl contact limit override",
        ),
        "default": words("class"),
        "body": words(f"{_PLACE} childclass fuse gravcomp mocap", "simple sleep user"),
        "worldbody": words(f"{_PLACE} childclass", "sleep user"),
        "frame": words(f"{_PLACE} childclass"),
        "replicate": words(f"{_PLACE} childclass count offset sep prefix"),
        "attach": words("body frame model prefix"),
        "include": words("file prefix"),
        "joint": words(
            "actuatorfrclimited actuatorfrcrange armature axis class damping frictionloss limited name pos "
            "range ref springdamper "
            "springref springyield stiffness type",
            "group user",
            f"actuatorgravcomp {_SOFT}",
        ),
        "freejoint": words("align name", "group"),
        "geom": words(
            f"{_PLACE} conaffinity condim contype density fitscale friction fromto hfield mass mesh priority "
            "shellinertia size type",
            "castshadow fluidcoef fluidshape group material rgba user",
            "adhesion gap margin solimp solmix solref surfacevel",
        ),
        "site": words(f"{_PLACE} fromto mesh size type", "group material rgba user"),
        "spatial/site": words("site"),
        "spatial/geom": words("geom sidesite"),
        "pulley": words("divisor"),
        "pair": words("", "class name", f"{_PAIR} geom1 geom2"),
        "exclude": words("", "name", "body1 body2"),
        "tendon": _TENDON,
        "fixed": _TENDON,
        "spatial": _TENDON,
        "fixed/joint": words("coef joint"),
        "equality": words("active", "", "solimp solref"),
        "connect": words("active anchor body1 body2 class name site1 site2", "", "solimp solref"),
        "weld": words("active anchor body1 body2 class name relpose site1 site2", "", "solimp solref torquescale"),
        "equality/joint": words("active class joint1 joint2 name polycoef", "", "solimp solref"),
    },
    read=frozenset(
        (
            "compiler", "inertial", "asset/mesh", "default/mesh", "asset/model", "flexcomp", "deformable", "body/plugin",
            "actuator/plugin", "equality/tendon", "equality/flex", "equality/flexstrain",
        )
    ),
    harmless=frozenset(
        (
            "size", "statistic", "visual", "texture", "material", "hfield", "skin", "camera", "light",
            "extension", "geom/plugin",
            "sensor", "custom", "keyframe",
        )
    ),
    usual={"flag": _SWITCHED_ON, "flag.override": _SWITCHED_OFF},
)  # fmt: skip
"""All of it; flexible bodies, plugins and other equalities are refused."""
