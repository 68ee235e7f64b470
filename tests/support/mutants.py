"""Mutants of the modules that guard the arm: one change a time, and the tests that must notice it.

    python tests/support/mutants.py [--workers N] [--only TEXT] [--every N] [--results FILE]

One mutant per comparison, sign, arithmetic operator, number, boolean, `and`/`or`, `not`, and return value. A mutant runs in
a process that forks after everything heavy is imported, with the module's source changed in memory; the tests without
a graph run until the first failure, a file at a time, the module's own first. Prints the share that was killed and every
survivor. `--results` keeps who was killed, so that a run goes on where another was stopped and, when tests were added,
tries the survivors alone.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import importlib.abc
import importlib.util
import multiprocessing
import os
import resource
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = {
    "loop/gate.py": "loop/test_gate.py",
    "loop/guard.py": "loop/test_guard.py",
    "loop/reflexes.py": "loop/test_reflexes.py",
    "loop/observer.py": "loop/test_observer.py",
    "loop/recent.py": "loop/test_reflexes.py",
    "loop/frozen.py": "loop/test_reflexes.py",
    "loop/slow_faults.py": "loop/test_slow_faults.py",
    "loop/supervisor.py": "loop/test_supervisor.py",
    "loop/ending.py": "loop/test_ending.py",
    "loop/braking.py": "loop/test_braking.py",
    "loop/seen.py": "loop/test_seen.py",
    "loop/stopping.py": "loop/test_ownership.py",
    "loop/run.py": "loop/test_start.py",
    "records/joint_states.py": "records/test_joint_states.py",
    "ros1/guests.py": "ros1/test_guests.py",
    "ros1/watch.py": "loop/test_ownership.py",
    "arms/baxter/arm.py": "baxter/test_who_listens.py",
}
"""Each with its own test, which is run first."""
TESTS = (
    "records/test_joint_states.py",
    "ros1/test_guests.py",
    "baxter/test_who_listens.py",
    "loop/test_gate.py",
    "loop/test_guard.py",
    "loop/test_observer.py",
    "loop/test_reflexes.py",
    "loop/test_slow_faults.py",
    "loop/test_supervisor.py",
    "loop/test_ending.py",
    "loop/test_start.py",
    "loop/test_braking.py",
    "loop/test_seen.py",
    "loop/test_deadlines.py",
    "loop/test_ownership.py",
    "loop/test_fault_table.py",
)
HEAVY = ("numpy", "click", "scipy.linalg", "csv", "json", "xmlrpc.client", "http.server")
UNUSED = ("cacheprovider", "xdist", "hypothesispytest", "unraisableexception", "threadexception")
OPTIONS = ("-x", "-q", "--noconftest", "--assert=plain", *(f"-pno:{plugin}" for plugin in UNUSED))
"""Plain: rewriting the tests' assertions takes longer than running them."""
TIMEOUT = 120  # s of processor time; a mutant that never ends counts as killed
SWAPS: dict[type, tuple[type, ...]] = {
    ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.GtE), ast.Gt: (ast.GtE, ast.Lt), ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,), ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Div,), ast.Div: (ast.Mult,),
    ast.And: (ast.Or,), ast.Or: (ast.And,), ast.BitOr: (ast.BitAnd,), ast.BitAnd: (ast.BitOr,),
}  # fmt: skip


def sites(tree: ast.Module) -> Iterator[tuple[ast.AST, str, object]]:
    """Where a mutant may be made: node, field, and the new value."""
    skipped = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, (ast.AnnAssign, ast.arg)) and node.annotation is not None:
            skipped |= {id(inner) for inner in ast.walk(node.annotation)}
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.returns is not None:
            skipped |= {id(inner) for inner in ast.walk(node.returns)}
        if isinstance(node, (ast.Raise, ast.JoinedStr)):  # texts for people
            skipped |= {id(inner) for inner in ast.walk(node)}
        if isinstance(node, ast.ClassDef) and any(getattr(base, "attr", "") == "Enum" for base in node.bases):
            skipped |= {id(inner) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Compare):
            for k, operator in enumerate(node.ops):
                for other in SWAPS[type(operator)]:
                    yield node, "ops", [*node.ops[:k], other(), *node.ops[k + 1 :]]
        elif isinstance(node, (ast.BinOp, ast.AugAssign, ast.BoolOp)) and type(node.op) in SWAPS:
            for other in SWAPS[type(node.op)]:
                yield node, "op", other()
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Not)):
            yield node, "op", ast.UAdd() if isinstance(node.op, ast.USub) else None
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield node, "value", not node.value
        elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            yield node, "value", node.value * 1.25 if isinstance(node.value, float) and node.value else node.value + 1
        elif isinstance(node, ast.Return) and node.value is not None:
            if not (isinstance(node.value, ast.Constant) and node.value.value is None):
                yield node, "value", ast.Constant(None)


def mutants(path: Path) -> Iterator[tuple[str, str]]:
    """Name and source of every mutant of a file."""
    source = path.read_text(encoding="utf-8")
    count = len(list(sites(ast.parse(source))))
    for index in range(count):
        tree = ast.parse(source)
        node, field, value = list(sites(tree))[index]
        line = source.splitlines()[node.lineno - 1].strip()
        what = type(value[0]).__name__ if isinstance(value, list) else getattr(value, "value", type(value).__name__)
        what = value if isinstance(node, ast.Constant) else what
        if field == "op" and value is None:  # `not x` to `x`
            for parent in ast.walk(tree):
                for name, inner in ast.iter_fields(parent):
                    if inner is node:
                        setattr(parent, name, node.operand)
                    elif isinstance(inner, list) and any(one is node for one in inner):
                        setattr(parent, name, [node.operand if one is node else one for one in inner])
            what = "no not"
        else:
            setattr(node, field, value)
        yield (
            f"{path.name}:{node.lineno}: {type(node).__name__} -> {what} in `{line}`",
            ast.unparse(ast.fix_missing_locations(tree)),
        )


class Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module from a changed source."""

    def __init__(self, module: str, source: str) -> None:
        self.module, self.source = module, source

    def find_spec(self, name: str, path: object, target: object = None) -> object:
        return importlib.util.spec_from_loader(name, self) if name == self.module else None

    def exec_module(self, module: object) -> None:
        exec(compile(self.source, self.module, "exec"), vars(module))


class Fixtures:
    """Fixtures that these tests need of conftest.py, which imports the generator and is slow."""

    @pytest.fixture
    def shared(self) -> Path:
        return Path(os.environ.get("DIFFPBD_SHARED", ROOT.parent / "shared"))


def survives(job: tuple[str, str, str]) -> bool:
    """Whether the tests pass with a module's changed source; in a process of its own."""
    _, file, source = job
    child = os.fork()
    if child == 0:
        code = 1
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (TIMEOUT, TIMEOUT))
            null = os.open(os.environ.get("MUTANT_LOG", os.devnull), os.O_WRONLY | os.O_CREAT)
            os.dup2(null, 1)
            os.dup2(null, 2)
            sys.meta_path.insert(0, Changed(module_name(file), source))
            tests = sorted(TESTS, key=lambda test: test != MODULES[file])
            code = next((1 for test in tests if pytest.main([*OPTIONS, f"tests/{test}"], plugins=[Fixtures()])), 0)
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1] == 0


def identity(job: tuple[str, str, str]) -> str:
    return hashlib.sha256(f"{job[1]} {job[2]}".encode()).hexdigest()[:16]


def module_name(file: str) -> str:
    return "diffpbd.runtime." + file.removesuffix(".py").replace("/", ".")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--every", type=int, default=1, help="a sample: every Nth mutant")
    parser.add_argument("--results", type=Path, help="a file that remembers who was killed")
    options = parser.parse_args()
    results = options.results.resolve() if options.results else None
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    sys.dont_write_bytecode = False  # unchanged modules are compiled once
    for name in HEAVY:  # imported once, before the forks
        importlib.import_module(name)

    jobs = [
        (name, file, source)
        for file in MODULES
        for name, source in mutants(ROOT / "runtime" / file)
        if options.only in name
    ][:: options.every]
    known = set(results.read_text(encoding="utf-8").split()) if results and results.exists() else set()
    untried = [job for job in jobs if identity(job) not in known]
    print(f"{len(jobs)} mutants, {len(jobs) - len(untried)} known as killed", flush=True)
    first = next(iter(MODULES))
    if not survives(("unchanged", first, (ROOT / "runtime" / first).read_text(encoding="utf-8"))):
        sys.exit(f"The tests fail with {first} unchanged: run them with pytest.")
    survivors = 0
    with multiprocessing.get_context("fork").Pool(options.workers, maxtasksperchild=1) as pool:
        for done, (job, survived) in enumerate(zip(untried, pool.imap(survives, untried), strict=True), 1):
            if survived:
                survivors += 1
                print(f"[{done}] survives: {job[0]}", flush=True)
            elif results:
                with results.open("a", encoding="utf-8") as file:
                    file.write(identity(job) + "\n")
            if done % 50 == 0:
                print(f"[{done}]", flush=True)
    killed = len(jobs) - survivors
    print(f"{killed} of {len(jobs)} killed, {100 * killed / max(len(jobs), 1):.1f} %")


if __name__ == "__main__":
    main()
