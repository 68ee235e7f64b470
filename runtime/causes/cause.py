"""A cause: something that may be wrong with a recording, or missing in a model; and what is found of it in a recording."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeAlias

if TYPE_CHECKING:
    from diffpbd.runtime.causes.measured import Measured, Reading
    from diffpbd.runtime.causes.recorded import Recorded

__all__ = ["Cause", "Finding", "Findings"]


@dataclass(frozen=True)
class Finding:
    """A cause at a joint (or at all of them, without a name), a sentence with its figure, and options that mend it; a `grave`
    one is refused."""

    cause: Cause
    joint: str
    message: str
    mend: str = ""
    grave: bool = False

    @property
    def kind(self) -> str:
        """What --accept calls it."""
        return self.cause.kind

    def text(self) -> str:
        """A sentence, with the correction."""
        where = f"{self.joint}: " if self.joint else ""
        return f"{where}{self.message}" + (f" ({self.mend})" if self.mend else "")


Findings: TypeAlias = Iterable[Finding]


class Cause:
    """Something that may be wrong, by its name `kind`. A subclass in a room of this folder is in the catalogue."""

    kind: ClassVar[str]
    """What --accept and the catalogue call it."""
    means: ClassVar[str] = ""
    """What a recording shows of it; empty: no recording by itself shows it."""
    mends: ClassVar[str] = ""
    """Options that mend it."""
    order: ClassVar[int] = 9
    """Causes are looked for in this order: what one finds, others leave alone."""
    timed: ClassVar[bool] = False
    """Whether it cannot be told where the clock is wrong."""
    of_clock: ClassVar[bool] = False
    """Whether the clock is wrong then."""
    of_torque: ClassVar[bool] = False
    """Whether it leaves the motion as it is, so that torques can be checked by that."""

    def seen(self, log: Recorded) -> Findings:
        """Findings in a recording as it was read."""
        return ()

    def measured(self, torques: Measured) -> Findings:
        """Findings in filtered torques beside those of the description."""
        return ()

    def readings(self, torques: Measured) -> Iterable[Reading]:
        """Other readings of the motion, that compete with it as it stands and with each other."""
        return ()
