"""XML that a stranger wrote: nothing is expanded, nothing is fetched, nothing is repaired."""

from __future__ import annotations

import codecs
import time
from pathlib import Path

import pytest

from diffpbd.codegen.description.check.validate import check
from diffpbd.codegen.description.read import source
from diffpbd.codegen.description.read.source import SourceError, parse

PLAIN = '<robot name="é"><link name="a"/></robot>'


@pytest.mark.parametrize(
    "content",
    [
        PLAIN.encode(),
        codecs.BOM_UTF8 + PLAIN.encode(),
        codecs.BOM_UTF16_LE + PLAIN.encode("utf-16-le"),
        codecs.BOM_UTF16_LE + f'<?xml version="1.0" encoding="UTF-16"?>{PLAIN}'.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + PLAIN.encode("utf-16-be"),
        codecs.BOM_UTF32_LE + PLAIN.encode("utf-32-le"),
        b'<?xml version="1.0" encoding="UTF-8"?>' + PLAIN.encode(),
        b'<?xml version="1.0" encoding="ISO-8859-1"?>' + PLAIN.encode("latin-1"),
        b"<?xml version='1.0' encoding='windows-1252'?>\n<!-- <!DOCTYPE x> -->" + PLAIN.encode("cp1252"),
        b"<!-- a --><?note <!-- ?><!-- b -->" + PLAIN.encode(),
        PLAIN.replace("<robot", '<robot xmlns="http://example.org/urdf"').encode(),
        PLAIN.replace("é", "&#233;").encode(),
    ],
)
def test_encodings_and_prologs(content: bytes) -> None:
    root = parse(content)
    assert (root.tag, root.namespace, root.attributes["name"]) == ("robot", "", "é")
    assert [child.attributes for child in root.named("link")] == [{"name": "a"}]


def test_foreign_elements_are_set_apart() -> None:
    root = parse(b'<robot xmlns:x="urn:x"><x:link name="b"/><link name="a" x:note="n"/></robot>')
    assert [child.attributes["name"] for child in root.named("link")] == ["a"]
    assert [(each.tag, each.namespace) for each in root.walk()] == [("robot", ""), ("link", "urn:x"), ("link", "")]


BOMB = '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa">' + "".join(
    f'<!ENTITY {b} "{("&" + a + ";") * 10}">' for a, b in zip("abcdefghi", "bcdefghij", strict=True)
)


@pytest.mark.parametrize(
    "text",
    [
        BOMB + ']><robot name="&j;"/>',
        BOMB + "]><robot>&j;</robot>",
        "<!DOCTYPE robot SYSTEM 'file:///etc/passwd'><robot/>",
        "<!DOCTYPE robot [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><robot name='x'>&x;</robot>",
        "<!DOCTYPE robot SYSTEM 'http://127.0.0.1:9/x.dtd'><robot/>",
        "<!-- --><?p <!-- ?><!DOCTYPE r [<!ENTITY x 'y'>]><!-- --><robot name='&x;'/>",
        "  \n<?xml version='1.0'?><!doctype r><robot/>",
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_document_types_are_refused_unread(text: str, encoding: str) -> None:
    started = time.process_time()
    with pytest.raises(SourceError):
        parse(text.encode(encoding))
    assert time.process_time() - started < 1.0


def test_an_included_file_stays_closed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.xml"
    secret.write_text('<link name="secret"/>', encoding="utf-8")
    text = f'<robot xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="{secret.as_uri()}"/></robot>'
    assert "secret" not in [each.attributes.get("name") for each in parse(text.encode()).walk()]


def test_depth_and_size_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SourceError):
        parse(b"<robot>" + b"<a>" * 5000 + b"</a>" * 5000 + b"</robot>")
    monkeypatch.setattr(source, "LARGEST_FILE", 1000)
    with pytest.raises(SourceError, match="larger"):
        parse(b"<robot>" + b" " * 1000 + b"</robot>")


def test_messages_quote_without_control_characters() -> None:
    mass = f'<inertial><mass value="{"9" * 500}"/></inertial>'
    report = check(f'<robot name="x"><link name="a&#10;b\u202e">{mass}</link></robot>'.encode())
    for fault in report.faults:
        assert fault.message.isprintable()
        assert len(fault.message) < 300
