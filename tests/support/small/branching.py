"""A small tree with every kind of joint."""

from __future__ import annotations

from support.description.builders import BODY, TENSOR, joint, link, robot


def branching() -> bytes:
    """A hinge that carries two branches, a slide and a hinge with a tool bolted askew on it, and a hinge; no two axes alike."""
    body = f'<inertial><origin xyz="0.1 0.02 0.05"/><mass value="1.5"/>{TENSOR}</inertial>'
    place = '<origin xyz="0.1 -0.2 0.3" rpy="0.4 0.5 0.6"/>'
    tool = f'<joint name="bolt" type="fixed">{place}<parent link="c"/><child link="tool"/></joint>'
    made = robot(
        link("base"), link("a", body), link("b", body), link("c", BODY), link("d", body), '<link name="tool"/>',
        joint("ja", "base", "a"), joint("jb", "a", "b", "prismatic", at="0.1 0.2 0.3"), joint("jc", "b", "c", at="0 0.1 0.2"),
        tool, joint("jd", "a", "d", at="-0.2 0.1 0"),
    ).decode()  # fmt: skip
    for at, rpy in (("0.1 0.2 0.3", "0.3 -0.8 0.2"), ("0 0.1 0.2", "0.9 0.4 -0.7"), ("-0.2 0.1 0", "-1.1 0.5 0.6")):
        made = made.replace(f'xyz="{at}"/>', f'xyz="{at}" rpy="{rpy}"/>')
    return made.encode()
