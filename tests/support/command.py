"""A command, run in this process."""

from __future__ import annotations

from click.testing import CliRunner

from diffpbd.runtime.cli import cli
from experiments.__main__ import command


def run(*words: object) -> tuple[int, str]:
    """Exit code and what it prints."""
    done = CliRunner().invoke(cli, [str(word) for word in words])
    return done.exit_code, done.output


def experiment(*words: object) -> tuple[int, str]:
    """The same of an experiment of the paper."""
    done = CliRunner().invoke(command, [str(word) for word in words])
    return done.exit_code, done.output
