"""`make docs`: every page becomes a page of the site without a warning, and loads nothing from elsewhere."""

from __future__ import annotations

import json
import os
import re
import shutil
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
    """The command that the Makefile runs."""
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


def test_versions_stand_side_by_side(tmp_path: Path) -> None:
    """A tiny project with the settings' templates: tags with a site and the last commit, newest first in the list."""
    project = tmp_path / "project"
    (project / ".ci").mkdir(parents=True)
    shutil.copy(ROOT / ".ci" / "docs", project / ".ci")
    shutil.copytree(ROOT / "docs" / "site" / "templates", project / "docs" / "site" / "templates")
    lines = (
        "html_theme = 'basic'",
        "templates_path = ['templates']",
        "html_sidebars = {'**': ['versions.html']}",
        "root_doc = 'README'",
    )
    settings = "\n".join(lines)
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-C", str(project)]

    def run(*command: str) -> str:
        environment = {**os.environ, "SPHINX": str(Path(sys.executable).with_name("sphinx-build"))}
        done = subprocess.run(command, text=True, capture_output=True, check=False, env=environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("git", "init", "-q", str(project))
    for tag in ("v0.1.0", "v0.9.0", "v0.10.0", ""):
        (project / "README.rst").write_text(f"Words\n=====\n\nOf {tag or 'now'}.\n", encoding="utf-8")
        if tag != "v0.1.0":  # the first has no site
            (project / "docs" / "site" / "conf.py").write_text(settings, encoding="utf-8")
        run(*git, "add", "-A")
        run(*git, "commit", "-qm", tag or "now")
        if tag:
            run(*git, "tag", tag)
    run(str(project / ".ci" / "docs"), str(tmp_path / "out"))
    assert json.loads((tmp_path / "out" / "versions.json").read_text()) == ["latest", "v0.10.0", "v0.9.0"]
    for name, words in (("latest", "Of now."), ("v0.10.0", "Of v0.10.0."), ("v0.9.0", "Of v0.9.0.")):
        page = (tmp_path / "out" / name / "README.html").read_text(encoding="utf-8")
        assert words in page and "versions.json" in page
    assert "url=v0.10.0/README.html" in (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
