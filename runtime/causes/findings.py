"""Findings about a recording: which are refused, and which may be accepted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from diffpbd.runtime.base.errors import InputError, arg
from diffpbd.runtime.base.names import hint
from diffpbd.runtime.causes.catalogue import SEEN
from diffpbd.runtime.causes.cause import Finding

__all__ = ["KINDS", "expect_kinds", "refuse", "said", "sound"]

KINDS = tuple(sorted(own.kind for own in SEEN))
"""Kinds of findings, as `--accept` takes them."""


def expect_kinds(text: str | None) -> tuple[str, ...]:
    """The kinds that `--accept` names, separated by commas; all of them for `all`."""
    if text is None:
        return ()
    kinds = tuple(word.strip() for word in text.split(","))
    for kind in kinds:
        if kind not in (*KINDS, "all"):
            raise InputError(f"{arg.accept}: there is no kind {kind!r} of finding. {hint(kind, [*KINDS, 'all'])}")
    return KINDS if "all" in kinds else kinds


def sound(findings: Iterable[Finding]) -> bool:
    """Whether the motion is sound, so that torques can be checked by it."""
    return all(finding.cause.of_torque for finding in findings)


def said(findings: Iterable[Finding]) -> tuple[str, ...]:
    """One note per finding."""
    return tuple(f"warning: {finding.text()}" for finding in findings)


def refuse(where: str, findings: Sequence[Finding], accept: Sequence[str]) -> None:
    """InputError of all grave findings whose kind is not accepted."""
    grave = [f for f in findings if f.grave and f.kind not in accept]
    if grave:
        kinds = ",".join(dict.fromkeys(f.kind for f in grave))
        lines = "".join(f"\n  {f.text()}" for f in grave)
        raise InputError(
            f"{where} contradicts itself or the robot; mend it, or go on with {arg.accept} {kinds}:{lines}"
        )
