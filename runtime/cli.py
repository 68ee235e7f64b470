"""The command `diffpbd`. Every subcommand is imported when it is called."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import click

from diffpbd.runtime.base.errors import ArgumentError, DiffpbdError
from diffpbd.runtime.base.extras import extra_of, missing
from diffpbd.runtime.base.origin import started
from diffpbd.runtime.folder.locate import ROBOTS

__all__ = ["CommandPlace", "LazyGroup", "cli", "main"]

EXIT_BAD_INPUT = 1
EXIT_WRONG_USAGE = 2  # as click has it
EXIT_INTERRUPTED = 130  # 128 + SIGINT, as shells report it


class CommandPlace(NamedTuple):
    """Where a click command is defined, and its line in the list of commands."""

    module: str
    help: str
    attribute: str = "command"


COMMANDS = {
    "generate": CommandPlace(
        "diffpbd.runtime.commands.generate", "Derive, write and compile the dynamics code of a robot."
    ),
    "check": CommandPlace("diffpbd.runtime.commands.check", "List all errors and warnings about a description."),
    "export": CommandPlace("diffpbd.runtime.commands.export", "Write a robot with its parameters back to URDF."),
    "export-acados": CommandPlace("diffpbd.runtime.commands.export_acados", "Write a robot as a model of acados."),
    "info": CommandPlace("diffpbd.runtime.commands.info", "Show joints, limits, parameters and functions of a robot."),
    "eval": CommandPlace("diffpbd.runtime.commands.evaluate", "Evaluate a generated function on JSON."),
    "ik": CommandPlace("diffpbd.runtime.commands.ik", "Find joint positions for a pose of a frame."),
    "simulate": CommandPlace("diffpbd.runtime.commands.simulate", "Simulate a robot and write a log."),
    "mpc": CommandPlace(
        "diffpbd.runtime.commands.mpc", "Predictive control of the simulated robot, to a goal or along a log."
    ),
    "run": CommandPlace("diffpbd.runtime.commands.run", "Run a controller on an arm, safely."),
    "sim": CommandPlace("diffpbd.runtime.commands.sim", "Simulate any arm with an effort interface, over ROS 2."),
    "sim-baxter": CommandPlace("diffpbd.runtime.commands.sim_baxter", "Simulate a Baxter on a ROS 1 graph."),
    "sim-fr3": CommandPlace("diffpbd.runtime.commands.sim_fr3", "Simulate a Franka Research 3 on this machine."),
    "log": CommandPlace("diffpbd.runtime.commands.log", "Read, check, clean and filter recordings."),
    "identify": CommandPlace("diffpbd.runtime.commands.identify", "Identify parameters from logs."),
    "net-torque-map": CommandPlace(
        "diffpbd.runtime.commands.net_torque_map", "Sample a joint's net torque, as a C table."
    ),
    "excite": CommandPlace("diffpbd.runtime.commands.excite", "Find an exciting trajectory for inertial parameters."),
    "drive-gain": CommandPlace(
        "diffpbd.runtime.commands.drive_gain", "Identify motor torque constants with a known payload."
    ),
    "estimate-torque": CommandPlace(
        "diffpbd.runtime.commands.estimate_torque", "Estimate joint torques from a recorded motion."
    ),
}


class LazyGroup(click.Group):
    """Imports a subcommand of `places` when it is called; turns errors into one paragraph and an exit code."""

    def __init__(self, *args: Any, places: Mapping[str, CommandPlace], **extra: Any) -> None:
        super().__init__(*args, **extra)
        self.places = places

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names in the order of the table."""
        return list(self.places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The imported command."""
        if cmd_name not in self.places:
            return None
        place = self.places[cmd_name]
        command = getattr(importlib.import_module(place.module), place.attribute)
        assert isinstance(command, click.Command)
        from diffpbd.runtime.commands.options.common import equipped

        return equipped(command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.help) for name, command in self.places.items()])

    def main(self, *args: Any, **extra: Any) -> NoReturn:
        """Run and exit: 0 done, 1 bad input, 2 wrong usage, 130 interrupted."""
        extra["standalone_mode"] = False
        robots = os.environ.get(ROBOTS)
        given = args[0] if args else extra.get("args")
        started(sys.argv[1:] if given is None else given)
        try:
            result = super().main(*args, **extra)
        except click.Abort:
            click.echo("Interrupted.", err=True)
            sys.exit(EXIT_INTERRUPTED)
        except click.ClickException as error:
            error.show()
            sys.exit(error.exit_code)
        except ModuleNotFoundError as error:
            if extra_of(error.name) is None:
                raise
            click.echo(f"Error: {missing('this command', error.name or '')}", err=True)
            sys.exit(EXIT_BAD_INPUT)
        except DiffpbdError as error:
            click.echo(f"Error: {_visible(str(error))}", err=True)
            sys.exit(EXIT_WRONG_USAGE if isinstance(error, ArgumentError) else EXIT_BAD_INPUT)
        except OSError as error:  # such as a full disk behind standard output
            _drop_output()
            place = "standard output" if error.filename is None else error.filename
            click.echo(f"Error: {place}: {error.strerror or error}.", err=True)
            sys.exit(EXIT_BAD_INPUT)
        finally:  # --robots is for one command
            if robots is None:
                os.environ.pop(ROBOTS, None)
            else:
                os.environ[ROBOTS] = robots
        sys.exit(result if isinstance(result, int) else 0)


def _visible(text: str) -> str:
    """A message without what would drive a terminal: names in it may be anybody's."""
    return "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text)


def _drop_output() -> None:
    """Point standard output nowhere if it cannot be written, or Python complains again at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_version(ctx: click.Context, option: click.Parameter, wanted: bool) -> None:
    if not wanted:
        return
    try:
        version = importlib.metadata.version("diffpbd")
    except importlib.metadata.PackageNotFoundError:
        version = "(not installed: run from its source folder)"
    click.echo(f"diffpbd {version}")
    ctx.exit()


@click.group(cls=LazyGroup, places=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Print the version and exit.",
)
def cli() -> None:
    """Generate, simulate, identify and control the dynamics of a robot from its description (URDF or MJCF)."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """The entry point of the command `diffpbd`."""
    cli.main(args=None if arguments is None else list(arguments), prog_name="diffpbd")


if __name__ == "__main__":
    main()
