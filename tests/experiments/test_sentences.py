"""Each sentence of the page that speaks of a number, against the measured tables of the documentation."""

from __future__ import annotations

import re

import pytest
from support.imports import ROOT

from experiments.design import gravity_compensation
from experiments.design.double_pendulum import PAPER
from experiments.items import ITEMS


def sentence(name: str) -> str:
    return next(item.differs for item in ITEMS if item.name == name)


def rows(page: str, head: str) -> list[list[str]]:
    """Cells of the table whose head begins so, head first."""
    lines = (ROOT / "docs" / page).read_text(encoding="utf-8").splitlines()
    first = next(k for k, line in enumerate(lines) if line.startswith(head))
    table = []
    for line in lines[first:]:
        if not line.startswith("|"):
            break
        table.append([cell.strip() for cell in line.strip("|").split("|")])
    return [table[0], *table[2:]]


def numbers(cell: str) -> list[float]:
    return [float(x) for x in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", cell.replace("−", "-"))]


def test_lengths_of_table_2() -> None:
    said = sentence("Table II")
    head, *body = rows("design.md", "| | | paper | Gauss–Seidel as printed | Jacobi as printed | Gauss–Seidel × 30")
    at = next(k for k, row in enumerate(body) if row[0] == "after")
    off = {}
    for k, step in enumerate(head[3:], 3):
        found = [float(row[k]) for row in body[at : at + 2]]
        off[step] = max(abs(x - y) for x, y in zip(found, PAPER["after"][:2], strict=True))
    near = {step for step, far in off.items() if far < 0.01}
    assert {"Jacobi as printed", "Gauss–Seidel × 30", "ours"} == near
    assert "Jacobi as printed and with Gauss–Seidel's block" in said
    assert f"{1e3 * off['Jacobi as printed']:.1f} mm" in said and min(off[s] for s in off if s not in near) > 0.1


def test_no_choice_gives_table_2() -> None:
    said = sentence("Table II")
    tried = [row for row in rows("design.md", "| turn [s] | masses")[2:] if row[0]]
    turns, worst = [float(row[0]) for row in tried], [float(row[5].rstrip("×")) for row in tried]
    assert f"{min(turns):g} to {max(turns):g} s" in said and f"{min(worst):.1f} and more" in said
    assert max(float(row[1]) for row in tried) < 0.5  # a light arm
    off = [max(abs(x - y) for x, y in zip(numbers(row[6]), PAPER["after"][:2], strict=True)) for row in tried]
    assert f"{round(100 * min(off))} to {round(100 * max(off))} cm" in said


def test_errors_of_table_3() -> None:
    said = sentence("Table III")
    head, *body = errors()
    s1, e1, w1 = (dict(zip(head, row, strict=True)) for row in body)
    paper = gravity_compensation.PAPER["MAE"]
    as_printed = [float(row["Gauss–Seidel as printed"]) for row in (s1, e1)]
    assert abs(as_printed[0] - paper[0]) < 0.1 < 0.15 < abs(as_printed[1] - paper[1]) < 0.25
    assert (
        abs(float(s1["Gauss–Seidel × 30"]) - paper[0]) > 1.0 and float(w1["Gauss–Seidel as printed"]) < 0.1 * paper[2]
    )
    swept = rows("paper.md", "| sweeps | Gauss–Seidel | Jacobi |")
    sweeps = {row[0]: [numbers(cell) for cell in row[1:3]] for row in swept[1:]}
    assert all(sweeps["60"][k][1] > paper[1] > sweeps["120"][k][1] for k in (0, 1)) and "60 to 120" in said
    settings = {row[0]: [numbers(cell) for cell in row[1:]] for row in rows("paper.md", "| setting | the 8 poses")[1:]}
    wrong = settings.pop("Gauss–Seidel as printed, the mass centre beyond w1 at that joint")[1]
    assert abs(wrong[2] - paper[2]) < 0.05 and "a mass centre wrong beyond it would explain it" in said
    assert all(loaded[2] < 0.6 for name, (_, loaded) in settings.items() if name != "the paper")


def errors() -> list[list[str]]:
    """Head and the three rows of MAE of docs/design.md."""
    lines = (ROOT / "docs" / "design.md").read_text(encoding="utf-8").split("## Gravity compensation")[1].splitlines()
    table = [[c.strip() for c in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return [table[0], *(row for row in table if row[1] == "MAE")]


def test_cells_of_table_4() -> None:
    said = sentence("Table IV")
    table = rows("torque-estimation.md", "| | steps | omega | angle+omega |")
    by = {(row[0], row[1]): [numbers(cell) for cell in row[2:]] for row in table[1:]}
    published = by["published", ""]
    slow, quick = by["rate 0.2, 80 iterations", "160"], by["rate 1, 120 iterations", "160"]
    assert abs(slow[1][0] - published[1][0]) < 1.0 and "31 N·m at s1 from zero torque fit the rate 0.2" in said
    assert abs(quick[0][0] - published[0][0]) < 0.6 < 20.0 < abs(slow[0][0] - published[0][0])
    assert "2.4 of ω alone the rate 1" in said
    assert slow[1][1] < published[1][1] - 0.8 and slow[1][2] < published[1][2] - 5.0 and "e0, e1 stay open" in said


def test_thirty_sweeps_do_not_converge() -> None:
    sweeps = {row[0]: numbers(row[1]) for row in rows("paper.md", "| sweeps | Gauss–Seidel | Jacobi |")[1:]}
    assert "do not converge" in sentence("V A") and sweeps["30"][1] > 10 * sweeps["240"][1]
    assert sweeps["120"][0] == pytest.approx(sweeps["240"][0], rel=0.01)
