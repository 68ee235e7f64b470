"""Entries of a description that nobody reads: every attribute is read, harmless, or said once.

A `Format` has the words of all elements. `unread` walks a file and finds what is in neither list, new attributes too, so that
nothing is lost in silence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from diffpbd.codegen.description.read.source import Element
from diffpbd.codegen.description.report import Finding, printable

READ, HARMLESS, SAID = "read", "harmless", "said"

MOST_SAID: Final = 1500
"""Characters of one such doubt; a file of every kind of thing has fewer."""


@dataclass(frozen=True)
class Words:
    """Attributes of an element: `read` (taken, or judged by a finding of its own), `harmless` to motion, and `said`."""

    read: frozenset[str] = frozenset()
    harmless: frozenset[str] = frozenset()
    said: frozenset[str] = frozenset()


def words(read: str = "", harmless: str = "", said: str = "") -> Words:
    """Words from text, separated by spaces."""
    return Words(frozenset(read.split()), frozenset(harmless.split()), frozenset(said.split()))


@dataclass(frozen=True)
class Format:
    """`elements` by tag, or PARENT/TAG where a tag has several meanings; `read` and `harmless` are elements with all that is in
    them, `said` those that are named by their tag alone. `usual` are values that say nothing, by TAG.ATTRIBUTE or TAG.
    Elements of another namespace are the format's own if they have this `prefix` and are in a list."""

    elements: Mapping[str, Words]
    read: frozenset[str]
    harmless: frozenset[str]
    said: frozenset[str] = frozenset()
    usual: Mapping[str, tuple[str, ...]] | None = None
    prefix: str = ""

    def whole(self, path: tuple[str, ...]) -> str | None:
        """Verdict on an element (tags from the root on) with all that is in it; None where its attributes differ."""
        for keys, kind in ((self.read, READ), (self.harmless, HARMLESS), (self.said, SAID)):
            if not keys.isdisjoint(_keys(path)):
                return kind
        return None

    def kind(self, path: tuple[str, ...], attribute: str) -> str | None:
        """The list of an attribute of an element; None where it is in no list."""
        for end in range(1, len(path) + 1):
            if whole := self.whole(path[:end]):
                return whole
        own = self.known(path)
        lists = ((own.read, READ), (own.harmless, HARMLESS), (own.said, SAID)) if own else ()
        return next((kind for names, kind in lists if attribute in names), None)

    def says(self, path: tuple[str, ...], attribute: str, value: str) -> bool:
        """Whether an attribute is to be named."""
        usual = self.usual or {}
        if value in usual.get(f"{path[-1]}.{attribute}", usual.get(path[-1], ())):
            return False
        return self.known(path) is not None and self.kind(path, attribute) in (SAID, None)

    def known(self, path: tuple[str, ...]) -> Words | None:
        """Its words, where the format has the element."""
        return next((self.elements[key] for key in _keys(path) if key in self.elements), None)


def _keys(path: tuple[str, ...]) -> tuple[str, ...]:
    return ("/".join(path[-2:]), path[-1])


def unread(roots: Iterable[Element], form: Format, why: str) -> tuple[Finding, ...]:
    """One doubt about everything in these files that is not read, element by element; `why` ends it."""
    found: dict[str, dict[str, None]] = {}
    stack: list[tuple[tuple[str, ...], Element]] = [((root.tag,), root) for root in roots]
    while stack:
        path, element = stack.pop()
        whole = form.whole(path)
        if whole == SAID:
            found.setdefault(element.tag, {})
        if whole is not None or element.namespace and (element.prefix != form.prefix or form.known(path) is None):
            continue
        for attribute, value in element.attributes.items():
            if not attribute.startswith("{") and form.says(path, attribute, value):
                found.setdefault(element.tag, {})[attribute] = None
        stack.extend(((*path, child.tag), child) for child in reversed(element.children))
    if not found:
        return ()
    told = "; ".join(
        " ".join([f"<{printable(tag)}>", ", ".join(sorted(names))]).strip() for tag, names in sorted(found.items())
    )
    return (Finding("unread", f"not read: {printable(told, MOST_SAID)}. {why}"),)
