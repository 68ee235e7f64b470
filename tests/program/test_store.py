"""Programs on disk: the same to the order of arguments, the same bytes emitted, and nothing taken from a file or folder that is
not sound."""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path
from typing import Any

import pytest
import sympy as sp
from support.imports import arrows
from support.robots import model

from diffpbd.codegen.emit.step.step_kernels import step_kernels
from diffpbd.codegen.joint_space import recursive
from diffpbd.codegen.joint_space.links import link_step, step_jacobian
from diffpbd.codegen.program import elimination, store, tree
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.text import Unwritable, read, write
from diffpbd.codegen.program.tree import Tree

ARM = Tree((-1, 0, 1, 1), (False, True, False, False), (True, False, True, True))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A folder of its own, and nothing in memory before or after."""
    monkeypatch.setenv("DIFFPBD_CACHE", str(tmp_path / "programs"))
    store.forget()
    yield tmp_path / "programs"
    store.forget()


def same(one: Program, other: Program) -> None:
    """Equal to the order of arguments, which decides the order of operations in C."""
    assert (one.name, one.doc, one.digits) == (other.name, other.doc, other.digits)
    assert one.inputs == other.inputs and one.outputs == other.outputs
    assert one.statements == other.statements
    for mine, theirs in zip(one.statements, other.statements, strict=True):
        assert sp.srepr(mine.expression, order="none") == sp.srepr(theirs.expression, order="none")


@pytest.mark.parametrize(
    "derive", [link_step.newton, link_step.end, recursive.inverse_dynamics, step_jacobian.jacobian],
)  # fmt: skip
def test_a_program_comes_back_as_it_was(derive: Any) -> None:
    first = derive(ARM)
    store.forget()
    again = derive(ARM)
    assert again is not first and again is derive(ARM)
    same(first, again)


def test_every_kind_of_node_has_a_text() -> None:
    b = Program("kinds")
    x, y = b.input("x", 2)
    quotient = sp.Rational(2, 7) * x**-2 - sp.sqrt(y) / 3 + sp.Float(0.1) * sp.pi
    named = [sp.sin(x), sp.cos(y), sp.tanh(x), sp.exp(y), sp.log(x), sp.atan2(x, y), sp.sign(x), sp.Abs(y + x)]
    b.output("z", b.let(Matrix([quotient, *named, -x * y, sp.Integer(3)])))
    same(b, read(write(b)))
    for strange in (sp.Float("0.1", 40), sp.Max(x, y), sp.Symbol("free")):
        c = Program("strange")
        c.output("z", strange)
        with pytest.raises(Unwritable):
            write(c)


def test_what_is_emitted_is_the_same_with_and_without(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def emitted() -> str:
        store.forget()
        return "\n".join(step_kernels(model("double_pendulum")).texts)

    cold, warm = emitted(), emitted()
    assert list(folder.glob("*.program"))
    monkeypatch.setenv("DIFFPBD_CACHE", "off")
    assert hashlib.sha256(emitted().encode()).hexdigest() == hashlib.sha256(cold.encode()).hexdigest()
    assert warm == cold


def test_a_kept_program_is_not_derived_again(folder: Path) -> None:
    calls = []

    @store.stored
    def long(n: int, more: int = 0) -> Program:
        calls.append(n)
        b = Program("long")
        x = b.scalar("x")
        for k in range(n):
            x = b.let(x * x + k + more)
        b.output("x", x)
        return b

    for n in (150, 300):
        long(n), long(n)
    assert calls == [150, 300] and len(list(folder.iterdir())) == 1
    store.forget()
    long(150), long(300)
    assert calls == [150, 300, 150]  # the short one is not worth a file
    store.forget()
    tree.DENSE_DEPTH, kept = 0, tree.DENSE_DEPTH
    try:
        long(300)
    finally:
        tree.DENSE_DEPTH = kept
    assert calls[-1] == 300  # another form
    assert long(300, more=1).statements != long(300).statements and len(calls) == 5


@pytest.mark.parametrize("damage", ["", "x", "half", "seal", "nodes"])
def test_a_damaged_file_is_derived_again_and_mended(folder: Path, damage: str) -> None:
    first = link_step.newton(ARM)
    (file,) = folder.iterdir()
    good = file.read_text()
    if damage == "nodes":  # sealed, but no program
        text = good.partition("\n")[2].replace('["*",', '["!",', 1)
        file.write_text(f"{hashlib.sha256(text.encode()).hexdigest()}\n{text}")
    else:
        file.write_text({"half": good[: len(good) // 2], "seal": "0" + good[1:]}.get(damage, damage))
    store.forget()
    same(first, link_step.newton(ARM))
    assert file.read_text() == good


def test_a_folder_that_others_may_write_to_is_not_used(folder: Path) -> None:
    folder.mkdir(mode=0o700)
    assert store.folder() == folder
    for mode in (0o777, 0o720, 0o702):
        folder.chmod(mode)
        assert store.folder() is None
    link_step.newton(ARM)
    assert list(folder.iterdir()) == []


def test_where_programs_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DIFFPBD_CACHE")
    monkeypatch.setenv("HOME", str(tmp_path))
    for base, expected in ((str(tmp_path / "x"), "x/diffpbd/programs"), ("relative", ".cache/diffpbd/programs")):
        monkeypatch.setenv("XDG_CACHE_HOME", base)
        assert store.folder() == tmp_path / expected
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert store.folder() is None
    link_step.newton(ARM)
    monkeypatch.setenv("DIFFPBD_CACHE", "off")
    assert store.folder() is None


def test_the_oldest_give_way(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elimination.solver(9, 9, False)
    (first,) = folder.iterdir()
    foreign = folder / "letter.txt"
    foreign.write_bytes(first.read_bytes() * 3)
    os.utime(foreign, (1.0, 1.0))
    size = first.stat().st_size
    monkeypatch.setattr(store, "MOST", int(2.5 * size))
    for columns, age in ((10, 200.0), (11, 100.0)):
        os.utime(first, (age, age))
        elimination.solver(9, columns, False)
    foreign.unlink()  # was left alone
    left = list(folder.iterdir())
    assert first not in left and len(left) == 2
    assert sum(file.stat().st_size for file in left) <= store.MOST
    store.forget()
    before = left[0].stat().st_mtime_ns
    os.utime(left[0], (1.0, 1.0))
    elimination.solver(9, 10, False), elimination.solver(9, 11, False)
    assert left[0].stat().st_mtime_ns >= before  # used is young again


def test_writers_do_not_meet(folder: Path) -> None:
    program = elimination.solver(9, 9, False)
    (file,) = folder.iterdir()
    good = file.read_bytes()
    seen: set[bytes] = set()
    writers = [threading.Thread(target=lambda: [store._save(file, program) for _ in range(5)]) for _ in range(4)]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        seen.add(file.read_bytes())
    assert seen <= {good} and [path.name for path in folder.iterdir()] == [file.name]


def test_what_decides_a_program_is_in_its_key() -> None:
    """Stored derivations import nothing of codegen beyond the rooms whose sources are hashed."""
    after = arrows("codegen")
    rooms = tuple(f"diffpbd.codegen.{room}." for room in store.ROOMS)
    strangers = {b for a in after for b in after[a] if a.startswith(rooms[1:]) and b.startswith("diffpbd.codegen.")}
    files = {f"diffpbd.codegen.{file.removesuffix('.py').replace('/', '.')}" for file in store.FILES}
    assert {module for module in strangers if not module.startswith(rooms)} == files
