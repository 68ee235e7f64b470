"""A small ROS 1 client on the standard library: messages, the master's and the slave's API, TCPROS."""

from diffpbd.runtime.ros1.node import Node
from diffpbd.runtime.ros1.publisher import Publisher
from diffpbd.runtime.ros1.subscriber import Subscriber

__all__ = ["Node", "Publisher", "Subscriber"]
