"""`make docs`: every page becomes a page of the site without a warning, and loads nothing from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import diffpbd

ROOT = Path(__file__).resolve().parent.parent
LOADED = re.compile(
    r"""<(?:script|link|img|iframe)\b[^>]*?\b(?:src|href)="(?:https?:)?//|url\(["']?(?:https?:)?//|@import\s+["']http"""
)


def command() -> list[str]:
    """What the Makefile runs."""
    line = re.search(
        r"^\t@\$\(BIN\)/sphinx-build (.*) -d \S+ \. site", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M
    )
    assert line is not None
    return [sys.executable, "-m", "sphinx", *line[1].split()]


@pytest.mark.thorough
def test_the_site_is_whole_and_stands_alone(tmp_path: Path) -> None:
    site = tmp_path / "site"
    done = subprocess.run(
        [*command(), "-d", str(tmp_path / "trees"), ".", str(site)],
        cwd=ROOT,
        text=True,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    pages = {
        path.relative_to(ROOT).with_suffix(".html") for path in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
    }
    assert {page.as_posix() for page in pages if not (site / page).is_file()} == set()
    figures = {path.name for path in (ROOT / "docs" / "figures").iterdir()}
    assert figures <= {path.name for path in (site / "_images").iterdir()}
    texts = {
        path.name: path.read_text(encoding="utf-8") for path in site.rglob("*") if path.suffix in (".html", ".css")
    }
    assert [name for name, text in texts.items() if LOADED.search(text)] == []
    assert LOADED.search('<script defer src="https://cdn.example/a.js">') and LOADED.search("url(//fonts.example/x)")
    assert [
        name for name in diffpbd.__all__ if not name.startswith("_") and f'id="diffpbd.{name}"' not in texts["api.html"]
    ] == []
