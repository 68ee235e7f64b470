"""The XML-RPC side of ROS 1: calls to the master and to other nodes, and our own slave API."""

from __future__ import annotations

import http.client
import socket
import socketserver
import xmlrpc.client
from collections.abc import Callable
from typing import Any
from xmlrpc.server import SimpleXMLRPCRequestHandler, SimpleXMLRPCServer

from diffpbd.runtime.ros1.errors import GraphError

__all__ = ["CALL_TIMEOUT", "Master", "SlaveServer", "call"]

CALL_TIMEOUT = 2.0  # s; an answer of the master or of a node on a local network takes milliseconds
SUCCESS = 1  # the first element of every answer of the ROS XML-RPC API


class _Transport(xmlrpc.client.Transport):
    """A transport that gives up: the standard one waits for ever."""

    def __init__(self, timeout: float) -> None:
        super().__init__()
        self._timeout = timeout

    def make_connection(self, host: Any) -> http.client.HTTPConnection:
        connection = super().make_connection(host)
        connection.timeout = self._timeout
        return connection


def call(uri: str, method: str, *arguments: Any, timeout: float) -> Any:
    """The value that `method` of the node or master at `uri` answers; a GraphError without an answer.

    Every call opens its own connection, so calls from several threads do not meet.
    """
    try:
        proxy = xmlrpc.client.ServerProxy(uri, transport=_Transport(timeout), allow_none=False)
        with proxy:
            answer = getattr(proxy, method)(*arguments)
    except xmlrpc.client.Fault as fault:
        raise GraphError(f"{uri}: {method} failed: {fault.faultString}.") from None
    except (OSError, http.client.HTTPException, xmlrpc.client.Error, ValueError) as error:
        raise GraphError(
            f"{uri} does not answer {method} ({error or type(error).__name__}). Check that it runs, that its "
            "name resolves on this machine, and ROS_MASTER_URI."
        ) from None
    if not isinstance(answer, (list, tuple)) or len(answer) != 3:
        raise GraphError(f"{uri}: {method} answered {answer!r}, which is not the ROS API.")
    code, text, value = answer
    if code != SUCCESS:
        raise GraphError(f"{uri}: {method} was refused: {text}.")
    return value


class Master:
    """The master's API for one node: caller name, and the URI of its slave API."""

    def __init__(self, uri: str, caller: str, slave_uri: str, timeout: float) -> None:
        self.uri = uri
        self._caller = caller
        self._slave = slave_uri
        self._timeout = timeout

    def _call(self, method: str, *arguments: Any) -> Any:
        return call(self.uri, method, self._caller, *arguments, timeout=self._timeout)

    def register_publisher(self, topic: str, kind: str) -> None:
        """Announce a publisher."""
        self._call("registerPublisher", topic, kind, self._slave)

    def unregister_publisher(self, topic: str) -> None:
        """Withdraw a publisher."""
        self._call("unregisterPublisher", topic, self._slave)

    def register_subscriber(self, topic: str, kind: str) -> list[str]:
        """Announce a subscriber; the URIs of the topic's publishers."""
        return [str(uri) for uri in self._call("registerSubscriber", topic, kind, self._slave)]

    def unregister_subscriber(self, topic: str) -> None:
        """Withdraw a subscriber."""
        self._call("unregisterSubscriber", topic, self._slave)

    def publishers(self, topic: str) -> tuple[str, ...]:
        """Names of the nodes that publish a topic."""
        for name, nodes in self._call("getSystemState")[0]:
            if name == topic:
                return tuple(str(node) for node in nodes)
        return ()

    def parameter(self, name: str) -> Any:
        """A parameter; a GraphError if it is not set."""
        return self._call("getParam", name)

    def topic_types(self) -> dict[str, str]:
        """Types by topic."""
        return {str(topic): str(kind) for topic, kind in self._call("getTopicTypes")}

    def process(self) -> int:
        """The master's process number, which changes when it is restarted."""
        return int(self._call("getPid"))


class _Handler(SimpleXMLRPCRequestHandler):
    """Any path is served, and the connection is not kept: rosmaster's own client does not mind."""

    rpc_paths = ()
    timeout = 5.0  # s; a peer that says nothing does not keep a thread

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


class SlaveServer(socketserver.ThreadingMixIn, SimpleXMLRPCServer):
    """Our slave API: `functions` by name, each returning the value of the answer."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, address: str, functions: dict[str, Callable[..., Any]], port: int = 0) -> None:
        super().__init__((address, port), requestHandler=_Handler, logRequests=False, allow_none=False)
        self._functions = functions
        self.port = int(self.server_address[1])

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A peer that breaks its connection is not our failure."""

    def _dispatch(self, method: str, params: Any) -> list[Any]:
        function = self._functions.get(method)
        if function is None:
            return [-1, f"no method {method}", 0]
        try:
            return [SUCCESS, "", function(*params)]
        except (GraphError, TypeError) as error:
            return [0, str(error), 0]
