"""Common part of arms with `JointState` messages: the last usable state, and the first fault."""

from __future__ import annotations

from collections import Counter

from diffpbd.runtime.interface.limb_state import LimbState
from diffpbd.runtime.loop.arm import Clock, SystemClock
from diffpbd.runtime.model.limits import Limits
from diffpbd.runtime.records.joint_states import JointStateReader
from diffpbd.runtime.records.messages import JointState

__all__ = ["Heard"]


class Heard:
    """`joints` and `limits` in the order of the generated robot."""

    def __init__(self, joints: tuple[str, ...], limits: Limits, clock: Clock | None = None) -> None:
        self.joints = joints
        self.limits = limits
        self.stale_after = 0.1
        self.clock: Clock = clock or SystemClock()
        self.reader = JointStateReader(joints)
        self._state: LimbState | None = None
        self._noted = ""

    def _take(self, message: JointState, received: float, source: str) -> None:
        """A message that came from `source` at `received` [s]."""
        state = self.reader.offer(message, received, source)
        if self.reader.second_source and not self._noted:
            both = " and ".join(map(self._named, self.reader.second_source))
            self._note(f"two sources of the arm's joint states: {both}")
        self._note(self.reader.stepped)
        self._state = state or self._state

    def _named(self, source: str) -> str:
        """A publisher of joint states in words."""
        return source

    def _note(self, trouble: str) -> None:
        self._noted = self._noted or trouble

    @property
    def state(self) -> LimbState | None:
        """The last usable message's state; its numbers may be anything."""
        return self._state

    @property
    def rejected(self) -> Counter[str]:
        """Joint states that could not be used, by reason."""
        return self.reader.rejected

    def forget_trouble(self) -> None:
        """Forget noted faults; call it right before arming."""
        self._noted = ""
