"""Motors of an MJCF: MuJoCo, driven to the ends of every control, says what each joint can get."""

from __future__ import annotations

import re
from pathlib import Path

import mujoco
import numpy as np
import pytest

from diffpbd.codegen.description.check.validate import check
from diffpbd.codegen.description.front.resolve import read_doubted, resolve


def reached(path: Path) -> np.ndarray:
    """The least and the largest torque of every joint (n, 2) [N·m] that MuJoCo gives at random controls and their ends."""
    model = mujoco.MjModel.from_xml_path(str(path))
    data, rng = mujoco.MjData(model), np.random.default_rng(1)
    found = []
    for k in range(400):
        ends = rng.integers(0, 2, model.nu) if k % 2 else rng.uniform(0, 1, model.nu)
        low, high = np.where(model.actuator_ctrllimited[:, None], model.actuator_ctrlrange, [-99.0, 99.0]).T
        data.ctrl[:] = low + (high - low) * ends
        mujoco.mj_forward(model, data)
        found.append(data.qfrc_actuator.copy())
    return np.array([np.min(found, axis=0), np.max(found, axis=0)]).T


def test_efforts_are_what_mujoco_reaches_in_both_directions(shared: Path) -> None:
    path = shared / "cases" / "Q04-motor-gear-and-ranges" / "arm.xml"
    recipe, robot = resolve(str(path))
    ends = reached(path)
    assert ends == pytest.approx(np.array([[-50, 50], [-30, 30], [-7, 7], [-8, 4], [-5, 5], [-12, 12]]), abs=1e-12)
    assert [joint.effort for joint in robot.joints] == pytest.approx(np.min(np.abs(ends), axis=1), abs=1e-12)
    (doubt,) = [doubt for doubt in read_doubted(recipe)[1] if doubt.code == "effort"]
    assert doubt.joints == ("d",) and "from -8 to 4" in doubt.message and "here 4" in doubt.message


PAIR = """<mujoco><compiler angle="radian"/><worldbody><body><joint name="j1" {joint}/><geom size="0.1"/>
  <body pos="0 0 1"><joint name="j2"/><geom size="0.1"/></body></body></worldbody>{more}
  <actuator>{motors}</actuator></mujoco>"""


@pytest.mark.parametrize(
    ("motors", "joint", "more", "effort", "said"),
    [
        ('<motor joint="j1" gear="2" ctrlrange="0 4"/>', "", "", 8.0, "from 0 to 8.*act one way only"),
        ('<motor joint="j1" gear="-2" ctrlrange="1 4"/>', "", "", 8.0, "from -8 to -2.*act one way only"),
        ('<motor joint="j1" ctrlrange="-1 3"/><motor joint="j1" ctrlrange="-3 1"/>', "", "", 4.0, ""),
        ('<motor joint="j1" ctrlrange="-5 5" forcerange="-2 3"/>', "", "", 2.0, "from -2 to 3"),
        ('<motor joint="j1" ctrlrange="-5 5"/>', 'actuatorfrcrange="-2 6"', "", 2.0, "from -2 to 5"),
        (
            '<motor joint="j2" ctrlrange="-1 2"/>',
            "",
            '<equality><joint joint1="j2" joint2="j1" polycoef="0 -3 0 0 0"/></equality>',
            3.0,
            '"j1": its motors give from -6 to 3',
        ),
        ('<motor joint="j1" ctrlrange="-5 5.0000000001"/>', "", "", 5.0, ""),
        ('<motor joint="j1" ctrlrange="-5 5.00001"/>', "", "", 5.0, "from -5 to 5"),
    ],
)
def test_one_direction_weaker(motors: str, joint: str, more: str, effort: float, said: str, tmp_path: Path) -> None:
    path = tmp_path / "pair.xml"
    path.write_text(PAIR.format(motors=motors, joint=joint, more=more))
    assert resolve(str(path))[1].joints[0].effort == pytest.approx(effort)
    told = [doubt.message for doubt in check(path).doubts if doubt.code == "effort"]
    assert bool(told) is bool(said)
    assert not said or any(re.search(said, message) for message in told), told


@pytest.mark.parametrize("on", ["joint", "jointinparent"])
def test_what_turns_and_drags_behind_a_gear_is_the_joints(on: str, tmp_path: Path) -> None:
    path = tmp_path / "geared.xml"
    motors = f'<motor {on}="j1" gear="3" armature="0.2" damping="0.5"/><motor joint="j1" gear="-2" damping="0.1"/>'
    path.write_text(PAIR.format(motors=motors, joint='armature="0.05" damping="0.7" axis="0 1 0"', more=""))
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    data.qvel[0] = 1.5
    mujoco.mj_forward(model, data)
    joint = resolve(str(path))[1].joints[0]
    assert joint.damping * data.qvel[0] == pytest.approx(-data.qfrc_passive[0], rel=1e-14)
    plain = mujoco.MjModel.from_xml_string(
        path.read_text().replace('armature="0.2"', "").replace('armature="0.05"', "")
    )
    other = mujoco.MjData(plain)
    mujoco.mj_forward(plain, other)
    full, bare = np.zeros((2, 2)), np.zeros((2, 2))
    mujoco.mj_fullM(model, data, full)
    mujoco.mj_fullM(plain, other, bare)
    assert joint.rotor == pytest.approx((full - bare)[0, 0], rel=1e-12)


def test_what_turns_behind_a_tendon_is_refused_by_name() -> None:
    tendon = '<tendon><fixed name="t"><joint joint="j1" coef="1"/><joint joint="j2" coef="-1"/></fixed></tendon>'
    for words, what in (('armature="0.1"', "armature"), ('damping="0.1"', "damping")):
        text = PAIR.format(motors=f'<motor name="m" tendon="t" {words}/>', joint="", more=tendon)
        told = check(text.encode()).text()
        assert f'actuator "m" has {what}, which cannot be taken' in told
        assert not check(text.replace(words, "").encode()).faults
