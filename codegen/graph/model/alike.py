"""Contacts that are alike: one text for all of a kind, called with each one's numbers.

Contacts of a kind are between the same links and of the same shapes, and differ in numbers alone: those of the block `core`
that are not the same number in all of them, and those of the law. A kind's kernels are those of the robot with one such
contact, whose numbers are arguments. Up to `SEVERAL` contacts are one text, in which all that they share is worked out once.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Final

import casadi as ca

from diffpbd.codegen.graph.model.meetings import CORE
from diffpbd.codegen.graph.model.model import Model
from diffpbd.codegen.program.tree import Contact

SEVERAL: Final = 16
"""Contacts up to which every one has text of its own: in a loop each works out anew where its links are."""


@dataclass(frozen=True)
class Kind:
    """Contacts that are alike, by their indices; `own` are the rows of `core` that tell them apart, for which `model`, the
    robot with one of them, has the symbols `numbers`, those of its law behind them."""

    members: tuple[int, ...]
    own: tuple[int, ...]
    model: Model
    numbers: Any

    def values(self, model: Model, k: int) -> Any:
        """The numbers of contact k, by the blocks of the whole robot."""
        return ca.vertcat(*[model.blocks["core"][i, k] for i in self.own], model.blocks["contact_law"][:, k])


def many(model: Model) -> bool:
    """Whether contacts are a table: there are more than a text is written for, and none bounces."""
    bounces = any(entry.name.startswith("contact.restitution.") for entry in model.entries)
    return len(model.tree.contacts) > SEVERAL and not bounces


def kinds(model: Model) -> list[Kind]:
    """In the order in which they first appear."""
    by_kind: dict[Contact, list[int]] = {}
    for k, contact in enumerate(model.tree.contacts):
        by_kind.setdefault(contact, []).append(k)
    return [_kind(model, contact, tuple(members)) for contact, members in by_kind.items()]


def _kind(model: Model, contact: Contact, members: tuple[int, ...]) -> Kind:
    core, law = model.blocks["core"], model.blocks["contact_law"]
    own = tuple(i for i in range(2 * CORE) if not _same([core[i, k] for k in members]))
    numbers = ca.SX.sym("numbers", len(own) + law.size1())
    one = ca.SX(core[:, members[0]])
    for place, i in enumerate(own):
        one[i] = numbers[place]
    blocks = {**model.blocks, "core": one, "contact_law": numbers[len(own) :]}
    tree = dataclasses.replace(model.tree, contacts=(contact,))
    return Kind(members, own, dataclasses.replace(model, tree=tree, blocks=blocks), numbers)


def _same(elements: list[Any]) -> bool:
    """Whether all are one number."""
    return all(x.is_constant() for x in elements) and len({float(x) for x in elements}) == 1


def table(model: Model, made: list[Kind]) -> Any:
    """The numbers of every contact, a column each, as long as those of the kind that has most."""
    columns: list[Any] = [None] * len(model.tree.contacts)
    most = max(kind.numbers.numel() for kind in made)
    for kind in made:
        for k in kind.members:
            own = kind.values(model, k)
            columns[k] = ca.vertcat(own, ca.SX(most - own.numel(), 1))
    return ca.horzcat(*columns)
