"""Damaged descriptions: no traceback, no hang, no massless surprise, and no number but the file's own."""

from __future__ import annotations

import math
import time
from xml.etree import ElementTree

import numpy as np
import pytest
from description.mutations import mutated
from description.random_trees import random_urdf
from description.reference import inverse_dynamics
from hypothesis import given
from hypothesis import strategies as st

from diffpbd.codegen.description.report import DescriptionError, Report
from diffpbd.codegen.description.resolve import ROBOTS
from diffpbd.codegen.description.robot import Robot
from diffpbd.codegen.description.singular import NEGLIGIBLE_MASS
from diffpbd.codegen.description.urdf import read_urdf
from diffpbd.codegen.description.validate import examine

SLOWEST = 5.0  # [s] an answer takes milliseconds; a busy machine gets its margin

SHIPPED = [path.read_text(encoding="utf-8") for path in sorted(ROBOTS.glob("*.urdf"))]
# Smaller files are hit in more places.
SOURCES = [*SHIPPED, *(random_urdf(seed, n_links=5) for seed in range(10))]


def look(content: bytes) -> Report:
    started = time.monotonic()
    report, robot = examine(content)
    assert time.monotonic() - started < SLOWEST
    assert (robot is None) == bool(report.faults)
    for finding in (*report.faults, *report.doubts):
        assert finding.message.isprintable()
    report.text().encode()
    report.json().encode()
    if robot is None:
        with pytest.raises(DescriptionError):
            read_urdf(content)
    else:
        plausible(robot, report)
        as_written(robot, report, content)
    return report


def plausible(robot: Robot, report: Report) -> None:
    """Every number finite, nothing weightless that is not named, a tree in order, torques that exist."""
    assert robot.n >= 1
    named = {doubt.links[0] for doubt in report.doubts if doubt.code in ("singular", "massless")}
    for i, (link, joint) in enumerate(zip(robot.links, robot.joints, strict=True)):
        assert -1 <= joint.parent < i
        assert link.inertial.mass >= 0.0
        assert link.inertial.mass > NEGLIGIBLE_MASS or link.name in named
        body = [link.inertial.mass, *link.inertial.com, *(x for row in link.inertial.inertia for x in row)]
        place = [*joint.translation, *(x for row in joint.rotation for x in row)]
        assert all(map(math.isfinite, (*body, *place, joint.damping, joint.friction)))
        assert math.hypot(*joint.axis) == pytest.approx(1.0, abs=1e-12)
        rotation = np.array(joint.rotation)
        np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), rtol=0, atol=1e-12)
        for bound in (joint.lower, joint.upper, joint.velocity, joint.effort):
            assert bound is None or math.isfinite(bound)
    assert np.isfinite(inverse_dynamics(robot, *np.full((3, robot.n), 0.3))).all()


def as_written(robot: Robot, report: Report, content: bytes) -> None:
    """Masses and axes against a second reader that knows nothing of ours."""
    try:
        root = ElementTree.fromstring(content)
    except ElementTree.ParseError:  # expat knows the names of XML 1.0's fourth edition, libxml2 the fifth's
        return
    space = root.tag[: root.tag.find("}") + 1]

    def number(element: ElementTree.Element | None, *path: str) -> float:
        for tag in path[:-1]:
            element = None if element is None else element.find(space + tag)
        return 0.0 if element is None else float(element.attrib[path[-1]])

    masses = {
        link.attrib["name"]: number(link, "inertial", "mass", "value")
        for link in root.findall(space + "link")
    }
    assert report.total_mass == pytest.approx(sum(masses.values()), rel=1e-12)
    for link in robot.links:
        written = math.fsum(masses[name] for name in (link.name, *link.merged))
        assert link.inertial.mass == pytest.approx(written, rel=1e-12, abs=1e-300)
    joints = {joint.attrib["name"]: joint for joint in root.findall(space + "joint")}
    for joint in robot.joints:
        element = joints[joint.name].find(space + "axis")
        axis = np.array([float(x) for x in ("1 0 0" if element is None else element.attrib["xyz"]).split()])
        np.testing.assert_allclose(joint.axis, axis / np.linalg.norm(axis), rtol=0, atol=1e-12)


def fuzz(seeds: range) -> tuple[int, int]:
    accepted = 0
    for seed in seeds:
        content = mutated(SOURCES[seed % len(SOURCES)], seed)
        try:
            accepted += not look(content).faults
        except BaseException as error:  # whatever it is, say which input it was
            raise AssertionError(f"seed {seed}: {content[:3000]!r}") from error
    return accepted, len(seeds)


def test_mutated_descriptions() -> None:
    accepted, tried = fuzz(range(400))
    assert 0.05 < accepted / tried < 0.95, "the damage is too weak or too strong to test anything"


@pytest.mark.soak
def test_mutated_descriptions_20_000() -> None:
    accepted, tried = fuzz(range(1000, 21_000))
    print(f"{tried} damaged descriptions: {accepted} accepted, {tried - accepted} refused by name")


@given(st.binary(max_size=300))
def test_any_bytes(content: bytes) -> None:
    look(content)


@given(st.text(max_size=300))
def test_any_text_inside(text: str) -> None:
    look(f'<robot name="x">{text}</robot>'.encode("utf-8", "surrogatepass"))


ESCAPED = st.text(max_size=12).map(
    lambda text: text.translate({ord("<"): "&lt;", ord("&"): "&amp;", ord('"'): "&quot;"})
)
NUMBERISH = st.one_of(
    st.floats().map(repr), st.integers().map(str), ESCAPED, st.sampled_from(["1 2 3", "0 0 1", "1,5", "-0.0"])
)


@given(
    st.lists(
        st.tuples(st.sampled_from(["mass", "inertia", "origin", "axis", "limit"]), NUMBERISH), max_size=6
    )
)
def test_any_numbers(changes: list[tuple[str, str]]) -> None:
    """A plain arm in which some attribute of some element is anything at all."""
    text = SHIPPED[-2]
    for at, (tag, value) in enumerate(changes):
        parts = text.split(f"<{tag} ")
        if len(parts) > 1:
            index = 1 + at % (len(parts) - 1)
            head, _, tail = parts[index].partition('="')
            parts[index] = f'{head}="{value}"{tail[tail.find(chr(34)) + 1 :]}'
        text = f"<{tag} ".join(parts)
    look(text.encode("utf-8", "surrogatepass"))
