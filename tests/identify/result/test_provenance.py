"""Where parameters come from: logs that are folders have a hash too, by their content alone."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

from click.testing import CliRunner
from support.motions import motion
from support.recordings.bags import recorded
from support.robots import generated, loaded

from diffpbd.runtime.base.files import hash_of
from diffpbd.runtime.cli import cli


def test_the_hash_of_a_file_is_sha256_and_that_of_a_folder_its_content(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    (one / "part").mkdir(parents=True)
    (one / "a").write_bytes(b"1" * 3_000_000)
    (one / "part" / "b").write_bytes(b"2")
    assert hash_of(one / "a") == hashlib.sha256(b"1" * 3_000_000).hexdigest()
    shutil.copytree(one, other)
    assert hash_of(one) == hash_of(other)
    (other / "part" / "b").rename(other / "b")
    assert hash_of(one) != hash_of(other)
    (other / "b").rename(other / "part" / "b")
    assert hash_of(one) == hash_of(other)
    (other / "part" / "b").write_bytes(b"3")
    assert hash_of(one) != hash_of(other)


def test_a_ros_2_folder_is_fitted_and_told_where_it_comes_again(tmp_path: Path) -> None:
    truth = {"friction.viscous.elbow": 0.4, "friction.viscous.shoulder": 0.3}
    log = recorded(tmp_path / "run", "mcap", motion(loaded("double_pendulum"), truth, seconds=4.0, seed=1))
    again = tmp_path / "again"
    shutil.copytree(log, again)
    out = tmp_path / "params.json"
    words = [
        str(w)
        for w in (
            "identify",
            generated("double_pendulum"),
            log,
            "--validate",
            again,
            "--fit",
            "friction",
            "--cutoff",
            0,
            "--out",
            out,
        )
    ]
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 0, result.output
    found = json.loads(out.read_text())
    assert found["provenance"]["logs"] == {str(log): hash_of(log)}
    assert f"--validate {again} is a LOG of the fit as well" in result.output
    assert abs(found["parameters"]["friction.viscous.elbow"]["value"] - 0.4) < 0.02
