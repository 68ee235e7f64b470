"""Reading mechanisms: merging, order, the choice of base, tips and held joints, files."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support.description.builders import BODY, chain, doubt_codes, fault_codes, joint, link, robot
from support.description.random_trees import random_urdf
from support.description.reference import inverse_dynamics
from support.judges.peer import Peer

from diffpbd.codegen.description.check.validate import check
from diffpbd.codegen.description.front.urdf import read_urdf
from diffpbd.runtime.base.errors import InputError


def test_random_trees_equal_pinocchio(tmp_path: Path, count: Callable[[int, int], int]) -> None:
    """Merging, order, axes and rotations at once, on mechanisms nobody chose."""
    path = tmp_path / "tree.urdf"
    for seed in range(count(40, 1000)):
        path.write_text(random_urdf(seed))
        found = read_urdf(path)
        peer = Peer(path, found)
        assert sorted(peer.columns) == list(range(peer.model.nv))
        q, dq, ddq = np.random.default_rng(seed).uniform(-2.0, 2.0, (3, found.n))
        torque = peer.inverse_dynamics(q, dq, ddq)
        np.testing.assert_allclose(inverse_dynamics(found, q, dq, ddq), torque, rtol=1e-11, atol=1e-11)
        assert all(each.parent < i for i, each in enumerate(found.joints))
        masses = sum(inertia.mass for inertia in list(peer.model.inertias)[1:])
        assert found.total_mass == pytest.approx(masses, abs=1e-12)


def test_order_is_depth_first_in_file_order() -> None:
    source = robot(
        *map(link, ("base", "z", "a", "m", "b")),
        joint("to_z", "base", "z"),
        joint("to_a", "base", "a"),
        joint("to_m", "z", "m"),
        joint("to_b", "z", "b"),
    )
    found = read_urdf(source)
    assert [each.name for each in found.joints] == ["to_z", "to_m", "to_b", "to_a"]
    assert [each.name for each in found.links] == ["z", "m", "b", "a"]
    assert [tip.name for tip in found.tips] == ["m", "b", "a"]
    assert found.children == ((1, 2), (), (), ())


def test_tips_choose_the_tree_and_their_order() -> None:
    source = robot(
        *map(link, ("base", "palm", "thumb", "index", "ring", "nail")),
        joint("wrist", "base", "palm"),
        joint("t", "palm", "thumb"),
        joint("i", "palm", "index"),
        joint("r", "palm", "ring"),
        joint("n", "index", "nail", "fixed"),
    )
    found = read_urdf(source, tip=["nail", "thumb"])
    assert [each.name for each in found.joints] == ["wrist", "t", "i"]
    assert [(tip.name, tip.link, tip.translation) for tip in found.tips] == [
        ("nail", 2, (0.0, 0.0, 1.0)),
        ("thumb", 1, (0.0, 0.0, 0.0)),
    ]
    (unused,) = (doubt for doubt in check(source, tip=["nail", "thumb"]).doubts if doubt.code == "unused-branch")
    assert unused.names == ("ring", "r")
    assert dict(unused.numbers) == {"mass": 1.0}
    assert "palm" in unused.message
    assert [each.name for each in read_urdf(source, tip="nail").joints] == ["wrist", "i"]


def test_side_ends_on_a_carrying_link_are_no_tips() -> None:
    source = robot(
        *map(link, ("base", "a", "camera", "b")),
        joint("ja", "base", "a"),
        joint("weld", "a", "camera", "fixed"),
        joint("jb", "a", "b"),
    )
    assert [tip.name for tip in read_urdf(source).tips] == ["b"]
    assert read_urdf(source).links[0].merged == ("camera",)
    assert read_urdf(source, tip="camera").n == 1


def test_held_joints_weld_what_they_carry() -> None:
    source = chain("revolute", "prismatic", "revolute")
    held = read_urdf(source, hold=["jb"])
    welded = read_urdf(chain("revolute", "fixed", "revolute"))
    assert held.links == welded.links
    assert held.joints == welded.joints
    assert read_urdf(source, tip="a", hold=["jb", "jc"]).total_mass == 3.0
    assert doubt_codes(source, tip="a", hold=["jb", "jc"]) == set()
    assert read_urdf(chain("floating", "revolute"), hold=["ja"]).n == 1
    assert fault_codes(source, hold=["nothing"]) == {"hold"}


def test_base_below_moving_joints_is_held_in_the_root_frame() -> None:
    source = chain("revolute", "revolute", "revolute")
    found = read_urdf(source, base="b")
    assert [each.name for each in found.joints] == ["jc"]
    assert (found.base, found.joints[0].parent, found.joints[0].translation) == ("b", -1, (0.0, 0.0, 3.0))
    held = [doubt.names for doubt in check(source, base="b").doubts if doubt.code == "held"]
    assert held == [("ja",), ("jb",)]
    floating = chain("floating", "revolute")
    assert read_urdf(floating, base="a").n == 1
    assert fault_codes(chain("revolute", "floating")) == {"joint-type"}
    assert fault_codes(chain("revolute", "planar")) == {"joint-type"}


def test_tip_welded_to_the_base_beside_a_moving_one() -> None:
    source = robot(*map(link, ("base", "arm", "lamp")), joint("j", "base", "arm"), joint("w", "base", "lamp", "fixed"))
    assert fault_codes(source, tip=["arm", "lamp"]) == {"immobile"}
    assert [tip.name for tip in read_urdf(source).tips] == ["arm"]


def test_merging_a_frame_changes_no_bit() -> None:
    alone = read_urdf(chain("revolute"))
    body = BODY.replace('value="1"', 'value="0.3"').replace("<mass", '<origin xyz="0.1 0.2 0.7"/><mass')
    source = chain("revolute").replace(link("a").encode(), link("a", body).encode())
    with_frame = robot(
        link("base"), link("a", body), link("tool", ""), joint("ja", "base", "a"), joint("w", "a", "tool", "fixed")
    )
    assert read_urdf(with_frame).links[0].inertial == read_urdf(source).links[0].inertial
    assert alone.links[0].inertial != read_urdf(source).links[0].inertial


def test_three_thousand_welded_links() -> None:
    names = [f"l{i}" for i in range(3000)]
    welds = [joint(f"j{b}", a, b, "fixed") for a, b in zip(names, names[1:-1], strict=False)]
    source = robot(*map(link, names), *welds, joint("last", names[-2], names[-1]))
    found = read_urdf(source)
    assert (found.n, found.joints[0].translation) == (1, (0.0, 0.0, 2999.0))


def test_a_path_a_string_and_bytes_are_read_alike(tmp_path: Path) -> None:
    path = tmp_path / "räbot $x.urdf"
    path.write_bytes(chain("revolute"))
    assert read_urdf(path) == read_urdf(str(path)) == read_urdf(chain("revolute"))
    assert check(path).source == str(path)
    with pytest.raises(InputError):
        read_urdf("nul\0byte")


def test_the_robot_is_a_value() -> None:
    found = read_urdf(chain("revolute", "prismatic"))
    assert found == pickle.loads(pickle.dumps(found))
    assert len({found, read_urdf(chain("revolute", "prismatic"))}) == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.name = "other"
    assert [each.type.unit for each in found.joints] == ["rad", "m"]
    assert [each.type.effort_unit for each in found.joints] == ["N·m", "N"]
