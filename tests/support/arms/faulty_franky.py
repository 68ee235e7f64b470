"""A stand-in before the real driver: errors that no simulated robot makes, and states that it would not send."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any


class State:
    """A state of the robot with some fields replaced."""

    def __init__(self, raw: Any, **changed: Any) -> None:
        self._raw = raw
        self.__dict__.update(changed)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._raw, name)


class Errors:
    """As a text, what libfranka's errors are: a list of the flags that are set."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def __str__(self) -> str:
        return "[" + ", ".join(f'"{name}"' for name in self.names) + "]"


class FaultyRobot:
    """`change` makes a state of a state, `failing` the exception (or answer) that a call gives instead of the robot's."""

    def __init__(self, robot: Any) -> None:
        self._robot = robot
        self.change: Callable[[Any], Any] = lambda raw: raw
        self.failing: dict[str, Any] = {}
        self.calls: list[str] = []

    @property
    def state(self) -> Any:
        self._fail("state")
        return self.change(self._robot.state)

    def _fail(self, name: str) -> Any:
        found = self.failing.get(name)
        if isinstance(found, BaseException):
            raise found
        return found

    def __getattr__(self, name: str) -> Any:
        if name in self.failing:

            def call(*words: Any, **named: Any) -> Any:
                self.calls.append(name)
                return self._fail(name)

            return call
        if name in ("move", "stop", "recover_from_errors"):
            self.calls.append(name)
        return getattr(self._robot, name)

    def in_mode(self, mode: str, *errors: str) -> None:
        """From now on the robot says that it is in this mode, with these errors."""
        self.change = lambda raw: State(raw, robot_mode=SimpleNamespace(name=mode), current_errors=Errors(*errors))
