"""What these tests need: the wheel of the middleware, and settings with which it stays on this machine."""

from __future__ import annotations

import os

import pytest

pytest.importorskip("cyclonedds")

LOOPBACK = (
    '<CycloneDDS><Domain><General><Interfaces><NetworkInterface name="lo" multicast="false"/></Interfaces>'
    "<AllowMulticast>false</AllowMulticast></General><Discovery><ParticipantIndex>auto</ParticipantIndex>"
    '<MaxAutoParticipantIndex>40</MaxAutoParticipantIndex><Peers><Peer Address="localhost"/></Peers></Discovery>'
    "</Domain></CycloneDDS>"
)


@pytest.fixture(autouse=True, scope="session")
def this_machine_alone() -> None:
    """No multicast is needed, and nobody else's domain is met."""
    os.environ["CYCLONEDDS_URI"] = LOOPBACK
    os.environ["ROS_DOMAIN_ID"] = str(20 + os.getpid() % 40)
