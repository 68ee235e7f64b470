"""An arm of a hinge, a slide along it and a hinge that turns more than once round: two of the three joints have stops."""

from __future__ import annotations

from functools import cache
from typing import Any

from support.description.builders import BODY, TENSOR, joint, link, robot
from support.robots import CACHE, generated

from diffpbd.runtime import Robot, load


def source() -> bytes:
    wide = '<limit lower="-7" upper="7" effort="5" velocity="2"/>'
    body = f'<inertial><origin xyz="0.1 0.02 0.05"/><mass value="1.5"/>{TENSOR}</inertial>'
    return robot(
        link("base"), link("a", body), link("b", body), link("c", BODY),
        joint("swing", "base", "a"), joint("slide", "a", "b", "prismatic"), joint("wide", "b", "c", more=wide),
    )  # fmt: skip


@cache
def stopped_arm(**options: Any) -> Robot:
    """Generated with limits: every function and every published step, or as the options say."""
    folder = CACHE / "sources"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "stopped.urdf").write_bytes(source())
    return load(generated(str(folder / "stopped.urdf"), limits=True, **options))
