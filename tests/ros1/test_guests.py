"""How long a stranger may say nothing, by a clock that only the test moves."""

from __future__ import annotations

import socket
from types import SimpleNamespace

import pytest

from diffpbd.runtime.ros1 import guests as module
from diffpbd.runtime.ros1 import master, node
from diffpbd.runtime.ros1.guests import Guests
from diffpbd.runtime.ros1.master_server import LocalMaster


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    found = SimpleNamespace(now=100.0)
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: found.now))
    return found


@pytest.mark.parametrize("longest", [0.5, 3.0])
def test_a_guest_stays_for_its_time_and_no_longer(longest: float, clock: SimpleNamespace) -> None:
    guests = Guests(2, longest)
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    with ours, theirs:
        guests.admit(ours)
        for now in (100.0, 100.0 + longest):
            clock.now = now
            guests.expire()
            with pytest.raises(BlockingIOError):
                theirs.recv(1)
        clock.now = 100.0 + 1.001 * longest
        guests.expire()
        assert theirs.recv(1) == b"" and not guests.leave(ours)


def test_a_served_guest_is_not_ended(clock: SimpleNamespace) -> None:
    guests = Guests(2, 1.0)
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    with ours, theirs:
        guests.admit(ours)
        assert guests.leave(ours)
        clock.now = 200.0
        guests.expire()
        with pytest.raises(BlockingIOError):
            theirs.recv(1)


def test_both_ports_of_a_node_have_their_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixteen at once, each for two seconds (topics) or three (calls), as docs/safety.md says."""
    told: list[tuple[int, float]] = []

    class Told(Guests):
        def __init__(self, most: int, longest: float) -> None:
            told.append((most, longest))
            super().__init__(most, longest)

    monkeypatch.setenv("ROS_IP", "127.0.0.1")
    graph = LocalMaster()
    monkeypatch.setattr(master, "Guests", Told)
    monkeypatch.setattr(node, "Guests", Told)
    node.Node("node", master=graph.uri).close()
    graph.close()
    assert told == [(16, 2.0), (16, 3.0)]
