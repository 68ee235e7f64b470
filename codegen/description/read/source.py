"""From a file or bytes to a plain element tree. The only file that knows lxml.

Nothing but well-formed XML of moderate size gets through: no document type, so no entity is ever expanded and
nothing external is ever opened; no network; no recovery from broken markup.
"""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from lxml import etree

from diffpbd.codegen.description.report import printable
from diffpbd.runtime.base.errors import InputError

LARGEST_FILE: Final = 32 * 1024 * 1024
"""[bytes] The largest descriptions in use have about 1 MB; meshes are files of their own."""

_BYTE_ORDER_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED_ENCODING: Final = re.compile(rb"""\A\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")
_ENCODINGS: Final = frozenset({"utf-8", "ascii", "iso8859-1", "iso8859-15", "cp1252"})


class SourceError(ValueError):
    """Bytes that are not an acceptable XML document; the message says why."""


DRAKE: Final = "drake"
"""Prefix of the elements by which Drake extends URDF."""


@dataclass(frozen=True)
class Element:
    """An XML element: local name, namespace (empty for the document's own), attributes, children, line."""

    tag: str
    namespace: str
    attributes: dict[str, str]
    children: tuple[Element, ...]
    line: int
    text: str = ""
    prefix: str = ""
    undeclared: bool = False
    """Whether the prefix has no xmlns: the file is no well-formed XML of namespaces, though of elements."""

    @property
    def label(self) -> str:
        """`<tag>` for a message."""
        return f"<{printable(self.tag)}>"

    def named(self, tag: str) -> list[Element]:
        """Children of this name in the document's own namespace."""
        return [child for child in self.children if child.tag == tag and not child.namespace]

    def walk(self) -> Iterator[Element]:
        """This element and everything below it, in document order."""
        stack = [self]
        while stack:
            element = stack.pop()
            yield element
            stack.extend(reversed(element.children))


def read_bytes(source: str | os.PathLike[str] | bytes) -> tuple[str, bytes]:
    """The name to use in messages and the content; raises InputError where the file cannot be read."""
    if isinstance(source, bytes):
        return "description", source
    path = Path(source)
    try:
        if not path.exists():
            raise InputError(f"{path}: no such file; a robot description (URDF, MJCF) is expected")
        if not path.is_file():
            raise InputError(f"{path} is not a file; a robot description (URDF, MJCF) is expected")
        with path.open("rb") as stream:
            return str(path), stream.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error


def parse(content: bytes) -> Element:
    """The root element; raises SourceError."""
    if len(content) > LARGEST_FILE:
        raise SourceError(f"the file is larger than {LARGEST_FILE} bytes, which no robot description is")
    text = _decoded(content)
    if not text.strip():
        raise SourceError("the file is empty")
    if _prolog_end(text).upper().startswith("<!DOCTYPE"):
        raise SourceError("the file has a document type (<!DOCTYPE ...>); which is never read; remove it")
    content = text.encode("utf-8")
    try:
        strict = _parser()
        try:
            root = etree.fromstring(content, strict)
        except etree.XMLSyntaxError:
            # Only a prefix without xmlns, as old Gazebo files have: its elements are read by name, and judged by their place.
            if {entry.type_name for entry in strict.error_log} != {"NS_ERR_UNDEFINED_NAMESPACE"}:
                raise
            root = etree.fromstring(content, _parser(recover=True))
    except (etree.XMLSyntaxError, ValueError) as error:
        raise SourceError(f"the file is not well-formed XML: {printable(str(error), 300)}") from error
    if ":" in str(root.tag).rpartition("}")[2]:
        raise SourceError(
            f"the file is not well-formed XML: the prefix of <{printable(str(root.tag))}> is not declared"
        )
    return _plain(root, etree.QName(root).namespace or "")


def _parser(*, recover: bool = False) -> etree.XMLParser:
    return etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
        recover=recover,
        remove_comments=True,
        remove_pis=True,
    )


def _decoded(content: bytes) -> str:
    encoding = "utf-8"
    for mark, name in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            content, encoding = content[len(mark) :], name
            break
    else:
        declared = _DECLARED_ENCODING.match(content)
        if declared:
            encoding = _known_encoding(declared.group(1).decode("ascii"))
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise SourceError(f"the file is not {encoding} text: byte {error.start} cannot be decoded") from error


def _known_encoding(name: str) -> str:
    try:
        canonical = codecs.lookup(name).name
    except LookupError:
        canonical = ""
    if canonical not in _ENCODINGS:
        raise SourceError(f'the file declares encoding "{name}"; UTF-8 is expected')
    return canonical


def _prolog_end(text: str) -> str:
    """The text behind white space, comments and processing instructions at the start of the document."""
    position = 0
    while True:
        while position < len(text) and text[position] in " \t\r\n":
            position += 1
        for opening, closing in (("<!--", "-->"), ("<?", "?>")):
            if text.startswith(opening, position):
                end = text.find(closing, position + len(opening))
                if end < 0:
                    return ""
                position = end + len(closing)
                break
        else:
            return text[position : position + 16]


def _plain(element: Any, own_namespace: str) -> Element:
    namespace, _, name = element.tag.rpartition("}")
    namespace, (prefix, colon, local) = namespace[1:], name.rpartition(":")
    children = tuple(_plain(child, own_namespace) for child in element if isinstance(child.tag, str))
    attributes = {str(key): str(value) for key, value in element.attrib.items()}
    return Element(
        local,
        prefix if colon else "" if namespace == own_namespace else namespace,
        attributes,
        children,
        element.sourceline or 0,
        (element.text or "").strip(),
        prefix if colon else element.prefix or "",
        bool(colon),
    )
