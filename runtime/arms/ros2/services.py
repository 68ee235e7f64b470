"""Services of ROS 2 over Cyclone DDS: a call is a message on `rq/…Request`, its answer one on `rr/…Reply`.

rmw_cyclonedds puts two numbers before the fields of both: half of the caller's identity, and the number of its call. Other
middlewares of ROS 2 carry them beside the message, so calls reach nodes with Cyclone DDS alone; others are not called.
"""

from __future__ import annotations

import itertools
import random
import threading
import time as clock
from collections.abc import Callable
from typing import Any

from diffpbd.runtime.arms.ros2.node import Node, Sample

__all__ = ["Client", "serve"]

ANSWER_TIME = 1.0
"""s until a call counts as not answered."""
LOOK = 0.005
"""s between two looks for an answer."""
CYCLONE = "0110"
"""The first digits of a participant's identity: Cyclone DDS's number among the makers of DDS."""
DEPTH = 10


class Client:
    """Calls of one service; make it before the node starts to read, use it from one thread."""

    def __init__(self, node: Node, service: str, kind: type[Any]) -> None:
        """`kind`: the answer, an IDL type with `guid` and `seq` first."""
        self.service = service
        self._node = node
        self._identity = random.getrandbits(64)
        self._counter = itertools.count(1)
        self._answers: dict[int, Any] = {}
        self._reader = node.read(service, kind, self._on_answer, parts=("rr", "Reply"))
        self._writers: dict[type[Any], Any] = {}

    def _on_answer(self, message: Any, sample: Sample) -> None:
        if message.guid == self._identity:
            self._answers[message.seq] = message

    def servers(self) -> frozenset[str]:
        """Participants that answer."""
        return self._reader.participants()

    @property
    def foreign(self) -> bool:
        """Whether only another middleware offers it, which cannot be called."""
        found = self.servers()
        return bool(found) and not any(one.startswith(CYCLONE) for one in found)

    @property
    def offered(self) -> bool:
        """Whether it can be called."""
        return any(one.startswith(CYCLONE) for one in self.servers())

    def call(
        self, kind: type[Any], *fields: Any, stop: Callable[[], bool] = lambda: False, patience: float = ANSWER_TIME
    ) -> Any | None:
        """The answer to a request of type `kind`, or None: nobody answered within `patience` [s], or `stop` said so."""
        if not self.offered:
            return None
        end = clock.monotonic() + patience
        writer = self._writers.get(kind)
        if writer is None:
            writer = self._writers[kind] = self._node.write(self.service, kind, DEPTH, parts=("rq", "Request"))
        while not writer.participants() & self.servers():
            if clock.monotonic() > end or stop():
                return None
            clock.sleep(LOOK)
        number = next(self._counter)
        writer.write(kind(self._identity, number, *fields))
        while number not in self._answers:
            if clock.monotonic() > end or stop():
                return None
            clock.sleep(LOOK)
        return self._answers.pop(number)


def serve(
    node: Node, service: str, request: type[Any], reply: type[Any], answer: Callable[[Any], tuple[Any, ...]]
) -> None:
    """Offer a service on a node; `answer` gives the reply's fields and runs in a thread of its own for every call."""
    writer = node.write(service, reply, DEPTH, parts=("rr", "Reply"))

    def on_call(message: Any, sample: Sample) -> None:
        def work() -> None:
            writer.write(reply(message.guid, message.seq, *answer(message)))

        threading.Thread(target=work, daemon=True).start()

    node.read(service, request, on_call, parts=("rq", "Request"))
