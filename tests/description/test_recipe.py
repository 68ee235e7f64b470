"""Recipes: defaults, files, options, and what cannot be generated."""

from __future__ import annotations

from pathlib import Path

import pytest

from diffpbd.codegen.description.recipe import DEFAULT_SWEEPS, Recipe, default_recipe, with_options
from diffpbd.codegen.description.recipe_file import load_recipe
from diffpbd.codegen.description.recipe_options import option_words
from diffpbd.codegen.description.resolve import ROBOTS, find_recipe, resolve, shipped_robots
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.commands.generate import command


def test_shipped_recipes_spell_out_the_defaults() -> None:
    for name in shipped_robots():
        loaded = load_recipe(ROBOTS / f"{name}.toml")
        spelt = Recipe(name, ROBOTS / f"{name}.urdf", loaded.base, loaded.tip, h=loaded.h, springs=loaded.springs)
        assert loaded == spelt
        assert loaded.variant == "variational_direct"
        for variant in loaded.variants:
            assert f"{variant} = {loaded.sweeps[variant]}" in (ROBOTS / f"{name}.toml").read_text("utf-8")


def test_a_recipe_needs_nothing(tmp_path: Path) -> None:
    (tmp_path / "arm.toml").write_text("", encoding="utf-8")
    assert load_recipe(tmp_path / "arm.toml") == Recipe("arm", tmp_path / "arm.urdf")


def test_a_full_recipe(tmp_path: Path) -> None:
    path = tmp_path / "arm.toml"
    path.write_text(
        """name = "two"
urdf = "sub/arm.urdf"
base = "b"
tip = ["t1", "t2"]
hold = "j"
h = 1
integrator = "paper"
solver = "jacobi"
variants = ["paper_jacobi"]
symbolic = ["mass", "com"]
friction = "urdf"
limits = true
relaxation = 0.7
gravity = [0, 0.0, -9.8]
table = -0.2
sweeps = { paper_jacobi = 50 }
""",
        encoding="utf-8",
    )
    recipe = load_recipe(path)
    assert recipe == Recipe(
        "two",
        tmp_path / "sub" / "arm.urdf",
        "b",
        ("t1", "t2"),
        ("j",),
        1.0,
        "paper",
        "jacobi",
        recipe.sweeps,
        ("paper_jacobi",),
        ("mass", "com"),
        "urdf",
        gravity=(0.0, 0.0, -9.8),
        limits=True,
        relaxation=0.7,
        table=-0.2,
    )
    assert (recipe.sweeps["paper_jacobi"], recipe.sweeps["variational_direct"]) == (50, 3)
    assert hash(recipe) == hash(load_recipe(path))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("h = ", "TOML"),
        ("hh = 1", "hh"),
        ("h = 0", "h = 0"),
        ("limits = 1", "limits = 1"),
        ("h = nan", "h = nan"),
        ('h = "1"', "h = '1'"),
        ("h = true", "h = True"),
        ('integrator = "euler"', "variational"),
        ('solver = "cg"', "gauss_seidel"),
        ('variants = ["paper"]', "paper"),
        ('variants = ["paper_direct"]', "variational_direct"),
        ('symbolic = ["weight"]', "weight"),
        ('friction = "all"', "all"),
        ("gravity = [0, 0]", "gravity"),
        ("gravity = [0, 0, inf]", "gravity"),
        ("gravity = [0, 0, true]", "gravity"),
        ("table = 5.01", "table = 5.01"),
        (f"table = 1{'0' * 400}", "table = 1000"),
        (f"table = 1{'0' * 5000}", "TOML"),
        (f"table = {'[' * 5000}{']' * 5000}", "lists in lists"),
        ("table = nan", "table = nan"),
        ("ground = nan", "ground = nan"),
        ("ground = 100.1", "ground = 100.1"),
        ("table = true", "table = True"),
        ("tip = 3", "tip"),
        ("tip = [3]", "tip"),
        ("sweeps = 3", "sweeps"),
        ("sweeps = { paper_jacobi = 0 }", "sweeps.paper_jacobi"),
        ("sweeps = { paper_jacobi = 1.5 }", "sweeps"),
        ("sweeps = { paper = 3 }", "paper"),
        ("relaxation = 0", "relaxation = 0"),
        ("relaxation = 2", "relaxation = 2"),
        ("relaxation = nan", "relaxation = nan"),
        ("relaxation = true", "relaxation = True"),
        ('relaxation = "half"', "averaging"),
        ('name = "my robot"', "my robot"),
        ('name = "1st"', "1st"),
        ("name = 1", "name"),
    ],
)
def test_refused_with_file_and_entry(tmp_path: Path, text: str, names: str) -> None:
    path = tmp_path / "arm.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_recipe(path)
    assert names in str(caught.value)
    assert str(path) in str(caught.value)


def test_not_a_recipe(tmp_path: Path) -> None:
    (tmp_path / "arm.toml").write_bytes(b"\xff")
    for path in (tmp_path / "arm.toml", tmp_path / "missing.toml", tmp_path):
        with pytest.raises(InputError, match="recipe"):
            load_recipe(path)


@pytest.mark.parametrize(
    ("file", "name"), [("arm.urdf", "arm"), ("my-arm 2.urdf", "my_arm_2"), ("7dof.urdf", "robot_7dof")]
)
def test_a_bare_file_is_named_after_itself(file: str, name: str) -> None:
    recipe = default_recipe(f"some/{file}", "b", "t")
    assert (recipe.name, recipe.base, recipe.tip) == (name, "b", ("t",))


def test_options() -> None:
    recipe = default_recipe("arm.urdf", "b", ["t"])
    assert with_options(recipe) == recipe
    changed = with_options(recipe, integrator="paper", solver="jacobi", sweeps=12, symbolic=["mass"], tip="x")
    assert (changed.variant, changed.sweeps["paper_jacobi"], changed.tip) == ("paper_jacobi", 12, ("x",))
    assert recipe.sweeps["paper_jacobi"] == 30
    counted = with_options(recipe, sweeps={"paper_direct": 3}, variants=["published"])
    with pytest.raises(InputError, match="sweeps: paper_direct is not made.*add it to variants"):
        with_options(recipe, sweeps={"paper_direct": 3})
    assert (counted.variant, counted.sweeps["paper_direct"]) == ("variational_direct", 3)
    assert with_options(recipe, variants=["all"], sweep_order="printed").variants == tuple(DEFAULT_SWEEPS)
    for relaxation in ("averaging", 1e-3, 1.999):
        assert with_options(recipe, relaxation=relaxation).relaxation == relaxation
    joined = with_options(recipe, solver="jacobi")
    assert joined.variants == (*recipe.variants, "variational_jacobi")
    for options in (
        {"integrator": "x"},
        {"solver": "x"},
        {"sweeps": 0},
        {"friction": "x"},
        {"friction_law": ["x"]},
        {"h": -1.0},
        {"relaxation": 2.0},
        {"sweep_order": "x"},
        {"multiplier": "x"},
        {"variants": ["x"]},
        {"sweeps": {"x": 3}},
    ):
        with pytest.raises(InputError):
            with_options(recipe, **options)


def test_the_command_line_says_every_option_that_it_takes() -> None:
    plain = default_recipe("arm.urdf")
    given = {
        "base": "b", "tip": ("t", "s"), "hold": ("j",), "integrator": "paper", "solver": "jacobi", "sweeps": 12,
        "friction": "urdf", "friction_law": ("stribeck",), "symbolic": ("mass", "com"), "limits": True,
        "wrench": ("l", "k"), "lever_springs": ("e",), "relaxation": 0.5,
        "sweep_order": "printed", "multiplier": "scalar", "variants": ("paper_direct", "paper_jacobi"),
        "functions": ("mpc",), "cuda": True, "single": True, "base_joint": "floating",
        "contact_from_collision": ("hand=table", "foot"),
        "close": ("a=b", "c=d:hinge"), "ground": -0.5, "passive": ("j",),
        "frames": ("wrist", "elbow"),
        "clearance": True, "obstacles": ("spheres=2", "planes=1"), "cone": "exact",
    }  # fmt: skip
    changed = with_options(plain, **given)
    parsed = command.make_context("generate", ["arm.urdf", *option_words(changed, plain)]).params
    options = {
        name: value
        for name, value in parsed.items()
        if name not in ("robot", "out", "order", "everything", "printed_order")
    }
    assert with_options(plain, **options) == changed
    assert set(options) == set(given)
    assert option_words(with_options(plain, limits=False), with_options(plain, limits=True)) == ["--no-limits"]
    assert option_words(plain, plain) == []
    jacobi = with_options(plain, solver="jacobi", sweeps={"variational_direct": 4})
    assert option_words(jacobi, plain) == ["--solver", "jacobi", "--sweeps", "variational_direct=4"]


def test_resolve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe, robot = resolve("baxter")
    assert (robot.name, robot.base, [tip.name for tip in robot.tips]) == (
        "baxter",
        "torso",
        ["left_hand_link"],
    )
    _, shorter = resolve("baxter", tip="left_lower_elbow")
    assert shorter.n == 4
    monkeypatch.chdir(tmp_path)
    Path("baxter").write_text("a shipped name comes first", encoding="utf-8")
    assert find_recipe("baxter").urdf == recipe.urdf
    Path("my-arm.urdf").write_bytes(recipe.urdf.read_bytes())
    found, robot = resolve("my-arm.urdf", base="left_upper_shoulder")
    assert (found.name, robot.name, robot.n) == ("my_arm", "my_arm", 6)
    assert (found.base, found.tip) == ("left_upper_shoulder", ("left_hand_link",))
    Path("own.toml").write_text('urdf = "my-arm.urdf"\nhold = ["left_w2"]\nbase = "torso"\n', encoding="utf-8")
    assert resolve("own.toml")[1].n == 6
    Path("folder").mkdir()
    for name, what in (("folder", "a folder"), ("nothing", "not a file")):
        with pytest.raises(InputError, match=what) as caught:
            resolve(name)
        assert "baxter_bare" in str(caught.value)
