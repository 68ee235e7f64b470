"""Payload, tilted base, friction of the file and rotors through the derived functions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.described import Described

from diffpbd.codegen.description.geometry.rigid import rotation_from_rpy

TOLERANCE = 1e-9


def expected(folder: Path) -> Any:
    return json.loads((folder / "expected.json").read_text(encoding="utf-8"))


def compare(robot: Described, states: Any, alpha: dict[str, float] | None = None) -> None:
    for state in states:
        q, dq, ddq = state["q"], state["dq"], state["ddq"]
        for name, arguments, key in (
            ("inverse_dynamics", (q, dq, ddq), "tau_id"),
            ("gravity", (q,), "tau_gravity"),
            ("mass_matrix", (q,), "M"),
        ):
            found = robot(name, *arguments, alpha=alpha)
            np.testing.assert_allclose(found, np.squeeze(state[key]), rtol=0, atol=TOLERANCE)


def test_payload_is_attached_and_detached_at_run_time(shared: Path) -> None:
    folder = shared / "cases" / "P50-payload"
    numbers = expected(folder)
    written = json.loads((folder / "payload.json").read_text(encoding="utf-8"))
    robot = Described.of(folder / "payarm.urdf", tip=written["frame"])
    payload = {"payload.mass": written["mass"]}
    payload |= {f"payload.com.{k}": x for k, x in zip("xyz", written["com"], strict=True)}
    keys = ("xx", "xy", "xz", "yy", "yz", "zz")
    payload |= {f"payload.inertia.{k}": x for k, x in zip(keys, written["inertia_about_com"], strict=True)}
    compare(robot, numbers["without"])
    compare(robot, numbers["with_payload"], payload)
    bare = [robot("inverse_dynamics", s["q"], s["dq"], s["ddq"]) for s in numbers["without"]]
    detached = dict.fromkeys(payload, 0.0)
    again = [robot("inverse_dynamics", s["q"], s["dq"], s["ddq"], alpha=detached) for s in numbers["without"]]
    np.testing.assert_array_equal(again, bare)


def test_a_payload_of_no_mass_changes_no_bit_wherever_it_sits(shared: Path) -> None:
    robot = Described.of(shared / "cases" / "P50-payload" / "payarm.urdf", tip="tool0")
    state = ([0.3, -0.8], [0.4, 0.2], [1.0, -2.0])
    there = {"payload.com.x": 0.4, "payload.com.z": -0.1}
    np.testing.assert_array_equal(robot("inverse_dynamics", *state, alpha=there), robot("inverse_dynamics", *state))


def test_gravity_is_given_in_the_root_frame(shared: Path) -> None:
    folder = shared / "cases" / "P25-tilted-base"
    robot = Described.of(folder / "tilted.urdf")
    compare(robot, expected(folder)["states"])
    for state in expected(folder)["states"]:
        position, rotation = map(np.array, robot.functions["tip_pose"](state["q"], robot.alpha.defaults))
        np.testing.assert_allclose(position[:, 0], state["tip"]["p"], rtol=0, atol=TOLERANCE)
        np.testing.assert_allclose(rotation, state["tip"]["R"], rtol=0, atol=TOLERANCE)


def test_turning_gravity_is_turning_the_bolt(shared: Path, tmp_path: Path) -> None:
    tilted = shared / "cases" / "P25-tilted-base" / "tilted.urdf"
    text = tilted.read_text(encoding="utf-8").replace('rpy="0 1.2 0.4"', "")
    (tmp_path / "level.urdf").write_text(text, encoding="utf-8")
    turned = np.array(rotation_from_rpy((0.0, 1.2, 0.4))).T @ [0.0, 0.0, -9.81]
    gravity = {f"gravity.{k}": float(x) for k, x in zip("xyz", turned, strict=True)}
    level, bolt = Described.of(tmp_path / "level.urdf"), Described.of(tilted)
    state = ([0.4, -0.9], [0.3, 0.2], [1.1, -0.7])
    np.testing.assert_allclose(
        level("inverse_dynamics", *state, alpha=gravity), bolt("inverse_dynamics", *state), rtol=0, atol=1e-12
    )


def test_friction_of_the_file_only_on_request(shared: Path) -> None:
    folder = shared / "cases" / "P24-dynamics-tag"
    states = expected(folder)["states"]
    compare(Described.of(folder / "damped.urdf"), states)
    robot = Described.of(folder / "damped.urdf", friction="urdf")
    # The reference has viscous friction alone.
    viscous = {f"friction.coulomb.{joint.name}": 0.0 for joint in robot.robot.joints}
    for state in states:
        found = robot("inverse_dynamics", state["q"], state["dq"], state["ddq"], alpha=viscous)
        np.testing.assert_allclose(found, state["tau_id_with_viscous"], rtol=0, atol=TOLERANCE)
        both = robot("inverse_dynamics", state["q"], state["dq"], state["ddq"])
        coulomb = [joint.friction for joint in robot.robot.joints] * np.tanh(np.array(state["dq"]) / 0.01)
        np.testing.assert_allclose(both - found, coulomb, rtol=0, atol=1e-12)


def test_rotors_add_to_the_diagonal(shared: Path) -> None:
    robot = Described.of(shared / "cases" / "P24-dynamics-tag" / "damped.urdf")
    rotors = {"rotor_inertia.j1": 0.3, "rotor_inertia.j2": 0.05}
    q, dq, ddq = [0.4, -0.9], [0.3, 0.2], [1.1, -0.7]
    difference = robot("inverse_dynamics", q, dq, ddq, alpha=rotors) - robot("inverse_dynamics", q, dq, ddq)
    np.testing.assert_allclose(difference, [0.3 * 1.1, 0.05 * -0.7], rtol=0, atol=1e-13)
    difference = robot("mass_matrix", q, alpha=rotors) - robot("mass_matrix", q)
    np.testing.assert_allclose(difference, np.diag([0.3, 0.05]), rtol=0, atol=1e-15)
    torque = robot("inverse_dynamics", q, dq, ddq, alpha=rotors)
    back = robot("forward_dynamics", q, dq, torque, alpha=rotors)
    np.testing.assert_allclose(back, ddq, rtol=0, atol=1e-12)
    kinetic = robot.functions["energy"](q, dq, robot.alpha.vector(rotors))[0]
    bare = robot.functions["energy"](q, dq, robot.alpha.defaults)[0]
    assert float(kinetic - bare) == pytest.approx(0.5 * (0.3 * 0.09 + 0.05 * 0.04), abs=1e-14)
