"""One arm of a Baxter on a ROS 1 graph, as the loop's `Arm`: states by name with age, commands, gravity suppression."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from diffpbd.runtime.arms.heard import Heard
from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import RefusedError
from diffpbd.runtime.interface.controller import Mode
from diffpbd.runtime.loop.arm import DISABLED, OWN_TIMEOUT, Fault
from diffpbd.runtime.loop.stopping import Reason
from diffpbd.runtime.model.limits import Limits
from diffpbd.runtime.records.messages import JointState, Message, Receipt
from diffpbd.runtime.ros1 import Node, Publisher
from diffpbd.runtime.ros1.messages import AssemblyState, Bool, Empty, Float64, JointCommand, SEAJointState, UInt16
from diffpbd.runtime.ros1.watch import MasterWatch

__all__ = ["ASSEMBLY_TIMEOUT", "DEFAULT_TIMEOUT", "BaxterArm", "Listener", "Robot", "Side", "command_topic"]

Side = Literal["left", "right"]
Listener = Callable[[Message, Receipt], None]

DEFAULT_TIMEOUT = 0.2
"""s without a command after which the robot leaves the commanded mode; the robot's own default."""
ASSEMBLY_TIMEOUT = 0.5
"""s; /robot/state comes at 100 Hz, so this long a silence means that the robot is gone."""
LEAST_RATE = 100  # Hz; of the joint states, whatever the loop's own


def command_topic(side: Side) -> str:
    """Who publishes here commands the arm."""
    return f"/robot/limb/{side}/joint_command"


@dataclass(frozen=True)
class Robot:
    """/robot/state and when it came (monotonic [s])."""

    state: AssemblyState
    received: float

    @property
    def trouble(self) -> str:
        """Why this robot cannot move, or empty."""
        if self.state.estop_button not in (0, 3) or (self.state.stopped and self.state.estop_source == 1):
            return "the e-stop is pressed"
        if self.state.stopped:
            return f"the robot is stopped (source {self.state.estop_source})"
        if self.state.error:
            return "the robot reports an error"
        return "" if self.state.enabled else DISABLED


class BaxterArm(Heard):
    """An arm; owns its topics on `node`. Nothing is sent but by `transmit`, `suppress` and the named requests.

    `listener` gets every message that comes in, for a log; it runs in the reading thread.
    """

    handed_back = OWN_TIMEOUT

    def __init__(
        self,
        side: Side,
        joints: tuple[str, ...],
        limits: Limits,
        node: Node,
        *,
        listener: Listener | None = None,
        robot_node: str | None = None,
    ) -> None:
        """`robot_node`: the name under which the robot listens, by default the publisher of the arm's joint states."""
        super().__init__(joints, limits)
        stray = [joint for joint in joints if not joint.startswith(f"{side}_")]
        if stray:
            raise RefusedError(
                f"The generated robot has joints not of the {side} arm: {', '.join(stray)}. Generate "
                "the robot with that arm alone, or choose the other side."
            )
        self.side = side
        self.node = node
        self._listener = listener
        self._robot_node = robot_node
        self._suppressing = False
        self._watch: MasterWatch | None = None
        self._asked = False
        self.robot: Robot | None = None
        limb = f"/robot/limb/{side}"
        self.command = node.publish(command_topic(side), JointCommand)
        self.timeout = node.publish(f"{limb}/joint_command_timeout", Float64, latch=True)
        self.suppress_topic = node.publish(f"{limb}/suppress_gravity_compensation", Empty)
        self.states = node.subscribe("/robot/joint_states", JointState, self._on_joints)
        self.assembly = node.subscribe("/robot/state", AssemblyState, self._on_robot)
        self.gravity_topic = node.subscribe(f"{limb}/gravity_compensation_torques", SEAJointState, self._on_gravity)
        self._enable = node.publish("/robot/set_super_enable", Bool)
        self._rate = node.publish("/robot/joint_state_publish_rate", UInt16, latch=True)

    # What comes in, in the reading thread

    def _on_joints(self, message: JointState, receipt: Receipt) -> None:
        if self._listener is not None:
            self._listener(message, receipt)
        self._take(message, receipt.time, receipt.publisher)

    def _on_robot(self, message: AssemblyState, receipt: Receipt) -> None:
        if self._listener is not None:
            self._listener(message, receipt)
        self.robot = Robot(message, receipt.time)
        self._note(self.robot.trouble)

    def _on_gravity(self, message: SEAJointState, receipt: Receipt) -> None:
        if self._listener is not None:
            self._listener(message, receipt)

    # What the loop asks

    @property
    def dropped(self) -> int:
        """Commands that a newer one replaced because the link was full."""
        return self.command.dropped

    def open(self, rate: float) -> None:
        """Watch the master, and ask for joint states at `rate` [Hz]."""
        self._watch = MasterWatch(self.node.master, self.command.topic, self.node.name, lambda: self._hearer)
        self._rate.publish(UInt16(max(round(rate), LEAST_RATE)))

    def close(self) -> None:
        """Watch no longer."""
        if self._watch is not None:
            self._watch.close()

    def missing(self, *, suppressing: bool) -> str:
        """Names what is not connected or not heard yet."""
        text = ""
        if not (self.assembly.publishers and self.robot):
            text = "/robot/state is not published"
        elif self._state is None:
            text = "no joint state names every joint of the arm"
        elif not self._hears(self.command):
            text = f"{self._deaf(self.command)} (--robot-node names another listener)"
        elif suppressing and not self._hears(self.suppress_topic):
            text = f"{self._deaf(self.suppress_topic)}: gravity would be applied twice"
        elif not self._asked and self._watch is not None:
            self._watch.look()  # now that the robot's own node is known
            self._asked = True
        self._suppressing = suppressing
        refused = self.refused_topics() if text else []
        return text + (f" ({'; '.join(refused)})" if refused else "")

    def fault(self) -> Fault | None:
        """Fault of the graph or the connection."""
        if self.node.shut_down.is_set():
            return Fault(Reason.INTERRUPTED, "the ROS graph asked this node to shut down")
        if self._watch is not None and self._watch.lost:
            return Fault(Reason.LOST_MASTER, self._watch.lost)
        topics = (self.command, self.suppress_topic) if self._suppressing else (self.command,)
        deaf = next((topic for topic in topics if not self._hears(topic)), None)
        return None if deaf is None else Fault(Reason.LOST_ROBOT, self._deaf(deaf))

    @property
    def _hearer(self) -> str:
        """The name under which the robot listens: that of the publisher of its joint states; empty as long as none came."""
        return self._robot_node or ("" if self._state is None else self._state.source)

    def _hears(self, topic: Publisher) -> bool:
        """Whether the robot itself subscribes, not just a recorder or a plot."""
        return self._hearer in topic.subscribers

    def _deaf(self, topic: Publisher) -> str:
        """A sentence on the robot not subscribing, and who does."""
        others = ", ".join(sorted(topic.subscribers))
        return f"the robot ({self._hearer}) does not listen to {topic.topic}" + (
            f", only {others} does" if others else ""
        )

    def others(self) -> tuple[str, ...]:
        """Other nodes that publish this arm's commands."""
        return () if self._watch is None else self._watch.others

    def trouble(self) -> str:
        """Any fault, present or past, or empty."""
        count = len(self.assembly.present)
        if count > 1:
            return f"/robot/state has {count} publishers: more than one robot or simulator is on this graph"
        if self._noted:
            return self._noted
        if self.robot is None or self.clock.now() - self.robot.received > ASSEMBLY_TIMEOUT:
            return "/robot/state is silent"
        return self.robot.trouble

    def unable(self) -> str:
        """Why the robot cannot obey right now."""
        return "its state is unknown" if self.robot is None else self.robot.trouble

    def refused_topics(self) -> list[str]:
        """Publishers whose message type is not the one expected, in words."""
        return [
            f"{topic.topic}: {text}"
            for topic in (self.states, self.assembly, self.gravity_topic)
            for text in list(topic.refusals.values())
        ]

    # What goes out

    def transmit(self, mode: Mode, values: FloatArray) -> None:
        """Publish a joint command."""
        self.command.publish(JointCommand(int(mode), values, self.joints))

    def suppress(self) -> None:
        """One message of the stream that keeps the robot's own gravity compensation off."""
        self.suppress_topic.publish(Empty())

    def set_timeout(self, seconds: float | None = None) -> None:
        """How long the robot obeys without a new command [s]; None: its own default."""
        self.timeout.publish(Float64(DEFAULT_TIMEOUT if seconds is None else seconds))

    def request_enable(self) -> None:
        """Ask the robot to enable its motors."""
        self._enable.publish(Bool(True))
