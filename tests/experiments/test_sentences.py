"""Each sentence of the page that speaks of a number, against the measured tables of the documentation."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.imports import ROOT

from diffpbd.codegen.description.front.resolve import resolve
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


def swept() -> tuple[list[str], dict[str, dict[str, list[list[float]]]]]:
    """Solvers, and by count of sweeps and solver the mean, the least and the largest mean of a set, for s1, e1 and w1 each."""
    head, *body = rows("paper.md", "| sweeps | Jacobi as printed |")
    found = {}
    for row in body[1:]:
        cells = [[numbers(part.replace("to", " ")) for part in cell.split(";")[0].split("),")] for cell in row[1:]]
        found[row[0]] = dict(zip(head[1:], cells, strict=True))
    return head[1:], found


def test_no_count_of_sweeps_gives_all_three_errors() -> None:
    solvers, found = swept()
    paper = gravity_compensation.PAPER["MAE"]
    for solver in solvers:
        for count in found:
            low, high = zip(*(joint[1:] for joint in found[count][solver]), strict=True)
            assert not all(a <= x <= b for a, x, b in zip(low, paper, high, strict=True)), (solver, count)


def crossing(solver: str, joint: int) -> tuple[int, int]:
    """The counts of sweeps between which the mean falls below the paper's error; 0: before the first."""
    _, found = swept()
    counts = [0, *map(int, found)]
    means = [float("inf"), *(found[str(count)][solver][joint][0] for count in counts[1:])]
    assert means == sorted(means, reverse=True)
    k = next(k for k, mean in enumerate(means) if mean <= gravity_compensation.PAPER["MAE"][joint])
    return counts[k - 1], counts[k]


def test_where_the_printed_errors_are_reached() -> None:
    """The sentences under the table of sweeps, and the rows of V A and Table III."""
    jacobi, seidel = "Jacobi as printed", "Gauss–Seidel as printed"
    _, found = swept()
    assert abs(found["30"][seidel][0][0] - 0.669) < 0.05  # s1's is that of 30
    assert [crossing(jacobi, j) for j in range(3)] == [(60, 120), (60, 120), (10, 20)]
    assert [crossing(seidel, j) for j in range(3)] == [(30, 50), (30, 50), (5, 10)]
    text = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
    assert "is that of 30 Gauss–Seidel sweeps as\n  printed and of 60 to 120 Jacobi sweeps as printed" in text
    assert "between 30 and 50, or 60 and 120; w1's 0.698 between 5 and 10, or 10 and 20" in text
    assert "needs 60 to 120" in sentence("V A") and "do not converge" in sentence("V A")
    said = sentence("Table III")
    assert "that of 30 Gauss–Seidel sweeps as printed or 60 to 120 of Jacobi" in said
    assert "at e1 that of more sweeps, at w1 of fewer" in said


def test_the_spread_of_sets_is_a_factor_of_two() -> None:
    solvers, found = swept()
    ratios = [joint[2] / joint[1] for solver in solvers for joint in found["30"][solver]]
    assert max(ratios) > 2.0
    text = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
    assert "as large as a factor of two" in text


def test_a_mass_centre_at_w1_spoils_e1() -> None:
    settings = {row[0]: numbers(row[1]) for row in rows("paper.md", "| setting | left_s1")[1:]}
    name = next(name for name in settings if "mass centre" in name)
    _, found = swept()
    plain = found["30"]["Gauss–Seidel as printed"]
    s1, _, _, e1, _, _, w1, *_ = settings[name]
    paper = gravity_compensation.PAPER["MAE"]
    assert abs(w1 - paper[2]) < 0.15 < abs(plain[2][0] - paper[2])
    assert abs(e1 - paper[1]) > abs(plain[1][0] - paper[1]) and s1 > 0.0
    others = [one[6] for other, one in settings.items() if other not in (name, "paper")]
    assert max(others) < 0.6


@pytest.mark.parametrize(("robot", "most"), [("baxter_bare", 1.421), ("baxter", 1.822)])
def test_what_gravity_can_ask_of_w1(robot: str, most: float) -> None:
    """g times the moment of w1's and w2's link about w1's axis, in the worst position of w2, from the description alone."""
    _, described = resolve(robot)
    k = next(k for k, joint in enumerate(described.joints) if joint.name == "left_w1")
    w1, w2 = described.joints[k : k + 2]
    own, last = (link.inertial for link in described.links[k : k + 2])
    assert w2.parent == k and len(described.joints) == k + 2
    axis, spin = np.array(w1.axis, dtype=float), np.array(w2.axis, dtype=float)
    found = 0.0
    for angle in np.linspace(-3.059, 3.059, 2001):  # w2's range
        turned = Rotation.from_rotvec(angle * spin).apply(np.array(last.com, dtype=float))
        centre = np.array(w2.translation, dtype=float) + np.array(w2.rotation, dtype=float) @ turned
        moment = own.mass * np.array(own.com, dtype=float) + last.mass * centre
        found = max(found, 9.8 * float(np.linalg.norm(moment - axis * (axis @ moment))))
    assert found == pytest.approx(most, abs=1e-3)
    assert f"{most:g}" in sentence("Table III") and "−1.56" in sentence("Table III")
    assert gravity_compensation.PAPER["min"][2] == -1.56
    text = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
    assert f"{most:g}" in text.partition("w1's print is not")[2]


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
