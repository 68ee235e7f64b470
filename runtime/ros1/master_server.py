"""A ROS 1 master for one machine without ROS: registrations and parameters, as far as nodes use them."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from typing import Any

from diffpbd.runtime.base.errors import GraphError
from diffpbd.runtime.ros1.master import LARGEST_ANSWER, SlaveServer, call

__all__ = ["LocalMaster"]

ADDRESS = "127.0.0.1"
NOTIFY_TIMEOUT = 2.0  # s; timeout of a notice to a node


class LocalMaster:
    """A master on this machine alone; `port` 0 takes a free one. Leave it with `close`."""

    def __init__(self, port: int = 0) -> None:
        self._lock = threading.RLock()
        self._topics: dict[str, str] = {}
        self._publishers: dict[str, dict[str, str]] = {}
        self._subscribers: dict[str, dict[str, str]] = {}
        self._services: dict[str, dict[str, str]] = {}
        self._parameters: dict[str, Any] = {}
        self._server = SlaveServer(ADDRESS, self._functions(), port=port, largest=LARGEST_ANSWER)
        self.uri = f"http://{ADDRESS}:{self._server.port}/"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _functions(self) -> dict[str, Callable[..., Any]]:
        return {
            "registerPublisher": self._register_publisher,
            "registerSubscriber": self._register_subscriber,
            "registerService": self._register_service,
            "unregisterPublisher": self._unregister_publisher,
            "unregisterSubscriber": lambda caller, topic, uri: self._drop(self._subscribers, topic, caller),
            "unregisterService": lambda caller, service, uri: self._drop(self._services, service, caller),
            "lookupNode": self._lookup_node,
            "getSystemState": self._system_state,
            "getTopicTypes": lambda caller: [list(item) for item in self._topics.items()],
            "getPublishedTopics": self._published,
            "getUri": lambda caller: self.uri,
            "getPid": lambda caller: os.getpid(),
            "getParam": self._get_parameter,
            "setParam": lambda caller, name, value: self._parameters.update({name: value}) or 0,
            "hasParam": lambda caller, name: name in self._parameters,
            "deleteParam": lambda caller, name: bool(self._parameters.pop(name, None)),
            "getParamNames": lambda caller: list(self._parameters),
            "subscribeParam": lambda caller, uri, name: self._parameters.get(name, {}),
            "unsubscribeParam": lambda caller, uri, name: 1,
        }

    def _register_publisher(self, caller: str, topic: str, kind: str, uri: str) -> list[str]:
        with self._lock:
            if kind != "*":
                self._topics[topic] = kind
            self._publishers.setdefault(topic, {})[caller] = uri
            listeners = list(self._subscribers.get(topic, {}).values())
        self._notify(topic)
        return listeners

    def _unregister_publisher(self, caller: str, topic: str, uri: str) -> int:
        removed = self._drop(self._publishers, topic, caller)
        self._notify(topic)
        return removed

    def _register_subscriber(self, caller: str, topic: str, kind: str, uri: str) -> list[str]:
        with self._lock:
            if kind != "*":
                self._topics.setdefault(topic, kind)
            self._subscribers.setdefault(topic, {})[caller] = uri
            return list(self._publishers.get(topic, {}).values())

    def _register_service(self, caller: str, service: str, service_uri: str, uri: str) -> int:
        with self._lock:
            self._services.setdefault(service, {})[caller] = uri
        return 1

    def _drop(self, table: dict[str, dict[str, str]], name: str, caller: str) -> int:
        with self._lock:
            removed = table.get(name, {}).pop(caller, None)
            if not table.get(name):
                table.pop(name, None)
        return int(removed is not None)

    def _notify(self, topic: str) -> None:
        with self._lock:
            uris = list(self._publishers.get(topic, {}).values())
            listeners = list(self._subscribers.get(topic, {}).values())

        def tell(listener: str) -> None:
            with contextlib.suppress(GraphError):
                call(listener, "publisherUpdate", "/master", topic, uris, timeout=NOTIFY_TIMEOUT)

        for listener in listeners:
            threading.Thread(target=tell, args=(listener,), daemon=True).start()

    def _lookup_node(self, caller: str, name: str) -> str:
        with self._lock:
            for table in (self._publishers, self._subscribers, self._services):
                for nodes in table.values():
                    if name in nodes:
                        return nodes[name]
        raise GraphError(f"unknown node {name}")

    def _system_state(self, caller: str) -> list[Any]:
        with self._lock:
            return [
                [[name, list(nodes)] for name, nodes in table.items()]
                for table in (self._publishers, self._subscribers, self._services)
            ]

    def _published(self, caller: str, subgraph: str) -> list[Any]:
        with self._lock:
            return [[topic, self._topics.get(topic, "*")] for topic in self._publishers]

    def _get_parameter(self, caller: str, name: str) -> Any:
        if name not in self._parameters:
            raise GraphError(f"Parameter [{name}] is not set")
        return self._parameters[name]
