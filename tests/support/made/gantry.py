"""A gantry: slides before hinges."""

from __future__ import annotations

from support.description.builders import BODY, joint, link, robot


def gantry() -> bytes:
    """Two slides from the world, one on the other, and a hinge; another slide stands on the world beside them."""
    return robot(
        link("base"), *(link(k, BODY.replace("<mass", '<origin xyz="0.1 0.2 0.3"/><mass')) for k in "abcd"),
        joint("ja", "base", "a", "prismatic", at="0.1 0.2 0.3"), joint("jb", "a", "b", "prismatic", at="0.3 0 0.1"),
        joint("jc", "b", "c", at="0 0.1 0.2"), joint("jd", "base", "d", "prismatic"),
    ).replace(b'xyz="0.3 0 0.1"', b'xyz="0.3 0 0.1" rpy="1.57079632679 0.3 0"')  # fmt: skip
