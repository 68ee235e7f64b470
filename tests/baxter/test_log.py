"""Logs: bags that Debian's rosbag reads, bags that it wrote, CSV, and replay bit for bit."""

from __future__ import annotations

import json
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest

from diffpbd.runtime import Robot
from diffpbd.runtime.base.errors import InputError, LogError
from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.logs.csv import read_log
from diffpbd.runtime.loop.recorder import TICK_TOPIC
from diffpbd.runtime.loop.replay import read_run, replay
from diffpbd.runtime.records.bag import BagWriter, read_bag
from diffpbd.runtime.records.joint_states import JointStateReader
from diffpbd.runtime.records.messages import JointState, Message, Tick
from diffpbd.runtime.ros1 import messages

from .conftest import Graph, RobotProcess, wait_until
from .running import check_audit, execute, impedance

ROSBAG = """
import collections, json, sys
sys.path.append("/usr/lib/python3/dist-packages")
import rosbag
out = {"count": collections.Counter(), "type": {}, "numbers": {"/diffpbd/tick": [], "/robot/joint_states": []}}
with rosbag.Bag(sys.argv[1]) as bag:
    for topic, message, stamp in bag.read_messages():
        out["count"][topic] += 1
        out["type"][topic] = message._type
        if topic == "/diffpbd/tick":
            out["numbers"][topic].append([message.time, *message.command])
        if topic == "/robot/joint_states":
            out["numbers"][topic].append([*message.position, *message.velocity, *message.effort])
json.dump(out, sys.stdout)
"""


@pytest.fixture(autouse=True)
def loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROS_IP", "127.0.0.1")


@pytest.mark.thorough("csv")
@pytest.mark.parametrize("suffix", ["bag", "csv"])
def test_a_run_replays_bit_for_bit(
    arm_robot: Robot, graph: Graph, robot: RobotProcess, tmp_path: Path, suffix: str
) -> None:
    log = tmp_path / f"run.{suffix}"
    report = execute(
        arm_robot, graph.uri, controller=impedance(s1=-0.45), owner=GravityOwner.MODEL, log=log,
        action=(lambda: robot.ask(fault="nan", **{"for": 0.03})) if suffix == "bag" else None,
    )  # fmt: skip
    check_audit(robot.ask(), report)
    again = replay(log, arm_robot)
    assert again.difference == "" and again.ticks == report.ticks > 100
    if suffix == "csv":
        read = read_log(log)
        assert read.joints == arm_robot.joints and len(read.time) > report.ticks + 1  # and those of the stop
        return
    _, ticks = read_run(log)
    assert {int(tick.status) for tick in ticks} >= {0, 2}
    done = subprocess.run(["/usr/bin/python3", "-c", ROSBAG, str(log)], capture_output=True, text=True, check=True)
    theirs = json.loads(done.stdout)
    assert theirs["type"][TICK_TOPIC] == "diffpbd_msgs/Tick"
    assert theirs["count"][TICK_TOPIC] > report.ticks + 1
    assert theirs["count"]["/robot/joint_states"] > 50 and theirs["count"]["/robot/state"] > 50
    ours: dict[str, list[list[float]]] = {
        TICK_TOPIC: [],
        "/robot/joint_states": [],
    }  # rosbag swaps topics of equal stamps
    for message in read_bag(log):
        if message.topic == TICK_TOPIC:
            tick = Tick.decode(message.data)
            ours[TICK_TOPIC].append([tick.time, *tick.command])
        elif message.topic == "/robot/joint_states":
            state = JointState.decode(message.data)
            ours["/robot/joint_states"].append([*state.position, *state.velocity, *state.effort])
    assert ours.keys() == theirs["numbers"].keys()
    for topic, numbers in ours.items():
        for one, other in zip(numbers, theirs["numbers"][topic], strict=True):
            np.testing.assert_array_equal(one, other)


def test_a_changed_log_is_noticed(arm_robot: Robot, graph: Graph, robot: RobotProcess, tmp_path: Path) -> None:
    log = tmp_path / "run.csv"
    execute(arm_robot, graph.uri, log=log, duration=0.2)
    rows = log.read_text().splitlines()
    cells = rows[20].split(",")
    cells[2] = repr(float(cells[2]) + 1e-15)
    log.write_text("\n".join([*rows[:20], ",".join(cells), *rows[21:]]) + "\n")
    assert "differs" in replay(log, arm_robot).difference
    text = log.with_suffix(".json").read_text()
    log.with_suffix(".json").write_text(text.replace(arm_robot.manifest.abi_hash, "0" * 64))
    with pytest.raises(InputError, match="other code"):
        replay(log, arm_robot)


RECORD = """
import sys
sys.path[:0] = [sys.argv[2]]
sys.path.append("/usr/lib/python3/dist-packages")
import rosbag, rospy, time
from baxter_core_msgs.msg import AssemblyState, SEAJointState
from sensor_msgs.msg import JointState
rospy.init_node("recorder", disable_signals=True)
bag, count = rosbag.Bag(sys.argv[1], "w", compression=sys.argv[3]), 0
import threading
lock = threading.Lock()
def keep(topic):
    def write(message):
        global count
        with lock:
            if bag is not None:
                bag.write(topic, message)
                count += 1
    return write
for topic, kind in (("/robot/joint_states", JointState), ("/robot/state", AssemblyState),
                    ("/robot/limb/left/gravity_compensation_torques", SEAJointState)):
    rospy.Subscriber(topic, kind, keep(topic))
time.sleep(1.0)
with lock:
    bag.close()
    bag = None
print(count)
"""


@pytest.mark.thorough("none")
@pytest.mark.parametrize("compression", ["none", "bz2"])
def test_a_bag_of_debians_rosbag_is_read_without_loss(
    graph: Graph, robot: RobotProcess, genpy_messages: Path, tmp_path: Path, compression: str, arm_robot: Robot
) -> None:
    bag = tmp_path / "theirs.bag"
    robot.ask(fault="shuffle")
    done = subprocess.run(
        ["/usr/bin/python3", "-c", RECORD, str(bag), str(genpy_messages), compression],
        capture_output=True, text=True, check=True, env={**graph.environment, "PYTHONPATH": ""},
    )  # fmt: skip
    reader = JointStateReader(arm_robot.joints)
    known = (JointState, messages.AssemblyState, messages.SEAJointState)
    kinds: dict[str, type[Message]] = {kind.DEFINITION.name: kind for kind in known}
    count = states = 0
    for message in read_bag(bag):
        kind: type[Message] = kinds[message.type]
        assert message.md5 == kind.DEFINITION.md5
        decoded = kind.decode(message.data)
        assert decoded.encode() == message.data
        count += 1
        if isinstance(decoded, JointState):
            states += reader.offer(decoded, message.time) is not None
    assert count == int(done.stdout) > 100 and states > 50 and not reader.rejected


def test_a_bag_whose_writer_was_killed_is_read_to_its_last_whole_chunk(tmp_path: Path) -> None:
    path = tmp_path / "cut.bag"
    bag = BagWriter(path)
    for k in range(20):
        bag.write("/t", Tick, Tick((0, (0, 0), ""), float(k)).encode(), 100.0 + k)
        bag.flush()
    data = path.read_bytes()
    bag.close()
    for cut in (len(data), len(data) - 1, len(data) // 2, 4200):
        path.write_bytes(data[:cut])
        times = [Tick.decode(message.data).time for message in read_bag(path)]
        assert times == [float(k) for k in range(len(times))]
        assert len(times) == 20 if cut == len(data) else len(times) < 20 or cut == len(data) - 1


@pytest.mark.parametrize("content", [b"", b"#ROSBAG V1.2\n", b"#ROSBAG V2.0\n\xff\xff\xff\xff" + b"x" * 20])
def test_what_is_no_bag_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "no.bag"
    path.write_bytes(content)
    with pytest.raises(LogError):
        list(read_bag(path))


def test_the_link_keeps_up_with_more_commands_than_the_robot_reads(
    arm_robot: Robot, graph: Graph, robot: RobotProcess
) -> None:
    """The robot's callback takes longer than a period; our loop must not wait for it."""
    robot.ask(fault="slow")
    report = execute(arm_robot, graph.uri, rate=1000.0, duration=0.6)
    robot.ask(fault="")
    assert report.reason.value == "finished" and report.work.percentile(0.5) < 2e-3
    wait_until(lambda: robot.ask()["mode"] == 1, "what was sent last, the hold, was not read")
    check_audit(robot.ask(), report)
    assert threading.active_count() < 20
