"""Which links hang on which: the tree of a description and the part of it that base and tips choose."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from diffpbd.codegen.description.geometry.rigid import Pose, compose
from diffpbd.codegen.description.report import Finding, listed, quoted
from diffpbd.codegen.description.robot.robot import WORLD
from diffpbd.codegen.description.tree.elements import Document, JointElement, LinkElement


@dataclass(frozen=True)
class Tree:
    """The whole description: links by name, the joint above each, the joints below each in file order."""

    root: str
    links: dict[str, LinkElement]
    above: dict[str, JointElement]
    below: dict[str, tuple[JointElement, ...]]
    cut: tuple[JointElement, ...] = ()
    """Second and later joints onto one child, which close loops and are in neither table."""

    @property
    def hidden(self) -> frozenset[str]:
        """Links of no file: in front of a moving base, and between the motions of one joint."""
        return frozenset(joint.parent for joint in self.above.values() if joint.of_base or joint.part)

    def subtree(self, link: str) -> list[str]:
        """`link` and everything that hangs on it, depth first in file order."""
        order: list[str] = []
        stack = [link]
        while stack:
            name = stack.pop()
            order.append(name)
            stack.extend(joint.child for joint in reversed(self.below[name]))
        return order

    def path(self, link: str) -> list[JointElement]:
        """The joints from the root to `link`."""
        joints: list[JointElement] = []
        while link in self.above:
            joints.append(self.above[link])
            link = self.above[link].parent
        return joints[::-1]

    def mass(self, links: Iterable[str]) -> float:
        """Sum of the masses as written [kg]."""
        inertials = (self.links[name].inertial for name in links)
        return sum(inertial.mass for inertial in inertials if inertial is not None)


@dataclass(frozen=True)
class Branch:
    """Links behind a joint that was not chosen, which are left out; `carrier` is the moving link before."""

    joint: JointElement
    carrier: int
    links: tuple[str, ...]
    mass: float


@dataclass(frozen=True)
class Selection:
    """The chosen part: moving joints in robot order, and where every link of it sits.

    `place` gives for a link the index of the moving link that carries it (-1: the base) and its pose there
    (for -1: in the root frame). `held` are moving joints between root and base; `tips` are link names; `welded` are the
    joints that were asked to be held.
    """

    tree: Tree
    base: str
    joints: tuple[JointElement, ...]
    place: dict[str, tuple[int, Pose]]
    tips: tuple[str, ...]
    unused: tuple[Branch, ...]
    held: tuple[JointElement, ...]
    welded: tuple[str, ...] = ()

    @property
    def hidden(self) -> frozenset[str]:
        """Hidden links of the tree."""
        return self.tree.hidden

    def chain(self, joint: JointElement) -> tuple[str, ...]:
        """Names of the chosen joints that `joint` follows, the nearest first, each once."""
        chosen = {element.name: element for element in self.joints}
        names: list[str] = []
        while joint.mimic is not None and joint.mimic.joint in chosen and joint.mimic.joint not in names:
            joint = chosen[joint.mimic.joint]
            names.append(joint.name)
        return tuple(names)

    def carried(self) -> list[list[str]]:
        """For every moving link the names of the links it consists of, the moving link itself first."""
        names: list[list[str]] = [[] for _ in self.joints]
        for name, (carrier, _) in self.place.items():
            if carrier != WORLD:
                names[carrier].append(name)
        return names


def grow(document: Document) -> tuple[Tree | None, list[Finding]]:
    """The tree of a description, or the faults that keep it from being one."""
    faults: list[Finding] = []
    _find_duplicates(document, faults)
    links = {link.name: link for link in document.links}
    parents: dict[str, list[JointElement]] = {name: [] for name in links}
    below: dict[str, list[JointElement]] = {name: [] for name in links}
    for joint in document.joints:
        known = True
        for role, name in (("parent", joint.parent), ("child", joint.child)):
            if name and name not in links:
                message = f"joint {quoted(joint.name)}: the {role} link {quoted(name)} does not exist"
                faults.append(Finding("unknown-link", message, (name,), (joint.name,)))
            known = known and name in links
        if known:
            parents[joint.child].append(joint)
    cut = tuple(joint for joints in parents.values() for joint in joints[1:])
    for joint in document.joints:
        if joint.parent in below and joint.child in links and joint not in cut:
            below[joint.parent].append(joint)
    roots = [name for name, joints in parents.items() if not joints]
    if len(roots) > 1 and not faults:
        message = f"{len(roots)} links have no parent ({listed(roots)}): one root is expected,"
        message += " connect the others"
        faults.append(Finding("roots", message, tuple(roots)))
    if faults or not links:
        return None, faults
    tree = Tree(
        roots[0] if roots else "",
        links,
        {name: joints[0] for name, joints in parents.items() if joints},
        {name: tuple(joints) for name, joints in below.items()},
        cut,
    )
    reached = set(tree.subtree(tree.root)) if roots else set()
    stray = [name for name in links if name not in reached]
    if stray:
        message = f"links {listed(stray)} hang on each other in a circle: no joint connects them to a root"
        if cut:
            message += (
                f"; of several joints onto one link the later in the file are cut ({listed(j.name for j in cut)})"
            )
        return None, [Finding("circle", message, tuple(stray))]
    return tree, []


def select(
    tree: Tree, base: str | None, tips: tuple[str, ...], hold: tuple[str, ...], sites: frozenset[str] = frozenset()
) -> tuple[Selection | None, list[Finding]]:
    """The part of the tree below `base` (default: the root) that leads to `tips` (default: every end).

    Joints named in `hold` are welded at their zero position. Links in `sites` are no ends by default.
    """
    faults = _unknown_names(tree, base, tips, hold)
    if faults:
        return None, faults
    base = tree.root if base is None else base
    below_base = set(tree.subtree(base))
    for tip in tips:
        if tip not in below_base:
            message = f"tip {quoted(tip)} does not hang on base {quoted(base)}"
            faults.append(Finding("tip", message, (tip, base)))
    if faults:
        return None, faults
    wanted = {joint.name for tip in tips for joint in tree.path(tip)} if tips else None
    pose = Pose()
    for joint in tree.path(base):
        pose = compose(pose, joint.pose)
    place: dict[str, tuple[int, Pose]] = {base: (WORLD, pose)}
    moving: list[JointElement] = []
    unused: list[Branch] = []
    stack = list(reversed(tree.below[base]))
    while stack:
        joint = stack.pop()
        carrier, pose = place[joint.parent]
        if not joint.moves or joint.name in hold:
            place[joint.child] = (carrier, compose(pose, joint.pose))
        elif wanted is None or joint.name in wanted:
            place[joint.child] = (len(moving), Pose())
            moving.append(joint)
        else:
            links = tuple(name for name in tree.subtree(joint.child) if name not in tree.hidden)
            unused.append(Branch(joint, carrier, links, tree.mass(links)))
            continue
        stack.extend(reversed(tree.below[joint.child]))
    held = tuple(joint for joint in tree.path(base) if joint.moves and joint.name not in hold)
    faults = _immobile(base, tips, place, len(moving))
    if faults:
        return None, faults
    ends = tips or _ends(tree, place, moving, sites)
    return Selection(tree, base, tuple(moving), place, ends, tuple(unused), held, hold), []


def _ends(
    tree: Tree, place: dict[str, tuple[int, Pose]], moving: list[JointElement], sites: frozenset[str]
) -> tuple[str, ...]:
    """Links without children on moving links that carry no further moving link."""
    carrying = {place[joint.parent][0] for joint in moving}
    return tuple(
        name
        for name, (carrier, _) in place.items()
        if name not in sites
        and all(joint.child in sites for joint in tree.below[name])
        and carrier != WORLD
        and carrier not in carrying
    )


def _immobile(base: str, tips: tuple[str, ...], place: dict[str, tuple[int, Pose]], n_moving: int) -> list[Finding]:
    if not n_moving:
        message = f"no moving joint hangs on base {quoted(base)}"
        if tips:
            message = f"no moving joint lies between base {quoted(base)} and tip {quoted(tips[0])}"
        return [Finding("immobile", message, (base, *tips))]
    return [
        Finding("immobile", f"tip {quoted(tip)} is rigidly attached to base {quoted(base)}", (tip, base))
        for tip in tips
        if place[tip][0] == WORLD
    ]


def _unknown_names(tree: Tree, base: str | None, tips: tuple[str, ...], hold: tuple[str, ...]) -> list[Finding]:
    faults: list[Finding] = []
    named = [("base", base)] if base is not None else []
    for role, name in (*named, *(("tip", tip) for tip in tips)):
        links = [link for link in tree.links if link not in tree.hidden]
        if name not in links:
            message = f"{role} {quoted(name)} is not a link of the description; links are "
            faults.append(Finding(role, message + listed(links), (name,)))
    if len(set(tips)) != len(tips):
        faults.append(Finding("tip", f"a tip is named twice: {listed(tips)}", tips))
    joints = {joint.name for joint in (*tree.above.values(), *tree.cut) if not joint.part}
    for name in hold:
        if name not in joints:
            message = f"hold {quoted(name)} is not a joint of the description; joints are "
            faults.append(Finding("hold", message + listed(sorted(joints)), (), (name,)))
    return faults


def _find_duplicates(document: Document, faults: list[Finding]) -> None:
    """Two links or two joints of one name; a joint may be called like a link."""
    for kind, elements in (("link", document.links), ("joint", document.joints)):
        lines: dict[str, list[int]] = {}
        for element in elements:
            lines.setdefault(element.name, []).append(element.line)
        for name, where in lines.items():
            if len(where) > 1 and name:
                at = "lines " + ", ".join(str(line) for line in where)
                at = at if all(where) else "one is of the moving base"
                message = f"{len(where)} {kind}s are called {quoted(name)} ({at}); names must differ"
                names: tuple[tuple[str, ...], tuple[str, ...]] = ((name,), ()) if kind == "link" else ((), (name,))
                faults.append(Finding(f"duplicate-{kind}", message, *names))
