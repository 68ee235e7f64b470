"""A ROS 1 node: registrations, connections, and one thread that reads them all."""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar
from urllib.parse import urlparse

from diffpbd.runtime.base.errors import GraphError
from diffpbd.runtime.base.priority import prioritized
from diffpbd.runtime.records.messages import Message, Receipt
from diffpbd.runtime.ros1.addresses import own_address, own_interface
from diffpbd.runtime.ros1.guests import Guests
from diffpbd.runtime.ros1.handshake import answer_subscriber, ask_publisher
from diffpbd.runtime.ros1.master import CALL_TIMEOUT, Master, SlaveServer
from diffpbd.runtime.ros1.publisher import Publisher
from diffpbd.runtime.ros1.subscriber import Subscriber
from diffpbd.runtime.ros1.wire import FrameReader

__all__ = ["DEFAULT_MASTER", "Node", "Self"]

DEFAULT_MASTER = "http://localhost:11311"
RETRY_FIRST, RETRY_LAST = 0.1, 1.0  # s; waiting time between attempts to connect, doubled each time
MOST_GUESTS = 16  # peers before their handshake
MOST_PUBLISHERS = 16  # of one subscribed topic: each is a thread until it is connected
MOST_SUBSCRIBERS = 64  # of one topic; a graph has a handful
POLL = 0.1  # s; the reading thread's polling period, for requests to end

M = TypeVar("M", bound=Message)
Self = TypeVar("Self", bound="Node")
_Reader = Callable[[], bool]  # called when the socket is ready; False when it has ended


class Node:
    """A node on a ROS 1 graph; leave it with `close` (or `with`), which unregisters everything.

    `master` defaults to ROS_MASTER_URI; our address to ROS_HOSTNAME or ROS_IP.
    """

    def __init__(self, name: str, *, master: str | None = None) -> None:
        uri = master or os.environ.get("ROS_MASTER_URI") or DEFAULT_MASTER
        if urlparse(uri).scheme != "http":
            raise GraphError(f"ROS_MASTER_URI: expected http://HOST:PORT, found {uri!r}.")
        self.name = "/" + name.strip("/")
        self.address = own_address(uri)
        bind = own_interface(self.address, uri)
        try:
            self._listener = socket.create_server((bind, 0))
        except OSError as error:
            raise GraphError(
                f"ROS_IP or ROS_HOSTNAME names {self.address}, where this machine cannot listen ({error}). Set ROS_IP to the "
                "address that this machine has on the robot's network."
            ) from None
        self.shut_down = threading.Event()
        """Set when the graph shuts this node down: another node took its name, or `rosnode kill`."""
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._publishers: dict[str, Publisher] = {}
        self._subscribers: dict[str, Subscriber] = {}
        self._selector = selectors.DefaultSelector()
        self._arrivals: list[tuple[socket.socket, _Reader]] = []
        self._wake_read, self._wake_write = socket.socketpair()
        self._wake_read.setblocking(False)
        self._selector.register(self._wake_read, selectors.EVENT_READ, self._woken)
        self._guests = Guests(MOST_GUESTS, CALL_TIMEOUT)
        self._listener.setblocking(False)
        self._selector.register(self._listener, selectors.EVENT_READ, self._accept)
        self._server = SlaveServer(bind, self._slave_functions())
        self.uri = f"http://{self.address}:{self._server.port}/"
        self.master = Master(uri, self.name, self.uri, CALL_TIMEOUT)
        self._threads = [
            threading.Thread(target=self._server.serve_forever, args=(POLL,), name="ros-slave", daemon=True),
            threading.Thread(target=self._read_all, name="ros-read", daemon=True),
        ]
        for thread in self._threads:
            thread.start()
        try:
            self.master.process()
        except GraphError:
            self.close()
            raise

    # Public interface

    def publish(self, topic: str, kind: type[Message], *, latch: bool = False) -> Publisher:
        """Publish a topic; a robot's subscribers need about 0.24 s to connect."""
        publisher = Publisher(topic, kind, latch=latch)
        with self._lock:
            if topic in self._publishers:
                raise GraphError(f"{topic} is already published by this node.")
            self._publishers[topic] = publisher
        self.master.register_publisher(topic, kind.DEFINITION.name)
        return publisher

    def subscribe(self, topic: str, kind: type[M], callback: Callable[[M, Receipt], None]) -> Subscriber:
        """Subscribe to a topic of all present and later publishers."""
        subscriber = Subscriber(topic, kind, callback)
        with self._lock:
            if topic in self._subscribers:
                raise GraphError(f"{topic} is already subscribed by this node.")
            self._subscribers[topic] = subscriber
        self._update(subscriber, self.master.register_subscriber(topic, kind.DEFINITION.name))
        return subscriber

    def close(self) -> None:
        """Unregister, flush, and end every connection and thread; safe to call twice."""
        if self._closing.is_set():
            return
        self._closing.set()
        for publisher in self._publishers.values():
            publisher.close()
        self._unregister()
        self._server.shutdown()
        self._server.server_close()
        self._wake()
        for thread in self._threads:
            thread.join(CALL_TIMEOUT)

    def _unregister(self) -> None:
        """Unregister everything; gives up after CALL_TIMEOUT in total."""
        end = time.monotonic() + CALL_TIMEOUT
        calls = [(self.master.unregister_publisher, topic) for topic in self._publishers]
        calls += [(self.master.unregister_subscriber, topic) for topic in self._subscribers]
        for call, topic in calls:
            if time.monotonic() < end:
                with contextlib.suppress(GraphError):
                    call(topic)

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # The slave API, called by the master and by other nodes

    def _slave_functions(self) -> dict[str, Callable[..., Any]]:
        return {
            "requestTopic": self._request_topic,
            "publisherUpdate": self._publisher_update,
            "paramUpdate": lambda caller, key, value: 0,
            "getPid": lambda caller: os.getpid(),
            "getMasterUri": lambda caller: self.master.uri,
            "getBusInfo": self._bus_info,
            "getBusStats": lambda caller: [[], [], []],
            "getPublications": lambda caller: [
                [topic, entry.kind.DEFINITION.name] for topic, entry in self._publishers.items()
            ],
            "getSubscriptions": lambda caller: [
                [topic, entry.kind.DEFINITION.name] for topic, entry in self._subscribers.items()
            ],
            "shutdown": self._shutdown,
        }

    def _shutdown(self, caller: str, reason: str = "") -> int:
        self.shut_down.set()
        return 0

    def _bus_info(self, caller: str) -> list[list[Any]]:
        """Every connection: its number, the other end, the direction, the transport, the topic, and whether it stands."""
        into = [(uri, "i", topic) for topic, entry in self._subscribers.items() for uri in list(entry.connected)]
        out = [(peer, "o", topic) for topic, entry in self._publishers.items() for peer in entry.subscribers]
        return [[k, end, way, "TCPROS", topic, True] for k, (end, way, topic) in enumerate(into + out)]

    def _request_topic(self, caller: str, topic: str, protocols: list[list[str]]) -> list[Any]:
        if topic not in self._publishers:
            raise GraphError(f"{self.name} does not publish {topic}")
        if not any(protocol and protocol[0] == "TCPROS" for protocol in protocols):
            raise GraphError(f"{self.name} speaks TCPROS only")
        return ["TCPROS", self.address, self._listener.getsockname()[1]]

    def _publisher_update(self, caller: str, topic: str, uris: list[str]) -> int:
        subscriber = self._subscribers.get(topic)
        if subscriber is not None:
            self._update(subscriber, [str(uri) for uri in uris])
        return 0

    # Subscribing

    def _update(self, subscriber: Subscriber, uris: list[str]) -> None:
        with subscriber.lock:
            subscriber.wanted = set(uris[:MOST_PUBLISHERS])
            for uri in set(subscriber.refusals) - subscriber.wanted:
                del subscriber.refusals[uri]
            known = subscriber.connecting | set(subscriber.connected) | set(subscriber.refusals)
            new = subscriber.wanted - known
            subscriber.connecting |= new
        for uri in new:
            threading.Thread(target=self._connect, args=(subscriber, uri), daemon=True).start()

    def _connect(self, subscriber: Subscriber, uri: str) -> None:
        """Connect to a publisher, with retries as long as the master lists it."""
        wait = RETRY_FIRST
        while not self._closing.is_set() and uri in subscriber.wanted:
            try:
                connection, peer = ask_publisher(self.name, subscriber, uri)
            except (GraphError, OSError):
                if uri in subscriber.refusals:
                    break
                self._closing.wait(wait)
                wait = min(2 * wait, RETRY_LAST)
                continue
            with subscriber.lock:
                subscriber.connected[uri] = peer
                subscriber.connecting.discard(uri)
            self._add(connection, self._frames(subscriber, uri, peer, connection))
            return
        with subscriber.lock:
            subscriber.connecting.discard(uri)

    def _frames(self, subscriber: Subscriber, uri: str, peer: str, connection: socket.socket) -> _Reader:
        reader = FrameReader()

        def ready() -> bool:
            try:
                frames = reader.receive(connection)
            except GraphError:
                frames = None
            if frames is None or uri not in subscriber.wanted:
                with subscriber.lock:
                    subscriber.connected.pop(uri, None)
                self._update(subscriber, list(subscriber.wanted))
                return False
            now = time.monotonic()
            for frame in frames:
                subscriber.deliver(Receipt(subscriber.topic, peer, now, frame))
            return True

        return ready

    # Publishing

    def _accept(self) -> bool:
        with contextlib.suppress(OSError):
            connection, _ = self._listener.accept()
            self._guests.admit(connection)
            threading.Thread(target=self._welcome, args=(connection,), daemon=True).start()
        return True

    def _welcome(self, connection: socket.socket) -> None:
        """Accept a subscriber."""
        answered = answer_subscriber(self.name, connection, self._publishers)
        in_time = self._guests.leave(connection)
        if answered is None:
            return
        publisher, peer = answered
        if not in_time or len(publisher.subscribers) >= MOST_SUBSCRIBERS:
            connection.close()
            return
        publisher.attach(connection, peer)

        def ready() -> bool:
            with contextlib.suppress(BlockingIOError, InterruptedError):
                try:
                    if connection.recv(4096):
                        return True
                except ConnectionError:
                    pass
                publisher.detach(connection)
                return False
            return True

        self._add(connection, ready)

    # The reading thread

    def _add(self, connection: socket.socket, ready: _Reader) -> None:
        with self._lock:
            if self._closing.is_set():
                connection.close()
                return
            self._arrivals.append((connection, ready))
        self._wake()

    def _wake(self) -> None:
        with contextlib.suppress(OSError):
            self._wake_write.send(b"\0")

    def _woken(self) -> bool:
        with contextlib.suppress(BlockingIOError):
            self._wake_read.recv(4096)
        return True

    def _read_all(self) -> None:
        with prioritized():
            self._read_until_closed()

    def _read_until_closed(self) -> None:
        while not self._closing.is_set():
            self._guests.expire()
            with self._lock:
                arrivals, self._arrivals = self._arrivals, []
            for connection, ready in arrivals:
                self._selector.register(connection, selectors.EVENT_READ, ready)
            for key, _ in self._selector.select(POLL):
                if not key.data():
                    self._selector.unregister(key.fileobj)
                    key.fileobj.close()  # type: ignore[union-attr]  # sockets alone are registered
        with self._lock:
            for connection, _ in self._arrivals:
                connection.close()
        for key in list(self._selector.get_map().values()):
            self._selector.unregister(key.fileobj)
            key.fileobj.close()  # type: ignore[union-attr]  # sockets alone are registered
        self._wake_write.close()
        self._selector.close()
