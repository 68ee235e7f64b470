"""Recipes: defaults, files, options, and what cannot be generated."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from diffpbd.codegen.description.front.resolve import ROBOTS, find_recipe, resolve, shipped_robots
from diffpbd.codegen.description.recipe.file import load_recipe
from diffpbd.codegen.description.recipe.options import option_words
from diffpbd.codegen.description.recipe.recipe import DEFAULT_SWEEPS, Recipe, default_recipe, with_options
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
    ("text", "words"),
    [
        ("h = ", "TOML"),
        (f"table = 1{'0' * 400}", "table = 1000"),
        (f"table = 1{'0' * 5000}", "TOML"),
        (f"table = {'[' * 5000}{']' * 5000}", "lists in lists"),
        (
            f'[[loop]]\nname = "a"\ntype = "hinge"\nparent = "a"\nchild = "b"\naxis = [0, 0, 1{"0" * 400}]',
            "axis = [0, 0, 1000",
        ),
    ],
)
def test_files_that_toml_cannot_hold(tmp_path: Path, text: str, words: str) -> None:
    """Other versions of Python say it in other words."""
    path = tmp_path / "arm.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=f"{path}: .*{re.escape(words)}"):
        load_recipe(path)


@pytest.mark.parametrize(
    ("file", "name"), [("arm.urdf", "arm"), ("my-arm 2.urdf", "my_arm_2"), ("7dof.urdf", "robot_7dof")]
)
def test_a_bare_file_is_named_after_itself(file: str, name: str) -> None:
    recipe = default_recipe(f"some/{file}", "b", "t")
    assert (recipe.name, recipe.base, recipe.tip) == (name, "b", ("t",))


def test_options_change_a_copy_of_the_recipe() -> None:
    recipe = default_recipe("arm.urdf", "b", ["t"])
    assert with_options(recipe) == recipe
    changed = with_options(recipe, integrator="paper", solver="jacobi", sweeps=12, symbolic=["mass"], tip="x")
    assert (changed.variant, changed.sweeps["paper_jacobi"], changed.tip) == ("paper_jacobi", 12, ("x",))
    assert recipe.sweeps["paper_jacobi"] == 30
    counted = with_options(recipe, sweeps={"paper_direct": 3}, variants=["published"])
    assert (counted.variant, counted.sweeps["paper_direct"]) == ("variational_direct", 3)
    assert with_options(recipe, variants=["all"], sweep_order="printed").variants == tuple(DEFAULT_SWEEPS)
    for relaxation in ("averaging", 1e-3, 1.999):
        assert with_options(recipe, relaxation=relaxation).relaxation == relaxation
    joined = with_options(recipe, solver="jacobi")
    assert joined.variants == (*recipe.variants, "variational_jacobi")


def test_the_command_line_says_every_option_that_it_takes() -> None:
    plain = default_recipe("arm.urdf")
    given = {
        "base": "b", "tip": ("t", "s"), "hold": ("j",), "integrator": "paper", "solver": "jacobi", "sweeps": 12,
        "friction": "urdf", "friction_law": ("stribeck",), "symbolic": ("mass", "com"), "limits": True,
        "wrench": ("l", "k"), "lever_springs": ("e",), "element": ("e.py=j",), "relaxation": 0.5,
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
    assert (robot.name, robot.base, [tip.name for tip in robot.tips]) == ("baxter", "torso", ["left_hand_link"])
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
