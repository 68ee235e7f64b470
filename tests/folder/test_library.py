from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from diffpbd.runtime import InputError, load
from diffpbd.runtime.folder.compiler import compile_library
from diffpbd.runtime.folder.integrity import record_library
from diffpbd.runtime.folder.manifest import read_manifest


@pytest.fixture
def folder(tmp_path: Path, twin_folder: Path) -> Path:
    return Path(shutil.copytree(twin_folder, tmp_path / "twin"))


def edit_source(folder: Path, old: str, new: str, *, rehash: bool = True) -> None:
    source = folder / "src" / "twin.c"
    text = source.read_text(encoding="utf-8")
    assert old in text
    source.write_text(text.replace(old, new), encoding="utf-8")
    if rehash:
        edit_manifest(
            folder, lambda d: d["files"].update({"src/twin.c": hashlib.sha256(source.read_bytes()).hexdigest()})
        )


def edit_manifest(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    path = folder / "manifest.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    change(data)
    path.write_text(json.dumps(data), encoding="utf-8")


def test_an_edited_source_is_refused(folder: Path) -> None:
    edit_source(folder, "h * v", "h * v * 1.0", rehash=False)
    with pytest.raises(InputError, match=r"twin\.c is not the file that was generated"):
        load(folder)


def test_a_library_of_another_hash_is_refused(folder: Path) -> None:
    edit_manifest(folder, lambda d: d.update(abi_hash="f" * 64))
    with pytest.raises(InputError, match="does not match its manifest: its hash is"):
        load(folder)


def test_a_library_of_another_interface_is_refused(folder: Path) -> None:
    edit_source(folder, "twin_abi(void) { return 1; }", "twin_abi(void) { return 2; }")
    compile_library(folder, "libtwin.so")
    with pytest.raises(InputError, match="C interface has version 2, this diffpbd calls version 1"):
        load(folder)


def test_a_library_that_does_not_say_its_arguments_is_refused(folder: Path) -> None:
    edit_source(folder, "twin_signature(int k)", "twin_silent(int k)")
    compile_library(folder, "libtwin.so")
    with pytest.raises(InputError, match=r"older diffpbd.*Generate the folder again: diffpbd generate twin"):
        load(folder)


def test_a_library_with_arguments_in_another_order_is_refused(folder: Path) -> None:
    edit_source(folder, "gravity(p 2x1, alpha 5x1)", "gravity(alpha 5x1, p 2x1)")
    compile_library(folder, "libtwin.so")
    with pytest.raises(InputError, match="gravity has alpha 5x1, the manifest says p 2x1"):
        load(folder)


def test_a_missing_or_broken_library(folder: Path) -> None:
    (folder / "libtwin.so").write_bytes(b"no library")
    record_library(folder / "libtwin.so")
    with pytest.raises(InputError, match="cannot be loaded"):
        load(folder)


def test_an_edited_manifest_is_refused_where_it_is_sealed(folder: Path) -> None:
    path = folder / "manifest.json"
    path.write_text(read_manifest(folder).sealed().to_json(), encoding="utf-8")
    load(folder)


def test_a_folder_generated_again_in_the_same_process_loads_the_new_code(folder: Path) -> None:
    first = load(folder)
    before = first.gravity([0, 0])[0]
    data = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    edit_source(folder, data["abi_hash"], "a" * 64)
    edit_source(folder, "out[0][0] = out[0][1] = -(1.0", "out[0][0] = out[0][1] = -(2.0")
    edit_manifest(folder, lambda d: d.update(abi_hash="a" * 64))
    compile_library(folder, "libtwin.so")
    assert load(folder).gravity([0, 0])[0] == 2 * before
    assert first.gravity([0, 0])[0] == before
