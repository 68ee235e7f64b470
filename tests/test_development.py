"""docs/development.md names files that are there."""

from __future__ import annotations

import re

from support.imports import ROOT


def test_the_files_on_the_way_of_a_number_exist() -> None:
    text = (ROOT / "docs" / "development.md").read_text(encoding="utf-8").split("## Four numbers")[1].split("\n## ")[0]
    names = re.findall(r"`([\w/.]+\.(?:py|jinja))`", text)
    assert len(names) > 30
    rooms = ("codegen", "runtime")
    lost = [n for n in names if not (ROOT / n).is_file() and not any([*(ROOT / r).rglob(n)] for r in rooms)]
    assert lost == []
