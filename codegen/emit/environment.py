"""Reads `templates/`; only this file uses Jinja. Undefined names are errors, nothing is escaped."""

from __future__ import annotations

from importlib import resources
from typing import Any, Final

import jinja2


def render(template: str, **values: Any) -> str:
    """Text of `templates/<template>.jinja`."""
    return _ENVIRONMENT.get_template(f"{template}.jinja").render(**values)


def plain(name: str) -> str:
    """Text of `templates/<name>`, which is C as it stands."""
    text = _load(name)
    if text is None:
        raise FileNotFoundError(f"templates/{name}")
    return text


def _load(name: str) -> str | None:
    source = resources.files("diffpbd.templates") / name
    return source.read_text(encoding="utf-8") if source.is_file() else None


LARGE_ANGLE: Final = 1e5
"""[rad] Largest angle of the emitted sine and cosine; see templates/sine_cosine.h."""

_ENVIRONMENT = jinja2.Environment(
    loader=jinja2.FunctionLoader(_load),
    undefined=jinja2.StrictUndefined,
    autoescape=False,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
_ENVIRONMENT.globals["large_angle"] = repr(LARGE_ANGLE)
