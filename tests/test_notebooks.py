"""docs/notebooks: a Jupyter kernel runs the cells and they print what they promise; they are kept without outputs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.imports import ROOT

NOTEBOOKS = ROOT / "docs" / "notebooks"
PROMISES = {
    "identify": (r"payload\.mass +([\d.]+)  true 0\.4", 0.38, 0.42),
    "mpc_contact": (r"force at the end ([\d.]+) N", 1.0, 1000.0),
    "gradients": (r"largest difference ([\d.e-]+)", 0.0, 1e-8),
}
"""Of each a figure that it prints, and between what it lies."""
EXECUTE = """
import sys
import nbclient, nbformat
notebook = nbformat.read(sys.argv[1], 4)
nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
nbformat.write(notebook, "done.ipynb")
"""
"""A script that runs a notebook from top to bottom in a fresh kernel; an error of a cell is its own."""


def cells(name: str) -> list[dict[str, Any]]:
    data = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))
    assert (data["nbformat"], data["metadata"]["kernelspec"]["name"]) == (4, "python3")
    found: list[dict[str, Any]] = data["cells"]
    return found


def test_every_notebook_is_clean_linked_and_has_a_promise() -> None:
    assert {path.stem for path in NOTEBOOKS.glob("*.ipynb")} == set(PROMISES)
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    for name in PROMISES:
        assert f"(notebooks/{name}.ipynb)" in index
        own = cells(name)
        assert all(cell["outputs"] == [] for cell in own if cell["cell_type"] == "code")
        for link in re.findall(r"\]\((\.\./[\w./-]+)", "".join("".join(cell["source"]) for cell in own)):
            assert (NOTEBOOKS / link).exists(), link


@pytest.mark.thorough
@pytest.mark.parametrize("name", PROMISES)
def test_its_cells_run(name: str, tmp_path: Path) -> None:
    pytest.importorskip("nbclient", exc_type=ImportError)
    pytest.importorskip("ipykernel", exc_type=ImportError)
    own = {
        "IPYTHONDIR": str(tmp_path / "ipython"),
        "JUPYTER_CONFIG_DIR": str(tmp_path / "jupyter"),
        "JUPYTER_PLATFORM_DIRS": "1",
    }
    environment = {k: v for k, v in os.environ.items() if k != "MPLBACKEND"} | own | {"PYTHONPATH": str(ROOT)}
    run = [sys.executable, "-c", EXECUTE, str(NOTEBOOKS / f"{name}.ipynb")]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    outputs = [
        output
        for cell in json.loads((tmp_path / "done.ipynb").read_text(encoding="utf-8"))["cells"]
        for output in cell.get("outputs", ())
    ]
    printed = "".join("".join(output["text"]) for output in outputs if output.get("name") == "stdout")
    pattern, least, most = PROMISES[name]
    match = re.search(pattern, printed)
    assert match is not None and least <= float(match[1]) <= most, printed
    assert any("image/png" in output.get("data", ()) for output in outputs), "the kernel shows its figures"
