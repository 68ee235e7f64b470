"""Options of a command from the dataclass of its job."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterator
from dataclasses import MISSING, Field, fields
from typing import Any

import click

from diffpbd.runtime.base.errors import InputError, of_arguments
from diffpbd.runtime.base.names import hint
from diffpbd.runtime.base.options import Option, options_of
from diffpbd.runtime.commands.options.numbers import Real, Whole

__all__ = ["as_given", "job", "options"]


def job(name: str, record: Any, but: Collection[str] = ()) -> Callable[[Any], Any]:
    """Hands a command a `record` as one argument `name`, of the options that it declares, except those of some fields."""
    names = [field.name for field, _ in options_of(record) if field.name not in but]

    def decorate(function: Callable[..., Any]) -> Any:
        @functools.wraps(function)
        def call(**words: Any) -> Any:
            own = {field: words.pop(field.name) for field in fields(record) if field.name in names}
            given = {f.name: value for f, value in own.items() if value is not None or f.default_factory is MISSING}
            with of_arguments():
                made = record(**given)
            return function(**words, **{name: made})

        return options(record, names)(call)

    return decorate


def options(record: Any, only: Collection[str] | None = None, *, unset: bool = False) -> Callable[[Any], Any]:
    """The options of a dataclass one by one, or of some of its fields; `unset`: what is not given is None."""

    def decorate(function: Any) -> Any:
        for one in reversed(list(_made_of(record, only, unset))):
            function = one(function)
        return function

    return decorate


def as_given(_ctx: click.Context, _param: click.Parameter, words: tuple[str, ...]) -> tuple[str, ...] | None:
    """Names that are repeated, as the command line has them; None without any."""
    return words or None


def _made_of(record: Any, only: Collection[str] | None, unset: bool) -> Iterator[Callable[[Any], Any]]:
    for field, own in options_of(record):
        if only is not None and field.name not in only:
            continue
        flag = own.flag or own.word(field.name)
        how = _kind(field, own, unset)
        if not unset and field.default is MISSING and field.default_factory is MISSING:
            how = {**how, "required": True}
            how.pop("default", None)  # None would be a value
        yield click.option(flag, field.name, help=own.help, metavar=own.metavar, **how)


def _kind(field: Field[Any], own: Option, unset: bool) -> dict[str, Any]:
    """Keywords of click's option, from the field's type."""
    kind = str(field.type)
    default = None if unset or field.default is MISSING else field.default
    if own.many and own.parse is None and own.span is None:
        return {"callback": as_given if unset else None, "multiple": True}
    if own.parse is not None:
        parse = own.parse

        def read(_ctx: click.Context, _param: click.Parameter, text: Any) -> Any:
            if unset and text in ((), None):
                return None
            try:
                made = None if text is None else parse(text)
                for name in made if own.choices and isinstance(made, (tuple, list)) else ():
                    if name not in own.choices:
                        raise ValueError(f"there is no {name!r}. {hint(str(name), own.choices)}")
                return made
            except (ValueError, InputError) as error:
                raise click.BadParameter(str(error)) from None

        found: dict[str, Any] = {"callback": read, "multiple": own.many}
        if "/" in own.flag:
            return {**found, "is_flag": True, "default": False}
        return found if own.many else {**found, "default": default}
    if own.kind is not None:
        return {"type": own.kind, "default": default}
    if kind.startswith("bool"):
        return {"is_flag": True, "default": default if unset or "None" in kind else bool(default)}
    if own.choices:
        return {"type": click.Choice(own.choices), "default": default}
    if own.span is not None:
        whole = kind.startswith(("int", "tuple[int"))
        number = Whole(int(own.span[0]), int(own.span[1])) if whole else Real(*own.span, min_open=own.open)
        return {"type": number, "multiple": own.many, "default": default}
    return {"type": {"int": int, "float": float}.get(kind.split(" ")[0], str), "default": default}
