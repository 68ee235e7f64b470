"""Small mechanisms as URDF bytes, and what check says of them."""

from __future__ import annotations

import pytest

from diffpbd.codegen.description.check.validate import check
from diffpbd.codegen.description.front.urdf import read_urdf
from diffpbd.codegen.description.report import DescriptionError

TENSOR = '<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.015"/>'
BODY = f'<inertial><mass value="1"/>{TENSOR}</inertial>'
LIMIT = '<limit lower="-1" upper="1" effort="5" velocity="2"/>'


def link(name: str, body: str = BODY) -> str:
    return f'<link name="{name}">{body}</link>'


def joint(name: str, parent: str, child: str, kind: str = "revolute", more: str = "", at: str = "0 0 1") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><origin xyz="{at}"/>'
        f'<parent link="{parent}"/><child link="{child}"/><axis xyz="0 1 0"/>{more or LIMIT}</joint>'
    )


def robot(*parts: str) -> bytes:
    return ('<robot name="made">' + "".join(parts) + "</robot>").encode()


def chain(*kinds: str) -> bytes:
    """Links a, b, c … with the joint types given: ja moves a."""
    names = ["base", *"abcdefgh"[: len(kinds)]]
    joints = [joint(f"j{c}", p, c, kind) for p, c, kind in zip(names, names[1:], kinds, strict=False)]
    return robot(*map(link, names), *joints)


def fault_codes(source: bytes, **options: object) -> set[str]:
    report = check(source, **options)
    if report.faults:
        with pytest.raises(DescriptionError):
            read_urdf(source, **options)
    return {fault.code for fault in report.faults}


def doubt_codes(source: bytes, **options: object) -> set[str]:
    report = check(source, **options)
    assert report.faults == ()
    return {doubt.code for doubt in report.doubts}
