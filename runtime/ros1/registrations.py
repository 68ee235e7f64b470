"""Checks which publishers of a topic are alive, by the master's list and by the robot's own connections: a killed process
stays registered with the master, and a halted one stays connected to the robot without being registered."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from diffpbd.runtime.base.errors import GoneError, GraphError
from diffpbd.runtime.ros1.master import CALL_TIMEOUT, Master, call
from diffpbd.runtime.ros1.processes import process_at

__all__ = ["Life", "Registration", "connected", "registered", "withdraw"]

INWARDS = "i"
"""The direction of a subscriber's connection in the answer of getBusInfo."""


class Life(enum.Enum):
    """Result of getPid on a node."""

    ANSWERS = "answers"
    GONE = "is gone: nothing listens at its address"
    """The machine refuses the connection: the process ended without unregistering."""
    SILENT = "does not answer"
    """It is halted or hangs, or its machine is off or unreachable: when it goes on it commands the arm."""
    WITHDRAWN = "is connected to the robot without being registered"


@dataclass(frozen=True)
class Registration:
    """A node by its name, the address of its slave API, and whether it lives."""

    name: str
    uri: str
    life: Life

    def __str__(self) -> str:
        where = ", ".join(filter(None, (self.uri, process_at(self.uri))))
        return f"{self.name} ({where}) {self.life.value}"


def registered(master: Master, topic: str, own_name: str = "") -> tuple[Registration, ...]:
    """Every publisher of `topic` but `own_name`, with the result of its getPid."""
    names = [name for name in master.publishers(topic) if name != own_name]
    return tuple(
        Registration(name, uri, _life(master, uri)) for name, uri in zip(names, map(master.node, names), strict=True)
    )


def _life(master: Master, uri: str) -> Life:
    try:
        call(uri, "getPid", master.caller, timeout=CALL_TIMEOUT)
    except GoneError:
        return Life.GONE
    except GraphError:
        return Life.SILENT
    return Life.ANSWERS


def connected(master: Master, topic: str, robot: str) -> tuple[Registration, ...]:
    """Nodes but our own, none of them ended, from which the node `robot` gets `topic`, by its own list of connections."""
    if not robot:
        return ()
    answer = call(master.node(robot), "getBusInfo", master.caller, timeout=CALL_TIMEOUT)
    found = set()
    for entry in answer if isinstance(answer, list) else ():
        if isinstance(entry, list) and len(entry) >= 5 and (entry[2], entry[4]) == (INWARDS, topic):
            found.add(str(entry[1]))
    alive = [uri for uri in sorted(found - {master.own_uri}) if _life(master, uri) is not Life.GONE]
    return tuple(Registration("a program", uri, Life.WITHDRAWN) for uri in alive)


def withdraw(master: Master, topic: str) -> tuple[Registration, ...]:
    """Unregister the publishers of `topic` whose process has ended; returns them. One that is only silent stays: it may be
    halted, and its connection to the robot outlives its registration."""
    dead = tuple(one for one in registered(master, topic) if one.life is Life.GONE)
    for one in dead:
        call(master.uri, "unregisterPublisher", one.name, topic, one.uri, timeout=CALL_TIMEOUT)
    return dead
