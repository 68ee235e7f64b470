"""A command, run in this process."""

from __future__ import annotations

from click.testing import CliRunner

from diffpbd.runtime.cli import cli


def run(*words: object) -> tuple[int, str]:
    """Exit code and what it prints."""
    done = CliRunner().invoke(cli, [str(word) for word in words])
    return done.exit_code, done.output
