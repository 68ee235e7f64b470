"""Checks which registered publishers of a topic are alive: a killed process stays registered with the master."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from diffpbd.runtime.base.errors import GoneError, GraphError
from diffpbd.runtime.ros1.master import CALL_TIMEOUT, Master, call

__all__ = ["Life", "Registration", "registered", "withdraw"]


class Life(enum.Enum):
    """Result of getPid on a registered node."""

    ANSWERS = "answers"
    GONE = "is gone: nothing listens at its address"
    """The machine refuses the connection: the process ended without unregistering."""
    SILENT = "does not answer"
    """It hangs, or its machine is off or unreachable; it may return and command the arm."""


@dataclass(frozen=True)
class Registration:
    """A node by its name, the address of its slave API, and whether it lives."""

    name: str
    uri: str
    life: Life

    def __str__(self) -> str:
        return f"{self.name} ({self.uri}) {self.life.value}"


def registered(master: Master, topic: str, own_name: str = "") -> tuple[Registration, ...]:
    """Every publisher of `topic` but `own_name`, with the result of its getPid."""
    return tuple(_ask(master, name) for name in master.publishers(topic) if name != own_name)


def _ask(master: Master, name: str) -> Registration:
    uri = master.node(name)
    try:
        call(uri, "getPid", master.caller, timeout=CALL_TIMEOUT)
    except GoneError:
        return Registration(name, uri, Life.GONE)
    except GraphError:
        return Registration(name, uri, Life.SILENT)
    return Registration(name, uri, Life.ANSWERS)


def withdraw(master: Master, topic: str) -> tuple[Registration, ...]:
    """Unregister the publishers of `topic` that do not answer, as `rosnode cleanup` does; returns them."""
    dead = tuple(one for one in registered(master, topic) if one.life is not Life.ANSWERS)
    for one in dead:
        call(master.uri, "unregisterPublisher", one.name, topic, one.uri, timeout=CALL_TIMEOUT)
    return dead
