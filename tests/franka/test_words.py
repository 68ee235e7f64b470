"""Reasons of the driver, in words."""

from __future__ import annotations

import franky
import pytest
from support.arms.faulty_franky import Errors

from diffpbd.runtime.arms.franka.words import ERRORS, MODES, READY, REFLEX, describe, fault_of, flags, trouble_of
from diffpbd.runtime.loop.arm import DISABLED
from diffpbd.runtime.loop.stopping import Reason


def test_every_error_and_mode_is_one_of_the_drivers() -> None:
    known = {name for name in dir(franky.Errors) if not name.startswith("_")}
    assert set(ERRORS) <= known
    assert {*MODES, *READY, REFLEX} == set(franky.RobotMode.__members__)


def test_errors_by_name() -> None:
    assert flags(franky.Errors()) == ()
    assert flags(Errors("joint_reflex", "power_limit_violation")) == ("joint_reflex", "power_limit_violation")
    assert describe(("joint_reflex", "start_elbow_sign_inconsistent")).startswith("joint_reflex (a joint met")
    assert describe(("start_elbow_sign_inconsistent",)) == "start_elbow_sign_inconsistent"


def test_only_a_robot_without_errors_is_ready() -> None:
    assert trouble_of("Idle", ()) == trouble_of("Move", ()) == ""
    assert trouble_of("Reflex", ()).startswith(DISABLED) and trouble_of("Idle", ("joint_reflex",)).startswith(DISABLED)
    assert not any(trouble_of(mode, ()).startswith(DISABLED) for mode in MODES)  # recovery does not help there
    assert trouble_of("Dancing", ()) == "the robot is in mode Dancing"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (franky.NetworkException("x"), Reason.LOST_ROBOT),
        (franky.ProtocolException("x"), Reason.LOST_ROBOT),
        (RuntimeError("Net Exception"), Reason.LOST_ROBOT),
        (RuntimeError("another one"), Reason.ROBOT),
        (franky.ControlException("x"), Reason.ROBOT),
        (franky.CommandException("x"), Reason.ROBOT),
        (franky.TorqueSignalTimeoutException("x"), Reason.PAUSED),
    ],
)
def test_what_an_exception_means(error: Exception, reason: Reason) -> None:
    assert fault_of(error).reason is reason
