from __future__ import annotations

import json
from pathlib import Path

from diffpbd.runtime import read_manifest


def test_a_manifest_written_and_read_is_the_same(twin_folder: Path, tmp_path: Path) -> None:
    manifest = read_manifest(twin_folder)
    (tmp_path / "manifest.json").write_text(manifest.to_json(), encoding="utf-8")
    assert read_manifest(tmp_path) == manifest
    assert read_manifest(tmp_path / "manifest.json") == manifest


def test_the_text_has_sorted_keys_and_ends_with_a_newline(twin_folder: Path) -> None:
    text = (twin_folder / "manifest.json").read_text(encoding="utf-8")
    assert text.endswith("}\n")
    assert list(json.loads(text)) == sorted(json.loads(text))


def test_sizes_of_trajectories_follow_the_number_of_steps(twin_folder: Path) -> None:
    rollout = next(f for f in read_manifest(twin_folder).functions if f.name == "rollout")
    assert [argument.size(10) for argument in rollout.inputs] == [2, 2, 20, 1, 5]
    assert [argument.size(10) for argument in rollout.outputs] == [22, 22]
