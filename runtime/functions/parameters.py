"""alpha by name: the flat vector of parameters, its defaults and bounds, and params.json."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray, or_else
from diffpbd.runtime.base.errors import InputError, arg
from diffpbd.runtime.base.files import read_json
from diffpbd.runtime.base.fitting import expect
from diffpbd.runtime.base.html import html_table
from diffpbd.runtime.base.names import hint
from diffpbd.runtime.folder.manifest import Element, Parameter
from diffpbd.runtime.folder.parameter_rules import AlphaFault, Rule, broken, rules

__all__ = ["Alpha", "AlphaOrFile", "ParameterVector", "ParameterValues", "read_values"]

A_LITTLE = 1e-3
"""In the entry's unit: tolerance of bounds in a whole vector, for finite differences at a bound; not for bounds above zero,
because a step divides by the entry."""
INERTIALS = ("mass.", "com.", "inertia.")  # prefixes of links' inertial parameters

ParameterValues: TypeAlias = "Mapping[str, float] | str | Path | None"
Alpha: TypeAlias = Mapping[str, float] | npt.ArrayLike
"""Parameters of a call: by name, or the whole vector."""
AlphaOrFile: TypeAlias = Mapping[str, float] | npt.ArrayLike | str | Path
"""`Alpha`, or a JSON file of values by name."""


def read_values(path: str | Path) -> dict[str, float]:
    """Values by name from a JSON file: a plain object of numbers, or params.json of `diffpbd identify`.

    The latter holds `{"parameters": {NAME: {"value": …}}}`; other keys are ignored.
    """
    data = read_json(path)
    if isinstance(data, dict) and isinstance(data.get("parameters"), dict):
        data = data["parameters"]
    if not isinstance(data, dict):
        raise InputError(f"{path}: expected an object of parameter names and numbers, found a {type(data).__name__}.")
    return {name: _number(entry, f"{path}: {name}") for name, entry in data.items()}


def _number(entry: Any, where: str) -> float:
    value = entry.get("value") if isinstance(entry, Mapping) else entry
    if isinstance(value, (bool, str)) or value is None:
        raise InputError(f"{where}: expected a number, found {value!r}.")
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{where}: expected a number, found {reprlib.repr(value)}.") from None
    if not math.isfinite(number):
        raise InputError(f"{where}: expected a finite number, found {number}.")
    return number


@dataclass(frozen=True, repr=False)
class ParameterVector:
    """The layout of alpha: entries in the order of the manifest, units as listed there."""

    entries: tuple[Parameter, ...]
    robot: str = "the robot"

    def __len__(self) -> int:
        return len(self.entries)

    def __repr__(self) -> str:
        ends = f", {self.entries[0].name} … {self.entries[-1].name}" if self.entries else ""
        return f"<alpha of {self.robot}: {len(self)} parameters{ends}>"

    def __contains__(self, name: object) -> bool:
        return name in self._positions

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __getitem__(self, name: str) -> float:
        """The default of an entry; an unknown name is refused with near matches."""
        return float(self.entries[self.index(name)].default)

    def keys(self) -> tuple[str, ...]:
        """Names in order, so that `dict(robot.alpha)` gives the defaults by name."""
        return self.names

    def _repr_html_(self) -> str:
        return html_table(("parameter", "default", "unit"), [(e.name, f"{e.default:g}", e.unit) for e in self.entries])

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {entry.name: k for k, entry in enumerate(self.entries)}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names in order, `<kind>.<joint or link>[.<component>]`."""
        return tuple(entry.name for entry in self.entries)

    @cached_property
    def units(self) -> tuple[str, ...]:
        """Units in order."""
        return tuple(entry.unit for entry in self.entries)

    @property
    def defaults(self) -> FloatArray:
        """A new array of the default values."""
        return np.array([entry.default for entry in self.entries], dtype=np.float64)

    def with_defaults(self, values: npt.ArrayLike) -> ParameterVector:
        """Returns this layout with these defaults."""
        entries = zip(self.entries, self.by_name(values).values(), strict=True)
        return replace(self, entries=tuple(replace(entry, default=value) for entry, value in entries))

    def changed(self, entries: Sequence[Parameter]) -> dict[str, float]:
        """The defaults that differ from those of `entries`, by name."""
        return {own.name: own.default for own, e in zip(self.entries, entries, strict=True) if own.default != e.default}

    @property
    def lower(self) -> FloatArray:
        """A new array of lower bounds; -inf where there is none."""
        return or_else((e.lower for e in self.entries), -np.inf)

    @property
    def upper(self) -> FloatArray:
        """A new array of upper bounds; inf where there is none."""
        return or_else((e.upper for e in self.entries), np.inf)

    def index(self, name: str) -> int:
        """Position of a name; an unknown one is refused with near matches."""
        name = str(name)
        position = self._positions.get(name)
        if position is None and name.startswith(INERTIALS):
            raise InputError(
                f"{self.robot} has no parameter {name!r}: inertias are numbers in its code, unless it is generated with "
                f"{arg.symbolic('mass,com,inertia')}. {hint(name, self.names)}"
            )
        if position is None:
            raise InputError(f"{self.robot} has no parameter {name!r}. {hint(name, self.names)}")
        return position

    def has(self, kind: str) -> bool:
        """Whether there are entries whose names begin with this and a dot."""
        return any(name.startswith(f"{kind}.") for name in self.names)

    def indices(self, prefix: str) -> tuple[int, ...]:
        """Positions of every name equal to the prefix or starting with it and a dot, such as `friction`."""
        found = tuple(k for k, name in enumerate(self.names) if name == prefix or name.startswith(prefix + "."))
        if not found:
            words = [name.split(".") for name in self.names]
            kinds = sorted({".".join(parts[:k]) for parts in words for k in range(1, len(parts) + 1)})
            raise InputError(f"{self.robot} has no parameters {prefix!r}. {hint(prefix, kinds)}")
        return found

    def stiffnesses(self, elements: Sequence[Element]) -> list[int]:
        """Positions of the stiffness of every joint spring, and of what springs on chosen joints vanish without."""
        own = [
            name for element in elements for joint in element.joints for name in element.entries(joint, element.linear)
        ]
        return [*self.indices("spring.stiffness"), *map(self.index, own)]

    def vector(self, values: ParameterValues = None, *, base: FloatArray | None = None) -> FloatArray:
        """A new vector from values by name, or from a JSON file of them; the missing ones keep `base` or the
        default.

        Refuses values out of bounds, friction that is not passive, and joint limits with an empty range.
        """
        expect(f"alpha of {self.robot}: base", base, "FloatArray | None")
        result = self.defaults if base is None else np.array(base, dtype=np.float64)
        if result.shape != (len(self),):
            raise InputError(f"alpha of {self.robot}: base: expected shape ({len(self)},), found {result.shape}.")
        if values is None:
            return result
        where = ""
        if isinstance(values, (str, Path)):
            where = f"{values}: "
            values = read_values(values)
        if not isinstance(values, Mapping):
            raise InputError(
                f"alpha of {self.robot}: expected values by name or a file of them, found a {type(values).__name__}."
            )
        for name, value in values.items():
            try:
                position = self.index(name)
            except InputError as error:
                raise InputError(f"{where}{error}") from None
            number = _number(value, f"{where}{name}")
            self._refuse_outside(position, number, where)
            result[position] = number
        self._refuse_together(result, where, among={self.index(name) for name in values})
        return result

    def checked(self, values: Any) -> Any:
        """Values in order, (entries,) or a batch of such, without booleans.

        Checks the same bounds as for values by name, with the tolerance A_LITTLE; the caller must check that they are finite.
        """
        flags = isinstance(values, (list, tuple)) and any(isinstance(value, (bool, np.bool_)) for value in values)
        if flags or getattr(getattr(values, "dtype", None), "kind", "") == "b":
            raise InputError(f"alpha of {self.robot}: expected numbers, found a boolean.")
        try:
            array = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            return values  # the caller raises
        if array.ndim > 0 and array.shape[-1] == len(self):
            least, most = self._held
            beyond = (array < least) | (array > most)
            if beyond.any():
                place = np.argwhere(beyond)[0]
                self._refuse_outside(int(place[-1]), float(array[tuple(place)]), f"alpha of {self.robot}: ")
            self._refuse_together(array, f"alpha of {self.robot}: ", A_LITTLE)
        return values

    @cached_property
    def _rules(self) -> list[tuple[AlphaFault, tuple[Rule, ...], npt.NDArray[np.intp]]]:
        """Rules by fault, and positions of their entries, (places, rules)."""
        every = tuple(rules(self.names))
        kinds = {fault: tuple(rule for rule in every if rule.fault is fault) for fault in AlphaFault}
        return [(fault, own, np.array([rule.entries for rule in own]).T) for fault, own in kinds.items() if own]

    @cached_property
    def _held(self) -> tuple[FloatArray, FloatArray]:
        """Lower and upper bounds of the entries of a whole vector."""
        return np.where(self.lower > 0.0, self.lower, self.lower - A_LITTLE), self.upper + A_LITTLE

    def _refuse_together(
        self, values: FloatArray, where: str, slack: float = 0.0, among: Set[int] | None = None
    ) -> None:
        """InputError for a vector, or a row of a batch, that breaks a rule between entries; `among`: one with any of these
        entries, or of a range."""
        for fault, own, places in self._rules:
            wrong = broken(fault, [values[..., place] for place in places], slack)
            for *row, k in np.argwhere(wrong).tolist() if wrong.any() else ():
                if among is None or fault is AlphaFault.NO_RANGE or not among.isdisjoint(own[k].entries):
                    one = values[tuple(row)]
                    raise InputError(f"{where}{self._told(own[k], [float(one[e]) for e in own[k].entries])}")

    def _told(self, rule: Rule, found: Sequence[float]) -> str:
        """Message of a broken rule for these values of its entries."""
        own, *others = (self.names[k] for k in rule.entries)
        if rule.fault is AlphaFault.PUSHES:
            return (
                f"{own} = {found[0]:g}: expected at most {others[0]} = {found[1]:g} in size; beyond it friction pushes the "
                "joint in one direction."
            )
        if rule.fault is AlphaFault.NO_RANGE:
            return (
                f"{own} = {found[0]:g} is above {others[0]} = {found[1]:g}: expected a range that the joint can be in. "
                "Give both."
            )
        moments = (f"{name.rpartition('.')[2]} {value:g}" for name, value in zip((own, *others), found, strict=True))
        return (
            f"{own.removesuffix('.xx')}: expected moments of inertia of a body, with no negative principal moment, found "
            f"{', '.join(moments)}."
        )

    def _refuse_outside(self, position: int, number: float, where: str = "") -> None:
        entry = self.entries[position]
        for bound, outside, word in (
            (entry.lower, entry.lower is not None and number < entry.lower, "at least"),
            (entry.upper, entry.upper is not None and number > entry.upper, "at most"),
        ):
            if bound is not None and outside and math.isfinite(number):
                raise InputError(f"{where}{entry.name}: expected {word} {entry.in_unit(bound)}, found {number:g}.")

    def by_name(self, vector: npt.ArrayLike) -> dict[str, float]:
        """The values of a vector by name."""
        values = np.asarray(vector, dtype=np.float64)
        if values.shape != (len(self),):
            raise InputError(f"alpha of {self.robot}: expected shape ({len(self)},), found {values.shape}.")
        return {name: float(value) for name, value in zip(self.names, values, strict=True)}
