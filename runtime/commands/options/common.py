"""Options that every command has: --config, a TOML file of its options, and for a generated ROBOT --robots; names to
complete."""

from __future__ import annotations

import functools
import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from diffpbd.runtime.base.errors import ArgumentError, InputError
from diffpbd.runtime.base.names import hint
from diffpbd.runtime.base.states import state_file, words_of
from diffpbd.runtime.commands.options.derived import as_given
from diffpbd.runtime.commands.options.shared import GIVEN
from diffpbd.runtime.folder.locate import ROBOTS, generated_names, shipped_descriptions

__all__ = ["equipped"]

_CONFIG = "diffpbd.config"


def equipped(command: click.Command) -> click.Command:
    """The command with these options; once."""
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            equipped(inner)
        return command
    if any(param.name == "config" for param in command.params):
        return command
    for param in command.params:
        if param.name == "robot" and isinstance(param, click.Argument):
            param.shell_complete = _robots  # type: ignore[assignment, method-assign]
    if any(param.name == "robot" for param in command.params):
        command.params.append(_robots_option())
    command.params.append(_config_option())
    for param in command.params:
        param.process_value = functools.partial(_processed, param)  # type: ignore[method-assign]
    return command


def _processed(param: click.Parameter, ctx: click.Context, value: Any) -> Any:
    """The value of a parameter; one of --config is refused by its place, an empty word and what is not
    JSON by its option."""
    if ctx.get_parameter_source(param.name or "") in GIVEN:
        if "" in (value if isinstance(value, (list, tuple)) else (value,)):
            name = param.opts[0] if isinstance(param, click.Option) else param.make_metavar(ctx).rstrip(".")
            raise ArgumentError(f"{name}: expected {param.metavar or 'a name'}, found an empty string.")
        if _is_json(param.metavar or ""):
            for word in value if isinstance(value, (list, tuple)) else (value,):
                if state_file(word) is None:
                    words_of(word, param.opts[0])
        if ctx.get_parameter_source(param.name or "") is ParameterSource.DEFAULT_MAP:
            try:
                return type(param).process_value(param, ctx, value)
            except click.BadParameter as error:
                raise ArgumentError(f"{ctx.meta[_CONFIG]}: {_word(param)}: {error.message}") from None
    return type(param).process_value(param, ctx, value)


def _robots_option() -> click.Option:
    return click.Option(
        ["--robots"], metavar="DIR", expose_value=False, is_eager=True, callback=_set_robots,
        help=f"Folder of generated robots, looked in before those of {ROBOTS} and ./generated.",
    )  # fmt: skip


def _set_robots(_ctx: click.Context, _param: click.Parameter, folder: str | None) -> None:
    if folder is None:
        return
    before = os.environ.get(ROBOTS)
    os.environ[ROBOTS] = os.pathsep.join([folder, *([before] if before else [])])


def _config_option() -> click.Option:
    return click.Option(
        ["--config"], metavar="FILE.toml", expose_value=False, is_eager=True, callback=_read_config,
        help="Options of this command by name, such as horizon = 30; those on the command line win.",
    )  # fmt: skip


def _read_config(ctx: click.Context, _param: click.Parameter, path: str | None) -> None:
    if path is None:
        return
    ctx.meta[_CONFIG] = path
    known = {_word(param): param for param in ctx.command.params if param.name not in ("config", "robots")}
    found = {}
    try:
        for name, value in _toml(path).items():
            word = name.replace("_", "-")
            if word not in known:
                raise ArgumentError(f"{path}: `{ctx.command.name}` has no option {name!r}. {hint(word, known)}")
            param = known[word]
            found[param.name or ""] = _words(param, value, f"{path}: {name}")
    except RecursionError:
        raise InputError(f"--config {path} is nested too deep to be read.") from None
    ctx.default_map = {**(ctx.default_map or {}), **found}


def _word(param: click.Parameter) -> str:
    """`goal-speed`; an argument goes by its own name."""
    longest = max(param.opts, key=len)
    return longest.removeprefix("--") if isinstance(param, click.Option) else (param.name or "")


def _toml(path: str) -> dict[str, Any]:
    module = "tomllib" if sys.version_info >= (3, 11) else "tomli"
    tomllib = importlib.import_module(module)
    try:
        found: dict[str, Any] = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        return found
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--config {path} cannot be read: {getattr(error, 'strerror', None) or error}.") from None
    except ValueError as error:  # of TOML, or digits beyond what Python reads
        raise InputError(f"--config {path} is not TOML: {error}.") from None


def _words(param: click.Parameter, value: Any, where: str) -> Any:
    """As the command line would have it: NAME=VALUE where the option has that form, other tables and lists of numbers as JSON,
    names by commas."""
    if isinstance(value, bool) != getattr(param, "is_flag", False):
        wanted = (
            "true or false" if getattr(param, "is_flag", False) else f"{(param.name or '').upper()} in words or numbers"
        )
        raise ArgumentError(f"{where}: expected {wanted}, found {json.dumps(value, default=str)}.")
    if isinstance(value, bool):
        return value
    form = param.metavar or ""
    if isinstance(value, dict) and "=" in form:
        if ":" not in form and (wrong := {k: v for k, v in value.items() if isinstance(v, (list, dict))}):
            name, item = next(iter(wrong.items()))
            raise ArgumentError(f"{where}: {name}: expected one value, found {json.dumps(item, default=str)}.")
        value = [f"{name}={_word_of(item, where, form)}" for name, item in value.items()]
    items = value if isinstance(value, list) and (param.multiple or param.nargs != 1) else [value]
    if param.callback in (None, as_given) and isinstance(param.type, (click.types.StringParamType, click.Path)):
        for item in items:  # a number would be the name of a file
            listed = item if isinstance(item, list) else [item]
            if not (all(isinstance(x, str) for x in listed) or _is_json(form) and isinstance(item, (list, dict))):
                found = json.dumps(item, default=str)
                raise ArgumentError(f"{where}: expected {form or 'a name'} as a text, found {found}.")
    words = [_word_of(item, where, form) for item in items]
    return words if param.multiple or param.nargs != 1 else words[0]


def _is_json(form: str) -> bool:
    """Whether a metavar stands for JSON."""
    return "JSON" in form or form.startswith("[")


def _word_of(value: Any, where: str, form: str) -> str:
    if isinstance(value, list) and ":" in form and all(isinstance(item, (int, float)) for item in value):
        return ":".join(map(str, value))
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ",".join(value)
    if isinstance(value, (list, dict)):
        try:
            return json.dumps(value)
        except TypeError:
            raise ArgumentError(
                f"{where}: expected numbers, words, lists or tables of them, found a date or time."
            ) from None
    return str(value)


def _robots(_ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    """Generated robots and shipped descriptions, and files."""
    near = sorted(name for name in generated_names() | set(shipped_descriptions()) if name.startswith(incomplete))
    return [*map(CompletionItem, near), CompletionItem(incomplete, type="file")]
