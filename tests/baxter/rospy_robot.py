"""A Baxter of its own (support/arms/lone_baxter.py) as a rospy node with genpy's messages; faults come as JSON lines on stdin.

Run by Debian's or this environment's Python with Debian's dist-packages at the end of its path:
    python rospy_robot.py URDF MESSAGES_FOLDER NAME
It prints one JSON line, `{"ready": true}`, and then one answer a line of input.
"""

from __future__ import annotations

import json
import os
import random
import sys
import threading
import time
from pathlib import Path

sys.path.append("/usr/lib/python3/dist-packages")
sys.path.insert(0, sys.argv[2])
sys.path.insert(0, str(Path(__file__).parents[1] / "support" / "arms"))

import rospy
from baxter_core_msgs.msg import AssemblyState, JointCommand, SEAJointState
from lone_baxter import LoneBaxter
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Empty, Float64, UInt16

OTHERS = ["head_nod", "head_pan", "right_e0", "right_e1", "right_s0", "right_s1", "right_w0", "right_w1",
          "right_w2", "torso_t0"]  # fmt: skip


class RospyRobot:
    def __init__(self, urdf: str) -> None:
        self.robot = LoneBaxter(urdf, time.monotonic())
        self.lock = threading.RLock()
        self.rate = 100
        self.fault = ""
        self.until = float("inf")
        self.timeouts: list[float] = []
        limb = "/robot/limb/left"
        self.states = rospy.Publisher("/robot/joint_states", JointState, queue_size=1, tcp_nodelay=True)
        wrong = len(sys.argv) > 4 and sys.argv[4] == "wrong_md5"
        if wrong:
            AssemblyState._md5sum = "0" * 32
        self.assembly = rospy.Publisher("/robot/state", AssemblyState, queue_size=1, tcp_nodelay=True)
        self.gravity = rospy.Publisher(
            f"{limb}/gravity_compensation_torques", SEAJointState, queue_size=1, tcp_nodelay=True
        )

        def listen(topic, kind, action):
            def locked(message):
                with self.lock:
                    action(message)

            rospy.Subscriber(topic, kind, locked, queue_size=None, tcp_nodelay=True)

        robot = self.robot
        listen(f"{limb}/joint_command", JointCommand, self._command)
        listen(f"{limb}/joint_command_timeout", Float64, self._timeout)
        listen(f"{limb}/suppress_gravity_compensation", Empty, lambda m: robot.suppress(time.monotonic()))
        listen("/robot/set_super_enable", Bool, lambda m: robot.enable(m.data))
        listen("/robot/set_super_reset", Empty, lambda m: robot.reset())
        listen("/robot/set_super_stop", Empty, lambda m: robot.stop())
        listen("/robot/joint_state_publish_rate", UInt16, self._rate)

    def _rate(self, message) -> None:
        self.rate = message.data

    def _command(self, message) -> None:
        self.robot.command(message.mode, message.names, message.command, time.monotonic())
        if self.fault == "slow":
            self.lock.release()
            time.sleep(0.002)
            self.lock.acquire()

    def _timeout(self, message) -> None:
        self.robot.timeout = message.data
        self.timeouts.append(message.data)

    def run(self) -> None:
        due_joints = due_assembly = 0.0
        while not rospy.is_shutdown():
            time.sleep(0.0005)
            now = time.monotonic()
            with self.lock:
                self.robot.advance(now)
                joints, assembly = self.robot.measured(), self.robot.assembly()
            if now >= self.until:
                self.fault, self.until = "", float("inf")
            if now >= due_joints:
                due_joints = max(due_joints + 1.0 / self.rate, now - 1.0 / self.rate)
                self.publish_joints(joints)
            if now >= due_assembly:
                due_assembly = now + 0.0099
                self.publish_assembly(assembly)

    def publish_joints(self, joints) -> None:
        if self.fault == "freeze":
            return
        rows = dict(zip(self.robot.joints, zip(*joints, strict=True), strict=True))
        rows.update(dict.fromkeys(OTHERS, (0.0, 0.0, 0.0)))
        names = sorted(rows)
        if self.fault == "shuffle":
            random.shuffle(names)
        if self.fault == "missing":
            names.remove("left_e1")
        message = JointState(name=names)
        message.header.stamp = rospy.Time.from_sec(time.time())
        message.position, message.velocity, message.effort = (
            [float(rows[name][k]) for name in names] for k in range(3)
        )
        if self.fault == "offset":
            message.position[names.index("left_s0")] += 1.2
        if self.fault == "nan":
            message.velocity[names.index("left_s1")] = float("nan")
        if self.fault == "no_velocity":
            message.velocity = []
        self.states.publish(message)

    def publish_assembly(self, assembly) -> None:
        self.assembly.publish(AssemblyState(*assembly))
        message = SEAJointState(name=list(self.robot.joints))
        message.header.stamp = rospy.Time.from_sec(time.time())
        with self.lock:
            whole, gravity = self.robot.compensation(), self.robot.gravity()
        message.gravity_model_effort, message.gravity_only = whole.tolist(), gravity.tolist()
        self.gravity.publish(message)

    def obey(self, request: dict) -> dict:
        robot = self.robot
        with self.lock:
            if "fault" in request:
                self.fault = request["fault"]
                self.until = time.monotonic() + request.get("for", float("inf"))
            if "press" in request:
                robot.press(request["press"])
            if "enable" in request:
                robot.enable(request["enable"])
            if "reset" in request:
                robot.reset()
            if "push" in request:
                robot.push[:] = request["push"]
            if "pose" in request:
                robot.place(request["pose"])
            if "audit" in request:
                robot.renew()
                robot.log = []
                self.timeouts.clear()
        return {
            "audit": robot.account, "mode": robot.mode, "enabled": robot.enabled,
            "timeouts": self.timeouts,
            "q": robot.q.tolist(), "dq": robot.dq.tolist(),
            "commands": robot.log if request.get("commands") else None,
            "compensating": robot.compensating(time.monotonic()),
        }  # fmt: skip


def main() -> None:
    try:
        os.setpriority(os.PRIO_PROCESS, 0, -15)  # a real robot is not slowed down by the tests beside it
    except PermissionError:
        pass
    rospy.init_node(sys.argv[3], disable_signals=True)
    node = RospyRobot(sys.argv[1])
    node.robot.enable(True)
    threading.Thread(target=node.run, daemon=True).start()
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(node.obey(request)), flush=True)
        if request.get("leave"):
            break
    rospy.signal_shutdown("the test is over")


main()
