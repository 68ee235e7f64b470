"""Recorded contact forces, without which a motion does not determine the torques of a robot that touches something.

For every contact (`robot.manifest.robot.contacts`, `NAME`, or `NAME/AGAINST` if it touches several) the force [N] on its
sphere, in world axes, at the point between the surfaces; a log has it in columns `force_<contact>_x`, `_y`, `_z`. Not needed
for a contact that stays open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, arg
from diffpbd.runtime.base.names import hint, listing
from diffpbd.runtime.logs.csv import CsvTable
from diffpbd.runtime.logs.processing import Samples
from diffpbd.runtime.model.robot import Robot

__all__ = ["AWAY", "Forces", "check_forces", "columns_of", "forces_in", "given_forces"]

AWAY = 1e-3
"""[m] Gap above which a contact is open: larger than errors of encoders and filters."""
AXES = ("x", "y", "z")


@dataclass(frozen=True)
class Forces:
    """Forces of the contacts flagged in `known` (c,), at `time` (samples,) [s]: values (samples, 3, c) [N]."""

    time: FloatArray
    values: FloatArray
    known: npt.NDArray[np.bool_]

    def at(self, part: Samples) -> Forces:
        """Forces at the samples of a part of the recording, filtered like its motion, with both ends."""
        flat = self.values.reshape(len(self.time), -1)
        columns = [np.interp(part.time, self.time, column) for column in flat.T]
        whole = replace(part, processing=replace(part.processing, trim=0.0, still=False), ends=(0, 0))
        values = whole.smooth(np.stack(columns, axis=1)).reshape(len(part.time), *self.values.shape[1:])
        return replace(self, time=part.time, values=values)


def columns_of(robot: Robot) -> list[str]:
    """Names of all columns."""
    return [f"force_{contact.name}_{axis}" for contact in robot.manifest.robot.contacts for axis in AXES]


def forces_in(
    path: str | Path, robot: Robot, rate: float | None = None, columns: Mapping[str, str] | None = None
) -> Forces:
    """Forces in a log; a contact with only some of its columns is refused."""
    table = CsvTable(path, columns or {})
    named = {name: table.column(name) for name in columns_of(robot) if name in table.header}
    found: dict[str, Any] = {}
    for contact in robot.manifest.robot.contacts:
        own = [f"force_{contact.name}_{axis}" for axis in AXES]
        if missing := [name for name in own if name not in named]:
            if len(missing) < len(AXES):
                raise InputError(
                    f"{path}: the columns {listing(missing)} are missing beside those of the same contact."
                )
            continue
        found[contact.name] = np.stack([named[name] for name in own], axis=1)
    return _of(robot, table.stamps(rate), found, str(path))


def given_forces(robot: Robot, time: FloatArray, forces: Mapping[str, npt.ArrayLike], where: str) -> Forces:
    """Forces from arrays (samples, 3) [N] by contact."""
    found = {}
    known = [contact.name for contact in robot.manifest.robot.contacts]
    for name, values in forces.items():
        if name not in known:
            raise InputError(f"forces: {robot.name} has no contact {name!r}. {hint(name, known)}")
        try:
            own = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"forces: {name}: expected numbers, found {type(values).__name__}.") from None
        if own.shape != (len(time), len(AXES)):
            raise InputError(
                f"forces: {name}: expected shape ({len(time)}, 3), a row a sample of {where}, found {own.shape}."
            )
        if not np.isfinite(own).all():
            raise InputError(f"forces: {name} has values that are not finite.")
        found[name] = own
    return _of(robot, time, found, where)


def _of(robot: Robot, time: FloatArray, found: Mapping[str, FloatArray], where: str) -> Forces:
    contacts = robot.manifest.robot.contacts
    if len(time) > 1 and not (np.diff(time) > 0.0).all():
        raise InputError(f"{where}: forces of contacts need times that increase.")
    values = np.zeros((len(time), len(AXES), len(contacts)))
    for k, contact in enumerate(contacts):
        if contact.name in found:
            values[:, :, k] = found[contact.name]
    return Forces(time, values, np.array([contact.name in found for contact in contacts], dtype=np.bool_))


def check_forces(robot: Robot, q: FloatArray, alpha: FloatArray, forces: Forces | None, where: str) -> FloatArray:
    """Values (samples, 3, c) for the motion q (samples, n); InputError if a contact without forces comes near."""
    contacts = robot.manifest.robot.contacts
    gaps = np.reshape(robot.contact_gap(q, alpha=alpha), (len(q), len(contacts))).min(axis=0)
    known: Sequence[bool] = [False] * len(contacts) if forces is None else forces.known.tolist()
    near = [
        f"{contact.name} (gap {gap:.3g} m)"
        for contact, gap, is_known in zip(contacts, gaps.tolist(), known, strict=True)
        if gap < AWAY and not is_known
    ]
    if near:
        raise InputError(
            f"{where}: {robot.name} touches something, and then motion alone does not tell its torques: forces are "
            f"missing of {listing(near)}. A log has them as force_<contact>_x, _y, _z [N], on the sphere, world axes "
            f"({arg.columns} renames columns)."
        )
    if forces is None:
        return np.zeros((len(q), len(AXES), len(contacts)))
    if len(forces.values) != len(q):
        raise InputError(f"{where}: forces of contacts: expected {len(q)} samples, found {len(forces.values)}.")
    return forces.values
