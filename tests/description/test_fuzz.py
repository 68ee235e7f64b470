"""Damaged descriptions: no traceback, no hang, no massless surprise, and no number but the file's own."""

from __future__ import annotations

import math
import time
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.description.mutations import mutated
from support.description.random_trees import random_urdf
from support.description.reference import inverse_dynamics, poses

from diffpbd.codegen.description.check.validate import examine
from diffpbd.codegen.description.front.resolve import ROBOTS
from diffpbd.codegen.description.front.urdf import read_urdf
from diffpbd.codegen.description.report import DescriptionError, Report
from diffpbd.codegen.description.robot.robot import Robot
from diffpbd.codegen.description.robot.singular import NEGLIGIBLE_MASS

SLOWEST = 5.0  # [s] of work; an answer takes milliseconds

SHIPPED = [path.read_text(encoding="utf-8") for path in sorted(ROBOTS.glob("*.urdf"))]
# Smaller files are hit in more places.
SOURCES = [*SHIPPED, *(random_urdf(seed, n_links=5) for seed in range(10))]


def look(content: bytes) -> Report:
    started = time.process_time()
    report, robot = examine(content)
    assert time.process_time() - started < SLOWEST
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
    """Masses, places, mass moments and axes against a second reader that knows nothing of ours."""
    try:
        root = ElementTree.fromstring(content)
    except ElementTree.ParseError:  # expat knows the names of XML 1.0's fourth edition, libxml2 the fifth's
        return
    space = root.tag[: root.tag.find("}") + 1]
    links = {link.attrib["name"]: link for link in root.findall(f"{space}link")}
    joints = {joint.attrib["name"]: joint for joint in root.findall(f"{space}joint")}
    above = {_text(joint, f"{space}child", "link", ""): joint for joint in joints.values()}

    def place(name: str) -> np.ndarray:
        """4 x 4 pose of a link in the root's frame at zero position, from the tip's side."""
        pose = np.eye(4)
        while name in above:
            pose = _transform(above[name].find(f"{space}origin")) @ pose
            name = _text(above[name], f"{space}parent", "link", "")
        return pose

    def moments(names: tuple[str, ...]) -> np.ndarray:
        """Mass, m·c and inertia about the root's origin of several links together."""
        total = np.zeros((4, 4))
        for name in names:
            inertial = links[name].find(f"{space}inertial")
            if inertial is None:
                continue
            frame = place(name) @ _transform(inertial.find(f"{space}origin"))
            mass = float(_text(inertial, f"{space}mass", "value", "0"))
            element = inertial.find(f"{space}inertia")
            xx, xy, xz, yy, yz, zz = (float(element.attrib[key]) for key in INERTIA)
            tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            total += frame @ _pseudo_inertia(mass, np.zeros(3), tensor) @ frame.T
        return total

    masses = [moments((name,))[3, 3] for name in links]
    assert report.total_mass == pytest.approx(math.fsum(masses), rel=1e-12)
    for link, joint, (rotation, position) in zip(
        robot.links, robot.joints, poses(robot, np.zeros(robot.n)), strict=True
    ):
        frame = np.eye(4)
        frame[:3, :3], frame[:3, 3] = rotation, position
        assert_close(frame, place(link.name))
        body = link.inertial
        ours = frame @ _pseudo_inertia(body.mass, np.array(body.com), np.array(body.inertia)) @ frame.T
        assert_close(ours, moments((link.name, *link.merged)))
        axis = np.array([float(x) for x in _text(joints[joint.name], f"{space}axis", "xyz", "1 0 0").split()])
        assert_close(np.array(joint.axis), axis / np.linalg.norm(axis))


INERTIA = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def assert_close(found: np.ndarray, written: np.ndarray) -> None:
    """Equal but for rounding, which grows with the largest entry."""
    np.testing.assert_allclose(found, written, rtol=0, atol=1e-10 * max(1.0, float(np.abs(written).max())))


def _text(element: ElementTree.Element, tag: str, attribute: str, default: str) -> str:
    child = element.find(tag)
    return default if child is None else child.attrib.get(attribute, default)


def _transform(origin: ElementTree.Element | None) -> np.ndarray:
    """4 x 4 matrix of an origin element: elementary rotations multiplied out."""
    matrix = np.eye(4)
    if origin is not None:
        for axis, angle in enumerate(map(float, origin.attrib.get("rpy", "0 0 0").split())):
            turn, (i, j) = np.eye(3), ((1, 2), (2, 0), (0, 1))[axis]
            turn[[i, j], [i, j]] = math.cos(angle)
            turn[j, i] = math.sin(angle)
            turn[i, j] = -math.sin(angle)
            matrix[:3, :3] = turn @ matrix[:3, :3]
        matrix[:3, 3] = [float(x) for x in origin.attrib.get("xyz", "0 0 0").split()]
    return matrix


def _pseudo_inertia(mass: float, com: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    """4 x 4: second moments, first moments and mass; transforms as T J Tᵀ."""
    second = 0.5 * np.trace(inertia) * np.eye(3) - inertia + mass * np.outer(com, com)
    first = mass * com[:, None]
    return np.block([[second, first], [first.T, np.array([[mass]])]])


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


@given(st.lists(st.tuples(st.sampled_from(["mass", "inertia", "origin", "axis", "limit"]), NUMBERISH), max_size=6))
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
