"""Options of a command from the dataclass of its job."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, fields
from typing import Any

import click

from diffpbd.runtime.base.options import Option, options_of
from diffpbd.runtime.commands.numbers import Real

__all__ = ["job", "made_of"]


def job(name: str, record: Any, *more: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Hands a command a `record` as one argument `name`, of the options that it declares; `more` are those of fields that it
    does not."""

    def decorate(function: Callable[..., Any]) -> Any:
        @functools.wraps(function)
        def call(**words: Any) -> Any:
            own = {field: words.pop(field.name) for field in fields(record) if field.name in words}
            given = {f.name: value for f, value in own.items() if value is not None or f.default_factory is MISSING}
            return function(**words, **{name: record(**given)})

        wrapped: Any = call
        for one in reversed((*made_of(record), *more)):
            wrapped = one(wrapped)
        return wrapped

    return decorate


def made_of(record: Any, table: Mapping[str, Option] | None = None) -> Iterator[Callable[[Any], Any]]:
    """The options of a dataclass; those of a `table` have no defaults, so that what is not given is told apart."""
    for field, own in options_of(record, table):
        flag = own.flag or own.word(field.name)
        yield click.option(flag, field.name, help=own.help, metavar=own.metavar, **_kind(field, own, table is not None))


def _kind(field: Field[Any], own: Option, unset: bool) -> dict[str, Any]:
    """What click wants to know, from the field's type."""
    kind = str(field.type)
    default = None if unset or field.default is MISSING else field.default
    choices = own.choices or field.metadata.get("choices", ())
    if own.parse is not None or own.many:
        parse = own.parse

        def read(_ctx: click.Context, _param: click.Parameter, text: Any) -> Any:
            try:
                return text if parse is None or text is None else parse(text)
            except ValueError as error:
                raise click.BadParameter(str(error)) from None

        found: dict[str, Any] = {"callback": read, "multiple": own.many}
        return found if own.many else {**found, "default": default}
    if kind.startswith("bool"):
        return {"is_flag": True, "default": default if unset or "None" in kind else bool(default)}
    if choices:
        return {"type": click.Choice(choices), "default": default}
    if own.span is not None and unset:  # else the record itself refuses what is outside
        return {"type": Real(*own.span, min_open=own.open), "default": default}
    return {"type": {"int": int, "float": float}.get(kind.split(" ")[0], str), "default": default}
