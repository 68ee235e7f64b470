"""One participant of a DDS domain: topics that its own thread reads, topics that are written, and who is at their ends."""

from __future__ import annotations

import os
import re
import threading
import time as clock
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from cyclonedds.builtin import (
    BuiltinDataReader,
    BuiltinTopicDcpsParticipant,
    BuiltinTopicDcpsPublication,
    BuiltinTopicDcpsSubscription,
)
from cyclonedds.core import DDSException, InstanceState, ReadCondition, SampleState, ViewState, WaitSet
from cyclonedds.domain import Domain, DomainParticipant
from cyclonedds.pub import DataWriter
from cyclonedds.qos import Policy, Qos
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic

from diffpbd.runtime.base.errors import GraphError, InputError, MessageError
from diffpbd.runtime.base.priority import prioritized

__all__ = ["LOOPBACK", "Node", "Reader", "Writer", "domain_of", "topic_name"]

DOMAINS = 233
"""Number of domains of DDS; those above 101 may meet ports that the system gives to others."""
WAIT = 50_000_000  # ns between two looks at a request to end
NAME = re.compile(r"/?[A-Za-z_]\w*(/[A-Za-z_]\w*)*", re.ASCII)
DEPTH = 10
"""Messages that wait for a reader; a state older than the newest is never used."""
MANY = 1000
"""Endpoints that are looked at where something is missing."""
LOOPBACK = (
    "<CycloneDDS><Domain><General><Interfaces><NetworkInterface name='lo' multicast='false'/></Interfaces>"
    "<AllowMulticast>false</AllowMulticast></General><Discovery><ParticipantIndex>auto</ParticipantIndex>"
    "<MaxAutoParticipantIndex>50</MaxAutoParticipantIndex><Peers><Peer Address='localhost'/></Peers></Discovery>"
    "</Domain></CycloneDDS>"
)
"""Settings for programs of this machine alone, which need no multicast."""


def domain_of(environment: Mapping[str, str] = os.environ) -> int:
    """The domain of ROS_DOMAIN_ID, 0 where it is not set; an InputError if it is none."""
    text = environment.get("ROS_DOMAIN_ID", "").strip() or "0"
    if not (text.isascii() and text.isdigit() and int(text) < DOMAINS):
        raise InputError(f"ROS_DOMAIN_ID: expected a whole number from 0 to {DOMAINS - 1}, found {text!r}.")
    return int(text)


TOPIC = ("rt", "")
"""Prefix and suffix of a topic's name in DDS."""


def topic_name(name: str, parts: tuple[str, str] = TOPIC) -> str:
    """A topic's name as DDS has it: `rt/joint_states` for `/joint_states`; services have other `parts` before and behind it."""
    if not NAME.fullmatch(name):
        raise InputError(
            f"Topic {name!r}: expected a name such as /joint_states, words of letters, digits and _ after /."
        )
    before, behind = parts
    return f"{before}/{name.lstrip('/')}{behind}"


@dataclass(frozen=True)
class Sample:
    """Circumstances of a message: monotonic time [s] and the participant that wrote it."""

    received: float
    participant: str


class Reader:
    """A topic that is read; best effort, which fits every writer, and calls and answers of services reliably. `callback` runs
    in the node's thread."""

    def __init__(
        self, node: Node, name: str, kind: type[Any], callback: Callable[[Any, Sample], None], parts: tuple[str, str]
    ) -> None:
        self.name = name
        self.broken: Counter[str] = Counter()
        """Messages that are none, by reason."""
        self.callback = callback
        reliability = (
            Policy.Reliability.BestEffort if parts == TOPIC else Policy.Reliability.Reliable(max_blocking_time=0)
        )
        qos = Qos(reliability, Policy.History.KeepLast(DEPTH), Policy.IgnoreLocal.Participant)
        self.reader = DataReader(node.participant, Topic(node.participant, topic_name(name, parts), kind), qos=qos)
        self._writers: dict[int, str] = {}

    def read(self) -> None:
        """All that has come; whatever somebody sends, this ends."""
        while True:
            try:
                samples = self.reader.take(1)
            except DDSException:
                return
            except Exception as error:  # bytes that are not the message
                self.broken[f"not the message ({type(error).__name__})"] += 1
                continue
            if not samples:
                return
            info = samples[0].sample_info
            if not info.valid_data:
                continue
            try:
                self.callback(samples[0], Sample(clock.monotonic(), self._writer(info.publication_handle)))
            except MessageError as error:
                self.broken[str(error)] += 1

    def participants(self) -> frozenset[str]:
        """Who writes this topic, in the form that fits."""
        return frozenset(self._writer(handle) for handle in self.reader.get_matched_publications())

    def _writer(self, handle: int) -> str:
        found = self._writers.get(handle)
        if found is None:
            facts = self.reader.get_matched_publication_data(handle)
            found = "" if facts is None else str(facts.participant_key)
            if found and len(self._writers) < MANY:
                self._writers[handle] = found
        return found


class Writer:
    """A topic that is written: reliable and volatile, the newest message alone; never waited for."""

    def __init__(self, node: Node, name: str, kind: type[Any], depth: int, parts: tuple[str, str]) -> None:
        self.name = name
        self.dropped = 0
        """Messages that the middleware did not take."""
        qos = Qos(
            Policy.Reliability.Reliable(max_blocking_time=0), Policy.Durability.Volatile, Policy.History.KeepLast(depth)
        )
        self._writer = DataWriter(node.participant, Topic(node.participant, topic_name(name, parts), kind), qos=qos)
        self._readers: dict[int, str] = {}

    def write(self, message: Any) -> None:
        """Hand it to the middleware."""
        try:
            self._writer.write(message)
        except DDSException:
            self.dropped += 1

    def participants(self) -> frozenset[str]:
        """Who reads this topic."""
        handles = self._writer.get_matched_subscriptions()
        for handle in handles:
            if handle not in self._readers and (facts := self._writer.get_matched_subscription_data(handle)):
                self._readers[handle] = str(facts.participant_key)
        self._readers = {handle: key for handle, key in self._readers.items() if handle in handles}
        return frozenset(self._readers.values())


class Node:
    """A participant; leave it with `close`."""

    def __init__(self, domain: int, *, local: bool = False) -> None:
        """`local`: on this machine alone."""
        self.domain = domain
        self._readers: list[Reader] = []
        self._conditions: list[ReadCondition] = []
        try:
            with prioritized():  # the middleware's threads inherit it
                self._settings = Domain(domain, LOOPBACK) if local else None
                self.participant = DomainParticipant(domain)
                self.waitset = WaitSet(self.participant)
        except DDSException as error:
            raise GraphError(f"DDS domain {domain} cannot be joined: {error}") from None
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._read, name="dds", daemon=True)
        self._started = False

    def read(
        self, name: str, kind: type[Any], callback: Callable[[Any, Sample], None], parts: tuple[str, str] = TOPIC
    ) -> Reader:
        """Read a topic from `start` on."""
        reader = Reader(self, name, kind, callback, parts)
        self._conditions.append(ReadCondition(reader.reader, ViewState.Any | InstanceState.Any | SampleState.Any))
        self.waitset.attach(self._conditions[-1])
        self._readers.append(reader)
        return reader

    def write(self, name: str, kind: type[Any], depth: int = 1, parts: tuple[str, str] = TOPIC) -> Writer:
        """Write a topic."""
        return Writer(self, name, kind, depth, parts)

    def start(self) -> None:
        """Begin to read."""
        self._started = True
        self._thread.start()

    def _read(self) -> None:
        with prioritized():
            self._loop()

    def _loop(self) -> None:
        while not self._closing.is_set():
            try:
                self.waitset.wait(WAIT)
            except DDSException:
                return
            for reader in self._readers:
                reader.read()

    def who(self, participant: str) -> str:
        """A participant in words: its process and machine where its middleware says them."""
        try:
            for sample in BuiltinDataReader(self.participant, BuiltinTopicDcpsParticipant).read(MANY):
                if str(sample.key) == participant:
                    facts = {p.key: p.value for p in sample.qos if isinstance(p, Policy.Property)}
                    if "__Pid" in facts:
                        name, host = facts.get("__ProcessName", "a process"), facts.get("__Hostname", "another machine")
                        return f"{name} (process {facts['__Pid']}) on {host}"
        except DDSException:
            pass
        return f"the participant {participant}"

    def types(self, name: str) -> tuple[str, ...]:
        """The types that a topic is written in, whatever we expect."""
        try:
            found = BuiltinDataReader(self.participant, BuiltinTopicDcpsPublication).read(MANY)
        except DDSException:
            return ()
        return tuple(sorted({one.type_name for one in found if one.topic_name == topic_name(name)}))

    def unfit(self, writer: Writer) -> list[str]:
        """Readers of a topic that ask for more than its writer offers, each in words."""
        try:
            found = BuiltinDataReader(self.participant, BuiltinTopicDcpsSubscription).read(MANY)
        except DDSException:
            return []
        wanted = [
            (self.who(str(one.participant_key)), str(one.qos[Policy.Durability]).rpartition(".")[2])
            for one in found
            if one.topic_name == topic_name(writer.name) and one.qos[Policy.Durability] != Policy.Durability.Volatile
        ]
        return [
            f"{who} asks for the durability {durability}, and commands are sent as Volatile (QoS: a reader gets nothing from a "
            "writer that offers less than it asks for)"
            for who, durability in wanted
        ]

    def close(self) -> None:
        """Leave the domain, so that others see it at once."""
        self._closing.set()
        if self._started:
            self._thread.join(1.0)
        for entity in (self.participant, self._settings):
            if entity is not None:
                entity.__del__()
