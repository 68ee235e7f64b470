"""Who imports whom, read from the sources, imports inside functions included."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def imports(path: Path) -> Iterator[str]:
    """Every module that a file imports anywhere, dotted; relative imports are not used in this project."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import; write diffpbd.… in full"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def importers(folder: str, *modules: str) -> set[str]:
    """Files under `folder` that import one of `modules`, or something inside it, as paths from the root."""
    return {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / folder).rglob("*.py")
        for name in imports(path)
        if any(name == module or name.startswith(f"{module}.") for module in modules)
    }


def modules(folder: str) -> dict[str, Path]:
    """Every module under `folder`, dotted, and its file."""
    top = ROOT / "tests" if folder.startswith("tests/") else ROOT
    above = ("diffpbd",) if folder.split("/")[0] not in ("benchmarks", "tests") else ()
    return {
        ".".join((*above, *path.relative_to(top).with_suffix("").parts)).removesuffix(".__init__"): path
        for path in sorted((ROOT / folder).rglob("*.py"))
    }


def arrows(folder: str) -> dict[str, set[str]]:
    """Which modules of `folder` each of them imports; a package only where a name of its own `__init__` is meant."""
    known = modules(folder)
    found: dict[str, set[str]] = {}
    for module, path in known.items():
        names = {name for name in imports(path) if name in known and name != module}
        inside = {name.rpartition(".")[0] for name in names}
        own = [name for name in names if name in inside and not _uses_init(path, name, known)]
        found[module] = names - set(own)
    return found


def _uses_init(path: Path, package: str, known: Mapping[str, Path]) -> bool:
    """Whether a file takes more from a package than modules inside it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import) and any(alias.name == package for alias in node.names):
            return True
        if isinstance(node, ast.ImportFrom) and node.module == package:
            if any(f"{package}.{alias.name}" not in known for alias in node.names):
                return True
    return False


def circle(graph: Mapping[str, set[str]]) -> list[str]:
    """The modules of one circle, in order, or nothing."""
    done: set[str] = set()

    def walk(node: str, way: list[str]) -> list[str]:
        if node in way:
            return [*way[way.index(node) :], node]
        if node in done:
            return []
        for after in sorted(graph.get(node, ())):
            if found := walk(after, [*way, node]):
                return found
        done.add(node)
        return []

    return next((found for node in sorted(graph) if (found := walk(node, []))), [])
