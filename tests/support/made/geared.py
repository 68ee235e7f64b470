"""Joints that follow others by gears."""

from __future__ import annotations

from support.description.builders import LIMIT, TENSOR, joint, link, robot

RATIO, SHIFT = -0.5, 0.3


def source(mimics: bool) -> bytes:
    """An arm of two hinges with a hand like Panda's: two fingers that slide against each other, the second as the first; and on
    the arm a knuckle that turns back half as far as the elbow, from 0.3 rad."""
    body = f'<inertial><origin xyz="0.02 0.01 0.05"/><mass value="0.8"/>{TENSOR}</inertial>'
    finger = LIMIT + '<mimic joint="jl"/>' * mimics
    knuckle = LIMIT + f'<mimic joint="je" multiplier="{RATIO}" offset="{SHIFT}"/>' * mimics
    made = robot(
        *(link(name, body if name != "base" else "") for name in ("base", "arm", "fore", "left", "right", "knuckle")),
        joint("js", "base", "arm"), joint("je", "arm", "fore", at="0 0.1 0.4"),
        joint("jl", "fore", "left", "prismatic", at="0.05 0 0.2"),
        joint("jr", "fore", "right", "prismatic", finger, at="-0.05 0 0.2"),
        joint("jk", "arm", "knuckle", more=knuckle, at="0.1 0.2 0.3"),
    ).decode()  # fmt: skip
    for at, rpy in (("0 0.1 0.4", "0.4 0 0.7"), ("-0.05 0 0.2", "0 0 3.14159"), ("0.1 0.2 0.3", "0.9 0.2 -0.4")):
        made = made.replace(f'xyz="{at}"/>', f'xyz="{at}" rpy="{rpy}"/>')
    return made.encode()


TIPS = ["left", "right", "knuckle"]
