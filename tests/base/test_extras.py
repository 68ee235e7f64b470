"""A missing library is named with the extra that brings it, wherever it is asked for."""

from __future__ import annotations

import importlib
import sys

import pytest
from support.imports import ROOT
from support.robots import loaded

import diffpbd
from diffpbd.runtime.base.extras import EXTRAS, missing

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def test_each_extra_is_one_of_the_package() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(EXTRAS.values()) <= set(declared)


@pytest.mark.parametrize("name", ["torch", "jax"])
def test_automatic_derivatives_name_their_extra(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, f"diffpbd.runtime.with_{name}", raising=False)
    with pytest.raises(diffpbd.InputError, match=rf"with_{name} needs {name}, .* pip install 'diffpbd\[{name}\]'"):
        importlib.import_module(f"diffpbd.runtime.with_{name}")


def test_functions_of_the_door_name_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    run = diffpbd.simulate(loaded("double_pendulum"), duration=0.02)
    with pytest.raises(diffpbd.InputError, match=r"a figure needs matplotlib, .* pip install 'diffpbd\[plot\]'"):
        run.plot()
    monkeypatch.setitem(sys.modules, "casadi", None)
    for name in [
        name for name in sys.modules if name.startswith(("diffpbd.runtime.identify", "diffpbd.runtime.base.ipopt"))
    ]:
        monkeypatch.delitem(sys.modules, name)  # another test may have read them with casadi there
    with pytest.raises(diffpbd.InputError, match=r"identify needs casadi, .* pip install 'diffpbd\[solve\]'"):
        diffpbd.identify(loaded("double_pendulum"), run, "friction", cutoff=None, loss="huber")


def test_a_module_of_another_s_is_not_ours_to_explain() -> None:
    assert "such" not in EXTRAS
    with pytest.raises(KeyError):
        missing("it", "such")
