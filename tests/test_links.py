"""No dead link: every file and heading that a page of the project points to is there; every page of docs/ is in its index."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.imports import ROOT

PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "benchmarks").glob("*.md")),
]
LINK = re.compile(r"(?<!\\)\]\(([^)\s]+)\)")


def anchors(page: Path) -> set[str]:
    """Headings as GitHub names them: letters, digits, hyphens and underscores of the text in lower case."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    heads = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    plain = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", head).replace("`", "") for head in heads)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in plain}


def dead(page: Path) -> list[str]:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    wrong = []
    for target in LINK.findall(text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        if not there.exists() or (anchor and there.suffix == ".md" and anchor not in anchors(there)):
            wrong.append(target)
    return wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_no_link_is_dead(page: Path) -> None:
    assert dead(page) == []


def test_a_dead_link_is_seen(tmp_path: Path) -> None:
    page = tmp_path / "a.md"
    page.write_text("# One `two`: three\n[x](b.md) [y](a.md#one-two-three) [z](#four) [w](https://nowhere)\n")
    assert dead(page) == ["b.md", "#four"]


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert {name for name in pages if f"({name})" not in index} == set()


def test_every_figure_is_shown() -> None:
    shown = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    lost = {path.name for path in (ROOT / "docs" / "figures").iterdir() if path.name not in shown}
    assert lost == set()
