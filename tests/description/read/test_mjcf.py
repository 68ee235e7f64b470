"""MJCF files: every number judged by MuJoCo on the same file, everything that cannot be taken by its name."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import mujoco
import numpy as np
import pytest

from benchmarks.mujoco_twin import Functions, Judge, differences
from diffpbd.codegen.description.check.validate import check
from diffpbd.codegen.description.front.resolve import read_doubted, read_robot, resolve
from diffpbd.codegen.description.read.mjcf.document import read_mjcf
from diffpbd.codegen.description.read.source import SourceError
from diffpbd.codegen.description.recipe.file import load_recipe
from diffpbd.codegen.description.recipe.recipe import Recipe, default_recipe
from diffpbd.codegen.description.report import DescriptionError, Report
from diffpbd.codegen.description.robot.robot import LoopType, Robot
from diffpbd.runtime.base.errors import InputError

BAR = 1e-12
BODY = '<inertial pos="0 0 0.1" mass="1" diaginertia="0.02 0.03 0.04"/>'

RICH = """
<mujoco model="rich">
  <compiler angle="degree" eulerseq="zyx" autolimits="true" balanceinertia="true" boundmass="0.01"/>
  <option gravity="0.3 -0.2 -3.7"/>
  <default>
    <joint armature="0.01" damping="0.2"/>
    <geom density="700"/>
    <default class="stiff"><joint stiffness="3" springref="20" armature="0.05" axis="1 2 2"/></default>
  </default>
  <asset>
    <material name="gone"/>
    <mesh name="wedge" vertex="0 0 0  0.2 0 0  0 0.1 0  0 0 0.3" inertia="exact"/>
  </asset>
  <worldbody>
    <light pos="0 0 1"/>
    <geom type="plane" size="1 1 1" material="gone"/>
    <body name="post" pos="0.1 0.2 0.3" euler="30 -20 10">
      <geom type="box" size="0.1 0.1 0.1"/>
      <frame pos="0 0 0.1" axisangle="0 1 0 25">
        <body name="arm" pos="0.05 0 0">
          <joint name="a" axis="0 0 1" pos="0.02 -0.01 0.03" ref="15" range="-90 120"/>
          <inertial pos="0.1 0 0.02" mass="1.3" fullinertia="0.02 0.03 0.025 0.001 -0.002 0.003"/>
          <body name="sled" xyaxes="0 1 0 -1 0.2 0" pos="0.3 0 0">
            <joint name="s" type="slide" axis="1 0 1" ref="0.1" range="-0.2 0.4" pos="1 2 3"/>
            <geom type="capsule" size="0.03" fromto="0 0 0 0.1 0.2 0.1"/>
            <geom type="mesh" mesh="wedge" pos="0.1 0 0" quat="1 1 0 0"/>
            <body name="wrist" zaxis="1 1 1" pos="0 0.1 0.1" childclass="stiff">
              <joint name="w1" axis="1 0 0" pos="0 0.01 0"/>
              <joint name="w2" type="slide" axis="0 1 0" stiffness="0" springref="0"/>
              <joint name="w3" ref="-40" pos="0.01 0 0.02"/>
              <inertial pos="0 0 0.1" quat="1 0.2 0.3 -0.1" mass="0.7" diaginertia="0.01 0.012 0.03"/>
              <geom type="sphere" size="5" mass="100"/>
              <body name="plate" pos="0 0 0.2" quat="0 1 0 0">
                <geom type="ellipsoid" size="0.1 0.05 0.02" mass="0.4"/>
                <site name="tool" pos="0.1 0.02 -0.03" euler="10 20 30"/>
              </body>
            </body>
          </body>
        </body>
      </frame>
    </body>
  </worldbody>
  <actuator>
    <motor joint="a" gear="50" ctrlrange="-2 2"/>
    <position joint="s" kp="10" forcerange="-30 30" gear="2"/>
    <motor joint="w1"/>
    <motor joint="w3" armature="0.002" gear="3"/>
  </actuator>
</mujoco>
"""


def written(text: str, folder: Path, name: str = "made") -> Path:
    path = folder / f"{name}.xml"
    path.write_text(text)
    return path


def tree(*bodies: str, more: str = "") -> str:
    return f'<mujoco><compiler angle="radian"/><worldbody>{"".join(bodies)}</worldbody>{more}</mujoco>'


def body(name: str, inside: str, at: str = "0 0 0.2") -> str:
    return f'<body name="{name}" pos="{at}">{BODY}{inside}</body>'


TWO = tree(body("one", '<joint name="j1" axis="0 1 0"/>' + body("two", '<joint name="j2" axis="1 0 0"/>')))


def robot_of(text: str, folder: Path, **options: object) -> tuple[Recipe, Robot]:
    return resolve(str(written(text, folder)), **options)


def faults(text: str) -> tuple[Report, str]:
    report = check(text.encode())
    assert report.faults, report.text()
    return report, "\n".join(fault.message for fault in report.faults)


def test_every_number_is_mujocos(tmp_path: Path) -> None:
    recipe, robot = robot_of(RICH, tmp_path, tip="tool")
    assert recipe.gravity == (0.3, -0.2, -3.7)
    assert [joint.name for joint in robot.joints] == ["a", "s", "w1", "w2", "w3"]
    worst = differences(Judge(RICH, robot), Functions(robot, recipe))
    assert max(worst.values()) < BAR, worst
    for name in ("wrist", "sled"):  # bodies keep their frames, wherever their joints are
        _, other = robot_of(RICH, tmp_path, tip=(name, "tool"))
        worst = differences(Judge(RICH, other), Functions(other, recipe), 1)
        assert max(worst["place"], worst["turn"]) < BAR, (name, worst)


def test_what_else_a_joint_has(tmp_path: Path) -> None:
    _, robot = robot_of(RICH, tmp_path)
    a, s, w1, w2, w3 = robot.joints
    assert (a.lower, a.upper) == pytest.approx((-np.pi / 2, np.pi / 1.5))
    assert (s.lower, s.upper, w1.lower, w1.upper) == (-0.2, 0.4, None, None)
    assert [joint.effort for joint in robot.joints] == [100.0, 60.0, None, None, None]
    assert [joint.rotor for joint in robot.joints] == pytest.approx([0.01, 0.01, 0.05, 0.05, 0.05 + 0.002 * 9])
    assert [joint.damping for joint in robot.joints] == [0.2] * 5
    assert [joint.stiffness for joint in robot.joints] == [0.0, 0.0, 3.0, 0.0, 3.0]
    assert [joint.rest for joint in robot.joints] == pytest.approx([0, 0, np.radians(20), 0, np.radians(20)])
    assert robot.passive == ("w2",)


def random_tree(seed: int) -> str:
    """Bodies one on another at random, some with several joints, geoms or welded children."""
    rng = np.random.default_rng(seed)

    def numbers(size: int, scale: float = 1.0) -> str:
        return " ".join(f"{x:.6f}" for x in rng.uniform(-scale, scale, size))

    def joint(k: int) -> str:
        kind = rng.choice(["hinge", "slide"])
        return f'<joint type="{kind}" axis="{numbers(3)}" pos="{numbers(3, 0.1)}" ref="{numbers(1)}" name="j{k}"/>'

    inside, count = "", 0
    for k in range(4):
        joints = "".join(joint(count + i) for i in range(int(rng.integers(0 if k else 1, 4))))
        count += joints.count("<joint")
        geom = f'<geom type="box" size="0.1 0.2 0.05" pos="{numbers(3, 0.1)}" quat="{numbers(4)}" mass="1.2"/>'
        branch = (
            f'<body name="x{k}" pos="{numbers(3)}" quat="{numbers(4)}"><geom size="0.1"/></body>'
            if rng.random() < 0.5
            else ""
        )
        inside = f'<body name="b{k}" pos="{numbers(3)}" quat="{numbers(4)}">{joints}{geom}{branch}{inside}</body>'
    return f'<mujoco><compiler angle="radian"/><worldbody>{inside}</worldbody></mujoco>'


@pytest.mark.parametrize("seed", range(3))
def test_random_trees(seed: int, tmp_path: Path) -> None:
    text = random_tree(seed)
    recipe, robot = robot_of(text, tmp_path)
    worst = differences(Judge(text, robot), Functions(robot, recipe), 2)
    assert max(worst.values()) < BAR, worst


def test_ball_is_three_hinges(tmp_path: Path) -> None:
    """Poses and kinetic energy of MuJoCo's quaternion at the same rotation and angular velocity."""
    text = tree(body("one", '<joint name="b" type="ball" pos="0.1 0.05 0" damping="0.3"/>', "0.3 0 0.2"))
    recipe, robot = robot_of(text, tmp_path)
    assert [joint.name for joint in robot.joints] == ["b.x", "b.y", "b.z"]
    functions, model = Functions(robot, recipe), mujoco.MjModel.from_xml_string(text)
    data, rng = mujoco.MjData(model), np.random.default_rng(1)
    for _ in range(5):
        p, pd = rng.uniform(-1.2, 1.2, 3), rng.uniform(-2, 2, 3)
        turns = [np.array([np.cos(a / 2), *(np.sin(a / 2) * e)]) for a, e in zip(p, np.eye(3), strict=True)]
        whole = np.array([1.0, 0, 0, 0])
        omega = np.zeros(3)
        for turn, axis, rate in zip(turns, np.eye(3), pd, strict=True):
            back, other = np.zeros(4), np.zeros(3)
            mujoco.mju_negQuat(back, turn)
            mujoco.mju_rotVecQuat(other, omega, back)  # into the axes after this turn
            omega = other + axis * rate
            product = np.zeros(4)
            mujoco.mju_mulQuat(product, whole, turn)
            whole = product
        data.qpos[:], data.qvel[:] = whole, omega
        mujoco.mj_forward(model, data)
        mujoco.mj_energyVel(model, data)
        np.testing.assert_allclose(functions("tip_pose", p)[0], data.body("one").xpos, rtol=0, atol=BAR)
        assert functions("energy", p, pd)[0] == pytest.approx(data.energy[1], rel=1e-12)
    report = check(text.encode())
    told = next(doubt.message for doubt in report.doubts if doubt.code == "ball")
    assert '"b.x", "b.y", "b.z"' in told and "its damping left out" in told


LOOPED = tree(
    body("one", '<joint name="j1" axis="0 1 0" pos="0 0 0.05"/>' + body("two", '<joint name="j2" axis="1 0 0"/>')),
    body("three", '<joint name="j3" axis="0 0 1"/><site name="here" pos="0 0.1 0" euler="0.1 0.2 0.3"/>', "0.3 0 0"),
    body("four", '<joint name="j4" axis="1 1 0"/><site name="there" pos="0.1 0 0"/>', "0 0.3 0"),
    more='<equality><connect name="c" body1="two" body2="three" anchor="0.1 0.2 0.3"/>'
    '<connect site1="here" site2="there"/>'
    '<weld name="w" body1="four" body2="two" anchor="0.1 0 0" relpose="0.1 0.2 0 1 0.2 0 0"/>'
    '<connect name="wall" body1="four" anchor="0 0 0.4"/></equality>',
)


def test_equalities_close_loops(tmp_path: Path) -> None:
    """Gaps of connects and welds are MuJoCo's residuals at the same pose."""
    robot = read_robot(default_recipe(written(LOOPED, tmp_path)))
    assert [(loop.name, loop.type) for loop in robot.loops] == [
        ("c", LoopType.BALL), ("three-four", LoopType.BALL), ("w", LoopType.WELD), ("wall", LoopType.BALL),
    ]  # fmt: skip
    text = LOOPED.replace('connect name="c"', 'connect name="j1"')  # MuJoCo names joints and equalities apart
    assert read_robot(default_recipe(written(text, tmp_path))).loops[0].name == "two-three"
    judge = Judge(LOOPED, robot)
    judge.model.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_EQUALITY)
    rng = np.random.default_rng(3)
    for _ in range(3):
        p = rng.uniform(-1, 1, robot.n)
        judge.set(p, np.zeros(robot.n))
        rows = [judge.data.efc_pos[k : k + 3] for k in range(0, 15, 3)]
        # three rows each in the file's order, those of the weld's turn after its place
        ends = [_ends(judge, loop) for loop in robot.loops]
        for (place, _), row in zip(ends, [rows[0], rows[1], rows[2], rows[4]], strict=True):
            assert np.linalg.norm(place) == pytest.approx(np.linalg.norm(row), abs=1e-12)
        turn = np.zeros(4)
        mujoco.mju_mat2Quat(turn, ends[2][1].ravel())
        assert np.linalg.norm(turn[1:]) == pytest.approx(np.linalg.norm(rows[3]), abs=1e-12)


def _ends(judge: Judge, loop: object) -> tuple[np.ndarray, np.ndarray]:
    """Gap and relative rotation of both cut frames of a loop, in MuJoCo's poses of the moving links."""
    frames = []
    for link, R, x in (
        (loop.parent, loop.parent_rotation, loop.parent_translation),
        (loop.child, loop.child_rotation, loop.child_translation),
    ):
        place, turn = np.zeros(3), np.eye(3)
        if link >= 0:
            name = judge.robot.links[link].name.split(":")[0]
            place, turn = judge.pose(name)
            # a link of a joint beside its body's origin has its own there
            place = place + turn @ judge.model.jnt_pos[judge.at[link]]
        frames.append((place + turn @ np.array(x), turn @ np.array(R)))
    return frames[1][0] - frames[0][0], frames[0][1].T @ frames[1][1]


COUPLED = tree(
    body(
        "one", '<joint name="j1" axis="0 1 0" ref="0.2"/>' + body("two", '<joint name="j2" axis="1 0 0" ref="-0.1"/>')
    ),
    more='<tendon><fixed name="t"><joint joint="j1" coef="0.5"/><joint joint="j2" coef="0.25"/></fixed></tendon>'
    '<equality><joint joint1="j1" joint2="j2" polycoef="0.3 -2 0 0 0"/></equality>'
    '<actuator><motor tendon="t" ctrlrange="-4 4"/></actuator>',
)


def test_joint_equality_is_a_gear(tmp_path: Path) -> None:
    recipe, robot = robot_of(COUPLED, tmp_path)
    mimic = robot.joints[0].mimic
    assert mimic is not None and mimic.joint == 1
    assert (mimic.multiplier, mimic.offset) == pytest.approx((-2.0, 0.2 + 0.3 - 2 * 0.1))
    judge = Judge(COUPLED, robot)
    judge.model.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_EQUALITY)
    judge.set([-2.0 * 0.7 + mimic.offset, 0.7], [0, 0])
    assert judge.data.efc_pos[0] == pytest.approx(0, abs=1e-14)
    assert robot.passive == ()
    assert robot.joints[1].effort == pytest.approx(4 * 0.25 + 2 * 4 * 0.5)
    worst = differences(Judge(COUPLED, robot), Functions(robot, recipe))
    assert max(worst.values()) < BAR, worst


@pytest.mark.parametrize("driven", [True, False])
def test_a_motor_of_the_follower_drives_the_joint_it_follows(driven: bool) -> None:
    text = COUPLED.replace('tendon="t"', 'joint="j1"' if driven else 'site="s"')
    text = text.replace('<joint name="j2"', '<site name="s"/><joint name="j2"')
    report = check(text.encode())
    assert ("every joint is passive" in report.text()) is not driven
    assert ("acts on no hinge or slide" in report.text()) is not driven


def test_a_file_without_actuators_says_nothing_of_motors(tmp_path: Path) -> None:
    assert robot_of(TWO, tmp_path)[1].passive == ()
    one = TWO.replace("</mujoco>", '<actuator><motor joint="j1"/></actuator></mujoco>')
    assert robot_of(one, tmp_path)[1].passive == ("j2",)
    (tmp_path / "made.toml").write_text('urdf = "made.xml"\npassive = ["j1"]\n')
    assert read_robot(load_recipe(tmp_path / "made.toml")).passive == ("j2", "j1")
    (tmp_path / "made.toml").write_text('urdf = "made.xml"\npassive = ["j2"]\n')
    assert read_robot(load_recipe(tmp_path / "made.toml")).passive == ("j2",)


J1 = '<joint name="j1" axis="0 1 0"/>'
REFUSED = {
    "tendon": (
        '</worldbody><tendon><fixed name="t" stiffness="3"><joint joint="j1" coef="1"/></fixed></tendon>',
        'tendon "t" has stiffness.*remove it, or give it to a joint',
    ),
    "quadratic": (
        '</worldbody><equality><joint name="e" joint1="j1" joint2="j2" polycoef="0 1 0.5 0 0"/></equality>',
        'equality "e": joint "j1" follows "j2" by a polynomial.*0 1 0.5 0 0',
    ),
    "still": (
        '</worldbody><equality><joint name="e" joint1="j1" joint2="j2" polycoef="0.1 0 0 0 0"/></equality>',
        'equality "e": joint "j1" follows "j2" with a factor of 0, which holds it still; give it a factor',
    ),
    "held": ('</worldbody><equality><joint name="e" joint1="j1"/></equality>', 'holds joint "j1" still.*--hold'),
    "twice": (
        '<body name="x"><joint name="j3"/><geom size="1"/></body></worldbody><equality><joint joint1="j1" joint2="j2"/>'
        '<joint joint1="j1" joint2="j3"/></equality>',
        'joint "j1" follows two joints',
    ),
    "tendons": (
        '</worldbody><tendon><fixed name="t"><joint joint="j1" coef="1"/></fixed><fixed name="v"><joint joint="j2" coef="1"/>'
        '</fixed></tendon><equality><tendon name="e" tendon1="t" tendon2="v"/></equality>',
        'equality "e": only connect, weld and joint can be taken',
    ),
    "rigid": (
        '<body name="x"><geom size="1"/></body></worldbody><equality><weld name="e" body1="x"/></equality>',
        'loop "e": parent "x" and child "world" are rigidly one link',
    ),
    "water": ('</worldbody><option density="1000"/>', "a density of air or water, whose forces are not generated"),
    "switch": ('</worldbody><option><flag spring="disable"/></option>', "<flag> disables spring"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_taken_is_refused_by_name(name: str) -> None:
    text, words = REFUSED[name]
    _, told = faults(TWO.replace("</worldbody>", text))
    assert re.search(words, told), told


def test_numbers_of_a_joint_that_mean_nothing_are_refused() -> None:
    for joint, words in (
        ('type="ball" stiffness="2"', 'joint "j1" has a spring'),
        ('type="ball" armature="2"', 'joint "j1" has armature'),
        ('armature="1e20"', 'armature="1e20" is out of range'),
        ('armature="-0.1"', 'joint "j1": armature -0.1 is negative'),
        ('stiffness="-2"', 'joint "j1": stiffness -2 is negative'),
        ('pos="0 NaN 0"', 'pos="0 NaN 0": a number is expected, not NaN'),
    ):
        _, told = faults(TWO.replace('name="j1" axis="0 1 0"', f'name="j1" {joint}'))
        assert words.replace("\\", "") in told
    _, told = faults(TWO.replace('name="one"', 'name="o|ne"'))
    assert 'link "o|ne": the name holds "|"' in told
    _, told = faults(TWO.replace("<joint", "<jiont"))
    assert "MuJoCo does not read the file" in told and "jiont" in told
    _, told = faults(tree('<body name="one"><joint/></body>'))
    assert "MuJoCo does not compile the file" in told
    report = check(TWO.replace('name="two"', 'name="two" gravcomp="1"').encode())
    assert any(doubt.code == "gravcomp" and "two" in doubt.message for doubt in report.doubts)
    report = check(TWO.replace("</worldbody>", '<body name="m" mocap="true"/></worldbody>').encode())
    assert any(doubt.code == "mocap" for doubt in report.doubts)
    report = check(
        TWO.replace(
            "</worldbody>",
            '</worldbody><equality><connect name="e" active="false" body1="two" body2="one" anchor="0 0 0"/></equality>',
        ).encode()
    )
    assert any("not active" in doubt.message for doubt in report.doubts) and not report.faults


def test_includes_and_missing_files_of_pictures(tmp_path: Path) -> None:
    """A file from which no mass comes may be missing; a mesh that a body takes its inertia from may not."""
    part = "<mujocoinclude>" + body("one", J1 + '<geom type="mesh" mesh="m"/>') + "</mujocoinclude>"
    (tmp_path / "arm.xml").write_text(part)
    text = '<mujoco><asset><mesh name="m" file="gone.stl"/><texture name="t" type="2d" file="gone.png"/></asset>'
    text += '<worldbody><include file="arm.xml"/></worldbody></mujoco>'
    _, robot = robot_of(text, tmp_path)
    assert robot.links[0].inertial.mass == 1.0
    (tmp_path / "arm.xml").write_text(part.replace(BODY, ""))
    with pytest.raises(DescriptionError, match=r"gone\.stl"):
        robot_of(text, tmp_path)
    with pytest.raises(DescriptionError, match=r"arm\.xml"):
        (tmp_path / "arm.xml").unlink()
        robot_of(text, tmp_path)


@pytest.mark.parametrize("written", ["1e308", "-1e308", "1e200", "1.1e12", "inf", "-inf"])
@pytest.mark.parametrize(
    ("attribute", "others"), [("quat", " 0 0 0"), ("gear", ""), ("diaginertia", " 1 1"), ("ref", ""), ("pos", " 0 0")]
)
def test_numbers_that_no_machine_has_are_refused(attribute: str, others: str, written: str) -> None:
    """Products of them overflow; a range may be infinite, and what is just possible is read."""

    def arm(**changed: str) -> bytes:
        said = {
            "quat": "1 0 0 0",
            "gear": "2",
            "diaginertia": "1 1 1",
            "ref": "0",
            "pos": "0 0 0",
            "range": "-1 1",
            **changed,
        }
        return (
            (
                '<mujoco><compiler angle="radian"/><worldbody><body pos="{pos}" quat="{quat}"><inertial pos="0 0 0" mass="1" '
                'diaginertia="{diaginertia}"/><joint name="j" ref="{ref}" range="{range}"/></body></worldbody><actuator>'
                '<motor joint="j" gear="{gear}"/></actuator></mujoco>'
            )
            .format(**said)
            .encode()
        )

    with pytest.raises(SourceError, match=rf'{attribute}="{re.escape(written + others)}" is out of range: .* 1e\+12'):
        read_mjcf(arm(**{attribute: written + others}), ())
    assert read_mjcf(arm(range="-1 1e13"), ()).links
    assert read_mjcf(arm(gear="1e12"), ()).links


def test_a_nan_is_refused_wherever_it_stands(tmp_path: Path) -> None:
    """In the file, in one that it includes, in one that this includes in turn; not in a comment."""
    (tmp_path / "parts").mkdir()
    joint = '<joint name="j1" axis="0 1 0" damping="0.5"/>'
    text = '<mujoco><worldbody><include file="parts/arm.xml"/></worldbody></mujoco>'
    for file, within in (("parts/arm.xml", True), ("parts/hand.xml", True), ("parts/hand.xml", False)):
        hand = "<mujocoinclude>" + body("two", joint.replace("j1", "j2")) + "</mujocoinclude>"
        arm = "<mujocoinclude>" + body("one", joint + '<include file="parts/hand.xml"/>') + "</mujocoinclude>"
        for name, content in (("parts/arm.xml", arm), ("parts/hand.xml", hand)):
            wrong = (
                content.replace("0.5", "NaN")
                if within
                else content.replace("<mujocoinclude>", '<mujocoinclude><!-- x="nan" -->')
            )
            (tmp_path / name).write_text(wrong if name == file else content)
        if not within:
            assert len(robot_of(text, tmp_path)[1].joints) == 2
            continue
        with pytest.raises(DescriptionError, match=f'{file}: damping="NaN": a number is expected, not NaN'):
            robot_of(text, tmp_path)


def test_inertia_from_geoms_where_the_file_says_so(tmp_path: Path) -> None:
    text = RICH.replace("<compiler", '<compiler inertiafromgeom="true"')
    text = text.replace('size="5" mass="100"/>', 'size="5" mass="100"/><geom type="mesh" mesh="wedge" pos="0 0 0.3"/>')
    recipe, robot = robot_of(text, tmp_path)
    assert robot.links[-1].inertial.mass > 100
    worst = differences(Judge(text, robot), Functions(robot, recipe), 1)
    assert max(worst.values()) < BAR, worst


def test_recipe_has_the_last_word(tmp_path: Path) -> None:
    written(RICH, tmp_path, "rich")
    path = tmp_path / "rich.toml"
    path.write_text('urdf = "rich.xml"\n')
    recipe = load_recipe(path)
    assert (recipe.friction, recipe.gravity) == ("urdf", (0.3, -0.2, -3.7))
    path.write_text('urdf = "rich.urdf"\n')  # whatever it is called
    written(RICH, tmp_path, "rich").rename(tmp_path / "rich.urdf")
    assert load_recipe(path).gravity == (0.3, -0.2, -3.7)
    written(RICH, tmp_path, "rich")
    path.write_text('urdf = "rich.xml"\nfriction = "none"\ngravity = [0, 0, -1]\n')
    recipe = load_recipe(path)
    assert (recipe.friction, recipe.gravity) == ("none", (0.0, 0.0, -1.0))


def test_same_file_same_robot_and_names_where_there_are_none(tmp_path: Path) -> None:
    text = TWO.replace(' name="j1"', "").replace(' name="two"', "").replace('name="j2"', 'name="one_joint"')
    path = written(text, tmp_path)
    robot, doubts = read_doubted(default_recipe(path))
    assert [joint.name for joint in robot.joints] == ["one_joint_", "one_joint"]
    assert [link.name for link in robot.links] == ["one", "body_2"]
    assert repr(read_robot(default_recipe(path))) == repr(robot)
    assert doubts == ()


def test_without_mujoco_the_message_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(TWO, tmp_path)
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(InputError, match=r"diffpbd\[mjcf\]"):
        read_robot(default_recipe(path))


def test_hold_base_and_tip_work_as_for_any_description(tmp_path: Path) -> None:
    _, robot = robot_of(TWO, tmp_path, hold=("j1",))
    assert [joint.name for joint in robot.joints] == ["j2"]
    _, robot = robot_of(TWO, tmp_path, base="one")
    assert (robot.base, robot.n) == ("one", 1)
    with pytest.raises(DescriptionError, match="is not a link"):
        robot_of(TWO, tmp_path, tip="nowhere")


BALL = '<geom type="sphere" size="0.03" pos="0.1 0.2 0.3"/>'
ROD = '<geom type="capsule" size="0.02" fromto="0 0 0 0 0.2 0.2"/>'
SEEN = '<geom type="box" size="0.1 0.2 0.3" contype="0" conaffinity="0"/>'
EGG = body("three", '<joint name="j3"/><geom type="ellipsoid" size="1 2 3"/>')
FEET = tree(
    body("one", J1 + BALL + SEEN + ROD),
    body("two", '<joint name="j2"/><geom type="mesh" mesh="m"/>' + EGG),
    more='<asset><mesh name="m" file="gone.stl"/></asset>',
)


def test_colliding_geoms_can_touch(tmp_path: Path) -> None:
    written(FEET, tmp_path)
    recipe = tmp_path / "made.toml"

    def of(link: str) -> Robot:
        plane = '[[plane]]\nname = "floor"\nlink = "world"\npoint = [0, 0, 0]\nnormal = [0, 0, 1]\n'
        recipe.write_text('urdf = "made.xml"\n' + plane)
        return resolve(str(recipe), contact_from_collision=(link,))[1]

    (sphere, *ends) = of("one").contacts
    assert (*sphere.point, sphere.radius) == pytest.approx((0.1, 0.2, 0.3, 0.03))
    found = sorted(tuple(np.round(end.point, 12)) for end in ends)
    assert found == [(0.0, 0.0, 0.0), (0.0, 0.2, 0.2)] and {end.radius for end in ends} == {0.02}
    with pytest.raises(DescriptionError, match=r"<mesh>: only sphere"):
        of("two")
    with pytest.raises(DescriptionError, match=r"<ellipsoid>: only sphere"):
        of("three")


FREE = tree(
    '<body name="trunk" pos="0 0 1"><freejoint name="free"/><geom size="0.1"/>' + body("leg", J1) + "</body>",
    '<body name="stand"><geom size="0.1"/><body name="on it"><geom size="0.1"/></body></body>',
)


def test_a_free_joint_on_the_root_is_a_floating_base(tmp_path: Path) -> None:
    """Also beside what only stands in the world, but not beside what moves there."""
    _, robot = robot_of(FREE, tmp_path)
    assert robot.floating and robot.n == 7 and robot.links[5].name == "trunk"
    _, held = robot_of(FREE, tmp_path, hold=("free",))
    assert (held.base_joint, [joint.name for joint in held.joints]) == ("fixed", ["j1"])
    worst = differences(Judge(FREE, held), Functions(held, default_recipe(tmp_path / "made.xml")), 1)
    assert max(worst.values()) < BAR, worst
    _, told = faults(FREE.replace('<body name="stand">', '<body name="stand"><joint name="j2"/>'))
    assert 'joint "free": type "floating" is not supported here' in told
    _, told = faults(
        FREE.replace('<freejoint name="free"/>', '<joint type="free" name="free" damping="2" armature="1"/>')
    )
    assert 'free joint "free" has armature and friction' in told


LOOSE = tree(
    body("post", body("arm", '<joint name="j1" axis="0 1 0"/>')),
    body("cube", '<joint name="free" type="free" armature="0.1" damping="2"/>')
    + body("egg", '<joint name="turn" type="ball" stiffness="3"/>'),
    more='<equality><joint name="e" joint1="j1"/></equality>',
)


def test_what_a_loose_body_has_does_not_matter_once_it_is_out(shared: Path) -> None:
    path = shared / "cases" / "Q01-arm-beside-a-loose-cube" / "scene.xml"
    for options in ({"base": "pedestal"}, {"hold": ("cube_free",)}):
        report = check(path, **options)
        assert (report.passed(), report.joints, report.moving_mass) == (True, ("shoulder", "elbow"), pytest.approx(1.2))
    told = check(path).text()
    assert "--hold cube_free" in told and "--base" in told
    plain = LOOSE.replace('<joint name="e" joint1="j1"/>', "").encode()
    assert check(plain, base="post").joints == ("j1",)
    told = check(plain, hold=("free",)).text()
    assert "has a spring" in told and "--hold turn.x --hold turn.y --hold turn.z" in told and "armature" not in told
    assert check(plain, hold=("free", "turn.x", "turn.y", "turn.z")).joints == ("j1",)
    assert not check(plain, hold=("turn.x", "turn.y", "turn.z")).passed()
    assert 'holds joint "j1" still' in check(LOOSE.encode(), base="post").text()
    assert "no moving joint" in check(LOOSE.encode(), base="post", hold=("j1",)).text()


def test_gravity_switched_off_is_none(tmp_path: Path) -> None:
    off = TWO.replace("</worldbody>", '</worldbody><option gravity="1 2 3"><flag gravity="disable"/></option>')
    recipe, robot = robot_of(off, tmp_path)
    assert recipe.gravity == (0.0, 0.0, 0.0)
    judge = Judge(off, robot)
    judge.set([0.3, -0.4], [0, 0])
    assert not judge.data.qfrc_bias.any()
