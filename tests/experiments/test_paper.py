from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from diffpbd.codegen.method import algorithm_1
from diffpbd.runtime.report.tables import table
from experiments import everything
from experiments import page as paper_report
from experiments.__main__ import command
from experiments.everything import _seal
from experiments.items import CHANGED, DATA, ITEMS, PARTS, SAME, Part, markdown
from experiments.page import _as_tables, make, page

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_of_the_docs_is_the_list() -> None:
    assert markdown() in (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
    assert len(ITEMS) >= 40


def test_every_item_stands_somewhere_and_every_difference_has_a_reason() -> None:
    keys = {part.key for part in PARTS}
    assert {item.part for item in ITEMS if item.part} == keys
    for item in ITEMS:
        assert (ROOT / item.where).is_file(), item
        assert item.state in (SAME, CHANGED) and (item.state == SAME or item.differs), item


def test_the_page_says_what_its_marks_mean_and_no_place_of_the_machine(tmp_path: Path) -> None:
    picture = tmp_path / "c.png"
    picture.write_bytes(b"png")
    outcome = paper_report.Outcome(1.0, "python -m experiments links", f"wrote {picture}\n", (picture,))
    text = page([ONE], {"links": outcome}, "T")
    assert all(mark in text.partition("<table>")[0] for mark in "✓◐✗") and "name=viewport" in text
    assert "wrote c.png" in text and str(tmp_path) not in text and "`" not in text
    assert "<code>generate --multiplier scalar</code>" in text and "<a href='#sweeps'>Error over sweeps</a>" in text


def test_the_recordings_folder_is_not_named_on_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import sys, pathlib; pathlib.Path(sys.argv[-1]).write_bytes(b'png'); print('poses of', sys.argv[2])"
    entry(tmp_path, monkeypatch, code)
    words = ("links", DATA, "--out", "c.png")
    part = Part("links", words, ("c.png",), (), "Something.")
    for _ in range(2):  # made, and done before
        outcome = make(part, tmp_path / "r", str(tmp_path), "seal", lambda line: None)
        text = page([part], {"links": outcome}, "T")
        assert "poses of RECORDINGS" in text and str(tmp_path) not in text, text


def test_printed_columns_are_tables_and_sentences_wrap() -> None:
    rows = [["a joint", "MAE [N·m]", ""], ["s1", "0.6 0.7", "1"], ["e1", "", "2"]]
    text = _as_tables(f"30 poses\n{table(rows[0], rows[1:], left=1)}\n<a sentence> without columns\n")
    assert text.count("<tr>") == 3 and "<pre>30 poses</pre>" in text and "&lt;a sentence&gt;" in text
    found = [re.findall(r"<t[hd]>([^<]*)", row) for row in text.split("<tr>")[1:]]
    assert (
        found[1] == ["s1", "0.6 0.7", "1"] and found[2] == ["e1", "", "2"] and found[0][:2] == ["a joint", "MAE [N·m]"]
    )


def test_the_letters_stand_where_the_page_says() -> None:
    """Every name of ours beside a letter or statement of the print is one of the file beside it; all statements are there."""
    text = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
    section = text.partition("## The paper's letters and ours")[2].partition("\n## ")[0]
    rows = [[c.strip() for c in line.strip("|").split(" | ")] for line in section.splitlines() if line.startswith("| ")]
    rows = [row for row in rows if row[-1].endswith((".py`", ".py` "))]
    assert len(rows) == 20 + 9
    for row in rows:
        names = re.findall("`([^`]+)`", row[2])
        file = (ROOT / row[3].strip("` ")).read_text(encoding="utf-8")
        assert names and all(re.search(rf"\b{name}\b", file) for name in names), row
    spans = [int(n) for row in rows[20:] for n in re.findall(r"\d+", row[0])]
    assert spans == [1, 3, 4, 9, 10, 11, 15, 12, 14, 16, 18, 19, 25, 26, 28]
    assert max(int(n) for n in re.findall(r"(?m)^(?:\d+ to )?(\d+)\. \*", algorithm_1.__doc__ or "")) == 25


def test_every_part_is_a_command_with_its_options() -> None:
    for part in PARTS:
        known = command.get_command(click.Context(command), part.words[0])
        assert known is not None
        options = {name for option in known.params for name in option.opts}
        assert {word for word in part.words if word.startswith("--")} <= options, part.key
        assert all(word in part.words for word in part.pictures)


def entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    script = tmp_path / "entry.py"
    script.write_text(code, encoding="utf-8")
    monkeypatch.setattr(paper_report, "ENTRY", (sys.executable, str(script)))
    monkeypatch.setattr(paper_report, "GENERATE", (sys.executable, str(script), "generate"))


WRITES = "import sys, pathlib; pathlib.Path(sys.argv[-1]).write_bytes(b'png'); print('a <number>', 1)"
ONE = Part("links", ("links", "--out", "c.png"), ("c.png",), (), "Something.")


def test_parts_are_made_once_and_again_when_the_code_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry(tmp_path, monkeypatch, WRITES)
    said: list[str] = []
    first = make(ONE, tmp_path / "r", None, "seal", said.append)
    assert first.reason == "" and first.pictures == (tmp_path / "r" / "links" / "c.png",)
    again = make(ONE, tmp_path / "r", None, "seal", said.append)
    assert said[-1] == "links: done before" and again.printed == first.printed == "a <number> 1\n"
    make(ONE, tmp_path / "r", None, "other", said.append)
    assert said[-1].endswith(" s")
    first.pictures[0].unlink()
    make(ONE, tmp_path / "r", None, "other", said.append)
    assert said[-1].endswith(" s") and first.pictures[0].is_file()
    text = page([ONE], {"links": again}, "T")
    assert "a &lt;number&gt; 1" in text and "base64,cG5n" in text and "FAILED" not in text and "Figure 2" in text


@pytest.mark.parametrize(
    ("code", "reason"),
    [("import sys; sys.exit('Error: no luck')", "no luck"), ("print('nothing drawn')", "wrote no c.png")],
)
def test_a_part_that_fails_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, reason: str) -> None:
    entry(tmp_path, monkeypatch, code)
    outcome = make(ONE, tmp_path, None, "seal", lambda line: None)
    assert reason in outcome.reason and not (tmp_path / "links" / "done.json").exists()
    assert "class=failed" in page([ONE], {"links": outcome}, "T") and "✗" in page([ONE], {"links": outcome}, "T")


def test_a_part_that_fails_later_is_not_done_any_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor shows the picture from before, also where it ends without drawing."""
    for code in ("import sys; sys.exit('Error: no luck')", "print('nothing drawn')"):
        entry(tmp_path, monkeypatch, WRITES)
        assert not make(ONE, tmp_path / "r", None, "seal", lambda line: None).reason
        entry(tmp_path, monkeypatch, code)
        assert make(ONE, tmp_path / "r", None, "other", lambda line: None).reason
        assert not (tmp_path / "r" / "links" / "done.json").exists()
        assert not (tmp_path / "r" / "links" / "c.png").exists()
        assert make(ONE, tmp_path / "r", None, "seal", lambda line: None).reason  # not what was done before that


def test_an_interrupted_part_is_not_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry(tmp_path, monkeypatch, WRITES)
    make(ONE, tmp_path / "r", None, "seal", lambda line: None)

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(paper_report.subprocess, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        make(ONE, tmp_path / "r", None, "other", lambda line: None)
    assert not (tmp_path / "r" / "links" / "done.json").exists()


def test_the_seal_is_that_of_all_that_code_is_made_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("codegen/a.py", "templates/b.jinja", "templates/c.h", "experiments/everything.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1", encoding="utf-8")
    monkeypatch.setattr(everything, "__file__", str(tmp_path / "experiments" / "everything.py"))
    seen = {_seal((), None)}
    for name in ("codegen/a.py", "templates/b.jinja", "templates/c.h"):
        (tmp_path / name).write_text("2", encoding="utf-8")
        seen.add(_seal((), None))
    assert len(seen) == 4


def test_parts_run_side_by_side_and_stand_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two that wait for each other end with two at a time; the page has them in the paper's order."""
    waits = (
        "import pathlib, sys, time\n"
        "if 'generate' in sys.argv: sys.exit()\n"
        "here, end = pathlib.Path(sys.argv[-1]), time.time() + 60\n"
        "here.write_bytes(b'png')\n"
        "while len([*here.parent.parent.glob('*/*.png')]) < 2:\n"
        "    assert time.time() < end\n"
        "    time.sleep(0.01)\n"
    )
    entry(tmp_path, monkeypatch, waits)
    monkeypatch.setattr(everything, "robot_folders", lambda: [tmp_path])
    (tmp_path / "baxter_bare").mkdir()
    (tmp_path / "baxter_bare" / "manifest.json").write_text("{}", encoding="utf-8")
    words = ["all", "--out", str(tmp_path / "r"), "--jobs", "2", "--part", "sweeps", "--part", "double-pendulum"]
    done = CliRunner().invoke(command, words)
    assert done.exit_code == 0, done.output
    text = (tmp_path / "r" / "index.html").read_text(encoding="utf-8")
    assert text.index("id='double-pendulum'") < text.index("id='sweeps'")


def test_the_seal_is_that_of_the_recordings_contents(tmp_path: Path) -> None:
    log = tmp_path / "a.csv"
    log.write_text("1", encoding="utf-8")
    first = _seal((), str(tmp_path))
    assert _seal((), str(tmp_path)) == first
    log.write_text("2", encoding="utf-8")
    assert _seal((), str(tmp_path)) != first != _seal((), None)
    log.rename(tmp_path / "b.csv")
    assert len({first, _seal((), str(tmp_path))}) == 2


def test_what_is_not_installed_is_named_before_the_first_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry(tmp_path, monkeypatch, WRITES)
    monkeypatch.setattr(everything, "find_spec", lambda name: None if name == "pinocchio" else object())
    words = ["all", "--out", str(tmp_path / "r"), "--part", "double-pendulum", "--part", "push"]
    done = CliRunner().invoke(command, words)
    lines = done.output.splitlines()
    assert "diffpbd[simulated]" in lines[0] and lines[0].startswith("push needs pinocchio"), lines
    assert done.exit_code == 1 and "not made: push" in done.output
    monkeypatch.setattr(everything, "find_spec", lambda name: None if name == "matplotlib" else object())
    assert "diffpbd[plot]" in CliRunner().invoke(command, words).output


def test_recordings_enter_or_leave_the_words() -> None:
    words = ("x", "--data", "{data}", "--out", "p")
    assert paper_report._with_data(words, "D") == ["x", "--data", "D", "--out", "p"]
    assert paper_report._with_data(words, None) == ["x", "--out", "p"]


def test_the_command_goes_on_after_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry(tmp_path, monkeypatch, "import sys\nif 'generate' in sys.argv: sys.exit('Error: no compiler')\n" + WRITES)
    words = ["all", "--out", str(tmp_path / "r"), "--part", "double-pendulum", "--part", "sweeps", "--part", "replay"]
    done = CliRunner().invoke(command, words)
    assert done.exit_code == 1 and "not made: replay, sweeps" in done.output, done.output
    text = (tmp_path / "r" / "index.html").read_text(encoding="utf-8")
    assert "no compiler" in text and "it needs recordings" in text and "base64" in text
    assert json.loads((tmp_path / "r" / "double-pendulum" / "done.json").read_text(encoding="utf-8"))["seconds"] > 0
    assert "Did you mean sweeps" in CliRunner().invoke(command, ["all", "--part", "sweep"]).output
