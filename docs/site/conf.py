"""The Markdown as a static site, `make docs`. Sphinx reads the checkout itself, so every link stays as it is written."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # the API is this checkout's

project, author = "diffpbd", "The diffpbd contributors"
copyright = author
_version = re.search(r'^version = "(.*)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.M)
assert _version is not None
release = _version[1]

extensions = ["myst_parser", "sphinx.ext.autodoc"]
root_doc = "README"
include_patterns = ["*.md", "docs/*.md", "docs/site/*.rst", "benchmarks/*.md"]
exclude_patterns = [
    ".*",
    "site",
    "report",
    "build",
    "dist",
    "generated",
    "tests",
    "codegen",
    "runtime",
    "diffpbd",
    "templates",
]
html_theme = "furo"
templates_path = ["templates"]
html_sidebars = {
    "**": [
        *(f"sidebar/{part}.html" for part in ("brand", "search", "scroll-start", "navigation")),
        "versions.html",
        "sidebar/scroll-end.html",
    ]
}
html_title = f"diffpbd {release}"
html_copy_source = False
html_show_sphinx = False
myst_heading_anchors = 6

autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"


def contents(_app: Any, name: str, text: list[str]) -> None:
    """The side bar: what docs/README.md lists, in its order, so that there is no second list to keep."""
    if name == "README":
        index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
        pages = re.findall(r"^- \[[^]]*\]\(([\w/-]+)\.(?:md|rst)\)", index, re.M)
        listed = [
            "docs/README",
            *(f"docs/{page}" for page in pages),
            "benchmarks/README",
            "CHANGELOG",
            "CONTRIBUTING",
            "SECURITY",
        ]
        text[0] += "\n\n```{toctree}\n:hidden:\n" + "\n".join(listed) + "\n```\n"


def docstring(_app: Any, _what: str, _name: str, _thing: Any, _options: Any, lines: list[str]) -> None:
    """Docstrings are Markdown: code in single backquotes, indented blocks of it; elsewhere `*` and `_` are themselves."""
    out = []
    for paragraph in "\n".join(lines).split("\n\n"):
        if paragraph.startswith("    "):
            out.append("::\n\n" + paragraph)
            continue
        prose_and_code = re.split(r"`([^`]+)`", paragraph)
        prose_and_code[::2] = [re.sub(r"([*_\\|])", r"\\\1", prose) for prose in prose_and_code[::2]]
        prose_and_code[1::2] = [f"``{code}``" for code in prose_and_code[1::2]]
        out.append("".join(prose_and_code))
    lines[:] = "\n\n".join(out).split("\n")


def first_page(app: Any, failed: Exception | None) -> None:
    """A browser that opens the folder gets the README."""
    if failed is None and app.builder.name == "html":
        page = '<!doctype html><title>diffpbd</title><meta http-equiv="refresh" content="0; url=README.html">'
        (Path(app.outdir) / "index.html").write_text(page + '<a href="README.html">diffpbd</a>\n', encoding="utf-8")


def setup(app: Any) -> None:
    """Register what Sphinx calls."""
    app.connect("source-read", contents)
    app.connect("autodoc-process-docstring", docstring)
    app.connect("build-finished", first_page)
