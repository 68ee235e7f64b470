"""`python -m experiments EXPERIMENT`: the paper's figures and tables, each by a command."""

from __future__ import annotations

import click

from diffpbd.runtime.cli import CommandPlace, LazyGroup

__all__ = ["PLACES", "command"]

_METHOD, _DESIGN, _TORQUES, _CONTROL = (
    f"experiments.{room}.commands" for room in ("method", "design", "torques", "control")
)
PLACES = {
    "all": CommandPlace("experiments.everything", "Make every figure and table again, on one page."),
    "links": CommandPlace(_METHOD, "Draw the paper's letters, and detached links that come together.", "links"),
    "sweeps": CommandPlace(_METHOD, "Error of the holding torque over the sweeps of a step.", "sweeps"),
    "double-pendulum": CommandPlace(_DESIGN, "Find lengths of an arm that follows a circle.", "double_pendulum"),
    "gravity-compensation": CommandPlace(_DESIGN, "Find torques that hold poses.", "gravity_compensation"),
    "spring": CommandPlace(_DESIGN, "Find the stiffness of a lever spring.", "spring"),
    "replay": CommandPlace(_TORQUES, "Compare a recording with its simulation.", "replay"),
    "torque-table": CommandPlace(_TORQUES, "Errors of torques estimated from a recording.", "torque_table"),
    "impedance": CommandPlace(_CONTROL, "Net torque map, and impedance against PD under a push.", "impedance"),
    "push": CommandPlace(_CONTROL, "Impedance against PD after a hand lets go.", "push"),
}


@click.group("experiments", cls=LazyGroup, places=PLACES, context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Reproduce the paper's figures and tables."""


if __name__ == "__main__":
    command.main(prog_name="python -m experiments")
