"""Requirements of these tests: the wheel of the middleware, and settings with which it stays on this machine."""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("cyclonedds")

LOOPBACK = (
    '<CycloneDDS><Domain><General><Interfaces><NetworkInterface name="lo" multicast="false"/></Interfaces>'
    "<AllowMulticast>false</AllowMulticast></General><Discovery><ParticipantIndex>auto</ParticipantIndex>"
    '<MaxAutoParticipantIndex>40</MaxAutoParticipantIndex><Peers><Peer Address="localhost"/></Peers></Discovery>'
    "</Domain></CycloneDDS>"
)


DOMAINS = range(20, 100)
"""Whose ports lie below those that the system gives away."""


@contextlib.contextmanager
def own_domain() -> Iterator[int]:
    """A domain that no other run of these tests on this machine has: two arms in one would answer for each other."""
    for domain in DOMAINS:
        with contextlib.ExitStack() as held:
            try:
                lock = held.enter_context((Path(tempfile.gettempdir()) / f"diffpbd-ros2-domain-{domain}").open("w"))
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:  # taken, or somebody else's file
                continue
            yield domain
            return
    pytest.skip("every domain is taken")


@pytest.fixture(autouse=True, scope="session")
def this_machine_alone() -> Iterator[None]:
    """No multicast is needed, and nobody else's domain is met."""
    os.environ["CYCLONEDDS_URI"] = LOOPBACK
    with own_domain() as domain:
        os.environ["ROS_DOMAIN_ID"] = str(domain)
        yield
