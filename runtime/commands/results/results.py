"""Results of a command: for people, or with --json for programs; and the files that it wrote."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import click
import numpy as np

from diffpbd.runtime.report.tables import table

__all__ = ["as_json", "finish", "json_option", "note", "result", "said", "tabled", "tables", "written"]

_JSON = "diffpbd.json"
_TABLES = "diffpbd.tables"


def _remember(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    ctx.meta[_JSON] = wanted


json_option = click.option(
    "--json", is_flag=True, expose_value=False, is_eager=True, callback=_remember,
    help="Print the result as a JSON object; all other output goes to standard error.",
)  # fmt: skip


def as_json() -> bool:
    """Whether the present command was given --json."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(_JSON))


def note(text: str) -> None:
    """A line beside the result."""
    click.echo(text, err=as_json())


def result(text: str, data: Mapping[str, Any], *paths: str | None) -> None:
    """The result in words, or as JSON, and the files that were written, if any."""
    said(text)
    finish(data, *paths)


def finish(data: Mapping[str, Any], *paths: str | None) -> None:
    """The end of a command whose words are `said`: the files that were written, or all of it as JSON."""
    files = [path for path in paths if path]
    if as_json():
        whole = {**data, "written": files}
        click.echo(json.dumps(whole, indent=1, default=_plain, allow_nan=False, ensure_ascii=False))
    else:
        written(*files)


def said(*lines: str) -> None:
    """More words beside the result, nothing with --json, whose object has them."""
    if not as_json():
        click.echo("\n".join(lines))


def tabled(heads: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> None:
    """A table of the result; with --json it is kept for `finish`."""
    context = click.get_current_context(silent=True)
    if context is not None and as_json():
        context.meta.setdefault(_TABLES, []).append({"columns": list(heads), "rows": [list(row) for row in rows]})
    else:
        click.echo(table(heads, rows, left=left))


def tables() -> dict[str, Any]:
    """The tables of the present command, in the words that would have been shown."""
    return {"tables": click.get_current_context().meta.get(_TABLES, [])}


def written(*paths: str | None) -> None:
    """The one way to say which files were written."""
    files = [path for path in paths if path]
    if files:
        note(f"written: {', '.join(files)}")


def _plain(value: Any) -> Any:
    """Arrays and numbers of numpy as lists and numbers."""
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else str(value)
