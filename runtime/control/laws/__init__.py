"""Control laws: a file a law. `LAWS` finds them by themselves."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from typing import Any, Final

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.control.law import Law

__all__ = ["LAWS", "law_of"]


def _found() -> dict[str, type[Law]]:
    modules = [importlib.import_module(f"{__name__}.{one.name}") for one in pkgutil.iter_modules(__path__)]
    own = [
        kind
        for module in modules
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, Law) and kind.__module__ == module.__name__
    ]
    return {law.name: law for law in sorted(own, key=lambda law: law.name)}


LAWS: Final[Mapping[str, type[Law]]] = _found()
"""By name, in its order."""


def law_of(settings: Mapping[str, Any]) -> Law:
    """The law of plain data with its name."""
    name = str(settings.get("name"))
    if name not in LAWS:
        *others, last = LAWS
        raise InputError(f"There is no controller {name!r}: expected {', '.join(others)} or {last}.")
    return LAWS[name].of(settings)
