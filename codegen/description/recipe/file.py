"""Recipes as TOML files."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from diffpbd.codegen.description.joints.loops import LoopEntry
from diffpbd.codegen.description.read.mjcf.document import file_defaults
from diffpbd.codegen.description.recipe.options import AVERAGING, NAMES, Relaxation
from diffpbd.codegen.description.recipe.recipe import DEFAULT_SWEEPS, Recipe
from diffpbd.codegen.description.shapes.clearance import ShapeEntry
from diffpbd.codegen.description.shapes.contact_shapes import ContactEntry
from diffpbd.codegen.description.shapes.contacts import PlaneEntry
from diffpbd.runtime.base.errors import InputError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Table = TypeVar("Table", LoopEntry, PlaneEntry, ContactEntry, ShapeEntry)

READERS: Final = {
    "str": "text", "Path": "text", NAMES: "texts", "bool": "flag", "float": "number", "int": "whole", "Vec3": "vector",
    "tuple[float, float, float]": "vector", "Relaxation": "relaxation", "Mapping[str, int]": "counts",
}  # fmt: skip
"""Readers of values, by the type of their field."""
TABLES: Final[dict[str, Any]] = {
    f"tuple[{made.__name__}, ...]": made for made in (LoopEntry, PlaneEntry, ContactEntry, ShapeEntry)
}

LONGEST_SHOWN: Final = 200
"""[characters] Of an entry in a message."""


def load_recipe(path: str | os.PathLike[str]) -> Recipe:
    """Reads a TOML recipe; `urdf` in it is relative to the file. Unknown entries are refused."""
    path = Path(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: the recipe cannot be read: {error}") from error
    except ValueError as error:  # of TOML, UTF-8, or digits beyond what Python reads
        raise InputError(f"{path}: the recipe is not valid TOML: {error}") from error
    except RecursionError as error:
        raise InputError(f"{path}: the recipe cannot be read: lists in lists beyond all measure") from error
    known = {entry.name: str(entry.type) for entry in dataclasses.fields(Recipe)}
    unknown = sorted(set(content) - set(known))
    if unknown:
        raise InputError(f"{path}: unknown {', '.join(unknown)}; a recipe knows {', '.join(sorted(known))}")
    entries = Entries(path, content)
    options: dict[str, Any] = {"name": path.stem, "urdf": f"{path.stem}.urdf"}
    options |= {name: entries.read(name, known[name]) for name in content}
    options["urdf"] = path.parent / options["urdf"]
    options |= {"srdf": path.parent / options["srdf"]} if "srdf" in options else {}
    options |= (
        {"element": tuple(str(path.parent / word) for word in options["element"])} if "element" in options else {}
    )
    options = {**file_defaults(options["urdf"]), **options}
    options["base"] = options.get("base") or None
    options["sweeps"] = {**DEFAULT_SWEEPS, **options.get("sweeps", {})}
    try:
        return Recipe(**options)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


@dataclass(frozen=True)
class Entries:
    """Typed access to a TOML table; a value of another type is refused with its name."""

    path: Path
    content: Mapping[str, Any]

    def text(self, key: str) -> str:
        """A string."""
        value = self.content[key]
        return value if isinstance(value, str) else self._refuse(key, "a string")

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of strings, or one."""
        value = self.content[key]
        if isinstance(value, str):
            return (value,)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self._refuse(key, "a list of strings")
        return tuple(value)

    def flag(self, key: str) -> bool:
        """True or false."""
        value = self.content[key]
        return value if isinstance(value, bool) else self._refuse(key, "true or false")

    def number(self, key: str) -> float:
        """A number."""
        value = self.content[key]
        return float(value) if _is_number(value) else self._refuse(key, "a number")

    def whole(self, key: str) -> int:
        """A whole number."""
        value = self.content[key]
        return value if type(value) is int else self._refuse(key, "a whole number")

    def relaxation(self, key: str) -> Relaxation:
        """A number, or the word for averages."""
        value = self.content[key]
        if value == AVERAGING:
            return cast("Relaxation", value)
        return float(value) if _is_number(value) else self._refuse(key, f'a number or "{AVERAGING}"')

    def vector(self, key: str) -> tuple[float, ...]:
        """Three numbers."""
        value = self.content[key]
        if not isinstance(value, list) or len(value) != 3 or not all(map(_is_number, value)):
            self._refuse(key, "a list of 3 numbers")
        return tuple(map(float, value))

    def counts(self, key: str) -> dict[str, int]:
        """Whole numbers by name."""
        value = self.content[key]
        if not isinstance(value, dict) or not all(type(count) is int for count in value.values()):
            self._refuse(key, "a table of whole numbers")
        return dict(value)

    def read(self, key: str, kind: str) -> Any:
        """A value of this type of a field."""
        if made := TABLES.get(kind):
            return self._tables(key, made)
        return getattr(self, READERS[kind.removesuffix(" | None")])(key)

    def _tables(self, key: str, made: type[Table]) -> tuple[Table, ...]:
        """Tables of one kind; every entry of one is checked like those of the recipe itself."""
        value = self.content[key]
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            self._refuse(key, f"one or several tables [[{key}]]")
        return tuple(self._table(f"{key} {k + 1}", item, made, key) for k, item in enumerate(value))

    def _table(self, where: str, table: Mapping[str, Any], made: type[Table], kind: str) -> Table:
        fields = {entry.name: entry for entry in dataclasses.fields(cast("Any", made))}
        if unknown := sorted(set(table) - set(fields)):
            raise InputError(f"{self.path}: {where}: unknown {', '.join(unknown)}; a {kind} knows {', '.join(fields)}")
        needed = [name for name, entry in fields.items() if entry.default is dataclasses.MISSING]
        if missing := [name for name in needed if name not in table]:
            raise InputError(f"{self.path}: {where}: {', '.join(missing)} missing; a {kind} has {', '.join(needed)}")
        own = Entries(self.path, {f"{where}: {name}": value for name, value in table.items()})
        return made(**{name: own.read(f"{where}: {name}", str(fields[name].type)) for name in table})

    def _refuse(self, key: str, expected: str) -> Any:
        found = repr(self.content[key])
        found = found if len(found) <= LONGEST_SHOWN else f"{found[:LONGEST_SHOWN]}…"
        raise InputError(f"{self.path}: {key} = {found}; {expected} is expected")


def _is_number(value: object) -> bool:
    """A number of TOML that a double can hold."""
    return type(value) is float or (type(value) is int and abs(value) <= sys.float_info.max)
