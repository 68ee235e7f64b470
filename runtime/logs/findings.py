"""Findings about a recording: kind, joint, a sentence with the figure, and the option that corrects it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from diffpbd.runtime.base.errors import InputError, arg
from diffpbd.runtime.base.names import hint

__all__ = ["KINDS", "Finding", "expect_kinds", "refuse", "said", "sound"]

KINDS = {
    "rates": "rates that are not those of the positions (zero, reversed, other units, motor side)",
    "lag": "rates later or earlier than the positions",
    "sampling": "a motion that is too quick for the samples",
    "frozen": "a position that stands still while its rate does not",
    "jumps": "positions that jump, such as wrapped ones",
    "limits": "positions outside of the joint's limits",
    "speed": "rates above the joint's limit",
    "units": "positions in degrees",
    "time": "a clock in ms, µs or ns, or one that runs faster or slower than the rates",
    "saturated": "a torque at its largest value for a while",
    "constant": "a torque that never changes",
    "stuck": "a torque that stays at one value while the joint moves",
    "spikes": "single samples of a torque, position or rate far from those around them",
    "sign": "a torque of the wrong sign",
    "mirrored": "positions and rates of a joint with the wrong sign",
    "swapped": "torques of two joints exchanged",
    "gain": "a torque in other units than the description's, or masses far from it",
    "shift": "a torque later or earlier than the motion",
    "clock": "a torque that comes later and later, or earlier and earlier, after the motion",
}
"""Kinds of findings, as `--accept` takes them."""


@dataclass(frozen=True)
class Finding:
    """`kind` is a key of `KINDS`; `joint` may be empty (all of them); `mend` names options; a `grave` one is refused."""

    kind: str
    joint: str
    message: str
    mend: str = ""
    grave: bool = False

    def text(self) -> str:
        """A sentence, with the correction."""
        where = f"{self.joint}: " if self.joint else ""
        return f"{where}{self.message}" + (f" ({self.mend})" if self.mend else "")


def expect_kinds(text: str | None) -> tuple[str, ...]:
    """The kinds that `--accept` names, separated by commas; all of them for `all`."""
    if text is None:
        return ()
    kinds = tuple(word.strip() for word in text.split(","))
    for kind in kinds:
        if kind not in KINDS and kind != "all":
            raise InputError(f"{arg.accept}: there is no kind {kind!r} of finding. {hint(kind, [*KINDS, 'all'])}")
    return tuple(KINDS) if "all" in kinds else kinds


WARNING = "warning: "
ABOUT_TORQUE = ("saturated", "constant", "stuck", "spikes", "sign", "mirrored", "swapped", "gain", "shift", "clock")
"""Kinds that leave the motion as it is."""


def sound(findings: Iterable[Finding]) -> bool:
    """Whether the motion is sound, so that torques can be checked by it."""
    return all(finding.kind in ABOUT_TORQUE for finding in findings)


def said(findings: Iterable[Finding]) -> tuple[str, ...]:
    """One note per finding."""
    return tuple(f"{WARNING}{finding.text()}" for finding in findings)


def refuse(where: str, findings: Sequence[Finding], accept: Sequence[str]) -> None:
    """InputError of all grave findings whose kind is not accepted."""
    grave = [f for f in findings if f.grave and f.kind not in accept]
    if grave:
        kinds = ",".join(dict.fromkeys(f.kind for f in grave))
        lines = "".join(f"\n  {f.text()}" for f in grave)
        raise InputError(
            f"{where} contradicts itself or the robot; mend it, or go on with {arg.accept} {kinds}:{lines}"
        )
