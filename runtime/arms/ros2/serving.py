"""Serving an arm that a run has released, until its own controller has it: nothing else would hold it."""

from __future__ import annotations

from collections.abc import Callable

from diffpbd.runtime.arms.ros2.link import Handing
from diffpbd.runtime.arms.ros2.servo import HOLD_PERIOD
from diffpbd.runtime.loop.arm import Clock
from diffpbd.runtime.loop.stopping import StopRequest

__all__ = ["serve"]

Say = Callable[[str], None]
WAITING = "the arm is held by this program: activate its own controller, then end this with Ctrl-C"


def serve(
    handing: Handing | None,
    clock: Clock,
    seconds: float | None,
    hold: Callable[[], None],
    gone: Callable[[], str],
    say: Say,
) -> bool:
    """Call `hold` every HOLD_PERIOD until a switch of controllers is done, for `seconds` at the longest (None: without end), or
    until Ctrl-C; `gone` says who or what keeps it from that. Whether its own controller has it."""
    end = float("inf") if seconds is None else clock.now() + seconds
    if handing is None and seconds is None:
        say(WAITING)
    with StopRequest().signals() as stop:
        while clock.now() < end and not (stop.text and handing is None):
            if handing is not None and handing.done:
                say(f"{handing.own} has the arm")
                return True
            if handing is not None and handing.done is False:
                say(f"{handing.own} could not be activated; {WAITING}")
                handing = None
            why = gone()
            if why:
                say(f"the arm is held no longer: {why}")
                return False
            hold()
            clock.sleep(HOLD_PERIOD)
    say("the arm was left with the torque that held it: nothing damps it")
    return False
