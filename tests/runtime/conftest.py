"""Fixtures: the hand-written robot `twin`, compiled once."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from diffpbd.runtime import Robot, load


def _builder() -> ModuleType:
    path = Path(__file__).parent / "fixture" / "twin.py"
    spec = importlib.util.spec_from_file_location("diffpbd_test_twin", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def build_twin() -> Callable[..., Path]:
    """The builder of a new folder."""
    build: Callable[..., Path] = _builder().build
    return build


@pytest.fixture(scope="session")
def twin_folder(tmp_path_factory: pytest.TempPathFactory, build_twin: Callable[..., Path]) -> Path:
    """A compiled folder that tests only read."""
    return build_twin(tmp_path_factory.mktemp("generated") / "twin", graphs=True)


@pytest.fixture(scope="session")
def twin(twin_folder: Path) -> Robot:
    """The robot."""
    return load(twin_folder)
