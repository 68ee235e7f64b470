"""Every command's help reads as one: what a value is, what an option does; results for programs from each that has one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from support.robots import generated

from diffpbd.codegen import heartbeat
from diffpbd.runtime.cli import COMMANDS, cli
from diffpbd.runtime.loop.guard import TickStatus
from diffpbd.runtime.loop.stopping import Report

SERVERS = {"sim", "sim-baxter", "sim-fr3"}
"""They run until they are stopped, and have no result."""


def commands() -> Iterator[tuple[str, click.Command]]:
    context = click.Context(cli)
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from ((f"{name} {inner}", one) for inner, one in command.commands.items())
        else:
            yield name, command


@pytest.mark.parametrize(("name", "command"), [pytest.param(*pair, id=pair[0]) for pair in commands()])
def test_help_is_one_voice(name: str, command: click.Command) -> None:
    options = [param for param in command.params if isinstance(param, click.Option)]
    context = click.Context(command, info_name=name)
    names = {word for option in options for word in option.opts}
    assert "--config" in names
    assert ("--json" in names) == (name not in SERVERS)
    assert command.help and command.help.split("\n\n")[0].rstrip().endswith("."), "a sentence says what it does"
    for option in options:
        assert option.help, f"{option.opts[0]} is not explained"
        assert option.help[0].isupper() or not option.help[0].isalpha(), (option.opts[0], option.help)
        assert option.help.rstrip(" )").endswith((".", ")")) or option.help.endswith(")."), (
            option.opts[0],
            option.help,
        )
        shown = option.get_help_record(context)
        assert shown is not None
        for word in ("FLOAT", "INTEGER", "TEXT", "PATH"):
            assert word not in shown[0], f"{option.opts[0]} shows the type of click, {shown[0]}"


def test_the_list_of_commands_has_verbs_and_full_stops() -> None:
    assert all(command.help.endswith(".") and command.help[0].isupper() for command in COMMANDS.values())
    nouns = [name for name, command in COMMANDS.items() if command.help.startswith(("A ", "The ", "Joints"))]
    assert not nouns, "the others begin with a verb"


def test_what_a_run_was_for_programs() -> None:
    report = Report(ticks=3, sent=2)
    report.lateness.add(0.001)
    report.counts[TickStatus.OK] += 3
    facts = json.loads(json.dumps(report.facts()))
    assert facts["reason"] == "finished" and facts["exit_code"] == 0 and facts["reflex"] is None
    assert facts["lateness"]["max"] == 0.001 and facts["statuses"] == {"ok": 3}


def test_a_long_simulation_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """At most a line every few seconds, from then on; a short one none."""
    line = ["simulate", str(generated("double_pendulum")), "--duration", "8", "--out", str(tmp_path / "run.csv")]
    assert "%" not in CliRunner().invoke(cli, line).output.split("energy")[0]
    monkeypatch.setattr(heartbeat, "PERIOD", 0.001)
    said = [text for text in CliRunner().invoke(cli, line).output.splitlines() if text.startswith("step ")]
    assert len(said) > 2 and all(re.fullmatch(r"step \d+ of 800: \d+ %(, about .* left)?", text) for text in said), said
    shares = [int(text.split(": ")[1].split(" %")[0]) for text in said]
    assert shares == sorted(shares) and shares[-1] >= 80
    assert all(("left" in text) == (share >= 20) for text, share in zip(said, shares, strict=True) if share != 20)
