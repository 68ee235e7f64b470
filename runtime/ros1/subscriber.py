"""One subscribed topic, from every publisher that the master lists."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from diffpbd.runtime.base.errors import MessageError
from diffpbd.runtime.records.messages import Message, Receipt

__all__ = ["Subscriber"]

LOGGER = logging.getLogger(__name__)


@dataclass
class Subscriber:
    """A topic with its callback, which runs in the I/O thread and must be short.

    `refusals`: answers of publishers that refused the handshake, by URI. With another md5 sum it is another message,
    and the publisher is not asked again until it registers anew.
    """

    topic: str
    kind: type[Message]
    callback: Callable[[Any, Receipt], None]
    wanted: set[str] = field(default_factory=set)
    connecting: set[str] = field(default_factory=set)
    connected: dict[str, str] = field(default_factory=dict)
    refusals: dict[str, str] = field(default_factory=dict)
    broken: Counter[str] = field(default_factory=Counter)
    received: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def publishers(self) -> tuple[str, ...]:
        """URIs of the topic's publishers, connected or not, as last listed by the master."""
        with self.lock:
            return tuple(sorted(self.wanted))

    @property
    def present(self) -> tuple[str, ...]:
        """URIs of the live publishers: connected, or having refused us."""
        with self.lock:
            return tuple(sorted({*self.connected, *self.refusals}))

    def deliver(self, receipt: Receipt) -> None:
        """Decode and call back; undecodable messages are counted by reason."""
        self.received += 1
        try:
            message = self.kind.decode(receipt.data)
        except MessageError as error:
            self.broken[str(error)] += 1
            return
        try:
            self.callback(message, receipt)
        except Exception:  # a fault of one callback must not stop the thread that serves all the others
            self.broken["the callback failed"] += 1
            LOGGER.exception("the callback of %s failed", self.topic)
