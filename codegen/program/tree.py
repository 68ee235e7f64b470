"""Topology of a robot, which a derivation needs before any number: which joint hangs on which, and how each joint moves."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise

DENSE_DEPTH = 12
"""Joints on a path up to which dense elimination needs fewer operations than elimination along the tree (counted: at 7 joints
half as many for a step, at 15 as many)."""


@dataclass(frozen=True)
class Gear:
    """A joint that follows another: its position is `ratio` times that of joint `leader` plus `shift` [rad or m]."""

    leader: int
    ratio: float
    shift: float


@dataclass(frozen=True)
class Closure:
    """A closed loop: a cut joint of type `kind` between two links (-1 the world), and which of its rows are kept."""

    kind: str
    parent: int
    child: int
    kept: tuple[int, ...] = ()


@dataclass(frozen=True)
class Attached:
    """A spring of this element of `laws.elements` on a joint, with so many numbers."""

    element: str
    joint: int
    size: int


@dataclass(frozen=True)
class Contact:
    """A shape on link `link` that touches another on link `other` (-1 the world), of the kinds that `cores` names; with
    friction where `frictional`, then also against turning about the normal where `spun`, and across it where `rolled`."""

    link: int
    other: int
    cores: tuple[str, str]
    frictional: bool = True
    spun: bool = False
    rolled: bool = False

    @property
    def rows(self) -> int:
        """Number of impulses: the normal one, with friction two across, then those of torques about the normal and across."""
        return (3 if self.frictional else 1) + self.spun + 2 * self.rolled

    @property
    def discs(self) -> tuple[tuple[int, slice], ...]:
        """Every friction against turning: which it is (0: about the normal, 1: across) and its rows."""
        about = [(0, slice(3, 4))] if self.spun else []
        return (*about, (1, slice(3 + self.spun, 5 + self.spun))) if self.rolled else tuple(about)

    @property
    def crossing(self) -> bool:
        """Whether both are capsules."""
        return self.cores == ("capsule", "capsule")


@dataclass(frozen=True)
class Tree:
    """Topology of a robot. Joint i moves link i; parents[i] < i is the link it hangs on, -1 the fixed world.

    slides[i]: the joint translates along its axis (prismatic) instead of turning about it.
    aligned[i]: the joint axis is the link's own z axis, so that joint frame and link frame coincide.
    limited[i]: the step in maximal coordinates stops the joint at its limits (none where empty).
    wrenches[k]: the link that external wrench k acts on.
    attached[k]: spring k on a chosen joint.
    friction: parts of the law of friction beyond the plain one (of `laws.elements.FRICTION`).
    closures[k]: closed loop k.
    contacts[k]: contact k.
    redundant: how many of the kept rows of all loops are redundant, at every closed pose.
    base: joints of a floating base, which stand before all others.
    gears[i]: what joint i follows, None where nothing (empty where no joint follows another). A leader follows none itself.
    """

    parents: tuple[int, ...]
    slides: tuple[bool, ...]
    aligned: tuple[bool, ...]
    limited: tuple[bool, ...] = ()
    wrenches: tuple[int, ...] = ()
    gears: tuple[Gear | None, ...] = ()
    attached: tuple[Attached, ...] = ()
    closures: tuple[Closure, ...] = ()
    friction: tuple[str, ...] = ()
    contacts: tuple[Contact, ...] = ()
    base: int = 0
    redundant: int = 0

    @property
    def attached_size(self) -> int:
        """Numbers of all springs on chosen joints."""
        return sum(one.size for one in self.attached)

    @property
    def attached_places(self) -> tuple[slice, ...]:
        """Where the numbers of every such spring are among those of all."""
        ends = list(accumulate((one.size for one in self.attached), initial=0))
        return tuple(slice(a, b) for a, b in pairwise(ends))

    @property
    def rows(self) -> int:
        """Number of kept rows of all loops."""
        return sum(len(closure.kept) for closure in self.closures)

    @property
    def contact_rows(self) -> int:
        """Number of impulses of all contacts."""
        return sum(contact.rows for contact in self.contacts)

    @property
    def turned(self) -> bool:
        """Whether any contact has friction against turning."""
        return any(contact.discs for contact in self.contacts)

    @property
    def limits(self) -> tuple[int, ...]:
        """Joints whose position limits act."""
        return tuple(j for j, acts in enumerate(self.limited) if acts)

    @property
    def unilateral(self) -> bool:
        """Whether a step's stages are solved with unilateral rows: if there is a limit or a contact, or a loop or a floating
        base beside a friction law that depends on the step's start."""
        return bool(self.limits or self.contacts or ((self.closures or self.base) and self.friction))

    @property
    def n(self) -> int:
        """Number of moving joints (and links)."""
        return len(self.parents)

    @property
    def coordinates(self) -> tuple[int, ...]:
        """Joints that follow no other: the unknowns of the joint-space step."""
        return tuple(i for i in range(self.n) if not self.gears or self.gears[i] is None)

    @property
    def freedoms(self) -> int:
        """Number of coordinates."""
        return len(self.coordinates)

    @property
    def depth(self) -> int:
        """Number of joints on the longest path from base to tip, those of a floating base left out."""
        return max((len(self.ancestors(k)) for k in range(self.n)), default=0) - self.base

    @property
    def deep(self) -> bool:
        """Whether joint-space systems are solved along the tree (O(n)) instead of as dense matrices; gears and closed loops
        couple branches, and with them or on a floating base they never are."""
        return self.depth > DENSE_DEPTH and not self.gears and not self.closures and not self.base

    def ancestors(self, joint: int) -> tuple[int, ...]:
        """The joints from this one (included) to the base."""
        path = [joint]
        while self.parents[path[-1]] >= 0:
            path.append(self.parents[path[-1]])
        return tuple(path)

    def related(self, one: int, other: int) -> int | None:
        """The deeper of two joints when one carries the other, else None (they lie on different branches)."""
        if one in self.ancestors(other):
            return other
        return one if other in self.ancestors(one) else None
