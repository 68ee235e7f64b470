"""The text for a GPU: compiled for the host it gives what the C gives, compiled by NVRTC the lean step stays in registers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.robots import loaded, model
from support.standin import standing_in

from diffpbd.codegen.emit.cuda import check_cuda
from diffpbd.codegen.graph.functions.capabilities import Capabilities, capabilities
from diffpbd.runtime import InputError, load
from diffpbd.runtime.gpu import launch as gpu_launch
from diffpbd.runtime.gpu.compiler import Compiler, compiler, resources
from diffpbd.runtime.gpu.launch import ENTRIES
from diffpbd.runtime.gpu.robot import SETTINGS

ROWS = 256
H = 0.01
ARM = "baxter_bare"
SECOND = "float32 chords=2"


def wide(name: str) -> tuple[np.ndarray, ...]:
    """States all over the range, under the torques of accelerations up to 5 rad/s²."""
    robot, rng = loaded(name), np.random.default_rng(2)
    p, pd, pdd = (rng.uniform(-b, b, (ROWS, robot.n)) for b in (np.pi, 1.0, 5.0))
    if name == "prismatic_skew":
        p *= 0.2
    return p, pd, robot.inverse_dynamics(p, pd, pdd)


@pytest.fixture
def libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("DIFFPBD_CACHE", str(tmp_path / "kept"))
    with standing_in(tmp_path) as found:
        yield found


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], tuple[np.ndarray, np.ndarray]]:
    """Differences in p_next and pd_next from the C, by robot and precision."""
    found = {}
    folder = tmp_path_factory.mktemp("standin")
    with pytest.MonkeyPatch.context() as patch, standing_in(folder):
        patch.setenv("DIFFPBD_CACHE", "off")
        for name in (ARM, "prismatic_skew"):
            states = wide(name)
            expected = loaded(name).joint_step(*states, H)
            for dtype, words in (*((dtype, {}) for dtype in SETTINGS), (SECOND, {"chords": 2})):
                step = loaded(name).gpu(dtype.split()[0], **words).joint_step(*states, H)
                found[name, dtype] = tuple(np.abs(a.numpy() - b) for a, b in zip(step, expected, strict=True))
    return found


@pytest.mark.thorough("baxter")
@pytest.mark.parametrize("name", [ARM, "prismatic_skew"])
def test_in_double_precision_the_step_is_the_c(steps: dict[Any, Any], name: str) -> None:
    p, pd = steps[name, "float64"]
    print(f"{name} float64: {p.max():.1e} rad, {pd.max():.1e} rad/s")
    assert p.max() <= 1e-12 and pd.max() <= 1e-9


@pytest.mark.parametrize("name", [ARM, "prismatic_skew"])
def test_in_single_precision_it_is_as_close_as_link_frames_allow(steps: dict[Any, Any], name: str) -> None:
    p, pd = steps[name, "float32"]
    print(f"{name} float32: mean {p.mean():.1e}, at most {p.max():.1e} rad, {pd.max():.1e} rad/s")
    assert p.mean() <= 2e-7 and p.max() <= (3e-6 if name == ARM else 5e-6) and pd.max() <= 3e-4
    assert p.max() > 1e-8  # it is single precision


@pytest.mark.parametrize("name", [ARM, "prismatic_skew"])
def test_a_second_chord_is_what_a_light_last_link_takes(steps: dict[Any, Any], name: str) -> None:
    """The first chord's error is the wrist's, 0.002 kg·m² behind 0.63 kg·m²; the slide itself is the most accurate joint."""
    (first, _), (p, pd) = steps[name, "float32"], steps[name, SECOND]
    print(f"{name} {SECOND}: mean {p.mean():.1e}, at most {p.max(axis=0)} rad, {pd.max():.1e} rad/s")
    assert p.mean() <= 2e-7 and p.max() <= 3e-6 and pd.max() <= 3e-4
    if name == "prismatic_skew":
        assert (
            (first[:, :3] <= 5e-7).all() and first[:, 3].max() > 3e-6 and first[:, 2].max() == first.max(axis=0).min()
        )


@pytest.fixture(scope="module")
def nvrtc() -> Compiler:
    try:
        return compiler()
    except InputError as reason:
        pytest.skip(str(reason))


def compiled(nvrtc: Compiler, name: str, *words: str) -> dict[str, tuple[int, int, int]]:
    """Registers, spill stores and loads of the entries, for an H100."""
    source = (loaded(name).folder / f"{name}.cu").read_text(encoding="utf-8")
    code, log = nvrtc.compiled(source, "sm_90", words)
    assert code[:4] == b"\x7fELF" and "warning" not in log, log
    found = resources(log)
    for entry, (registers, stores, loads) in found.items():
        print(
            f"{name} {entry} {' '.join(words)}: {registers} registers, {stores} B of spill stores, {loads} B of loads"
        )
    return found


STEP = ENTRIES["joint_step"].options


@pytest.mark.thorough
def test_the_lean_step_in_single_precision_stays_in_registers(nvrtc: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIFFPBD_CACHE", "off")
    found = compiled(nvrtc, ARM, *STEP, "-DSINGLE", "-DSHARED_ALPHA")
    assert list(found) == ["joint_step"]
    assert found["joint_step"][0] <= 255 and found["joint_step"][1:] == (0, 0)
    double = compiled(nvrtc, ARM, *STEP, "-DSHARED_ALPHA", "-DBLOCK=64")["joint_step"]
    assert 0 < double[1] < 4000, "the pattern that reads spills, or the step in double precision, has changed"


@pytest.mark.thorough
def test_every_entry_compiles_for_a_gpu(nvrtc: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIFFPBD_CACHE", "off")
    every = {name for entry in ENTRIES.values() for name, _ in entry.passes}
    assert set(compiled(nvrtc, "double_pendulum", "-DSINGLE", "-DSHARED_ALPHA")) == every
    back = ENTRIES["vjp_joint_step"]
    assert set(compiled(nvrtc, "double_pendulum", *back.options)) == {name for name, _ in back.passes}
    assert set(compiled(nvrtc, "prismatic_skew", *STEP)) == {"joint_step"}


def test_kernels_are_those_of_the_c_sources() -> None:
    """The same operations in the same order: the text differs in types and names of functions alone."""
    folder = loaded(ARM).folder
    cu = (folder / f"{ARM}.cu").read_text(encoding="utf-8")
    lanes = (folder / "src" / "joint_step_model.h").read_text(encoding="utf-8")
    for name in ("start", "newton", "chord", "end", "velocity", "momentum_slope"):
        one, other = (re.search(rf"void {name}_kernel\(.*?\) {{\n(.*?)\n}}\n", text, re.S) for text in (cu, lanes))
        assert one and other
        plain = re.sub(
            r"B\((\w+\[\d+\])\)", r"\1", re.sub(r"  \(void\)\w+;\n", "", other.group(1))
        )  # what C leaves unused
        assert one.group(1) == plain


def test_the_same_text_whenever_it_is_made() -> None:
    from diffpbd.codegen.emit.cuda import add_cuda
    from diffpbd.codegen.emit.emission.sources import Banner, Emission

    emission = Emission("double_pendulum", Banner("", "0", "double_pendulum", "0", ""))
    add_cuda(emission, model("double_pendulum"), capabilities(model("double_pendulum")))
    text = emission.files["double_pendulum.cu"]
    made = (loaded("double_pendulum").folder / "double_pendulum.cu").read_text(encoding="utf-8")
    assert made.split("*/", 1)[1] == text.split("*/", 1)[1]


def test_constants_of_both_sides_are_one() -> None:
    cu = (loaded("double_pendulum").folder / "double_pendulum.cu").read_text(encoding="utf-8")
    (most,) = re.findall(r"Array in\[(\d+)\], out\[(\d+)\];", cu)
    assert tuple(map(int, most)) == (gpu_launch.MOST_IN, gpu_launch.MOST_OUT)
    assert [float(x.rstrip("f")) for x in re.findall(r"#define RESIDUAL (\S+)", cu)] == [
        SETTINGS["float32"]["residual"], SETTINGS["float64"]["residual"],
    ]  # fmt: skip
    assert set(re.findall(r"^(?:LONE_)?ENTRY\((\w+)\)", cu, re.M)) == {
        name for e in ENTRIES.values() for name, _ in e.passes
    }


def test_robots_without_a_text_for_a_gpu_are_refused_by_name(tmp_path: Path) -> None:
    from diffpbd.codegen.description.front.resolve import resolve
    from diffpbd.codegen.graph.loops.build import build

    pendulum = model("double_pendulum")
    found = capabilities(pendulum)
    check_cuda(pendulum, found)
    for need in ("open", "unlimited", "free", "inertia"):
        lacking = Capabilities({need: f"this is why {need}"})
        with pytest.raises(InputError, match=f"double_pendulum: --cuda is for open trees .*: here this is why {need}"):
            check_cuda(pendulum, lacking)
    free: Any = SimpleNamespace(tree=pendulum.tree, recipe=pendulum.recipe, robot=SimpleNamespace(floating=True))
    with pytest.raises(InputError, match="here a floating base"):
        check_cuda(free, found)
    inertia = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    links = "".join(f'<link name="l{k}">{inertia}</link>' for k in range(14))
    joints = "".join(
        f'<joint name="j{k}" type="continuous"><parent link="l{k}"/><child link="l{k + 1}"/><axis xyz="0 1 0"/></joint>'
        for k in range(13)
    )
    (tmp_path / "deep.urdf").write_text(f'<robot name="deep">{links}{joints}</robot>', encoding="utf-8")
    recipe, robot = resolve(str(tmp_path / "deep.urdf"))
    deep = build(robot, recipe)
    with pytest.raises(InputError, match="deep: --cuda .*a path of 13 joints"):
        check_cuda(deep, capabilities(deep))


def test_a_robot_with_closed_loops_is_refused_before_anything_is_derived(tmp_path: Path, root: Path) -> None:
    from diffpbd.codegen.generate import generate

    with pytest.raises(InputError, match="--cuda is for open trees .*closed loops"):
        generate(str(root / "docs/examples/four_bar/four_bar.toml"), out=tmp_path / "out", cuda=True)
    assert not (tmp_path / "out").exists()


@pytest.mark.thorough
def test_what_the_text_lacks_is_said(tmp_path: Path, root: Path, libraries: Any) -> None:
    """Torque estimation of a robot with a passive joint: when it is generated, and where it is asked for."""
    from diffpbd.codegen.generate import generate

    urdf, recipe = root / "diffpbd" / "codegen" / "robots" / "double_pendulum.urdf", tmp_path / "acrobot.toml"
    recipe.write_text(f'urdf = "{urdf}"\ntip = "tip"\npassive = ["shoulder"]\n', encoding="utf-8")
    lines: list[str] = []
    words: Any = {"functions": ("joint_step", "estimate_torque"), "variants": (), "cuda": True}
    made = generate(str(recipe), out=tmp_path / "out" / "acrobot", progress=lines.append, **words)
    assert "passive joints (shoulder); left out of the text for a GPU: estimate_torque" in lines
    robot = load(made.folder)
    assert "estimate_torque" in robot.functions and "estimate_torque" not in robot.gpu("float64").functions
    with pytest.raises(AttributeError, match="acrobot on a GPU has no 'estimate_torque': its text was made without it"):
        robot.gpu("float64").estimate_torque()
