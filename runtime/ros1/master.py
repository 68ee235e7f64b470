"""The XML-RPC side of ROS 1: calls to the master and to other nodes, and our own slave API."""

from __future__ import annotations

import http.client
import socket
import socketserver
import time
import xmlrpc.client
from collections.abc import Callable
from typing import Any, TypeVar
from xmlrpc.server import SimpleXMLRPCRequestHandler, SimpleXMLRPCServer

from diffpbd.runtime.base.errors import GoneError, GraphError
from diffpbd.runtime.ros1.guests import Guests

__all__ = ["CALL_TIMEOUT", "Master", "SlaveServer", "call"]

LARGEST_CALL = 1 << 16
"""[bytes] A call that another node makes to us; the longest, publisherUpdate, has a URI of a few dozen for each publisher."""
LARGEST_ANSWER = 1 << 25
"""[bytes] An answer of the master; a robot's description has up to some megabytes."""
MOST_CALLERS = 16  # calls to us at once
LONGEST_CALL = 3.0  # s; a call to us takes milliseconds
MOST_CHARACTERS = 300  # of a peer's answer in a message
CALL_TIMEOUT = 2.0  # s; an answer of the master or of a node on a local network takes milliseconds
T = TypeVar("T")
SUCCESS = 1  # the first element of every answer of the ROS XML-RPC API


class _Transport(xmlrpc.client.Transport):
    """A transport with limits of time and size: the standard one waits, reads and unpacks without any."""

    accept_gzip_encoding = False

    def __init__(self, timeout: float) -> None:
        super().__init__()
        self._timeout = timeout

    def make_connection(self, host: Any) -> http.client.HTTPConnection:
        connection = super().make_connection(host)
        connection.timeout = self._timeout
        return connection

    def parse_response(self, response: Any) -> Any:
        """Parse the answer, within these limits."""
        if response.getheader("Content-Encoding", "identity") != "identity":
            raise ValueError("a packed answer")
        end = time.monotonic() + self._timeout
        parser, unmarshaller = self.getparser()
        left = LARGEST_ANSWER
        while data := response.read1(1 << 16):
            left -= len(data)
            if left < 0:
                raise ValueError(f"an answer of more than {LARGEST_ANSWER} bytes")
            if time.monotonic() > end:
                raise TimeoutError("the answer takes too long")
            parser.feed(data)
        parser.close()
        return unmarshaller.close()


def call(uri: str, method: str, *arguments: Any, timeout: float) -> Any:
    """The value that `method` of the node or master at `uri` answers; a GraphError without an answer.

    Every call opens its own connection, so calls from several threads do not meet.
    """
    try:
        proxy = xmlrpc.client.ServerProxy(uri, transport=_Transport(timeout), allow_none=False)
        with proxy:
            answer = getattr(proxy, method)(*arguments)
    except xmlrpc.client.Fault as fault:
        raise GraphError(f"{uri}: {method} failed: {_shown(fault.faultString)}.") from None
    except Exception as error:  # no answer, or no XML-RPC: the standard library raises a dozen kinds
        kind = GoneError if isinstance(error, ConnectionRefusedError) else GraphError
        raise kind(
            f"{uri} does not answer {method} ({_shown(str(error)) or type(error).__name__}). Check that it runs, that its "
            "name resolves on this machine, and ROS_MASTER_URI."
        ) from None
    if not isinstance(answer, (list, tuple)) or len(answer) != 3:
        raise GraphError(f"{uri}: {method} answered {_shown(repr(answer))}, which is not the ROS API.")
    code, text, value = answer
    if code != SUCCESS:
        raise GraphError(f"{uri}: {method} was refused: {_shown(str(text))}.")
    return value


def _shown(text: str) -> str:
    """A peer's text, safe for a terminal."""
    tame = "".join(c if c.isprintable() else " " for c in text[:MOST_CHARACTERS])
    return tame if len(text) <= MOST_CHARACTERS else f"{tame}…"


class Master:
    """The master's API for one node: caller name, and the URI of its slave API."""

    def __init__(self, uri: str, caller: str, slave_uri: str, timeout: float) -> None:
        self.uri = uri
        self.caller = caller
        self.own_uri = slave_uri
        self._timeout = timeout

    def _call(self, method: str, *arguments: Any, read: Callable[[Any], T] = lambda value: value) -> T:
        """`read` of the answer's value; a GraphError if it does not follow the API."""
        value = call(self.uri, method, self.caller, *arguments, timeout=self._timeout)
        try:
            return read(value)
        except (TypeError, ValueError, LookupError, AttributeError):
            raise GraphError(
                f"{self.uri}: {method} answered {_shown(repr(value))}, which is not the ROS API."
            ) from None

    def register_publisher(self, topic: str, kind: str) -> None:
        """Announce a publisher."""
        self._call("registerPublisher", topic, kind, self.own_uri)

    def unregister_publisher(self, topic: str) -> None:
        """Withdraw a publisher."""
        self._call("unregisterPublisher", topic, self.own_uri)

    def register_subscriber(self, topic: str, kind: str) -> list[str]:
        """Announce a subscriber; the URIs of the topic's publishers."""
        return self._call("registerSubscriber", topic, kind, self.own_uri, read=lambda uris: [str(uri) for uri in uris])

    def unregister_subscriber(self, topic: str) -> None:
        """Withdraw a subscriber."""
        self._call("unregisterSubscriber", topic, self.own_uri)

    def publishers(self, topic: str) -> tuple[str, ...]:
        """Names of the nodes that publish a topic."""
        topics = self._call(
            "getSystemState", read=lambda state: {name: tuple(map(str, nodes)) for name, nodes in state[0]}
        )
        return topics.get(topic, ())

    def node(self, name: str) -> str:
        """The URI of a node's slave API; a GraphError if nothing is registered under the name."""
        return self._call("lookupNode", name, read=str)

    def parameter(self, name: str) -> Any:
        """A parameter; a GraphError if it is not set."""
        return self._call("getParam", name)

    def process(self) -> int:
        """The master's process number, which changes when it is restarted."""
        return self._call("getPid", read=int)


class _Handler(SimpleXMLRPCRequestHandler):
    """Serves any path and closes the connection, which rosmaster's own client accepts."""

    rpc_paths = ()
    timeout = LONGEST_CALL

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def do_POST(self) -> None:
        """Serve a call with a valid length. Nothing is decompressed."""
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit() and len(length) < 12) or "Content-Encoding" in self.headers:
            self.send_error(400)
        elif int(length) > self.server.largest:  # type: ignore[attr-defined]  # SlaveServer
            self.send_error(413)
        else:
            super().do_POST()


class SlaveServer(socketserver.ThreadingMixIn, SimpleXMLRPCServer):
    """Our slave API: `functions` by name, each returning the value of the answer."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(
        self, address: str, functions: dict[str, Callable[..., Any]], port: int = 0, *, largest: int = LARGEST_CALL
    ) -> None:
        """`largest`: bytes of a call."""
        self._guests = Guests(MOST_CALLERS, LONGEST_CALL)
        self.largest = largest
        super().__init__((address, port), requestHandler=_Handler, logRequests=False, allow_none=False)
        self._functions = functions
        self.port = int(self.server_address[1])

    def process_request(self, request: Any, client_address: Any) -> None:
        """In its own thread, with the limits of `Guests`."""
        self._guests.admit(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """The end of a call."""
        self._guests.leave(request)
        super().shutdown_request(request)

    def service_actions(self) -> None:
        """Called regularly by the serving loop."""
        super().service_actions()
        self._guests.expire()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignores peers that break their connection."""

    def _dispatch(self, method: str, params: Any) -> list[Any]:
        function = self._functions.get(method)
        if function is None:
            return [-1, f"no method {method}", 0]
        try:
            return [SUCCESS, "", function(*params)]
        except (GraphError, TypeError, ValueError, LookupError, AttributeError) as error:
            return [0, str(error), 0]
