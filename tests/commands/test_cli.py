from __future__ import annotations

import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from diffpbd.runtime import InputError, cli

HEAVY = {"sympy", "casadi", "jinja2", "matplotlib", "scipy", "diffpbd.codegen"}


@pytest.mark.parametrize("module", ["diffpbd.runtime", "diffpbd.runtime.cli"])
def test_importing_loads_nothing_heavy(module: str) -> None:
    code = f"import sys, {module}; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not HEAVY & set(loaded.split())


def test_help_imports_no_command() -> None:
    code = (
        "import sys\nfrom diffpbd.runtime import cli\n"
        "try: cli.main(['--help'])\nexcept SystemExit as end: assert end.code == 0\n"
        "print(*[m for m in sys.modules if m.startswith('diffpbd.runtime.commands')], 'end')"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert all(name in out for name in cli.COMMANDS)
    assert out.splitlines()[-1] == "end"


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (InputError("what, where."), 1, "Error: what, where.\n"),
        (InputError("a\x1b[31m\x9b\u202eb\nc"), 1, "Error: a\ufffd[31m\ufffd\ufffdb\nc\n"),
        (KeyboardInterrupt(), 130, "Interrupted."),
        (click.UsageError("wrong"), 2, "wrong"),
        (ModuleNotFoundError(name="sympy"), 1, "needs sympy, which is not installed: pip install 'diffpbd[codegen]'"),
    ],
)
def test_errors_become_a_line_and_a_code(
    monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, message: str
) -> None:
    @click.command("info")
    def failing() -> None:
        raise error

    monkeypatch.setattr(cli.LazyGroup, "get_command", lambda self, ctx, name: failing)
    result = CliRunner().invoke(cli.cli, ["info"])
    assert result.exit_code == code
    assert message in result.stderr and "Traceback" not in result.stderr


def test_an_error_of_our_own_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    @click.command("info")
    def failing() -> None:
        raise ModuleNotFoundError(name="diffpbd.nothing")

    monkeypatch.setattr(cli.LazyGroup, "get_command", lambda self, ctx, name: failing)
    assert isinstance(CliRunner().invoke(cli.cli, ["info"]).exception, ModuleNotFoundError)


def test_version() -> None:
    result = CliRunner().invoke(cli.cli, ["--version"])
    assert result.exit_code == 0 and result.stdout.startswith("diffpbd ")


def test_an_interruption_while_modules_are_read() -> None:
    """Ctrl-C in the first half second."""
    early = (
        "import sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'click': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Finder())\n"
        "import diffpbd.command\n"
    )
    ended = subprocess.run([sys.executable, "-c", early], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr.strip(), ended.stdout) == (130, "Interrupted.", "")
