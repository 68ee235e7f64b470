"""The catalogue finds a class in a file of its own, and nothing else names it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from diffpbd.runtime.causes import __path__ as rooms
from diffpbd.runtime.causes.catalogue import CAUSES, MISSING, SEEN

NEW = """
from diffpbd.runtime.causes.missing import Missing

class Ripple(Missing):
    kind, word, rank = "ripple", "a ripple", 2
"""


def test_each_kind_is_one_class_in_one_file() -> None:
    kinds = [own.kind for own in CAUSES]
    assert kinds == sorted(set(kinds))
    files = [type(own).__module__ for own in CAUSES]
    assert len(set(files)) == len(files)
    assert {"gain", "delay", "zero", "load", "masses"} <= set(kinds)


def test_a_name_in_quotes_stands_at_its_class_alone() -> None:
    """What loops over the catalogue asks for no cause by name."""
    runtime = Path(rooms[0]).parent
    readers = [
        *Path(rooms[0]).glob("*.py"),
        *(p for room in ("identify", "logs") for p in (runtime / room).rglob("*.py")),
    ]
    for path in readers:
        text = path.read_text(encoding="utf-8")
        assert not [own.kind for own in CAUSES if f'kind == "{own.kind}"' in text], path


def test_ranks_say_who_has_to_explain_more() -> None:
    told = [own.kind for own in MISSING if own.told and own.rank]
    assert told == ["scale", "tilt", "load", "masses", "gain"]


def test_a_new_file_is_a_new_cause(tmp_path: Path) -> None:
    (room := tmp_path / "more").mkdir()
    (room / "__init__.py").touch()
    (room / "ripple.py").write_text(NEW)
    code = (
        f"from diffpbd.runtime import causes; causes.__path__.append({str(tmp_path)!r})\n"
        "from diffpbd.runtime.causes.catalogue import MISSING\n"
        "print([own.kind for own in MISSING if own.told and own.rank])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "'tilt', 'load'" in done.stdout and "'ripple'" in done.stdout


HEAD = "| kind | meaning | remedy |\n|---|---|---|\n"


def test_the_page_has_the_findings_of_the_catalogue(root: Path, update_golden: bool) -> None:
    path = root / "docs" / "identification.md"
    before, _, rest = path.read_text(encoding="utf-8").partition(HEAD)
    rows = (f"| `{own.kind}` | {own.means} | {own.mends} |\n" for own in sorted(SEEN, key=lambda own: own.kind))
    text = "".join([before, HEAD, *rows, rest[rest.index("\n\n") + 1 :]])
    if update_golden:
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text, "pytest --update-golden writes it again"
