"""A user's own force element: what its file is held to."""

from __future__ import annotations

from pathlib import Path

import pytest

from diffpbd.codegen.laws import elements
from diffpbd.codegen.laws.elements import own
from diffpbd.codegen.laws.elements.declaration import Friction, Spring
from diffpbd.runtime.base.errors import InputError

HEAD = """\
import sympy as sp
from diffpbd.codegen.laws.elements.declaration import Friction, Number, Spring
k = Number("stiffness", "N·m/rad", "", 0.0, 0.0)
"""


def spring(formula: str = "k * p**2 / 2", numbers: str = "(k,)", arguments: str = "p, k", **more: str) -> str:
    words = "".join(f", {name}={value}" for name, value in more.items())
    return f'ELEMENT = Spring("own", "", {numbers}, lambda {arguments}: {formula}{words})'


def friction(
    formula: str = "own", number: str = '"own", "N·m", "", 0.0, 0.0', part: str = "coulomb", name: str = "own"
) -> str:
    return f'ELEMENT = Friction("{name}", "", (Number({number}),), {part}=lambda rate, transition, own: {formula})'


def written(folder: Path, text: str) -> Path:
    file = folder / "own.py"
    file.write_text(HEAD + text, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("ELEMENT = (", "line 4: SyntaxError"),
        ("1 / 0", "line 4: ZeroDivisionError"),
        ("x = 1", "ELEMENT = NoneType"),
        (spring(numbers="()", arguments="p"), "numbers (none)"),
        (spring(numbers="(k, k)", arguments="p, k, j"), "numbers stiffness, stiffness"),
        (spring(numbers='(Number("Stiff", "N·m/rad", ""),)'), 'the name "Stiff"'),
        (spring(numbers='(Number("stiffness", "Nm", ""),)'), 'unit "Nm"'),
        (spring(numbers='(Number("stiffness", "N/m", "", 1.0, 0.0),)'), "does not have the unit J"),
        (spring(numbers='(Number("stiffness", "N·m/rad", "", -1.0, 0.0),)'), "default -1 lies outside"),
        (spring("k * p**3 / 6 * sp.gamma(2 + p)"), "holds gamma"),
        (spring("k * p**2 * sp.Symbol('x')"), "holds x"),
        (spring("k * 2**p"), "powers by numbers"),
        (spring("k * (p + 1)**2 / 2 + 1"), "sum of numbers times"),
        (spring("k / p"), "is not finite at position"),
        (spring("k * sp.Abs(p)**sp.Rational(3, 2)"), "the slope of the torque holds DiracDelta"),
        (spring(on='"ball"'), 'on = "ball"'),
        (spring(around='"nowhere"'), 'around = "nowhere"'),
        (spring(zero='"nowhere"'), 'zero = "nowhere"'),
        (friction("own * rate"), "friction below zero pushes"),
        (friction("own", '"own", "N·m", ""'), "friction below zero pushes"),
        (friction("own + 1"), "sum of numbers times"),
        (friction("own", part="viscous"), "does not have the unit N·m·s/rad"),
        (friction("own", '"other", "N·m", "", 0.0, 0.0'), "names that begin with the law's"),
        (friction("own * sp.sqrt(rate)"), "is not finite at rate"),
        ('ELEMENT = Friction("own", "", (Number("own", "N·m", ""),))', "coulomb and viscous are both missing"),
        (
            'ELEMENT = Friction("viscous", "", (Number("viscous", "N·m", "", 0.0, 0.0),), coulomb=lambda r, t, k: k)',
            "is taken",
        ),
        ('ELEMENT = Spring("lever_spring", "", (k,), lambda p, k: k * p**2 / 2)', "is taken"),
    ],
)
def test_a_declaration_that_is_wrong_is_refused(tmp_path: Path, text: str, what: str) -> None:
    file = written(tmp_path, text)
    with pytest.raises(InputError) as refused:
        elements.know(file)
    assert what in str(refused.value) and str(file) in str(refused.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        elements.know(tmp_path / "none.py")


def test_the_key_is_of_the_text(tmp_path: Path) -> None:
    first, found = own.read(written(tmp_path, spring()))
    assert isinstance(found, Spring) and own.read(tmp_path / "own.py")[0] == first
    other, more = own.read(written(tmp_path, friction()))
    assert isinstance(more, Friction) and other != first


def test_our_own_elements_are_held_to_the_same() -> None:
    """But for the law with memory, and half differences, which are bounded by the means that they belong to."""
    for element in (*elements.SPRINGS, *elements.FRICTION):
        if isinstance(element, Friction) and (element.memory is not None or element.name == "asymmetric"):
            with pytest.raises(ValueError):
                own.check(element)
        else:
            own.check(element)


def test_the_page_has_the_table_and_the_examples(root: Path) -> None:
    page = (root / "docs" / "elements.md").read_text(encoding="utf-8")
    assert elements.table() in page
    for name in ("bumper", "swirl"):
        code = (root / "docs" / "examples" / f"{name}.py").read_text(encoding="utf-8").partition('"""\n\n')[2]
        assert code.strip() in page, name
