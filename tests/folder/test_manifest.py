from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from diffpbd.runtime import InputError, read_manifest


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


@pytest.fixture
def data(twin_folder: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((twin_folder / "manifest.json").read_text(encoding="utf-8"))
    return loaded


def refused(folder: Path, data: Any) -> str:
    (folder / "manifest.json").write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_manifest(folder)
    return str(caught.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d.update(schema=1), ["layout", "version 1", "version 2", "Generate the folder again"]),
        (lambda d: d.update(abi=7), ["C interface", "7"]),
        (lambda d: d.pop("alpha"), ["alpha is missing"]),
        (lambda d: d["functions"][1]["inputs"][0].update(rows="x"), ["functions[1].inputs[0].rows", "'x'"]),
        (lambda d: d["functions"][0]["inputs"][0].update(cols="N"), ["functions[0].inputs[0].cols"]),
        (lambda d: d["functions"][0]["inputs"][0].pop("axes"), ["functions[0].inputs[0].axes is missing"]),
        (lambda d: d["functions"][0]["inputs"][0].update(axes=0), ["functions[0].inputs[0].axes", "at least 1"]),
        (lambda d: d["functions"][0]["inputs"][3].update(axes=3), ["functions[0].inputs[3].axes", "at most 2"]),
        (lambda d: d["functions"][0].update(status={"a": "b"}), ["functions[0].status"]),
        (lambda d: d["functions"].append(d["functions"][0]), ["functions lists joint_step more than once"]),
        (lambda d: d["robot"]["joints"][0].update(lower="low"), ["robot.joints[0].lower", "finite number"]),
        (lambda d: d.update(files=[]), ["files", "an object"]),
        (lambda d: d["recipe"].update(h=True), ["recipe.h"]),
        (lambda d: d["recipe"].update(h=float("inf")), ["recipe.h", "finite number"]),
        (lambda d: d["recipe"].update(h=10**400), ["recipe.h", "finite number"]),
        (lambda d: d["functions"][0]["inputs"][0].update(rows=-1), ["functions[0].inputs[0].rows", "at least 0"]),
        (lambda d: d["functions"][0].update(rollout=1), ["functions[0].rollout", "true or false"]),
        (lambda d: d["robot"]["links"][0].update(com=[0.0, 0.0]), ["robot.links[0].com", "3 numbers"]),
        (lambda d: d["robot"]["links"][0].pop("inertia"), ["robot.links[0].inertia is missing"]),
    ],
)
def test_faults_name_their_place(data: dict[str, Any], tmp_path: Path, change: Any, words: list[str]) -> None:
    change(data)
    message = refused(tmp_path, data)
    assert all(word in message for word in words), message


def test_not_a_generated_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a generated folder"):
        read_manifest(tmp_path)
    (tmp_path / "manifest.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match="not JSON"):
        read_manifest(tmp_path)
    assert "expected an object" in refused(tmp_path, [1])
